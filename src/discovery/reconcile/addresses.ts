// The addresses of hosts in a scan's write: given, confirmed, moved from one host to another. Who has an address is decided by its callers.

import { isOneDevices } from "../../base/mac.ts";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { parseInstant } from "../../base/instant.ts";
import { KeyedRows } from "../../db/keyed-row.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import type { WriteTransaction } from "../../db/transaction.ts";
import { CHILDREN_MAX, INT32_MAX } from "../../http/schemas.ts";
import { placeAfter } from "../../resources/host-children.ts";
import { hostKind, type HostRecord } from "../../resources/hosts/host.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { ipAddressKind, type IpAddressRecord } from "../../resources/ip-addresses/ip-address.ts";
import { portKind } from "../../resources/ports/port.ts";
import { serviceKind } from "../../resources/services/service.ts";
import { bindingKind } from "../../resources/bindings/binding.ts";
import { lineOf } from "./line.ts";
import { isTouchedByPerson } from "./provenance.ts";
import type { ScanWrite } from "./scan-write.ts";
import { nameSign } from "./signs.ts";
import type { SubnetPlacer } from "./subnet-placer.ts";

/** By which hosts without interface entries are known again under another address. */
const macMemory = sqliteTable("discovery_macs", {
  network_n: integer().notNull(),
  mac_address: text().notNull(),
  host_n: integer().notNull(),
  checksum: integer().notNull(),
});
const rememberedMacs = new KeyedRows(macMemory, ["network_n", "mac_address"]);

/** An address that a device claims is given to another machine when the device has not confirmed it for so long. */
export const UNCONFIRMED_AFTER_HOURS = 24;

export interface ToldAddress {
  readonly ip_address: string;
  /** Undefined: nothing was seen. */
  readonly mac_address?: string | null | undefined;
  readonly prefix_length: number | null;
  /** The interface that has it; undefined where nobody tells. */
  readonly name?: string | undefined;
  /** Whether it is the one under which the device that tells of it has answered: of that nobody knows better. */
  readonly isAsked?: boolean;
}

/** A host's addresses, by address, as a write has changed them so far. */
type Addresses = Map<string, IpAddressRecord>;

/** By host, read once for each write: every neighbor table names the thousands of addresses that a load balancer has, one by one. */
const READ = new WeakMap<ScanWrite, Map<string, Addresses>>();
/** The position behind the last of them. */
const NEXT_PLACES = new WeakMap<Addresses, number>();

export class AddressBook {
  private readonly write: ScanWrite;
  private readonly subnets: SubnetPlacer;
  private readonly read: Map<string, Addresses>;

  constructor(write: ScanWrite, subnets: SubnetPlacer) {
    this.write = write;
    this.subnets = subnets;
    const read = READ.get(write) ?? new Map<string, Addresses>();
    READ.set(write, read);
    this.read = read;
  }

  /** The addresses of a host, by address. To be changed by this class alone. */
  of(hostId: string): Addresses {
    const known = this.read.get(hostId);
    if (known !== undefined) return known;
    const addresses = new Map(
      this.write.tx.children(ipAddressKind, "host_n", hostId).map((each) => [each.ip_address, each]),
    );
    this.read.set(hostId, addresses);
    return addresses;
  }

  /**
   * A host has an address.
   * @param present its addresses, as `of` tells them; a new one is added to them
   * @returns null for one that a person has deleted, or in a subnet that a person has deleted, and where the host has all that a host may have
   */
  give(host: HostRecord, told: ToldAddress, present: Addresses): IpAddressRecord | null {
    const { write } = this;
    const known = present.get(told.ip_address);
    if (known !== undefined) {
      const name = told.name !== undefined && known.name === "" ? lineOf(told.name) : undefined;
      const open = told.isAsked === true ? ["mac_address"] : [];
      const now = write.again(ipAddressKind, known, { mac_address: told.mac_address, name }, {}, open);
      this.remember(host.id, now.mac_address);
      write.index.note(host.id, { mac: this.signOf(now) });
      present.set(told.ip_address, now);
      return now;
    }
    if (present.size >= CHILDREN_MAX) return null;
    const subnetId = this.subnets.place(told.ip_address, told.prefix_length);
    if (subnetId === null) return null;
    const made = write.found(ipAddressKind, {
      host_id: host.id,
      network_id: host.network_id,
      subnet_id: subnetId,
      ip_address: told.ip_address,
      mac_address: told.mac_address ?? null,
      name: lineOf(told.name ?? ""),
      position: this.nextPlace(present),
    });
    if (made === null) return null;
    NEXT_PLACES.set(present, made.position + 1);
    present.set(told.ip_address, made);
    this.remember(host.id, made.mac_address);
    write.index.note(host.id, { mac: this.signOf(made), address: made.ip_address });
    return made;
  }

