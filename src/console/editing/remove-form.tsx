// Delete form of a record: states what is deleted with it and what depends on it. The note afterwards offers undo.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { ActionButton } from "../components/buttons.tsx";
import { Problem } from "../components/problem.tsx";
import { Waiting } from "../components/waiting.tsx";
import { FormProblem } from "../forms/confirm-form.tsx";
import { CheckField, ReasonField } from "../forms/fields.tsx";
import { lacksReason } from "../forms/reason.ts";
import { type Headers, useForm } from "../forms/use-form.ts";
import { type EditedKind, kindWords, loadedDetails } from "../kinds/kinds.ts";
import { displayName } from "../names/display-name.ts";
import { editText } from "../text/editing.ts";
import { isolated } from "../text/isolated.ts";
import { ownValue } from "../text/own-value.ts";
import type { Saved } from "./saved.ts";
import { loadEdited, removeRecord, type Tagged } from "./write.ts";

type RemoveFormProps = Readonly<{ kind: EditedKind; id: string; onEnd(saved: Saved | null): void }>;

/** @param onEnd receives null if cancelled */
export function RemoveForm({ kind, id, onEnd }: RemoveFormProps) {
  const [loaded, setLoaded] = useState<Tagged | null>(null);
  const form = useForm({ id: "remove", isGuarded: true });
  const { isBusy, problem, refuse } = form;
  // Set once dependents are reported. Kept if the outcome is unknown, so that a retry sends an identical request.
  const [hasDependents, setHasDependents] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    loadEdited(kind, id).then(setLoaded, (cause: unknown) => refuse(asRefusal(cause)));
  }, [attempt]);
  useLayoutEffect(() => heading.current?.focus(), [loaded === null]);
  const [word] = kindWords(kind);
  const hasChanged = problem?.status === 412;
  const reload = () => {
    refuse(null);
    setHasDependents(false);
    setAttempt((last) => last + 1);
  };
  if (loaded === null)
    return problem === null ? (
      <Waiting />
    ) : (
      <section class="plan">
        <Problem problem={problem} retry={reload} />
        <p>
          <ActionButton label="Close" onClick={() => onEnd(null)} />
        </p>
      </section>
    );
  const remove = async (headers: Headers) => {
    try {
      const asked = { tag: loaded.tag, cascade: hasDependents, ignore: form.typed.ignore === true };
      const sequence = await removeRecord(kind, id, asked, headers);
      onEnd({ kind, id, operation: "deleted", sequence, merged: [] });
    } catch (cause) {
      if (asRefusal(cause).code === "entity_in_use") setHasDependents(true);
      throw cause;
    }
  };
  const details = loadedDetails(kind);
  const removal = details?.removal?.[0];
  const label = displayName(kind, { ...loaded.record, id });
  // Also names an address or subnet: a digit is easily misread.
  const name = ownValue(loaded.record, "name");
  const suffix = typeof name === "string" && !label.includes(name) ? name : "";
  const title = `Delete ${isolated(`${word} ${label} ${suffix}`.trim())}`;
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
          The record has changed since you opened this form. <ActionButton label="Reload" onClick={reload} />
        </p>
      ) : problem?.code === "entity_in_use" ? (
        <p class="note" role="alert">
          {editText.inUse(problem.message)}
        </p>
      ) : (
        <FormProblem form={form} />
      )}
      {form.isLost && <p class="note">{editText.unknownOutcome}</p>}
      {details?.isDiscovered === true && (
        <CheckField form={form} name="ignore" label={editText.ignore} help={editText.ignoreHelp} />
      )}
      <ReasonField form={form} />
      <p>
        <button type="submit" class="danger" disabled={isBusy || hasChanged || lacksReason(form.reason)}>
          {hasDependents ? "Delete anyway" : editText.delete}
        </button>{" "}
        <ActionButton label="Cancel" onClick={() => onEnd(null)} />
      </p>
    </form>
  );
}
