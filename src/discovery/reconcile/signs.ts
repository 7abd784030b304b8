// Identifying signs of a device, excluding placeholders, addresses that move between routers, and addresses that every
// machine has. Pure.

import { cidrContains, parseCidr, parseIp } from "../../base/ip.ts";
import { isSingleDevice, parseMac } from "../../base/mac.ts";
import { append } from "../../base/multimap.ts";
import type { Device, DeviceTable } from "../device.ts";
import { SIGN_GROUPS, type SignGroup } from "../sightings.ts";
import { engineSign } from "./engine-ids.ts";

/** Valid within one network. */
export interface Signs {
  /** Of the device and of each chassis of a stack: trimmed, lower case, without placeholders. */
  readonly serialNumbers: ReadonlySet<string>;
  /** LLDP chassis ID. */
  readonly chassisId: string | null;
  /** SNMP engine ID as reported; engineSignOf decides whether it is a sign. */
  readonly engineId: string | null;
  readonly macs: ReadonlySet<string>;
  /** Lower case. */
  readonly sysName: string | null;
  readonly addresses: ReadonlySet<string>;
  /** MAC addresses by IP address, for the addresses on a card. */
  readonly cards: ReadonlyMap<string, string>;
  /** Addresses at which it responded as a device; empty if it never did. */
  readonly managed: ReadonlySet<string>;
  /** Groups that were not read completely. */
  readonly unread: ReadonlySet<SignGroup>;
}

const NO_SIGNS: Signs = {
  serialNumbers: new Set(),
  chassisId: null,
  engineId: null,
  macs: new Set(),
  sysName: null,
  addresses: new Set(),
  cards: new Map(),
  managed: new Set(),
  unread: new Set(),
};

/** A set with only the given signs. */
export function signsWith(some: Partial<Signs>): Signs {
  return { ...NO_SIGNS, ...some };
}

/** Returns the identifying signs. */
export function serialSigns(serials: Iterable<string | null | undefined>): Set<string> {
  return new Set([...serials].flatMap((serial) => serialSign(serial) ?? []));
}

/** Returns null for placeholders. Lower case: the case differs between agent versions. */
export function serialSign(serial: string | null | undefined): string | null {
  const text = (serial ?? "").trim().toLowerCase();
  if (text.length < 4 || PLACEHOLDER_SERIALS.has(text) || /^(.)\1*$/.test(text)) return null;
  return text;
}

/** Returns null for default names. */
export function nameSign(name: string | null | undefined): string | null {
  const text = (name ?? "").trim().toLowerCase();
  return text === "" || DEFAULT_NAMES.has(text) ? null : text;
}

/** False for loopback and link-local addresses. Called for every address of every device and scan. */
export function isOwnAddress(address: string): boolean {
  if (ORDINARY_V4.test(address)) return true;
  const ip = parseIp(address);
  return ip !== null && !COMMON_BLOCKS.some((block) => cidrContains(block, ip));
}

/** RFC 3927, RFC 4291 §2.5.6. */
export function isLinkLocal(address: string): boolean {
  const ip = parseIp(address);
  return ip !== null && LINK_LOCALS.some((block) => cidrContains(block, ip));
}

/**
 * @param polledAddress the address that responded
 * @param seenMac the link-layer address seen there, if any
 */
export function signsOfDevice(device: Device, polledAddress: string, seenMac: string | null): Signs {
  const { interfaces = [], broken = [] } = device;
  const macs = interfaces.flatMap((each) => each.mac_address ?? []);
  if (typeof device.bridge_address === "string") macs.push(device.bridge_address);
  if (seenMac !== null) macs.push(seenMac);
  const addresses = device.addresses ?? [];
  const macByIndex = new Map(interfaces.map((each) => [each.if_index, each.mac_address]));
  return {
    serialNumbers: serialsOf(device),
    chassisId: device.chassis_id?.value ?? null,
    engineId: device.engine_id ?? null,
    macs: new Set(macs.filter(isSingleDevice)),
    sysName: nameSign(device.sys_name),
    addresses: new Set([polledAddress, ...addresses.map((each) => each.ip_address).filter(isOwnAddress)]),
    cards: new Map(
      addresses.flatMap(({ ip_address, if_index }) => {
        const mac = macByIndex.get(if_index ?? -1);
        return typeof mac === "string" ? [[ip_address, mac] as const] : [];
      }),
    ),
    managed: new Set([polledAddress]),
    unread: new Set(GROUPS_BY_TABLE.flatMap(([table, group]) => (isRead(device, table, broken) ? [] : [group]))),
  };
}

