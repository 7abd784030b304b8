// Footer of a wizard step: main button, back, and skip.

import type { ComponentChildren } from "preact";
import { hrefOf } from "../url/location.ts";
import { hrefOfStep, STEPS, type WayStep } from "./step-address.ts";

interface StepEndProps {
  readonly step: WayStep;
  /** Main button or link. */
  readonly children: ComponentChildren;
  /** Whether continuing skips anything. */
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
          Back
        </a>
      )}
      {isSkippable && (
        <a href={after === undefined ? hrefOf("/") : hrefOfStep(after)}>
          {after === undefined ? "Leave it for later" : "Skip this step"}
        </a>
      )}
    </p>
  );
}
