// Container of a page's create, edit and delete forms, loaded on first use. The URL holds the operation, which survives
// a reload and the end of a session.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { refreshNow } from "../api/fresh.ts";
import type { Values } from "../forms/field.ts";
import { type EditedKind, isEditedKind, kindWords, loadDetails, loadedDetails, operationOn } from "../kinds/kinds.ts";
import { useKeys } from "../parts/keys.ts";
import { Waiting } from "../parts/waiting.tsx";
import { may } from "../session/me.ts";
import { editText } from "../text/editing.ts";
import { frameText } from "../text/frame.ts";
import { isPast, vs } from "../time/at.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import type { EditForm } from "./edit-form.tsx";
import type { RemoveForm } from "./remove-form.tsx";
import { lastSaved, type Saved } from "./saved.ts";
import type { SavedNote } from "./saved-note.tsx";

type End = (saved: Saved | null) => void;

interface EditParts {
  readonly EditForm: typeof EditForm;
  readonly RemoveForm: typeof RemoveForm;
  readonly SavedNote: typeof SavedNote;
}

/** URL parameter: the record being edited. */
export const EDIT = "edit";
/** URL parameter: the kind of the record being created. */
export const NEW = "new";
const REMOVE = "remove";
/** The page's own record. */
const OWN = "yes";
const NOTHING_ASKED = { [EDIT]: null, [NEW]: null, [REMOVE]: null };

type Verb = "create" | "update" | "delete";

/** The past and comparisons are read-only. */
export function mayWrite(kind: EditedKind, verb: Verb): boolean {
  return !isPast.value && vs.value === null && may(operationOn(verb, kind));
}

/**
 * URL of this page with the edit form of a record.
 * @param field shown alone; all fields if omitted
 */
export function hrefEditing(kind: EditedKind, id: string, field?: string): string {
  return hrefHere({ ...NOTHING_ASKED, [EDIT]: [kind, id, field ?? []].flat().join(":") });
}

/** URL of this page with the delete form of a record. */
export function hrefRemoving(kind: EditedKind, id: string): string {
  return hrefHere({ ...NOTHING_ASKED, [REMOVE]: `${kind}:${id}` });
}

interface Asked {
  readonly verb: Verb;
  readonly kind: EditedKind;
  /** Null for a new record. */
  readonly id: string | null;
  /** Field to edit alone. */
  readonly only?: string | undefined;
}

interface OwnRecord {
  readonly kind: EditedKind;
  readonly id: string;
  readonly name: string;
}

/** Operation in the URL, if permitted. */
function askedOf(own: OwnRecord | undefined): Asked | null {
  const isNew = parameter(NEW);
  if (isNew !== null) return isEditedKind(isNew) && mayWrite(isNew, "create") ? askedNew(isNew) : null;
  const verb = parameter(EDIT) !== null ? "update" : "delete";
  const said = parameter(EDIT) ?? parameter(REMOVE);
  const [kind, id, only] = said === OWN ? [own?.kind, own?.id] : (said?.split(":", 3) ?? []);
  if (!isEditedKind(kind) || id === undefined || id === "" || !mayWrite(kind, verb)) return null;
  return { verb, kind, id, only };
}

function askedNew(kind: EditedKind): Asked {
  return { verb: "create", kind, id: null };
}