const GROUPS_BY_TABLE = [
  ["entity", "serial_numbers"],
  ["interfaces", "cards"],
  ["addresses", "addresses"],
] as const satisfies ReadonlyArray<readonly [DeviceTable, SignGroup]>;

function isRead({ tables }: Device, table: DeviceTable, broken: readonly DeviceTable[]): boolean {
  return !broken.includes(table) && tables[table].state !== "partial" && tables[table].state !== "failed";
}

/** Groups of which a device has a sign. */
export function signGroupsOf(device: Device): SignGroup[] {
  const { interfaces = [], bridge_address, chassis_id, engine_id, sys_name } = device;
  const macs = [bridge_address, ...interfaces.map((each) => each.mac_address)];
  const has: Readonly<Record<SignGroup, boolean>> = {
    serial_numbers: serialsOf(device).size > 0,
    cards: macs.some((mac) => typeof mac === "string"),
    chassis_id: typeof chassis_id?.value === "string" && parseMac(chassis_id.value) === null,
    engine_id: engineSign(engine_id, macs, [...serialsOf(device), nameSign(sys_name)]) !== null,
    system_name: nameSign(sys_name) !== null,
    addresses: true,
  };
  return SIGN_GROUPS.filter((group) => has[group]);
}

/** The engine ID, unless it is a factory default or derived from another sign. */
export function engineSignOf({ engineId, macs, serialNumbers, sysName }: Signs): string | null {
  return engineSign(engineId, macs, [...serialNumbers, sysName]);
}

/** Serial numbers of the device and of its chassis. */
export function serialsOf({ serial_number, components = [] }: Device): Set<string> {
  return serialSigns([serial_number, ...components.map((each) => each.serial_number)]);
}

/** Parses the texts stored when a host was deleted or consolidated: `mac:00:1b:21:aa:bb:cc`. */
export function signsOfTexts(texts: readonly string[]): Signs {
  const valuesOf = (name: string) =>
    texts.filter((text) => text.startsWith(`${name}:`)).map((text) => text.slice(name.length + 1));
  return signsWith({
    serialNumbers: serialSigns(valuesOf("serial")),
    chassisId: valuesOf("chassis")[0] ?? null,
    engineId: valuesOf("engine")[0] ?? null,
    macs: new Set(valuesOf("mac")),
    sysName: nameSign(valuesOf("name")[0]),
    addresses: new Set(valuesOf("ip").filter(isOwnAddress)),
  });
}

/** Yields each sign prefixed by its type, as signsOfTexts parses them. */
export function* textsOfSigns({
  serialNumbers,
  chassisId,
  engineId,
  macs,
  sysName,
  addresses,
}: Signs): Generator<string> {
  for (const serial of serialNumbers) yield `serial:${serial}`;
  if (chassisId !== null) yield `chassis:${chassisId}`;
  if (engineId !== null) yield `engine:${engineId}`;
  if (sysName !== null) yield `name:${sysName}`;
  for (const mac of macs) yield `mac:${mac}`;
  for (const address of addresses) yield `ip:${address}`;
}

/** Hosts by each of their signs: there may be thousands, and every sweep sees them again. */
export class SignIndex<Host extends { readonly signs: Signs }> {
  private readonly bySign = new Map<string, Host[]>();

  constructor(hosts: Iterable<Host>) {
    for (const host of hosts) for (const key of textsOfSigns(host.signs)) append(this.bySign, key, host);
  }

  /** Returns the hosts that share a sign. */
  sharingSign(seen: Signs): Host[] {
    if (this.bySign.size === 0) return [];
    return [...new Set([...textsOfSigns(seen)].flatMap((key) => this.bySign.get(key) ?? []))];
  }
}

const PLACEHOLDER_SERIALS = new Set(
  `none, null, n/a, unknown, default, default string, not specified, not available, to be filled by o.e.m.,
    system serial number, 0123456789, 123456789, 1234567890, chassis serial number`.split(/,\s+/),
);
const DEFAULT_NAMES = new Set(
  "localhost localhost.localdomain (none) router switch default unknown noname unnamed".split(" "),
);
const LINK_LOCALS = ["169.254.0.0/16", "fe80::/10"].flatMap((text) => parseCidr(text) ?? []);
/** IPv4 addresses certainly outside all common blocks. */
const ORDINARY_V4 = /^(?!0|127\.|169\.)(?:\d{1,3}\.){3}\d{1,3}$/;
const COMMON_BLOCKS = ["127.0.0.0/8", "::1/128", "169.254.0.0/16", "fe80::/10", "0.0.0.0/32", "::/128"].flatMap(
  (text) => parseCidr(text) ?? [],
);
