// Sightings: which MAC address was seen at which IP address, by whom, and from when to when. Stored outside the ledger,
// with the times that answers about the past need.

import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { type Ip, ipOfBytes, parseIp } from "../base/ip.ts";
import { KeyedRows } from "../db/keyed-row.ts";

/**
 * Neighbor: in a device's ARP or neighbor cache. Own: a device's own address. Sweep: it answered the appliance. Rows of
 * forwarding tables are not among them: they are records.
 */
export type SightingKind = "Neighbor" | "Own" | "Sweep";

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
