// Offer to restore fields of a record from the comparison. The form is loaded on demand.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type ChangedRecord, SELF_EVIDENT } from "../changes/difference-lines.ts";
import { isEditedKind, operationOn } from "../kinds/kinds.ts";
import { shownName } from "../names/shown-name.ts";
import { may } from "../session/me.ts";
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
 * Null if the record is not editable, or not by this user.
 * @param from timestamp of the restored values
 * @param onWritten called after a restore or its undo
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
  // A record's own page reports what was saved there.
  const isTold = saved?.id === props.record.id && saved.place === "/compare" && pathname.value === "/compare";
  const [isOpen, setOpen] = useState(false);
  const has = isOpen || isTold;
  const shown = useRef<{ readonly saved: Saved | null } | null>(null);
  useLayoutEffect(() => {
    const now = lastSaved.peek();
    // The focused form or note is gone. A later save elsewhere has taken the focus itself.
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
  /** Last write from here, to be reported. */
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
  // No differences left.
  if (fields.length === 0) return null;
  return (
    <button type="button" class="back" aria-label={`Restore fields of ${name}`} onClick={open}>
      Restore…
    </button>
  );
}
