// Well-known uses of MAC addresses not assigned by vendors: protocols, virtual routers, guests. Independent of
// the registry.

import { virtualRouterOf } from "../mac.ts";

/**
 * Well-known use of an address: `VRRP virtual router 10`, `Spanning tree`, `Docker container`. Null for most addresses.
 * @param mac canonical, or a prefix as returned by parseMacPrefix
 */
export function knownUse(mac: string): string | null {
  const router = mac.length === CANONICAL_LENGTH ? virtualRouterOf(mac) : null;
  if (router !== null) return `${router.protocol} ${GROUPS[router.protocol]} ${router.group}`;
  return USES.find(([prefix]) => mac.startsWith(prefix))?.[1] ?? null;
}

const CANONICAL_LENGTH = 17;

/** Term of each protocol for an instance that shares an address. */
const GROUPS = { VRRP: "virtual router", HSRP: "group", GLBP: "group and forwarder" } as const;

/** Specific entries before general ones. */
const USES: ReadonlyArray<readonly [prefix: string, use: string]> = [
  ["ff:ff:ff:ff:ff:ff", "Broadcast"],
  ["01:80:c2:00:00:00", "Spanning tree (IEEE 802.1D)"],
  ["01:80:c2:00:00:01", "Pause frames (IEEE 802.3x)"],
  ["01:80:c2:00:00:02", "Slow protocols: LACP, OAM (IEEE 802.3)"],
  ["01:80:c2:00:00:03", "Port authentication (IEEE 802.1X)"],
  ["01:80:c2:00:00:08", "Provider spanning tree (IEEE 802.1ad)"],
  ["01:80:c2:00:00:0e", "LLDP (IEEE 802.1AB)"],
  ["01:80:c2:00:00:0", "Link-local protocol (IEEE 802.1Q)"],
  ["01:80:c2:00:00:20", "MMRP (IEEE 802.1Q)"],
  ["01:80:c2:00:00:21", "MVRP, GVRP (IEEE 802.1Q)"],
  ["01:00:0c:cc:cc:cc", "CDP, VTP, DTP, UDLD (Cisco)"],
  ["01:00:0c:cc:cc:cd", "Spanning tree per VLAN (Cisco)"],
  ["01:1b:19:00:00:00", "PTP (IEEE 1588)"],
  // RFC 1112, section 6.4; RFC 2464, section 7.
  ["01:00:5e:", "IPv4 multicast"],
  ["33:33:", "IPv6 multicast"],
  ["02:42:", "Docker container"],
  ["52:54:00:", "QEMU or KVM guest"],
  ["08:00:27:", "VirtualBox guest"],
  ["00:15:5d:", "Hyper-V guest"],
];
