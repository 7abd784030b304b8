// Button that restores fields of a compared record. Its form is loaded on demand.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ActionButton } from "../components/buttons.tsx";
import { type ChangedRecord, SELF_EVIDENT } from "../history/difference-lines.ts";
import { isEditedKind, operationOn } from "../kinds/kinds.ts";
import { shownName } from "../names/shown-name.ts";
import { may } from "../session/me.ts";
import { frameText } from "../text/frame.ts";
import { pathname } from "../url/location.ts";
import { lastSaved, type Saved } from "./saved.ts";

type Parts = typeof import("./restore-form.tsx") & typeof import("./saved-note.tsx");

/**
 * Restore button of a record; null if this user cannot edit the record.
 * @param from timestamp of the restored values
 * @param onWritten called after a restore or its undo
 */
export function restoreSlot(record: ChangedRecord, from: string, onWritten: () => void) {
  const { entity_type: kind } = record;
  if (!isEditedKind(kind) || !may(operationOn("update", kind))) return null;
  return <RestoreSlot key={record.id} record={record} from={from} onWritten={onWritten} />;
}

interface RestoreSlotProps {
  readonly record: ChangedRecord;
  readonly from: string;
  onWritten(): void;
}

function RestoreSlot(props: RestoreSlotProps) {
  const container = useRef<HTMLDivElement>(null);
  const saved = lastSaved.value;
  // Pages of single records report their writes themselves.
  const isReported = saved?.id === props.record.id && saved.page === "/compare" && pathname.value === "/compare";
  const [isOpen, setOpen] = useState(false);
  const isShown = isOpen || isReported;
  const shown = useRef<{ readonly saved: Saved | null } | null>(null);
  useLayoutEffect(() => {
    const now = lastSaved.peek();
    // The focused form or note was removed. The note about a later save elsewhere takes the focus itself.
    if (shown.current !== null && !isShown && (now === null || now === shown.current.saved))
      (container.current?.querySelector("button") ?? container.current)?.focus();
    shown.current = isShown ? { saved: now } : null;
  }, [isShown]);
  return (
    <div ref={container} tabIndex={-1}>
      <RestoreControls {...props} saved={isReported ? saved : null} isOpen={isOpen} onOpen={setOpen} />
    </div>
  );
}

interface RestoreControlsProps extends RestoreSlotProps {
  /** Last write of this form, to report; null if there is none. */
  readonly saved: Saved | null;
  readonly isOpen: boolean;
  onOpen(isOpen: boolean): void;
}

function RestoreControls({ record, from, onWritten, saved, isOpen, onOpen }: RestoreControlsProps) {
  const { entity_type: kind, id, fields } = record;
  const name = shownName(id, record.name);
  const [parts, setParts] = useState<Parts | null>(null);
  const [loadFailed, setLoadFailed] = useState(false);
  if (!isEditedKind(kind)) return null;
  if (loadFailed) return <p class="note">{frameText.newVersion}</p>;
  if (saved !== null && parts !== null)
    return <parts.SavedNote key={saved.sequence} saved={saved} onUndone={onWritten} />;
  if (isOpen && parts !== null)
    return (
      <parts.RestoreForm
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
      Promise.all([import("./restore-form.tsx"), import("./saved-note.tsx")]).then(
        ([form, note]) => setParts({ ...form, ...note }),
        () => setLoadFailed(true),
      );
  };
  // No differences left.
  if (fields.length === 0) return null;
  return <ActionButton label="Restore…" class="restore-open" aria-label={`Restore fields of ${name}`} onClick={open} />;
}
