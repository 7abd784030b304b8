// Note about a write, with undo. Shows the effects of undo before it is performed.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { fieldTitle } from "../names/custom-fields.ts";
import { anyRecordPage } from "../names/record-page.ts";
import { may } from "../session/me.ts";
import { editText, planText } from "../text/editing.ts";
import { hrefOf } from "../url/location.ts";
import { PlannedWrite } from "../writes/planned-write.tsx";
import { revertPlan } from "../writes/plans.ts";
import { lastSaved, type Saved } from "./saved.ts";

interface SavedNoteProps {
  readonly saved: Saved;
  /** Called after undo. */
  onUndone(): void;
}

const SAID = {
  created: editText.created,
  updated: editText.saved,
  deleted: editText.deleted,
  restored: editText.restoredNow,
} as const;

export function SavedNote({ saved: { kind, id, operation, sequence, merged }, onUndone }: SavedNoteProps) {
  const [isUndoing, setUndoing] = useState(false);
  const note = useRef<HTMLElement>(null);
  // The focused form is gone.
  useLayoutEffect(() => note.current?.focus(), []);
  const page = operation === "created" ? anyRecordPage(kind, id) : null;
  const close = () => {
    lastSaved.value = null;
  };
  if (isUndoing && sequence !== null)
    return (
      <PlannedWrite
        title={planText.undo}
        verb={planText.undoVerb}
        run={(sending) => revertPlan(sequence, sending)}
        onEnd={close}
        onDone={onUndone}
      />
    );
  return (
    <section ref={note} tabIndex={-1} class="note edit-saved" aria-live="polite">
      <p>
        {sequence === null ? editText.unchanged : SAID[operation]}{" "}
        {page !== null && <a href={hrefOf(page)}>{editText.show}</a>}{" "}
        {sequence !== null && <a href={hrefOf(`/changes/${sequence}`)}>{editText.transaction(sequence)}</a>}{" "}
        {sequence !== null && may("revertTransaction") && (
          <button type="button" onClick={() => setUndoing(true)}>
            {editText.undo}
          </button>
        )}{" "}
        <button type="button" onClick={close}>
          {editText.close}
        </button>
      </p>
      {merged.length > 0 && <p>{editText.merged(merged.map((each) => fieldTitle(each)))}</p>}
    </section>
  );
}
