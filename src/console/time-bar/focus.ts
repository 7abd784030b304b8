// Where the focus goes when what had it is gone with what was chosen there.

/** To the handle of the instant that is shown; where the bar is folded, to what opens it. */
export function focusHandle(): void {
  for (const id of ["shown-instant", "time-fold"]) {
    const element = document.getElementById(id);
    element?.focus({ preventScroll: true });
    if (element !== null && document.activeElement === element) return;
  }
}
