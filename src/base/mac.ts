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

/**
 * Reads an address, or the beginning of one, in any notation: with colons, dashes, dots, blanks or nothing between its
 * digits, in groups of one or two (`0:1b:21`) or of four. Gives lower case, with a colon between every two digits.
 * @returns null for fewer than six digits (an OUI), for more than twelve, and for anything else
 */
export function parseMacPrefix(text: string): string | null {
  const [separator] = /[-:. ]/.exec(text) ?? [];
  const groups = separator === undefined ? [text] : text.split(separator);
  if (!groups.every((group) => /^[0-9a-f]+$/i.test(group))) return null;
  // One digit between colons is one with a nought before it, as BSD and Solaris write it.
  const isOctets = separator !== undefined && groups.every((group) => group.length <= 2);
  const digits = (isOctets ? groups.map((group) => group.padStart(2, "0")) : groups).join("").toLowerCase();
  const isEven = separator === undefined || isOctets || groups.slice(0, -1).every(({ length }) => length === 4);
  if (!isEven || digits.length < MAC_PREFIX_DIGITS_MIN || digits.length > MAC_DIGITS) return null;
  return digits.replace(/(..)(?=.)/g, "$1:");
}

/** An OUI (IEEE 802). */
const MAC_PREFIX_DIGITS_MIN = 6;
const MAC_DIGITS = 12;

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

/**
 * What sort of address it is. `VirtualRouter` moves between routers; `LocallyAdministered` was made up by software, as
 * phones and laptops do at random, and hypervisors and containers for their guests.
 */
export const MAC_TYPES = [
  "Universal",
  "LocallyAdministered",
  "VirtualRouter",
  "Multicast",
  "Broadcast",
  "Unspecified",
] as const;
export type MacType = (typeof MAC_TYPES)[number];

/** @param mac canonical, or the beginning of one as parseMacPrefix gives it: that is only what its first digits tell */
export function macTypeOf(mac: string): MacType {
  if (mac === "ff:ff:ff:ff:ff:ff") return "Broadcast";
  if (mac === "00:00:00:00:00:00") return "Unspecified";
  if (isGroupAddress(mac)) return "Multicast";
  if (mac.length === CANONICAL_LENGTH && virtualRouterOf(mac) !== null) return "VirtualRouter";
  return isLocallyAdministered(mac) ? "LocallyAdministered" : "Universal";
}

const CANONICAL_LENGTH = 17;

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
