// Expected content of a recorded device (.snmprec: `OID|type|value`), counted from the lines alone. Shares no code with
// the MIBs under test.

import { parseIp } from "../../../src/base/ip.ts";
import type { LldpAnnouncement } from "../../../src/discovery/device.ts";
import {
  CDP_CAPABILITIES,
  CHASSIS_ID_SUBTYPES,
  LLDP_CAPABILITIES,
  PORT_ID_SUBTYPES,
} from "../../../src/resources/if-entries/vocabulary.ts";

/** Port list decoders by recording, for nonstandard encodings found by inspection. */
const PORT_LISTS: Readonly<Record<string, (bytes: Buffer) => number[]>> = {
  "brocade-icx6430-24": () => [],
  "dlink-des3038": (bytes) => bitsOf(bytes).map((bit) => bytes.length * 8 - bit),
  "juniper-mx960-13-3r9-13": (bytes) => bytes.toString().split(",").map(Number),
};

/**
 * Recordings in which bridge port numbers are ifIndexes, also for ports missing from dot1dBasePortTable, such as
 * tunnels.
 */
const PORTS_ARE_INTERFACES: ReadonlySet<string> = new Set(["ruijie-m18000"]);

/** Recordings in which dot1qPvid is indexed by ifIndex. */
const NATIVES_BY_IF_INDEX: ReadonlySet<string> = new Set(["h3c-comware-lsq1wcmd0-2509p61"]);

interface RawValue {
  readonly oid: string;
  readonly value: string | number;
  readonly bytes: Buffer;
}

export type Raw = ReadonlyMap<string, RawValue>;

/** @param snmprec text of the file, one character per byte */
export function rawOf(snmprec: string): Raw {
  const raw = new Map<string, RawValue>();
  for (const line of snmprec.split("\n")) {
    const [oid = "", type = "", ...rest] = line.split("|");
    const text = rest.join("|").replace("\r", "");
    if (line.startsWith("#") || rest.length === 0 || raw.has(oid)) continue;
    const bytes = type.endsWith("x") ? Buffer.from(text, "hex") : Buffer.from(text, "latin1");
    raw.set(oid, { oid, bytes, value: /^(2|65|66|67|70)$/.test(type) ? Number(text) : text });
  }
  return raw;
}

/** Index → value, in file order. */
function columnOf(raw: Raw, oid: string): Map<string, RawValue> {
  const column = new Map<string, RawValue>();
  for (const [key, value] of raw) if (key.startsWith(`${oid}.`)) column.set(key.slice(oid.length + 1), value);
  return column;
}

function number(raw: Raw, oid: string): number {
  return Number(raw.get(oid)?.value ?? 0);
}

/** Text of a value as displayed: control characters become spaces. */
export function text(raw: Raw, oid: string): string {
  const bytes = raw.get(oid)?.bytes ?? Buffer.alloc(0);
  const utf8 = bytes.toString("utf8");
  return (utf8.includes("\ufffd") ? bytes.toString("latin1") : utf8)
    .replaceAll("\0", "")
    .replaceAll(/\s*[\r\n\t]+\s*/g, " ")
    .trim();
}

export function macOf(bytes: Buffer): string {
  // One device sends MAC addresses as text.
  return bytes.length === 17 ? bytes.toString() : bytes.toString("hex").replaceAll(/(..)(?=.)/g, "$1:");
}

/** Positions of the set bits, counted from 0 at the most significant bit of the first byte. */
function bitsOf(bytes: Buffer): number[] {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return [...bits].flatMap((bit, position) => (bit === "1" ? [position] : []));
}

function ipOf(octets: readonly (string | number)[]): string {
  return octets.length === 4
    ? octets.join(".")
    : (parseIp(
        Buffer.from(octets.map(Number))
          .toString("hex")
          .replaceAll(/(....)(?=.)/g, "$1:"),
      )?.text ?? "");
}

