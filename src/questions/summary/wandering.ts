// MAC addresses that wander: seen at several edge ports within a day. By the forwarding entries that are new, and those
// that were there when the day began, in bounded steps. Knows no host.

import { scopeKey } from "../../db/kind.ts";
import type { TransactionRange } from "../../db/reading/activity.ts";
import { ChangeLog } from "../../db/reading/change-log.ts";
import type { Reach } from "../../db/reading/list-query.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { membersSql } from "../../db/shape.ts";
import { edgesAt, portsAt } from "../../history/edge-ports.ts";
import { fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";

/** Edge ports within the day that make a MAC address wander. */
export const WANDERING_PORTS = 3;

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

/** Those at most ports first. */
export function* wanderingMacs(reader: Reader, query: WanderingQuery): Generator<void, readonly WanderingMac[]> {
  const isEdge = edgesAt(reader, query.until);
  const wandering: WanderingMac[] = [];
  let looked = 0;
  for (const [key, ports] of yield* freshPorts(reader, query)) {
    // One more may have been its port when the day began.
    const [networkId = "", macAddress = ""] = key.split(" ");
    for (const port of portsAt(reader, { reach: query.reach, sequence: query.after }, networkId, macAddress))
      ports.add(port);
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
