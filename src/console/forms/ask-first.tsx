// Form in a dialog: states the consequences, then asks for input, a reason, or nothing. Takes the focus, and returns it
// on cancel.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Problem } from "../parts/problem.tsx";
import { editText } from "../text/editing.ts";
import { ReasonField } from "./fields.tsx";
import { REUSED } from "./sending.ts";
import { type FormState, type Headers, useForm } from "./use-form.ts";

interface AskFirstProps {
  /** State of the form; omitted without fields. */
  readonly form?: FormState;
  readonly title: string;
  /** One sentence per consequence. */
  readonly says?: readonly string[];
  /** Label of the submit button. */
  readonly verb: string;
  /** @throws Refusal */
  run(headers: Headers): Promise<void>;
  /** Whether the action is destructive. */
  readonly takesAway?: boolean;
  /** Whether the API keeps a reason for it. */
  readonly hasReason?: boolean;
  /** Called on cancel; `run` handles completion. */
  onEnd(): void;
  /** Input fields. */
  readonly children?: ComponentChildren;
}

export function AskFirst({ title, says = [], verb, takesAway = false, hasReason = true, ...about }: AskFirstProps) {
  const own = useForm();
  const { form = own, run, onEnd, children } = about;
  const { isBusy, isLost, isLacking } = form;
  const heading = useRef<HTMLHeadingElement>(null);
  const before = useRef(document.activeElement);
  useLayoutEffect(() => {
    heading.current?.focus();
    const opener = before.current;
    const element = heading.current?.closest("form");
    return () => {
      // A note about the completed action takes the focus afterwards.
      const isInside = element?.contains(document.activeElement) === true;
      if (isInside && opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  const end = () => {
    form.forget();
    onEnd();
  };
  return (
    <form
      class="plan"
      aria-label={title}
      noValidate
      onSubmit={(event) => form.submit(event, run)}
      onKeyDown={(event) => {
        // In a select, Escape closes the list.
        if (event.key === "Escape" && !isBusy && !(event.target instanceof HTMLSelectElement)) end();
      }}
    >
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {form.isRestored && <Restored onDiscard={end} />}
      {says.map((sentence) => (
        <p key={sentence} class="prose">
          {sentence}
        </p>
      ))}
      <FormFields form={form}>
        {children}
        {hasReason && <ReasonField form={form} label="Why (kept in history)" />}
      </FormFields>
      <FormProblem form={form} />
      {isLost && (
        <p class="note">
          {isLacking
            ? "It is not known whether it was done. Enter the secrets again, leave everything else unchanged, and send it: it is carried out only once."
            : "It is not known whether it was done. Send it again unchanged: it is carried out only once."}
        </p>
      )}
      <p>
        <button type="submit" class={takesAway ? "danger" : "primary"} disabled={isBusy}>
          {isBusy ? "Working…" : isLost ? "Send it again" : verb}
        </button>{" "}
        <button type="button" disabled={isBusy} onClick={end}>
          Cancel
        </button>
      </p>
    </form>
  );
}

interface FormFieldsProps {
  readonly form: FormState;
  readonly children: ComponentChildren;
}

/** Fields, inert during a write: a different one could be carried out in addition to one of unknown outcome. */
export function FormFields({ form: { isBusy, isLost, isLacking }, children }: FormFieldsProps) {
  return (
    <div class="edit-fields" inert={isBusy || (isLost && !isLacking)}>
      {children}
    </div>
  );
}

interface FormProblemProps {
  readonly form: FormState;
  /** Repeats a failed read. */
  readonly again?: () => void;
}

/** Problem of a form, unless it is shown at its fields. */
export function FormProblem({ form: { problem, isSaidAtFields }, ...about }: FormProblemProps) {
  if (problem === null || isSaidAtFields()) return null;
  if (problem.code !== REUSED) return <Problem problem={problem} {...about} />;
  return (
    <p class="note" role="alert">
      The earlier request was carried out as it was sent. The current input differs: cancel, and check the result.
    </p>
  );
}

/** Note about a restored draft. */
export function Restored({ onDiscard }: { onDiscard(): void }) {
  return (
    <p class="note">
      {editText.restored}{" "}
      <button type="button" onClick={onDiscard}>
        Discard it
      </button>
    </p>
  );
}
