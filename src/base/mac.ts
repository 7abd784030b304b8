// MAC addresses (EUI-48, IEEE 802) as values: strict reading into one canonical text.

/**
 * Reads `aa:bb:cc:dd:ee:ff`, `AA-BB-CC-DD-EE-FF` (IEEE 802) or `aabb.ccdd.eeff` (Cisco), in any case, and gives lower
 * case with colons. Null for anything else: mixed separators, single digits, no separators, EUI-64.
 */
export function parseMac(text: string): string | null {
  // Most are canonical already, and a bulk has a hundred thousand of them.
  if (CANONICAL.test(text)) return text;
  if (!MAC.test(text)) return null;
  const digits = text.replace(/[:.-]/g, "").toLowerCase();
  return digits.replace(/(..)(?=.)/g, "$1:");
}

/** `\1` and not a second class: all separators must be the same. */
const MAC = /^(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}|[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4})$/i;
const CANONICAL = /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/;

/**
 * Whether it addresses a group of stations and not one (IEEE 802, the I/G bit): broadcast, multicast. `mac` is
 * canonical.
 */
export function isGroupAddress(mac: string): boolean {
  return (firstOctet(mac) & 1) === 1;
}

/**
 * Whether software or an administrator gave it, and not the maker of a device (IEEE 802, the U/L bit). `mac` is
 * canonical.
 */
export function isLocallyAdministered(mac: string): boolean {
  return (firstOctet(mac) & 2) === 2;
}

/**
 * Whether one device has it, and no other: not a group's, not all nought, and no virtual router's, which moves from
 * device to device. `mac` is canonical.
 */
export function isOneDevices(mac: string): boolean {
  return mac !== "00:00:00:00:00:00" && !isGroupAddress(mac) && virtualRouterOf(mac) === null;
}

export interface VirtualRouter {
  readonly protocol: "VRRP" | "HSRP" | "GLBP";
  /** The number of the group of routers. */
  readonly group: number;
}

/**
 * The group of routers of which one at a time answers to the address: VRRP (RFC 9568 section 7.3), HSRP (RFC 2281
 * section 6 and version 2), or Cisco's Gateway Load Balancing Protocol, where each has one. Null for an address of one
 * station. `mac` is canonical.
 */
export function virtualRouterOf(mac: string): VirtualRouter | null {
  for (const { prefix, protocol } of VIRTUAL_ROUTERS) {
    if (mac.startsWith(prefix))
      return { protocol, group: Number.parseInt(mac.slice(prefix.length).replace(":", ""), 16) };
  }
  return null;
}

const VIRTUAL_ROUTERS = [
  { prefix: "00:00:5e:00:01:", protocol: "VRRP" },
  { prefix: "00:00:5e:00:02:", protocol: "VRRP" },
  { prefix: "00:00:0c:07:ac:", protocol: "HSRP" },
  { prefix: "00:00:0c:9f:f", protocol: "HSRP" },
  { prefix: "00:05:73:a0:0", protocol: "HSRP" },
  { prefix: "00:07:b4:00:", protocol: "GLBP" },
] as const;

function firstOctet(mac: string): number {
  return Number.parseInt(mac.slice(0, 2), 16);
}
