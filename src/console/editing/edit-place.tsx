// Where a record is edited on its page. The form is loaded when somebody edits for the first time.

import type { ComponentType } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useKeys } from "../parts/keys.ts";
import { Waiting } from "../parts/waiting.tsx";
import { may } from "../session/me.ts";
import { editText } from "../text/editing.ts";
import { frameText } from "../text/frame.ts";
import { isPast, vs } from "../time/at.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import type { EditedKind } from "./forms.ts";
import { lastSaved, type Saved } from "./saved.ts";

interface EditParts {
  readonly EditForm: ComponentType<{
    kind: EditedKind;
    id: string;
    name: string;
    onEnd: (saved: Saved | null) => void;
  }>;
  readonly SavedNote: ComponentType<{ saved: Saved; onUndone: () => void }>;
}

const UPDATES = {
  host: "updateHost",
  if_entry: "updateIfEntry",
  subnet: "updateSubnet",
  vlan: "updateVlan",
} as const;

/** In the address: an edit outlasts a reload, and a session that ends. */
const EDIT = "edit";

/** In the past nothing is edited, nor where two instants are compared. */
function mayEdit(kind: EditedKind): boolean {
  return !isPast.value && vs.value === null && may(UPDATES[kind]);
}

/** The button that begins it, with its key. */
export function EditButton({ kind }: { readonly kind: EditedKind }) {
  const isOffered = mayEdit(kind) && parameter(EDIT) === null;
  const keys = useMemo(
    () =>
      isOffered ? [{ key: "e", meaning: editText.editMeaning, press: () => go(hrefHere({ [EDIT]: "yes" })) }] : [],
    [isOffered],
  );
  useKeys(keys);
  const button = useRef<HTMLButtonElement>(null);
  const wasGivenUp = useRef(false);
  useLayoutEffect(() => {
    if (wasGivenUp.current && lastSaved.peek() === null) button.current?.focus();
    wasGivenUp.current = parameter(EDIT) !== null;
  });
  if (!isOffered) return null;
  return (
    <button ref={button} type="button" onClick={() => go(hrefHere({ [EDIT]: "yes" }))}>
      {editText.edit}
    </button>
  );
}

interface EditPlaceProps {
  readonly kind: EditedKind;
  readonly id: string;
  readonly name: string;
  /** Called when it was written. */
  onSaved(): void;
}

export function EditPlace({ kind, id, name, onSaved }: EditPlaceProps) {
  const isEdited = mayEdit(kind) && parameter(EDIT) !== null;
  const saved = lastSaved.value?.id === id && !isPast.value ? lastSaved.value : null;
  const [parts, setParts] = useState<EditParts | null>(null);
  const [hasFailed, setFailed] = useState(false);
  const isWanted = isEdited || saved !== null;
  useEffect(() => {
    if (!isWanted || parts !== null) return;
    Promise.all([import("./edit-form.tsx"), import("./saved-note.tsx")]).then(
      ([{ EditForm }, { SavedNote }]) => setParts({ EditForm, SavedNote }),
      () => setFailed(true),
    );
  }, [isWanted]);
  if (!isWanted) return null;
  if (hasFailed) return <p class="note">{frameText.newVersion}</p>;
  if (parts === null) return <Waiting />;
  const end = (done: Saved | null) => {
    lastSaved.value = done;
    go(hrefHere({ [EDIT]: null }), "replace");
    if (done !== null) onSaved();
  };
  return isEdited ? (
    <parts.EditForm key={id} kind={kind} id={id} name={name} onEnd={end} />
  ) : (
    saved !== null && <parts.SavedNote key={saved.sequence} saved={saved} onUndone={onSaved} />
  );
}
