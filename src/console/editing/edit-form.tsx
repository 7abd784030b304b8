// Form for a new or existing record. Keeps input as a draft, validates it while typing and by the API, and saves
// against the version it started from. Merges concurrent changes; for a field changed by both, the user chooses.

import { useEffect, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { FormProblem, Restored } from "../forms/ask-first.tsx";
import { type Draft, type DraftName, keepDraft, keptDraft } from "../forms/drafts.ts";
import { bodyOf, type Clash, editedOf, meanwhile } from "../forms/edits.ts";
import { customKeyOf, type FormField, typedOf, type Values, valueIn, wrongWith } from "../forms/field.ts";
import { FieldClash } from "../forms/field-clash.tsx";
import { FieldControl, nameOfField } from "../forms/field-control.tsx";
import { ReasonField } from "../forms/fields.tsx";
import { lacksReason } from "../forms/reason.ts";
import { useFirstFocus } from "../forms/sending.ts";
import { type Headers, useForm } from "../forms/use-form.ts";
import { type EditedKind, loadedDetails } from "../kinds/kinds.ts";
import { calledOf } from "../names/called.ts";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { me } from "../session/me.ts";
import { editText } from "../text/editing.ts";
import { ownValue } from "../text/own-value.ts";
import { ownZone } from "../time/zone.ts";
import { placesOf } from "./form-fields.ts";
import { allFieldsOf, customField, definitionsOf, fieldsOf } from "./forms.ts";
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

function Form({ kind, id, name, hrefRemove, draftName, begun, fields, onDiscard, onEnd, ...about }: FormProps) {
  const isNew = id === null;
  const form = useForm({ id: "edit", draft: draftName, version: begun, isGuarded: !isNew });
  const [clashes, setClashes] = useState<readonly Clash[]>([]);
  const [merged, setMerged] = useState<readonly string[]>([]);
  const element = useFirstFocus<HTMLFormElement>();
  const { typed, reason, isBusy, problem } = form;
  const { base } = form.version;
  // A creation is repeated unchanged, even after a reload; a different request would create another record.
  const isLocked = isNew && form.isLost;
  const edited = editedOf(fields, base, typed);
  const typedIn = (field: FormField) => ownValue(typed, field.name) ?? typedOf(field, valueIn(base, field));
  const wrongIn = (field: FormField) =>
    (edited.includes(field) ? wrongWith(field, typedIn(field)) : null) ??
    form.check(field.name, `/${field.name.replace(".", "/")}`, null);
  const isWrong = edited.some((field) => wrongWith(field, typedIn(field)) !== null);
  // An update sends only edited fields.
  const missing = isNew
    ? fields.filter((field) => isNeeded(field) && !edited.includes(field) && wrongWith(field, typedIn(field)) !== null)
    : [];
  const isUnchanged = !isNew && edited.length === 0;
  const needed = [...missing.map(nameOfField), ...(lacksReason(reason) ? ["Why"] : [])];
  const cannotSave = isWrong || needed.length > 0 || clashes.length > 0 || isUnchanged;
  const give = (saved: Saved | null) => {
    form.forget();
    onEnd(saved);
  };

  /** @param others fields changed only by others since the start of the edit */
  const send = async (now: typeof form.version, others: readonly string[], headers: Headers): Promise<void> => {
    const sent = editedOf(fields, now.base, typed);
    // Defaults of custom fields are left to the API.
    const { custom_fields: _, ...given } = isNew ? now.base : {};
    const body = { ...given, ...bodyOf(allFieldsOf(kind, isNew), now.base, sent, typed) };
    const saved = isNew
      ? await createRecord(kind, body, headers)
      : { id, sequence: await saveEdited(kind, id, { tag: now.tag, body }, headers) };
    give({ kind, operation: isNew ? "created" : "updated", merged: others, ...saved });
  };

  /** Merges the latest version of the record. @returns whether it was saved */
  const catchUp = async (headers: Headers): Promise<boolean> => {
    const { record, tag } = await loadEdited(kind, id ?? "");
    const { clashes: found, others } = meanwhile(fields, base, record, typed);
    const now = { base: record, tag };
    const all = [...new Set([...merged, ...others])];
    setMerged(all);
    form.rebase(now);
    setClashes(found);
    if (found.length === 0) await send(now, all, headers);
    return found.length === 0;
  };

  const save = (headers: Headers) =>
    send(form.version, merged, headers).catch((cause: unknown) => {
      if (isNew || asRefusal(cause).status !== 412) throw cause;
      return catchUp(headers);
    });

  const choose = (clash: Clash, whose: "mine" | "theirs") => {
    if (whose === "theirs") form.type({ [clash.field.name]: clash.theirs });
    setClashes(clashes.filter((each) => each !== clash));
  };
  const only = fields.find((field) => field.name === about.only);
  const asked = fields.filter(
    (field) => only === undefined || field === only || edited.includes(field) || wrongIn(field) !== null,
  );
  return (
    <form
      ref={element}
      class="edit"
      aria-label={isNew ? editText.newOne(name) : editText.title(name)}
      onSubmit={(event) => (cannotSave ? event.preventDefault() : form.submit(event, save))}
      onKeyDown={(event) => {
        // In a select, Escape closes the list.
        if (event.key !== "Escape" || event.target instanceof HTMLSelectElement) return;
        if (edited.length === 0 && reason === "" && !isLocked && !isBusy) give(null);
      }}
    >
      {about.isTitled === true && (
        <h2>
          {isNew ? editText.newOne(name) : editText.title(`${name} ${calledOf(kind, { ...base, id: id ?? "" })}`)}
        </h2>
      )}
      {onDiscard !== null && <Restored onDiscard={onDiscard} />}
      {problem?.status === 404 ? (
        <p class="note">The record was removed while you edited. What you typed is still here.</p>
      ) : (
        <FormProblem form={form} />
      )}
      {form.isLost && (
        <p class="note">
          {isNew
            ? "It is not known whether it was created. Save again to find out: it is created only once. Until then the form is locked."
            : editText.unsure}
        </p>
      )}
      {merged.length > 0 && <p class="note">{editText.merged(merged.map((each) => nameOfNamed(fields, each)))}</p>}
      <div class="edit-fields" inert={isLocked || isBusy}>
        {asked.map((field) => (
          <FieldControl
            key={field.name}
            field={field}
            typed={typedIn(field)}
            record={{ ...base, ...typed }}
            wrong={wrongIn(field)}
            onType={(value) => form.type({ [field.name]: value })}
          >
            {clashes
              .filter((clash) => clash.field === field)
              .map((clash) => (
                <FieldClash key={field.name} clash={clash} onChoose={(whose) => choose(clash, whose)} />
              ))}
          </FieldControl>
        ))}
        <ReasonField form={form} help="Kept in history with the change." />
      </div>
      <p class="edit-end">
        <button type="submit" class="primary" disabled={isBusy || cannotSave}>
          {isBusy ? "Saving…" : isLocked || (!isNew && form.isTried) ? "Save again" : isNew ? editText.create : "Save"}
        </button>{" "}
        <button type="button" onClick={() => give(null)}>
          Cancel
        </button>{" "}
        {only !== undefined && about.hrefAll !== undefined && (
          <a class="button" href={about.hrefAll}>
            All fields
          </a>
        )}{" "}
        {hrefRemove !== undefined && (
          <a class="button" href={hrefRemove}>
            {editText.delete}
          </a>
        )}{" "}
        <span class="aside" role="status">
          {clashes.length > 0
            ? "Choose for each field that others changed too, then save again."
            : isUnchanged
              ? "Nothing is changed yet."
              : needed.length > 0
                ? `Still needed: ${needed.join(", ")}.`
                : ""}
        </span>
      </p>
    </form>
  );
}

/** Whether a new record requires the field; custom fields can be required by the organization. */
function isNeeded(field: FormField): boolean {
  return field.isRequired || (customKeyOf(field) !== null && !field.isNullable);
}

function nameOfNamed(fields: readonly FormField[], name: string): string {
  const field = fields.find((each) => each.name === name);
  return field === undefined ? name : nameOfField(field);
}

/** Initial body of a creation: defaults of the kind, time zone, parent, and defaults of custom fields. */
function newRecord(
  kind: EditedKind,
  definitions: readonly { readonly key: string; readonly default?: unknown }[],
  presets: Values,
): Values {
  const given = definitions.filter((each) => each.default !== null && each.default !== undefined);
  const custom = Object.fromEntries(given.map((each) => [each.key, each.default]));
  const zone = allFieldsOf(kind, true).some(({ name }) => name === "timezone") ? { timezone: ownZone() } : {};
  return {
    ...loadedDetails(kind)?.usual,
    ...zone,
    ...presets,
    ...(given.length === 0 ? {} : { custom_fields: custom }),
  };
}
