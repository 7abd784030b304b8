// Address conversion, from requested to stored: subnet, defaults, kept values, and permission to change an address with
// an assigned credential.

import { type CommandActor, requireRole } from "../../access/actor.ts";
import { getReferenced } from "../../access/reach.ts";
import { invalid, referenceInvalid } from "../../base/errors.ts";
import { cidrContains, cidrOf, type Ip, parseCidr, parseIp } from "../../base/ip.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import type { HostRecord } from "../hosts/host.ts";
import { createOptions } from "../hosts/new-child.ts";
import { type SubnetRecord, subnetKind } from "../subnets/subnet.ts";
import { type IpAddressItem, type IpAddressRecord, ipAddressKind } from "./ip-address.ts";

/** Values that do not come from the item itself. */
interface Placement {
  readonly subnetId: string;
  /** Position of a new item that has none. */
  readonly position: number;
}

/** Adds an address to a host, which may have been created in the same transaction. */
export function addIpAddress(
  tx: WriteTransaction,
  host: HostRecord,
  item: IpAddressItem,
  placement: Placement,
  actor: CommandActor,
): IpAddressRecord {
  return tx.create(
    ipAddressKind,
    actor.organizationId,
    { host_id: host.id, network_id: host.network_id, ...storedFields(item, null, placement), first_discovery_id: null },
    createOptions(tx, item),
  );
}

/**
 * Updates an address; omitted fields keep their values.
 * @throws DomainError auth_permission_denied if a caller below Admin changes an address with an assigned credential:
 * sending a credential to an address of the caller's choice discloses it
 */
export function changeIpAddress(
  tx: WriteTransaction,
  address: IpAddressRecord,
  item: IpAddressItem,
  subnetId: string,
  actor: CommandActor,
): IpAddressRecord {
  if (address.ip_address !== item.ip_address && tx.referringTo("ip_address_ids", address.id).length > 0) {
    requireRole(actor.role, "Admin", `Changing the address ${address.ip_address}, which a credential is assigned to,`);
  }
  return tx.update(ipAddressKind, address.id, storedFields(item, address, { subnetId, position: address.position }));
}

function storedFields(item: IpAddressItem, previous: IpAddressRecord | null, placement: Placement) {
  return {
    subnet_id: placement.subnetId,
    ip_address: item.ip_address,
    mac_address: item.mac_address === undefined ? (previous?.mac_address ?? null) : item.mac_address,
    name: item.name === undefined ? (previous?.name ?? "") : (item.name ?? ""),
    position: item.position ?? previous?.position ?? placement.position,
  };
}

/** Resolves the subnets of addresses in one network. */
export class SubnetFinder {
  private readonly tx: WriteTransaction;
  private readonly networkId: string;
  private readonly actor: CommandActor;
  /** Lookup over the network's subnets, built on first use. */
  private mostSpecific: ((ip: Ip) => string | null) | null = null;

  constructor(tx: WriteTransaction, networkId: string, actor: CommandActor) {
    this.tx = tx;
    this.networkId = networkId;
    this.actor = actor;
  }

  /**
   * Subnet of an address: as requested, as before, or the most specific one in the network that contains it.
   * @param previous the current address; null for a new one
   * @param pointer of the item in the body: `/ip_addresses/3`, empty for the body itself
   * @returns the subnet's id
   * @throws DomainError entity_reference_invalid for a subnet that does not exist or is in another network;
   * validation_failed if that subnet, or every subnet of the network, does not contain the address
   */
  find(item: Pick<IpAddressItem, "ip_address" | "subnet_id">, previous: IpAddressRecord | null, pointer = ""): string {
    const { tx, networkId } = this;
    const ip = parseIp(item.ip_address) as Ip;
    if (item.subnet_id !== undefined && item.subnet_id !== null) {
      const path = `${pointer}/subnet_id`;
      const subnet = getReferenced(tx, subnetKind, [item.subnet_id], path.slice(1), this.actor)[0] as SubnetRecord;
      if (subnet.network_id !== networkId) throw referenceInvalid(subnetKind, path.slice(1), [item.subnet_id]);
      const prefix = parseCidr(subnet.cidr);
      if (prefix !== null && cidrContains(prefix, ip)) return subnet.id;
      throw invalid({
        path,
        message: `is the subnet ${subnet.cidr}, which does not contain ${item.ip_address}; omit it to use the most specific subnet that contains the address`,
        value: item.subnet_id,
      });
    }
    if (previous !== null && previous.ip_address === item.ip_address) return previous.subnet_id;
    this.mostSpecific ??= subnetsByPrefix(tx, networkId);
    const subnetId = this.mostSpecific(ip);
    if (subnetId === null)
      throw invalid({
        path: `${pointer}/ip_address`,
        message: "is in no subnet of the host's network; create the subnet first",
        value: item.ip_address,
      });
    return subnetId;
  }
}

/**
 * Longest-prefix match over the subnets of a network; null if none contains the address. Tries only existing prefix
 * lengths, so that ten thousand addresses of a bulk write do not cause a million queries.
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
