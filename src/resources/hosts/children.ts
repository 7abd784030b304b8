// Makes the addresses, ports, services, bindings and credential assignments of a host match the lists of a write
// (handbook: records, "A host and its children"). Goes through all of them, whatever is refused: what is wrong is
// noted, and someone else refuses the write.

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

/** What a write says of what belongs to a host, besides its interface entries; null or left out: it stays as it is. */
export interface HostChildren extends ChildLists {
  readonly credential_assignments?: readonly HostSideItem[] | null | undefined;
}

export interface WrittenHost {
  readonly host: HostRecord;
  /** Then there is nothing to look for. */
  readonly isNew: boolean;
  /** The host's place in the body: gets what is wrong. */
  readonly whole: ItemPart;
  /**
   * Ids that the write brings for what was refused: what names one of them is not wrong for that. Gets those of this
   * host.
   */
  readonly absent: Set<string>;
}

/** Makes what belongs to a host what a write says of it. */
export function writeHostChildren(
  tx: WriteTransaction,
  written: WrittenHost,
  children: HostChildren,
  actor: CommandActor,
): void {
  const { host, whole, absent } = written;
  new ChildSync(tx, written, actor).run(children);
  const { credential_assignments: assignments } = children;
  if (assignments === null || assignments === undefined) return;
  const sound =
    absent.size === 0
      ? assignments
      : assignments.map((each) => ({
          ...each,
          ip_address_ids: each.ip_address_ids?.filter((id) => !absent.has(id)) ?? null,
        }));
  setHostAssignments(tx, host.id, host.network_id, sound, actor, whole);
}

/** Of an address whose subnet was refused: it stands in for what names it, and nothing will be written. */
const NO_SUBNET = "";

class ChildSync {
  private readonly tx: WriteTransaction;
  private readonly host: HostRecord;
  private readonly actor: CommandActor;
  private readonly isNew: boolean;
  private readonly whole: ItemPart;
  private readonly subnets: SubnetFinder;
  private readonly removals: Array<() => void> = [];
  /** Ports and addresses that the lists no longer have. */
  private readonly removed = new Set<string>();
  private readonly absent: Set<string>;
  /** Ids that items brought for records which exist under another: bindings of the same request may name them. */
  private readonly aliases = new Map<string, string>();

  constructor(tx: WriteTransaction, { host, isNew, whole, absent }: WrittenHost, actor: CommandActor) {
    this.absent = absent;
    this.tx = tx;
    this.host = host;
    this.isNew = isNew;
    this.actor = actor;
    this.whole = whole;
    this.subnets = new SubnetFinder(tx, host.network_id, actor);
  }

  run(lists: ChildLists): void {
    const addressIds = this.addresses(lists.ip_addresses);
    const portIds = this.ports(lists.ports);
    this.services(lists.services, {
      targets: { hasPort: (id) => portIds.has(id), hasAddress: (id) => addressIds.has(id) },
      isRemoved: (id) => this.removed.has(id),
      actual: (id) => this.aliases.get(id) ?? id,
    });
    // Last, when bindings have their new ports and addresses: what still names an old one goes with it.
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
    this.whole.note(...matching.issues);
    const ids = new Set<string>();
    for (const { item, position, stored: record } of matching.matched) {
      const place = this.placeOf("ip_addresses", position, item);
      const subnetId = place.attempt(() => this.subnets.find(item, record, place.pointer)) ?? NO_SUBNET;
      const written = place.attempt(() =>
        record === null
          ? addIpAddress(tx, host, item, { subnetId, position }, actor)
          : changeIpAddress(tx, record, item, subnetId, actor),
      );
      this.has(ids, item, record ?? written);
      if (record === null && written === null && item.id !== undefined) this.absent.add(item.id);
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
    this.whole.note(...matching.issues);
    const ids = new Set<string>();
    for (const { item, position, stored: record } of matching.matched) {
      const place = this.placeOf("ports", position, item);
      this.has(
        ids,
        item,
        record === null ? place.attempt(() => addPort(tx, host, item, actor)) : changePort(tx, record, item),
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
    this.whole.note(...matching.issues);
    for (const { item, position, stored: record } of matching.matched) {
      const place = this.placeOf("services", position, item);
      const service = place.attempt(() =>
        record === null
          ? addService(tx, host, item, position, actor, place)
          : changeService(tx, record, item, actor, place),
      );
      if (service !== null) this.bindings(service, item.bindings, context, place);
      else if (item.id !== undefined) this.absent.add(item.id);
    }
    for (const record of matching.unmatched) this.removals.push(() => removeRecord(tx, serviceKind, record.id, true));
  }

  private bindings(
    service: ServiceRecord,
    items: readonly BindingItem[] | null | undefined,
    context: SyncContext,
    place: ItemPart,
  ): void {
    if (items === null || items === undefined) return;
    const { tx } = this;
    for (const { id } of syncBindings(tx, service, items, context, this.actor, place)) {
      this.removals.push(() => tx.find(bindingKind, id) !== null && removeRecord(tx, bindingKind, id, true));
    }
  }

  private stored<R extends RecordBase>(kind: Kind<R>): R[] {
    return this.isNew ? [] : this.tx.children(kind, "host_n", this.host.id);
  }

  /** Where an item stands, its ids looked at. */
  private placeOf(
    list: keyof ChildLists,
    position: number,
    item: { host_id?: string | undefined; network_id?: string | undefined },
  ): ItemPart {
    const { host, whole } = this;
    const place = whole.at(`/${list}/${position}`);
    place.note(...mismatchedParentIds(item, { host_id: host.id, network_id: host.network_id }, place.pointer));
    return place;
  }

  /**
   * Counts what an item stands for among what the host has after the write; also where it was refused: what names it is
   * not wrong for that.
   */
  private has(ids: Set<string>, item: { id?: string }, record: { id: string } | null): void {
    const id = record?.id ?? item.id;
    if (id === undefined) return;
    ids.add(id);
    if (item.id !== undefined && item.id !== id) this.aliases.set(item.id, id);
  }
}
