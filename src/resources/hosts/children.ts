// Makes the addresses, ports, services and bindings of a host match the lists of a write (specification 4.2).

import { requireRole, type CommandActor } from "../../access/actor.ts";
import { getReferenced } from "../../access/reach.ts";
import { invalid, referenceInvalid, type Issue } from "../../base/errors.ts";
import { formatInstant } from "../../base/instant.ts";
import { cidrContains, cidrOf, parseCidr, parseIp, type Ip } from "../../base/ip.ts";
import type { WriteTransaction } from "../../db/transaction.ts";
import { bindingKind, type BindingItem, type BindingRecord } from "../bindings/binding.ts";
import { ipAddressKind, type IpAddressRecord } from "../ip-addresses/ip-address.ts";
import { portType } from "../ports/port-type.ts";
import { portKind, type PortRecord } from "../ports/port.ts";
import { removeRecord } from "../references.ts";
import { serviceKind, type ServiceRecord } from "../services/service.ts";
import { MANUAL } from "../source.ts";
import { subnetKind, type SubnetRecord } from "../subnets/subnet.ts";
import { existingTags } from "../tags/tag.ts";
import { assertVirtualizingService } from "../services/virtualizing.ts";
import type { HostRecord } from "./host.ts";
import type { IpAddressItem, PortItem, ServiceItem } from "./host-body.ts";
import { match } from "./sync.ts";

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
  private readonly issues: Issue[] = [];
  private readonly removals: Array<() => void> = [];
  /** Ports and addresses that the lists no longer have. */
  private readonly removed = new Set<string>();
  /** Ids that items brought for records which exist under another: bindings of the same request may name them. */
  private readonly aliases = new Map<string, string>();
  private readonly seen: string;
  /** The network's subnets, read when the first address asks. */
  private subnets: ((ip: Ip) => string | null) | null = null;

  constructor(tx: WriteTransaction, host: HostRecord, actor: CommandActor) {
    this.tx = tx;
    this.host = host;
    this.actor = actor;
    this.seen = formatInstant(tx.instant);
  }

  run(lists: ChildLists): void {
    const addressIds = this.addresses(lists.ip_addresses);
    const portIds = this.ports(lists.ports);
    this.services(lists.services, addressIds, portIds);
    if (this.issues.length > 0) throw invalid(this.issues);
    // Last, when bindings have their new ports and addresses: what still names an old one goes with it.
    for (const remove of this.removals) remove();
  }

  /** @returns the ids of the host's addresses after the write */
  private addresses(items: readonly IpAddressItem[] | null | undefined): Set<string> {
    const { tx, host } = this;
    const stored = tx.children(ipAddressKind, "host_n", host.id);
    if (items === null || items === undefined) return new Set(stored.map((each) => each.id));
    const matching = match(items, stored, (each) => each.ip_address, "/ip_addresses");
    this.issues.push(...matching.issues);
    const ids = new Set<string>();
    for (const { item, position, stored: record } of matching.matched) {
      this.ownIds(item, `/ip_addresses/${position}`);
      const subnetId = this.subnetOf(item, record, `/ip_addresses/${position}`);
      if (subnetId === null) continue;
      if (record !== null && record.ip_address !== item.ip_address) this.assertMayMove(record);
      const fields = {
        subnet_id: subnetId,
        ip_address: item.ip_address,
        mac_address: item.mac_address === undefined ? (record?.mac_address ?? null) : item.mac_address,
        name: item.name === undefined ? (record?.name ?? "") : (item.name ?? ""),
        position: item.position ?? record?.position ?? position,
      };
      ids.add(
        record === null
          ? tx.create(ipAddressKind, this.actor.organizationId, { host_id: host.id, network_id: host.network_id, ...fields, first_discovery_id: null }, this.options(item)).id
          : this.kept(item, tx.update(ipAddressKind, record.id, fields)),
      );
    }
    for (const { id } of matching.unmatched) {
      this.removed.add(id);
      this.removals.push(() => removeRecord(tx, ipAddressKind, id, true));
    }
    return ids;
  }

  /** A credential sent to an address of one's own choice is given away. */
  private assertMayMove(address: IpAddressRecord): void {
    if (this.tx.referringTo("ip_address_ids", address.id).length > 0) {
      requireRole(this.actor.role, "Admin", `Changing the address ${address.ip_address}, which a credential is assigned to,`);
    }
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
      const fields = { number: item.number, protocol: item.protocol, type: portType(item.number, item.protocol) };
      ids.add(
        record === null
          ? tx.create(portKind, this.actor.organizationId, { host_id: host.id, network_id: host.network_id, ...fields, first_discovery_id: null }, this.options(item)).id
          : this.kept(item, tx.update(portKind, record.id, fields)),
      );
    }
    for (const { id } of matching.unmatched) {
      this.removed.add(id);
      this.removals.push(() => removeRecord(tx, portKind, id, true));
    }
    return ids;
  }

  private services(items: readonly ServiceItem[] | null | undefined, addressIds: Set<string>, portIds: Set<string>): void {
    if (items === null || items === undefined) return;
    const { tx, host } = this;
    const stored = tx.children(serviceKind, "host_n", host.id);
    // A JSON array of both: a slash in one of them must not make two services one.
    const matching = match(items, stored, (each: ServiceItem | ServiceRecord) => JSON.stringify([each.service_definition, each.name]), "/services");
    this.issues.push(...matching.issues);
    for (const { item, position, stored: record } of matching.matched) {
      const pointer = `/services/${position}`;
      this.ownIds(item, pointer);
      assertVirtualizingService(tx, item.virtualization, host.network_id, `services/${position}/virtualization/details/service_id`, this.actor);
      const fields = {
        name: item.name,
        position: item.position ?? record?.position ?? position,
        service_definition: item.service_definition,
        tags: item.tags === undefined ? (record?.tags ?? []) : existingTags(tx, item.tags, this.actor, `services/${position}/tags`),
        virtualization: item.virtualization === undefined ? (record?.virtualization ?? null) : item.virtualization,
      };
      const service =
        record === null
          ? tx.create(serviceKind, this.actor.organizationId, { host_id: host.id, network_id: host.network_id, source: MANUAL, ...fields, first_discovery_id: null }, this.options(item))
          : tx.update(serviceKind, record.id, fields);
      this.bindings(service, item.bindings, addressIds, portIds, pointer);
    }
    for (const record of matching.unmatched) this.removals.push(() => removeRecord(tx, serviceKind, record.id, true));
  }

  private bindings(service: ServiceRecord, items: readonly BindingItem[] | null | undefined, addressIds: Set<string>, portIds: Set<string>, pointer: string): void {
    if (items === null || items === undefined) return;
    const { tx, host } = this;
    const resolved = items.map((item) => ({
      ...(item.id === undefined ? {} : { id: item.id }),
      service_id: item.service_id,
      host_id: item.host_id,
      network_id: item.network_id,
      type: item.type,
      port_id: item.type === "Port" ? this.actual(item.port_id) : null,
      ip_address_id: item.ip_address_id === null || item.ip_address_id === undefined ? null : this.actual(item.ip_address_id),
    }));
    const stored = tx.children(bindingKind, "service_n", service.id).filter((each) => each.service_id === service.id);
    const identityOf = (each: { type: string; port_id: string | null; ip_address_id: string | null }) => `${each.type}/${each.port_id ?? ""}/${each.ip_address_id ?? ""}`;
    const matching = match<(typeof resolved)[number], BindingRecord>(resolved, stored, identityOf, `${pointer}/bindings`);
    this.issues.push(...matching.issues);
    for (const { item, position, stored: record } of matching.matched) {
      const place = `${pointer}/bindings/${position}`;
      this.ownIds(item, place);
      if (item.service_id !== undefined && item.service_id !== service.id) this.issues.push({ path: `${place}/service_id`, message: "must be the service's own id", value: item.service_id });
      // Sent back as it was, with only the port or address taken off its list: it goes with that.
      const isAsItWas = record !== null && identityOf(record) === identityOf(item);
      if (isAsItWas && [item.port_id, item.ip_address_id].some((id) => id !== null && this.removed.has(id))) continue;
      const wrongPort = item.port_id !== null && !portIds.has(item.port_id);
      if (wrongPort) throw referenceInvalid("port", `${place.slice(1)}/port_id`, [item.port_id as string]);
      const wrongAddress = item.ip_address_id !== null && !addressIds.has(item.ip_address_id);
      if (wrongAddress) throw referenceInvalid("ip_address", `${place.slice(1)}/ip_address_id`, [item.ip_address_id as string]);
      const fields = { type: item.type, port_id: item.port_id, ip_address_id: item.ip_address_id };
      if (record === null) {
        tx.create(bindingKind, this.actor.organizationId, { service_id: service.id, host_id: host.id, network_id: host.network_id, ...fields, first_discovery_id: null }, this.options(item));
      } else {
        tx.update(bindingKind, record.id, fields);
      }
    }
    for (const record of matching.unmatched) this.removals.push(() => tx.find(bindingKind, record.id) !== null && removeRecord(tx, bindingKind, record.id, true));
  }

  /** The subnet of an address: as told, as it was, or the most specific one of the network that contains it; null with an issue noted. */
  private subnetOf(item: IpAddressItem, record: IpAddressRecord | null, pointer: string): string | null {
    const { tx, host } = this;
    const ip = parseIp(item.ip_address) as Ip;
    if (item.subnet_id !== undefined && item.subnet_id !== null) {
      const field = `${pointer.slice(1)}/subnet_id`;
      const subnet = getReferenced(tx, subnetKind, [item.subnet_id], field, this.actor)[0] as SubnetRecord;
      if (subnet.network_id !== host.network_id) throw referenceInvalid("subnet", field, [item.subnet_id]);
      const prefix = parseCidr(subnet.cidr);
      if (prefix !== null && cidrContains(prefix, ip)) return subnet.id;
      this.issues.push({ path: `${pointer}/subnet_id`, message: `is the subnet ${subnet.cidr}, which does not contain ${item.ip_address}`, value: item.subnet_id });
      return null;
    }
    if (record !== null && record.ip_address === item.ip_address) return record.subnet_id;
    this.subnets ??= subnetsByPrefix(tx, host.network_id);
    const subnetId = this.subnets(ip);
    if (subnetId !== null) return subnetId;
    this.issues.push({ path: `${pointer}/ip_address`, message: "is in no subnet of the host's network; create the subnet first", value: item.ip_address });
    return null;
  }

  private ownIds(item: { host_id?: string | undefined; network_id?: string | undefined }, pointer: string): void {
    if (item.host_id !== undefined && item.host_id !== this.host.id) this.issues.push({ path: `${pointer}/host_id`, message: "must be the host's own id", value: item.host_id });
    if (item.network_id !== undefined && item.network_id !== this.host.network_id) {
      this.issues.push({ path: `${pointer}/network_id`, message: "must be the host's own network_id", value: item.network_id });
    }
  }

  private options(item: { id?: string }): { id?: string; observed: { last_seen_at: string } } {
    return { ...(item.id === undefined ? {} : { id: item.id }), observed: { last_seen_at: this.seen } };
  }

  private kept(item: { id?: string }, record: { id: string }): string {
    if (item.id !== undefined && item.id !== record.id) this.aliases.set(item.id, record.id);
    return record.id;
  }

  private actual(id: string): string {
    return this.aliases.get(id) ?? id;
  }
}

/**
 * The subnets of a network as a look-up: the one with the longest prefix that contains an address, or null. Tries only the
 * prefix lengths that there are, so that ten thousand addresses of a bulk do not ask the store a million times.
 */
function subnetsByPrefix(tx: WriteTransaction, networkId: string): (ip: Ip) => string | null {
  const idOf = new Map<string, string>();
  const lengths = { 4: new Set<number>(), 6: new Set<number>() };
  for (const subnet of tx.children(subnetKind, "network_n", networkId)) {
    const cidr = parseCidr(subnet.cidr);
    if (cidr === null) continue;
    idOf.set(cidr.text, subnet.id);
    lengths[cidr.version].add(cidr.prefixLength);
  }
  const longestFirst = { 4: [...lengths[4]].sort((a, b) => b - a), 6: [...lengths[6]].sort((a, b) => b - a) };
  return (ip) => {
    for (const length of longestFirst[ip.version]) {
      const id = idOf.get(cidrOf(ip, length).text);
      if (id !== undefined) return id;
    }
    return null;
  };
}
