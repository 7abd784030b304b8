// How long something served before may be missing until it counts as empty: a firmware may drop a table for good. Pure.

import { ownValue } from "../../base/fields.ts";
import type { Instant } from "../../base/instant.ts";
import type { Device } from "../device.ts";

/** How often and how long something must be missing to count as empty. */
interface MissedTerm {
  readonly readings: number;
  /** Milliseconds since the first of them. */
  readonly age_ms: number;
}

export const MISSED_TERM: MissedTerm = { readings: 10, age_ms: 7 * 86_400_000 };

/** Of a table that may empty at any time while its companions are served. */
export const EMPTIED_TERM: MissedTerm = { readings: 3, age_ms: 3_600_000 };

/** Tables that may be empty, and what an agent still serves beside them. */
const BESIDE_EMPTY: Readonly<Record<string, string>> = {
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

/** By name, as servedOf has it. */
export type Missed = Readonly<Record<string, Miss>>;

/** What a device reported, and what it no longer does. */
type Reading = Pick<Device, "served" | "missed">;

/**
 * What is missing after a reading. A name that is reported is not missing, nor an optional one whose table is reported;
 * what was not read to its end is not counted.
 * @param columns what is remembered; those in `before` alone count as empty already
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
    // Beyond the term nothing changes, so nothing is written.
    const counted = Math.max(readings, Math.min(readings + 1, termOf(name, reading).readings));
    next.set(name, { since, readings: counted });
  }
  return Object.fromEntries([...next].sort(([a], [b]) => (a < b ? -1 : 1)));
}

interface LeftTerm {
  readonly readings: number;
  /** The earliest end. */
  readonly until: Instant;
}

export function leftTermOf(name: string, { since, readings }: Miss, reading: Reading): LeftTerm {
  const term = termOf(name, reading);
  return { readings: Math.max(0, term.readings - readings), until: since + term.age_ms };
}

function termOf(name: string, { served = [] }: Reading): MissedTerm {
  const beside = ownValue(BESIDE_EMPTY, stepOf(name));
  return beside !== undefined && beside !== name && served.includes(beside) ? EMPTIED_TERM : MISSED_TERM;
}

/** @param name as servedOf has it */
export function stepOf(name: string): string {
  return name.slice(0, name.indexOf("."));
}
