// Records sightings from devices' tables and sweeps. Counts every row, even for ignored addresses and addresses without
// a record. Does not decide which host has an address.

import type { Instant } from "../../base/instant.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import type { HostRecord } from "../../resources/hosts/host.ts";
import {
  type ReporterRow,
  reporterRows,
  reporterTable,
  type SightingKind,
  type SightingRow,
  sightingKey,
  sightingRows,
  sightingTable,
} from "../../resources/sightings.ts";
import type { Device, DeviceTable } from "../device.ts";
import type { AddressSighting, DeviceSighting } from "../sightings.ts";
import { ownLines } from "./neighbor-tables.ts";
import type { ScanWrite } from "./scan-write.ts";

/** Maximum number of current sightings per reporter. A larger table counts as truncated. */
export const SIGHTINGS_PER_TABLE_MAX = 100_000;
/** Maximum number of sightings from one reporter's table, including current ones; the earliest ended are dropped. */
export const SIGHTINGS_PER_REPORTER_MAX = 2 * SIGHTINGS_PER_TABLE_MAX;

interface SeenRow {
  readonly address_key: string;
  readonly mac_address: string | null;
  readonly if_entry_n: number | null;
}

/** A table as read. */
interface ReadTable {
  readonly kind: SightingKind;
  /** From ownLines or neighborLines. */
  readonly text: string;
  /** False if rows may be missing. */
  readonly isComplete: boolean;
}

/**
 * Records a device's report about itself and others, in this transaction. An unchanged table costs one row.
 * @param host null if a user has ignored it
 * @param isSame true if the device's entire report is unchanged
 */
export function recordSightings(
  write: ScanWrite,
  host: HostRecord | null,
  sighting: DeviceSighting,
  isSame: boolean,
): void {
  const { device, digest, ip_address: polledAddress, neighbors } = sighting;
  const tables: ReadTable[] = [
    { kind: "Own", text: digest?.own ?? ownLines(sighting), isComplete: isComplete(device, "addresses") },
    ...(neighbors === undefined
      ? []
      : [{ kind: "Neighbor" as const, text: neighbors, isComplete: isComplete(device, "arp") }]),
  ];
  const isShared = host !== null && write.index.isConsolidated(host.id);
  if (host !== null) READ_HOSTS.set(write, [...(READ_HOSTS.get(write) ?? []), host.id]);
  write.tx.runAfterWrite(() => {
    // Merged into another host by the same command.
    if (host !== null && (write.tx.recordN(host.id) ?? 0) <= 0) return;
    const recording = new Recording(write, host, polledAddress, isShared);
    for (const table of tables) recording.record(table, isSame);
  });
}

/** Records the addresses that responded to a sweep, in this transaction. */
export function recordResponses(write: ScanWrite, sightings: readonly AddressSighting[]): void {
  const answers = sightings.filter(({ answered }) => answered.length > 0);
  if (answers.length === 0) return;
  const { tx } = write;
  tx.runAfterWrite(() => {
    const reporter = sweeperOf(write);
    let added = 0;
    for (const { ip_address, mac_address } of answers) {
      const address_key = sightingKey(ip_address);
      const current = tx.db.$client.query(CURRENT_AT).all(reporter.network_n, address_key, reporter.n) as SightingRow[];
      const same = current.find((row) => mac_address === null || row.mac_address === mac_address);
      if (same === undefined) {
        const n = nextN(tx, "discovery_sightings");
        addSighting(tx, reporter, { address_key, mac_address, if_entry_n: null }, n);
        added += 1;
      } else storeSighting(tx, { ...same, last_seen: tx.instant });
      for (const row of current) if (row !== same) storeSighting(tx, { ...row, gone_at: tx.instant });
    }
    if (added > 0) storeReporter(tx, withinLimit(tx, { ...reporter, rows: reporter.rows + added }));
  });
}

/**
 * Ends sightings by sweeps without a response since a timestamp, after the sweep. Call once the transaction is written.
 * @param wasSwept true for a sighting whose address was swept
 */
export function markSilent(write: ScanWrite, since: Instant, wasSwept: (row: SightingRow) => boolean): void {
  const { tx } = write;
  const silent = tx.db.$client.query(UNCONFIRMED).all(sweeperOf(write).n, since) as SightingRow[];
  for (const row of silent) if (wasSwept(row)) storeSighting(tx, { ...row, gone_at: tx.instant });
}

