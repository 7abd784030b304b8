// Restore of a record to the shown instant, or to its last state.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { operationOn, type RecordKind } from "../kinds/kinds.ts";
import { may } from "../session/me.ts";
import { PlannedWrite } from "./planned-write.tsx";
import { restorePlan } from "./plans.ts";

interface RestoreProps {
  readonly kind: RecordKind;
  readonly id: string;
  /** Instant, or `marker:NAME`. */
  readonly at: string;
  /** Label of the button. */
  readonly verb: string;
  /** Called after the restore. */
  onDone?(): void;
  /** Called before `onDone`, with the transaction of the restore. */
  onRestored?(sequence: number): void;
}

/** Button, replaced by the preview once clicked. */
export function Restore({ kind, verb, ...rest }: RestoreProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <RestoreButton kind={kind} verb={verb} isOpen={isOpen} onOpen={() => setOpen(true)} />
      {isOpen && <RestorePlan kind={kind} verb={verb} {...rest} onEnd={() => setOpen(false)} />}
    </>
  );
}

interface RestoreButtonProps extends Pick<RestoreProps, "kind" | "verb"> {
  /** Whether the preview is shown, which hides the button. */
  readonly isOpen: boolean;
  onOpen(): void;
}

/** Empty without the permission. */
export function RestoreButton({ kind, verb, isOpen, onOpen }: RestoreButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(isOpen);
  useLayoutEffect(() => {
    // The focused element was removed.
    if (wasOpen.current && !isOpen) button.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  if (isOpen || !may(operationOn("restore", kind))) return null;
  return (
    <button ref={button} type="button" class="restore" onClick={onOpen}>
      {verb}
    </button>
  );
}

export function RestorePlan({
  kind,
  id,
  at,
  verb,
  onDone,
  onRestored,
  onEnd,
}: RestoreProps & { readonly onEnd: () => void }) {
  return (
    <PlannedWrite
      key={at}
      title="Restore it as it was"
      verb={verb}
      isUndoable
      run={async (sending) => {
        const plan = await restorePlan({ kind, id, at }, sending);
        if (plan.applied && plan.sequence !== null) onRestored?.(plan.sequence);
        return plan;
      }}
      onEnd={onEnd}
      {...(onDone === undefined ? {} : { onDone })}
    />
  );
}
