// Identity claims: what each neighbor announced about itself on an interface, in comparable form. LLDP and CDP from one
// device form one claim. Pure.

import { parseIp } from "../../base/ip.ts";
import { isGroupAddress, parseMac, virtualRouterOf } from "../../base/mac.ts";
import { foldCase } from "../../base/text.ts";
import type { PortIdSubtype } from "../../resources/if-entries/vocabulary.ts";
import { type Announcement, isFloodable } from "./announcements.ts";
import { compareNames, deviceName, macIn, readDeviceId, serialKey } from "./device-names.ts";
import type { TopologyPort } from "./facts.ts";

export interface IdentityClaim {
  readonly port: TopologyPort;
  /** Indexes of its announcements. */
  readonly announcementIndexes: readonly number[];
  /** True if all of them may come from beyond the neighbor on the cable. */
  readonly isFloodable: boolean;
  readonly chassisMac: string | null;
  /** Case-folded chassis ID that is not a MAC address; `weight` as in scores. */
  readonly chassisText: { readonly text: string; readonly weight: number } | null;
  /** In the format of deviceName. */
  readonly names: readonly string[];
  /** True if one of them is certainly a name. */
  readonly isNamed: boolean;
  readonly serials: readonly string[];
  /** Excluding the chassis MAC address. */
  readonly macs: readonly string[];
  readonly addresses: readonly string[];
  /** Interface at the far end. */
  readonly portIds: ReadonlyArray<{ readonly subtype: PortIdSubtype; readonly value: string }>;
  readonly portDesc: string | null;
}

/** Computed once per port that is cached across queries (facts-cache.ts). */
const CLAIMS = new WeakMap<TopologyPort, readonly IdentityClaim[]>();

/** Claims that cannot be flooded first, else in order. */
export function claimsOf(port: TopologyPort): readonly IdentityClaim[] {
  const known = CLAIMS.get(port) ?? buildClaims(port);
  CLAIMS.set(port, known);
  return known;
}

function buildClaims(port: TopologyPort): IdentityClaim[] {
  const claims = port.announcements.map((announcement, index) => claimOf(port, announcement, index));
  const direct = claims.filter((claim) => !claim.isFloodable);
  const merged: IdentityClaim[] = [...direct];
  for (const claim of claims) {
    if (!claim.isFloodable) continue;
    const index = merged.findIndex((b) => isSameDevice(b, claim));
    if (index < 0) merged.push(claim);
    else merged[index] = mergeClaims(merged[index] as IdentityClaim, claim);
  }
  return merged;
}

/** True if two claims share a sign of a single device. */
function isSameDevice(a: IdentityClaim, b: IdentityClaim): boolean {
  if (a.names.some((name) => b.names.some((each) => compareNames(name, each) !== "Different"))) return true;
  if (a.serials.some((serial) => b.serials.includes(serial))) return true;
  const [macs, others] = [macsOf(a), macsOf(b)];
  return macs.some((mac) => others.includes(mac)) || a.addresses.some((address) => b.addresses.includes(address));
}

export function macsOf(claim: IdentityClaim): readonly string[] {
  return claim.chassisMac === null ? claim.macs : [claim.chassisMac, ...claim.macs];
}

/** Returns null for addresses that many devices have, such as 127.0.0.1 and link-local ones. */
export function usableAddress(text: string | undefined): string | null {
  const ip = text === undefined ? null : parseIp(text.trim());
  if (ip === null) return null;
  const [first = 0, second = 0] = ip.bytes;
  if (ip.version === 4)
    return first === 0 || first === 127 || first >= 224 || (first === 169 && second === 254) ? null : ip.text;
  return first === 0xff ||
    (first === 0xfe && (second & 0xc0) === 0x80) ||
    ip.bytes.subarray(0, 15).every((byte) => byte === 0)
    ? null
    : ip.text;
}

/** Returns null for groups, shared router addresses and all zeros. */
export function usableMac(text: string | null | undefined): string | null {
  const mac = text === null || text === undefined ? null : parseMac(text);
  return mac === null || mac === "00:00:00:00:00:00" || isGroupAddress(mac) || virtualRouterOf(mac) !== null
    ? null
    : mac;
}

export function foldText(text: string): string {
  return foldCase(text.trim());
}

/** Weight of a chassis ID that is not a MAC address: many devices share an interface name. */
const CHASSIS_WEIGHTS = {
  ChassisComponent: 2,
  LocallyAssigned: 2,
  NetworkAddress: 3,
  InterfaceAlias: 1,
  InterfaceName: 1,
  PortComponent: 1,
  MacAddress: 1,
} as const;

function claimOf(port: TopologyPort, announcement: Announcement, index: number): IdentityClaim {
  const { chassis_id: chassis, port_id: portId } = announcement;
  const floodable = isFloodable(announcement);
  const isCdpAsLldp = floodable && announcement.protocol === "Lldp";
  const id = readDeviceId(isCdpAsLldp ? chassis?.value : announcement.device_id);
  const sysName = deviceName(announcement.sys_name);
  const chassisMac = isCdpAsLldp ? null : usableMac(chassis?.value);
  const chassisText =
    chassis === undefined || isCdpAsLldp || parseMac(chassis.value) !== null || chassis.value.trim() === ""
      ? null
      : { text: foldText(chassis.value), weight: CHASSIS_WEIGHTS[chassis.subtype] };
  const isComponent = chassis?.subtype === "ChassisComponent" || chassis?.subtype === "LocallyAssigned";
  const addresses = [
    chassis?.subtype === "NetworkAddress" ? chassis.value : undefined,
    announcement.mgmt_addr,
    announcement.address,
  ].map(usableAddress);
  return {
    port,
    announcementIndexes: [index],
    isFloodable: floodable,
    chassisMac,
    chassisText,
    names: distinct([sysName, id.name]),
    isNamed: sysName !== null || (id.name !== null && id.isNamed),
    serials: distinct([id.serial, chassisText !== null && isComponent ? serialKey(chassis?.value) : null]),
    macs: distinct([usableMac(id.mac), portId === undefined ? null : usableMac(macIn(portId.value))]),
    addresses: distinct(addresses),
    portIds: portId === undefined || portId.value.trim() === "" ? [] : [portId],
    portDesc:
      announcement.port_desc === undefined || announcement.port_desc.trim() === "" ? null : announcement.port_desc,
  };
}

/** Merges two claims of one device; the first wins. */
function mergeClaims(a: IdentityClaim, b: IdentityClaim): IdentityClaim {
  return {
    port: a.port,
    announcementIndexes: [...a.announcementIndexes, ...b.announcementIndexes],
    isFloodable: a.isFloodable && b.isFloodable,
    chassisMac: a.chassisMac ?? b.chassisMac,
    chassisText: a.chassisText ?? b.chassisText,
    names: distinct([...a.names, ...b.names]),
    isNamed: a.isNamed || b.isNamed,
    serials: distinct([...a.serials, ...b.serials]),
    macs: distinct([...a.macs, ...b.macs]),
    addresses: distinct([...a.addresses, ...b.addresses]),
    portIds: [...a.portIds, ...b.portIds],
    portDesc: a.portDesc ?? b.portDesc,
  };
}

function distinct(values: readonly (string | null)[]): string[] {
  return values.length === 1 && values[0] !== null
    ? (values as string[])
    : [...new Set(values.filter((value) => value !== null))];
}
