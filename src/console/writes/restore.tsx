// Bringing a record back to what it was at the instant that is shown, or was last.

import { useState } from "preact/hooks";
import { may } from "../session/me.ts";
import { planText } from "../text/editing.ts";
import { PlannedWrite } from "./planned-write.tsx";
import { type RestoredKind, restorePlan } from "./plans.ts";

const RESTORES = {
  host: "restoreHost",
  if_entry: "restoreIfEntry",
  subnet: "restoreSubnet",
  vlan: "restoreVlan",
} as const;

interface RestoreProps {
  readonly kind: RestoredKind;
  readonly id: string;
  /** An instant, or `marker:NAME`. */
  readonly at: string;
  /** On the button that begins it. */
  readonly verb: string;
}

export function Restore({ kind, id, at, verb }: RestoreProps) {
  const [isOpen, setOpen] = useState(false);
  if (!may(RESTORES[kind])) return null;
  if (!isOpen)
    return (
      <button type="button" class="restore" onClick={() => setOpen(true)}>
        {verb}
      </button>
    );
  return (
    <PlannedWrite
      key={at}
      title={planText.restore}
      verb={verb}
      run={(sending) => restorePlan({ kind, id, at }, sending)}
      onEnd={() => setOpen(false)}
    />
  );
}
