// Last report per device: an unchanged report of an unchanged host is only marked as seen. Stored outside the ledger;
// without it, everything is compared.

import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { KeyedRows } from "../../db/keyed-row.ts";
import { renderObserved } from "../../db/kind.ts";
import { observedChecksum, withChecksum } from "../../db/row-checksum.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import type { DeviceSighting } from "../sightings.ts";
import { OmittedRows } from "./left-out.ts";
import type { ScanWrite } from "./scan-write.ts";

/** Version of the reconciliation rules: new rules may create different records from the same data. */
const RULES_VERSION = 5;

const reports = sqliteTable("discovery_tellings", {
  network_n: integer().notNull(),
  ip_address: text().notNull(),
  host_n: integer().notNull(),
  host_sequence: integer().notNull(),
  ignored_sequence: integer().notNull(),
  digest: text().notNull(),
  seen: text().notNull(),
  left_out: text(),
  checksum: integer().notNull(),
});
const reportRows = new KeyedRows(reports, ["network_n", "ip_address"]);

/** SHA-256 of everything written for a device, except its neighbors. */
export function digestOf({ device, mac_address, hostname }: DeviceSighting): string {
  // Not written, so excluded.
  const { arp: _others, rows: _rows, conclusions: _conclusions, ...reported } = device;
  return new Bun.CryptoHasher("sha256")
    .update(JSON.stringify([RULES_VERSION, reported, mac_address, hostname ?? null]))
    .digest("base64");
}

/**
 * Marks an unchanged device as seen.
 * @returns its host and the dropped rows; null if the device must be compared
 */
export function unchangedReport(
  write: ScanWrite,
  sighting: DeviceSighting,
): { readonly host: HostRecord; readonly omitted: OmittedRows } | null {
  const { tx } = write;
  if (sighting.digest === undefined) return null;
  const row = find(write, sighting.ip_address);
  if (row === undefined || row.digest !== sighting.digest || row.ignored_sequence !== write.ignoredBefore) return null;
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
  return { host, omitted: new OmittedRows(row.left_out) };
}

/** @param seenIds records marked as seen for this device */
export function rememberReport(
  write: ScanWrite,
  sighting: DeviceSighting,
  host: HostRecord,
  seenIds: Iterable<string>,
  omitted: OmittedRows,
): void {
  const { tx } = write;
  const { digest, ip_address } = sighting;
  if (digest === undefined) return;
  const ids = [...seenIds].filter((id) => id !== host.id);
  tx.runAfterWrite(() => {
    const hostN = tx.recordN(host.id) as number;
    const version = tx.db.$client.query("SELECT sequence FROM hosts WHERE n = ?1").get(hostN) as {
      sequence: number;
    } | null;
    if (version === null) return;
    const row = withChecksum(reports, {
      network_n: tx.recordN(write.networkId) as number,
      ip_address,
      host_n: hostN,
      host_sequence: version.sequence,
      ignored_sequence: write.ignoredSequence(),
      digest,
      seen: JSON.stringify(ids.map((id) => tx.recordN(id)).filter((n) => n !== null)),
      left_out: omitted.toText(),
    });
    reportRows.upsert(tx.db, row);
  });
}

function find({ tx, networkId }: ScanWrite, address: string) {
  return reportRows.find(tx.db, tx.recordN(networkId) ?? 0, address);
}
