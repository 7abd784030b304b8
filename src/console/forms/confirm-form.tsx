// Confirmation form: states the consequences, then asks for input or a reason. Returns the focus when it closes.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { ActionButton } from "../components/buttons.tsx";
import { Problem } from "../components/problem.tsx";
import { editText } from "../text/editing.ts";
import { ReasonField } from "./fields.tsx";
import { type FormState, type Headers, useForm } from "./use-form.ts";
import { REUSED } from "./use-write.ts";

interface ConfirmFormProps {
  /** State of the form; omitted if the form has no fields. */
  readonly form?: FormState;
  readonly title: string;
  /** One sentence per consequence. */
  readonly consequences?: readonly string[];
  readonly submitLabel: string;
  /** @throws Refusal */
  run(headers: Headers): Promise<void>;
  /** Whether the action is destructive. */
  readonly isDestructive?: boolean;
  /** Whether the API stores a reason for the action. */
  readonly hasReason?: boolean;
  /** Called on cancel; `run` handles completion. */
  onEnd(): void;
  /** Input fields. */
  readonly children?: ComponentChildren;
}

export function ConfirmForm({ title, consequences = [], hasReason = true, ...rest }: ConfirmFormProps) {
  const ownForm = useForm();
  const { form = ownForm, submitLabel, isDestructive = false, run, onEnd, children } = rest;
  const { isBusy, isLost, needsSecrets } = form;
  const heading = useRef<HTMLHeadingElement>(null);
  const openerRef = useRef(document.activeElement);
  useLayoutEffect(() => {
    heading.current?.focus();
    const opener = openerRef.current;
    const element = heading.current?.closest("form");
    return () => {
      // If the action succeeded, the note about it has taken the focus.
      const isInside = element?.contains(document.activeElement) === true;
      if (isInside && opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  const cancel = () => {
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
        if (event.key === "Escape" && !isBusy && !(event.target instanceof HTMLSelectElement)) cancel();
      }}
    >
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {form.isRestored && <Restored onDiscard={cancel} />}
      {consequences.map((sentence) => (
        <p key={sentence} class="prose">
          {sentence}
        </p>
      ))}
      <FormFields form={form}>
        {children}
        {hasReason && <ReasonField form={form} label="Why (stored in the history)" />}
      </FormFields>
      <FormProblem form={form} />
      {isLost && (
        <p class="note">
          {needsSecrets
            ? "We couldn't confirm that the request was carried out. Enter the secrets again, change nothing else, and send it – it's safe to retry."
            : "We couldn't confirm that the request was carried out. Send it again unchanged – it's safe to retry."}
        </p>
      )}
      <p>
        <button type="submit" class={isDestructive ? "danger" : "primary"} disabled={isBusy}>
          {isBusy ? "Working…" : isLost ? "Send again" : submitLabel}
        </button>{" "}
        <ActionButton label="Cancel" disabled={isBusy} onClick={cancel} />
      </p>
    </form>
  );
}

interface FormFieldsProps {
  readonly form: FormState;
  readonly children: ComponentChildren;
}

/** Form fields, inert during a write or while its outcome is unknown: an edited request could be applied as well. */
export function FormFields({ form: { isBusy, isLost, needsSecrets }, children }: FormFieldsProps) {
  return (
    <div class="edit-fields" inert={isBusy || (isLost && !needsSecrets)}>
      {children}
    </div>
  );
}

/** Problem of a form, unless it is shown at the form's fields. @param retry repeats a failed read */
export function FormProblem({ form, ...rest }: { readonly form: FormState; readonly retry?: () => void }) {
  const { problem, isShownAtFields } = form;
  if (problem === null || isShownAtFields()) return null;
  if (problem.code !== REUSED) return <Problem problem={problem} {...rest} />;
  return (
    <p class="note" role="alert">
      The earlier request has already been carried out. Your input has changed since; cancel and check the result.
    </p>
  );
}

/** Note that the input was restored from a draft. */
export function Restored({ onDiscard }: { onDiscard(): void }) {
  return (
    <p class="note">
      {editText.restored} <ActionButton label="Discard" onClick={onDiscard} />
    </p>
  );
}