/** Expected interfaces, without names or aliases if the device does not serve that column. */
export function expectedInterfaces(raw: Raw): Record<string, unknown>[] {
  const ADMIN = ["", "Up", "Down", "Testing"];
  const OPER = ["", "Up", "Down", "Testing", "Unknown", "Dormant", "NotPresent", "LowerLayerDown"];
  const indexes = [...columnOf(raw, "1.3.6.1.2.1.2.2.1.1").keys()].map(Number).sort((a, b) => a - b);
  const isServed = (column: string): boolean => columnOf(raw, column).size > 0;
  const [hasNames, hasAliases] = ["1.3.6.1.2.1.31.1.1.1.1", "1.3.6.1.2.1.31.1.1.1.18"].map(isServed);
  return indexes.map((index) => {
    const low = number(raw, `1.3.6.1.2.1.2.2.1.5.${index}`);
    const high = number(raw, `1.3.6.1.2.1.31.1.1.1.15.${index}`);
    const phys = raw.get(`1.3.6.1.2.1.2.2.1.6.${index}`)?.bytes ?? Buffer.alloc(0);
    // The D-Link reports ifHighSpeed in bits per second.
    const bps = high > 0 && high < 1_000_000 ? high * 1_000_000 : low === 4_294_967_295 ? 0 : low;
    return {
      if_index: index,
      if_descr: text(raw, `1.3.6.1.2.1.2.2.1.2.${index}`),
      ...(hasNames === true ? { if_name: text(raw, `1.3.6.1.2.1.31.1.1.1.1.${index}`) || null } : {}),
      ...(hasAliases === true ? { if_alias: text(raw, `1.3.6.1.2.1.31.1.1.1.18.${index}`) || null } : {}),
      if_type: number(raw, `1.3.6.1.2.1.2.2.1.3.${index}`),
      speed_bps: bps || null,
      admin_status: ADMIN[number(raw, `1.3.6.1.2.1.2.2.1.7.${index}`)],
      oper_status: OPER[number(raw, `1.3.6.1.2.1.2.2.1.8.${index}`)],
      mac_address: phys.length === 6 && !phys.equals(Buffer.alloc(6)) ? macOf(phys) : null,
    };
  });
}

/** Address → prefix length and interface. */
export function expectedAddresses(raw: Raw): Record<string, [number | null, number]> {
  const addresses: Record<string, [number | null, number]> = {};
  for (const [index, { bytes }] of columnOf(raw, "1.3.6.1.2.1.4.20.1.1")) {
    const mask = raw.get(`1.3.6.1.2.1.4.20.1.3.${index}`)?.bytes ?? Buffer.alloc(4);
    addresses[bytes.join(".")] = [bitsOf(mask).length, number(raw, `1.3.6.1.2.1.4.20.1.2.${index}`)];
  }
  for (const [index, { value }] of columnOf(raw, "1.3.6.1.2.1.55.1.8.1.2")) {
    const octets = index.split(".");
    const address = ipOf(octets.slice(-16));
    addresses[address] ??= [Number(value) || null, Number(octets[0])];
  }
  for (const [index, { value }] of columnOf(raw, "1.3.6.1.2.1.4.34.1.3")) {
    const [type, length, ...octets] = index.split(".");
    if (raw.get(`1.3.6.1.2.1.4.34.1.4.${index}`)?.value !== 1 || type === undefined || type.length > 1) continue;
    const address = ipOf(octets.slice(0, Number(length) === 4 ? 4 : 16));
    const pointer = String(raw.get(`1.3.6.1.2.1.4.34.1.5.${index}`)?.value);
    const prefix = pointer === "0.0" ? null : Number(pointer.split(".").at(-1));
    const existing = addresses[address];
    addresses[address] = [prefix ?? existing?.[0] ?? null, Math.min(Number(value), existing?.[1] ?? Infinity)];
  }
  return addresses;
}

