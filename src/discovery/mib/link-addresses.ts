// MAC address of an interface from its ifPhysAddress (RFC 2863). Agents also report the end of a tunnel there, cut to
// six octets, or their chassis's address on a loopback. Pure.

import { parseIp } from "../../base/ip.ts";
import type { DeviceAddress } from "../device.ts";
import type { SnmpValue } from "./reads.ts";
import { macOf } from "./values.ts";

/** Own IP addresses of a device, as the first octets of a MAC address. */
export interface OwnOctets {
  readonly octets: ReadonlySet<string>;
  /** False if it may have more. */
  readonly areComplete: boolean;
}

export function ownOctetsOf(addresses: readonly DeviceAddress[], areComplete: boolean): OwnOctets {
  return { octets: new Set(addresses.map(({ ip_address }) => octetsOf(ip_address))), areComplete };
}

/** True if a MAC address is an IP address cut to its length or padded, as earlier versions stored for tunnels. */
export function isOctetsOf(mac: string, address: string): boolean {
  return mac.startsWith(octetsOf(address));
}

/**
 * Decodes ifPhysAddress. Null: no MAC address, as on types without link-layer addresses, and for octets that begin an
 * IP address of the device itself (an IPv4 address is followed by zeros; on types that may be tunnels, by any octets).
 * Undefined: unknown, if they may be an address that was not read.
 * @param type IANAifType-MIB; undefined if unknown
 */
export function linkAddressOf(value: SnmpValue, type: number | undefined, own: OwnOctets): string | null | undefined {
  if (!(value instanceof Uint8Array)) return undefined;
  const mac = macOf(value);
  if (mac === null || WITHOUT_LINK_LAYER_ADDRESSES.has(type ?? OTHER)) return null;
  const mayBeTunnel = type === undefined || type === OTHER;
  const [ipv4, rest] = [mac.slice(0, IPV4_LENGTH), mac.slice(IPV4_LENGTH + 1)];
  if (own.octets.has(mac) || (own.octets.has(ipv4) && (mayBeTunnel || rest === "00:00"))) return null;
  if (mayBeTunnel && ipv4 === "00:00:00:00") return null;
  return mayBeTunnel && !own.areComplete && MAYBE_ADDRESS.test(mac) ? undefined : mac;
}

const MAC_OCTETS = 6;
/** Characters of four octets. */
const IPV4_LENGTH = 11;
const OTHER = 1;

/**
 * propPointToPointSerial, ppp, softwareLoopback, slip, pppMultilinkBundle, virtualIpAddress, hdlc, tunnel, mplsTunnel,
 * sixToFour, gtp. Others that sound virtual, such as propVirtual, ipForward or l3ipvlan, are often SVIs with real ones.
 */
const WITHOUT_LINK_LAYER_ADDRESSES: ReadonlySet<number> = new Set([22, 23, 24, 28, 108, 112, 118, 131, 150, 215, 216]);

/** An IPv4 address and zeros; a global, unique local or link-local IPv6 address. */
const MAYBE_ADDRESS = /:00:00$|^(?:[23]|f[cd]|fe:80)/;

/** The first octets of an address in the notation of a MAC address: four, or six of an IPv6 address. */
function octetsOf(address: string): string {
  const octets = parseIp(address)?.bytes.subarray(0, MAC_OCTETS) ?? [];
  return Array.from(octets, (octet) => octet.toString(16).padStart(2, "0")).join(":");
}
