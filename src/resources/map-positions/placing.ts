// Automatic map positions for newly linked hosts, when a scan or a user writes a neighbor. Runs in the same
// transaction, so that the link and its lasting positions become visible together.

import type { Sql } from "../../db/connection.ts";
import { KeyedRows } from "../../db/keyed-row.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import type { Commands } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { type IfEntryRecord, ifEntryKind } from "../if-entries/if-entry.ts";
import type { LayoutLink } from "./layout/forest.ts";
import { layOutMap } from "./layout/layout.ts";
import { MAP_POSITIONS_MAX, type MapPosition, mapPositions, storedPositions } from "./map-position.ts";

const rows = new KeyedRows(mapPositions, ["network_n", "node_id"]);

export function writePosition(
  db: Sql,
  network_n: number,
  [node_id, { x, y, placed }]: readonly [string, MapPosition],
): void {
  rows.upsert(db, withChecksum(mapPositions, { network_n, node_id, x, y, placed }));
}

/** Wraps commands so that each positions the hosts it links. */
export function withPlacement<C extends Commands>(commands: C): C {
  const wrapped = Object.entries(commands).map(([name, command]) => [
    name,
    Object.assign(
      // biome-ignore lint/suspicious/noExplicitAny: passed through to the command unchanged.
      (tx: WriteTransaction, input: any, actor: any, box: any) => {
        const result = command(tx, input, actor, box);
        placeLinkedHosts(tx);
        return result;
      },
      command,
    ),
  ]);
  return Object.fromEntries(wrapped) as C;
}

function placeLinkedHosts(tx: WriteTransaction): void {
  const entries = tx.changedOf(ifEntryKind).filter((entry) => farIdsOf(entry).length > 0);
  if (entries.length === 0) return;
  tx.runAfterWrite(() => {
    for (const [networkId, networkEntries] of Map.groupBy(entries, ({ network_id }) => network_id)) {
      const ends = networkEntries.flatMap((entry) => [entry.host_id, ...farIdsOf(entry)]);
      placeHosts(tx.db, tx.recordN(networkId) as number, hostsOf(tx.db, ends));
    }
  });
}

/** Ids of interface entries and hosts. */
function farIdsOf({ neighbor, more_neighbors: moreNeighbors = [] }: IfEntryRecord): string[] {
  return [neighbor, ...moreNeighbors.map((each) => each.neighbor)].flatMap((far) => far?.id ?? []);
}

/** @param ids of hosts, and of interface entries for their hosts */
function hostsOf(db: Sql, ids: readonly string[]): number[] {
  const found = db.$client
    .query(
      `SELECT DISTINCT coalesce(e.host_n, r.n) FROM json_each(?) j CROSS JOIN history_records r ON r.id = j.value
        LEFT JOIN if_entries e ON e.n = r.n`,
    )
    .values(JSON.stringify(ids)) as Array<[number]>;
  return found.map(([n]) => n);
}

const RELATIONS = "('neighbor', 'more_neighbor_hosts', 'more_neighbor_if_entries')";
const TO_HOST = "coalesce((SELECT f.host_n FROM if_entries f WHERE f.n = l.target_n), l.target_n)";
const SPEED = "('{' || e.members || '}') ->> '$.speed_bps'";
/** Links by the entries with a neighbor: the hosts' own, and those that reference the hosts or their interfaces. */
const LINKS = `
  SELECT e.n, e.host_n, ${TO_HOST}, ${SPEED} FROM json_each(?1) j CROSS JOIN if_entries e ON e.host_n = j.value
    CROSS JOIN live_links l ON l.n = e.n AND l.relation IN ${RELATIONS}
  UNION
  SELECT e.n, e.host_n, j.value, ${SPEED} FROM json_each(?1) j
    CROSS JOIN live_links l ON l.target_n = j.value AND l.relation IN ${RELATIONS} CROSS JOIN if_entries e ON e.n = l.n
  UNION
  SELECT e.n, e.host_n, j.value, ${SPEED} FROM json_each(?1) j CROSS JOIN if_entries f ON f.host_n = j.value
    CROSS JOIN live_links l ON l.target_n = f.n AND l.relation IN ${RELATIONS} CROSS JOIN if_entries e ON e.n = l.n`;

/**
 * Positions the hosts that have links and no position yet. Existing positions never move.
 * @param ns record numbers of hosts; those in another network or deleted are ignored
 */
export function placeHosts(db: Sql, networkN: number, ns: readonly number[]): void {
  const { $client } = db;
  const unplaced = $client
    .query(
      `SELECT h.n FROM json_each(?1) j CROSS JOIN hosts h ON h.n = j.value AND h.network_n = +?2
        CROSS JOIN history_records r ON r.n = h.n
        WHERE NOT EXISTS (SELECT 1 FROM map_positions p WHERE p.network_n = +?2 AND p.node_id = r.id)`,
    )
    .values(JSON.stringify(ns), networkN) as Array<[number]>;
  if (unplaced.length === 0) return;
  // The parent of each host depends on the links of its neighbors.
  const near = linksOf(db, networkN, unplaced.flat());
  const links = linksOf(db, networkN, hostsOf(db, [...new Set(near.flatMap(({ ends }) => ends))]));
  const stored = storedPositions({ statement: (sql) => $client.query(sql) }, networkN);
  const linked = new Set(links.flatMap(({ ends }) => ends));
  const room = MAP_POSITIONS_MAX - stored.size;
  const placed = [...layOutMap([...linked], links, stored)].filter(([id]) => !stored.has(id));
  for (const [id, { x, y }] of placed.slice(0, Math.max(0, room)))
    writePosition(db, networkN, [id, { x, y, placed: "layout" }]);
}

/** Links of these hosts within the network. If both ends report a cable, the higher speed counts. */
function linksOf(db: Sql, networkN: number, ns: readonly number[]): LayoutLink[] {
  const rows = db.$client.query(LINKS).values(JSON.stringify(ns)) as Array<[number, number, number, number | null]>;
  const idOf = idsIn(db, networkN, new Set(rows.flatMap(([, near, far]) => [near, far])));
  const speeds = new Map<string, number>();
  for (const [, near, far, speedBps] of rows) {
    const key = `${idOf.get(near)} ${idOf.get(far)}`;
    if (idOf.has(near) && idOf.has(far) && near !== far) speeds.set(key, (speeds.get(key) ?? 0) + (speedBps ?? 0));
  }
  return [...speeds].flatMap(([key, speedBps]): LayoutLink[] => {
    const ends = key.split(" ") as [string, string];
    const reverse = speeds.get(`${ends[1]} ${ends[0]}`);
    const isPreferred = reverse === undefined || speedBps > reverse || (speedBps === reverse && ends[0] < ends[1]);
    return isPreferred ? [{ ends, speedBps }] : [];
  });
}

/** Ids of the hosts that are in the network. */
function idsIn(db: Sql, networkN: number, ns: ReadonlySet<number>): Map<number, string> {
  const found = db.$client
    .query(
      `SELECT h.n, r.id FROM json_each(?1) j CROSS JOIN hosts h ON h.n = j.value AND h.network_n = +?2
        CROSS JOIN history_records r ON r.n = h.n`,
    )
    .values(JSON.stringify([...ns]), networkN) as Array<[number, string]>;
  return new Map(found);
}
