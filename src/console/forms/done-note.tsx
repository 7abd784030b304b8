// Note about a completed action. Takes the focus, since the control that started the action no longer exists.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { ActionButton } from "../components/buttons.tsx";

interface DoneNoteProps {
  readonly sentence: ComponentChildren;
  readonly children?: ComponentChildren;
  /** Label of the close button. */
  readonly closing?: string;
  onClose(): void;
}

export function DoneNote({ sentence, children, closing = "Close", onClose }: DoneNoteProps) {
  const note = useRef<HTMLElement>(null);
  useLayoutEffect(() => note.current?.focus(), []);
  return (
    <section ref={note} tabIndex={-1} class="note settings-note" role="status">
      <p>{sentence}</p>
      {children}
      <p>
        <ActionButton label={closing} onClick={onClose} />
      </p>
    </section>
  );
}
