// Scalars and columns that each host's agent has served, and since when any are missing. Stored outside the ledger;
// without it, nothing counts as served before.

import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { ownValue } from "../../base/fields.ts";
import { formatInstant, type Instant } from "../../base/instant.ts";
import { KeyedRows } from "../../db/keyed-row.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import type { HostRecord } from "../../resources/hosts/host.ts";
import type { Device, DeviceTable } from "../device.ts";
import { type Miss, type Missed, missedNow, remainingGraceOf, stepOf } from "../mib/missed.ts";
import { READING_PLAN } from "../mib/plan.ts";
import type { ServedBefore } from "../mib/served.ts";
import type { ScanWrite } from "./scan-write.ts";

const servedTables = sqliteTable("discovery_served", {
  host_n: integer().primaryKey(),
  sys_object_id: text(),
  columns: text().notNull(),
  missed: text().notNull(),
  checksum: integer().notNull(),
});
const servedRows = new KeyedRows(servedTables, ["host_n"]);

type ServedRow = typeof servedTables.$inferSelect;

/**
 * Adds a device's report; starts over for a different kind of agent. Drops columns whose grace period has passed: they
 * count as empty until reported again.
 */
export function rememberServed(write: ScanWrite, host: HostRecord, device: Device): void {
  const { served } = device;
  // A device written in parts was read once.
  if (served === undefined || write.isContinued) return;
  const { tx } = write;
  // One transaction may hold two reports of a host.
  tx.runAfterWrite(() => {
    const host_n = tx.recordN(host.id) as number;
    const row = rowOf(write, host_n);
    const before = columnsOf(row, device);
    const missed = missedNow(before, missedOf(row, device), device, tx.instant);
    const expired = new Set(
      device.missed?.filter((name) => isExpired(name, ownValue(missed, name), device, tx.instant)),
    );
    const columns = [...new Set([...before, ...served])].filter((name) => !expired.has(name)).sort();
    const now = {
      sys_object_id: device.sys_object_id ?? row?.sys_object_id ?? null,
      columns: JSON.stringify(columns),
      missed: JSON.stringify(missed),
    };
    const isSame = row?.columns === now.columns && row.missed === now.missed;
    if (isSame && row.sys_object_id === now.sys_object_id) return;
    servedRows.upsert(tx.db, withChecksum(servedTables, { host_n, ...now }));
  });
}

function isExpired(name: string, miss: Miss | undefined, device: Device, now: Instant): boolean {
  if (miss === undefined) return false;
  const { readings, until } = remainingGraceOf(name, miss, device);
  return readings === 0 && until <= now;
}

/**
 * States since when a table's data has been missing and when it will count as empty, as a clause.
 * @returns null if nothing is missing or the table is partial
 */
export function missedClause(write: ScanWrite, host: HostRecord, device: Device, table: DeviceTable): string | null {
  if (device.missed === undefined) return null;
  const isOfTable = (name: string): boolean =>
    READING_PLAN.some((step) => step.table === table && step.name === stepOf(name));
  const row = knownRow(write, host);
  const missed = missedNow(columnsOf(row, device), missedOf(row, device), device, write.tx.instant);
  const names = device.missed.filter((name) => isOfTable(name) && ownValue(missed, name) !== undefined);
  if (names.length === 0) return null;
  const gracePeriods = names.map((name) => remainingGraceOf(name, ownValue(missed, name) as Miss, device));
  const since = Math.min(...names.map((name) => (ownValue(missed, name) as Miss).since));
  const until = Math.max(...gracePeriods.map((term) => term.until));
  const remaining = Math.max(...gracePeriods.map((term) => term.readings));
  const readings =
    remaining === 0 ? "" : ` and after ${remaining} more ${remaining === 1 ? "reading" : "readings"} without it`;
  return `missing since ${formatInstant(since)}; counts as empty from ${formatInstant(until)} on${readings}`;
}

