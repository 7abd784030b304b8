// Form that restores fields of a record to their values at A. Shows the present and the earlier value, or the reason
// that a field cannot be restored. Writes over the version read; fields not selected stay unchanged.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { lacksReason } from "../forms/reason.ts";
import { ReasonLine } from "../forms/reason-input.tsx";
import { newRequestKey } from "../forms/request-key.ts";
import type { EditedKind } from "../kinds/kinds.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { bringBackText } from "../text/bring-back.ts";
import { editText } from "../text/editing.ts";
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

export function BringBack({ kind, id, name, at, fields, onSaved, onEnd }: BringBackProps) {
  const [read, setRead] = useState<Read | null>(null);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [reason, setReason] = useState("");
  const [problem, setProblem] = useState<Refusal | null>(null);
  const [hasMoved, setMoved] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const key = useRef(newRequestKey());
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), []);
  const look = async () => {
    const tagged = await loadEdited(kind, id);
    setRead({ ...tagged, fields: await fieldsOfBack(kind, tagged.record, fields) });
    key.current = newRequestKey();
  };
  const begin = () => {
    setProblem(null);
    look().catch((cause: unknown) => setProblem(asRefusal(cause)));
  };
  useEffect(begin, []);
  const wanted = read?.fields.filter(({ field, cannot }) => cannot === null && chosen.has(field)) ?? [];
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    if (read === null || wanted.length === 0 || isBusy || lacksReason(reason)) return;
    setBusy(true);
    setProblem(null);
    setMoved(false);
    try {
      const body = bodyOfBack(kind, read.record, wanted);
      const sequence = await saveEdited(kind, id, { tag: read.tag, body, reason, key: key.current });
      lastSaved.value = { kind, id, operation: "updated", sequence, merged: [], place: pathname.value };
      onSaved();
      onEnd();
    } catch (cause) {
      const refusal = asRefusal(cause);
      if (refusal.status === 412) {
        setMoved(true);
        await look().catch((other: unknown) => setProblem(asRefusal(other)));
      } else setProblem(refusal);
    } finally {
      setBusy(false);
    }
  };
  const toggle = (field: string) =>
    setChosen((last) =>
      last.has(field) ? new Set([...last].filter((each) => each !== field)) : new Set(last).add(field),
    );
  return (
    <form class="plan" aria-label={bringBackText.title(name)} onSubmit={(event) => void send(event)}>
      <h3 ref={heading} tabIndex={-1}>
        {bringBackText.title(name)}
      </h3>
      <p class="aside">{bringBackText.says}</p>
      {problem !== null && <Problem problem={problem} {...(read === null ? { again: begin } : {})} />}
      {hasMoved && (
        <p class="note" role="alert">
          {bringBackText.moved}
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
      {read !== null && <ReasonLine id="back-reason" reason={reason} onReason={setReason} />}
      <p>
        <button type="submit" class="primary" disabled={isBusy || wanted.length === 0 || lacksReason(reason)}>
          {bringBackText.verb(wanted.length)}
        </button>{" "}
        <button type="button" onClick={onEnd}>
          {editText.cancel}
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
          {bringBackText.without} <Value field={field} value={gone} at={at} />
        </span>
      )}
    </label>
  );
}