  /** The MAC address of an address, where it says who has it. */
  private signOf({ mac_address: mac }: IpAddressRecord): string | null {
    return mac === null || this.write.index.isShared(mac) ? null : mac;
  }

  /** Keeps a MAC address as a sign of a host whose addresses may all go to others. */
  remember(hostId: string, mac: string | null): void {
    const { tx, networkId, index } = this.write;
    if (mac === null || !isOneDevices(mac) || index.isShared(mac)) return;
    if (index.isRemembered(hostId, mac)) return;
    index.note(hostId, { mac });
    tx.afterwardsRun(() => {
      const [networkN, hostN] = [tx.recordN(networkId) as number, tx.recordN(hostId) as number];
      const row = withChecksum(macMemory, { network_n: networkN, mac_address: mac, host_n: hostN });
      rememberedMacs.put(tx.db, row);
    });
  }

  /**
   * Takes an address from the hosts that had it, since it was positively seen at another one. What a person entered stays, and is said; and so does
   * what a device says of itself, as both routers of a pair do, unless its place was taken by another device of its name.
   * @param to who has it now
   */
  takeFromOthers(address: string, to: HostRecord, others: readonly string[]): void {
    const { write } = this;
    for (const id of others) {
      if (id === to.id) continue;
      const record = this.of(id).get(address);
      const host = write.tx.find(hostKind, id);
      if (record === undefined || host === null || this.isShared(record, this.of(to.id).get(address))) continue;
      const isReplaced = nameSign(host.sys_name) !== null && nameSign(host.sys_name) === nameSign(to.sys_name);
      if (this.isClaimed(record) && !(isReplaced && !this.wasSeenNow(record))) continue;
      if (record.first_discovery_id === null && isTouchedByPerson(write.tx, record.id)) {
        write.tell({
          type: "Skipped",
          entity: ipAddressKind.name,
          id: record.id,
          label: address,
          reason: `is now at ${to.name}; at ${host.name} a person entered it, so it stays there as well`,
        });
        continue;
      }
      write.close(ipAddressKind, record, address, `moved from ${host.name} to ${to.name}`);
      this.of(id).delete(address);
      write.index.forget(id);
    }
  }

  /** Whether the device that has an address has said so since another one has it too: so do both routers of a pair, and none took it from the other. */
  private isShared(record: IpAddressRecord, other: IpAddressRecord | undefined): boolean {
    if (other === undefined || !hasInterfaces(this.write.tx, record.host_id)) return false;
    const { last_seen_at: lastSeen, last_discovery_id: seenBy } = this.write.tx.observedOf(record.id);
    const isOfOneScan = other.first_discovery_id !== null && seenBy === other.first_discovery_id;
    return isOfOneScan || (parseInstant(lastSeen ?? "") ?? 0) > (parseInstant(other.created_at) ?? 0);
  }

  private nextPlace(present: Addresses): number {
    return Math.min(NEXT_PLACES.get(present) ?? placeAfter([...present.values()]), INT32_MAX);
  }

  /** Whether the device that has an address said so itself, not long ago. */
  isClaimed(record: IpAddressRecord): boolean {
    const { tx } = this.write;
    if (!hasInterfaces(tx, record.host_id) && !hasTold(tx, record.host_id)) return false;
    const lastSeen = parseInstant(tx.observedOf(record.id).last_seen_at ?? "");
    return lastSeen !== null && tx.instant - lastSeen < UNCONFIRMED_AFTER_HOURS * 3_600_000;
  }

  private wasSeenNow(record: IpAddressRecord): boolean {
    return this.write.tx.observedOf(record.id).last_discovery_id === this.write.scanId;
  }

