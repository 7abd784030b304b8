// Grace period before missing data counts as empty: a firmware update may remove a table permanently. Pure.

import { ownValue } from "../../base/fields.ts";
import type { Instant } from "../../base/instant.ts";
import type { Device } from "../device.ts";

/** Number of readings and age after which missing data counts as empty. */
interface GracePeriod {
  readonly readings: number;
  /** Milliseconds since the first of these readings. */
  readonly age_ms: number;
}

export const GRACE_PERIOD: GracePeriod = { readings: 10, age_ms: 7 * 86_400_000 };

/** For a table that may empty at any time while its companion is still served. */
export const EMPTY_TABLE_GRACE_PERIOD: GracePeriod = { readings: 3, age_ms: 3_600_000 };

/** Tables that may be empty, with the companion that the agent still serves. */
const COMPANIONS: Readonly<Record<string, string>> = {
  lldp_rem_table: "lldp_local.chassisId",
  lldp_rem_man_addr_table: "lldp_rem_table.chassisId",
  lldp_v2_rem_table: "lldp_v2_local.chassisId",
  lldp_v2_rem_man_addr_table: "lldp_v2_rem_table.chassisId",
  cdp_cache_table: "cdp_cache_table.cdpGlobalRun",
  dot1q_tp_fdb_table: "bridge.dot1dBasePortIfIndex",
  dot1d_tp_fdb_table: "bridge.dot1dBasePortIfIndex",
  vlan_dot1d_tp_fdb_table: "bridge.dot1dBasePortIfIndex",
};

export interface Miss {
  readonly since: Instant;
  readonly readings: number;
}

/** Keyed by name, in the format of servedOf. */
export type Missed = Readonly<Record<string, Miss>>;

/** The scalars and columns that a device served, and those it no longer serves. */
type Reading = Pick<Device, "served" | "missed">;

/**
 * Lists the data missing after a reading. A served name is not missing, nor is an optional one while its table is
 * served. Partially read tables do not count.
 * @param columns remembered columns; names only in `before` already count as empty
 */
export function missedNow(columns: readonly string[], before: Missed, reading: Reading, now: Instant): Missed {
  const { served = [], missed = [] } = reading;
  const [known, reported, steps] = [new Set(columns), new Set(served), new Set(served.map(stepOf))];
  const next = new Map<string, Miss>();
  for (const [name, miss] of Object.entries(before)) {
    const isOver = known.has(name) ? steps.has(stepOf(name)) : reported.has(name);
    if (!isOver) next.set(name, miss);
  }
  for (const name of missed) {
    if (!known.has(name)) continue;
    const { since, readings } = ownValue(before, name) ?? { since: now, readings: 0 };
    // After the grace period, keep the value to avoid a write.
    const counted = Math.max(readings, Math.min(readings + 1, gracePeriodOf(name, reading).readings));
    next.set(name, { since, readings: counted });
  }
  return Object.fromEntries([...next].sort(([a], [b]) => (a < b ? -1 : 1)));
}

interface RemainingGrace {
  readonly readings: number;
  /** Earliest end of the grace period. */
  readonly until: Instant;
}

export function remainingGraceOf(name: string, { since, readings }: Miss, reading: Reading): RemainingGrace {
  const gracePeriod = gracePeriodOf(name, reading);
  return { readings: Math.max(0, gracePeriod.readings - readings), until: since + gracePeriod.age_ms };
}

function gracePeriodOf(name: string, { served = [] }: Reading): GracePeriod {
  const companion = ownValue(COMPANIONS, stepOf(name));
  return companion !== undefined && companion !== name && served.includes(companion)
    ? EMPTY_TABLE_GRACE_PERIOD
    : GRACE_PERIOD;
}

/** @param name in the format of servedOf */
export function stepOf(name: string): string {
  return name.slice(0, name.indexOf("."));
}
