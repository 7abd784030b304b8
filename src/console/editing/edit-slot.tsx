// Slot for a page's create, edit and delete forms, loaded on first use. The URL holds the operation, so that it
// survives a reload and the end of a session.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { refreshNow } from "../api/fresh.ts";
import { useKeys } from "../components/keys.ts";
import { Waiting } from "../components/waiting.tsx";
import type { Values } from "../forms/field.ts";
import { type EditedKind, isEditedKind, kindWords, loadDetails, loadedDetails, operationOn } from "../kinds/kinds.ts";
import { may } from "../session/me.ts";
import { editText } from "../text/editing.ts";
import { frameText } from "../text/frame.ts";
import { isPast, vs } from "../time/at.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import { lastSaved, type Saved } from "./saved.ts";

type End = (saved: Saved | null) => void;

type EditParts = typeof import("./edit-form.tsx") &
  typeof import("./remove-form.tsx") &
  typeof import("./saved-note.tsx");

/** URL parameter with the record being edited. */
export const EDIT = "edit";
/** URL parameter with the kind of the record being created. */
export const NEW = "new";
const REMOVE = "remove";
/** Parameter value for the page's own record. */
const OWN = "yes";
const NO_EDIT = { [EDIT]: null, [NEW]: null, [REMOVE]: null };

type Verb = "create" | "update" | "delete";

/** Whether the user may write now: the past and comparisons are read-only. */
export function mayWrite(kind: EditedKind, verb: Verb): boolean {
  return !isPast.value && vs.value === null && may(operationOn(verb, kind));
}

/** URL of this page with the edit form of a record. @param field only field to show; all if omitted */
export function hrefEditing(kind: EditedKind, id: string, field?: string): string {
  return hrefHere({ ...NO_EDIT, [EDIT]: [kind, id, field ?? []].flat().join(":") });
}

/** URL of this page with the delete form of a record. */
export function hrefDeleting(kind: EditedKind, id: string): string {
  return hrefHere({ ...NO_EDIT, [REMOVE]: `${kind}:${id}` });
}

interface RequestedEdit {
  readonly verb: Verb;
  readonly kind: EditedKind;
  /** Null for a new record. */
  readonly id: string | null;
  /** Only field to edit. */
  readonly only?: string | undefined;
}

export interface OwnRecord {
  readonly kind: EditedKind;
  readonly id: string;
  readonly name: string;
}

/** Operation in the URL, if permitted. */
function requestedEdit(ownRecord: OwnRecord | undefined): RequestedEdit | null {
  const isNew = parameter(NEW);
  if (isNew !== null)
    return isEditedKind(isNew) && mayWrite(isNew, "create") ? { verb: "create", kind: isNew, id: null } : null;
  const verb = parameter(EDIT) !== null ? "update" : "delete";
  const target = parameter(EDIT) ?? parameter(REMOVE);
  const [kind, id, only] = target === OWN ? [ownRecord?.kind, ownRecord?.id] : (target?.split(":", 3) ?? []);
  if (!isEditedKind(kind) || id === undefined || id === "" || !mayWrite(kind, verb)) return null;
  return { verb, kind, id, only };
}

/** Edit button of the page's own record, with its keyboard shortcut, and delete button. */
export function EditButton({ kind }: { readonly kind: EditedKind }) {
  const isIdle = parameter(EDIT) === null && parameter(REMOVE) === null && parameter(NEW) === null;
  const isOffered = isIdle && mayWrite(kind, "update");
  const edit = () => go(hrefHere({ [EDIT]: OWN }));
  useKeys(isOffered ? [{ key: "e", meaning: "Edit this record", press: edit }] : []);
  const button = useRef<HTMLButtonElement>(null);
  const removal = useRef<HTMLButtonElement>(null);
  const closedForm = useRef<"edit" | "remove" | null>(null);
  useLayoutEffect(() => {
    if (isIdle && closedForm.current !== null && lastSaved.peek() === null)
      (closedForm.current === "remove" ? removal : button).current?.focus();
    closedForm.current = isIdle ? null : parameter(REMOVE) === null ? "edit" : "remove";
  });
  return (
    <>
      {isOffered && (
        <button ref={button} type="button" onClick={edit}>
          {editText.edit}
        </button>
      )}
      {isIdle && mayWrite(kind, "delete") && (
        <button ref={removal} type="button" onClick={() => go(hrefHere({ [REMOVE]: OWN }))}>
          {editText.delete}
        </button>
      )}
    </>
  );
}