/** Makes sightings ineffective once the transaction is written: their addresses no longer count as in use. */
export function expireSightings({ tx }: ScanWrite, numbers: readonly number[]): void {
  tx.runAfterWrite(() => {
    const { $client } = tx.db;
    for (const n of numbers) {
      const row = sightingRows.find(tx.db, n);
      if (row === undefined || row.ended_at !== null) continue;
      storeSighting(tx, { ...row, gone_at: row.gone_at ?? tx.instant, ended_at: tx.instant });
      if (row.gone_at !== null) continue;
      // Its reporter may still list it: the next read compares all rows.
      const reporter = $client.query(REPORTER).get(row.reporter_n) as ReporterRow;
      if (reporter.digest !== "") storeReporter(tx, { ...reporter, digest: "" });
    }
  });
}

/** Changes of one device's tables. */
class Recording {
  private readonly write: ScanWrite;
  private readonly tx: WriteTransaction;
  private readonly hostN: number | null;
  private readonly polledAddress: string;
  /** True if several devices report the host. */
  private readonly isShared: boolean;
  private readonly reporters: readonly ReporterRow[];

  constructor(write: ScanWrite, host: HostRecord | null, polledAddress: string, isShared: boolean) {
    const { tx } = write;
    this.write = write;
    this.tx = tx;
    this.hostN = host === null ? null : tx.recordN(host.id);
    this.polledAddress = polledAddress;
    this.isShared = isShared;
    this.reporters =
      this.hostN === null
        ? (tx.db.$client.query(REPORTERS_WITHOUT_HOST).all(tx.recordN(write.networkId)) as ReporterRow[])
        : takeReporters(write, this.hostN);
  }

  record({ kind, text, isComplete }: ReadTable, isSame: boolean): void {
    const { tx } = this;
    const known = this.reporterOf(kind);
    if (text === "" && known === null) return;
    const digest = Bun.hash(text).toString(36);
    if (isSame && known?.digest === digest) {
      // Only complete tables have a digest.
      if (isComplete)
        confirmReporter(tx, { ...known, ...readTimes(known, this.write), ip_address: this.polledAddress });
      return;
    }
    const reporter = known ?? storeReporter(tx, newReporter(this.write, kind, this.hostN, this.polledAddress));
    const isWhole = isComplete && count(text) <= SIGHTINGS_PER_TABLE_MAX;
    const added = this.compare(reporter, text, isWhole);
    const now = {
      ...reporter,
      ip_address: this.polledAddress,
      digest: isWhole ? digest : added > 0 ? "" : reporter.digest,
      rows: reporter.rows + added,
      ...(isWhole ? readTimes(reporter, this.write) : {}),
    };
    storeReporter(tx, added > 0 ? withinLimit(tx, now) : now);
  }

  /** @returns the number of new sightings */
  private compare(reporter: ReporterRow, text: string, isWhole: boolean): number {
    const { tx } = this;
    const rows = tx.db.$client.query(CURRENT_OF).all(reporter.n) as SightingRow[];
    const current = new Map(rows.map((row) => [keyOf(row), row]));
    const first = nextN(tx, "discovery_sightings");
    let added = 0;
    const room = isWhole ? SIGHTINGS_PER_TABLE_MAX : SIGHTINGS_PER_TABLE_MAX - current.size;
    for (const row of this.rowsOf(text)) {
      if (current.delete(keyOf(row)) || added >= room) continue;
      addSighting(tx, reporter, row, first + added);
      added += 1;
    }
    if (isWhole)
      for (const row of current.values())
        storeSighting(tx, { ...row, last_seen: Math.max(row.last_seen, reporter.read_at), gone_at: tx.instant });
    return added;
  }

  private *rowsOf(text: string): Generator<SeenRow> {
    const entries = this.tx.db.$client.query(IF_ENTRIES).values(this.hostN) as Array<[number, number]>;
    const byIndex = new Map(entries.map(([n, ifIndex]) => [String(ifIndex), n]));
    for (const line of text === "" ? [] : text.split("\n")) {
      const [address = "", mac = "", ifIndex = ""] = line.split(" ");
      yield {
        address_key: sightingKey(address),
        mac_address: mac === "-" ? null : mac,
        if_entry_n: byIndex.get(ifIndex) ?? null,
      };
    }
  }

