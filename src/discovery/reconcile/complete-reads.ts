// Table sizes and VLANs from a host's complete reads, which decide whether a read may end records that it lacks. Stored
// outside the ledger; without it, every read counts as the first.

import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { KeyedRows } from "../../db/keyed-row.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import type { Device, DeviceTable } from "../device.ts";

/** Tables whose records end when a complete read lacks them. */
export type EndingTable = Extract<DeviceTable, "interfaces" | "addresses" | "entity">;

/** Agents fill their tables while they start. */
const SETTLED_MS = 600_000;
/** Number of complete reads with fewer rows than the agent counts, after which its count is ignored. */
const SHORT_READS = 2;
/** Minimum number of missing rows at which a table that lost more than half of its rows needs confirmation. */
const SHRUNK_MIN = 8;

export interface TableSize {
  readonly rows: number;
  /** Consecutive complete reads with fewer rows than the agent counts, up to SHORT_READS. */
  readonly short: number;
  /** Whether the last read was much shorter than `rows` and needs confirmation by the next. */
  readonly is_shrunk: boolean;
}

interface Judgment {
  /** Reason why missing records are kept, as a clause; null if they end. */
  readonly doubt: string | null;
  /** True if a later identical read may end them. */
  readonly isPassing: boolean;
  /** True if the next read is compared with this one, regardless of missing rows. */
  readonly isCounting: boolean;
  /** Size to store; null to keep the previous one. */
  readonly size: TableSize | null;
}

/** Evaluates a read of a table against the sizes of earlier reads. Pure. */
export function evaluateRead(device: Device, table: EndingTable, before: TableSize | null): Judgment {
  if (device.tables[table].state !== "complete" || device.broken?.includes(table) === true)
    return { doubt: "its table was not read to the end", isPassing: false, isCounting: false, size: null };
  const rows = rowsRead(device, table);
  const counted = table === "interfaces" ? (device.if_number ?? null) : null;
  const isShort = counted !== null && rows < counted;
  const short = isShort ? Math.min((before?.short ?? 0) + 1, SHORT_READS) : 0;
  const isShrunk = before !== null && rows * 2 < before.rows && before.rows - rows >= SHRUNK_MIN;
  if (isShrunk && !before.is_shrunk)
    return {
      doubt: `its table has ${rows} rows instead of ${before.rows}, which the next read must confirm`,
      isPassing: true,
      isCounting: true,
      size: { ...before, short, is_shrunk: true },
    };
  const size = { rows, short, is_shrunk: false };
  const isCounting = short > 0 && short < SHORT_READS;
  if (device.up_time_ms !== undefined && device.up_time_ms < SETTLED_MS)
    return {
      doubt: "the device started less than 10 minutes ago",
      isPassing: true,
      isCounting,
      size: before === null ? size : null,
    };
  const isDoubtful = isShort && (before?.short ?? 0) < SHORT_READS;
  const doubt = isDoubtful ? `its table has ${rows} of ${counted} rows` : null;
  return { doubt, isPassing: isDoubtful, isCounting, size };
}

/** Rows of a completely read table, in the form compared with the previous read. */
export function rowsRead(device: Device, table: EndingTable): number {
  return table === "entity" ? device.rows.entity.read : (device[table]?.length ?? 0);
}

const readTables = sqliteTable("discovery_reads", {
  host_n: integer().primaryKey(),
  tables: text().notNull(),
  vlans: text(),
  checksum: integer().notNull(),
});
const readRows = new KeyedRows(readTables, ["host_n"]);

/** By table; for a host that several devices report, by table and the address from which it was read. */
type Sizes = Readonly<Record<string, TableSize | undefined>>;

/** Complete reads of a host. */
export interface CompleteReads {
  readonly sizes: Sizes;
  /** Numbers in its VLAN tables, ascending; null if never read. */
  readonly vlans: readonly number[] | null;
}

/** Empty if corrupt or unknown. */
export function completeReadsOf(tx: WriteTransaction, hostId: string): CompleteReads {
  const hostN = tx.recordN(hostId) ?? 0;
  const row = hostN === 0 ? undefined : readRows.find(tx.db, hostN);
  const sizes = Object.entries((parsed(row?.tables) ?? {}) as object).filter(([, size]) => isSize(size));
  const vlans = parsed(row?.vlans);
  return { sizes: Object.fromEntries(sizes), vlans: Array.isArray(vlans) ? vlans : null };
}

/** True if the host was read, but its interface table never completely. */
export function areInterfacesUnread(tx: WriteTransaction, hostId: string): boolean {
  const { sizes, vlans } = completeReadsOf(tx, hostId);
  const isRead = Object.keys(sizes).some((key) => key.startsWith("interfaces" satisfies EndingTable));
  return !isRead && (Object.keys(sizes).length > 0 || vlans !== null);
}

/** Stores the changes from a read, in this transaction. */
export function rememberReads(tx: WriteTransaction, hostId: string, before: CompleteReads, now: CompleteReads): void {
  if (Bun.deepEquals(before, now)) return;
  const [tables, vlans] = [JSON.stringify(now.sizes), now.vlans === null ? null : JSON.stringify(now.vlans)];
  tx.runAfterWrite(() => {
    const host_n = tx.recordN(hostId) as number;
    readRows.upsert(tx.db, withChecksum(readTables, { host_n, tables, vlans }));
  });
}

/** Adds the VLANs of one of several devices of a host, in this transaction. */
export function rememberVlans(tx: WriteTransaction, hostId: string, device: Device): void {
  const before = completeReadsOf(tx, hostId);
  rememberReads(tx, hostId, before, { sizes: before.sizes, vlans: vlansAfter(before, device, true) });
}

/**
 * VLAN numbers of a host after a read; empty if it serves no VLAN tables. Keeps earlier ones after an incomplete read.
 * @param isShared true if several devices report the host
 */
export function vlansAfter(before: CompleteReads, device: Device, isShared: boolean): readonly number[] {
  const { state } = device.tables.vlans;
  const isWhole = device.broken?.includes("vlans") !== true && (state === "complete" || state === "absent");
  const kept = isWhole && !isShared ? [] : (before.vlans ?? []);
  return [...new Set([...kept, ...(device.vlans ?? []).map(({ number }) => number)])].sort((a, b) => a - b);
}

function parsed(text: string | null | undefined): unknown {
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return null;
  }
}

function isSize(size: unknown): size is TableSize {
  const { rows, short, is_shrunk } = (size ?? {}) as Partial<Record<keyof TableSize, unknown>>;
  return Number.isInteger(rows) && Number.isInteger(short) && typeof is_shrunk === "boolean";
}
