// The addresses of hosts in a scan's write: given, confirmed, moved from one host to another. Who has an address is decided by its callers.

import { isOneDevices } from "../../base/mac.ts";
import { sql } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { parseInstant } from "../../base/instant.ts";
import { placeAfter } from "../../resources/host-children.ts";
import { hostKind, type HostRecord } from "../../resources/hosts/host.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { ipAddressKind, type IpAddressRecord } from "../../resources/ip-addresses/ip-address.ts";
import { portKind } from "../../resources/ports/port.ts";
import { serviceKind } from "../../resources/services/service.ts";
import { bindingKind } from "../../resources/bindings/binding.ts";
import { isTouchedByPerson } from "./provenance.ts";
import type { ScanWrite } from "./scan-write.ts";
import { nameSign } from "./signs.ts";
import type { SubnetPlacer } from "./subnet-placer.ts";

/** By which hosts without interface entries are known again under another address. */
const macMemory = sqliteTable("discovery_macs", { network_n: integer().notNull(), mac_address: text().notNull(), host_n: integer().notNull() });

/** An address that a device claims is given to another machine when the device has not confirmed it for so long. */
export const UNCONFIRMED_AFTER_HOURS = 24;

export interface ToldAddress {
  readonly ip_address: string;
  /** Undefined: nothing was seen. */
  readonly mac_address?: string | null | undefined;
  readonly prefix_length: number | null;
  /** The interface that has it; undefined where nobody tells. */
  readonly name?: string | undefined;
}

export class AddressBook {
  private readonly write: ScanWrite;
  private readonly subnets: SubnetPlacer;

  constructor(write: ScanWrite, subnets: SubnetPlacer) {
    this.write = write;
    this.subnets = subnets;
  }

  /** The addresses of a host, by address. */
  of(hostId: string): Map<string, IpAddressRecord> {
    return new Map(this.write.tx.children(ipAddressKind, "host_n", hostId).map((each) => [each.ip_address, each]));
  }

  /**
   * A host has an address.
   * @param present its addresses, as `of` tells them; a new one is added to them
   * @returns null for one that a person has deleted, or in a subnet that a person has deleted
   */
  give(host: HostRecord, told: ToldAddress, present: Map<string, IpAddressRecord>): IpAddressRecord | null {
    const { write } = this;
    const known = present.get(told.ip_address);
    if (known !== undefined) {
      const name = told.name !== undefined && known.name === "" ? told.name : undefined;
      const now = write.again(ipAddressKind, known, { mac_address: told.mac_address, name });
      this.remember(host.id, now.mac_address);
      write.index.note(host.id, { mac: now.mac_address });
      present.set(told.ip_address, now);
      return now;
    }
    const subnetId = this.subnets.place(told.ip_address, told.prefix_length);
    if (subnetId === null) return null;
    const made = write.found(ipAddressKind, {
      host_id: host.id,
      network_id: host.network_id,
      subnet_id: subnetId,
      ip_address: told.ip_address,
      mac_address: told.mac_address ?? null,
      name: (told.name ?? "").slice(0, NAME_MAX),
      position: placeAfter([...present.values()]),
    });
    if (made === null) return null;
    present.set(told.ip_address, made);
    this.remember(host.id, made.mac_address);
    write.index.note(host.id, { mac: made.mac_address, address: made.ip_address });
    return made;
  }

