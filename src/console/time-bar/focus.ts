// Focus recovery after a choice has removed the focused element.

/** Focuses the handle of the shown timestamp, or the expand button of a collapsed bar. */
export function focusHandle(): void {
  for (const id of ["shown-instant", "time-fold"]) {
    const element = document.getElementById(id);
    element?.focus({ preventScroll: true });
    if (element !== null && document.activeElement === element) return;
  }
}
