// Synchronizes a host's addresses, ports, services, bindings and credential assignments with the lists of a write
// (handbook: records, "A host and its children"). Processes all lists despite errors: notes each issue and leaves the
// rejection to the caller.

import type { CommandActor } from "../../access/actor.ts";
import type { Kind, RecordBase } from "../../db/kind.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { type BindingItem, bindingKind } from "../bindings/binding.ts";
import { type SyncContext, syncBindings } from "../bindings/sync.ts";
import { type HostSideItem, setHostAssignments } from "../credential-assignments/assignments.ts";
import { removeRecord } from "../ignored/removal.ts";
import { addIpAddress, changeIpAddress, SubnetFinder } from "../ip-addresses/apply.ts";
import { type IpAddressItem, type IpAddressRecord, ipAddressKind } from "../ip-addresses/ip-address.ts";
import type { ItemPart } from "../issues.ts";
import { match } from "../matching.ts";
import { addPort, changePort } from "../ports/apply.ts";
import { type PortItem, type PortRecord, portKind } from "../ports/port.ts";
import { addService, changeService } from "../services/apply.ts";
import { type ServiceRecord, serviceKind } from "../services/service.ts";
import type { ServiceItem } from "../services/service-body.ts";
import type { HostRecord } from "./host.ts";
import { mismatchedParentIds } from "./new-child.ts";

export interface ChildLists {
  readonly ip_addresses?: readonly IpAddressItem[] | null | undefined;
  readonly ports?: readonly PortItem[] | null | undefined;
  readonly services?: readonly ServiceItem[] | null | undefined;
}

/** Children of a host in a write, except interface entries; null or omitted lists leave them unchanged. */
export interface HostChildren extends ChildLists {
  readonly credential_assignments?: readonly HostSideItem[] | null | undefined;
}

export interface WrittenHost {
  readonly host: HostRecord;
  /** New hosts have no stored children to look up. */
  readonly isNew: boolean;
  /** The host in the body; collects the errors. */
  readonly part: ItemPart;
  /**
   * Ids in the request whose records were rejected: references to them are not reported as errors. Rejected ids of this
   * host are added.
   */
  readonly rejectedIds: Set<string>;
}

/** Makes the children of a host match a write. */
export function writeHostChildren(
  tx: WriteTransaction,
  written: WrittenHost,
  children: HostChildren,
  actor: CommandActor,
): void {
  const { host, part, rejectedIds } = written;
  new ChildSync(tx, written, actor).run(children);
  const { credential_assignments: assignments } = children;
  if (assignments === null || assignments === undefined) return;
  const remaining =
    rejectedIds.size === 0
      ? assignments
      : assignments.map((each) => ({
          ...each,
          ip_address_ids: each.ip_address_ids?.filter((id) => !rejectedIds.has(id)) ?? null,
        }));
  setHostAssignments(tx, host.id, host.network_id, remaining, actor, part);
}

/**
 * Placeholder subnet of an address with a rejected subnet: references to the address still resolve, and nothing is
 * written.
 */
const NO_SUBNET = "";

class ChildSync {
  private readonly tx: WriteTransaction;
  private readonly host: HostRecord;
  private readonly actor: CommandActor;
  private readonly isNew: boolean;
  private readonly part: ItemPart;
  private readonly subnets: SubnetFinder;
  private readonly removals: Array<() => void> = [];
  /** Ports and addresses missing from the new lists. */
  private readonly removed = new Set<string>();
  private readonly rejectedIds: Set<string>;
  /** Request ids of records that exist under another id: bindings of the same request may reference them. */
  private readonly aliases = new Map<string, string>();

  constructor(tx: WriteTransaction, { host, isNew, part, rejectedIds }: WrittenHost, actor: CommandActor) {
    this.rejectedIds = rejectedIds;
    this.tx = tx;
    this.host = host;
    this.isNew = isNew;
    this.actor = actor;
    this.part = part;
    this.subnets = new SubnetFinder(tx, host.network_id, actor);
  }

  run(lists: ChildLists): void {
    const addressIds = this.addresses(lists.ip_addresses);
    const portIds = this.ports(lists.ports);
    this.services(lists.services, {
      targets: { hasPort: (id) => portIds.has(id), hasAddress: (id) => addressIds.has(id) },
      isRemoved: (id) => this.removed.has(id),
      resolveId: (id) => this.aliases.get(id) ?? id,
    });
    // Runs last, after bindings have their new ports and addresses: bindings to removed ones are deleted with them.
    for (const remove of this.removals) remove();
  }

