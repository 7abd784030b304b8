// Makes the addresses, ports, services and bindings of a host match the lists of a write (specification 4.2).

import type { CommandActor } from "../../access/actor.ts";
import { invalid, type Issue } from "../../base/errors.ts";
import type { WriteTransaction } from "../../db/transaction.ts";
import { bindingKind, type BindingItem } from "../bindings/binding.ts";
import { syncBindings, type Surroundings } from "../bindings/sync.ts";
import { foreignIds } from "../host-children.ts";
import { addIpAddress, changeIpAddress, SubnetFinder } from "../ip-addresses/describe.ts";
import { ipAddressKind, type IpAddressItem } from "../ip-addresses/ip-address.ts";
import { match } from "../matching.ts";
import { addPort, changePort } from "../ports/describe.ts";
import { portKind, type PortItem, type PortRecord } from "../ports/port.ts";
import { removeRecord } from "../references.ts";
import { addService, changeService } from "../services/describe.ts";
import type { ServiceItem } from "../services/service-body.ts";
import { serviceKind, type ServiceRecord } from "../services/service.ts";
import type { HostRecord } from "./host.ts";

export interface ChildLists {
  readonly ip_addresses?: readonly IpAddressItem[] | null | undefined;
  readonly ports?: readonly PortItem[] | null | undefined;
  readonly services?: readonly ServiceItem[] | null | undefined;
}

/** @throws DomainError validation_failed with every offender of the lists; entity_reference_invalid */
export function syncChildren(tx: WriteTransaction, host: HostRecord, lists: ChildLists, actor: CommandActor): void {
  new ChildSync(tx, host, actor).run(lists);
}

class ChildSync {
  private readonly tx: WriteTransaction;
  private readonly host: HostRecord;
  private readonly actor: CommandActor;
  private readonly subnets: SubnetFinder;
  private readonly issues: Issue[] = [];
  private readonly removals: Array<() => void> = [];
  /** Ports and addresses that the lists no longer have. */
  private readonly removed = new Set<string>();
  /** Ids that items brought for records which exist under another: bindings of the same request may name them. */
  private readonly aliases = new Map<string, string>();

  constructor(tx: WriteTransaction, host: HostRecord, actor: CommandActor) {
    this.tx = tx;
    this.host = host;
    this.actor = actor;
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
    if (this.issues.length > 0) throw invalid(this.issues);
    // Last, when bindings have their new ports and addresses: what still names an old one goes with it.
    for (const remove of this.removals) remove();
  }

  /** @returns the ids of the host's addresses after the write */
  private addresses(items: readonly IpAddressItem[] | null | undefined): Set<string> {
    const { tx, host, actor } = this;
    const stored = tx.children(ipAddressKind, "host_n", host.id);
    if (items === null || items === undefined) return new Set(stored.map((each) => each.id));
    const matching = match(items, stored, (each) => each.ip_address, "/ip_addresses");
    this.issues.push(...matching.issues);
    const ids = new Set<string>();
    for (const { item, position, stored: record } of matching.matched) {
      const pointer = `/ip_addresses/${position}`;
      this.ownIds(item, pointer);
      const subnetId = this.subnets.find(item, record, pointer);
      if (typeof subnetId !== "string") {
        this.issues.push(subnetId);
        continue;
      }
      ids.add(record === null ? addIpAddress(tx, host, item, { subnetId, position }, actor).id : this.kept(item, changeIpAddress(tx, record, item, subnetId, actor)));
    }
    for (const { id } of matching.unmatched) {
      this.removed.add(id);
      this.removals.push(() => removeRecord(tx, ipAddressKind, id, true));
    }
    return ids;
  }

  private ports(items: readonly PortItem[] | null | undefined): Set<string> {
    const { tx, host } = this;
    const stored = tx.children(portKind, "host_n", host.id);
    if (items === null || items === undefined) return new Set(stored.map((each) => each.id));
    const matching = match(items, stored, (each: PortItem | PortRecord) => `${each.number}/${each.protocol}`, "/ports");
    this.issues.push(...matching.issues);
    const ids = new Set<string>();
    for (const { item, position, stored: record } of matching.matched) {
      this.ownIds(item, `/ports/${position}`);
      ids.add(record === null ? addPort(tx, host, item, this.actor).id : this.kept(item, changePort(tx, record, item)));
    }
    for (const { id } of matching.unmatched) {
      this.removed.add(id);
      this.removals.push(() => removeRecord(tx, portKind, id, true));
    }
    return ids;
  }

  private services(items: readonly ServiceItem[] | null | undefined, surroundings: Surroundings): void {
    if (items === null || items === undefined) return;
    const { tx, host, actor } = this;
    const stored = tx.children(serviceKind, "host_n", host.id);
    // A JSON array of both: a slash in one of them must not make two services one.
    const matching = match(items, stored, (each: ServiceItem | ServiceRecord) => JSON.stringify([each.service_definition, each.name]), "/services");
    this.issues.push(...matching.issues);
    for (const { item, position, stored: record } of matching.matched) {
      const pointer = `/services/${position}`;
      this.ownIds(item, pointer);
      const inBody = `${pointer.slice(1)}/`;
      const service = record === null ? addService(tx, host, item, position, actor, inBody) : changeService(tx, record, item, actor, inBody);
      this.bindings(service, item.bindings, surroundings, pointer);
    }
    for (const record of matching.unmatched) this.removals.push(() => removeRecord(tx, serviceKind, record.id, true));
  }

  private bindings(service: ServiceRecord, items: readonly BindingItem[] | null | undefined, surroundings: Surroundings, pointer: string): void {
    if (items === null || items === undefined) return;
    const { tx } = this;
    for (const { id } of syncBindings(tx, service, items, surroundings, this.actor, pointer, this.issues)) {
      this.removals.push(() => tx.find(bindingKind, id) !== null && removeRecord(tx, bindingKind, id, true));
    }
  }

  private ownIds(item: { host_id?: string | undefined; network_id?: string | undefined }, pointer: string): void {
    this.issues.push(...foreignIds(item, { host_id: this.host.id, network_id: this.host.network_id }, pointer));
  }

  private kept(item: { id?: string }, record: { id: string }): string {
    if (item.id !== undefined && item.id !== record.id) this.aliases.set(item.id, record.id);
    return record.id;
  }
}