export function expectedArp(raw: Raw): string[] {
  const entries = new Map<string, string>();
  const add = (ifIndex: string | undefined, address: string, { bytes }: RawValue, isInvalid: boolean): void => {
    const isUsable =
      bytes.length === 6 && !bytes.equals(Buffer.alloc(6)) && ((bytes[0] as number) & 1) === 0 && !isInvalid;
    const key = `${ifIndex === "0" ? "null" : ifIndex} ${address}`;
    if (isUsable && !entries.has(key)) entries.set(key, macOf(bytes));
  };
  for (const [index, value] of columnOf(raw, "1.3.6.1.2.1.4.35.1.4")) {
    const [ifIndex, , length, ...octets] = index.split(".");
    add(
      ifIndex,
      ipOf(octets.slice(0, Number(length) === 4 ? 4 : 16)),
      value,
      raw.get(`1.3.6.1.2.1.4.35.1.6.${index}`)?.value === 2,
    );
  }
  for (const [index, value] of columnOf(raw, "1.3.6.1.2.1.4.22.1.2")) {
    const [first, ...octets] = index.split(".");
    const isNumbered = octets.length !== 4;
    const ifIndex = isNumbered ? String(number(raw, `1.3.6.1.2.1.4.22.1.1.${index}`)) : first;
    const address = isNumbered ? raw.get(`1.3.6.1.2.1.4.22.1.3.${index}`)?.bytes.join(".") : octets.join(".");
    add(ifIndex, address ?? "", value, raw.get(`1.3.6.1.2.1.4.22.1.4.${index}`)?.value === 2);
  }
  for (const [index, value] of columnOf(raw, "1.3.6.1.2.1.55.1.12.1.2")) {
    const octets = index.split(".");
    add(octets[0], ipOf(octets.slice(-16)), value, raw.get(`1.3.6.1.2.1.55.1.12.1.6.${index}`)?.value === 2);
  }
  return sorted([...entries].map(([key, mac]) => `${key} ${mac}`));
}

/** Bridge port → ifIndex, for ports that are interfaces. */
function bridgePorts(raw: Raw, name: string): Map<number, number> {
  if (PORTS_ARE_INTERFACES.has(name)) {
    const ifIndexes = [...columnOf(raw, "1.3.6.1.2.1.2.2.1.1").keys()].map(Number);
    return new Map(ifIndexes.map((ifIndex) => [ifIndex, ifIndex]));
  }
  const ports = [...columnOf(raw, "1.3.6.1.2.1.17.1.4.1.2")].map(([port, { value }]): [number, number] => [
    Number(port),
    Number(value),
  ]);
  return new Map(ports.filter(([, ifIndex]) => raw.has(`1.3.6.1.2.1.2.2.1.1.${ifIndex}`)));
}

/** Tables by their name in findings: their entry OIDs, and the columns relevant to an inventory. */
const TABLES: Readonly<
  Record<string, ReadonlyArray<readonly [entry: string, columns: readonly number[], onlyWith?: string]>>
> = {
  entity: [["1.3.6.1.2.1.47.1.1.1.1", [5, 11, 12, 13]]],
  interfaces: [["1.3.6.1.2.1.2.2.1", [2, 3, 5, 6, 7, 8]]],
  interface_extensions: [["1.3.6.1.2.1.31.1.1.1", [1, 15, 18]]],
  interface_stack: [],
  addresses: [
    ["1.3.6.1.2.1.4.34.1", [3, 4, 5]],
    ["1.3.6.1.2.1.4.20.1", [2, 3]],
    ["1.3.6.1.2.1.55.1.8.1", [2]],
  ],
  arp: [
    ["1.3.6.1.2.1.4.35.1", [4, 6]],
    ["1.3.6.1.2.1.4.22.1", [2, 4]],
    ["1.3.6.1.2.1.55.1.12.1", [2, 4, 6]],
  ],
  forwarding: [
    ["1.3.6.1.2.1.17.1.4.1", [2]],
    ["1.3.6.1.2.1.17.7.1.2.2.1", [2, 3]],
    ["1.3.6.1.2.1.17.4.3.1", [2, 3]],
  ],
  vlans: [
    ["1.3.6.1.2.1.17.7.1.4.2.1", [3, 4]],
    ["1.3.6.1.2.1.17.7.1.4.3.1", [1, 2]],
    ["1.3.6.1.2.1.17.7.1.4.5.1", [1]],
    ["1.3.6.1.4.1.9.9.46.1.3.1.1", [2, 3, 4]],
    ["1.3.6.1.4.1.9.9.46.1.6.1.1", [4, 5, 14, 17, 18, 19], "1.3.6.1.4.1.9.9.46.1.3.1.1.2"],
    ["1.3.6.1.4.1.9.9.68.1.2.2.1", [2], "1.3.6.1.4.1.9.9.46.1.3.1.1.2"],
  ],
  lldp: [
    ["1.0.8802.1.1.2.1.4.1.1", [4, 5, 6, 7, 8, 9, 10, 11, 12]],
    ["1.0.8802.1.1.2.1.4.2.1", [3], "1.0.8802.1.1.2.1.4.1.1.5"],
    ["1.0.8802.1.1.2.1.3.7.1", [2, 3, 4], "1.0.8802.1.1.2.1.4.1.1.5"],
  ],
  cdp: [["1.3.6.1.4.1.9.9.23.1.2.1.1", [3, 4, 6, 7, 8, 9]]],
};

