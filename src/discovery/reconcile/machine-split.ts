// Detection and split of a host that is two machines. The machine of its first version keeps the host, with its id and
// users' edits; the other one becomes a new host.

import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { KeyedRows } from "../../db/keyed-row.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import { membersSql } from "../../db/shape.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { DISCOVERED } from "../../resources/source.ts";
import type { AddressBook } from "./address-book.ts";
import { newHost } from "./hosts.ts";
import { wasWrittenByUser } from "./provenance.ts";
import type { ScanWrite } from "./scan-write.ts";
import { nameSign, type Signs, serialSign, signsWith } from "./signs.ts";

/** Number of reads within which a change back counts. */
const READS_MAX = 10;
/** Number of changes back to an earlier serial number or engine ID, and name, that prove two machines. */
const RETURNS_MIN = 3;

const hostReads = sqliteTable("discovery_reads_by_name", {
  host_n: integer().primaryKey(),
  reads: text().notNull(),
  checksum: integer().notNull(),
});
const readRows = new KeyedRows(hostReads, ["host_n"]);

/** Serial number, system name and engine ID of a read. Earlier versions did not store the engine ID. */
type Read = readonly [serial: string | null, name: string, engineId?: string | null];

/** Null for a read without a name, or without both ids. */
function readOf(serial: string | null, name: string | null, engineId: string | null): Read | null {
  return name === null || (serial === null && engineId === null) ? null : [serial, name, engineId];
}

function readOfHost(host: HostRecord): Read | null {
  const [serial, name] = [serialSign(reportedIn(host, "serial_number")), nameSign(reportedIn(host, "sys_name"))];
  return readOf(serial, name, host.engine_id ?? null);
}

/** Positions of the IDs in a read. */
const IDS = [0, 2] as const;

function hasOther(id: (typeof IDS)[number], some: Read, other: Read): boolean {
  const [value, otherValue] = [some[id] ?? null, other[id] ?? null];
  return value !== null && otherValue !== null && value !== otherValue;
}

function isSameRead(some: Read, other: Read): boolean {
  return some[1] === other[1] && !IDS.some((id) => hasOther(id, some, other));
}

/** Last reported value, even if a user set another one. */
function reportedIn(host: HostRecord, field: "serial_number" | "sys_name"): string | null {
  return (host.discovered?.[field] ?? host[field]) as string | null;
}

/** The last reads, oldest first; empty if all are the same. */
function readsOf({ tx }: ScanWrite, hostId: string): readonly Read[] {
  const row = readRows.find(tx.db, tx.recordN(hostId) ?? 0);
  return row === undefined ? [] : (JSON.parse(row.reads) as string[]).map((read) => JSON.parse(read) as Read);
}

/** @param reads from readsOf, including the current one */
function rememberReads({ tx }: ScanWrite, hostId: string, reads: readonly Read[]): void {
  tx.runAfterWrite(() => {
    const host_n = tx.recordN(hostId) as number;
    const [first] = reads;
    if (first === undefined || reads.every((read) => isSameRead(read, first))) tx.db.$client.query(FORGET).run(host_n);
    else {
      const texts = JSON.stringify(reads.map((read) => JSON.stringify(read)));
      readRows.upsert(tx.db, withChecksum(hostReads, { host_n, reads: texts }));
    }
  });
}

/** Counts a read of a host with an unchanged report. */
export function countUnchanged(write: ScanWrite, hostId: string): void {
  const reads = readsOf(write, hostId);
  const last = reads.at(-1);
  if (last !== undefined) rememberReads(write, hostId, [...reads, last].slice(-READS_MAX));
}

/** Counts a read. @returns true if an ID and the name changed back too often for one machine */
export function alternates(write: ScanWrite, hostId: string, { serialNumbers, sysName, engineId }: Signs): boolean {
  const host = write.tx.get(hostKind, hostId);
  const [serial] = serialNumbers;
  const read = readOf(serial ?? null, sysName, engineId);
  const before = readOfHost(host);
  if (read === null || before === null) return false;
  const known = readsOf(write, hostId);
  if (known.length === 0 && isSameRead(read, before)) return false;
  const reads = [...(known.length === 0 ? [before] : known), read].slice(-READS_MAX);
  const isProven = returnsIn(reads) >= RETURNS_MIN;
  rememberReads(write, hostId, isProven ? [] : reads);
  return isProven;
}

/** Number of changes of both an ID and the name back to earlier ones. */
function returnsIn(reads: readonly Read[]): number {
  return reads.filter((now, index) => {
    const previous = reads[index - 1];
    if (previous === undefined || previous[1] === now[1]) return false;
    const earlier = reads.slice(0, index - 1).filter((each) => each[1] === now[1]);
    return IDS.some((id) => hasOther(id, now, previous) && earlier.some((each) => each[id] === now[id]));
  }).length;
}

