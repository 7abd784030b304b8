// Sightings of MAC addresses at IP addresses: reporter, interface, and first and last time seen. Stored outside the
// ledger, with the times that reads of past states need.

import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { addressAt, cidrBlock } from "../base/address-block.ts";
import type { Instant } from "../base/instant.ts";
import { type Ip, ipOfBytes, parseIp } from "../base/ip.ts";
import type { Sql } from "../db/connection.ts";
import { KeyedRows } from "../db/keyed-row.ts";
import type { FixedMoment } from "../db/reading/list-query.ts";
import type { ReadConnection } from "../db/reading/read-connection.ts";
import { isDroppableRange } from "../db/thinning.ts";

/**
 * Neighbor: in a device's ARP or neighbor cache. Own: a device's own address. Sweep: it answered the appliance. Rows of
 * forwarding tables are not among them: they are records.
 */
export const SIGHTING_KINDS = ["Neighbor", "Own", "Sweep"] as const;
export type SightingKind = (typeof SIGHTING_KINDS)[number];

/** See migrations/0043_sightings.sql for the columns of these tables. */
export const reporterTable = sqliteTable("discovery_reporters", {
  n: integer().primaryKey(),
  network_n: integer().notNull(),
  host_n: integer(),
  ip_address: text().notNull(),
  kind: text().$type<SightingKind>().notNull(),
  digest: text().notNull(),
  created_at: integer().notNull(),
  rows: integer().notNull(),
  read_at: integer().notNull(),
  scan_id: text().notNull(),
  previous_read_at: integer().notNull(),
  previous_scan_id: text().notNull(),
  checksum: integer().notNull(),
});
export const reporterRows = new KeyedRows(reporterTable, ["n"]);
export type ReporterRow = typeof reporterTable.$inferSelect;

export const sightingTable = sqliteTable("discovery_sightings", {
  n: integer().primaryKey(),
  network_n: integer().notNull(),
  reporter_n: integer().notNull(),
  address_key: text().notNull(),
  mac_address: text(),
  if_entry_n: integer(),
  first_seen: integer().notNull(),
  last_seen: integer().notNull(),
  gone_at: integer(),
  ended_at: integer(),
  checksum: integer().notNull(),
});
export const sightingRows = new KeyedRows(sightingTable, ["n"]);
export type SightingRow = typeof sightingTable.$inferSelect;

export const sweepTable = sqliteTable("discovery_sweeps", {
  network_n: integer().notNull(),
  digest: text().notNull(),
  blocks: text().notNull(),
  swept_at: integer().notNull(),
  scan_id: text().notNull(),
  previous_swept_at: integer().notNull(),
  previous_scan_id: text().notNull(),
  checksum: integer().notNull(),
});
export const sweepRows = new KeyedRows(sweepTable, ["network_n", "digest"]);

/** Sorts in the order of addresses. @param address valid */
export function sightingKey(address: string): string {
  const { version, bytes } = parseIp(address) as Ip;
  return version + bytes.toHex();
}

/** @param key from sightingKey */
export function addressOfKey(key: string): string {
  return (ipOfBytes(Uint8Array.fromHex(key.slice(1))) as Ip).text;
}

/** A MAC address at an address, as one reporter had it. */
export interface SeenMac {
  readonly mac: string | null;
  readonly kind: SightingKind;
  /** Record numbers of the reporting device, and of its interface; null for sweeps and if unknown. */
  readonly hostN: number | null;
  readonly interfaceN: number | null;
  readonly since: Instant;
}

/** Entries for an address in the last reads of all reporters of a network. @param at null for the present */
export function sightingsAt(
  connection: Pick<ReadConnection, "statement">,
  networkId: string,
  address: string,
  at: Instant | null,
): SeenMac[] {
  const rows = connection
    .statement(SEEN_AT)
    .values(networkId, sightingKey(address), at ?? Number.MAX_SAFE_INTEGER) as SeenRow[];
  return rows.map(([mac, kind, hostN, interfaceN, since]) => ({ mac, kind, hostN, interfaceN, since }));
}

/**
 * Whether neighbor tables or sweeps had a device at its own addresses, and none has it any longer.
 * @param at null for the present
 */
export function hasVanished(
  connection: Pick<ReadConnection, "statement">,
  hostId: string,
  at: Instant | null,
): boolean {
  const [row] = connection.statement(LAST_OTHER_SIGHTING).values(hostId, at ?? Number.MAX_SAFE_INTEGER) as [
    [0 | 1 | null],
  ];
  return row[0] === 1;
}

