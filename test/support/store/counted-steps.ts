// Step counter for a store's stepwise work.

/** Runs all steps, and counts those before the last one. @param between runs after each counted step */
export function countSteps<T>(steps: Iterator<unknown, T>, between = (): void => {}): { result: T; steps: number } {
  for (let count = 0; ; count += 1) {
    const step = steps.next();
    if (step.done === true) return { result: step.value, steps: count };
    between();
  }
}
