// States of interfaces, as they are read everywhere.

/** Up and down are said by a word, a shape and a colour. */
export function Status({ status }: { readonly status: string }) {
  const state = status === "Up" ? "state-up" : status === "Down" ? "state-down" : "state-other";
  return <span class={`state ${state}`}>{status}</span>;
}
