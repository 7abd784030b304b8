// Address book of a scan's write: assigns, confirms and moves IP addresses. Callers decide which host has an address.

import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { parseInstant } from "../../base/instant.ts";
import { isSingleDevice } from "../../base/mac.ts";
import { KeyedRows } from "../../db/keyed-row.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { bindingKind } from "../../resources/bindings/binding.ts";
import { assignmentsFor, endCoverage } from "../../resources/credential-assignments/coverage.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { nextPosition } from "../../resources/hosts/new-child.ts";
import { forgetEndedHost } from "../../resources/ignored/ended-hosts.ts";
import { type IpAddressRecord, ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { isPlacedByPerson } from "../../resources/map-positions/map-position.ts";
import { portKind } from "../../resources/ports/port.ts";
import { serviceIdentity, serviceKind } from "../../resources/services/service.ts";
import { CHILDREN_MAX, INT32_MAX } from "../../schemas/schemas.ts";
import type { AddressClaims } from "./address-claims.ts";
import { hasInterfaces, hasReported } from "./device-hosts.ts";
import { lineOf } from "./device-text.ts";
import { renameDerived } from "./host-names.ts";
import { discoveredBinding, discoveredPort, discoveredService } from "./new-records.ts";
import { isUserEdited, setStale } from "./protected-records.ts";
import { isSetByUser, wasWrittenByUser } from "./provenance.ts";
import type { ScanWrite } from "./scan-write.ts";
import { nameSign } from "./signs.ts";
import type { SubnetAssigner } from "./subnet-assignment.ts";

/** MAC addresses that identify hosts without interface entries at a new IP address. */
const macMemory = sqliteTable("discovery_macs", {
  network_n: integer().notNull(),
  mac_address: text().notNull(),
  host_n: integer().notNull(),
  checksum: integer().notNull(),
});
const rememberedMacs = new KeyedRows(macMemory, ["network_n", "mac_address"]);

/** Hours without confirmation after which a claimed address may move to another machine. */
const UNCONFIRMED_AFTER_HOURS = 24;

interface ReportedAddress {
  readonly ip_address: string;
  /** Undefined: no MAC address seen. */
  readonly mac_address?: string | null | undefined;
  readonly prefix_length: number | null;
  /** Interface name; undefined if unknown. */
  readonly name?: string | undefined;
  /** True if the device responded at this address. */
  readonly isPolled?: boolean;
}

type Addresses = Map<string, IpAddressRecord>;

/** By host, read once per write: every neighbor table may list a load balancer's thousands of addresses. */
const CACHE = new WeakMap<ScanWrite, Map<string, Addresses>>();
const NEXT_POSITIONS = new WeakMap<Addresses, number>();

export class AddressBook {
  private readonly write: ScanWrite;
  private readonly subnets: SubnetAssigner;
  private readonly byHost: Map<string, Addresses>;

  constructor(write: ScanWrite, subnets: SubnetAssigner) {
    this.write = write;
    this.subnets = subnets;
    const byHost = CACHE.get(write) ?? new Map<string, Addresses>();
    CACHE.set(write, byHost);
    this.byHost = byHost;
  }

  /** Keyed by address; only this class changes the map. */
  ofHost(hostId: string): Addresses {
    const known = this.byHost.get(hostId);
    if (known !== undefined) return known;
    const addresses = new Map(
      this.write.tx.children(ipAddressKind, "host_n", hostId).map((each) => [each.ip_address, each]),
    );
    this.byHost.set(hostId, addresses);
    return addresses;
  }

  /**
   * @param present the host's addresses from `of`, to which a new one is added
   * @returns null if the address or its subnet is ignored, a user gave it to another host, or at the host's limit
   */
  assign(host: HostRecord, reported: ReportedAddress, present: Addresses): IpAddressRecord | null {
    const { write } = this;
    const known = present.get(reported.ip_address);
    if (known !== undefined) {
      const now = write.update(
        ipAddressKind,
        known,
        {
          mac_address: reported.mac_address,
          name: this.nameOf(known, reported),
          subnet_id: this.subnetOf(known, reported),
        },
        {},
        reported.isPolled === true ? ["mac_address", "name"] : [],
      );
      this.rememberMac(host.id, now.mac_address);
      write.index.recordSigns(host.id, { mac: this.identifyingMacOf(now) });
      present.set(reported.ip_address, now);
      return now;
    }
    if (present.size >= CHILDREN_MAX || write.index.wasTakenFrom(host.id, reported.ip_address)) return null;
    const subnetId = this.subnets.place(reported.ip_address, reported.prefix_length);
    if (subnetId === null) return null;
    const created = write.create(ipAddressKind, {
      host_id: host.id,
      network_id: host.network_id,
      subnet_id: subnetId,
      ip_address: reported.ip_address,
      mac_address: reported.mac_address ?? null,
      name: lineOf(reported.name ?? ""),
      position: this.nextPosition(present),
      first_discovery_id: write.scanId,
    });
    if (created === null) return null;
    NEXT_POSITIONS.set(present, created.position + 1);
    present.set(reported.ip_address, created);
    this.rememberMac(host.id, created.mac_address);
    write.index.recordSigns(host.id, { mac: this.identifyingMacOf(created), address: created.ip_address });
    return created;
  }

  /** Keeps the first prefix of a host that several devices report: they would overwrite each other in every scan. */
  private subnetOf(known: IpAddressRecord, { prefix_length }: ReportedAddress): string | undefined {
    const isOfOne = prefix_length !== null && !this.write.isRepeat && !this.write.index.isConsolidated(known.host_id);
    return isOfOne ? this.subnets.placeAgain(known, prefix_length) : undefined;
  }

  /** Names the address after its interface, unless a user set the name. */
  private nameOf(known: IpAddressRecord, { name = "" }: ReportedAddress): string | undefined {
    const line = lineOf(name);
    if (line === "" || line === known.name) return undefined;
    return known.name !== "" && isSetByUser(this.write.tx, known.id, "name", [""]) ? undefined : line;
  }

  /** Returns the record's MAC address if it identifies a host. */
  private identifyingMacOf({ mac_address: mac }: IpAddressRecord): string | null {
    return mac === null || this.write.index.isShared(mac) ? null : mac;
  }

  /** Stores a MAC address as a sign of a host, which may later lose all its addresses. */
  rememberMac(hostId: string, mac: string | null): void {
    const { tx, networkId, index } = this.write;
    if (mac === null || !isSingleDevice(mac) || index.isShared(mac)) return;
    if (index.isRemembered(hostId, mac)) return;
    index.recordSigns(hostId, { mac });
    tx.runAfterWrite(() => {
      const [networkN, hostN] = [tx.recordN(networkId) as number, tx.recordN(hostId) as number];
      const row = withChecksum(macMemory, { network_n: networkN, mac_address: mac, host_n: hostN });
      rememberedMacs.upsert(tx.db, row);
    });
  }

  /**
   * Moves an address that was seen on another host, away from its previous holders. Keeps and reports values that users
   * entered. Keeps an address that its device still claims (as both routers of a redundant pair do), unless a device of
   * the same name replaced it.
   * @param to new holder
   * @param seen isNew: false if the new holder already had the address
   */
  takeFromOthers(
    address: string,
    to: HostRecord,
    others: readonly string[],
    { claims, isNew }: { readonly claims: AddressClaims; readonly isNew: boolean },
  ): void {
    const { write } = this;
    if (write.index.wasTakenFrom(to.id, address)) return;
    for (const id of others) {
      if (id === to.id) continue;
      const record = this.ofHost(id).get(address);
      const host = write.tx.find(hostKind, id);
      if (record === undefined || host === null || this.isShared(record, this.ofHost(to.id).get(address))) continue;
      const isReplaced = nameSign(host.sys_name) !== null && nameSign(host.sys_name) === nameSign(to.sys_name);
      if (this.isHeld(record, claims) && !(isReplaced && !this.wasSeenNow(record))) continue;
      const isKept = isUserEdited(write.tx, ipAddressKind, record);
      if (isKept && isNew) this.reportKept(record, host, to);
      if (isKept && record.first_discovery_id === null) continue;
      if (isKept) this.keepStale(record);
      else write.close(ipAddressKind, record, address, `moved from ${host.name} to ${to.name}`);
      const left = new Map([...this.ofHost(id)].filter(([each]) => each !== address));
      if (!isKept) this.ofHost(id).delete(address);
      write.index.forget(id);
      if (host.name === address) renameDerived(write, host, left);
    }
  }

  private reportKept({ id, ip_address, first_discovery_id }: IpAddressRecord, from: HostRecord, to: HostRecord): void {
    const reason = first_discovery_id === null ? "entered it" : "edited or refers to it";
    this.write.addFinding({
      type: "Skipped",
      entity: ipAddressKind.name,
      id,
      label: ip_address,
      reason: `is now at ${to.name}; it also remains at ${from.name}, where a user ${reason}`,
    });
  }

  /**
   * Keeps the record of an address that has moved, but no longer sends credentials to it: another machine responds
   * there.
   */
  private keepStale(record: IpAddressRecord): void {
    const { tx } = this.write;
    setStale(tx, ipAddressKind, record);
    this.ofHost(record.host_id).set(record.ip_address, tx.get(ipAddressKind, record.id));
    for (const { id } of assignmentsFor(tx, record)) endCoverage(tx, { assignmentId: id, value: record.ip_address });
  }

  /** True if the device confirmed the address after the other host got it, as both routers of a redundant pair do. */
  private isShared(record: IpAddressRecord, other: IpAddressRecord | undefined): boolean {
    if (other === undefined || !hasInterfaces(this.write.tx, record.host_id)) return false;
    const { last_seen_at: lastSeen, last_discovery_id: seenBy } = this.write.tx.observedOf(record.id);
    const isOfOneScan = other.first_discovery_id !== null && seenBy === other.first_discovery_id;
    return isOfOneScan || (parseInstant(lastSeen ?? "") ?? 0) > (parseInstant(other.created_at) ?? 0);
  }

  private nextPosition(present: Addresses): number {
    return Math.min(NEXT_POSITIONS.get(present) ?? nextPosition([...present.values()]), INT32_MAX);
  }

  /** True if the host has responded to SNMP, or the appliance's own queries. */
  isDevice(hostId: string): boolean {
    return hasInterfaces(this.write.tx, hostId) || hasReported(this.write.tx, hostId);
  }

  /** True if the device claimed the address recently. */
  isClaimed(record: IpAddressRecord): boolean {
    const { tx } = this.write;
    if (!this.isDevice(record.host_id)) return false;
    const lastSeen = parseInstant(tx.observedOf(record.id).last_seen_at ?? "");
    return lastSeen !== null && tx.instant - lastSeen < UNCONFIRMED_AFTER_HOURS * 3_600_000;
  }

  /** True if the record's MAC address still has the IP address. Without a sighting of it, a recent claim decides. */
  private isHeld(record: IpAddressRecord, claims: AddressClaims): boolean {
    const { mac_address: mac } = record;
    return mac !== null && claims.isSeen(mac) ? claims.has(mac) : this.isClaimed(record);
  }

  private wasSeenNow(record: IpAddressRecord): boolean {
    return this.write.tx.observedOf(record.id).last_discovery_id === this.write.scanId;
  }

  /**
   * Merges a host that a sweep found at one address into the device that it turned out to be, unless a user edited it
   * or placed it on the map, or it has reported itself.
   */
  absorb(host: HostRecord, otherId: string, present: Addresses): void {
    const { tx, index, scanId } = this.write;
    const other = tx.find(hostKind, otherId);
    if (other === null || otherId === host.id || !isOnlyObserved(tx, other)) return;
    // A MAC address that the device lacks belongs to another machine, even if the device reports the address.
    const ownMacs = index.signsOf(host.id)?.macs ?? new Set();
    if ([...(index.signsOf(otherId)?.macs ?? [])].some((mac) => !ownMacs.has(mac))) return;
    for (const address of tx.children(ipAddressKind, "host_n", otherId)) {
      if (!present.has(address.ip_address))
        this.assign(
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
      const id = ports.get(key) ?? this.write.create(portKind, discoveredPort(host, port, scanId))?.id;
      if (id !== undefined) portIds.set(port.id, id);
    }
    const own = new Map(tx.children(serviceKind, "host_n", host.id).map((each) => [serviceIdentity(each), each.id]));
    const bound = new Set(tx.children(bindingKind, "host_n", host.id).map((each) => each.port_id));
    for (const service of tx.children(serviceKind, "host_n", otherId)) {
      const free = tx
        .children(bindingKind, "service_n", service.id)
        .flatMap((each) => portIds.get(each.port_id ?? "") ?? [])
        .filter((portId) => !bound.has(portId));
      if (free.length === 0) continue;
      const key = serviceIdentity(service);
      const id = own.get(key) ?? this.write.create(serviceKind, discoveredService(host, service, own.size, scanId))?.id;
      if (id === undefined) continue;
      own.set(key, id);
      for (const portId of free) this.write.create(bindingKind, discoveredBinding(host, id, portId, null, scanId));
    }
    this.write.close(hostKind, other, other.name, `is the same device as ${host.name}`);
    forgetEndedHost(tx, tx.recordN(otherId) ?? 0);
    this.byHost.delete(otherId);
    index.forget(otherId);
  }
}

/** True if only scans know the host, and no user edited it or placed it on the map. */
export function isOnlyObserved(tx: WriteTransaction, host: HostRecord): boolean {
  if ([host.sys_name, host.sys_object_id, host.serial_number, host.chassis_id].some((each) => each !== null))
    return false;
  if (hasInterfaces(tx, host.id) || hasReported(tx, host.id)) return false;
  const children = [
    ...tx.children(ipAddressKind, "host_n", host.id),
    ...tx.children(portKind, "host_n", host.id),
    ...tx.children(serviceKind, "host_n", host.id),
  ];
  return (
    host.source.type !== "Manual" &&
    !isPlacedByPerson(tx, host) &&
    [host, ...children].every((record) => !wasWrittenByUser(tx, record.id))
  );
}
