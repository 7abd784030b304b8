// Runs stepwise work synchronously.

/** Runs all steps. @returns the final result */
export function runSteps<T>(steps: Iterator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
