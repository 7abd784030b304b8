// Records an address that responded or was learned, without polling the machine. The address belongs to its current
// host, unless a MAC address contradicts that. An address alone never turns one host into another.

import { isSingleDevice, virtualRouterOf } from "../../base/mac.ts";
import { vendorOf } from "../../base/vendors/vendor.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import type { IpAddressRecord } from "../../resources/ip-addresses/ip-address.ts";
import { DISCOVERED, INFERRED } from "../../resources/source.ts";
import { CHILDREN_MAX } from "../../schemas/schemas.ts";
import { KEPT_ROW, type RowOutcome } from "../rows.ts";
import { type AddressSighting, METHOD_NAMES } from "../sightings.ts";
import { AddressBook, isOnlyObserved } from "./address-book.ts";
import { AddressClaims } from "./address-claims.ts";
import { hasInterfaces } from "./device-hosts.ts";
import { lineOf } from "./device-text.ts";
import { TYPE_DEFAULTS, typeOfAddress } from "./device-types.ts";
import { looksDerived, nameOfMac, renameDerived } from "./host-names.ts";
import { ignoredHost, isInDeletedSubnets, isReturning, newHost } from "./hosts.ts";
import { hasOnlyAddresses } from "./identity.ts";
import { wasWrittenByUser } from "./provenance.ts";
import { recordOpenPorts } from "./record-ports.ts";
import { endRefusedPorts } from "./refused-ports.ts";
import type { Reported } from "./reported-fields.ts";
import type { ScanWrite } from "./scan-write.ts";
import { selfHost } from "./self-host.ts";
import { type Signs, signsWith } from "./signs.ts";
import type { SubnetAssigner } from "./subnet-assignment.ts";

/** The machine that runs the appliance. */
const LOCALHOST: ReadonlySet<string> = new Set(["127.0.0.1", "::1"]);

/**
 * @returns outcome of the sighting: dropped if a user deleted its host, or if its MAC address does not belong to a host
 * there
 */
export function recordAddress(write: ScanWrite, subnets: SubnetAssigner, sighting: AddressSighting): RowOutcome {
  const { ip_address: address, mac_address: mac, answered } = sighting;
  if (sighting.is_mac_shared === true && mac !== null) write.index.markShared(mac);
  const book = new AddressBook(write, subnets);
  const reason =
    answered.length > 0
      ? `responded to ${answered.map((method) => METHOD_NAMES[method]).join(" and ")}`
      : "in the neighbor table of another device";
  const claims = new AddressClaims(write, address, sighting);
  const holder = holderOf(write, book, sighting, claims);
  if (holder === "contradicted" || holder === "virtual") return holder;
  const returned = holder === null ? null : returnedHost(write, subnets, sighting, holder);
  const host = returned ?? holder ?? createHost(write, subnets, sighting);
  if (host === null) return "deleted";
  if (returned !== null && holder !== null) book.absorb(returned, holder.id, book.ofHost(returned.id));
  write.index.recordSeenAt(host.id, address);
  const present = book.ofHost(host.id);
  const known = present.get(address);
  const isLearned = answered.length === 0 && known !== undefined && wasSeenInThisScan(write, known);
  const assigned = book.assign(
    host,
    {
      ip_address: address,
      mac_address: macToStore(write, host, known, isLearned ? null : mac, claims),
      prefix_length: null,
    },
    present,
  );
  const isIdentifying = mac !== null && identifiesHost(write, mac);
  if (assigned !== null && (known === undefined || isIdentifying))
    book.takeFromOthers(address, host, write.index.atAddress(address), { claims, isNew: known === undefined });
  if (assigned !== null && known === undefined && isIdentifying) leaveFormer(write, book, host, assigned, present);
  const now = write.update(hostKind, host, reportedOf(write, host, sighting, present), TYPE_DEFAULTS);
  if (looksDerived(host)) renameDerived(write, now, present);
  write.recordSeen(host.id, address, reason);
  if (sighting.ports !== undefined) recordOpenPorts(write, host, sighting.ports.open);
  endRefusedPorts(write, host, sighting, present.keys());
  if (assigned !== null) return KEPT_ROW;
  return present.size >= CHILDREN_MAX ? "limit" : "deleted";
}

