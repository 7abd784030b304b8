// The form of a record, new or there already: what is typed is kept, checked as it is typed and by the API, and saved over
// the version that it was begun on. What others changed meanwhile stays; where both changed a field, one chooses.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { isUnsure, type Refusal } from "../api/refusal.ts";
import type { EditedKind } from "../kinds/kinds.ts";
import { calledOf } from "../names/called.ts";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { me } from "../session/me.ts";
import { editText, reasonText } from "../text/editing.ts";
import { ownValue } from "../text/own-value.ts";
import { lacksReason } from "../writes/reason.ts";
import { ReasonRow } from "../writes/reason-input.tsx";
import { newRequestKey } from "../writes/request-key.ts";
import { type Draft, type DraftName, keepDraft, keptDraft } from "./drafts.ts";
import { bodyOf, type Clash, editedOf, meanwhile } from "./edits.ts";
import { customKeyOf, type FormField, type Typed, typedOf, type Values, valueIn, wrongWith } from "./field.ts";
import { FieldClash } from "./field-clash.tsx";
import { FieldControl, nameOfField } from "./field-control.tsx";
import { placesOf } from "./form-fields.ts";
import { allFieldsOf, customField, definitionsOf, fieldsOf } from "./forms.ts";
import { newRecord } from "./new-record.ts";
import type { Saved } from "./saved.ts";
import { createRecord, loadEdited, saveEdited } from "./write.ts";

export interface EditFormProps {
  readonly kind: EditedKind;
  /** Null for a new record. */
  readonly id: string | null;
  /** What the record is called; of a new one, what it will be. */
  readonly name: string;
  /** Where a new record belongs, as far as the page says so. */
  readonly presets?: Values;
  /** Whether it says what it edits: on a page that is not the record's own. */
  readonly isTitled?: boolean;
  /** The field that is shown alone, with what else was typed or is wrong; all where there is none such. */
  readonly only?: string;
  /** Where all are. */
  readonly hrefAll?: string;
  /** Where it can be deleted instead; left out where that is offered elsewhere. */
  readonly hrefRemove?: string;
  /** @param saved null where it was given up */
  onEnd(saved: Saved | null): void;
}

export function EditForm(props: EditFormProps) {
  const { kind, id } = props;
  const presets = id === null ? presetsOf(kind, props.presets ?? {}) : {};
  const name: DraftName = { userId: me.value?.id ?? "", kind, id: id ?? `new ${JSON.stringify(presets)}` };
  const [begun, setBegun] = useState<Begun | null>(null);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    setProblem(null);
    begin(name, { ...props, presets })
      .then(setBegun)
      .catch((cause: unknown) => setProblem(asRefusal(cause)));
  }, [id, turn]);
  if (problem !== null) return <Problem problem={problem} again={() => setTurn((last) => last + 1)} />;
  if (begun === null) return <Waiting />;
  const discard = () => {
    keepDraft(name, null);
    setBegun(null);
    setTurn((last) => last + 1);
  };
  return (
    <Form
      key={turn}
      {...props}
      draftName={name}
      begun={begun.draft}
      fields={begun.fields}
      onDiscard={begun.isRestored ? discard : null}
    />
  );
}

/** What a new record of the kind takes of what the page says. */
function presetsOf(kind: EditedKind, presets: Values): Values {
  const places = placesOf(allFieldsOf(kind, true));
  return Object.fromEntries(Object.entries(presets).filter(([name, value]) => places.includes(name) && value !== null));
}

interface Begun {
  readonly draft: Draft;
  readonly fields: readonly FormField[];
  /** Whether it was begun before. */
  readonly isRestored: boolean;
}

/** @throws Refusal */
async function begin(name: DraftName, { kind, id, presets = {} }: EditFormProps): Promise<Begun> {
  const kept = keptDraft(name);
  const [definitions, loaded] = await Promise.all([
    definitionsOf(kind),
    kept === null && id !== null ? loadEdited(kind, id) : null,
  ]);
  const isNew = id === null;
  const own = fieldsOf(kind, isNew).filter((field) => !isNew || !Object.hasOwn(presets, field.name));
  const fields = [...own, ...definitions.map(customField)];
  if (kept !== null) return { draft: kept, fields, isRestored: true };
  const { record, tag } = loaded ?? { record: newRecord(kind, definitions, presets), tag: "" };
  return { draft: { base: record, tag, typed: {}, reason: "" }, fields, isRestored: false };
}

interface FormProps extends EditFormProps {
  readonly draftName: DraftName;
  readonly begun: Draft;
  readonly fields: readonly FormField[];
  /** Null where nothing was typed before. */
  readonly onDiscard: (() => void) | null;
}

