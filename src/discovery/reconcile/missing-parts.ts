// Ends interfaces, addresses and components that are missing from a complete read of their device. Records that a user
// edited or refers to are kept and marked as stale.

import { ownValue } from "../../base/fields.ts";
import { parseInstant } from "../../base/instant.ts";
import type { AnyKind, Kind, RecordBase } from "../../db/kind.ts";
import { type ComponentRecord, componentKind } from "../../resources/components/component.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { type IpAddressRecord, ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import type { Device } from "../device.ts";
import {
  type CompleteReads,
  completeReadsOf,
  type EndingTable,
  evaluateRead,
  rememberReads,
  rowsAfter,
  rowsRead,
  type TableSize,
} from "./complete-reads.ts";
import { isUserEdited, setStale } from "./protected-records.ts";
import { lastOwnRead, wasNeverListed } from "./record-sightings.ts";
import { type LastReport, lastReportsOf } from "./reports.ts";
import type { ScanWrite } from "./scan-write.ts";

export class MissingParts {
  private readonly write: ScanWrite;
  private readonly host: HostRecord;
  private readonly device: Device;
  private readonly polledAddress: string;
  private readonly before: CompleteReads;
  /** True if several devices may report the host. */
  private readonly isShared: boolean;
  private readonly evaluated: Record<string, TableSize> = {};
  private reports: readonly LastReport[] | null = null;
  /** Addresses missing from the host's own address tables. */
  private former: ReadonlySet<string> = new Set();
  /** Kinds that the report has completely. */
  readonly completeKinds = new Set<AnyKind>();
  /** True if some records are left for another command. */
  isUnfinished = false;
  /** True if a later read has an effect even if it is identical to this one. */
  isPostponed = false;

  constructor(write: ScanWrite, host: HostRecord, device: Device, polledAddress: string) {
    this.write = write;
    this.host = host;
    this.device = device;
    this.polledAddress = polledAddress;
    this.before = completeReadsOf(write.tx, host.id);
    this.isShared = write.index.isConsolidated(host.id);
  }

  /** @param missing entries that the report lacks @param keep called for entries that are kept */
  interfaces(missing: readonly IfEntryRecord[], keep: (entry: IfEntryRecord) => void): void {
    this.end({
      kind: ifEntryKind,
      table: "interfaces",
      missing,
      labelOf: (entry) => entry.if_name ?? entry.if_descr,
      isOwn: this.isOwn,
      keep,
    });
  }

  /**
   * Considers only addresses that the device itself reported: sightings by others expire. Records that only a report at
   * a former address had need a second read, and then end with that address, as does an address at which another device
   * now reports itself. Call this first.
   * @param missing addresses that the report lacks, except the one that responded
   */
  addresses(missing: readonly IpAddressRecord[]): void {
    // Behind NAT, or on a management port that its tables omit, the device responds at addresses that they do not list.
    const isUnlisted = (address: string) =>
      this.lastReports().some(({ ip_address }) => ip_address === address) &&
      wasNeverListed(this.write, this.host, address);
    this.former = new Set(missing.map(({ ip_address }) => ip_address).filter((address) => !isUnlisted(address)));
    const isTakenOver = (record: IpAddressRecord) =>
      !this.isShared &&
      this.reportsOf(record).length === 0 &&
      this.write.index.reportersAt(record.ip_address).some((id) => id !== this.host.id);
    const mayHaveMoved = (record: IpAddressRecord) => this.isOfFormer(record) || isTakenOver(record);
    this.end({
      kind: ipAddressKind,
      table: "addresses",
      missing,
      labelOf: ({ ip_address }) => ip_address,
      isOwn: (record) => this.wasReportedHere(record) || (mayHaveMoved(record) && this.wasMissing(record)),
      keep: (record) => setStale(this.write.tx, ipAddressKind, record),
    });
    const isWaiting = (record: IpAddressRecord) => mayHaveMoved(record) && !this.wasMissing(record);
    if (this.device.tables.addresses.state === "complete" && missing.some(isWaiting)) this.isPostponed = true;
    this.reports = null;
  }

  /** @param missing components that the report lacks */
  components(missing: readonly ComponentRecord[]): void {
    this.end({
      kind: componentKind,
      table: "entity",
      missing,
      labelOf: (component) => componentKind.label?.(component) ?? componentKind.name,
      isOwn: this.isOwn,
      keep: (record) => setStale(this.write.tx, componentKind, record),
    });
  }

