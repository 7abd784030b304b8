// CDP neighbor decoder: cdpCacheTable of CISCO-CDP-MIB, also served by other manufacturers.

import { defined } from "../../base/fields.ts";
import type { CdpAnnouncement, TableReport } from "../device.ts";
import { KEPT_ROW, type RowCount } from "../rows.ts";
import type { Interfaces } from "./bridge.ts";
import { cdpCapabilitiesOf } from "./capabilities.ts";
import { areComplete, areEnded, areLost, columnOf, countStep, reportOn, scalarOf } from "./columns.ts";
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
    cdpCacheCapabilities: "1.3.6.1.4.1.9.9.23.1.2.1.1.9",
  },
  optional: ["cdpCacheAddressType", "cdpCacheAddress", "cdpCachePlatform", "cdpCacheCapabilities"],
} as const satisfies ReadStep;

interface ReportedCdp {
  /** All announcements on an interface, in a fixed order; undefined if unknown. */
  forInterface(ifIndex: number): CdpAnnouncement[] | undefined;
  /** True if the device reported neighbors before and reports none now. */
  readonly isLost: boolean;
  readonly report: TableReport;
  /** Counts as if every row assigned to an interface were reported. */
  readonly rows: Readonly<Record<typeof CDP_STEP.name, RowCount>>;
}

/**
 * Absent: neither cdpGlobalRun nor neighbors. With cdpGlobalRun, on or off, and no rows: complete, no neighbors.
 * Neighbors on unknown interfaces are dropped and counted. A partially read table reports nothing for any interface.
 */
export function cdpOf(reads: Reads, interfaces: Interfaces): ReportedCdp {
  const types = columnOf(reads, CDP_STEP, "cdpCacheAddressType");
  const addresses = columnOf(reads, CDP_STEP, "cdpCacheAddress");
  const devices = columnOf(reads, CDP_STEP, "cdpCacheDeviceId");
  const ports = columnOf(reads, CDP_STEP, "cdpCacheDevicePort");
  const platforms = columnOf(reads, CDP_STEP, "cdpCachePlatform");
  const capabilities = columnOf(reads, CDP_STEP, "cdpCacheCapabilities");
  const columns = [types, addresses, devices, ports, platforms, capabilities];

  const byInterface = new Map<number, Map<string, CdpAnnouncement>>();
  const rows = countStep(reads, CDP_STEP, (index) => {
    const ifIndex = subIdsOf(index)[0] ?? 0;
    if (ifIndex < 1 || ifIndex > IF_INDEX_MAX || !interfaces.has(ifIndex)) return "no_interface";
    const announcement = defined<CdpAnnouncement>({
      device_id: decoded(devices.values.get(index), identifierOf),
      port_id: decoded(ports.values.get(index), identifierOf),
      platform: decoded(platforms.values.get(index), textOf),
      address: addressOf(types.values.get(index), addresses.values.get(index)),
      capabilities: cdpCapabilitiesOf(capabilities.values.get(index)),
    });
    const list = byInterface.get(ifIndex) ?? new Map<string, CdpAnnouncement>();
    const text = JSON.stringify(announcement);
    if (list.has(text)) return "duplicate";
    byInterface.set(ifIndex, list.set(text, announcement));
    return KEPT_ROW;
  });
  const {
    read: count,
    set_aside: { no_interface: unassigned = 0 },
  } = rows;

  const isRunReported = scalarOf(reads, CDP_STEP, "cdpGlobalRun") !== undefined;
  const isServed = count > 0 || isRunReported || areEnded(columns);
  const isKnown = isServed && areComplete(columns);
  const reason = interfaces.areComplete ? "the device does not have" : "were not read";
  const notes = unassigned === 0 ? [] : [`${unassigned} of ${count} neighbors are on interfaces that ${reason}`];
  return {
    forInterface: (ifIndex) =>
      isKnown
        ? [...(byInterface.get(ifIndex) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each)
        : undefined,
    isLost: areLost(columns),
    report: reportOn(reads, [CDP_STEP.name], isServed, notes),
    rows: { [CDP_STEP.name]: rows },
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
