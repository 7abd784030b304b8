// Form that restores fields of a record to their values at A. Shows the present and the earlier value, or the reason
// that a field cannot be restored. Writes over the version read; fields not selected stay unchanged.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { FormProblem } from "../forms/ask-first.tsx";
import { ReasonField } from "../forms/fields.tsx";
import { lacksReason } from "../forms/reason.ts";
import { type Headers, useForm } from "../forms/use-form.ts";
import type { EditedKind } from "../kinds/kinds.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { Waiting } from "../parts/waiting.tsx";
import { isolated } from "../text/isolated.ts";
import { pathname } from "../url/location.ts";
import { Value } from "../values/value.tsx";
import { type BackField, bodyOfBack, type FieldThen, fieldsOfBack } from "./back-fields.ts";
import { lastSaved } from "./saved.ts";
import { loadEdited, saveEdited, type Tagged } from "./write.ts";

interface BringBackProps {
  readonly kind: EditedKind;
  readonly id: string;
  readonly name: string;
  /** A: the timestamp of the restored values. */
  readonly at: string;
  /** Fields that differ, with their values at A. */
  readonly fields: readonly FieldThen[];
  /** Called after the write, before the form ends. */
  onSaved(): void;
  onEnd(): void;
}

interface Read extends Tagged {
  readonly fields: readonly BackField[];
}

const bringBackTitle = (name: string) => `Restore fields of ${isolated(name)}`;

export function BringBack({ kind, id, name, at, fields, onSaved, onEnd }: BringBackProps) {
  const [read, setRead] = useState<Read | null>(null);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [hasMoved, setMoved] = useState(false);
  const form = useForm({ id: "back", isGuarded: true });
  const { isBusy, problem, refuse } = form;
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), []);
  const look = async () => {
    const tagged = await loadEdited(kind, id);
    setRead({ ...tagged, fields: await fieldsOfBack(kind, tagged.record, fields) });
  };
  const begin = () => {
    refuse(null);
    look().catch((cause: unknown) => refuse(asRefusal(cause)));
  };
  useEffect(begin, []);
  const wanted = read?.fields.filter(({ field, cannot }) => cannot === null && chosen.has(field)) ?? [];
  const cannotSend = wanted.length === 0 || lacksReason(form.reason);
  const send = async (headers: Headers) => {
    if (read === null) return false;
    setMoved(false);
    try {
      const body = bodyOfBack(kind, read.record, wanted);
      const sequence = await saveEdited(kind, id, { tag: read.tag, body }, headers);
      lastSaved.value = { kind, id, operation: "updated", sequence, merged: [], place: pathname.value };
    } catch (cause) {
      if (asRefusal(cause).status !== 412) throw cause;
      setMoved(true);
      await look();
      return false;
    }
    onSaved();
    onEnd();
    return true;
  };
  const toggle = (field: string) =>
    setChosen((last) =>
      last.has(field) ? new Set([...last].filter((each) => each !== field)) : new Set(last).add(field),
    );
  return (
    <form
      class="plan"
      aria-label={bringBackTitle(name)}
      onSubmit={(event) => (cannotSend ? event.preventDefault() : form.submit(event, send))}
    >
      <h3 ref={heading} tabIndex={-1}>
        {bringBackTitle(name)}
      </h3>
      <p class="aside">Current value → value at A. Only the fields you choose are written; the rest stay unchanged.</p>
      <FormProblem form={form} {...(read === null ? { again: begin } : {})} />
      {hasMoved && (
        <p class="note" role="alert">
          It was changed meanwhile. This is how it stands now: look at it again.
        </p>
      )}
      {read === null && problem === null && <Waiting />}
      {read !== null && (
        <ul class="back-fields">
          {read.fields.map((each) => (
            <li key={each.field}>
              <Line back={each} at={at} isChosen={chosen.has(each.field)} onToggle={() => toggle(each.field)} />
            </li>
          ))}
        </ul>
      )}
      {read !== null && <ReasonField form={form} />}
      <p>
        <button type="submit" class="primary" disabled={isBusy || cannotSend}>
          {wanted.length === 0
            ? "Choose fields to restore"
            : wanted.length === 1
              ? "Restore this field"
              : `Restore these ${wanted.length} fields`}
        </button>{" "}
        <button type="button" onClick={onEnd}>
          Cancel
        </button>
      </p>
    </form>
  );
}

interface LineProps {
  readonly back: BackField;
  readonly at: string;
  readonly isChosen: boolean;
  onToggle(): void;
}

/** Present → restored value, or the reason that the field cannot be restored. */
function Line({ back: { field, now, was, gone, cannot }, at, isChosen, onToggle }: LineProps) {
  const title = fieldTitle(field);
  if (cannot !== null)
    return (
      <>
        {title}: <span class="aside">{cannot}</span>
      </>
    );
  return (
    <label>
      <input type="checkbox" checked={isChosen} onChange={onToggle} /> {title}:{" "}
      <del>
        <Value field={field} value={now} at={null} />
      </del>{" "}
      <span aria-hidden="true">→</span>{" "}
      <ins>
        <Value field={field} value={was} at={at} />
      </ins>
      {gone.length > 0 && (
        <span class="aside">
          {" "}
          without what is gone since: <Value field={field} value={gone} at={at} />
        </span>
      )}
    </label>
  );
}
