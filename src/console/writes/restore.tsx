// Bringing a record back to what it was at the instant that is shown, or was last.

import { useState } from "preact/hooks";
import { may } from "../session/me.ts";
import { planText } from "../text/editing.ts";
import { PlannedWrite } from "./planned-write.tsx";
import { type RestoredKind, restorePlan } from "./plans.ts";

const RESTORES = {
  network: "restoreNetwork",
  subnet: "restoreSubnet",
  ip_range: "restoreIpRange",
  vlan: "restoreVlan",
  host: "restoreHost",
  ip_address: "restoreIpAddress",
  port: "restorePort",
  service: "restoreService",
  binding: "restoreBinding",
  if_entry: "restoreIfEntry",
  schedule: "restoreSchedule",
  ignored: "restoreIgnored",
  credential: "restoreCredential",
  tag: "restoreTag",
  custom_field: "restoreCustomField",
  marker: "restoreMarker",
  user: "restoreUser",
  api_key: "restoreApiKey",
} as const satisfies Record<RestoredKind, `restore${string}`>;

interface RestoreProps {
  readonly kind: RestoredKind;
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

export function Restore({ kind, id, at, verb, onDone, onRestored }: RestoreProps) {
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
      isUndoable
      run={async (sending) => {
        const plan = await restorePlan({ kind, id, at }, sending);
        if (plan.applied && plan.sequence !== null) onRestored?.(plan.sequence);
        return plan;
      }}
      onEnd={() => setOpen(false)}
      {...(onDone === undefined ? {} : { onDone })}
    />
  );
}
