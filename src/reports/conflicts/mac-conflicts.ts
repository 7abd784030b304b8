// Conflicts of one MAC address at several edge ports of a network. Uplinks are excluded: every switch on the path to a
// station learns its MAC address. In bounded steps.

import { isSingleDevice } from "../../base/mac.ts";
import { scopeKey } from "../../db/kind.ts";
import { membersSql } from "../../db/shape.ts";
import { EDGE_MACS_MAX, type EdgePort, edgesAt, portsAt } from "../../history/edge-ports.ts";
import { fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";
import { hasVanished } from "../../resources/sightings.ts";
import { networksAt } from "../networks-at.ts";
import { byNumber, type Conflict, type ConflictQuery, type Party, type StatementSource } from "./conflict.ts";

/** Forwarding entries read per step. */
const STEP_ENTRIES = 2_000;
/** MAC addresses looked up per step. */
const STEP_MACS = 200;

const memberSql = (field: string) => `('{' || ${membersSql(fdbEntryKind, "v")} || '}') ->> '$.${field}'`;
const ENTRIES = `SELECT s.n, ${memberSql("mac_address")}, ${memberSql("if_entry_id")} FROM history_spans s
  CROSS JOIN history_versions v ON v.key = (SELECT max(key) FROM history_versions WHERE key > (s.n << 31)
    AND key <= ((s.n << 31) | +?3))
  WHERE s.scope = +?1 AND s.n > +?2 AND s.born <= +?3 AND s.died > +?3 ORDER BY s.n LIMIT ${STEP_ENTRIES}`;
const PORTS = "SELECT r.n, r.id FROM json_each(+?1) j CROSS JOIN history_records r ON r.id = j.value";
const PORTS_BY_NUMBER = "SELECT r.n, r.id FROM json_each(+?1) j CROSS JOIN history_records r ON r.n = j.value";
const NETWORK_ID = "SELECT id FROM history_records WHERE n = +?1";

/** @param mac only this one; null for all */
export function* macConflicts(
  connection: StatementSource,
  query: ConflictQuery,
  mac: string | null = null,
): Generator<void, readonly Conflict[]> {
  const conflicts: Conflict[] = [];
  const edgeOf = edgesAt(connection, query.sequence);
  for (const networkN of networksAt(connection, query.reach, query.sequence)) {
    const networkId = connection.statement(NETWORK_ID).values(networkN)[0]?.[0] as string;
    const portsByMac =
      mac === null ? yield* findSharedMacs(connection, query, networkN) : findMac(connection, query, networkId, mac);
    let examined = 0;
    for (const [value, ports] of portsByMac) {
      if (!isSingleDevice(value)) continue;
      const edges = new Map(ports().flatMap(([port]) => asEntry(edgeOf(port, value))));
      // A switch that is gone may have an outdated table: its stations may be elsewhere by now.
      if (edges.size > 1)
        for (const [n, { hostId }] of edges) if (hasVanished(connection, hostId, query.at)) edges.delete(n);
      if (edges.size > 1) {
        const parties = edges.values().map(({ n, id }): Party => ({ n, id, networkId }));
        conflicts.push({ type: "Mac", value, parties: byNumber(parties) });
      }
      examined += 1;
      if (examined % STEP_MACS === 0) yield;
    }
  }
  return conflicts;
}

const asEntry = (edge: EdgePort | null): Array<[n: number, EdgePort]> => (edge === null ? [] : [[edge.n, edge]]);

/** MAC addresses with their ports, read on demand: number and id. */
type PortsByMac = Iterable<readonly [mac: string, ports: () => Array<[number, string]>]>;

/** Limited to MAC addresses on several ports, and to ports with few MAC addresses. */
function* findSharedMacs(
  connection: StatementSource,
  { sequence }: ConflictQuery,
  networkN: number,
): Generator<void, PortsByMac> {
  const [portsOf, entriesAt] = [new Map<string, Set<string>>(), new Map<string, number>()];
  for (let after = 0; ; ) {
    const scope = scopeKey(networkN, fdbEntryKind);
    const rows = connection.statement(ENTRIES).values(scope, after, sequence) as Array<[number, string, string]>;
    for (const [, mac, port] of rows) {
      const ports = portsOf.get(mac);
      if (ports === undefined) portsOf.set(mac, new Set([port]));
      else ports.add(port);
      entriesAt.set(port, (entriesAt.get(port) ?? 0) + 1);
    }
    yield;
    const last = rows.at(-1);
    if (last === undefined || rows.length < STEP_ENTRIES) break;
    [after] = last;
  }
  const found: Array<readonly [string, () => Array<[number, string]>]> = [];
  for (const [mac, ports] of portsOf) {
    if (ports.size < 2) continue;
    const edgeCandidates = [...ports].filter((port) => (entriesAt.get(port) ?? 0) <= EDGE_MACS_MAX);
    if (edgeCandidates.length > 1)
      found.push([
        mac,
        () => connection.statement(PORTS).values(JSON.stringify(edgeCandidates)) as Array<[number, string]>,
      ]);
  }
  return found;
}

function findMac(connection: StatementSource, query: ConflictQuery, networkId: string, mac: string): PortsByMac {
  const ports = new Set(portsAt(connection, query, networkId, mac));
  const numbers = JSON.stringify([...ports]);
  return [[mac, () => connection.statement(PORTS_BY_NUMBER).values(numbers) as Array<[number, string]>]];
}
