// Flapping ports: interfaces whose operational status changed often within a day, as the filter finds them.

import { type ChangesIndex, scopeKey } from "../../db/kind.ts";
import type { TransactionRange } from "../../db/reading/activity.ts";
import type { Reach } from "../../db/reading/list-query.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";

/** Status changes per day that count as flapping. */
export const FLAPPING_CHANGES = 6;
/** Finds the flapping ports in the list of interfaces. */
export const FLAPPING_FILTER = `changes(oper_status, "-24h") >= ${FLAPPING_CHANGES}`;

export interface FlappingPort {
  readonly n: number;
  readonly changes: number;
  /** Transaction of the last change. */
  readonly last: number;
}

const INDEX = ifEntryKind.changesIndex as ChangesIndex;
/** Ports looked up per step. */
const STEP_PORTS = 500;
const EXISTING = `SELECT j.value FROM json_each(+?1) j CROSS JOIN json_each(+?2) c CROSS JOIN history_spans s
  WHERE s.scope = c.value AND s.n = j.value AND s.born <= +?3 AND s.died > +?3`;
const LAST_CHANGES = `SELECT j.value, (SELECT max(key) & 2147483647 FROM history_versions
  WHERE key > ((j.value << 31) | +?2) AND key <= ((j.value << 31) | +?3) AND instr(changed, '"${INDEX.field}"') > 0)
  FROM json_each(+?1) j`;

/**
 * Number of flapping ports that exist at the end of the day, and those with the most changes.
 * @param networkN null for everything that the caller can access
 * @param max number of ports to return
 */
export function* flappingPorts(
  reader: Reader,
  { organizationN, networkNs }: Reach,
  networkN: number | null,
  { after, until }: TransactionRange,
  max: number,
): Generator<void, { readonly count: number; readonly ports: readonly FlappingPort[] }> {
  const counts = yield* reader.fieldChanges.counts(INDEX, { after, until });
  const frequent = counts.numbers((changes) => changes >= FLAPPING_CHANGES);
  // Copied, since a query for a later day may change the counts in the meantime.
  const changesByN = new Map(frequent.map((n) => [n, counts.of(n)]));
  const containers = networkN === null ? (networkNs ?? [organizationN]) : [networkN];
  const scopes = JSON.stringify(containers.map((container) => scopeKey(container, ifEntryKind)));
  const found: Array<{ readonly n: number; readonly changes: number }> = [];
  for (let start = 0; start < frequent.length; start += STEP_PORTS) {
    const ns = JSON.stringify(frequent.slice(start, start + STEP_PORTS));
    for (const [n] of reader.statement(EXISTING).values(ns, scopes, until) as Array<[number]>)
      found.push({ n, changes: changesByN.get(n) as number });
    yield;
  }
  // Ties are broken by the latest change.
  const least = found.map(({ changes }) => changes).sort((left, right) => right - left)[max - 1] ?? 0;
  const most = found.filter(({ changes }) => changes >= least);
  const ports: FlappingPort[] = [];
  for (let start = 0; start < most.length; start += STEP_PORTS) {
    const ns = JSON.stringify(most.slice(start, start + STEP_PORTS).map(({ n }) => n));
    for (const [n, last] of reader.statement(LAST_CHANGES).values(ns, after, until) as Array<[number, number]>)
      ports.push({ n, changes: changesByN.get(n) as number, last });
    yield;
  }
  ports.sort((left, right) => right.changes - left.changes || right.last - left.last || left.n - right.n);
  return { count: found.length, ports: ports.slice(0, max) };
}
