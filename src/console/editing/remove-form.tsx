// Delete form of a record: shows what is deleted with it and what depends on it. Undo is offered afterwards.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { FormProblem } from "../forms/ask-first.tsx";
import { ReasonField } from "../forms/fields.tsx";
import { lacksReason } from "../forms/reason.ts";
import { type Headers, useForm } from "../forms/use-form.ts";
import { type EditedKind, kindWords, loadedDetails } from "../kinds/kinds.ts";
import { calledOf } from "../names/called.ts";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { editText } from "../text/editing.ts";
import { isolated } from "../text/isolated.ts";
import { ownValue } from "../text/own-value.ts";
import type { Saved } from "./saved.ts";
import { loadEdited, removeRecord, type Tagged } from "./write.ts";

interface RemoveFormProps {
  readonly kind: EditedKind;
  readonly id: string;
  /** @param saved null if cancelled */
  onEnd(saved: Saved | null): void;
}

export function RemoveForm({ kind, id, onEnd }: RemoveFormProps) {
  const [shown, setShown] = useState<Tagged | null>(null);
  const form = useForm({ id: "remove", isGuarded: true });
  const { isBusy, problem, refuse } = form;
  // Set once dependents are reported. Kept if the outcome of a retry is unknown, so that the next one is identical.
  const [isUsed, setUsed] = useState(false);
  const [turn, setTurn] = useState(0);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    loadEdited(kind, id).then(setShown, (cause: unknown) => refuse(asRefusal(cause)));
  }, [turn]);
  useLayoutEffect(() => heading.current?.focus(), [shown === null]);
  const [word] = kindWords(kind);
  const hasChanged = problem?.status === 412;
  const look = () => {
    refuse(null);
    setUsed(false);
    setTurn((last) => last + 1);
  };
  if (shown === null)
    return problem === null ? (
      <Waiting />
    ) : (
      <section class="plan">
        <Problem problem={problem} again={look} />
        <p>
          <button type="button" onClick={() => onEnd(null)}>
            Close
          </button>
        </p>
      </section>
    );
  const remove = async (headers: Headers) => {
    try {
      const sequence = await removeRecord(kind, id, { tag: shown.tag, cascade: isUsed }, headers);
      onEnd({ kind, id, operation: "deleted", sequence, merged: [] });
    } catch (cause) {
      if (asRefusal(cause).code === "entity_in_use") setUsed(true);
      throw cause;
    }
  };
  const details = loadedDetails(kind);
  const removal =
    details?.removal?.[0] ??
    (details?.isFound === true
      ? "If discovery found it, it is put on the list of what scans must not bring back."
      : undefined);
  const called = calledOf(kind, { ...shown.record, id });
  // The name of an address or subnet as well: a digit is easily misread.
  const named = ownValue(shown.record, "name");
  const more = typeof named === "string" && !called.includes(named) ? named : "";
  const title = `Delete ${isolated(`${word} ${called} ${more}`.trim())}`;
  return (
    <form class="plan" aria-label={title} onSubmit={(event) => form.submit(event, remove)}>
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      <p>
        {removal !== undefined && `${removal} `}
        {editText.deleteHelp}
      </p>
      {hasChanged ? (
        <p class="note" role="alert">
          It has changed since you opened this form.{" "}
          <button type="button" onClick={look}>
            Look again
          </button>
        </p>
      ) : problem?.code === "entity_in_use" ? (
        <p class="note" role="alert">
          {editText.inUse(problem.message)}
        </p>
      ) : (
        <FormProblem form={form} />
      )}
      {form.isLost && <p class="note">{editText.unsure}</p>}
      <ReasonField form={form} />
      <p>
        <button type="submit" class="danger" disabled={isBusy || hasChanged || lacksReason(form.reason)}>
          {isUsed ? "Delete all the same" : editText.delete}
        </button>{" "}
        <button type="button" onClick={() => onEnd(null)}>
          Cancel
        </button>
      </p>
    </form>
  );
}
