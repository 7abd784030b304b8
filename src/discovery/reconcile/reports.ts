// Last report per device: an unchanged report of an unchanged host is only marked as seen. Stored outside the ledger;
// without it, everything is compared.

import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { KeyedRows } from "../../db/keyed-row.ts";
import { type AnyKind, renderObserved } from "../../db/kind.ts";
import { observedChecksum, withChecksum } from "../../db/row-checksum.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import type { DeviceSighting, ReportDigest } from "../sightings.ts";
import { ownLines } from "./neighbor-tables.ts";
import { OmittedRows } from "./omitted-rows.ts";
import type { ScanWrite } from "./scan-write.ts";
import { signGroupsOf } from "./signs.ts";

/** Version of the reconciliation rules: new rules may create different records from the same data. */
const RULES_VERSION = 8;

const reports = sqliteTable("discovery_tellings", {
  network_n: integer().notNull(),
  ip_address: text().notNull(),
  host_n: integer().notNull(),
  host_sequence: integer().notNull(),
  ignored_sequence: integer().notNull(),
  digest: text().notNull(),
  seen: text().notNull(),
  left_out: text(),
  unread: text(),
  checksum: integer().notNull(),
});
const reportRows = new KeyedRows(reports, ["network_n", "ip_address"]);

/** The hash is the SHA-256 of everything written for a device, except its neighbors. */
export function digestOf(sighting: DeviceSighting): ReportDigest {
  const { device, mac_address, hostname } = sighting;
  // Not written, so excluded.
  const {
    arp: _others,
    rows: _rows,
    conclusions: _conclusions,
    up_time_ms: _age,
    if_number: _size,
    ...reported
  } = device;
  const text = JSON.stringify([RULES_VERSION, reported, mac_address, hostname ?? null]);
  const hash = new Bun.CryptoHasher("sha256").update(text).digest("base64");
  return { hash, own: ownLines(sighting), sign_groups: signGroupsOf(device) };
}

/**
 * Marks an unchanged device as seen.
 * @returns its host, the dropped rows and the digest; null if the device must be compared
 */
export function unchangedReport(
  write: ScanWrite,
  sighting: DeviceSighting,
): { readonly host: HostRecord; readonly omitted: OmittedRows; readonly digest: ReportDigest } | null {
  const { tx } = write;
  const { digest } = sighting;
  if (digest === undefined) return null;
  const row = find(write, sighting.ip_address);
  if (row === undefined || row.digest !== digest.hash || row.ignored_sequence !== write.ignoredBefore) return null;
  const hostId = tx.recordId(row.host_n);
  const host = hostId === null ? null : tx.find(hostKind, hostId);
  if (
    host === null ||
    // Another device may have reported a consolidated host.
    write.index.isConsolidated(host.id) ||
    tx.versionOf(host.id).sequence !== row.host_sequence ||
    tx.isChanged(host.id) ||
    write.index.hasLost(host.id)
  )
    return null;
  // Another host has the address and may lose it.
  if (write.index.holdersOf(sighting.ip_address).some((id) => id !== host.id)) return null;
  tx.observe(hostKind, host.id, { last_seen_at: write.seen.last_seen_at ?? null });
  const observed = renderObserved(ifEntryKind, write.seen);
  tx.runAfterWrite(() => {
    tx.db.$client
      .query("UPDATE observations SET observed = ?1, checksum = ?2 + n WHERE n IN (SELECT value FROM json_each(?3))")
      .run(observed, observedChecksum(0, observed), row.seen);
  });
  return { host, omitted: new OmittedRows(row.left_out), digest };
}

/** Conclusions of a read from what it lacks. */
interface Read {
  /** True if the next report must be compared even if it is identical. */
  readonly isPostponed: boolean;
  /** Kinds that the report has completely. */
  readonly completeKinds: ReadonlySet<AnyKind>;
}