/** Number of rows with a value in any column, by table; dependent rows only count with the row they belong to. */
export function expectedRows(raw: Raw): Record<string, number> {
  const isServed = (column: string): boolean => columnOf(raw, column).size > 0;
  const rowsOf = (entry: string, columns: readonly number[]): number =>
    new Set(columns.flatMap((column) => [...columnOf(raw, `${entry}.${column}`).keys()])).size;
  const counts = Object.entries(TABLES).map(([table, parts]) => {
    const applicable = parts.filter(([, , onlyWith]) => onlyWith === undefined || isServed(onlyWith));
    return [table, applicable.reduce((sum, [entry, columns]) => sum + rowsOf(entry, columns), 0)];
  });
  return { ...Object.fromEntries(counts), interface_stack: stackRows(raw) };
}

/** Rows of ifStackTable and dot3adAggPortTable, which are read only for devices with aggregates or VLAN interfaces. */
function stackRows(raw: Raw): number {
  const types = [...columnOf(raw, "1.3.6.1.2.1.2.2.1.3").values()].map(({ value }) => value);
  const names = ["1.3.6.1.2.1.31.1.1.1.1", "1.3.6.1.2.1.2.2.1.2"].flatMap((column) =>
    [...columnOf(raw, column).values()].map(({ oid }) => text(raw, oid)),
  );
  const hasAggregates = types.includes(161) || names.some((name) => AGGREGATES.test(name));
  const members = [12, 13].flatMap((column) => [...columnOf(raw, `1.2.840.10006.300.43.1.2.1.1.${column}`).keys()]);
  const layers = columnOf(raw, "1.3.6.1.2.1.31.1.2.1.3").size;
  return (hasAggregates ? new Set(members).size + layers : 0) || (types.includes(135) ? layers : 0);
}

/** Names of aggregates in the recordings. */
const AGGREGATES = /^(po|port-channel|ae|trk|bond|lag|be|bundle-ether|bridge-aggregation|agg|eth-trunk) ?\d+$/i;

/** Number of dot1dBasePortTable rows with an interface. */
export function expectedBridgePorts(raw: Raw): number {
  return [...columnOf(raw, "1.3.6.1.2.1.17.1.4.1.2").values()].filter(({ value }) =>
    raw.has(`1.3.6.1.2.1.2.2.1.1.${value}`),
  ).length;
}

/** VLAN number → name. */
export function expectedVlans(raw: Raw): Map<number, string> {
  const names = new Map([
    ...columnOf(raw, "1.3.6.1.2.1.17.7.1.4.3.1.1"),
    ...columnOf(raw, "1.3.6.1.4.1.9.9.46.1.3.1.1.4"),
  ]);
  return new Map([...names].map(([index, { oid }]) => [Number(index.split(".").at(-1)), text(raw, oid)]));
}

/**
 * Expected members and native VLANs, as pairs of ifIndex and VLAN.
 * @param name name of the recording
 */
