// Removal of ignore entries, so that scans can restore the records. Previewed, and can be undone.

import { api, read, written } from "../api/client.ts";
import { IDS_MAX } from "../api/ids.ts";
import { reasonHeader } from "../forms/reason.ts";
import { groupedDigits } from "../text/digits.ts";
import { PlannedWrite } from "../writes/planned-write.tsx";
import type { Plan, Sending } from "../writes/plans.ts";

interface LiftIgnoredProps {
  readonly ids: readonly string[];
  onEnd(): void;
  onDone(): void;
}

export function LiftIgnored({ ids, onEnd, onDone }: LiftIgnoredProps) {
  return (
    <PlannedWrite
      title="Stop ignoring"
      verb="Let come back"
      says="The next scan that finds it creates it again."
      isUndoable
      run={(sending) => (sending.isTried ? triedLift(ids) : lifted(ids, sending))}
      onEnd={onEnd}
      onDone={onDone}
    />
  );
}

/** Preview: the entries that still exist. @throws Refusal */
async function triedLift(ids: readonly string[]): Promise<Plan> {
  const query = { ids: ids.slice(0, IDS_MAX), limit: IDS_MAX };
  const { data } = await read("/api/v1/discovery/ignored", { query }).load();
  return {
    applied: false,
    sequence: null,
    actions: data.map(({ id, label }) => ({ entity_type: "ignored", id, name: label, action: "Delete", fields: [] })),
    conflicts: ids.length > IDS_MAX ? [{ id: "", message: `At most ${groupedDigits(IDS_MAX)} at once.` }] : [],
  };
}

/** @throws Refusal */
async function lifted(ids: readonly string[], { reason, key }: Sending): Promise<Plan> {
  const { sequence } = await written(
    api.POST("/api/v1/discovery/ignored/bulk-delete", {
      params: { header: { "Idempotency-Key": key } },
      headers: reasonHeader(reason),
      body: [...ids],
    }),
  );
  return { applied: true, sequence, actions: [], conflicts: [] };
}
