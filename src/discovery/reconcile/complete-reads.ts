// Table sizes, VLANs and addresses with a prefix from a host's complete reads, which decide whether a read may end
// records that it lacks, and which addresses may be in another subnet. Stored outside the ledger; without it, every read
// counts as the first.

import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { parseIp } from "../../base/ip.ts";
import { KeyedRows } from "../../db/keyed-row.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import type { Device, DeviceTable } from "../device.ts";
import { reportedPrefix } from "./reported-prefix.ts";

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
/** Among the tables. */
const PREFIXED = "prefixed";

/** By table; for a host that several devices report, by table and the address from which it was read. */
type Sizes = Readonly<Record<string, TableSize | undefined>>;

/** Complete reads of a host. */
export interface CompleteReads {
  readonly sizes: Sizes;
  /** Numbers in its VLAN tables, ascending; null if never read. */
  readonly vlans: readonly number[] | null;
  /** Addresses reported with a usable prefix, sorted; null if never read. */
  readonly prefixed: readonly string[] | null;
}

/** State of the transaction by host, for its later devices and commands. */
const REMEMBERED = new WeakMap<WriteTransaction, Map<string, CompleteReads>>();

/** Empty if corrupt or unknown. */
export function completeReadsOf(tx: WriteTransaction, hostId: string): CompleteReads {
  const remembered = REMEMBERED.get(tx)?.get(hostId);
  if (remembered !== undefined) return remembered;
  const hostN = tx.recordN(hostId) ?? 0;
  const row = hostN === 0 ? undefined : readRows.find(tx.db, hostN);
  const { [PREFIXED]: prefixed, ...tables } = (parsed(row?.tables) ?? {}) as Record<string, unknown>;
  const sizes = Object.entries(tables).filter((each): each is [string, TableSize] => isSize(each[1]));
  const vlans = parsed(row?.vlans);
  return {
    sizes: Object.fromEntries(sizes),
    vlans: Array.isArray(vlans) ? vlans : null,
    prefixed: Array.isArray(prefixed) ? prefixed : null,
  };
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
  const remembered = REMEMBERED.get(tx) ?? new Map<string, CompleteReads>();
  REMEMBERED.set(tx, remembered.set(hostId, now));
  const { sizes, prefixed } = now;
  const tables = JSON.stringify(prefixed === null ? sizes : { ...sizes, [PREFIXED]: prefixed });
  const vlans = now.vlans === null ? null : JSON.stringify(now.vlans);
  tx.runAfterWrite(() => {
    const host_n = tx.recordN(hostId) as number;
    readRows.upsert(tx.db, withChecksum(readTables, { host_n, tables, vlans }));
  });
}

/** Adds the VLANs and prefixes of one of several devices of a host, in this transaction. */
export function rememberAdditional(tx: WriteTransaction, hostId: string, device: Device): void {
  const before = completeReadsOf(tx, hostId);
  rememberReads(tx, hostId, before, { ...before, ...rowsAfter(before, device, true) });
}

/**
 * VLAN numbers, and addresses with a prefix, of a host after a read; empty if it serves no such tables. Keeps earlier
 * ones after an incomplete read.
 * @param isShared true if several devices report the host
 */
export function rowsAfter(
  before: CompleteReads,
  device: Device,
  isShared: boolean,
): Pick<CompleteReads, "vlans" | "prefixed"> {
  const isReplaced = (table: DeviceTable) => {
    const { state } = device.tables[table];
    return !isShared && device.broken?.includes(table) !== true && (state === "complete" || state === "absent");
  };
  const vlans = [
    ...(isReplaced("vlans") ? [] : (before.vlans ?? [])),
    ...(device.vlans ?? []).map((each) => each.number),
  ];
  const prefixed = (device.addresses ?? []).filter(({ ip_address, prefix_length }) => {
    const ip = parseIp(ip_address);
    return ip !== null && reportedPrefix(ip, prefix_length) !== null;
  });
  const addresses = [
    ...(isReplaced("addresses") ? [] : (before.prefixed ?? [])),
    ...prefixed.map(({ ip_address }) => ip_address),
  ];
  return { vlans: [...new Set(vlans)].sort((a, b) => a - b), prefixed: [...new Set(addresses)].sort() };
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