/** Button that opens the form for a new record. */
export function NewButton({ kind }: { readonly kind: EditedKind }) {
  if (!mayWrite(kind, "create") || parameter(NEW) !== null) return null;
  return (
    <button type="button" onClick={() => go(hrefHere({ ...NO_EDIT, [NEW]: kind }))}>
      {editText.newRecord(kindWords(kind)[0])}
    </button>
  );
}

interface EditSlotProps {
  /** The page's own record; omitted on lists. */
  readonly ownRecord?: OwnRecord;
  /** Values of a new record that the page determines, such as its host. */
  readonly presets?: Values;
  /** Called after a write. */
  onSaved(): void;
}

export function EditSlot({ ownRecord, presets = {}, onSaved }: EditSlotProps) {
  const requested = requestedEdit(ownRecord);
  const lastWrite = isPast.value ? null : lastSaved.value;
  // Reports only writes made on this page.
  const saved = lastWrite !== null && lastWrite.page === hrefHere(NO_EDIT).split("?")[0] ? lastWrite : null;
  const [parts, setParts] = useState<EditParts | null>(null);
  const [loadFailed, setLoadFailed] = useState(false);
  const isWanted = requested !== null || saved !== null;
  const isKindLoaded = requested === null || loadedDetails(requested.kind) !== undefined;
  useEffect(() => {
    if (!isWanted || (parts !== null && isKindLoaded)) return;
    Promise.all([
      import("./edit-form.tsx"),
      import("./remove-form.tsx"),
      import("./saved-note.tsx"),
      requested === null ? null : loadDetails(requested.kind),
    ]).then(
      ([form, removal, note]) => setParts({ ...form, ...removal, ...note }),
      () => setLoadFailed(true),
    );
  }, [isWanted, requested?.kind]);
  if (!isWanted) return null;
  if (loadFailed) return <p class="note">{frameText.newVersion}</p>;
  if (parts === null || !isKindLoaded) return <Waiting />;
  // If the page's own record no longer exists, its parts are not refreshed.
  const refresh = (isRecordGone: boolean, write?: Parameters<typeof refreshNow>[0]) => {
    onSaved();
    if (!isRecordGone) refreshNow(write);
  };
  const end: End = (result) => {
    const here = hrefHere(NO_EDIT);
    lastSaved.value = result === null ? null : { ...result, page: here.split("?")[0] ?? "" };
    go(here, "replace");
    if (result === null) return;
    const { id, kind, operation, sequence } = result;
    // A deletion can include other records.
    const type = operation === "deleted" ? {} : { type: kind };
    refresh(ownRecord?.id === id && operation === "deleted", { sequence, ...type });
  };
  if (requested === null)
    return saved === null ? null : (
      <parts.SavedNote
        key={saved.sequence}
        saved={saved}
        onUndone={() => refresh(ownRecord?.id === saved.id && ["created", "restored"].includes(saved.operation))}
      />
    );
  const { verb, kind, id, only } = requested;
  if (verb === "delete" && id !== null) return <parts.RemoveForm key={id} kind={kind} id={id} onEnd={end} />;
  const [word] = kindWords(kind);
  const isOwn = ownRecord !== undefined && ownRecord.id === id;
  const isRemovable = id !== null && !isOwn && mayWrite(kind, "delete");
  return (
    <parts.EditForm
      key={`${kind} ${id}`}
      kind={kind}
      id={id}
      name={isOwn ? ownRecord.name : word}
      isTitled={!isOwn}
      {...(only === undefined || id === null ? {} : { only, hrefAll: hrefEditing(kind, id) })}
      presets={presets}
      {...(isRemovable ? { hrefRemove: hrefDeleting(kind, id) } : {})}
      onEnd={end}
    />
  );
}
