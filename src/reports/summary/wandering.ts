// MAC addresses that keep moving: seen on several edge ports within a day. Reads the new forwarding entries and those
// at the start of the day, in bounded steps. Independent of hosts.

import { scopeKey } from "../../db/kind.ts";
import type { TransactionRange } from "../../db/reading/activity.ts";
import { ChangeLog } from "../../db/reading/change-log.ts";
import type { Reach } from "../../db/reading/list-query.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { membersSql } from "../../db/shape.ts";
import { edgesAt, portsAt } from "../../history/edge-ports.ts";
import { fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";

/** Minimum number of edge ports within the day. */
export const WANDERING_PORTS = 3;

export interface WanderingMac {
  readonly macAddress: string;
  readonly networkId: string;
  /** Record numbers of its edge ports, ascending. */
  readonly ports: readonly number[];
}

interface WanderingQuery extends TransactionRange {
  readonly reach: Reach;
  /** Null for everything that the caller can access. */
  readonly networkN: number | null;
}

const STEP_RECORDS = 2_000;
const STEP_PORTS = 200;

/** One step of the records of a scope created within the day; nulls if the live row is a later version. */
const NEW_ENTRIES = `SELECT s.n, f.network_n, f.mac_address, f.if_entry_n
  FROM (SELECT n, min(born) AS born FROM history_spans WHERE scope = +?1 AND n > +?2 AND n <= +?3
    GROUP BY n ORDER BY n LIMIT ${STEP_RECORDS}) s
  LEFT JOIN fdb_entries f ON f.n = s.n AND f.sequence = s.born`;
/** First versions. */
const FIRST_VERSIONS = `SELECT r.value, json_extract('{' || ${membersSql(fdbEntryKind, "v")} || '}',
    '$.network_id', '$.mac_address', '$.if_entry_id')
  FROM json_each(+?1) r CROSS JOIN history_versions v ON v.key = (SELECT min(key) FROM history_versions
    WHERE key > (r.value << 31) AND key < ((r.value + 1) << 31))`;
const RECORD_N = "SELECT n FROM history_records WHERE id = +?1";
const RECORD_ID = "SELECT id FROM history_records WHERE n = +?1";
const HAD_ENTRIES = `SELECT coalesce((SELECT count FROM history_census WHERE scope = +?1 AND sequence <= +?2
  ORDER BY sequence DESC LIMIT 1), 0) > 0`;

/** Those on the most ports first. */
export function* wanderingMacs(reader: Reader, query: WanderingQuery): Generator<void, readonly WanderingMac[]> {
  const edgeOf = edgesAt(reader, query.until);
  const wandering: WanderingMac[] = [];
  const networks = new Map<number, NetworkBefore>();
  let examined = 0;
  for (const [key, ports] of yield* newPorts(reader, query)) {
    const [network = "", macAddress = ""] = key.split(" ");
    const networkN = Number(network);
    let before = networks.get(networkN);
    if (before === undefined) networks.set(networkN, (before = networkBefore(reader, networkN, query.after)));
    // The address may have been on one more port at the start of the day.
    const startQuery = { reach: query.reach, sequence: query.after };
    if (before.hadEntries) for (const port of portsAt(reader, startQuery, before.id, macAddress)) ports.add(port);
    examined += ports.size;
    if (ports.size >= WANDERING_PORTS) {
      const edges = [...new Set([...ports].flatMap((port) => edgeOf(port, macAddress)?.n ?? []))].sort(
        (left, right) => left - right,
      );
      if (edges.length >= WANDERING_PORTS) wandering.push({ macAddress, networkId: before.id, ports: edges });
    }
    if (examined >= STEP_PORTS) {
      examined = 0;
      yield;
    }
  }
  return wandering.sort(
    (left, right) => right.ports.length - left.ports.length || (left.macAddress < right.macAddress ? -1 : 1),
  );
}

interface NetworkBefore {
  readonly id: string;
  /** False on the day of the first scan, before which there were no entries; saves one lookup per address. */
  readonly hadEntries: boolean;
}

function networkBefore(reader: Reader, networkN: number, after: number): NetworkBefore {
  const [id] = reader.statement(RECORD_ID).values(networkN)[0] as [string];
  const [hadAny] = reader.statement(HAD_ENTRIES).values(scopeKey(networkN, fdbEntryKind), after)[0] as [number];
  return { id, hadEntries: hadAny === 1 };
}

/** Ports that learned a MAC address within the day, if there are several, by network number and address. */
function* newPorts(
  reader: Reader,
  { reach, networkN, after, until }: WanderingQuery,
): Generator<void, Map<string, Set<number>>> {
  /** Only the first port of each address: on the day of a first scan, a million addresses have one port each. */
  const firsts = new Map<string, number>();
  const found = new Map<string, Set<number>>();
  const isAllVisible = reach.networkNs === null && networkN === null;
  const log = new ChangeLog(reader);
  const last = reader.atSequence(until).lastN;
  // Record numbers are assigned chronologically: new records have higher ones.
  for (let n = reader.atSequence(after).lastN; n < last; ) {
    const entries = newEntries(reader, scopeKey(reach.organizationN, fdbEntryKind), n, last);
    const ns = entries.map(([record]) => record);
    const visible = isAllVisible ? null : log.everVisibleAmong([fdbEntryKind], ns, reach, networkN);
    for (const [record, network, macAddress, port] of entries) {
      if (visible?.has(record) === false) continue;
      const key = `${network} ${macAddress}`;
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

type Entry = [n: number, networkN: number, macAddress: string, portN: number];

/** By record number, ascending. */
function newEntries(reader: Reader, scope: number, after: number, last: number): Entry[] {
  const entries = reader.statement(NEW_ENTRIES).values(scope, after, last) as Entry[];
  const others = new Map(entries.flatMap((entry) => (entry[1] === null ? [[entry[0], entry]] : [])));
  if (others.size === 0) return entries;
  const known = new Map<string, number>();
  const numberOf = (id: string) => {
    let n = known.get(id);
    if (n === undefined) known.set(id, (n = (reader.statement(RECORD_N).values(id)[0] as [number])[0]));
    return n;
  };
  const rows = reader.statement(FIRST_VERSIONS).values(JSON.stringify([...others.keys()])) as Array<[number, string]>;
  for (const [n, text] of rows) {
    const [networkId, macAddress, portId] = JSON.parse(text) as [string, string, string];
    (others.get(n) as Entry).splice(1, 3, numberOf(networkId), macAddress, numberOf(portId));
  }
  return entries;
}
