// Work in steps: generators that return a result.

/** Runs all steps at once, to their result. */
export function runSteps<Step, Result>(
  steps: Generator<Step, Result>,
  onStep: (step: Step) => void = () => {},
): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    onStep(step.value);
  }
}