export function expectedMembership(raw: Raw, name: string): { members: number[][]; natives: number[][] } {
  const portsOf = PORT_LISTS[name] ?? ((bytes: Buffer) => bitsOf(bytes).map((bit) => bit + 1));
  const ports = bridgePorts(raw, name);
  const isInterface = (ifIndex: number): boolean => raw.has(`1.3.6.1.2.1.2.2.1.1.${ifIndex}`);
  const members: number[][] = [];
  for (const oid of ["1.3.6.1.2.1.17.7.1.4.2.1.4", "1.3.6.1.2.1.17.7.1.4.3.1.2"])
    for (const [index, { bytes }] of columnOf(raw, oid))
      for (const port of portsOf(bytes)) members.push([ports.get(port) ?? 0, Number(index.split(".").at(-1))]);
  const natives = [...columnOf(raw, "1.3.6.1.2.1.17.7.1.4.5.1.1")].map(([index, { value }]) => {
    return [NATIVES_BY_IF_INDEX.has(name) ? Number(index) : (ports.get(Number(index)) ?? 0), Number(value)];
  });

  const existing = new Set(
    [...columnOf(raw, "1.3.6.1.4.1.9.9.46.1.3.1.1.2").keys()].map((index) => Number(index.split(".")[1])),
  );
  const trunks = [...columnOf(raw, "1.3.6.1.4.1.9.9.46.1.6.1.1.14")]
    .filter(([, { value }]) => value === 1)
    .map(([index]) => index);
  for (const index of trunks) {
    natives.push([Number(index), number(raw, `1.3.6.1.4.1.9.9.46.1.6.1.1.5.${index}`)]);
    const lists = ["4", "17", "18", "19"].map(
      (column) => raw.get(`1.3.6.1.4.1.9.9.46.1.6.1.1.${column}.${index}`)?.bytes ?? Buffer.alloc(0),
    );
    for (const [position, bytes] of lists.entries())
      for (const bit of bitsOf(bytes))
        if (existing.has(position * 1_024 + bit)) members.push([Number(index), position * 1_024 + bit]);
  }
  for (const [index, { value }] of columnOf(raw, "1.3.6.1.4.1.9.9.68.1.2.2.1.2")) {
    if (trunks.includes(index)) continue;
    natives.push([Number(index), Number(value)]);
    members.push([Number(index), Number(value)]);
  }
  const isValid = ([ifIndex = 0, vlan = 0]: number[]): boolean => isInterface(ifIndex) && vlan > 0;
  return { members: members.filter(isValid), natives: natives.filter(isValid) };
}

/**
 * Learned entries as `ifIndex MAC VLAN`, and the number of entries without an interface.
 * @param name name of the recording
 */
export function expectedForwarding(raw: Raw, name: string): { located: string[]; unlocated: number } {
  const ports = bridgePorts(raw, name);
  const fids = [...columnOf(raw, "1.3.6.1.2.1.17.7.1.4.2.1.3")].map(([index, { value }]): [number, number] => [
    Number(value),
    Number(index.split(".").at(-1)),
  ]);
  const named = new Set([...columnOf(raw, "1.3.6.1.2.1.17.7.1.4.3.1.1").keys()].map(Number));
  const vlanOf = (fid: number): number | null => new Map(fids).get(fid) ?? (named.has(fid) ? fid : null);
  const located = new Map<string, string[]>();
  const unlocated = new Set<string>();
  const add = (port: RawValue, octets: string[], vlan: number | null): void => {
    const mac = macOf(Buffer.from(octets.map(Number)));
    const ifIndex = ports.get(Number(port.value));
    if (ifIndex === undefined) unlocated.add(mac);
    else if (vlan !== null || !located.has(`${ifIndex} ${mac}`))
      located.set(`${ifIndex} ${mac}`, [...(located.get(`${ifIndex} ${mac}`) ?? []), `${ifIndex} ${mac} ${vlan}`]);
  };
  for (const [index, port] of columnOf(raw, "1.3.6.1.2.1.17.7.1.2.2.1.2")) {
    const [fid, ...octets] = index.split(".");
    if (raw.get(`1.3.6.1.2.1.17.7.1.2.2.1.3.${index}`)?.value === 3 && port.value !== 0)
      add(port, octets, vlanOf(Number(fid)));
  }
  for (const [index, port] of columnOf(raw, "1.3.6.1.2.1.17.4.3.1.2")) {
    if (raw.get(`1.3.6.1.2.1.17.4.3.1.3.${index}`)?.value === 3 && port.value !== 0) add(port, index.split("."), null);
  }
  return { located: [...located.values()].flat(), unlocated: unlocated.size };
}

