// The neighbors of a device by CDP: cdpCacheTable of CISCO-CDP-MIB, which other makers serve too.

import type { CdpAnnouncement, TableReport } from "../device.ts";
import { areComplete, columnOf, put, reportOn, rowsOf, scalarOf } from "./columns.ts";
import type { ReadStep, Reads, SnmpValue } from "./reads.ts";
import { IF_INDEX_MAX, identifierOf, subIdsOf, textOf, unicastOf } from "./values.ts";

/** cdpGlobalRun; cdpCacheTable: index cdpCacheIfIndex.cdpCacheDeviceIndex. */
export const CDP_STEP = {
  name: "cdp_cache_table",
  table: "cdp",
  scalars: { cdpGlobalRun: "1.3.6.1.4.1.9.9.23.1.3.1.0" },
  columns: {
    cdpCacheAddressType: "1.3.6.1.4.1.9.9.23.1.2.1.1.3",
    cdpCacheAddress: "1.3.6.1.4.1.9.9.23.1.2.1.1.4",
    cdpCacheDeviceId: "1.3.6.1.4.1.9.9.23.1.2.1.1.6",
    cdpCacheDevicePort: "1.3.6.1.4.1.9.9.23.1.2.1.1.7",
    cdpCachePlatform: "1.3.6.1.4.1.9.9.23.1.2.1.1.8",
  },
} as const satisfies ReadStep;

export interface CdpTold {
  /** All that is announced on an interface, in a fixed order; undefined where that is not known. */
  of(ifIndex: number): CdpAnnouncement[] | undefined;
  readonly report: TableReport;
}

/**
 * Absent: neither cdpGlobalRun nor neighbors. With cdpGlobalRun, on or off, and no row it is complete: there are none. Neighbors on an
 * interface that the device does not have are left out and said. A table that broke off says nothing of any interface.
 */
export function cdpOf(reads: Reads, interfaces: { has(ifIndex: number): boolean }): CdpTold {
  const types = columnOf(reads, CDP_STEP.name, "cdpCacheAddressType");
  const addresses = columnOf(reads, CDP_STEP.name, "cdpCacheAddress");
  const devices = columnOf(reads, CDP_STEP.name, "cdpCacheDeviceId");
  const ports = columnOf(reads, CDP_STEP.name, "cdpCacheDevicePort");
  const platforms = columnOf(reads, CDP_STEP.name, "cdpCachePlatform");
  const columns = [types, addresses, devices, ports, platforms];

  const byInterface = new Map<number, Map<string, CdpAnnouncement>>();
  let count = 0;
  let placeless = 0;
  for (const index of rowsOf(columns)) {
    count += 1;
    const ifIndex = subIdsOf(index)[0] ?? 0;
    if (ifIndex < 1 || ifIndex > IF_INDEX_MAX || !interfaces.has(ifIndex)) {
      placeless += 1;
      continue;
    }
    const announced: { -readonly [Field in keyof CdpAnnouncement]: CdpAnnouncement[Field] } = {};
    put(announced, "device_id", decoded(devices.values.get(index), identifierOf));
    put(announced, "port_id", decoded(ports.values.get(index), identifierOf));
    put(announced, "platform", decoded(platforms.values.get(index), textOf));
    put(announced, "address", addressOf(types.values.get(index), addresses.values.get(index)));
    const list = byInterface.get(ifIndex) ?? new Map<string, CdpAnnouncement>();
    byInterface.set(ifIndex, list.set(JSON.stringify(announced), announced));
  }

  const isServed = count > 0 || scalarOf(reads, CDP_STEP.name, "cdpGlobalRun") !== undefined;
  const isKnown = isServed && areComplete(columns);
  const notes = placeless === 0 ? [] : [`${placeless} of ${count} neighbors are on interfaces that the device does not have`];
  return {
    of: (ifIndex) => (isKnown ? [...(byInterface.get(ifIndex) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each) : undefined),
    report: reportOn(reads, [CDP_STEP.name], isServed, notes),
  };
}

/** CiscoNetworkProtocol (CISCO-TC). */
const IP = 1;
const IPV6 = 20;

function addressOf(type: SnmpValue | undefined, value: SnmpValue | undefined): string | undefined {
  if (type !== undefined && type !== IP && type !== IPV6) return undefined;
  const address = unicastOf(value);
  return address === null || (type !== undefined && address.includes(":") !== (type === IPV6)) ? undefined : address;
}

function decoded(value: SnmpValue | undefined, decode: (value: SnmpValue) => string | null): string | undefined {
  return (value === undefined ? null : decode(value)) || undefined;
}
