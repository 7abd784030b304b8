// Synchronous run of stepwise work.

/** Result of the steps. */
export function outcomeOf<T>(steps: Iterator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
