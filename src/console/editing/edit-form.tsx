// Form for a new or existing record. Stores input as a draft, validates it while typing and through the API, and saves
// only against the version it started from. Merges concurrent changes; the user resolves conflicts.

import { useEffect, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { ActionButton, LinkButton, SubmitButton } from "../components/buttons.tsx";
import { Problem } from "../components/problem.tsx";
import { Waiting } from "../components/waiting.tsx";
import { FormProblem, Restored } from "../forms/confirm-form.tsx";
import { type Draft, type DraftName, loadDraft, storeDraft } from "../forms/drafts.ts";
import { bodyOf, type Conflict, concurrentChanges, editedOf } from "../forms/edits.ts";
import { customKeyOf, type FormField, typedOf, type Values, validationError, valueIn } from "../forms/field.ts";
import { FieldConflict } from "../forms/field-conflict.tsx";
import { FieldControl, titleOfField } from "../forms/field-control.tsx";
import { ReasonField } from "../forms/fields.tsx";
import { lacksReason } from "../forms/reason.ts";
import { type Headers, useForm } from "../forms/use-form.ts";
import { useFirstFocus } from "../forms/use-write.ts";
import { type EditedKind, loadedDetails } from "../kinds/kinds.ts";
import { displayName } from "../names/display-name.ts";
import { me } from "../session/me.ts";
import { editText } from "../text/editing.ts";
import { ownValue } from "../text/own-value.ts";
import { ownZone } from "../time/zone.ts";
import { parentFieldsOf } from "./form-fields.ts";
import { allFieldsOf, customField, definitionsOf, fieldsOf } from "./forms.ts";
import type { Saved } from "./saved.ts";
import { createRecord, loadEdited, saveEdited } from "./write.ts";

export interface EditFormProps {
  readonly kind: EditedKind;
  /** Null for a new record. */
  readonly id: string | null;
  /** Name of the record, or of its kind if new. */
  readonly name: string;
  /** Values of a new record that the page determines, such as its host. */
  readonly presets?: Values;
  /** Whether to show a title, for pages other than the record's own. */
  readonly isTitled?: boolean;
  /** Field to show alone, plus any edited or invalid ones; an unknown field shows all. */
  readonly only?: string;
  /** URL of the form with all fields. */
  readonly hrefAll?: string;
  /** URL of the delete form; omitted if the page links it elsewhere. */
  readonly hrefRemove?: string;
  /** @param saved null if canceled */
  onEnd(saved: Saved | null): void;
}

export function EditForm(props: EditFormProps) {
  const { kind, id } = props;
  const presets = id === null ? presetsOf(kind, props.presets ?? {}) : {};
  const name: DraftName = { userId: me.value?.id ?? "", kind, id: id ?? `new ${JSON.stringify(presets)}` };
  const [started, setStarted] = useState<Awaited<ReturnType<typeof startEdit>> | null>(null);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    setProblem(null);
    startEdit(name, { ...props, presets })
      .then(setStarted)
      .catch((cause: unknown) => setProblem(asRefusal(cause)));
  }, [id, attempt]);
  if (problem !== null) return <Problem problem={problem} retry={() => setAttempt((last) => last + 1)} />;
  if (started === null) return <Waiting />;
  const discard = () => {
    storeDraft(name, null);
    setStarted(null);
    setAttempt((last) => last + 1);
  };
  return (
    <Form
      key={attempt}
      {...props}
      draftName={name}
      started={started.draft}
      fields={started.fields}
      onDiscard={started.isRestored ? discard : null}
    />
  );
}

/** Presets for the parent of a new record; others are ignored. */
function presetsOf(kind: EditedKind, presets: Values): Values {
  const parentFields = parentFieldsOf(allFieldsOf(kind, true));
  return Object.fromEntries(
    Object.entries(presets).filter(([name, value]) => parentFields.includes(name) && value !== null),
  );
}

