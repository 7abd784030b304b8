// Form for a new or existing record. Keeps input as a draft, validates it while typing and by the API, and saves
// against the version it started from. Merges concurrent changes; for a field changed by both, the user chooses.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { isUnsure, type Refusal } from "../api/refusal.ts";
import { type Draft, type DraftName, keepDraft, keptDraft } from "../forms/drafts.ts";
import { bodyOf, type Clash, editedOf, meanwhile } from "../forms/edits.ts";
import { customKeyOf, type FormField, type Typed, typedOf, type Values, valueIn, wrongWith } from "../forms/field.ts";
import { FieldClash } from "../forms/field-clash.tsx";
import { FieldControl, nameOfField } from "../forms/field-control.tsx";
import { lacksReason } from "../forms/reason.ts";
import { ReasonRow } from "../forms/reason-input.tsx";
import { newRequestKey } from "../forms/request-key.ts";
import type { EditedKind } from "../kinds/kinds.ts";
import { calledOf } from "../names/called.ts";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { me } from "../session/me.ts";
import { editText, reasonText } from "../text/editing.ts";
import { ownValue } from "../text/own-value.ts";
import { placesOf } from "./form-fields.ts";
import { allFieldsOf, customField, definitionsOf, fieldsOf } from "./forms.ts";
import { newRecord } from "./new-record.ts";
import type { Saved } from "./saved.ts";
import { createRecord, loadEdited, saveEdited } from "./write.ts";

export interface EditFormProps {
  readonly kind: EditedKind;
  /** Null for a new record. */
  readonly id: string | null;
  /** Name of the record, or the type name for a new one. */
  readonly name: string;
  /** Parent of a new record, as far as the page determines it. */
  readonly presets?: Values;
  /** Whether to show a title, for pages other than the record's own. */
  readonly isTitled?: boolean;
  /** Field to show alone, plus any edited or invalid ones; an unknown field shows all. */
  readonly only?: string;
  /** URL with all fields. */
  readonly hrefAll?: string;
  /** URL for deletion; omitted if the page offers it elsewhere. */
  readonly hrefRemove?: string;
  /** @param saved null if cancelled */
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

/** Presets that name the parent of the new record. */
function presetsOf(kind: EditedKind, presets: Values): Values {
  const places = placesOf(allFieldsOf(kind, true));
  return Object.fromEntries(Object.entries(presets).filter(([name, value]) => places.includes(name) && value !== null));
}

interface Begun {
  readonly draft: Draft;
  readonly fields: readonly FormField[];
  /** Whether the draft was restored. */
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
  /** Null without a restored draft. */
  readonly onDiscard: (() => void) | null;
}

/** Last attempt to save; a retry repeats its key. */
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
  // A creation with an unknown outcome is repeated unchanged, even after a reload; a different request would create
  // another record.
  const [sentAs, setSentAs] = useState(begun.sentAs ?? null);
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>("input, textarea, select")?.focus(), []);
  // Fields are inert during the request, since a response could not cover input typed meanwhile. Afterwards, focus the
  // first invalid field, else the previous one.
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
  // An update sends only edited fields.
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

  /** @param others fields changed only by others since the start of the edit */
  const send = async (now: Draft, others: readonly string[]): Promise<void> => {
    const sent = editedOf(fields, now.base, now.typed);
    const all = allFieldsOf(kind, isNew);
    // Defaults of custom fields are left to the API.
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

  /** Rebases the draft on the latest version of the record. */
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
        // In a select, Escape closes the list.
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

/** Whether a new record requires the field; custom fields can be required by the organization. */
function isNeeded(field: FormField): boolean {
  return field.isRequired || (customKeyOf(field) !== null && !field.isNullable);
}

/** Error message of the API for a field. */
function saidOf(problem: Pick<Refusal, "issues"> | null, { name }: FormField): string | null {
  const own = pointerTo(name);
  const said = problem?.issues.filter(({ path }) => path === own || path.startsWith(`${own}/`));
  return said === undefined || said.length === 0 ? null : said.map(({ message }) => message).join(" ");
}

/** Whether every error is shown at its field. */
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