  /** @returns the ids of the host's addresses after the write */
  private addresses(items: readonly IpAddressItem[] | null | undefined): Set<string> {
    const { tx, host, actor } = this;
    const stored = this.stored(ipAddressKind);
    if (items === null || items === undefined) return new Set(stored.map((each) => each.id));
    const matching = match(
      items,
      stored,
      ({ ip_address }: IpAddressItem | IpAddressRecord) => ({ ip_address }),
      "/ip_addresses",
    );
    this.part.note(...matching.issues);
    const ids = new Set<string>();
    for (const { item, position, stored: record } of matching.matched) {
      const itemPart = this.partOf("ip_addresses", position, item);
      const subnetId = itemPart.attempt(() => this.subnets.find(item, record, itemPart.pointer)) ?? NO_SUBNET;
      const written = itemPart.attempt(() =>
        record === null
          ? addIpAddress(tx, host, item, { subnetId, position }, actor)
          : changeIpAddress(tx, record, item, subnetId, actor),
      );
      this.trackId(ids, item, record ?? written);
      if (record === null && written === null && item.id !== undefined) this.rejectedIds.add(item.id);
    }
    for (const { id } of matching.unmatched) {
      this.removed.add(id);
      this.removals.push(() => removeRecord(tx, ipAddressKind, id, true));
    }
    return ids;
  }

  private ports(items: readonly PortItem[] | null | undefined): Set<string> {
    const { tx, host, actor } = this;
    const stored = this.stored(portKind);
    if (items === null || items === undefined) return new Set(stored.map((each) => each.id));
    const matching = match(
      items,
      stored,
      ({ number, protocol }: PortItem | PortRecord) => ({ number, protocol }),
      "/ports",
    );
    this.part.note(...matching.issues);
    const ids = new Set<string>();
    for (const { item, position, stored: record } of matching.matched) {
      const itemPart = this.partOf("ports", position, item);
      this.trackId(
        ids,
        item,
        record === null ? itemPart.attempt(() => addPort(tx, host, item, actor)) : changePort(tx, record, item),
      );
    }
    for (const { id } of matching.unmatched) {
      this.removed.add(id);
      this.removals.push(() => removeRecord(tx, portKind, id, true));
    }
    return ids;
  }

  private services(items: readonly ServiceItem[] | null | undefined, context: SyncContext): void {
    if (items === null || items === undefined) return;
    const { tx, host, actor } = this;
    const matching = match(
      items,
      this.stored(serviceKind),
      ({ name, service_definition }: ServiceItem | ServiceRecord) => ({ name, service_definition }),
      "/services",
    );
    this.part.note(...matching.issues);
    for (const { item, position, stored: record } of matching.matched) {
      const itemPart = this.partOf("services", position, item);
      const service = itemPart.attempt(() =>
        record === null
          ? addService(tx, host, item, position, actor, itemPart)
          : changeService(tx, record, item, actor, itemPart),
      );
      if (service !== null) this.bindings(service, item.bindings, context, itemPart);
      else if (item.id !== undefined) this.rejectedIds.add(item.id);
    }
    for (const record of matching.unmatched) this.removals.push(() => removeRecord(tx, serviceKind, record.id, true));
  }

  private bindings(
    service: ServiceRecord,
    items: readonly BindingItem[] | null | undefined,
    context: SyncContext,
    itemPart: ItemPart,
  ): void {
    if (items === null || items === undefined) return;
    const { tx } = this;
    for (const { id } of syncBindings(tx, service, items, context, this.actor, itemPart)) {
      this.removals.push(() => tx.find(bindingKind, id) !== null && removeRecord(tx, bindingKind, id, true));
    }
  }

  private stored<R extends RecordBase>(kind: Kind<R>): R[] {
    return this.isNew ? [] : this.tx.children(kind, "host_n", this.host.id);
  }

  /** The part of an item, with its parent ids checked. */
  private partOf(
    list: keyof ChildLists,
    position: number,
    item: { host_id?: string | undefined; network_id?: string | undefined },
  ): ItemPart {
    const { host, part } = this;
    const itemPart = part.at(`/${list}/${position}`);
    itemPart.note(...mismatchedParentIds(item, { host_id: host.id, network_id: host.network_id }, itemPart.pointer));
    return itemPart;
  }

  /**
   * Counts the record of an item among the host's children after the write, even a rejected one: references to it are
   * not reported as errors.
   */
  private trackId(ids: Set<string>, item: { id?: string }, record: { id: string } | null): void {
    const id = record?.id ?? item.id;
    if (id === undefined) return;
    ids.add(id);
    if (item.id !== undefined && item.id !== id) this.aliases.set(item.id, id);
  }
}