/** Removes a host's former addresses that other hosts have now: its machine has a new one. */
function leaveFormer(
  write: ScanWrite,
  book: AddressBook,
  host: HostRecord,
  { ip_address: newAddress, mac_address: mac }: IpAddressRecord,
  present: ReadonlyMap<string, IpAddressRecord>,
): void {
  if (hasInterfaces(write.tx, host.id)) return;
  for (const [address, record] of [...present]) {
    if (address === newAddress || record.mac_address !== mac) continue;
    const other = write.index.atAddress(address).find((id) => id !== host.id);
    if (other === undefined) continue;
    const claims = new AddressClaims(write, address);
    book.takeFromOthers(address, write.tx.get(hostKind, other), [host.id], { claims, isNew: true });
  }
}

/** Returns null if unknown. */
function holderOf(
  write: ScanWrite,
  book: AddressBook,
  sighting: AddressSighting,
  claims: AddressClaims,
): HostRecord | "contradicted" | "virtual" | null {
  const { ip_address: address, mac_address: mac, answered } = sighting;
  const { tx, index } = write;
  const hostIds = index.atAddress(address);
  const lastSeen = (ids: readonly string[]) => tx.get(hostKind, lastSeenAt(write, book, address, ids));
  if (mac !== null && virtualRouterOf(mac) !== null) {
    // It belongs to the routers that report it, or to the host that a user entered.
    const owners = hostIds.filter((id) => book.isDevice(id) || isEntered(write, id, book.ofHost(id).get(address)));
    return owners.length > 0 ? lastSeen(owners) : "virtual";
  }
  if (mac === null || !identifiesHost(write, mac)) {
    // Other devices' tables are hours old: they do not contradict a host that just responded there.
    const answering = hostIds.find((id) => wasSeenInThisScan(write, book.ofHost(id).get(address)));
    if (answered.length === 0 && answering !== undefined) return tx.get(hostKind, answering);
    if (hostIds.length > 0) return lastSeen(hostIds);
    return LOCALHOST.has(address) ? selfHost(tx, write.networkId) : null;
  }
  const byMac = index.atMac(mac).filter((id) => !index.wasTakenFrom(id, address));
  const confirmed = hostIds.filter((id) => byMac.includes(id) || book.ofHost(id).get(address)?.mac_address === mac);
  if (confirmed.length > 0) return lastSeen(confirmed);
  const records = hostIds.flatMap((id) => book.ofHost(id).get(address) ?? []);
  const compatible = records.filter((record) => isCompatible(write, record, byMac, answered.length === 0));
  const taken = new Set(records.map((record) => record.mac_address));
  if (compatible.length > 0 && claims.isFirst(mac, taken)) return lastSeen(compatible.map((record) => record.host_id));
  if (!claims.has(mac) || claims.ownerCount > 1 || (sighting.is_local === true && hostIds.length > 0))
    return "contradicted";
  // A device whose MAC address there is unknown may be the holder.
  if (records.some((record) => record.mac_address === null && book.isClaimed(record))) return "contradicted";
  // The machine with this MAC address has a new IP address. If several hosts have it (clones), none is certain.
  if (byMac.length === 1) return tx.get(hostKind, byMac[0] as string);
  return LOCALHOST.has(address) ? selfHost(tx, write.networkId) : null;
}

/** True if a user entered the host or its address. */
function isEntered({ tx }: ScanWrite, hostId: string, record: IpAddressRecord | undefined): boolean {
  return tx.get(hostKind, hostId).source.type === "Manual" || (record !== undefined && wasWrittenByUser(tx, record.id));
}

/** Returns the host last seen at the address, so that a lost one can become stale. */
function lastSeenAt(write: ScanWrite, book: AddressBook, address: string, ids: readonly string[]): string {
  const [first] = ids as readonly [string, ...string[]];
  if (ids.length === 1) return first;
  const seenAt = (id: string) => write.tx.observedOf(book.ofHost(id).get(address)?.id ?? "").last_seen_at ?? "";
  return ids.reduce((latest, id) => (seenAt(id) > seenAt(latest) ? id : latest), first);
}

/**
 * True if the MAC address may be an unreported one of the holder.
 * @param byMac hosts that have it
 */
function isCompatible(
  write: ScanWrite,
  record: IpAddressRecord,
  byMac: readonly string[],
  isLearned: boolean,
): boolean {
  if (byMac.length > 0) return isLearned && record.mac_address === null && wasSeenInThisScan(write, record);
  // The address moves between routers: its previous MAC address does not identify a host.
  return record.mac_address === null || !identifiesHost(write, record.mac_address);
}

