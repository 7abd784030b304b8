// Frame of a bulk operation: heading, reason, problem, and buttons.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { isUnsure, type Refusal } from "../api/refusal.ts";
import { ReasonRow } from "../forms/reason-input.tsx";
import { Problem } from "../parts/problem.tsx";

interface BulkFormProps {
  readonly title: string;
  readonly problem: Refusal | null;
  /** Whether the problem concerns a write, not a preview. */
  readonly isOfWrite: boolean;
  /** Null while there is nothing to write. */
  readonly reason: string | null;
  onReason(reason: string): void;
  /** Shown next to the cancel button. */
  readonly buttons: ComponentChildren;
  onCancel(): void;
  readonly children: ComponentChildren;
}

export function BulkForm({ title, problem, isOfWrite, reason, onReason, buttons, onCancel, children }: BulkFormProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), []);
  return (
    <section class="plan bulk" aria-label={title}>
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {children}
      {problem !== null && <Problem problem={problem} />}
      {problem !== null && isOfWrite && isUnsure(problem) && (
        <p class="note">The answer was lost. Safe to retry: nothing is done twice.</p>
      )}
      {reason !== null && <ReasonRow id="bulk-reason" reason={reason} onReason={onReason} />}
      <p>
        {buttons}{" "}
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </p>
    </section>
  );
}
