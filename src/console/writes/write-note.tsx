// Note about a completed write: its transaction, and undo, whose effects are shown before it is performed. Takes the
// focus, since the control that started the write is gone.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { may } from "../session/me.ts";
import { groupedDigits } from "../text/digits.ts";
import { hrefOf } from "../url/location.ts";
import { PlannedWrite } from "./planned-write.tsx";
import { revertPlan } from "./plans.ts";

interface WriteNoteProps {
  readonly sentence: ComponentChildren;
  /** Transaction; null if nothing was written. */
  readonly sequence: number | null;
  /** Consequences of undo beyond the changed records. */
  readonly undoSays?: string | undefined;
  onClose(): void;
  onUndone(): void;
  /** Shown below. */
  readonly children?: ComponentChildren;
}

export function WriteNote({ sentence, sequence, undoSays, onClose, onUndone, children }: WriteNoteProps) {
  const [isUndoing, setUndoing] = useState(false);
  const note = useRef<HTMLElement>(null);
  useLayoutEffect(() => note.current?.focus(), []);
  if (isUndoing && sequence !== null)
    return (
      <PlannedWrite
        title="Undo this transaction"
        verb="Undo"
        {...(undoSays === undefined ? {} : { says: undoSays })}
        run={(sending) => revertPlan(sequence, sending)}
        onEnd={onClose}
        onDone={onUndone}
      />
    );
  return (
    <section ref={note} tabIndex={-1} class="note edit-saved" aria-live="polite">
      <p>
        {sentence}{" "}
        {sequence !== null && <a href={hrefOf(`/changes/${sequence}`)}>transaction {groupedDigits(sequence)}</a>}{" "}
        {sequence !== null && may("revertTransaction") && (
          <button type="button" onClick={() => setUndoing(true)}>
            Undo
          </button>
        )}{" "}
        <button type="button" onClick={onClose}>
          Close
        </button>
      </p>
      {children}
    </section>
  );
}
