// The way to bring some fields of a record back, beside it where it differs from now. What does it is loaded when
// somebody wants to.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type ChangedRecord, SELF_EVIDENT } from "../changes/difference-lines.ts";
import { isEditedKind, operationOn } from "../kinds/kinds.ts";
import { shownName } from "../names/shown-name.ts";
import { may } from "../session/me.ts";
import { bringBackText } from "../text/bring-back.ts";
import { frameText } from "../text/frame.ts";
import { pathname } from "../url/location.ts";
import type { BringBack } from "./bring-back.tsx";
import { lastSaved, type Saved } from "./saved.ts";
import type { SavedNote } from "./saved-note.tsx";

interface Parts {
  readonly Form: typeof BringBack;
  readonly Note: typeof SavedNote;
}

/**
 * Nothing where it cannot be edited, or not by whoever is signed in.
 * @param from the instant as of which it comes back
 * @param onWritten called when some of it was brought back, or that was undone
 */
export function backBeside(record: ChangedRecord, from: string, onWritten: () => void) {
  const { entity_type: kind } = record;
  if (!isEditedKind(kind) || !may(operationOn("update", kind))) return null;
  return <BackPlace key={record.id} record={record} from={from} onWritten={onWritten} />;
}

interface BackPlaceProps {
  readonly record: ChangedRecord;
  readonly from: string;
  onWritten(): void;
}

function BackPlace(props: BackPlaceProps) {
  const place = useRef<HTMLDivElement>(null);
  const saved = lastSaved.value;
  // The page of a record tells by itself what was saved on it.
  const isTold = saved?.id === props.record.id && saved.place === "/compare" && pathname.value === "/compare";
  const [isOpen, setOpen] = useState(false);
  const has = isOpen || isTold;
  const shown = useRef<{ readonly saved: Saved | null } | null>(null);
  useLayoutEffect(() => {
    const now = lastSaved.peek();
    // The form or the note that had the focus is gone. What was saved since somewhere else has it there.
    if (shown.current !== null && !has && (now === null || now === shown.current.saved))
      (place.current?.querySelector("button") ?? place.current)?.focus();
    shown.current = has ? { saved: now } : null;
  }, [has]);
  return (
    <div ref={place} tabIndex={-1}>
      <BackParts {...props} saved={isTold ? saved : null} isOpen={isOpen} onOpen={setOpen} />
    </div>
  );
}

interface BackPartsProps extends BackPlaceProps {
  /** What was saved here last, to be told. */
  readonly saved: Saved | null;
  readonly isOpen: boolean;
  onOpen(isOpen: boolean): void;
}

function BackParts({ record, from, onWritten, saved, isOpen, onOpen }: BackPartsProps) {
  const { entity_type: kind, id, fields } = record;
  const name = shownName(id, record.name);
  const [parts, setParts] = useState<Parts | null>(null);
  const [hasFailed, setFailed] = useState(false);
  if (!isEditedKind(kind)) return null;
  if (hasFailed) return <p class="note">{frameText.newVersion}</p>;
  if (saved !== null && parts !== null) return <parts.Note key={saved.sequence} saved={saved} onUndone={onWritten} />;
  if (isOpen && parts !== null)
    return (
      <parts.Form
        kind={kind}
        id={id}
        name={name}
        at={from}
        fields={fields.filter(({ field }) => !SELF_EVIDENT.has(field)).map(({ field, from: was }) => ({ field, was }))}
        onSaved={onWritten}
        onEnd={() => onOpen(false)}
      />
    );
  const open = () => {
    onOpen(true);
    if (parts === null)
      Promise.all([import("./bring-back.tsx"), import("./saved-note.tsx")]).then(
        ([{ BringBack: Form }, { SavedNote: Note }]) => setParts({ Form, Note }),
        () => setFailed(true),
      );
  };
  // It differs no more.
  if (fields.length === 0) return null;
  return (
    <button type="button" class="back" aria-label={bringBackText.offerOf(name)} onClick={open}>
      {bringBackText.offer}
    </button>
  );
}
