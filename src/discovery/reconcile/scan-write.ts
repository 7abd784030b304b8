// What every part of a scan's write shares: who writes, how a record is found anew or found again, what came of it. Knows no protocol.

import type { CommandActor } from "../../access/actor.ts";
import { formatInstant } from "../../base/instant.ts";
import type { AnyKind, Kind, Observed, RecordBase } from "../../db/kind.ts";
import type { WriteTransaction } from "../../db/transaction.ts";
import type { Discoverable } from "../../resources/discovered.ts";
import { hostKind, type HostRecord } from "../../resources/hosts/host.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import {
  ignoredIdentity,
  ignoredKind,
  isIgnorable,
  type IgnoredEntity,
  type IgnoredRecord,
} from "../../resources/ignored/ignored.ts";
import { removeRecord } from "../../resources/references.ts";
import type { RowReason } from "../rows.ts";
import type { Finding, Recorded, RecordCounts, SeenDevice, Unfinished } from "../sightings.ts";
import { HostIndex } from "./host-index.ts";
import { isSetByPerson } from "./provenance.ts";
import { mergeTold } from "./told-fields.ts";

export interface ScanInput {
  readonly scan_id: string;
  readonly network_id: string;
  /** CIDRs that the scan was told to look through. */
  readonly blocks?: readonly string[];
  /** Whether an Admin named them: a subnet that is made of one accepts credentials. */
  readonly are_blocks_accepting?: boolean;
}

/** A told value for each field; see mergeTold. */
export type Told = Readonly<Record<string, unknown>>;

/**
 * VLANs that interfaces of a command begin or cease to be in. Each is a row with two indexes: the 2,000,000 of a large switch would hold up
 * all other writers for as long as a quarter of a minute.
 */
export const VLAN_CHANGES_OF_COMMAND = 100_000;

/** What transactions that stay open over several commands (of a scan that only tells what it would do) remember between them. */
const INDEXES = new WeakMap<WriteTransaction, HostIndex>();
const HEARD = new WeakMap<WriteTransaction, Set<string>>();

export class ScanWrite {
  readonly tx: WriteTransaction;
  readonly actor: CommandActor;
  readonly scanId: string;
  readonly networkId: string;
  readonly index: HostIndex;
  /** The observation values of what was just seen. */
  readonly seen: Observed;
  /** The records that were marked as seen since somebody last began to collect them. */
  seenIds = new Set<string>();
  /**
   * Whether what is written now was told by a second device that counts as the host which another one has told of before in this scan. What the first
   * has said stands: or the two would write over each other with every scan, in whatever order they answer.
   */
  isSecondTelling = false;
  /** Whether what is written now was written in part already: what is to be told of it was told. */
  isContinued = false;
  private vlanRoom = VLAN_CHANGES_OF_COMMAND;
  private readonly unfinished: Unfinished[] = [];
  private readonly heard: Set<string>;
  private ignored: Map<IgnoredEntity, IgnoredRecord[]> | null = null;
  private readonly findings: Finding[] = [];
  private readonly reasons = new Map<string, string>();
  /** The devices that answered, by where they did. */
  readonly devices: SeenDevice[] = [];
  /** What was heard of and is not kept. */
  readonly setAside: Array<{ readonly ip_address: string; readonly reason: RowReason }> = [];
  private readonly hosts: Array<{ ip_address: string; host_id: string }> = [];

  constructor(tx: WriteTransaction, input: ScanInput, actor: CommandActor) {
    this.tx = tx;
    this.actor = actor;
    this.scanId = input.scan_id;
    this.networkId = input.network_id;
    const index = INDEXES.get(tx) ?? new HostIndex(tx, input.network_id);
    INDEXES.set(tx, index);
    this.index = index;
    this.heard = HEARD.get(tx) ?? new Set();
    HEARD.set(tx, this.heard);
    this.seen = { last_discovery_id: input.scan_id, last_seen_at: formatInstant(tx.instant) };
  }

  /**
   * A record of what was seen for the first time.
   * @param isIgnored whether a person has deleted the same thing, where more than its identity tells that
   * @returns null where a person has: it does not come back by itself
   */
  found<R extends RecordBase>(kind: Kind<R>, fields: object, isIgnored?: boolean): R | null {
    const draft = {
      ...fields,
      ...(kind.observed.includes("last_discovery_id") ? { first_discovery_id: this.scanId } : {}),
    };
    if (isIgnored ?? this.isIgnored(kind, draft)) return null;
    const record = this.tx.create(kind, this.actor.organizationId, draft as unknown as R, {
      observed: this.observedOf(kind),
    });
    if (kind.observed.length > 0) this.seenIds.add(record.id);
    return record;
  }

  /**
   * A record of what was seen again, brought to what was told of it. What it says already is no change.
   * @param unsaid by field, what it has where nobody says anything, besides null and ""
   * @param open fields that a second telling may change as well
   */
  again<R extends RecordBase & Discoverable>(
    kind: Kind<R>,
    record: R,
    told: Told,
    unsaid: Readonly<Record<string, unknown>> = {},
    open: readonly string[] = [],
  ): R {
    const none = kind.absent === "omitted" ? undefined : null;
    const news = this.isSecondTelling ? withoutContradictions(record, told, open) : told;
    const changes = mergeTold(record, news, none, (field) =>
      isSetByPerson(this.tx, record.id, field, [null, "", ...(field in unsaid ? [unsaid[field]] : [])]),
    );
    if (record.stale_since !== undefined) changes["stale_since"] = undefined;
    let isChanged = false;
    for (const _field in changes) isChanged = true;
    const now = isChanged ? this.tx.update(kind, record.id, changes as Partial<R>) : record;
    this.see(kind, record.id);
    return now;
  }

