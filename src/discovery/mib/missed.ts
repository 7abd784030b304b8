// How long what an agent served before is missed until it counts as empty: a firmware may lack a table for good. Pure.

import type { Instant } from "../../base/instant.ts";
import type { Device } from "../device.ts";

/** How often, and for how long, something has to be missing until it is not missed any more. */
export interface MissedTerm {
  /** Readings of its whole step. */
  readonly readings: number;
  /** Milliseconds since the first of them. */
  readonly age_ms: number;
}

export const MISSED_TERM: MissedTerm = { readings: 10, age_ms: 7 * 86_400_000 };

/** Of a table that may be empty at any time, while the agent serves what stands beside it. */
export const EMPTIED_TERM: MissedTerm = { readings: 3, age_ms: 3_600_000 };

/** The tables that an agent may have nothing in at any time, and what it serves beside them all the same. */
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

/** Since when something is missing, and how often that was read. */
export interface Miss {
  readonly since: Instant;
  readonly readings: number;
}

/** By name, as servedOf has it. */
export type Missed = Readonly<Record<string, Miss>>;

/** What a device told, and what it did not though it did before. */
export type Reading = Pick<Device, "served" | "missed">;

/**
 * What is missing once a reading is counted. A name that is told of is not missing, nor is one that rows may be without
 * while its table is told of; for what was not read to its end, nothing is counted.
 * @param columns what is remembered; what is in `before` and not here counts as empty already
 */
export function missedNow(columns: readonly string[], before: Missed, reading: Reading, now: Instant): Missed {
  const { served = [], missed = [] } = reading;
  const [known, told, steps] = [new Set(columns), new Set(served), new Set(served.map(stepOf))];
  const next = new Map<string, Miss>();
  for (const [name, miss] of Object.entries(before)) {
    const isOver = known.has(name) ? steps.has(stepOf(name)) : told.has(name);
    if (!isOver) next.set(name, miss);
  }
  for (const name of missed) {
    if (!known.has(name)) continue;
    const { since, readings } = before[name] ?? { since: now, readings: 0 };
    // Beyond the term nothing is counted, so that nothing is written either.
    const counted = Math.max(readings, Math.min(readings + 1, termOf(name, reading).readings));
    next.set(name, { since, readings: counted });
  }
  return Object.fromEntries([...next].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What is left of the term of something that is missing. */
export interface LeftTerm {
  readonly readings: number;
  /** When it ends at the earliest. */
  readonly until: Instant;
}

/** @param reading the one that was counted last */
export function leftTermOf(name: string, { since, readings }: Miss, reading: Reading): LeftTerm {
  const term = termOf(name, reading);
  return { readings: Math.max(0, term.readings - readings), until: since + term.age_ms };
}

function termOf(name: string, { served = [] }: Reading): MissedTerm {
  const beside = BESIDE_EMPTY[stepOf(name)];
  return beside !== undefined && beside !== name && served.includes(beside) ? EMPTIED_TERM : MISSED_TERM;
}

/** The step of the plan that reads it. @param name as servedOf has it */
export function stepOf(name: string): string {
  return name.slice(0, name.indexOf("."));
}
