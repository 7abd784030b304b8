// Shared state of a scan's write: actor, record creation and confirmation, result. Independent of protocols.

import type { CommandActor } from "../../access/actor.ts";
import { ownValue } from "../../base/fields.ts";
import { formatInstant } from "../../base/instant.ts";
import {
  type AnyKind,
  containerId,
  type Kind,
  type NoOtherFields,
  type Observed,
  type OwnFields,
  type RecordBase,
  scopeKey,
} from "../../db/kind.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { withDefaults } from "../../resources/custom-fields/write-values.ts";
import type { Discoverable } from "../../resources/discovered.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import {
  type IgnoredEntity,
  type IgnoredRecord,
  ignoredIdentity,
  ignoredKind,
  isIgnorable,
} from "../../resources/ignored/ignored.ts";
import { removeRecord } from "../../resources/ignored/removal.ts";
import { recordLabel } from "../../resources/record-label.ts";
import { vlanKind } from "../../resources/vlans/vlan.ts";
import type { Finding, RecordCounts, Recorded, SeenDevice, SetAside, Unfinished } from "../sightings.ts";
import { KnownHosts } from "./known-hosts.ts";
import { isSetByUser } from "./provenance.ts";
import { mergeReported, type Reported } from "./reported-fields.ts";

export interface ScanInput {
  readonly scan_id: string;
  readonly network_id: string;
  /** Target CIDRs of the scan. */
  readonly blocks?: readonly string[];
  /** True if an Admin named the targets: subnets created from them accept credentials. */
  readonly are_blocks_accepting?: boolean;
}

/**
 * Maximum VLAN membership changes per command. Each is a row with two indexes: the 2,000,000 of a large switch would
 * block other writers for up to 15 s.
 */
export const VLAN_CHANGES_PER_COMMAND = 100_000;

/** Maximum number of records per command that end because their device no longer reports them. */
const ENDS_PER_COMMAND = 10_000;

/** State of a dry run's transaction, which stays open across commands. */
const KNOWN_HOSTS = new WeakMap<WriteTransaction, KnownHosts>();
const REPORTED = new WeakMap<WriteTransaction, Set<string>>();

export class ScanWrite {
  readonly tx: WriteTransaction;
  readonly actor: CommandActor;
  readonly scanId: string;
  readonly networkId: string;
  readonly index: KnownHosts;
  readonly seen: Observed;
  /** Records seen since the last collection. */
  seenIds = new Set<string>();
  /**
   * True while writing a second device matched to an already reported host. The first report takes precedence, or they
   * would overwrite each other in every scan.
   */
  isRepeat = false;
  /** True if a part has already been written and reported. */
  isContinued = false;
  private vlanRoom = VLAN_CHANGES_PER_COMMAND;
  private endRoom = ENDS_PER_COMMAND;
  private readonly unfinished: Unfinished[] = [];
  private readonly reportedHosts: Set<string>;
  private ignoredAtStart: number | null = null;
  private ignored: Map<IgnoredEntity, IgnoredRecord[]> | null = null;
  private readonly findings: Finding[] = [];
  private readonly reasons = new Map<string, string>();
  /** Keyed by responding address. */
  readonly devices: SeenDevice[] = [];
  /** Learned but dropped. */
  readonly setAside: SetAside[] = [];
  private readonly hosts: Array<{ ip_address: string; host_id: string }> = [];

  constructor(tx: WriteTransaction, input: ScanInput, actor: CommandActor) {
    this.tx = tx;
    this.actor = actor;
    this.scanId = input.scan_id;
    this.networkId = input.network_id;
    const index = KNOWN_HOSTS.get(tx) ?? new KnownHosts(tx, input.network_id, input.scan_id);
    KNOWN_HOSTS.set(tx, index);
    this.index = index;
    this.reportedHosts = REPORTED.get(tx) ?? new Set();
    REPORTED.set(tx, this.reportedHosts);
    this.seen = { last_discovery_id: input.scan_id, last_seen_at: formatInstant(tx.instant) };
  }

  /**
   * Creates a record seen for the first time; sets its `first_discovery_id`, if any, to the scan.
   * @param isIgnored true if a user deleted the same thing, for kinds whose identity does not show that
   * @param lineageId of its first incarnation, for kinds whose identity does not show that; null for none
   * @returns null if a user deleted it
   */
  create<R extends RecordBase, T extends OwnFields<R>>(
    kind: Kind<R>,
    fields: T & NoOtherFields<R, T>,
    isIgnored?: boolean,
    lineageId?: string | null,
  ): R | null {
    if (isIgnored ?? this.isIgnored(kind, kind.identity(fields))) return null;
    const { organizationId } = this.actor;
    const values = withDefaults(this.tx, kind, organizationId, fields);
    const observed = this.observedOf(kind);
    const options = lineageId === undefined ? { observed } : { observed, lineageId };
    const record = this.tx.create(kind, organizationId, values, options);
    if (kind.observed.length > 0) this.seenIds.add(record.id);
    return record;
  }