  /** Marks a record as seen. */
  see(kind: AnyKind, id: string): void {
    this.tx.observe(kind, id, this.observedOf(kind));
    this.seenIds.add(id);
  }

  /** Ends a record that is positively not there any more. @param reason one clause */
  close(kind: AnyKind, record: RecordBase, label: string, reason: string): void {
    removeRecord(this.tx, kind, record.id, true);
    this.findings.push({ type: "Closed", entity: kind.name, id: record.id, label, reason });
  }

  tell(finding: Finding): void {
    if (!this.isContinued) this.findings.push(finding);
  }

  /** Whether an interface may change that many of its VLANs in this command; the first one always. */
  mayChangeVlans(count: number): boolean {
    if (count > this.vlanRoom && this.vlanRoom < VLAN_CHANGES_OF_COMMAND) return false;
    this.vlanRoom -= count;
    return true;
  }

  /** Says that what was told where a device answered is not all written. */
  leaveUnfinished(address: string): void {
    this.unfinished.push({ ip_address: address, is_second_telling: this.isSecondTelling });
  }

  /** Says that a device tells of more than is kept. @param what kind of records, in the plural */
  tellLimit(host: HostRecord, what: string, left: number, most: number): void {
    this.tell({
      type: "Partial",
      entity: hostKind.name,
      id: host.id,
      label: `${host.name}: ${what}`,
      reason: `${left} of what it told were left out: ${most} are kept at most`,
    });
  }

  /** Says how a host was seen, for the line in the outcome that tells its changes. */
  sawHost(hostId: string, address: string, reason: string): void {
    this.hosts.push({ ip_address: address, host_id: hostId });
    if (!this.reasons.has(hostId)) this.reasons.set(hostId, reason);
  }

  /** What people have deleted in the network, of one kind; read once for each write. */
  ignoredOf(entity: IgnoredEntity): readonly IgnoredRecord[] {
    this.ignored ??= Map.groupBy(this.tx.children(ignoredKind, "network_n", this.networkId), (record) => record.entity);
    return this.ignored.get(entity) ?? [];
  }

  /** Says that a device told of a host. */
  heardHost(hostId: string): void {
    this.heard.add(hostId);
  }

  /**
   * Whether a device told of a host before in this scan, as far as its interface entries show that.
   * @param asked where it is told of now: a host that never was told of anywhere else was not told of before
   */
  wasHeard(hostId: string, asked: string): boolean {
    if (this.heard.has(hostId)) return true;
    const n = this.tx.recordN(hostId) ?? 0;
    if (
      this.tx.db.$client
        .query("SELECT 1 FROM discovery_tellings WHERE host_n = ?1 AND ip_address <> ?2 LIMIT 1")
        .get(n, asked) === null
    )
      return false;
    return this.tx
      .children(ifEntryKind, "host_n", hostId)
      .some((entry) => this.tx.observedOf(entry.id).last_discovery_id === this.scanId);
  }

  /** Whether a person has deleted this very thing. */
  isIgnored(kind: AnyKind, draft: object): boolean {
    if (kind.code === hostKind.code) return false;
    const identity = kind.identity(draft as never);
    return (
      identity !== null &&
      isIgnorable(kind.name) &&
      this.tx.findByIdentity(ignoredKind, ignoredIdentity(kind.name, identity)) !== null
    );
  }

  /** What came of it, to be asked once, at the end. */
  result(): Recorded {
    const total = new Counter();
    const perHost = new Map<
      string,
      { counter: Counter; own: "Created" | "Updated" | "Deleted" | null; label: string }
    >();
    for (const { kind, id, operation, before, after } of this.tx.takeNetChanges()) {
      total.add(kind.plural, operation);
      const record = (after ?? before) as RecordBase;
      const hostId = kind.code === hostKind.code ? id : kind.scopeIds(record).host;
      if (typeof hostId !== "string") {
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

/** What was told of fields that are open, or that the record says nothing about yet. */
function withoutContradictions(record: object, told: Told, open: readonly string[]): Told {
  const said = record as Readonly<Record<string, unknown>>;
  const isOpen = (field: string) => open.includes(field) || said[field] === undefined || said[field] === null;
  return Object.fromEntries(Object.entries(told).filter(([field]) => isOpen(field)));
}

/** A line for what is no host's: a subnet, a VLAN. */
function sharedFinding(
  kind: AnyKind,
  id: string,
  operation: "Created" | "Updated" | "Deleted",
  record: RecordBase,
): Finding | null {
  if (operation === "Deleted") return null;
  const { name, cidr, number } = record as { name?: string; cidr?: string; number?: number };
  const label = cidr ?? (number === undefined ? (name ?? id) : `${number} ${name ?? ""}`.trim());
  const isNew = operation === "Created";
  return {
    type: isNew ? "Created" : "Changed",
    entity: kind.name,
    id,
    label,
    reason: isNew ? "a device has it" : "devices say so",
  };
}

class Counter {
  private readonly byKind: Record<string, { created: number; updated: number; deleted: number }> = {};
  isEmpty = true;

  add(plural: string, operation: "Created" | "Updated" | "Deleted"): void {
    this.isEmpty = false;
    const counts = (this.byKind[plural] ??= { created: 0, updated: 0, deleted: 0 });
    counts[operation === "Created" ? "created" : operation === "Updated" ? "updated" : "deleted"] += 1;
  }

  counts(): Readonly<Record<string, RecordCounts>> {
    return this.byKind;
  }
}