  /**
   * The table of the same host last read at another address is the same table, unless several devices report the host.
   */
  private reporterOf(kind: SightingKind): ReporterRow | null {
    const rows = this.reporters.filter((row) => row.kind === kind);
    const here = rows.find((row) => row.ip_address === this.polledAddress);
    return here ?? (this.hostN === null || this.isShared ? null : (rows[0] ?? null));
  }
}

/** Hosts that a command read, and their reporters, read together. */
const READ_HOSTS = new WeakMap<ScanWrite, string[]>();
const REPORTERS = new WeakMap<ScanWrite, Map<number | null, ReporterRow[]>>();

/** A second device of the same host finds what the first one wrote. */
function takeReporters(write: ScanWrite, hostN: number): readonly ReporterRow[] {
  const { tx } = write;
  const query = tx.db.$client.query(REPORTERS_OF);
  let known = REPORTERS.get(write);
  if (known === undefined) {
    const numbers = (READ_HOSTS.get(write) ?? []).map((id) => tx.recordN(id));
    known = Map.groupBy(query.all(JSON.stringify(numbers)) as ReporterRow[], (row) => row.host_n);
    for (const n of numbers) if (!known.has(n)) known.set(n, []);
    REPORTERS.set(write, known);
  }
  const rows = known.get(hostN);
  known.delete(hostN);
  return rows ?? (query.all(JSON.stringify([hostN])) as ReporterRow[]);
}

/** The last two reads, each by a different scan. */
function readTimes(reporter: ReporterRow, { tx, scanId }: ScanWrite) {
  return {
    read_at: tx.instant,
    scan_id: scanId,
    ...(reporter.scan_id === scanId ? {} : { previous_read_at: reporter.read_at, previous_scan_id: reporter.scan_id }),
  };
}

/** Last time that another scan read the device's own addresses completely; null if never. */
export function lastOwnRead(
  { tx, scanId }: ScanWrite,
  host: HostRecord,
): { readonly at: Instant; readonly scanId: string } | null {
  const rows = tx.db.$client.query(REPORTERS_OF).all(JSON.stringify([tx.recordN(host.id)])) as ReporterRow[];
  const own = rows.filter(({ kind }) => kind === "Own");
  const reads = own.map((row) =>
    row.scan_id === scanId
      ? { at: row.previous_read_at, scanId: row.previous_scan_id }
      : { at: row.read_at, scanId: row.scan_id },
  );
  const last = reads.reduce((some, other) => (other.at > some.at ? other : some), { at: 0, scanId: "" });
  return last.at === 0 ? null : last;
}

/** True if a device has responded at an address that, as far as known, was in none of its address tables. */
export function wasNeverListed({ tx }: ScanWrite, host: HostRecord, address: string): boolean {
  const [[isListed]] = tx.db.$client
    .query(IS_LISTED)
    .values(tx.recordN(host.id) ?? 0, tx.recordN(host.network_id) ?? 0, sightingKey(address)) as [[number | null]];
  return isListed === 0;
}

function sweeperOf(write: ScanWrite): ReporterRow {
  const { tx, networkId } = write;
  const known = tx.db.$client.query(SWEEPER).get(tx.recordN(networkId)) as ReporterRow | null;
  return known ?? storeReporter(tx, newReporter(write, "Sweep", null, ""));
}

function newReporter(
  { tx, networkId }: ScanWrite,
  kind: SightingKind,
  host_n: number | null,
  ip_address: string,
): ReporterRow {
  return withChecksum(reporterTable, {
    n: nextN(tx, "discovery_reporters"),
    network_n: tx.recordN(networkId) as number,
    host_n,
    ip_address,
    kind,
    digest: "",
    created_at: tx.instant,
    rows: 0,
    read_at: 0,
    scan_id: "",
    previous_read_at: 0,
    previous_scan_id: "",
  }) as ReporterRow;
}

function addSighting(tx: WriteTransaction, reporter: ReporterRow, row: SeenRow, n: number): void {
  storeSighting(tx, {
    ...row,
    n,
    network_n: reporter.network_n,
    reporter_n: reporter.n,
    first_seen: tx.instant,
    last_seen: tx.instant,
    gone_at: null,
    ended_at: null,
  });
}