  /** Keeps a MAC address as a sign of a host whose addresses may all go to others. */
  remember(hostId: string, mac: string | null): void {
    if (mac === null || !isOneDevices(mac)) return;
    const { tx, networkId, index } = this.write;
    if (index.isRemembered(hostId, mac)) return;
    index.note(hostId, { mac });
    tx.afterwardsRun(() => {
      const row = { network_n: tx.recordN(networkId) as number, mac_address: mac, host_n: tx.recordN(hostId) as number };
      tx.db
        .insert(macMemory)
        .values(row)
        .onConflictDoUpdate({ target: [macMemory.network_n, macMemory.mac_address], set: { host_n: sql`excluded.host_n` } })
        .run();
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
      if (record === undefined || host === null) continue;
      const isReplaced = nameSign(host.sys_name) !== null && nameSign(host.sys_name) === nameSign(to.sys_name);
      if (this.isClaimed(record) && !(isReplaced && !this.wasSeenNow(record))) continue;
      if (record.first_discovery_id === null && isTouchedByPerson(write.tx, record.id)) {
        write.tell({ type: "Skipped", entity: ipAddressKind.name, id: record.id, label: address, reason: `is now at ${to.name}; at ${host.name} a person entered it, so it stays there as well` });
        continue;
      }
      write.close(ipAddressKind, record, address, `moved from ${host.name} to ${to.name}`);
      write.index.forget(id);
    }
  }

  /** Whether the device that has an address said so itself, not long ago. */
  isClaimed(record: IpAddressRecord): boolean {
    const { tx } = this.write;
    if (tx.children(ifEntryKind, "host_n", record.host_id).length === 0) return false;
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
  absorb(host: HostRecord, otherId: string, present: Map<string, IpAddressRecord>): void {
    const { tx, index } = this.write;
    const other = tx.find(hostKind, otherId);
    if (other === null || otherId === host.id || !this.isNothingButSeen(other)) return;
    for (const address of tx.children(ipAddressKind, "host_n", otherId)) {
      if (!present.has(address.ip_address)) this.give(host, { ip_address: address.ip_address, mac_address: address.mac_address, prefix_length: null }, present);
    }
    const ports = new Map(tx.children(portKind, "host_n", host.id).map((each) => [`${each.number}/${each.protocol}`, each.id]));
    const portIds = new Map<string, string>();
    for (const port of tx.children(portKind, "host_n", otherId)) {
      const key = `${port.number}/${port.protocol}`;
      const id = ports.get(key) ?? this.write.found(portKind, { host_id: host.id, network_id: host.network_id, number: port.number, protocol: port.protocol, type: port.type })?.id;
      if (id !== undefined) portIds.set(port.id, id);
    }
    const own = new Map(tx.children(serviceKind, "host_n", host.id).map((each) => [JSON.stringify([each.service_definition, each.name]), each.id]));
    const bound = new Set(tx.children(bindingKind, "host_n", host.id).map((each) => each.port_id));
    for (const service of tx.children(serviceKind, "host_n", otherId)) {
      const bindings = tx.children(bindingKind, "service_n", service.id).filter((each) => each.port_id !== null && portIds.has(each.port_id) && !bound.has(portIds.get(each.port_id) as string));
      if (bindings.length === 0) continue;
      const { name, service_definition, source } = service;
      const id =
        own.get(JSON.stringify([service_definition, name])) ??
        this.write.found(serviceKind, { host_id: host.id, network_id: host.network_id, name, service_definition, source, position: own.size, tags: [], virtualization: null })?.id;
      if (id === undefined) continue;
      own.set(JSON.stringify([service_definition, name]), id);
      for (const binding of bindings) {
        this.write.found(bindingKind, { service_id: id, host_id: host.id, network_id: host.network_id, type: "Port", port_id: portIds.get(binding.port_id as string), ip_address_id: null });
      }
    }
    this.write.close(hostKind, other, other.name, `is the same device as ${host.name}`);
    index.forget(otherId);
  }

  /** Whether a host is only what scans have seen from outside. */
  private isNothingButSeen(host: HostRecord): boolean {
    const { tx } = this.write;
    if (host.sys_object_id !== null || host.serial_number !== null || host.chassis_id !== null) return false;
    if (tx.children(ifEntryKind, "host_n", host.id).length > 0) return false;
    const children = [...tx.children(ipAddressKind, "host_n", host.id), ...tx.children(portKind, "host_n", host.id), ...tx.children(serviceKind, "host_n", host.id)];
    return host.source.type !== "Manual" && [host, ...children].every((record) => !isTouchedByPerson(tx, record.id));
  }
}

const NAME_MAX = 255;
