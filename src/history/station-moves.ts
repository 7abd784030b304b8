// Station moves in a transaction: MAC addresses that left one edge port and appeared at another, from deleted and
// created forwarding entries. Independent of interfaces.

import { ChangeLog, type RecordChange } from "../db/reading/change-log.ts";
import type { Reach } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import { exactTerm } from "../db/search-text.ts";
import { byKindSql, membersSql } from "../db/shape.ts";
import { type FdbEntryRecord, fdbEntryKind } from "../resources/fdb-entries/fdb-entry.ts";
import { ifEntryKind } from "../resources/if-entries/if-entry.ts";
import { ipAddressKind } from "../resources/ip-addresses/ip-address.ts";
import { edgesAt } from "./edge-ports.ts";
import { ownFieldsAt } from "./highlight-records.ts";

export interface StationMove {
  readonly macAddress: string;
  readonly networkId: string;
  /** Ids of ports. */
  readonly from: string;
  readonly to: string;
}

/** Maximum forwarding entries per transaction; with more, single moves are not significant. */
const ENTRIES_MAX = 4_000;

/** At most `limit` moves, in commit order of the new entries. */
export function* stationMoves(
  reader: Reader,
  reach: Reach,
  sequence: number,
  limit: number,
): Generator<void, StationMove[]> {
  const changes: RecordChange[] = [];
  const query = { reach, kinds: [fdbEntryKind] };
  for (const step of new ChangeLog(reader).changesIn(query, { sequences: [sequence], through: sequence })) {
    changes.push(...step.changes);
    if (changes.length > ENTRIES_MAX) return [];
    if (step.through < sequence) yield;
  }
  const deleted = changes.filter(({ operation }) => operation === "Deleted");
  const created = changes.filter(({ operation }) => operation === "Created");
  if (deleted.length === 0 || created.length === 0) return [];
  const portsLeft = portsByStation(reader, deleted, sequence - 1);
  const moves: StationMove[] = [];
  const [wasEdge, isEdge] = [edgesAt(reader, sequence - 1), edgesAt(reader, sequence)];
  const edgeIds = (ports: readonly string[], edgeOf: ReturnType<typeof edgesAt>, macAddress: string) =>
    ports.flatMap((id) => edgeOf(reader.recordN(id) ?? 0, macAddress)?.id ?? []);
  for (const [station, ports] of portsByStation(reader, created, sequence)) {
    const before = portsLeft.get(station);
    if (before === undefined) continue;
    const [networkId = "", macAddress = ""] = station.split(" ");
    const [left, reached] = [edgeIds(before, wasEdge, macAddress), edgeIds(ports, isEdge, macAddress)];
    const from = left.find((port) => !ports.includes(port) && !reached.includes(port));
    const to = reached.find((port) => !before.includes(port) && !left.includes(port));
    if (from !== undefined && to !== undefined) moves.push({ macAddress, networkId, from, to });
    if (moves.length === limit) break;
  }
  return moves;
}

/** Port ids by network and MAC address. */
function portsByStation(reader: Reader, changes: readonly RecordChange[], sequence: number): Map<string, string[]> {
  const ports = new Map<string, string[]>();
  const ns = changes.map(({ n }) => n);
  for (const entry of ownFieldsAt(reader, fdbEntryKind, ns, sequence) as (FdbEntryRecord | null)[]) {
    if (entry === null) continue;
    const station = `${entry.network_id} ${entry.mac_address}`;
    const known = ports.get(station);
    // The same port in several VLANs counts once.
    if (known === undefined) ports.set(station, [entry.if_entry_id]);
    else if (!known.includes(entry.if_entry_id)) known.push(entry.if_entry_id);
  }
  return ports;
}

const MEMBERS = `'{' || ${byKindSql([ipAddressKind, ifEntryKind], "r.kind", "v", membersSql)} || '}'`;

/** Id of the host that had a MAC address as of a transaction, on an address or interface; null for none. */
export function hostOfMac(
  reader: Pick<Reader, "statement">,
  { networkId, macAddress }: Pick<StationMove, "networkId" | "macAddress">,
  sequence: number,
): string | null {
  const row = reader
    .statement(
      `SELECT ${MEMBERS} ->> '$.host_id'
        FROM (SELECT DISTINCT history_search.rowid >> 31 AS n FROM history_search WHERE history_search MATCH +?1) t
        CROSS JOIN history_records r ON r.n = t.n AND r.kind IN (${ipAddressKind.code}, ${ifEntryKind.code})
        CROSS JOIN history_versions v ON v.key = (SELECT max(key) FROM history_versions WHERE key > (r.n << 31)
          AND key <= ((r.n << 31) | +?2))
        WHERE ${MEMBERS} ->> '$.network_id' = +?3 AND ${MEMBERS} ->> '$.mac_address' = +?4 ORDER BY r.n LIMIT 1`,
    )
    .values(exactTerm(macAddress), sequence, networkId, macAddress)[0] as [string] | undefined;
  return row?.[0] ?? null;
}