/** Edit button of the page's own record, with its key, and delete button. */
export function EditButton({ kind }: { readonly kind: EditedKind }) {
  const isIdle = parameter(EDIT) === null && parameter(REMOVE) === null && parameter(NEW) === null;
  const isOffered = isIdle && mayWrite(kind, "update");
  const keys = useMemo(
    () => (isOffered ? [{ key: "e", meaning: "edit this record", press: () => go(hrefHere({ [EDIT]: OWN })) }] : []),
    [isOffered],
  );
  useKeys(keys);
  const button = useRef<HTMLButtonElement>(null);
  const removal = useRef<HTMLButtonElement>(null);
  const givenUp = useRef<"edit" | "remove" | null>(null);
  useLayoutEffect(() => {
    if (isIdle && givenUp.current !== null && lastSaved.peek() === null)
      (givenUp.current === "remove" ? removal : button).current?.focus();
    givenUp.current = isIdle ? null : parameter(REMOVE) === null ? "edit" : "remove";
  });
  return (
    <>
      {isOffered && (
        <button ref={button} type="button" onClick={() => go(hrefHere({ [EDIT]: OWN }))}>
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

/** Starts a new record. */
export function NewButton({ kind }: { readonly kind: EditedKind }) {
  if (!mayWrite(kind, "create") || parameter(NEW) !== null) return null;
  return (
    <button type="button" onClick={() => go(hrefHere({ ...NOTHING_ASKED, [NEW]: kind }))}>
      {editText.newOne(kindWords(kind)[0])}
    </button>
  );
}

interface EditPlaceProps {
  /** The page's own record; omitted on lists. */
  readonly own?: OwnRecord;
  /** Parent of a new record, as far as the page determines it. */
  readonly presets?: Values;
  /** Called after a write. */
  onSaved(): void;
}

export function EditPlace({ own, presets = {}, onSaved }: EditPlaceProps) {
  const asked = askedOf(own);
  const last = isPast.value ? null : lastSaved.value;
  // Only writes made on this page.
  const saved = last !== null && last.place === hrefHere(NOTHING_ASKED).split("?")[0] ? last : null;
  const [parts, setParts] = useState<EditParts | null>(null);
  const [hasFailed, setFailed] = useState(false);
  const isWanted = asked !== null || saved !== null;
  const isKindLoaded = asked === null || loadedDetails(asked.kind) !== undefined;
  useEffect(() => {
    if (!isWanted || (parts !== null && isKindLoaded)) return;
    Promise.all([
      import("./edit-form.tsx"),
      import("./remove-form.tsx"),
      import("./saved-note.tsx"),
      asked === null ? null : loadDetails(asked.kind),
    ]).then(
      ([form, removal, note]) => setParts({ ...form, ...removal, ...note }),
      () => setFailed(true),
    );
  }, [isWanted, asked?.kind]);
  if (!isWanted) return null;
  if (hasFailed) return <p class="note">{frameText.newVersion}</p>;
  if (parts === null || !isKindLoaded) return <Waiting />;
  // If the page's own record no longer exists, its parts are not refreshed.
  const show = (isOver: boolean) => {
    onSaved();
    if (!isOver) refreshNow();
  };
  const end: End = (done) => {
    const here = hrefHere(NOTHING_ASKED);
    lastSaved.value = done === null ? null : { ...done, place: here.split("?")[0] ?? "" };
    go(here, "replace");
    if (done !== null) show(own?.id === done.id && done.operation === "deleted");
  };
  if (asked === null)
    return saved === null ? null : (
      <parts.SavedNote
        key={saved.sequence}
        saved={saved}
        onUndone={() => show(own?.id === saved.id && ["created", "restored"].includes(saved.operation))}
      />
    );
  const { verb, kind, id, only } = asked;
  if (verb === "delete" && id !== null) return <parts.RemoveForm key={id} kind={kind} id={id} onEnd={end} />;
  const [word] = kindWords(kind);
  const isOwn = own !== undefined && own.id === id;
  const isRemovable = id !== null && !isOwn && mayWrite(kind, "delete");
  return (
    <parts.EditForm
      key={`${kind} ${id}`}
      kind={kind}
      id={id}
      name={isOwn ? own.name : word}
      isTitled={!isOwn}
      {...(only === undefined || id === null ? {} : { only, hrefAll: hrefEditing(kind, id) })}
      presets={presets}
      {...(isRemovable ? { hrefRemove: hrefRemoving(kind, id) } : {})}
      onEnd={end}
    />
  );
}
