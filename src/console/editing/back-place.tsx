// The way to bring some fields of a record back, beside it where it differs from now. What does it is loaded when
// somebody wants to.

import { useState } from "preact/hooks";
import { type ChangedRecord, SELF_EVIDENT } from "../changes/difference-lines.ts";
import { may } from "../session/me.ts";
import { bringBackText } from "../text/bring-back.ts";
import { frameText } from "../text/frame.ts";
import { pathname } from "../url/location.ts";
import type { BringBack } from "./bring-back.tsx";
import { isEditedKind, operationsOf } from "./edited-kinds.ts";
import { lastSaved } from "./saved.ts";
import type { SavedNote } from "./saved-note.tsx";

interface Parts {
  readonly Form: typeof BringBack;
  readonly Note: typeof SavedNote;
}

/** Nothing where it cannot be edited, or not by whoever is signed in. @param from the instant as of which it comes back */
export function backBeside(record: ChangedRecord, from: string) {
  const { entity_type: kind } = record;
  if (!isEditedKind(kind) || !may(operationsOf(kind).update)) return null;
  return <BackPlace key={record.id} record={record} from={from} />;
}

function BackPlace({ record, from }: { readonly record: ChangedRecord; readonly from: string }) {
  const { entity_type: kind, id, fields } = record;
  const name = record.name || `…${id.slice(-8)}`;
  const [parts, setParts] = useState<Parts | null>(null);
  const [hasFailed, setFailed] = useState(false);
  const [isOpen, setOpen] = useState(false);
  // The page of a record tells by itself what was saved on it.
  const saved = lastSaved.value;
  const isTold = saved !== null && saved.id === id && saved.place === "/compare" && pathname.value === "/compare";
  if (!isEditedKind(kind)) return null;
  if (hasFailed) return <p class="note">{frameText.newVersion}</p>;
  if (isTold && parts !== null) return <parts.Note saved={saved} onUndone={() => {}} />;
  if (isOpen && parts !== null)
    return (
      <parts.Form
        kind={kind}
        id={id}
        name={name}
        at={from}
        fields={fields.filter(({ field }) => !SELF_EVIDENT.has(field)).map(({ field, from: was }) => ({ field, was }))}
        onEnd={() => setOpen(false)}
      />
    );
  const open = () => {
    setOpen(true);
    if (parts === null)
      Promise.all([import("./bring-back.tsx"), import("./saved-note.tsx")]).then(
        ([{ BringBack: Form }, { SavedNote: Note }]) => setParts({ Form, Note }),
        () => setFailed(true),
      );
  };
  return (
    <button type="button" class="back" aria-label={bringBackText.offerOf(name)} onClick={open}>
      {bringBackText.offer}
    </button>
  );
}
