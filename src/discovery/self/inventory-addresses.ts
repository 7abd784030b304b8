// Selects the machine addresses that belong in the inventory, each with its subnet. Pure.

import { cidrContains, cidrOf, type Ip, ipSortKey, parseCidr, parseIp } from "../../base/ip.ts";
import type { MachineAddress, MachinePort } from "./machine.ts";
import type { KernelAddress } from "./rtnetlink.ts";

/**
 * Addresses by which the machine is known in its network, sorted, each once. Omits:
 * - loopback (127.0.0.0/8, ::1) and link-local (169.254.0.0/16, RFC 3927; fe80::/10, RFC 4291 §2.5.6): every machine
 * and link has the same block, so it is not a subnet of the network, and the address is useless without its zone. The
 * loopback INTERFACE may have others, such as a router's /32.
 * - temporary ones (RFC 8981): replaced daily at random, each would change the record of an unchanged machine.
 * - duplicates: IPv6 found that another machine has the address (RFC 4862 §5.4.5). Tentative ones are kept: without a
 * carrier they remain tentative.
 * An address on several interfaces (unnumbered links) is listed once: with its shortest prefix, then lowest index.
 */
export function inventoryAddresses(addresses: readonly KernelAddress[]): MachineAddress[] {
  const relevant = addresses.filter(
    ({ ip, isTemporary, isDuplicate }) => !isTemporary && !isDuplicate && !isZoneLocal(ip),
  );
  const sorted = relevant
    .map((address) => ({ key: ipSortKey(address.ip), entry: machineAddress(address) }))
    .sort(
      (a, b) =>
        compare(a.key, b.key) || a.entry.prefix_length - b.entry.prefix_length || a.entry.if_index - b.entry.if_index,
    );
  return sorted.filter(({ key }, index) => key !== sorted[index - 1]?.key).map(({ entry }) => entry);
}

/** True if only the machine itself can reach the port. */
export function isLoopbackOnly(port: MachinePort): boolean {
  return port.bound.length > 0 && port.bound.every((text) => isWithin(LOOPBACK, parseIp(text)));
}

const LOOPBACK = ["127.0.0.0/8", "::1/128"].flatMap((text) => parseCidr(text) ?? []);
const LINK_LOCAL = ["169.254.0.0/16", "fe80::/10"].flatMap((text) => parseCidr(text) ?? []);

function isZoneLocal(ip: Ip): boolean {
  return isWithin(LOOPBACK, ip) || isWithin(LINK_LOCAL, ip);
}

function isWithin(blocks: typeof LOOPBACK, ip: Ip | null): boolean {
  return ip !== null && blocks.some((block) => cidrContains(block, ip));
}

function machineAddress({ ip, peer, prefixLength, ifIndex }: KernelAddress): MachineAddress {
  // A point-to-point address carries the prefix of the peer's block, which may not contain the local address.
  const isOnLink = peer === null || cidrContains(cidrOf(peer, prefixLength), ip);
  const length = isOnLink ? prefixLength : ip.bytes.length * 8;
  return { ip_address: ip.text, prefix_length: length, if_index: ifIndex, cidr: cidrOf(ip, length).text };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