/** @throws Refusal */
async function startEdit(name: DraftName, { kind, id, presets = {} }: EditFormProps) {
  const storedDraft = loadDraft(name);
  const [definitions, loaded] = await Promise.all([
    definitionsOf(kind),
    storedDraft === null && id !== null ? loadEdited(kind, id) : null,
  ]);
  const isNew = id === null;
  const kindFields = fieldsOf(kind, isNew).filter((field) => !isNew || !Object.hasOwn(presets, field.name));
  const fields = [...kindFields, ...definitions.map(customField)];
  if (storedDraft !== null) return { draft: storedDraft, fields, isRestored: true };
  const { record, tag } = loaded ?? { record: newRecord(kind, definitions, presets), tag: "" };
  return { draft: { base: record, tag, typed: {}, reason: "" }, fields, isRestored: false };
}

interface FormProps extends EditFormProps {
  readonly draftName: DraftName;
  readonly started: Draft;
  readonly fields: readonly FormField[];
  /** Null without a restored draft. */
  readonly onDiscard: (() => void) | null;
}

function Form({ kind, id, name, hrefRemove, draftName, started, fields, onDiscard, onEnd, ...rest }: FormProps) {
  const isNew = id === null;
  const form = useForm({ id: "edit", draft: draftName, version: started, isGuarded: !isNew });
  const [conflicts, setConflicts] = useState<readonly Conflict[]>([]);
  const [merged, setMerged] = useState<readonly string[]>([]);
  const element = useFirstFocus<HTMLFormElement>();
  const { typed, reason, isBusy, problem } = form;
  const { base } = form.version;
  // A POST of unknown outcome is repeated unchanged, even after a reload: an edited one could create a second record.
  const isLocked = isNew && form.isLost;
  const edited = editedOf(fields, base, typed);
  const typedValue = (field: FormField) => ownValue(typed, field.name) ?? typedOf(field, valueIn(base, field));
  const ownError = (field: FormField) => validationError(field, typedValue(field));
  const errorOf = (field: FormField) =>
    (edited.includes(field) ? ownError(field) : null) ??
    form.check(field.name, `/${field.name.replace(".", "/")}`, null);
  const isInvalid = edited.some((field) => ownError(field) !== null);
  // An update sends only edited fields.
  const unedited = isNew ? fields.filter((field) => !edited.includes(field)) : [];
  const missing = unedited.filter((field) => isMandatory(field) && ownError(field) !== null);
  const isUnchanged = !isNew && edited.length === 0;
  const isRepeated = isLocked || (!isNew && form.isSubmitted);
  const missingNames = [...missing.map(titleOfField), ...(lacksReason(reason) ? ["Why"] : [])];
  const cannotSave = isInvalid || missingNames.length > 0 || conflicts.length > 0 || isUnchanged;
  const finish = (saved: Saved | null) => {
    form.forget();
    onEnd(saved);
  };

  /** @param others fields changed only by others since the start of the edit */
  const send = async (now: typeof form.version, others: readonly string[], headers: Headers): Promise<void> => {
    const sentFields = editedOf(fields, now.base, typed);
    // The API sets the defaults of custom fields.
    const { custom_fields: _, ...givenFields } = isNew ? now.base : {};
    const body = { ...givenFields, ...bodyOf(allFieldsOf(kind, isNew), now.base, sentFields, typed) };
    const saved = isNew
      ? await createRecord(kind, body, headers)
      : { id, sequence: await saveEdited(kind, id, { tag: now.tag, body }, headers) };
    finish({ kind, operation: isNew ? "created" : "updated", merged: others, ...saved });
  };

  /** Merges the latest version of the record. @returns whether it was saved */
  const mergeLatest = async (headers: Headers): Promise<boolean> => {
    const { record, tag } = await loadEdited(kind, id ?? "");
    const { conflicts: newConflicts, others } = concurrentChanges(fields, base, record, typed);
    const now = { base: record, tag };
    const allMerged = [...new Set([...merged, ...others])];
    setMerged(allMerged);
    form.rebase(now);
    setConflicts(newConflicts);
    if (newConflicts.length === 0) await send(now, allMerged, headers);
    return newConflicts.length === 0;
  };

  const save = (headers: Headers) =>
    send(form.version, merged, headers).catch((cause: unknown) => {
      if (isNew || asRefusal(cause).status !== 412) throw cause;
      return mergeLatest(headers);
    });

  const choose = (conflict: Conflict, choice: "mine" | "theirs") => {
    if (choice === "theirs") form.type({ [conflict.field.name]: conflict.theirs });
    setConflicts(conflicts.filter((other) => other !== conflict));
  };
  const only = fields.find((field) => field.name === rest.only);
  const visibleFields = fields.filter(
    (field) => only === undefined || field === only || edited.includes(field) || errorOf(field) !== null,
  );
  return (
    <form
      ref={element}
      class="edit"
      aria-label={isNew ? editText.newRecord(name) : editText.title(name)}
      onSubmit={(event) => (cannotSave ? event.preventDefault() : form.submit(event, save))}
      onKeyDown={(event) => {
        // In a select, Escape closes the list.
        if (event.key !== "Escape" || event.target instanceof HTMLSelectElement) return;
        if (edited.length === 0 && reason === "" && !isLocked && !isBusy) finish(null);
      }}
    >
      {rest.isTitled === true && (
        <h2>
          {isNew ? editText.newRecord(name) : editText.title(`${name} ${displayName(kind, { ...base, id: id ?? "" })}`)}
        </h2>
      )}
      {onDiscard !== null && <Restored onDiscard={onDiscard} />}
      {problem?.status === 404 ? (
        <p class="note">The record was deleted while you were editing it. Your input is still here.</p>
      ) : (
        <FormProblem form={form} />
      )}
      {form.isLost && (
        <p class="note">
          {isNew
            ? "We couldn't confirm that the record was created. Save again to check – it is created only once."
            : editText.unknownOutcome}
        </p>
      )}
      {merged.length > 0 && <p class="note">{editText.merged(merged.map((field) => fieldTitleOf(fields, field)))}</p>}
      <div class="edit-fields" inert={isLocked || isBusy}>
        {visibleFields.map((field) => (
          <FieldControl
            key={field.name}
            field={field}
            typed={typedValue(field)}
            record={{ ...base, ...typed }}
            error={errorOf(field)}
            onType={(value) => form.type({ [field.name]: value })}
          >
            {conflicts
              .filter((conflict) => conflict.field === field)
              .map((conflict) => (
                <FieldConflict key={field.name} conflict={conflict} onChoose={(choice) => choose(conflict, choice)} />
              ))}
          </FieldControl>
        ))}
        <ReasonField form={form} help="Stored in the history with the change." />
      </div>
      <p class="edit-end">
        <SubmitButton
          label={isBusy ? "Saving…" : isRepeated ? "Save again" : isNew ? editText.create : "Save"}
          disabled={isBusy || cannotSave}
        />{" "}
        <ActionButton label="Cancel" onClick={() => finish(null)} />{" "}
        {only !== undefined && rest.hrefAll !== undefined && <LinkButton href={rest.hrefAll} label="All fields" />}{" "}
        {hrefRemove !== undefined && <LinkButton href={hrefRemove} label={editText.delete} />}{" "}
        <span class="aside" role="status">
          {conflicts.length > 0
            ? "Choose a value for each field that others changed too, then save again."
            : isUnchanged
              ? "No changes yet."
              : missingNames.length > 0
                ? `Required: ${missingNames.join(", ")}.`
                : ""}
        </span>
      </p>
    </form>
  );
}

/** Whether a new record requires the field; custom fields can be required by the organization. */
function isMandatory(field: FormField): boolean {
  return field.isRequired || (customKeyOf(field) !== null && !field.isNullable);
}

function fieldTitleOf(fields: readonly FormField[], name: string): string {
  const field = fields.find((candidate) => candidate.name === name);
  return field === undefined ? name : titleOfField(field);
}

/** Initial values of a new record: defaults of the kind, time zone, parent, and defaults of custom fields. */
function newRecord(
  kind: EditedKind,
  definitions: readonly { readonly key: string; readonly default?: unknown }[],
  presets: Values,
): Values {
  const withDefault = definitions.filter((field) => field.default !== null && field.default !== undefined);
  const custom = Object.fromEntries(withDefault.map((field) => [field.key, field.default]));
  const zone = allFieldsOf(kind, true).some(({ name }) => name === "timezone") ? { timezone: ownZone() } : {};
  return {
    ...loadedDetails(kind)?.defaults,
    ...zone,
    ...presets,
    ...(withDefault.length === 0 ? {} : { custom_fields: custom }),
  };
}
