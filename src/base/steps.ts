// Stepwise work: generators that yield between steps and return a result.

/** Runs all steps without a pause and returns their result. */
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
