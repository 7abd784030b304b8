// Restore button and preview, for the shown timestamp or a record's last state.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { operationOn, type WrittenKind } from "../kinds/kinds.ts";
import { may } from "../session/me.ts";
import { PlannedWrite } from "./planned-write.tsx";
import { restorePlan } from "./plans.ts";

export interface RestoreProps {
  readonly kind: WrittenKind;
  readonly id: string;
  /** Timestamp, or `marker:NAME`. */
  readonly at: string;
  /** Label of the button. */
  readonly label: string;
  /** Called after the restore. */
  onDone?(): void;
  /** Called before `onDone`, with the transaction of the restore. */
  onRestored?(sequence: number): void;
}

/** Restore button, replaced by the preview once clicked. */
export function Restore({ kind, label, ...rest }: RestoreProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <RestoreButton kind={kind} label={label} isOpen={isOpen} onOpen={() => setOpen(true)} />
      {isOpen && <RestorePlan kind={kind} label={label} {...rest} onEnd={() => setOpen(false)} />}
    </>
  );
}

interface RestoreButtonProps extends Pick<RestoreProps, "kind" | "label"> {
  /** Whether the preview is shown, which hides the button. */
  readonly isOpen: boolean;
  onOpen(): void;
}

/** Restore button; hidden without permission. */
export function RestoreButton({ kind, label, isOpen, onOpen }: RestoreButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(isOpen);
  useLayoutEffect(() => {
    // The preview that had the focus was removed.
    if (wasOpen.current && !isOpen) button.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  if (isOpen || !may(operationOn("restore", kind))) return null;
  return (
    <button ref={button} type="button" class="restore" onClick={onOpen}>
      {label}
    </button>
  );
}

export function RestorePlan({ kind, id, at, label, onRestored, ...rest }: RestoreProps & { onEnd(): void }) {
  return (
    <PlannedWrite
      key={at}
      title="Restore this state"
      submitLabel={label}
      isUndoable
      run={async (options) => {
        const plan = await restorePlan({ kind, id, at }, options);
        if (plan.applied && plan.sequence !== null) onRestored?.(plan.sequence);
        return plan;
      }}
      {...rest}
    />
  );
}
