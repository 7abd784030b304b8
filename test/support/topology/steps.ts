// What goes in steps, gone through at once.

/** What the steps come to. */
export function outcomeOf<T>(steps: Iterator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