/**
 * @param seenIds records marked as seen for this device
 * @param read null for a device that adds data to the host of another one
 */
export function rememberReport(
  write: ScanWrite,
  sighting: DeviceSighting,
  host: HostRecord,
  seenIds: Iterable<string>,
  omitted: OmittedRows,
  read: Read | null,
): void {
  const { tx } = write;
  const { device, digest, ip_address } = sighting;
  if (digest === undefined) return;
  const isConclusive = read?.isPostponed !== true;
  const ids = [...seenIds].filter((id) => id !== host.id);
  tx.runAfterWrite(() => {
    const hostN = tx.recordN(host.id) as number;
    const version = tx.db.$client.query("SELECT sequence FROM hosts WHERE n = +?1").get(hostN) as {
      sequence: number;
    } | null;
    if (version === null) return;
    const row = withChecksum(reports, {
      network_n: tx.recordN(write.networkId) as number,
      ip_address,
      host_n: hostN,
      host_sequence: version.sequence,
      ignored_sequence: write.ignoredSequence(),
      digest: isConclusive ? digest.hash : "",
      seen: JSON.stringify(ids.map((id) => tx.recordN(id)).filter((n) => n !== null)),
      left_out: omitted.toText(),
      unread: isConclusive && device.broken === undefined ? null : unreadOf(write, ip_address, ids, read),
    });
    reportRows.upsert(tx.db, row);
  });
}

/** JSON array of the records that only earlier reports had, of kinds that this one lacks in part; null for none. */
function unreadOf(write: ScanWrite, address: string, seen: readonly string[], read: Read | null): string | null {
  const row = find(write, address);
  if (row === undefined) return null;
  const { tx } = write;
  const now = new Set(seen.map((id) => tx.recordN(id)));
  const codes = JSON.stringify([...(read?.completeKinds ?? [])].map(({ code }) => code));
  const former = JSON.stringify(numbersIn(row).filter((n) => !now.has(n)));
  const rows = tx.db.$client.query(OF_OTHER_KINDS).values(former, codes) as Array<[number]>;
  const unread = rows.map(([n]) => n).filter((n) => tx.recordId(n) !== null);
  return unread.length === 0 ? null : JSON.stringify(unread);
}

const OF_OTHER_KINDS = `SELECT r.n FROM history_records r
  WHERE r.n IN (SELECT value FROM json_each(?1)) AND r.kind NOT IN (SELECT value FROM json_each(?2))`;

function numbersIn({ seen, unread }: { readonly seen: string; readonly unread: string | null }): number[] {
  return [...(JSON.parse(seen) as number[]), ...(JSON.parse(unread ?? "[]") as number[])];
}

/** Numbers of the records in a host's last complete report at one of its addresses. */
export interface LastReport {
  readonly ip_address: string;
  /** True if the address is stale. */
  readonly isStale: boolean;
  readonly seen: ReadonlySet<number>;
}

/** The last reports of a host at an address, and at all its other addresses. */
export function lastReportsOf({ tx }: ScanWrite, host: HostRecord, polledAddress: string): LastReport[] {
  const present = tx.children(ipAddressKind, "host_n", host.id);
  const isStale = new Map(present.map((each) => [each.ip_address, each.stale_since !== undefined]));
  const rows = tx.db.$client
    .query("SELECT ip_address, seen, unread FROM discovery_tellings WHERE host_n = +?1")
    .all(tx.recordN(host.id) ?? 0) as Array<{ ip_address: string; seen: string; unread: string | null }>;
  return rows
    .filter(({ ip_address }) => ip_address === polledAddress || isStale.has(ip_address))
    .map((row) => ({
      ip_address: row.ip_address,
      isStale: isStale.get(row.ip_address) === true,
      seen: new Set(numbersIn(row)),
    }));
}

function find({ tx, networkId }: ScanWrite, address: string) {
  return reportRows.find(tx.db, tx.recordN(networkId) ?? 0, address);
}
