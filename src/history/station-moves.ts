// Moves of stations in a transaction: MAC addresses that left one edge port and appeared at another, from deleted and
// created forwarding entries. Must not know interfaces.

import { ChangeLog, type RecordChange } from "../db/reading/change-log.ts";
import type { Reach } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import { wholeTerm } from "../db/search-text.ts";
import { membersSql, ofKindSql } from "../db/shape.ts";
import type { FdbEntryRecord } from "../resources/fdb-entries/fdb-entry.ts";
import { fdbEntryKind } from "../resources/fdb-entries/fdb-entry.ts";
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
  const ended = changes.filter(({ operation }) => operation === "Deleted");
  const made = changes.filter(({ operation }) => operation === "Created");
  if (ended.length === 0 || made.length === 0) return [];
  const left = portsByStation(reader, ended, sequence - 1);
  const moves: StationMove[] = [];
  const [wasEdge, isEdge] = [edgesAt(reader, sequence - 1), edgesAt(reader, sequence)];
  const nOf = (id: string) => reader.recordN(id) ?? 0;
  for (const [station, ports] of portsByStation(reader, made, sequence)) {
    const before = left.get(station);
    if (before === undefined) continue;
    const from = before.find((port) => !ports.includes(port) && wasEdge(nOf(port)));
    const to = ports.find((port) => !before.includes(port) && isEdge(nOf(port)));
    const [networkId = "", macAddress = ""] = station.split(" ");
    if (from !== undefined && to !== undefined) moves.push({ macAddress, networkId, from, to });
    if (moves.length === limit) break;
  }
  return moves;
}

/** Port ids by network and MAC address. */
function portsByStation(reader: Reader, changes: readonly RecordChange[], sequence: number): Map<string, string[]> {
  const ports = new Map<string, string[]>();
  for (const entry of ownFieldsAt(
    reader,
    fdbEntryKind,
    changes.map(({ n }) => [n, sequence]),
  ) as (FdbEntryRecord | null)[]) {
    if (entry === null) continue;
    const station = `${entry.network_id} ${entry.mac_address}`;
    const known = ports.get(station);
    // The same port in several VLANs counts once.
    if (known === undefined) ports.set(station, [entry.if_entry_id]);
    else if (!known.includes(entry.if_entry_id)) known.push(entry.if_entry_id);
  }
  return ports;
}

const CARD = `'{' || ${ofKindSql([ipAddressKind, ifEntryKind], "r.kind", "v", membersSql)} || '}'`;

/** Id of the host that had a MAC address as of a transaction, on an address or interface; null for none. */
export function hostOfMac(
  reader: Pick<Reader, "statement">,
  { networkId, macAddress }: Pick<StationMove, "networkId" | "macAddress">,
  sequence: number,
): string | null {
  const row = reader
    .statement(
      `SELECT ${CARD} ->> '$.host_id'
        FROM (SELECT DISTINCT history_search.rowid >> 31 AS n FROM history_search WHERE history_search MATCH +?1) t
        CROSS JOIN history_records r ON r.n = t.n AND r.kind IN (${ipAddressKind.code}, ${ifEntryKind.code})
        CROSS JOIN history_versions v ON v.key = (SELECT max(key) FROM history_versions WHERE key > (r.n << 31)
          AND key <= ((r.n << 31) | +?2))
        WHERE ${CARD} ->> '$.network_id' = +?3 AND ${CARD} ->> '$.mac_address' = +?4 ORDER BY r.n LIMIT 1`,
    )
    .values(wholeTerm(macAddress), sequence, networkId, macAddress)[0] as [string] | undefined;
  return row?.[0] ?? null;
}
