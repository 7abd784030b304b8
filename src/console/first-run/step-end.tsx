// What every step ends with: what it is for as a button, the way back, and the way past it.

import type { ComponentChildren } from "preact";
import { wayText } from "../text/first-run.ts";
import { hrefOf } from "../url/location.ts";
import { hrefOfStep, STEPS, type WayStep } from "./step-address.ts";

interface StepEndProps {
  readonly step: WayStep;
  /** What is done here, or the way on. */
  readonly children: ComponentChildren;
  /** Whether there is something that is left out by going on. */
  readonly isSkippable?: boolean;
}

export function StepEnd({ step, children, isSkippable = true }: StepEndProps) {
  const place = STEPS.indexOf(step);
  const [before, after] = [STEPS[place - 1], STEPS[place + 1]];
  return (
    <p class="way-end">
      {children}
      {before !== undefined && (
        <a class="button" href={hrefOfStep(before)}>
          {wayText.back}
        </a>
      )}
      {isSkippable && (
        <a href={after === undefined ? hrefOf("/") : hrefOfStep(after)}>
          {after === undefined ? wayText.leave : wayText.skip}
        </a>
      )}
    </p>
  );
}