// Its own addresses are those of its last read, expired or not.
const LAST_OTHER_SIGHTING = `SELECT min(s.gone_at IS NOT NULL AND s.gone_at <= ?2) FROM history_records h
  CROSS JOIN discovery_reporters r ON r.host_n = h.n AND r.kind = 'Own'
  CROSS JOIN discovery_sightings o ON o.reporter_n = r.n AND o.first_seen <= ?2
    AND (o.gone_at IS NULL OR o.gone_at > ?2 OR o.gone_at = o.ended_at)
  CROSS JOIN discovery_sightings s ON s.network_n = o.network_n AND s.address_key = o.address_key AND s.first_seen <= ?2
    AND (s.mac_address = o.mac_address OR s.mac_address IS NULL)
  CROSS JOIN discovery_reporters w ON w.n = s.reporter_n AND w.kind <> 'Own' WHERE h.id = ?1`;

type SeenRow = [string | null, SightingKind, number | null, number | null, Instant];
const SEEN_AT = `SELECT s.mac_address, r.kind, r.host_n, s.if_entry_n, s.first_seen
  FROM history_records h CROSS JOIN discovery_sightings s ON s.network_n = h.n AND s.address_key = ?2
  CROSS JOIN discovery_reporters r ON r.n = s.reporter_n
  WHERE h.id = ?1 AND s.first_seen <= ?3 AND (s.gone_at IS NULL OR s.gone_at > ?3)
    AND (s.ended_at IS NULL OR s.ended_at > ?3) ORDER BY s.first_seen, s.n`;

/**
 * Addresses of a prefix that were seen and have not expired, so that nothing else may get them, whether they have a
 * record or not.
 * @param at null for the present
 */
export function addressesSeen(db: Sql["$client"], networkN: number, cidr: string, at: Instant | null): string[] {
  const { version, first, last } = cidrBlock(cidr);
  const [from, to] = [first, last].map((address) => sightingKey(addressAt(address, version)));
  const rows = db
    .query(SEEN_WITHIN)
    .values(networkN, from as string, to as string, at ?? Number.MAX_SAFE_INTEGER) as Array<[string]>;
  return rows.map(([key]) => addressOfKey(key));
}

/**
 * Drops expired sightings that no retained state of thinned history needs.
 * @param retained ascending timestamps of these states
 */
export function dropSightings(db: Sql["$client"], retained: readonly Instant[]): void {
  const drop = db.prepare("DELETE FROM discovery_sightings WHERE n = ?");
  const ended = db
    .query("SELECT n, first_seen, ended_at FROM discovery_sightings WHERE ended_at <= ?1")
    .values(retained.at(-1) ?? 0) as Array<[number, number, number]>;
  for (const [n, since, until] of ended) if (isDroppableRange({ since, until }, retained)) drop.run(n);
  drop.finalize();
}

/**
 * MAC addresses last seen at an address, newest first.
 * @param networkIds networks of the organization; null for all
 * @param at null for the present
 */
export function macsSeenAt(
  db: Sql["$client"],
  { organizationN, networkIds }: { readonly organizationN: number; readonly networkIds: readonly string[] | null },
  address: string,
  at: Instant | null,
): Array<{ readonly networkId: string; readonly mac: string }> {
  const ids = networkIds === null ? null : JSON.stringify(networkIds);
  const rows = db
    .query(MACS_SEEN)
    .values(organizationN, sightingKey(address), at ?? Number.MAX_SAFE_INTEGER, ids) as Array<[string, string]>;
  return rows.map(([networkId, mac]) => ({ networkId, mac }));
}

/** Timestamp as of which sightings count; null for the present. */
export function sightingInstant({ at, asOf }: FixedMoment): Instant | null {
  return asOf.thinned === undefined ? at : (asOf.thinned.resolvedAt ?? 0);
}

const MACS_SEEN = `SELECT h.id, s.mac_address FROM networks w CROSS JOIN discovery_sightings s ON s.network_n = w.n
    AND s.address_key = ?2 CROSS JOIN history_records h ON h.n = w.n
  WHERE w.organization_n = ?1 AND s.mac_address IS NOT NULL AND s.first_seen <= ?3
    AND (?4 IS NULL OR h.id IN (SELECT value FROM json_each(?4)))
  GROUP BY w.n, s.mac_address ORDER BY max(s.last_seen) DESC LIMIT 3`;
const SEEN_WITHIN = `SELECT DISTINCT address_key FROM discovery_sightings
  WHERE network_n = +?1 AND address_key BETWEEN ?2 AND ?3 AND first_seen <= ?4 AND (ended_at IS NULL OR ended_at > ?4)`;
