// A switch as its agent's rows, read by the real decoders: ports, learned MAC addresses, LLDP and CDP neighbors.

import type { Device } from "../../../src/discovery/device.ts";
import { deviceWith, dotted, hex, type SyntheticStep, tableOf, utf8 } from "./synthetic-reads.ts";

/** An LLDP announcement: bits of the capabilities in hex, as in lldpRemSysCapEnabled. */
export interface HeardLldp {
  readonly chassis: string;
  readonly port?: string;
  readonly name?: string;
  readonly description?: string;
  /** Absent: the optional TLV is not announced. */
  readonly enabled?: string;
  readonly supported?: string;
}

export interface HeardCdp {
  readonly id: string;
  readonly port: string;
  readonly platform?: string;
  /** cdpCacheCapabilities in hex. */
  readonly capabilities?: string;
}

interface ReadPort {
  /** ifName and ifDescr; `Gi0/N` by default. */
  readonly name?: string;
  /** IANAifType-MIB; Ethernet by default. */
  readonly type?: number;
  /** ifPhysAddress; by default counted from the switch's. */
  readonly mac?: string;
  readonly macs?: readonly string[];
  readonly lldp?: readonly HeardLldp[];
  readonly cdp?: readonly HeardCdp[];
}

interface ReadSwitch {
  readonly name: string;
  readonly address: string;
  /** Chassis id, and the MAC address of the first port. */
  readonly mac: string;
  /** By ifIndex; ports without entries are numbered up to `portCount`. */
  readonly ports: Readonly<Record<number, ReadPort>>;
  readonly portCount?: number;
  /** Scalars of the system group, in place of a switch's. */
  readonly system?: NonNullable<SyntheticStep["scalars"]>;
  /** Own capabilities in hex. */
  readonly enabled?: string;
  /** Pairs of the upper and the lower layer in ifStackTable, by ifIndex. */
  readonly layers?: ReadonlyArray<readonly [higher: number, lower: number]>;
  /** dot3adAggPortAttachedAggID, by ifIndex. */
  readonly attached?: Readonly<Record<number, number>>;
}

/** Report of a switch with ports Gi0/1, Gi0/2, …, each of which is a bridge port. */
export function readSwitch(read: ReadSwitch): Device {
  const { name, address, mac, ports, portCount = 8, system, enabled = "20", layers = [], attached = {} } = read;
  const counted = Array.from({ length: portCount }, (_, index) => index + 1);
  const numbers = [...new Set([...counted, ...Object.keys(ports).map(Number)])];
  const nameOf = (number: number) => utf8(ports[number]?.name ?? `Gi0/${number}`);
  const steps: Record<string, SyntheticStep> = {
    system: {
      scalars: {
        sysName: utf8(name),
        ...(system ?? { sysDescr: utf8("Acme 8-port Gigabit Switch"), sysObjectID: "1.3.6.1.4.1.99999.1" }),
      },
    },
    if_table: tableOf(
      Object.fromEntries(
        numbers.map((number) => {
          const { type = 6, mac: given } = ports[number] ?? {};
          const next = `${mac.slice(0, -2)}${(Number.parseInt(mac.slice(-2), 16) + number - 1).toString(16).padStart(2, "0")}`;
          const status = { ifAdminStatus: 1, ifOperStatus: 1 };
          return [number, { ifDescr: nameOf(number), ifType: type, ifPhysAddress: hex(given ?? next), ...status }];
        }),
      ),
    ),
    if_x_table: tableOf(Object.fromEntries(numbers.map((number) => [number, { ifName: nameOf(number) }]))),
    if_stack_table: tableOf(
      Object.fromEntries(layers.map(([higher, lower]) => [`${higher}.${lower}`, { ifStackStatus: 1 }])),
    ),
    dot3ad_agg_port_table: tableOf(
      Object.fromEntries(Object.entries(attached).map(([port, id]) => [port, { dot3adAggPortAttachedAggID: id }])),
    ),
    ip_addr_table: tableOf({ [address]: { ipAdEntIfIndex: 1, ipAdEntNetMask: "255.255.255.0" } }),
    bridge: { columns: { dot1dBasePortIfIndex: Object.fromEntries(numbers.map((number) => [number, number])) } },
    dot1q_tp_fdb_table: tableOf(
      Object.fromEntries(
        rowsOf(ports, ({ macs }) => macs).map(([port, learned]) => [
          `${port}.${dotted(learned)}`,
          { dot1qTpFdbPort: port, dot1qTpFdbStatus: 3 },
        ]),
      ),
    ),
    lldp_local: { scalars: { chassisIdSubtype: 4, chassisId: hex(mac), sysCapEnabled: hex(enabled) } },
    lldp_rem_table: tableOf(
      Object.fromEntries(
        rowsOf(ports, ({ lldp }) => lldp).map(([port, announcement, index]) => [
          `0.${port}.${index}`,
          lldpRow(announcement),
        ]),
      ),
    ),
    cdp_cache_table: tableOf(
      Object.fromEntries(
        rowsOf(ports, ({ cdp }) => cdp).map(([port, announcement, index]) => [
          `${port}.${index}`,
          cdpRow(announcement),
        ]),
      ),
    ),
  };
  return deviceWith(steps);
}

/** One row per item of all ports: port, item, its position from 1. */
function rowsOf<Item>(
  ports: Readonly<Record<number, ReadPort>>,
  itemsOf: (port: ReadPort) => readonly Item[] | undefined,
): Array<[port: number, item: Item, index: number]> {
  return Object.entries(ports).flatMap(([port, each]) =>
    (itemsOf(each) ?? []).map((item, index): [number, Item, number] => [Number(port), item, index + 1]),
  );
}

function lldpRow({ chassis, port, name, description, enabled, supported }: HeardLldp) {
  return {
    chassisIdSubtype: 4,
    chassisId: hex(chassis),
    portIdSubtype: port === undefined ? 3 : 5,
    portId: port === undefined ? hex(chassis) : utf8(port),
    sysName: name === undefined ? null : utf8(name),
    sysDesc: description === undefined ? null : utf8(description),
    sysCapSupported: supported === undefined ? null : hex(supported),
    sysCapEnabled: enabled === undefined ? null : hex(enabled),
  };
}

function cdpRow({ id, port, platform, capabilities }: HeardCdp) {
  return {
    cdpCacheDeviceId: utf8(id),
    cdpCacheDevicePort: utf8(port),
    cdpCachePlatform: platform === undefined ? null : utf8(platform),
    cdpCacheCapabilities: capabilities === undefined ? null : hex(capabilities),
  };
}