/** True if the two hosts were split, and a device has the name and an ID of the second, but not of the first. */
export function isOtherHalf({ tx }: ScanWrite, hostId: string, otherId: string, signs: Signs): boolean {
  const [host, other] = [tx.get(hostKind, hostId), tx.get(hostKind, otherId)];
  const [serial] = signs.serialNumbers;
  const read = readOf(serial ?? null, signs.sysName, signs.engineId);
  if (read === null || (host.split_from !== otherId && other.split_from !== hostId)) return false;
  const isOf = (each: HostRecord) => {
    const known = readOfHost(each);
    return known?.[1] === read[1] && IDS.some((id) => (read[id] ?? null) !== null && read[id] === known[id]);
  };
  return isOf(other) && !isOf(host);
}

/**
 * True if a device is the machine of the host's first named version, and the host now has the name of another machine.
 */
export function isFirstMachine({ tx }: ScanWrite, hostId: string, { sysName }: Signs): boolean {
  const host = tx.get(hostKind, hostId);
  const row = tx.db.$client.query(FIRST_NAME).get(tx.recordN(hostId) ?? 0) as { name: string } | null;
  return sysName !== null && nameSign(row?.name) === sysName && nameSign(reportedIn(host, "sys_name")) !== sysName;
}

/**
 * True if a host once had the name of a device and has reported another one since; false if it had its current serial
 * number then, as a machine that was only renamed.
 */
export function hadNameOf({ tx }: ScanWrite, hostId: string, { sysName }: Signs): boolean {
  const host = tx.get(hostKind, hostId);
  if (sysName === null || nameSign(reportedIn(host, "sys_name")) === sysName) return false;
  const rows = tx.db.$client.query(SERIALS_UNDER).values(tx.recordN(hostId) ?? 0, sysName) as Array<[string | null]>;
  const serial = serialSign(reportedIn(host, "serial_number"));
  return rows.length > 0 && (serial === null || rows.every(([former]) => serialSign(former) !== serial));
}

/**
 * Makes the machine that reported last a new host, with the addresses at which it responded. Its interfaces follow with
 * its next report.
 * @param signs of the machine that keeps the host
 */
export function splitLastReporter(write: ScanWrite, book: AddressBook, host: HostRecord, signs: Signs): void {
  const { sys_name, sys_descr, sys_object_id, sys_location, sys_contact, manufacturer, model, serial_number } = host;
  const engine_id = host.engine_id ?? undefined;
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
  const fields = { name, source: DISCOVERED, chassis_id: host.chassis_id, engine_id, ...reported, split_from: host.id };
  const other = newHost(write, fields, signsWith({}));
  write.index.recordSigns(other.id, { host: other });
  for (const address of write.index.signsOf(host.id)?.managed ?? [])
    if (!signs.addresses.has(address)) moveAddress(write, book, address, { from: host, to: other });
  const [address = ""] = book.ofHost(other.id).keys();
  write.recordSeen(other.id, address, `split from ${host.name}, as two machines responded as one host`);
}

/** Moves an address between the hosts of a split, unless a user edited it. */
export function moveAddress(
  write: ScanWrite,
  book: AddressBook,
  address: string,
  { from, to }: { readonly from: HostRecord; readonly to: HostRecord },
): void {
  const record = book.ofHost(from.id).get(address);
  if (record === undefined || wasWrittenByUser(write.tx, record.id)) return;
  const present = book.ofHost(to.id);
  const { ip_address, mac_address } = record;
  if (!present.has(address)) book.assign(to, { ip_address, mac_address, prefix_length: null, isPolled: true }, present);
  write.close(ipAddressKind, record, address, `moved from ${from.name} to ${to.name}`);
  book.ofHost(from.id).delete(address);
  write.index.forget(from.id);
}

const FORGET = "DELETE FROM discovery_reads_by_name WHERE host_n = +?1";
const NAMES = `(SELECT v.key, ('{' || ${membersSql(hostKind, "v")} || '}') ->> '$.sys_name' AS name,
      ('{' || ${membersSql(hostKind, "v")} || '}') ->> '$.serial_number' AS serial
    FROM history_versions v
    WHERE v.key BETWEEN (?1 << 31) AND (?1 << 31) + 2147483647 AND v.operation <> 3 ORDER BY v.key)`;
const FIRST_NAME = `SELECT name FROM ${NAMES} WHERE name IS NOT NULL LIMIT 1`;
const SERIALS_UNDER = `SELECT DISTINCT serial FROM ${NAMES} WHERE lower(trim(name)) = ?2`;