function storeSighting(tx: WriteTransaction, row: Omit<SightingRow, "checksum">): void {
  sightingRows.upsert(tx.db, withChecksum(sightingTable, row));
}

function storeReporter(tx: WriteTransaction, row: Omit<ReporterRow, "checksum">): ReporterRow {
  const stored = withChecksum(reporterTable, row) as ReporterRow;
  reporterRows.upsert(tx.db, stored);
  return stored;
}

/** Stores the columns that change even if a table is unchanged: the others are indexed. */
function confirmReporter(tx: WriteTransaction, row: ReporterRow): void {
  const { n, ip_address, read_at, scan_id, previous_read_at, previous_scan_id } = row;
  const { checksum } = withChecksum(reporterTable, row);
  tx.db.$client.query(CONFIRM).run(n, ip_address, read_at, scan_id, previous_read_at, previous_scan_id, checksum);
}

/** Drops the earliest ended sightings of a reporter with too many. */
function withinLimit(tx: WriteTransaction, reporter: ReporterRow): ReporterRow {
  const excess = reporter.rows - SIGHTINGS_PER_REPORTER_MAX;
  if (excess <= 0) return reporter;
  tx.db.$client.query(DROP_OLDEST).run(reporter.n, excess);
  const [[rows]] = tx.db.$client.query(COUNT_OF).values(reporter.n) as [[number]];
  return { ...reporter, rows };
}

function nextN(tx: WriteTransaction, table: "discovery_reporters" | "discovery_sightings"): number {
  const [[n]] = tx.db.$client.query(`SELECT coalesce(max(n), 0) + 1 FROM ${table}`).values() as [[number]];
  return n;
}

function isComplete({ tables, broken = [] }: Device, table: DeviceTable): boolean {
  const { state } = tables[table];
  return (state === "complete" || state === "absent") && !broken.includes(table);
}

function count(text: string): number {
  let lines = text === "" ? 0 : 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

function keyOf({ address_key, mac_address, if_entry_n }: SeenRow): string {
  return `${address_key} ${mac_address} ${if_entry_n}`;
}

const REPORTERS_OF = "SELECT * FROM discovery_reporters WHERE host_n IN (SELECT value FROM json_each(?1)) ORDER BY n";
/** Listed addresses belong to an interface. */
const IS_LISTED = `SELECT max(s.if_entry_n IS NOT NULL) FROM discovery_sightings s
  JOIN discovery_reporters r ON r.n = s.reporter_n
  WHERE s.network_n = +?2 AND s.address_key = +?3 AND r.host_n = +?1 AND r.kind = 'Own'`;
const REPORTERS_WITHOUT_HOST =
  "SELECT * FROM discovery_reporters WHERE network_n = +?1 AND kind IN ('Neighbor', 'Own') AND host_n IS NULL ORDER BY n";
const SWEEPER = "SELECT * FROM discovery_reporters WHERE network_n = +?1 AND kind = 'Sweep' LIMIT 1";
const CONFIRM = `UPDATE discovery_reporters SET ip_address = ?2, read_at = ?3, scan_id = ?4, previous_read_at = ?5,
  previous_scan_id = ?6, checksum = ?7 WHERE n = +?1`;
const REPORTER = "SELECT * FROM discovery_reporters WHERE n = +?1";
const CURRENT_OF = "SELECT * FROM discovery_sightings WHERE reporter_n = +?1 AND gone_at IS NULL";
const CURRENT_AT = `SELECT * FROM discovery_sightings
  WHERE network_n = +?1 AND address_key = +?2 AND reporter_n = +?3 AND gone_at IS NULL`;
const UNCONFIRMED = `SELECT * FROM discovery_sightings
  WHERE reporter_n = +?1 AND gone_at IS NULL AND last_seen < +?2`;
const IF_ENTRIES = "SELECT n, if_index FROM if_entries WHERE host_n = +?1";
const COUNT_OF = "SELECT count(*) FROM discovery_sightings WHERE reporter_n = +?1";
/** Current ones last. */
const DROP_OLDEST = `DELETE FROM discovery_sightings WHERE n IN (SELECT n FROM discovery_sightings
  WHERE reporter_n = +?1 AND gone_at IS NOT NULL ORDER BY gone_at, n LIMIT ?2)`;
