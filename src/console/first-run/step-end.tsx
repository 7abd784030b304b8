// Wizard step footer: main button, back, and skip.

import type { ComponentChildren } from "preact";
import { LinkButton } from "../components/buttons.tsx";
import { hrefOf } from "../url/location.ts";
import { hrefOfStep, STEPS, type WizardStep } from "./wizard-url.ts";

interface StepEndProps {
  readonly step: WizardStep;
  /** Main button or link. */
  readonly children: ComponentChildren;
  /** Whether the step can be skipped. */
  readonly isSkippable?: boolean;
}

export function StepEnd({ step, children, isSkippable = true }: StepEndProps) {
  const index = STEPS.indexOf(step);
  const [previous, next] = [STEPS[index - 1], STEPS[index + 1]];
  return (
    <p class="first-run-end">
      {children}
      {previous !== undefined && <LinkButton label="Back" href={hrefOfStep(previous)} />}
      {isSkippable && (
        <a href={next === undefined ? hrefOf("/") : hrefOfStep(next)}>
          {next === undefined ? "Do this later" : "Skip this step"}
        </a>
      )}
    </p>
  );
}