/** True if a MAC address identifies the holder of an address. */
function identifiesHost({ index }: ScanWrite, mac: string): boolean {
  return isSingleDevice(mac) && !index.isShared(mac);
}

/** Returns an ended host known only by addresses, if the MAC address is the first one seen there; null for none. */
function returnedHost(
  write: ScanWrite,
  subnets: SubnetAssigner,
  sighting: AddressSighting,
  holder: HostRecord,
): HostRecord | null {
  const known = write.index.signsOf(holder.id);
  const isFirstMac = identifyingMac(write, sighting) !== null && known !== null && hasOnlyAddresses(known);
  return isFirstMac && isOnlyObserved(write.tx, holder) && isReturning(write, signsOfSighting(write, sighting))
    ? createHost(write, subnets, sighting)
    : null;
}

function identifyingMac(write: ScanWrite, { mac_address: mac }: AddressSighting): string | null {
  return mac !== null && identifiesHost(write, mac) ? mac : null;
}

function signsOfSighting(write: ScanWrite, sighting: AddressSighting): Signs {
  const mac = identifyingMac(write, sighting);
  return signsWith({ macs: new Set(mac === null ? [] : [mac]), addresses: new Set([sighting.ip_address]) });
}

function createHost(write: ScanWrite, subnets: SubnetAssigner, sighting: AddressSighting): HostRecord | null {
  const { ip_address: address, mac_address: mac, answered } = sighting;
  if (isInDeletedSubnets(write, subnets, address, [address])) return null;
  const ownMac = identifyingMac(write, sighting);
  const signs = signsOfSighting(write, sighting);
  if (ignoredHost(write, signs, address, address)) return null;
  const hostname = lineOf(sighting.hostname ?? "");
  const host = newHost(
    write,
    {
      name: hostname || (ownMac === null ? address : nameOfMac(ownMac)),
      hostname: hostname || null,
      manufacturer: makerOf(write, mac),
      source: answered.length > 0 ? DISCOVERED : INFERRED,
    },
    signs,
  );
  write.index.recordSigns(host.id, { host });
  return host;
}

function wasSeenInThisScan({ tx, scanId }: ScanWrite, record: IpAddressRecord | undefined): boolean {
  return record !== undefined && tx.observedOf(record.id).last_discovery_id === scanId;
}

/**
 * Returns undefined to keep the stored MAC address.
 * @param mac null if unknown, and for a learned address that was itself just seen
 */
function macToStore(
  write: ScanWrite,
  host: HostRecord,
  known: IpAddressRecord | undefined,
  mac: string | null,
  claims: AddressClaims,
): string | undefined {
  if (mac === null) return undefined;
  if (known === undefined || known.mac_address === null) return mac;
  // The MAC address that identifies the host wins.
  if (write.index.isShared(mac) && !write.index.isShared(known.mac_address)) return undefined;
  // A device's own interface data outranks sightings by others, and of two cards at one address the stored one is kept.
  return hasInterfaces(write.tx, host.id) || (known.mac_address !== mac && claims.isSeen(known.mac_address))
    ? undefined
    : mac;
}

function reportedOf(
  write: ScanWrite,
  host: HostRecord,
  sighting: AddressSighting,
  present: ReadonlyMap<string, IpAddressRecord>,
): Reported<HostRecord> {
  const { ip_address: address, mac_address: mac, hostname, answered } = sighting;
  const name = lineOf(hostname ?? "");
  const isFirst = name !== "" && isFirstOf(present, address);
  return {
    hostname: name !== "" && (isFirst || host.hostname === null) ? name : undefined,
    manufacturer: host.manufacturer === null ? (makerOf(write, mac) ?? undefined) : undefined,
    ...typeOfAddress(host, sighting.ports?.open ?? [], mac !== null && identifiesHost(write, mac) ? mac : null),
    source: host.source.type === "Inferred" && answered.length > 0 ? DISCOVERED : undefined,
  };
}

function isFirstOf(present: ReadonlyMap<string, IpAddressRecord>, address: string): boolean {
  const position = present.get(address)?.position ?? 0;
  for (const each of present.values()) if (each.position < position) return false;
  return true;
}

/** Returns the manufacturer by interface MAC address; null for virtual routers and proxies. */
function makerOf(write: ScanWrite, mac: string | null): string | null {
  return mac !== null && identifiesHost(write, mac) ? vendorOf(mac) : null;
}
