// Form that restores fields of a record to their values at A. Shows current and earlier values, or why a field cannot
// be restored. Saves only against the version that was read; fields not selected stay unchanged.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { ActionButton } from "../components/buttons.tsx";
import { Waiting } from "../components/waiting.tsx";
import { Value } from "../field-values/value.tsx";
import { FormProblem } from "../forms/confirm-form.tsx";
import { ReasonField } from "../forms/fields.tsx";
import { lacksReason } from "../forms/reason.ts";
import { type Headers, useForm } from "../forms/use-form.ts";
import type { EditedKind } from "../kinds/kinds.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { isolated } from "../text/isolated.ts";
import { pathname } from "../url/location.ts";
import { type EarlierField, type RestoreField, restoreBody, restoreFields } from "./restore-fields.ts";
import { lastSaved } from "./saved.ts";
import { loadEdited, saveEdited, type Tagged } from "./write.ts";

interface RestoreFormProps {
  readonly kind: EditedKind;
  readonly id: string;
  readonly name: string;
  /** A: the timestamp of the restored values. */
  readonly at: string;
  /** Changed fields, with their values at A. */
  readonly fields: readonly EarlierField[];
  /** Called after the write, before the form ends. */
  onSaved(): void;
  onEnd(): void;
}

const restoreTitle = (name: string) => `Restore fields of ${isolated(name)}`;

export function RestoreForm({ kind, id, name, at, fields, onSaved, onEnd }: RestoreFormProps) {
  const [loaded, setLoaded] = useState<(Tagged & { readonly fields: readonly RestoreField[] }) | null>(null);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [hasChanged, setHasChanged] = useState(false);
  const form = useForm({ id: "back", isGuarded: true });
  const { isBusy, problem, refuse } = form;
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), []);
  const load = async () => {
    const tagged = await loadEdited(kind, id);
    setLoaded({ ...tagged, fields: await restoreFields(kind, tagged.record, fields) });
  };
  const reload = () => {
    refuse(null);
    load().catch((cause: unknown) => refuse(asRefusal(cause)));
  };
  useEffect(reload, []);
  const selectedFields = loaded?.fields.filter(({ field, cannot }) => cannot === null && selected.has(field)) ?? [];
  const cannotSend = selectedFields.length === 0 || lacksReason(form.reason);
  const send = async (headers: Headers) => {
    if (loaded === null) return false;
    setHasChanged(false);
    try {
      const body = restoreBody(kind, loaded.record, selectedFields);
      const sequence = await saveEdited(kind, id, { tag: loaded.tag, body }, headers);
      lastSaved.value = { kind, id, operation: "updated", sequence, merged: [], page: pathname.value };
    } catch (cause) {
      if (asRefusal(cause).status !== 412) throw cause;
      setHasChanged(true);
      await load();
      return false;
    }
    onSaved();
    onEnd();
    return true;
  };
  const toggle = (field: string) => setSelected((last) => last.symmetricDifference(new Set([field])));
  return (
    <form
      class="plan"
      aria-label={restoreTitle(name)}
      onSubmit={(event) => (cannotSend ? event.preventDefault() : form.submit(event, send))}
    >
      <h3 ref={heading} tabIndex={-1}>
        {restoreTitle(name)}
      </h3>
      <p class="aside">Current value → value at A. Only the fields you choose are written; the rest stay unchanged.</p>
      <FormProblem form={form} {...(loaded === null ? { retry: reload } : {})} />
      {hasChanged && (
        <p class="note" role="alert">
          The record was changed in the meantime. The current values are shown; review them again.
        </p>
      )}
      {loaded === null && problem === null && <Waiting />}
      {loaded !== null && (
        <ul class="restore-fields">
          {loaded.fields.map((item) => (
            <li key={item.field}>
              <Line item={item} at={at} isSelected={selected.has(item.field)} onToggle={() => toggle(item.field)} />
            </li>
          ))}
        </ul>
      )}
      {loaded !== null && <ReasonField form={form} />}
      <p>
        <button type="submit" class="primary" disabled={isBusy || cannotSend}>
          {selectedFields.length === 0
            ? "Choose fields to restore"
            : selectedFields.length === 1
              ? "Restore this field"
              : `Restore these ${selectedFields.length} fields`}
        </button>{" "}
        <ActionButton label="Cancel" onClick={onEnd} />
      </p>
    </form>
  );
}

interface LineProps {
  readonly item: RestoreField;
  readonly at: string;
  readonly isSelected: boolean;
  onToggle(): void;
}

/** Current → restored value, or the reason why the field cannot be restored. */
function Line({ item: { field, now, was, missing, cannot }, at, isSelected, onToggle }: LineProps) {
  const title = fieldTitle(field);
  if (cannot !== null)
    return (
      <>
        {title}: <span class="aside">{cannot}</span>
      </>
    );
  return (
    <label>
      <input type="checkbox" checked={isSelected} onChange={onToggle} /> {title}:{" "}
      <del>
        <Value field={field} value={now} at={null} />
      </del>{" "}
      <span aria-hidden="true">→</span>{" "}
      <ins>
        <Value field={field} value={was} at={at} />
      </ins>
      {missing.length > 0 && (
        <span class="aside">
          {" "}
          without records deleted since: <Value field={field} value={missing} at={at} />
        </span>
      )}
    </label>
  );
}