  /**
   * Makes one host of two that turned out to be the same: what a sweep found under one of its addresses goes over to it. Only of a host that no person
   * has touched and that says nothing of its own.
   */
  absorb(host: HostRecord, otherId: string, present: Addresses): void {
    const { tx, index } = this.write;
    const other = tx.find(hostKind, otherId);
    if (other === null || otherId === host.id || !this.isNothingButSeen(other)) return;
    // Who was seen with a network card that the device does not have is another machine, whatever the device says of its addresses.
    const cards = index.signsOf(host.id)?.macs ?? new Set();
    if ([...(index.signsOf(otherId)?.macs ?? [])].some((mac) => !cards.has(mac))) return;
    for (const address of tx.children(ipAddressKind, "host_n", otherId)) {
      if (!present.has(address.ip_address))
        this.give(
          host,
          { ip_address: address.ip_address, mac_address: address.mac_address, prefix_length: null },
          present,
        );
    }
    const ports = new Map(
      tx.children(portKind, "host_n", host.id).map((each) => [`${each.number}/${each.protocol}`, each.id]),
    );
    const portIds = new Map<string, string>();
    for (const port of tx.children(portKind, "host_n", otherId)) {
      const key = `${port.number}/${port.protocol}`;
      const id =
        ports.get(key) ??
        this.write.found(portKind, {
          host_id: host.id,
          network_id: host.network_id,
          number: port.number,
          protocol: port.protocol,
          type: port.type,
        })?.id;
      if (id !== undefined) portIds.set(port.id, id);
    }
    const own = new Map(
      tx
        .children(serviceKind, "host_n", host.id)
        .map((each) => [JSON.stringify([each.service_definition, each.name]), each.id]),
    );
    const bound = new Set(tx.children(bindingKind, "host_n", host.id).map((each) => each.port_id));
    for (const service of tx.children(serviceKind, "host_n", otherId)) {
      const bindings = tx
        .children(bindingKind, "service_n", service.id)
        .filter(
          (each) =>
            each.port_id !== null && portIds.has(each.port_id) && !bound.has(portIds.get(each.port_id) as string),
        );
      if (bindings.length === 0) continue;
      const { name, service_definition, source } = service;
      const id =
        own.get(JSON.stringify([service_definition, name])) ??
        this.write.found(serviceKind, {
          host_id: host.id,
          network_id: host.network_id,
          name,
          service_definition,
          source,
          position: own.size,
          tags: [],
          virtualization: null,
        })?.id;
      if (id === undefined) continue;
      own.set(JSON.stringify([service_definition, name]), id);
      for (const binding of bindings) {
        this.write.found(bindingKind, {
          service_id: id,
          host_id: host.id,
          network_id: host.network_id,
          type: "Port",
          port_id: portIds.get(binding.port_id as string),
          ip_address_id: null,
        });
      }
    }
    this.write.close(hostKind, other, other.name, `is the same device as ${host.name}`);
    this.read.delete(otherId);
    index.forget(otherId);
  }

  /** Whether a host is only what scans have seen from outside. */
  private isNothingButSeen(host: HostRecord): boolean {
    const { tx } = this.write;
    if ([host.sys_name, host.sys_object_id, host.serial_number, host.chassis_id].some((each) => each !== null))
      return false;
    if (hasInterfaces(tx, host.id) || hasTold(tx, host.id)) return false;
    const children = [
      ...tx.children(ipAddressKind, "host_n", host.id),
      ...tx.children(portKind, "host_n", host.id),
      ...tx.children(serviceKind, "host_n", host.id),
    ];
    return host.source.type !== "Manual" && [host, ...children].every((record) => !isTouchedByPerson(tx, record.id));
  }
}

/** Whether a host has interface entries: it told of itself. Asked of every address that others have heard of, so none of them is read. */
export function hasInterfaces(tx: WriteTransaction, hostId: string): boolean {
  const n = tx.recordN(hostId);
  const isStored =
    n !== null && n > 0 && tx.db.$client.query("SELECT 1 FROM if_entries WHERE host_n = ?1 LIMIT 1").get(n) !== null;
  return isStored || tx.children(ifEntryKind, "host_n", hostId).length > 0;
}

/** Whether a host has told of itself by SNMP, with interfaces or without. */
function hasTold(tx: WriteTransaction, hostId: string): boolean {
  const n = tx.recordN(hostId);
  return (
    n !== null &&
    n > 0 &&
    tx.db.$client.query("SELECT 1 FROM discovery_tellings WHERE host_n = ?1 LIMIT 1").get(n) !== null
  );
}
