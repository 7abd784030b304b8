// Panel for a bulk operation: heading, reason, problem and buttons.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { isOutcomeUnknown, type Refusal } from "../api/refusal.ts";
import { ActionButton } from "../components/buttons.tsx";
import { Problem } from "../components/problem.tsx";
import { ReasonRow } from "../forms/reason-input.tsx";

interface BulkFormProps {
  readonly title: string;
  readonly problem: Refusal | null;
  /** Whether the problem concerns the write rather than a preview. */
  readonly isWriteProblem: boolean;
  /** Null while there is nothing to write. */
  readonly reason: string | null;
  onReason(reason: string): void;
  /** Buttons next to the cancel button. */
  readonly buttons: ComponentChildren;
  onCancel(): void;
  readonly children: ComponentChildren;
}

export function BulkForm({ title, problem, reason, onReason, buttons, onCancel, children, ...rest }: BulkFormProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), []);
  return (
    <section class="plan bulk" aria-label={title}>
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {children}
      {problem !== null && <Problem problem={problem} />}
      {problem !== null && rest.isWriteProblem && isOutcomeUnknown(problem) && (
        <p class="note">The response was lost. It's safe to retry: nothing is done twice.</p>
      )}
      {reason !== null && <ReasonRow id="bulk-reason" reason={reason} onReason={onReason} />}
      <p>
        {buttons} <ActionButton label="Cancel" onClick={onCancel} />
      </p>
    </section>
  );
}
