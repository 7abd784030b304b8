// Display format for interface states.

/** Up and down differ in text, shape and color. */
export function Status({ status }: { readonly status: string }) {
  const state = status === "Up" ? "state-up" : status === "Down" ? "state-down" : "state-other";
  return <span class={`state ${state}`}>{status}</span>;
}
