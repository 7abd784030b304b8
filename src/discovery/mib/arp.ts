// Whom a device has spoken with on its links: ipNetToPhysicalTable and ipNetToMediaTable of IP-MIB (RFC 4293), ipv6NetToMediaTable of IPV6-MIB (RFC 2465).

import { isGroupAddress } from "../../base/mac.ts";
import type { ArpEntry, TableReport } from "../device.ts";
import { columnOf, reportOn } from "./columns.ts";
import type { ReadStep, Reads, SnmpValue } from "./reads.ts";
import { IF_INDEX_MAX, macOf, subIdsOf, unicastOfOctets } from "./values.ts";

/** ipNetToPhysicalTable: index ifIndex.InetAddressType.length.address. */
export const IP_NET_TO_PHYSICAL_STEP = {
  name: "ip_net_to_physical_table",
  table: "arp",
  columns: {
    ipNetToPhysicalPhysAddress: "1.3.6.1.2.1.4.35.1.4",
    ipNetToPhysicalType: "1.3.6.1.2.1.4.35.1.6",
  },
} as const satisfies ReadStep;

/** ipNetToMediaTable: index ifIndex.address. Agents that serve both do not keep the same in them, so it is asked in any case. */
export const IP_NET_TO_MEDIA_STEP = {
  name: "ip_net_to_media_table",
  table: "arp",
  columns: {
    ipNetToMediaPhysAddress: "1.3.6.1.2.1.4.22.1.2",
    ipNetToMediaType: "1.3.6.1.2.1.4.22.1.4",
  },
} as const satisfies ReadStep;

/** ipv6NetToMediaTable: index ipv6IfIndex.address; some agents put the address's length between. */
export const IPV6_NET_TO_MEDIA_STEP = {
  name: "ipv6_net_to_media_table",
  table: "arp",
  columns: {
    ipv6NetToMediaPhysAddress: "1.3.6.1.2.1.55.1.12.1.2",
    ipv6IfNetToMediaState: "1.3.6.1.2.1.55.1.12.1.4",
    ipv6NetToMediaValid: "1.3.6.1.2.1.55.1.12.1.6",
  },
} as const satisfies ReadStep;

/**
 * Each address on each interface once, in the order of the tables, ipNetToPhysicalTable first. Not entries that the device marks as invalid, not
 * incomplete ones (no MAC address), not those of groups and broadcast. Absent: no rows, whatever it is that a device has not spoken with.
 */
export function arpOf(reads: Reads): { arp: ArpEntry[] | undefined; report: TableReport } {
  const entries = new Map<string, ArpEntry>();
  const take = (values: ReadonlyMap<string, SnmpValue>, isValid: (index: string) => boolean, addressStart: (subIds: readonly number[]) => number | null): void => {
    for (const [index, value] of values) {
      const mac = macOf(value);
      if (mac === null || isGroupAddress(mac) || !isValid(index)) continue;
      const subIds = subIdsOf(index);
      const ifIndex = subIds[0];
      const start = addressStart(subIds);
      if (ifIndex === undefined || ifIndex < 1 || ifIndex > IF_INDEX_MAX || start === null) continue;
      const address = unicastOfOctets(subIds, start, Math.min(subIds.length, start + 16));
      if (address === null) continue;
      const key = `${ifIndex} ${address}`;
      if (!entries.has(key)) entries.set(key, { ip_address: address, mac_address: mac, if_index: ifIndex });
    }
  };

  const physical = columnOf(reads, IP_NET_TO_PHYSICAL_STEP.name, "ipNetToPhysicalPhysAddress");
  const physicalTypes = columnOf(reads, IP_NET_TO_PHYSICAL_STEP.name, "ipNetToPhysicalType");
  take(physical.values, (index) => physicalTypes.values.get(index) !== TYPE_INVALID, physicalStart);
  const media = columnOf(reads, IP_NET_TO_MEDIA_STEP.name, "ipNetToMediaPhysAddress");
  const mediaTypes = columnOf(reads, IP_NET_TO_MEDIA_STEP.name, "ipNetToMediaType");
  take(media.values, (index) => mediaTypes.values.get(index) !== TYPE_INVALID, (subIds) => (subIds.length === 5 ? 1 : null));
  const ipv6 = columnOf(reads, IPV6_NET_TO_MEDIA_STEP.name, "ipv6NetToMediaPhysAddress");
  const states = columnOf(reads, IPV6_NET_TO_MEDIA_STEP.name, "ipv6IfNetToMediaState");
  const valids = columnOf(reads, IPV6_NET_TO_MEDIA_STEP.name, "ipv6NetToMediaValid");
  take(ipv6.values, (index) => states.values.get(index) !== STATE_INVALID && valids.values.get(index) !== FALSE, ipv6Start);

  const isServed = physical.values.size + media.values.size + ipv6.values.size > 0;
  const report = reportOn(reads, [IP_NET_TO_PHYSICAL_STEP.name, IP_NET_TO_MEDIA_STEP.name, IPV6_NET_TO_MEDIA_STEP.name], isServed);
  return { arp: isServed ? [...entries.values()] : undefined, report };
}

/** ipNetToMediaType and ipNetToPhysicalType. */
const TYPE_INVALID = 2;
const STATE_INVALID = 5;
/** TruthValue (RFC 2579). */
const FALSE = 2;

/** With a zone behind the address for ipv4z and ipv6z (RFC 4001), which is left away: see take. */
function physicalStart(subIds: readonly number[]): number | null {
  const length = subIds[2];
  if (length === undefined || subIds.length !== length + 3) return null;
  return length === 4 || length === 16 || length === 20 ? 3 : null;
}

function ipv6Start(subIds: readonly number[]): number | null {
  if (subIds.length === 17) return 1;
  return subIds.length === 18 && subIds[1] === 16 ? 2 : null;
}
