// What the agents of hosts have told of so far, so that a table which is no longer served is missed, and for how long.
// Beside the ledger: without it an agent is taken to have served nothing before.

import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { formatInstant, type Instant } from "../../base/instant.ts";
import { KeyedRows } from "../../db/keyed-row.ts";
import type { Reader } from "../../db/reader.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import type { HostRecord } from "../../resources/hosts/host.ts";
import type { Device, DeviceTable } from "../device.ts";
import { leftTermOf, missedNow, stepOf, type Miss, type Missed } from "../mib/missed.ts";
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
 * Adds what a device told of to what its host's agent told of before; an agent of another kind begins anew. What has
 * been missing for its term is not remembered any more: from then on it counts as empty, until it is told of again.
 */
export function rememberServed(write: ScanWrite, host: HostRecord, device: Device): void {
  const { served } = device;
  // What is written in several parts was read once.
  if (served === undefined || write.isContinued) return;
  const { tx } = write;
  // Two tellings of one host may be in one transaction: each adds to what is there then.
  tx.afterwardsRun(() => {
    const host_n = tx.recordN(host.id) as number;
    const row = rowOf(write, host_n);
    const before = columnsOf(row, device);
    const missed = missedNow(before, missedOf(row, device), device, tx.instant);
    const over = new Set(device.missed?.filter((name) => isOver(name, missed[name], device, tx.instant)));
    const columns = [...new Set([...before, ...served])].filter((name) => !over.has(name)).sort();
    const now = {
      sys_object_id: device.sys_object_id ?? row?.sys_object_id ?? null,
      columns: JSON.stringify(columns),
      missed: JSON.stringify(missed),
    };
    const isSame = row?.columns === now.columns && row.missed === now.missed;
    if (isSame && row.sys_object_id === now.sys_object_id) return;
    servedRows.put(tx.db, withChecksum(servedTables, { host_n, ...now }));
  });
}

function isOver(name: string, miss: Miss | undefined, device: Device, now: Instant): boolean {
  if (miss === undefined) return false;
  const { readings, until } = leftTermOf(name, miss, device);
  return readings === 0 && until <= now;
}

/**
 * Since when something that was served before is missing from a table of a device, and when it will count as empty: a
 * clause for people.
 * @returns null where nothing is, or the table was not read to its end
 */
export function missedClause(write: ScanWrite, host: HostRecord, device: Device, table: DeviceTable): string | null {
  if (device.missed === undefined) return null;
  const isOfTable = (name: string): boolean =>
    READING_PLAN.some((step) => step.table === table && step.name === stepOf(name));
  const row = knownRow(write, host);
  const missed = missedNow(columnsOf(row, device), missedOf(row, device), device, write.tx.instant);
  const names = device.missed.filter((name) => isOfTable(name) && missed[name] !== undefined);
  if (names.length === 0) return null;
  const terms = names.map((name) => leftTermOf(name, missed[name] as Miss, device));
  const since = Math.min(...names.map((name) => (missed[name] as Miss).since));
  const until = Math.max(...terms.map((term) => term.until));
  const left = Math.max(...terms.map((term) => term.readings));
  const readings = left === 0 ? "" : ` and after ${left} more ${left === 1 ? "reading" : "readings"} without it`;
  return `missing since ${formatInstant(since)}, it counts as empty from ${formatInstant(until)} on${readings}`;
}

/** Whether the agent of a host, unless it is of another kind now, has told of a column before. @param column as servedOf has it */
export function hasServed(write: ScanWrite, host: HostRecord, device: Device, column: string): boolean {
  return columnsOf(knownRow(write, host), device).includes(column);
}

/** Of a host that is there since an earlier transaction. */
function knownRow(write: ScanWrite, host: HostRecord): ServedRow | undefined {
  const n = write.tx.recordN(host.id);
  return n !== null && n > 0 ? rowOf(write, n) : undefined;
}

function rowOf({ tx }: ScanWrite, hostN: number): ServedRow | undefined {
  return servedRows.find(tx.db, hostN);
}

/** What is remembered of a device's agent; nothing where that was of another kind. */
function columnsOf(row: ServedRow | undefined, device: Device): readonly string[] {
  return isOfOneKind(row, device) ? (namesIn(row?.columns) ?? []) : [];
}

/** What is missing of it; nothing where it is not known what there was. */
function missedOf(row: ServedRow | undefined, device: Device): Missed {
  return isOfOneKind(row, device) && namesIn(row?.columns) !== null ? missedIn(row?.missed) : {};
}

function isOfOneKind(row: ServedRow | undefined, { sys_object_id: told = null }: Device): boolean {
  const known = row?.sys_object_id ?? null;
  return told === null || known === null || told === known;
}

/**
 * What the agent that answers at an address has told of so far: that of the host which told there last, else of the host
 * that is known to have the address.
 * @param hostId null where no host is known
 */
export function servedBefore(
  reader: Reader,
  networkN: number,
  address: string,
  hostId: string | null,
): ServedBefore | null {
  const hostN = tellingHost(reader, networkN, address, hostId);
  const [row] = (hostN === null ? [] : reader.statement(SERVED).values(hostN)) as Array<
    [kind: string | null, columns: string, missed: string]
  >;
  const columns = namesIn(row?.[1]);
  if (row === undefined || columns === null) return null;
  const ended = Object.keys(missedIn(row[2])).filter((name) => !columns.includes(name));
  return { sys_object_id: row[0], columns, ...(ended.length === 0 ? {} : { ended }) };
}

/** The MAC addresses of the interfaces of the same host, as they are known. */
export function macsBefore(reader: Reader, networkN: number, address: string, hostId: string | null): string[] {
  const hostN = tellingHost(reader, networkN, address, hostId);
  return ((hostN === null ? [] : reader.statement(MACS).values(hostN)) as Array<[string]>).map(([mac]) => mac);
}

/** Null for none, and for what is damaged: a scan goes on without. */
function namesIn(columns: string | undefined): string[] | null {
  try {
    const names: unknown = JSON.parse(columns ?? "null");
    return Array.isArray(names) ? names.filter((name) => typeof name === "string") : null;
  } catch {
    return null;
  }
}

/** Nothing for what is damaged: it is missed for a whole term then. */
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

function tellingHost(reader: Reader, networkN: number, address: string, hostId: string | null): number | null {
  const [told] = reader.statement(TELLING).values(networkN, address) as Array<[number]>;
  return told?.[0] ?? (hostId === null ? null : reader.recordN(hostId));
}

const TELLING = "SELECT host_n FROM discovery_tellings WHERE network_n = ? AND ip_address = ?";
const SERVED = "SELECT sys_object_id, columns, missed FROM discovery_served WHERE host_n = ?";
const MACS = "SELECT DISTINCT mac_address FROM if_entries WHERE host_n = ? AND mac_address IS NOT NULL";