  /**
   * Updates a record seen again.
   * @param defaults default values by field, in addition to null and ""
   * @param overridable fields that a second report may change too
   */
  update<R extends RecordBase & Discoverable, T extends Reported<R> & object>(
    kind: Kind<R>,
    record: R,
    reported: T & NoOtherFields<R, T>,
    defaults: Reported<R> = {},
    overridable: ReadonlyArray<keyof Reported<R>> = [],
  ): R {
    const none = kind.absent === "omitted" ? undefined : null;
    const accepted = this.isRepeat ? withoutContradictions(record, reported, overridable) : reported;
    const changes = mergeReported(record, accepted, none, (field) =>
      isSetByUser(this.tx, record.id, field, [null, "", ...(field in defaults ? [defaults[field]] : [])]),
    );
    let isChanged = record.stale_since !== undefined;
    for (const _field in changes) isChanged = true;
    const now = isChanged
      ? this.tx.update<R, Partial<R>>(kind, record.id, { ...changes, stale_since: undefined })
      : record;
    this.markSeen(kind, record.id);
    return now;
  }

  markSeen(kind: AnyKind, id: string): void {
    this.tx.observe(kind, id, this.observedOf(kind));
    this.seenIds.add(id);
  }

  /** Deletes a record that no longer exists for certain. @param reason one clause */
  close(kind: AnyKind, record: RecordBase, label: string, reason: string): void {
    removeRecord(this.tx, kind, record.id, true);
    this.findings.push({ type: "Closed", entity: kind.name, id: record.id, label, reason });
  }

  addFinding(finding: Finding): void {
    if (!this.isContinued) this.findings.push(finding);
  }

  /** True if an interface may change this many VLANs in this command; the first interface always may. */
  mayChangeVlans(count: number): boolean {
    if (count > this.vlanRoom && this.vlanRoom < VLAN_CHANGES_PER_COMMAND) return false;
    this.vlanRoom -= count;
    return true;
  }

  /** True if this many more records may end in this command; the first ones always may. */
  mayEnd(count = 1): boolean {
    if (count > this.endRoom && this.endRoom < ENDS_PER_COMMAND) return false;
    this.endRoom -= count;
    return true;
  }

  /** Reports a partially written device. */
  markUnfinished(address: string): void {
    this.unfinished.push({ ip_address: address, is_repeat: this.isRepeat });
  }

  /** Reports a device with more records than the limit. @param what kind of records, plural */
  addLimitFinding(host: HostRecord, what: string, omittedCount: number, limit: number): void {
    this.addFinding({
      type: "Partial",
      entity: hostKind.name,
      id: host.id,
      label: `${host.name}: ${what}`,
      reason: `${omittedCount} were left out: the limit is ${limit}`,
    });
  }

  /** Stores how a host was seen, for the result. */
  recordSeen(hostId: string, address: string, reason: string): void {
    this.hosts.push({ ip_address: address, host_id: hostId });
    if (!this.reasons.has(hostId)) this.reasons.set(hostId, reason);
  }

  /** Returns the entries deleted by users, by kind; read once per write. */
  ignoredOf(entity: IgnoredEntity): readonly IgnoredRecord[] {
    this.ignored ??= Map.groupBy(this.tx.children(ignoredKind, "network_n", this.networkId), (record) => record.entity);
    return this.ignored.get(entity) ?? [];
  }

  /** ignoredSequence before this command wrote anything, the same for all its devices. */
  get ignoredBefore(): number {
    this.ignoredAtStart ??= this.ignoredSequence();
    return this.ignoredAtStart;
  }

  /**
   * The last change to the network's ignored entries or VLANs: a record may return once its entry is removed, and a
   * deleted VLAN does.
   */
  ignoredSequence(): number {
    const networkN = this.tx.recordN(this.networkId) ?? 0;
    const row = this.tx.db.$client
      .query("SELECT max(sequence) AS sequence FROM history_census WHERE scope IN (?1, ?2)")
      .get(scopeKey(networkN, ignoredKind), scopeKey(networkN, vlanKind)) as { sequence: number | null };
    return row.sequence ?? 0;
  }

