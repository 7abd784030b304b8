// Where the focus goes when what had it is gone with what was chosen there.

/** To the handle of the instant that is shown. */
export function focusHandle(): void {
  document.querySelector<HTMLElement>("#shown-instant")?.focus({ preventScroll: true });
}
