// API representation of a scan row. Pure.

import { formatInstant, type Instant } from "../../base/instant.ts";
import type { Scan, ScanProgress } from "./scan.ts";
import type { StoredScan } from "./tables.ts";

/**
 * @param networkId network of the scan
 * @param live current progress, if running
 */
export function scanOf(row: StoredScan, networkId: string, live: ScanProgress | null = null): Scan {
  const progress = live ?? row.progress;
  const findings = Object.values(row.outcome?.findings ?? {}).reduce((sum, count) => sum + count, 0);
  const { kind, targets, commit, allow_large, are_targets_permitted, schedule_id, requested_by, reason } = row.request;
  return {
    id: row.id,
    network_id: networkId,
    kind,
    targets: targets === null ? null : [...targets],
    commit,
    allow_large,
    are_targets_permitted,
    schedule_id,
    requested_by,
    reason,
    status: row.status,
    requested_at: formatInstant(row.requested_at),
    started_at: textOf(row.started_at),
    ended_at: textOf(row.ended_at),
    progress: progress === null ? null : { ...progress, findings },
    // The outcome saved during a run only covers an interruption.
    outcome: row.ended_at === null ? null : row.outcome,
  };
}

/** Returns the scan as of a time after its request, without later data. */
export function scanAt(row: StoredScan, at: Instant): StoredScan {
  if (row.ended_at !== null && row.ended_at <= at) return row;
  const isStarted = row.started_at !== null && row.started_at <= at;
  return {
    ...row,
    status: isStarted ? "Running" : "Queued",
    started_at: isStarted ? row.started_at : null,
    ended_at: null,
    progress: null,
    outcome: null,
  };
}

function textOf(at: Instant | null): string | null {
  return at === null ? null : formatInstant(at);
}