  markReported(hostId: string): void {
    this.reportedHosts.add(hostId);
  }

  /**
   * True if a device already reported the host in this scan, judging by its entries.
   * @param polledAddress the address that is responding: a host reported nowhere else does not count
   */
  wasReported(hostId: string, polledAddress: string): boolean {
    if (this.reportedHosts.has(hostId)) return true;
    const n = this.tx.recordN(hostId) ?? 0;
    if (
      this.tx.db.$client
        .query("SELECT 1 FROM discovery_tellings WHERE host_n = +?1 AND ip_address <> +?2 LIMIT 1")
        .get(n, polledAddress) === null
    )
      return false;
    return this.tx
      .children(ifEntryKind, "host_n", hostId)
      .some((entry) => this.tx.observedOf(entry.id).last_discovery_id === this.scanId);
  }

  /** True if a user deleted the record with this identity. Does not apply to hosts. */
  isIgnored(kind: AnyKind, identity: string | null): boolean {
    if (kind.code === hostKind.code) return false;
    return (
      identity !== null &&
      isIgnorable(kind.name) &&
      this.tx.findByIdentity(ignoredKind, ignoredIdentity(kind.name, identity)) !== null
    );
  }

  /** Call once, at the end. */
  result(): Recorded {
    const total = new Counter();
    const perHost = new Map<
      string,
      { counter: Counter; own: "Created" | "Updated" | "Deleted" | null; label: string }
    >();
    for (const { kind, id, operation, before, after } of this.tx.takeNetChanges()) {
      total.add(kind.plural, operation);
      const record = (after ?? before) as RecordBase;
      const hostId = kind.code === hostKind.code ? id : containerId(kind, record, "host");
      if (hostId === null) {
        const finding = sharedFinding(kind, id, operation, record);
        if (finding !== null) this.findings.push(finding);
        continue;
      }
      const host = perHost.get(hostId) ?? { counter: new Counter(), own: null, label: hostId };
      perHost.set(hostId, host);
      if (kind.code === hostKind.code) host.own = operation;
      else host.counter.add(kind.plural, operation);
    }
    for (const [hostId, { counter, own }] of perHost) {
      if (own === "Deleted") continue;
      const host = this.tx.find(hostKind, hostId);
      if (host === null) continue;
      this.findings.push({
        type: own === "Created" ? "Created" : "Changed",
        entity: hostKind.name,
        id: hostId,
        label: host.name,
        reason: this.reasons.get(hostId) ?? "changed with another host",
        ...(counter.isEmpty ? {} : { records: counter.counts() }),
      });
    }
    return {
      records: total.counts(),
      findings: this.findings,
      hosts: this.hosts,
      ...(this.devices.length === 0 ? {} : { devices: this.devices }),
      ...(this.setAside.length === 0 ? {} : { set_aside: this.setAside }),
      ...(this.unfinished.length === 0 ? {} : { unfinished: this.unfinished }),
    };
  }

  private observedOf(kind: AnyKind): Observed {
    return kind.code === hostKind.code ? { last_seen_at: this.seen.last_seen_at ?? null } : this.seen;
  }
}

/** Keeps only unset fields and fields that the record lacks. */
function withoutContradictions<T extends object>(
  record: { readonly [Name in keyof T]?: unknown },
  reported: T,
  overridable: ReadonlyArray<keyof T>,
): T {
  const accepted = { ...reported };
  for (const field in reported)
    if (!overridable.includes(field) && (record[field] ?? null) !== null) delete accepted[field];
  return accepted;
}

/** Builds the finding for a subnet or VLAN. */
function sharedFinding(
  kind: AnyKind,
  id: string,
  operation: "Created" | "Updated" | "Deleted",
  record: RecordBase,
): Finding | null {
  if (operation === "Deleted") return null;
  const isNew = operation === "Created";
  return {
    type: isNew ? "Created" : "Changed",
    entity: kind.name,
    id,
    label: recordLabel(kind, record),
    reason: isNew ? "reported by a device" : "updated from devices",
  };
}

class Counter {
  private readonly byKind: Record<string, { created: number; updated: number; deleted: number }> = {};
  isEmpty = true;

  add(plural: string, operation: "Created" | "Updated" | "Deleted"): void {
    this.isEmpty = false;
    const counts = ownValue(this.byKind, plural) ?? { created: 0, updated: 0, deleted: 0 };
    this.byKind[plural] = counts;
    counts[operation === "Created" ? "created" : operation === "Updated" ? "updated" : "deleted"] += 1;
  }

  counts(): Readonly<Record<string, RecordCounts>> {
    return this.byKind;
  }
}