/** Of the last try to save; the same one can be sent again. */
interface Tried {
  readonly text: string;
  readonly key: string;
}

function Form({ kind, id, name, hrefRemove, draftName, begun, fields, onDiscard, onEnd, ...about }: FormProps) {
  const [draft, setDraft] = useState<Draft>(() => withoutKey(begun));
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const [clashes, setClashes] = useState<readonly Clash[]>([]);
  const [merged, setMerged] = useState<readonly string[]>([]);
  const tried = useRef<Tried | null>(null);
  // What may have been made is sent again as it was, also after a reload: anything else would make another.
  const [sentAs, setSentAs] = useState(begun.sentAs ?? null);
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>("input, textarea, select")?.focus(), []);
  // What is typed while it is sent would be in no answer: nothing can be. One goes on where something is wrong, or else
  // where one was.
  const left = useRef<Element | null>(null);
  useLayoutEffect(() => {
    if (isBusy || left.current === null) return;
    const next = form.current?.querySelector('[aria-invalid="true"]') ?? left.current;
    if (next instanceof HTMLElement && document.activeElement === document.body) next.focus();
    left.current = null;
  }, [isBusy]);
  const { base, typed, reason } = draft;
  const isNew = id === null;
  const edited = editedOf(fields, base, typed);
  const typedIn = (field: FormField) => ownValue(typed, field.name) ?? typedOf(field, valueIn(base, field));
  const wrongIn = (field: FormField) =>
    (edited.includes(field) ? wrongWith(field, typedIn(field)) : null) ?? saidOf(problem, field);
  const change = (changes: Partial<Draft>) => {
    const next = { ...draft, ...changes };
    setDraft(next);
    keepDraft(draftName, next);
  };
  const type = (field: FormField, value: Typed) => {
    change({ typed: { ...typed, [field.name]: value } });
    if (saidOf(problem, field) !== null) setProblem(null);
  };
  const isWrong = edited.some((field) => wrongWith(field, typedIn(field)) !== null);
  // Of a record that is there only what is edited is sent.
  const missing = isNew
    ? fields.filter((field) => isNeeded(field) && !edited.includes(field) && wrongWith(field, typedIn(field)) !== null)
    : [];
  const isUnchanged = !isNew && edited.length === 0;
  const needed = [...missing.map(nameOfField), ...(lacksReason(reason) ? [reasonText.why] : [])];
  const cannotSave = isWrong || needed.length > 0 || clashes.length > 0 || isUnchanged;
  const give = (saved: Saved | null) => {
    keepDraft(draftName, null);
    onEnd(saved);
  };

  /** @returns whether it was saved, or others were there before */
  const send = async (now: Draft, others: readonly string[]): Promise<void> => {
    const sent = editedOf(fields, now.base, now.typed);
    const all = allFieldsOf(kind, isNew);
    // The API gives custom fields what they have where nobody says.
    const { custom_fields: _, ...given } = isNew ? now.base : {};
    const body = { ...given, ...bodyOf(all, now.base, sent, now.typed) };
    const text = JSON.stringify([now.tag, body, now.reason]);
    if (tried.current?.text !== text) tried.current = { text, key: sentAs ?? newRequestKey() };
    const { key } = tried.current;
    const { tag, reason: why } = now;
    if (isNew) keepDraft(draftName, { ...now, sentAs: key });
    const saved = isNew
      ? await createRecord(kind, { body, reason: why, key })
      : { id, sequence: await saveEdited(kind, id, { tag, body, reason: why, key }) };
    give({ kind, operation: isNew ? "created" : "updated", merged: others, ...saved });
  };

  /** Goes on from what others made of the record. */
  const catchUp = async (): Promise<void> => {
    if (isNew) return;
    const { record, tag } = await loadEdited(kind, id);
    const { clashes: found, others } = meanwhile(fields, base, record, typed);
    const next = { ...draft, base: record, tag };
    const all = [...new Set([...merged, ...others])];
    setMerged(all);
    setDraft(next);
    keepDraft(draftName, next);
    setClashes(found);
    if (found.length === 0) await send(next, all);
  };

  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    if (isBusy || cannotSave) return;
    left.current = document.activeElement;
    setBusy(true);
    setProblem(null);
    try {
      await send(draft, merged).catch((cause: unknown) => {
        if (asRefusal(cause).status !== 412) throw cause;
        return catchUp();
      });
    } catch (cause) {
      const refusal = asRefusal(cause);
      setProblem(refusal);
      if (isNew && isUnsure(refusal)) setSentAs(tried.current?.key ?? null);
      else if (isNew) {
        setSentAs(null);
        keepDraft(draftName, draft);
      }
    } finally {
      setBusy(false);
    }
  };

  const choose = (clash: Clash, whose: "mine" | "theirs") => {
    if (whose === "theirs") change({ typed: { ...typed, [clash.field.name]: clash.theirs } });
    setClashes(clashes.filter((each) => each !== clash));
  };
  const only = fields.find((field) => field.name === about.only);
  const asked = fields.filter(
    (field) => only === undefined || field === only || edited.includes(field) || wrongIn(field) !== null,
  );
  const shown = problem !== null && !isSaidAtFields(problem, fields) ? problem : null;
  return (
    <form
      ref={form}
      class="edit"
      aria-label={isNew ? editText.newOne(name) : editText.title(name)}
      onSubmit={(event) => void save(event)}
      onKeyDown={(event) => {
        // In a list of choices it closes that.
        if (event.key !== "Escape" || event.target instanceof HTMLSelectElement) return;
        if (edited.length === 0 && reason === "" && sentAs === null && !isBusy) give(null);
      }}
    >
      {about.isTitled === true && (
        <h2>
          {isNew ? editText.newOne(name) : editText.title(`${name} ${calledOf(kind, { ...base, id: id ?? "" })}`)}
        </h2>
      )}
      {onDiscard !== null && (
        <p class="note">
          {editText.restored}{" "}
          <button type="button" onClick={onDiscard}>
            {editText.discard}
          </button>
        </p>
      )}
      {shown !== null && (shown.status === 404 ? <p class="note">{editText.gone}</p> : <Problem problem={shown} />)}
      {sentAs !== null ? (
        <p class="note">{editText.unsureNew}</p>
      ) : (
        shown !== null && isUnsure(shown) && <p class="note">{editText.unsure}</p>
      )}
      {merged.length > 0 && <p class="note">{editText.merged(merged.map((each) => nameOfNamed(fields, each)))}</p>}
      <div class="edit-fields" inert={sentAs !== null || isBusy}>
        {asked.map((field) => (
          <FieldControl
            key={field.name}
            field={field}
            typed={typedIn(field)}
            record={{ ...base, ...typed }}
            wrong={wrongIn(field)}
            onType={(value) => type(field, value)}
          >
            {clashes
              .filter((clash) => clash.field === field)
              .map((clash) => (
                <FieldClash key={field.name} clash={clash} onChoose={(whose) => choose(clash, whose)} />
              ))}
          </FieldControl>
        ))}
        <ReasonRow
          id="edit-reason"
          reason={reason}
          help={editText.reasonHelp}
          onReason={(typedReason) => change({ reason: typedReason })}
        />
      </div>
      <p class="edit-end">
        <button type="submit" class="primary" disabled={isBusy || cannotSave}>
          {isBusy
            ? editText.saving
            : sentAs !== null || (!isNew && tried.current !== null)
              ? editText.again
              : isNew
                ? editText.create
                : editText.save}
        </button>{" "}
        <button type="button" onClick={() => give(null)}>
          {editText.cancel}
        </button>{" "}
        {only !== undefined && about.hrefAll !== undefined && (
          <a class="button" href={about.hrefAll}>
            {editText.allFields}
          </a>
        )}{" "}
        {hrefRemove !== undefined && (
          <a class="button" href={hrefRemove}>
            {editText.delete}
          </a>
        )}{" "}
        <span class="aside" role="status">
          {clashes.length > 0
            ? editText.choose
            : isUnchanged
              ? editText.unchanged
              : needed.length > 0
                ? editText.missing(needed)
                : ""}
        </span>
      </p>
    </form>
  );
}

function withoutKey({ sentAs: _, ...draft }: Draft): Draft {
  return draft;
}

/** Whether a new record must have it: of custom fields those that the organization demands. */
function isNeeded(field: FormField): boolean {
  return field.isRequired || (customKeyOf(field) !== null && !field.isNullable);
}

/** What the API says of a field. */
function saidOf(problem: Pick<Refusal, "issues"> | null, { name }: FormField): string | null {
  const own = pointerTo(name);
  const said = problem?.issues.filter(({ path }) => path === own || path.startsWith(`${own}/`));
  return said === undefined || said.length === 0 ? null : said.map(({ message }) => message).join(" ");
}

/** Whether all that is wrong is said where it was typed. */
function isSaidAtFields({ issues }: Refusal, fields: readonly FormField[]): boolean {
  return (
    issues.length > 0 && issues.every((issue) => fields.some((field) => saidOf({ issues: [issue] }, field) !== null))
  );
}

function pointerTo(name: string): string {
  return `/${name.replace(".", "/")}`;
}

function nameOfNamed(fields: readonly FormField[], name: string): string {
  const field = fields.find((each) => each.name === name);
  return field === undefined ? name : nameOfField(field);
}