/** Expected LLDP neighbors. In all recordings, local port numbers are ifIndexes, as verified by name. */
export function expectedLldp(raw: Raw): object[] {
  const column = (number: number): string => `1.0.8802.1.1.2.1.4.1.1.${number}`;
  return [...columnOf(raw, column(5))].map(([index, chassis]) => {
    const addresses = [...columnOf(raw, `1.0.8802.1.1.2.1.4.2.1.3.${index}`).keys()]
      .map((rest) => rest.split("."))
      .filter(([, length]) => length === "4" || length === "16");
    /** Names at the set bits of the first octet, the only one used in the recordings; undefined for none. */
    const bits = (capabilities: number) => {
      const octet = raw.get(`${column(capabilities)}.${index}`)?.bytes[0] ?? 0;
      const binary = octet.toString(2).padStart(8, "0");
      return octet === 0 ? undefined : LLDP_CAPABILITIES.filter((_, position) => binary[position] === "1");
    };
    const announced = {
      chassis_id: {
        subtype: CHASSIS_ID_SUBTYPES[number(raw, `${column(4)}.${index}`) - 1],
        value: number(raw, `${column(4)}.${index}`) === 4 ? macOf(chassis.bytes) : text(raw, chassis.oid),
      },
      port_id: {
        subtype: PORT_ID_SUBTYPES[number(raw, `${column(6)}.${index}`) - 1],
        value:
          number(raw, `${column(6)}.${index}`) === 3
            ? macOf((raw.get(`${column(7)}.${index}`) as RawValue).bytes)
            : text(raw, `${column(7)}.${index}`),
      },
      sys_name: text(raw, `${column(9)}.${index}`),
      sys_desc: text(raw, `${column(10)}.${index}`),
      port_desc: text(raw, `${column(8)}.${index}`),
      mgmt_addr: (addresses.find(([, length]) => length === "4") ?? addresses[0])?.slice(2).join("."),
      capabilities: bits(12) ?? bits(11),
    } as LldpAnnouncement;
    return {
      if_index: Number(index.split(".")[1]),
      ...Object.fromEntries(Object.entries(announced).filter(([, value]) => value !== "" && value !== undefined)),
    };
  });
}

export function expectedCdp(raw: Raw): object[] {
  const column = (number: number): string => `1.3.6.1.4.1.9.9.23.1.2.1.1.${number}`;
  const id = (oid: string): string => {
    const bytes = raw.get(oid)?.bytes ?? Buffer.alloc(0);
    return /^[\x20-\x7e]*$/.test(bytes.toString("latin1")) ? bytes.toString() : macOf(bytes);
  };
  return [...columnOf(raw, column(6)).keys()].map((index) => {
    const address = raw.get(`${column(4)}.${index}`)?.bytes;
    const octets = raw.get(`${column(9)}.${index}`)?.bytes;
    const binary = octets && Array.from(octets, (octet) => octet.toString(2).padStart(8, "0")).join("");
    const announced = {
      device_id: id(`${column(6)}.${index}`),
      port_id: id(`${column(7)}.${index}`),
      platform: text(raw, `${column(8)}.${index}`),
      address: raw.get(`${column(3)}.${index}`)?.value === 1 ? address?.join(".") : "",
      capabilities: binary?.length === 32 ? CDP_CAPABILITIES.filter((_, bit) => binary.at(-1 - bit) === "1") : "",
    };
    return {
      if_index: Number(index.split(".")[0]),
      ...Object.fromEntries(Object.entries(announced).filter(([, value]) => value !== "" && value !== undefined)),
    };
  });
}

export function sorted(texts: readonly string[]): string[] {
  return [...texts].sort();
}

export function pairs(list: readonly (readonly number[])[]): string[] {
  return sorted([...new Set(list.map((pair) => pair.join(" ")))]);
}

export function canonicalOrder(list: readonly object[]): unknown[] {
  const keyed = list.map((item) => Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))));
  return keyed.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
