// MAC addresses that wander: seen at several edge ports within a day. By the forwarding entries that are new, and those
// that were there when the day began, in bounded steps. Knows no host.

import { OPERATION, scopeKey } from "../../db/kind.ts";
import type { TransactionRange } from "../../db/reading/activity.ts";
import { ChangeLog } from "../../db/reading/change-log.ts";
import type { Reach } from "../../db/reading/list-query.ts";
import type { ReadConnection } from "../../db/reading/read-connection.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { wholeTerm } from "../../db/search-text.ts";
import { membersSql } from "../../db/shape.ts";
import { fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";

/** Edge ports within the day that make a MAC address wander. */
export const WANDERING_PORTS = 3;
/** MAC addresses of an edge port at most: a telephone and what is plugged into it, or a host with its containers. */
export const EDGE_MACS_MAX = 4;

export interface WanderingMac {
  readonly macAddress: string;
  readonly networkId: string;
  /** Record numbers of its edge ports, ascending. */
  readonly ports: readonly number[];
}

interface WanderingQuery extends TransactionRange {
  readonly reach: Reach;
  /** Null for all that the caller reaches. */
  readonly networkN: number | null;
}

const STEP_RECORDS = 2_000;
const STEP_PORTS = 200;
const ENTRY = `'{' || ${membersSql(fdbEntryKind, "v")} || '}'`;
const PORT = `'{' || ${membersSql(ifEntryKind, "v")} || '}'`;

/** Those at most ports first. */
export function* wanderingMacs(reader: Reader, query: WanderingQuery): Generator<void, readonly WanderingMac[]> {
  const isEdge = edgesAt(reader, query.until);
  const wandering: WanderingMac[] = [];
  let looked = 0;
  for (const [key, ports] of yield* freshPorts(reader, query)) {
    // One more may have been its port when the day began.
    const [networkId = "", macAddress = ""] = key.split(" ");
    for (const port of portsAt(reader, query, networkId, macAddress)) ports.add(port);
    looked += ports.size;
    if (ports.size >= WANDERING_PORTS) {
      const edges = [...ports].filter(isEdge).sort((one, other) => one - other);
      if (edges.length >= WANDERING_PORTS) wandering.push({ macAddress, networkId, ports: edges });
    }
    if (looked >= STEP_PORTS) {
      looked = 0;
      yield;
    }
  }
  return wandering.sort(
    (one, other) => other.ports.length - one.ports.length || (one.macAddress < other.macAddress ? -1 : 1),
  );
}

/** By network and MAC address, the ports that learned it within the day, where they are several. */
function* freshPorts(
  reader: Reader,
  { reach, networkN, after, until }: WanderingQuery,
): Generator<void, Map<string, Set<number>>> {
  /** The first port alone: on the day of a first scan, a million addresses have one each. */
  const firsts = new Map<string, number>();
  const found = new Map<string, Set<number>>();
  const log = new ChangeLog(reader);
  const last = reader.atSequence(until).lastN;
  // Numbers are given in order of time: what is new has a higher one than what there was.
  for (let n = reader.atSequence(after).lastN; n < last; ) {
    const ns = reader
      .statement(
        `SELECT DISTINCT n FROM history_spans WHERE scope = +?1 AND n > +?2 AND n <= +?3 ORDER BY n LIMIT ${STEP_RECORDS}`,
      )
      .values(scopeKey(reach.organizationN, fdbEntryKind), n, last)
      .flat() as number[];
    const rows = reader
      .statement(
        `SELECT r.value, ${ENTRY} ->> '$.network_id', ${ENTRY} ->> '$.mac_address',
          (SELECT p.n FROM history_records p WHERE p.id = ${ENTRY} ->> '$.if_entry_id')
        FROM json_each(+?1) r CROSS JOIN history_versions v ON v.key = (SELECT min(key) FROM history_versions
          WHERE key > (r.value << 31) AND key < ((r.value + 1) << 31))`,
      )
      .values(JSON.stringify(ns)) as Array<[number, string, string, number]>;
    const seen = log.everSeenOf(
      [fdbEntryKind],
      rows.map(([record]) => record),
      reach,
      networkN,
    );
    for (const [record, networkId, macAddress, port] of rows) {
      if (!seen.has(record)) continue;
      const key = `${networkId} ${macAddress}`;
      const [first, ports] = [firsts.get(key), found.get(key)];
      if (first === undefined) firsts.set(key, port);
      else if (ports !== undefined) ports.add(port);
      else if (first !== port) found.set(key, new Set([first, port]));
    }
    yield;
    n = ns.length < STEP_RECORDS ? last : (ns.at(-1) as number);
  }
  return found;
}

/** The ports that knew a MAC address as of a transaction. */
export function portsAt(
  reader: Pick<ReadConnection, "statement">,
  { reach, after }: Pick<WanderingQuery, "reach" | "after">,
  networkId: string,
  macAddress: string,
): readonly number[] {
  const rows = reader
    .statement(
      `SELECT (SELECT p.n FROM history_records p WHERE p.id = ${ENTRY} ->> '$.if_entry_id')
        FROM (SELECT DISTINCT history_search.rowid >> 31 AS n FROM history_search WHERE history_search MATCH +?1) t
        CROSS JOIN history_records r ON r.n = t.n AND r.kind = ${fdbEntryKind.code}
        CROSS JOIN history_spans s ON s.scope = +?2 * 64 + r.kind AND s.n = r.n AND s.born <= +?3 AND s.died > +?3
        CROSS JOIN history_versions v ON v.key = (SELECT max(key) FROM history_versions WHERE key > (r.n << 31)
          AND key <= ((r.n << 31) | +?3))
        WHERE ${ENTRY} ->> '$.network_id' = +?4`,
    )
    .values(wholeTerm(macAddress), reach.organizationN, after, networkId) as Array<[number]>;
  return rows.map(([port]) => port);
}

/** Tells whether a port is an edge as of a transaction: nothing announces itself there, and few MAC addresses are. */
export function edgesAt(reader: Pick<ReadConnection, "statement">, sequence: number): (port: number) => boolean {
  const known = new Map<number, boolean>();
  const announced = ["neighbor", "lldp_chassis_id", "cdp_device_id"]
    .map((field) => `${PORT} ->> '$.${field}' IS NOT NULL`)
    .join(" OR ");
  const text = `SELECT v.operation <> ${OPERATION.Deleted} AND NOT (${announced}),
      coalesce((SELECT c.count FROM history_census c WHERE c.scope = +?3 AND c.sequence <= +?2
        ORDER BY c.sequence DESC LIMIT 1), 0)
    FROM history_versions v WHERE v.key = (SELECT max(key) FROM history_versions WHERE key > (+?1 << 31)
      AND key <= ((+?1 << 31) | +?2))`;
  return (port) => {
    let isEdge = known.get(port);
    if (isEdge === undefined) {
      const row = reader.statement(text).values(port, sequence, scopeKey(port, fdbEntryKind))[0] as
        | [number, number]
        | undefined;
      isEdge = row !== undefined && row[0] === 1 && row[1] <= EDGE_MACS_MAX;
      known.set(port, isEdge);
    }
    return isEdge;
  };
}
