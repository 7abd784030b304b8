// Which of a machine's addresses belong in an inventory, and the subnet that each implies.
// Pure: must not read anything.

import { cidrContains, cidrOf, type Ip, ipSortKey, parseCidr, parseIp } from "../../base/ip.ts";
import type { MachineAddress, MachinePort } from "./machine.ts";
import type { KernelAddress } from "./rtnetlink.ts";

/**
 * The addresses by which a machine is known in its network, by address, each once.
 *
 * Left out:
 * - loopback (127.0.0.0/8, ::1) and link-local (169.254.0.0/16, RFC 3927; fe80::/10, RFC 4291 §2.5.6): every machine
 * and every link has the same block, so it
 *   is no subnet of the network, and the address leads nowhere without its zone. The loopback INTERFACE may have others, such as a router's /32.
 * - temporary ones (RFC 8981): replaced daily by chance, each would be a change of a machine that did not change.
 * - duplicates, which IPv6 found another machine to have (RFC 4862 §5.4.5). Tentative ones stay: without a carrier they
 * are so for ever.
 *
 * An address on several interfaces (unnumbered links) is given once: where its prefix is shortest, then at the lowest
 * index.
 */
export function inventoryAddresses(addresses: readonly KernelAddress[]): MachineAddress[] {
  const kept = addresses.filter(({ ip, isTemporary, isDuplicate }) => !isTemporary && !isDuplicate && !isZoneLocal(ip));
  const sorted = kept
    .map((address) => ({ key: ipSortKey(address.ip), entry: machineAddress(address) }))
    .sort(
      (a, b) =>
        compare(a.key, b.key) || a.entry.prefix_length - b.entry.prefix_length || a.entry.if_index - b.entry.if_index,
    );
  return sorted.filter(({ key }, index) => key !== sorted[index - 1]?.key).map(({ entry }) => entry);
}

/** Whether only the machine itself can reach the port. */
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
  // The prefix of a point-to-point address is that of the peer's block, which our own may lie outside of.
  const isOnLink = peer === null || cidrContains(cidrOf(peer, prefixLength), ip);
  const length = isOnLink ? prefixLength : ip.bytes.length * 8;
  return { ip_address: ip.text, prefix_length: length, if_index: ifIndex, cidr: cidrOf(ip, length).text };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
