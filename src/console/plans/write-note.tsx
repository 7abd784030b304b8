// Note about a completed write: its transaction, and an undo button that previews the effects. Takes the focus, since
// the control that started the write no longer exists.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ActionButton } from "../components/buttons.tsx";
import { may } from "../session/me.ts";
import { groupedDigits } from "../text/digits.ts";
import { hrefOf } from "../url/location.ts";
import { PlannedWrite } from "./planned-write.tsx";
import { revertPlan } from "./plans.ts";

interface WriteNoteProps {
  readonly sentence: ComponentChildren;
  /** Transaction; null if nothing was written. */
  readonly sequence: number | null;
  /** Consequence of an undo beyond the changed records. */
  readonly undoWarning?: string | undefined;
  onClose(): void;
  onUndone(): void;
  /** Content below the sentence. */
  readonly children?: ComponentChildren;
}

export function WriteNote({ sentence, sequence, undoWarning, onClose, onUndone, children }: WriteNoteProps) {
  const [isUndoing, setUndoing] = useState(false);
  const note = useRef<HTMLElement>(null);
  useLayoutEffect(() => note.current?.focus(), []);
  if (isUndoing && sequence !== null)
    return (
      <PlannedWrite
        title="Undo this transaction"
        submitLabel="Undo"
        {...(undoWarning === undefined ? {} : { consequence: undoWarning })}
        run={(options) => revertPlan(sequence, options)}
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
          <ActionButton label="Undo" onClick={() => setUndoing(true)} />
        )}{" "}
        <ActionButton label="Close" onClick={onClose} />
      </p>
      {children}
    </section>
  );
}
