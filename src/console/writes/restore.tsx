// Bringing a record back to what it was at the instant that is shown, or was last.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { operationOn, type RecordKind } from "../kinds/kinds.ts";
import { may } from "../session/me.ts";
import { planText } from "../text/editing.ts";
import { PlannedWrite } from "./planned-write.tsx";
import { restorePlan } from "./plans.ts";

interface RestoreProps {
  readonly kind: RecordKind;
  readonly id: string;
  /** An instant, or `marker:NAME`. */
  readonly at: string;
  /** On the button that begins it. */
  readonly verb: string;
  /** Called when it was done. */
  onDone?(): void;
  /** Called before, with the transaction that did it. */
  onRestored?(sequence: number): void;
}

/** The button, and in its place what comes of it. */
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
  /** While what it comes to is shown, there is no button. */
  readonly isOpen: boolean;
  onOpen(): void;
}

/** Nothing for whoever may not. */
export function RestoreButton({ kind, verb, isOpen, onOpen }: RestoreButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(isOpen);
  useLayoutEffect(() => {
    // What had the focus is gone.
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
      title={planText.restore}
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