/**
 * True if the host's agent, if still of the same kind, served a column before.
 * @param column in the format of servedOf
 */
export function hasServed(write: ScanWrite, host: HostRecord, device: Device, column: string): boolean {
  return columnsOf(knownRow(write, host), device).includes(column);
}

/** Only for a host from an earlier transaction. */
function knownRow(write: ScanWrite, host: HostRecord): ServedRow | undefined {
  const n = write.tx.recordN(host.id);
  return n !== null && n > 0 ? rowOf(write, n) : undefined;
}

function rowOf({ tx }: ScanWrite, hostN: number): ServedRow | undefined {
  return servedRows.find(tx.db, hostN);
}

/** Empty for a different kind of agent. */
function columnsOf(row: ServedRow | undefined, device: Device): readonly string[] {
  return isSameAgent(row, device) ? (namesIn(row?.columns) ?? []) : [];
}

/** Empty if the served columns are unknown. */
function missedOf(row: ServedRow | undefined, device: Device): Missed {
  return isSameAgent(row, device) && namesIn(row?.columns) !== null ? missedIn(row?.missed) : {};
}

function isSameAgent(row: ServedRow | undefined, { sys_object_id: reported = null }: Device): boolean {
  const known = row?.sys_object_id ?? null;
  return reported === null || known === null || reported === known;
}

/**
 * Returns the served columns of the host that last reported at the address, else of the host known to have it.
 * @param hostId null if none
 */
export function servedBefore(
  reader: Reader,
  networkN: number,
  address: string,
  hostId: string | null,
): ServedBefore | null {
  const hostN = reportedHost(reader, networkN, address, hostId);
  const [row] = (hostN === null ? [] : reader.statement(SERVED).values(hostN)) as Array<
    [kind: string | null, columns: string, missed: string]
  >;
  const columns = namesIn(row?.[1]);
  if (row === undefined || columns === null) return null;
  const ended = Object.keys(missedIn(row[2])).filter((name) => !columns.includes(name));
  return { sys_object_id: row[0], columns, ...(ended.length === 0 ? {} : { ended }) };
}

/** Returns the stored interface MAC addresses of that host. */
export function macsBefore(reader: Reader, networkN: number, address: string, hostId: string | null): string[] {
  const hostN = reportedHost(reader, networkN, address, hostId);
  return ((hostN === null ? [] : reader.statement(MACS).values(hostN)) as Array<[string]>).map(([mac]) => mac);
}

/** Returns null if missing or corrupt: the scan continues without it. */
function namesIn(columns: string | undefined): string[] | null {
  try {
    const names: unknown = JSON.parse(columns ?? "null");
    return Array.isArray(names) ? names.filter((name) => typeof name === "string") : null;
  } catch {
    return null;
  }
}

/** Empty if corrupt: the grace period restarts. */
function missedIn(missed: string | undefined): Missed {
  try {
    const misses: unknown = JSON.parse(missed ?? "null");
    return Object.fromEntries(Object.entries(misses ?? {}).filter(([, miss]) => isMiss(miss)));
  } catch {
    return {};
  }
}

function isMiss(miss: unknown): miss is Miss {
  const { since, readings } = (miss ?? {}) as Partial<Record<keyof Miss, unknown>>;
  return Number.isInteger(since) && Number.isInteger(readings);
}

function reportedHost(reader: Reader, networkN: number, address: string, hostId: string | null): number | null {
  const [reported] = reader.statement(REPORT).values(networkN, address) as Array<[number]>;
  return reported?.[0] ?? (hostId === null ? null : reader.recordN(hostId));
}

const REPORT = "SELECT host_n FROM discovery_tellings WHERE network_n = +? AND ip_address = +?";
const SERVED = "SELECT sys_object_id, columns, missed FROM discovery_served WHERE host_n = +?";
const MACS = "SELECT DISTINCT mac_address FROM if_entries WHERE host_n = +? AND mac_address IS NOT NULL";
