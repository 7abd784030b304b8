// Proof that a host is two machines, and its split: the machine of its first version keeps the host, with its id and
// what people wrote; the other one becomes a host of its own.

import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { KeyedRows } from "../../db/keyed-row.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import { membersSql } from "../../db/shape.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { DISCOVERED } from "../../resources/source.ts";
import type { AddressBook } from "./addresses.ts";
import { newHost } from "./hosts.ts";
import { isTouchedByPerson } from "./provenance.ts";
import type { ScanWrite } from "./scan-write.ts";
import { nameSign, type Signs, serialSign, signsWith } from "./signs.ts";

/** Reads within which a host that changes back counts. */
const READS_MAX = 10;
/** Changes back to an earlier serial number and name that prove two machines. */
const RETURNS_MIN = 3;

const hostReads = sqliteTable("discovery_reads_by_name", {
  host_n: integer().primaryKey(),
  reads: text().notNull(),
  checksum: integer().notNull(),
});
const readRows = new KeyedRows(hostReads, ["host_n"]);

/** Serial number and system name of a read; null if it lacks one. */
function keyOf(serial: string | null, name: string | null): string | null {
  return serial === null || name === null ? null : JSON.stringify([serial, name]);
}

function keyOfHost(host: HostRecord): string | null {
  return keyOf(serialSign(reportedIn(host, "serial_number")), nameSign(reportedIn(host, "sys_name")));
}

/** Last reported value, even if a person set another one. */
function reportedIn(host: HostRecord, field: "serial_number" | "sys_name"): string | null {
  return (host.discovered?.[field] ?? host[field]) as string | null;
}

/** Serial number and name of the last reads, oldest first; empty if all are the same. */
function readsOf({ tx }: ScanWrite, hostId: string): readonly string[] {
  const row = readRows.find(tx.db, tx.recordN(hostId) ?? 0);
  return row === undefined ? [] : (JSON.parse(row.reads) as string[]);
}

/** @param reads as readsOf returns them, with the present one */
function rememberReads({ tx }: ScanWrite, hostId: string, reads: readonly string[]): void {
  tx.runAfterWrite(() => {
    const host_n = tx.recordN(hostId) as number;
    if (new Set(reads).size < 2) tx.db.$client.query(FORGET).run(host_n);
    else readRows.upsert(tx.db, withChecksum(hostReads, { host_n, reads: JSON.stringify(reads) }));
  });
}

/** Counts a read of a host that reported the same as before. */
export function countUnchanged(write: ScanWrite, hostId: string): void {
  const reads = readsOf(write, hostId);
  const last = reads.at(-1);
  if (last !== undefined) rememberReads(write, hostId, [...reads, last].slice(-READS_MAX));
}

/** Counts a read. @returns true if serial number and name changed back too often to be one machine's */
export function changesBack(write: ScanWrite, hostId: string, { serialNumbers, sysName }: Signs): boolean {
  const host = write.tx.get(hostKind, hostId);
  const [serial] = serialNumbers;
  const key = keyOf(serial ?? null, sysName);
  const before = keyOfHost(host);
  if (key === null || before === null) return false;
  const known = readsOf(write, hostId);
  if (known.length === 0 && key === before) return false;
  const reads = [...(known.length === 0 ? [before] : known), key].slice(-READS_MAX);
  const isProven = returnsIn(reads) >= RETURNS_MIN;
  rememberReads(write, hostId, isProven ? [] : reads);
  return isProven;
}

/** Number of changes of both serial number and name back to earlier ones. */
function returnsIn(reads: readonly string[]): number {
  return reads.filter((key, index) => {
    const previous = reads[index - 1];
    if (previous === undefined || previous === key) return false;
    const [now, then] = [JSON.parse(key) as string[], JSON.parse(previous) as string[]];
    return now[0] !== then[0] && now[1] !== then[1] && reads.indexOf(key) < index - 1;
  }).length;
}

/** True if a device is the machine of the host's first version with a name, which now has another one's. */
export function isFirstMachine({ tx }: ScanWrite, hostId: string, { sysName }: Signs): boolean {
  const host = tx.get(hostKind, hostId);
  const row = tx.db.$client.query(FIRST_NAME).get(tx.recordN(hostId) ?? 0) as { name: string } | null;
  return sysName !== null && nameSign(row?.name) === sysName && nameSign(reportedIn(host, "sys_name")) !== sysName;
}

/**
 * Makes the machine that reported last a host of its own, with the addresses at which it answered. Its interfaces follow
 * with its next report.
 * @param signs of the machine that keeps the host
 */
export function splitOffLast(write: ScanWrite, book: AddressBook, host: HostRecord, signs: Signs): void {
  const { sys_name, sys_descr, sys_object_id, sys_location, sys_contact, manufacturer, model, serial_number } = host;
  const reported = {
    sys_name,
    sys_descr,
    sys_object_id,
    sys_location,
    sys_contact,
    manufacturer,
    model,
    serial_number,
  };
  const name = sys_name ?? host.name;
  const fields = { name, source: DISCOVERED, chassis_id: host.chassis_id, ...reported, split_from: host.id };
  const other = newHost(write, fields, signsWith({}));
  write.index.recordSigns(other.id, { host: other });
  for (const address of write.index.signsOf(host.id)?.managed ?? [])
    if (!signs.addresses.has(address)) moveAddress(write, book, address, { from: host, to: other });
  const [address = ""] = book.ofHost(other.id).keys();
  write.recordSeen(other.id, address, `split from ${host.name}, as two machines answered as one host`);
}

/** Moves an address between the hosts of a split, unless a person wrote it. */
export function moveAddress(
  write: ScanWrite,
  book: AddressBook,
  address: string,
  { from, to }: { readonly from: HostRecord; readonly to: HostRecord },
): void {
  const record = book.ofHost(from.id).get(address);
  if (record === undefined || isTouchedByPerson(write.tx, record.id)) return;
  const present = book.ofHost(to.id);
  const { ip_address, mac_address } = record;
  if (!present.has(address)) book.assign(to, { ip_address, mac_address, prefix_length: null, isPolled: true }, present);
  write.close(ipAddressKind, record, address, `moved from ${from.name} to ${to.name}`);
  book.ofHost(from.id).delete(address);
  write.index.forget(from.id);
}

const FORGET = "DELETE FROM discovery_reads_by_name WHERE host_n = ?1";
const FIRST_NAME = `SELECT name FROM (
    SELECT v.key, ('{' || ${membersSql(hostKind, "v")} || '}') ->> '$.sys_name' AS name FROM history_versions v
    WHERE v.key BETWEEN (?1 << 31) AND (?1 << 31) + 2147483647 AND v.operation <> 3 ORDER BY v.key)
  WHERE name IS NOT NULL LIMIT 1`;
