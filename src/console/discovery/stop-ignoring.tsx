// Ignore-list entry removal, so that scans can restore the records. Has a preview, and can be undone.

import { api, read, unwrapWrite } from "../api/client.ts";
import { IDS_MAX } from "../api/ids.ts";
import { reasonHeader } from "../forms/reason.ts";
import { PlannedWrite } from "../plans/planned-write.tsx";
import type { Plan, PlanRequest } from "../plans/plans.ts";
import { groupedDigits } from "../text/digits.ts";

interface StopIgnoringProps {
  readonly ids: readonly string[];
  onEnd(): void;
  onDone(): void;
}

export function StopIgnoring({ ids, onEnd, onDone }: StopIgnoringProps) {
  return (
    <PlannedWrite
      title="Stop ignoring"
      submitLabel="Stop ignoring"
      consequence="The next scan that finds the record creates it again."
      isUndoable
      run={(options) => (options.isDryRun ? preview(ids) : removeEntries(ids, options))}
      onEnd={onEnd}
      onDone={onDone}
    />
  );
}

/** Lists the entries that still exist. @throws Refusal */
async function preview(ids: readonly string[]): Promise<Plan> {
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
async function removeEntries(ids: readonly string[], { reason, key }: PlanRequest): Promise<Plan> {
  const { sequence } = await unwrapWrite(
    api.POST("/api/v1/discovery/ignored/bulk-delete", {
      params: { header: { "Idempotency-Key": key } },
      headers: reasonHeader(reason),
      body: [...ids],
    }),
  );
  return { applied: true, sequence, actions: [], conflicts: [] };
}