  /** Call once, after all the others. */
  remember(): void {
    const { write, before } = this;
    if (write.isContinued) return;
    const sizes = { ...before.sizes, ...this.evaluated };
    rememberReads(write.tx, this.host.id, before, { sizes, ...rowsAfter(before, this.device, this.isShared) });
  }

  private end<R extends RecordBase>({ kind, table, missing, labelOf, isOwn, keep }: Missing<R>): void {
    const { write, device } = this;
    const { tx, scanId } = write;
    const key = this.isShared ? `${table} ${this.polledAddress}` : table;
    const gone = missing.filter((record) => tx.observedOf(record.id).last_discovery_id !== scanId && isOwn(record));
    // After a consolidation, the only known size of the device's table is what the device alone had reported.
    const reported = this.isShared ? { rows: rowsRead(device, table) + gone.length, short: 0, is_shrunk: false } : null;
    const before = ownValue(this.before.sizes, key) ?? reported;
    const { doubt, isPassing, isCounting, size } = evaluateRead(device, table, before);
    if (size !== null) this.evaluated[key] = size;
    if (isCounting) this.isPostponed = true;
    if (doubt === null) this.completeKinds.add(kind);
    if (gone.length === 0) return;
    if (doubt !== null) {
      if (!isPassing) return;
      this.isPostponed = true;
      const reason = `${gone.length} that it lacks ${gone.length === 1 ? "stays" : "stay"}: ${doubt}`;
      write.addFinding({
        type: "Partial",
        entity: hostKind.name,
        id: this.host.id,
        label: `${this.host.name}: ${table}`,
        reason,
      });
      return;
    }
    const rows = rowsRead(device, table);
    const reason = `not in ${TABLE_NAMES[table]}, ${rows} ${rows === 1 ? "row" : "rows"}, read to the end`;
    for (const record of gone) {
      if (!write.mayEnd()) {
        this.isUnfinished = true;
        return;
      }
      if (isUserEdited(tx, kind, record)) keep(record);
      else write.close(kind, record, `${labelOf(record)} of ${this.host.name}`, reason);
    }
  }

  /**
   * False for records that only a report at another address of the host had, and for those that another device may
   * have.
   */
  private readonly isOwn = (record: RecordBase): boolean =>
    this.wasReportedHere(record) || (!this.isShared && this.reportsOf(record).every(({ isStale }) => isStale));

  /** True also for records that need a second read at another address: only a report at a former one had them. */
  isLacking(record: RecordBase): boolean {
    return this.isOwn(record) || (this.device.tables.addresses.state === "complete" && this.isOfFormer(record));
  }

  private isOfFormer(record: RecordBase): boolean {
    const reports = this.isShared ? [] : this.reportsOf(record);
    return reports.length > 0 && reports.every(({ ip_address }) => this.former.has(ip_address));
  }

  /** If several devices report the host, true only if no other report has the record. */
  private wasReportedHere(record: RecordBase): boolean {
    const reports = this.reportsOf(record);
    const isHere = reports.some(({ ip_address }) => ip_address === this.polledAddress);
    return isHere && (!this.isShared || reports.length === 1);
  }

  /** The last reports that contain a record. */
  private reportsOf({ id }: RecordBase): LastReport[] {
    const n = this.write.tx.recordN(id) ?? 0;
    return this.lastReports().filter(({ seen }) => seen.has(n));
  }

  private lastReports(): readonly LastReport[] {
    this.reports ??= lastReportsOf(this.write, this.host, this.polledAddress);
    return this.reports;
  }

  /** True if the last complete read before this scan already lacked the record, and it has not been seen since. */
  private wasMissing({ id }: RecordBase): boolean {
    const last = lastOwnRead(this.write, this.host);
    const { last_discovery_id, last_seen_at } = this.write.tx.observedOf(id);
    return (
      last !== null && last_discovery_id !== last.scanId && (parseInstant(last_seen_at ?? "") ?? last.at) < last.at
    );
  }
}

interface Missing<R extends RecordBase> {
  readonly kind: Kind<R>;
  readonly table: EndingTable;
  readonly missing: readonly R[];
  readonly labelOf: (record: R) => string;
  /** True for records that this device reported. */
  readonly isOwn: (record: R) => boolean;
  readonly keep: (record: R) => void;
}

const TABLE_NAMES: Readonly<Record<EndingTable, string>> = {
  interfaces: "ifTable",
  addresses: "the address tables",
  entity: "entPhysicalTable",
};
