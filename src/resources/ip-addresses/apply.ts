// From what a write says of an address to the address: its subnet, defaults, kept values, and who may move one that a
// credential names.

import { type CommandActor, requireRole } from "../../access/actor.ts";
import { getReferenced } from "../../access/reach.ts";
import { invalid, referenceInvalid } from "../../base/errors.ts";
import { cidrContains, cidrOf, type Ip, parseCidr, parseIp } from "../../base/ip.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import type { HostRecord } from "../hosts/host.ts";
import { entered } from "../hosts/new-child.ts";
import { type SubnetRecord, subnetKind } from "../subnets/subnet.ts";
import { type IpAddressItem, type IpAddressRecord, ipAddressKind } from "./ip-address.ts";

/** What is not said by an item itself. */
interface Placed {
  readonly subnetId: string;
  /** For an item that has no position, where there is none yet. */
  readonly position: number;
}

/** A new address of a host, which may be new itself. */
export function addIpAddress(
  tx: WriteTransaction,
  host: HostRecord,
  item: IpAddressItem,
  placed: Placed,
  actor: CommandActor,
): IpAddressRecord {
  return tx.create(
    ipAddressKind,
    actor.organizationId,
    { host_id: host.id, network_id: host.network_id, ...describedFields(item, null, placed), first_discovery_id: null },
    entered(tx, item),
  );
}

/**
 * An address after a write: what the item leaves out keeps its value.
 * @throws DomainError auth_permission_denied for a caller below Admin who moves an address that a credential is
 * assigned to: a credential sent to an address of one's own choice is given away
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
  return tx.update(ipAddressKind, address.id, describedFields(item, address, { subnetId, position: address.position }));
}

function describedFields(item: IpAddressItem, previous: IpAddressRecord | null, placed: Placed) {
  return {
    subnet_id: placed.subnetId,
    ip_address: item.ip_address,
    mac_address: item.mac_address === undefined ? (previous?.mac_address ?? null) : item.mac_address,
    name: item.name === undefined ? (previous?.name ?? "") : (item.name ?? ""),
    position: item.position ?? previous?.position ?? placed.position,
  };
}

/** Finds the subnets of addresses in one network. */
export class SubnetFinder {
  private readonly tx: WriteTransaction;
  private readonly networkId: string;
  private readonly actor: CommandActor;
  /** The network's subnets, read when the first address asks. */
  private mostSpecific: ((ip: Ip) => string | null) | null = null;

  constructor(tx: WriteTransaction, networkId: string, actor: CommandActor) {
    this.tx = tx;
    this.networkId = networkId;
    this.actor = actor;
  }

  /**
   * The subnet of an address: as told, as it was, or the most specific one of the network that contains it.
   * @param previous the address as it is; null for a new one
   * @param pointer where the item stands in the body: `/ip_addresses/3`, empty for the body itself
   * @returns the subnet's id
   * @throws DomainError entity_reference_invalid for a subnet that is not there or of another network;
   * validation_failed for one that does not contain the address, and for an address that none of the network contains
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
      throw invalid([
        {
          path,
          message: `is the subnet ${subnet.cidr}, which does not contain ${item.ip_address}; leave it out for the most specific subnet that contains the address`,
          value: item.subnet_id,
        },
      ]);
    }
    if (previous !== null && previous.ip_address === item.ip_address) return previous.subnet_id;
    this.mostSpecific ??= subnetsByPrefix(tx, networkId);
    const found = this.mostSpecific(ip);
    if (found === null)
      throw invalid([
        {
          path: `${pointer}/ip_address`,
          message: "is in no subnet of the host's network; create the subnet first",
          value: item.ip_address,
        },
      ]);
    return found;
  }
}

/**
 * The subnets of a network as a look-up: the one with the longest prefix that contains an address, or null. Tries only
 * the prefix lengths that there are, so that ten thousand addresses of a bulk do not ask the store a million times.
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
