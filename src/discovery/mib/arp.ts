// ARP and neighbor-table decoder: IP-MIB (RFC 4293) and IPV6-MIB (RFC 2465).

import { isGroupAddress } from "../../base/mac.ts";
import type { ArpEntry, TableReport } from "../device.ts";
import { KEPT_ROW, type RowCount, type RowReason, sumRows } from "../rows.ts";
import { columnOf, countStep, hasOtherIndexes, reportOn } from "./columns.ts";
import type { ColumnRead, ReadStep, Reads, SnmpValue } from "./reads.ts";
import { IF_INDEX_MAX, integerOf, macOf, subIdsOf, unicastOf, unicastOfOctets } from "./values.ts";

/** ipNetToPhysicalTable: index ifIndex.InetAddressType.length.address. */
export const IP_NET_TO_PHYSICAL_STEP = {
  name: "ip_net_to_physical_table",
  table: "arp",
  columns: {
    ipNetToPhysicalPhysAddress: "1.3.6.1.2.1.4.35.1.4",
    ipNetToPhysicalType: "1.3.6.1.2.1.4.35.1.6",
  },
} as const satisfies ReadStep;

/** ipNetToMediaTable: index ifIndex.address. Always polled: agents that serve both tables fill them differently. */
export const IP_NET_TO_MEDIA_STEP = {
  name: "ip_net_to_media_table",
  table: "arp",
  columns: {
    ipNetToMediaPhysAddress: "1.3.6.1.2.1.4.22.1.2",
    ipNetToMediaType: "1.3.6.1.2.1.4.22.1.4",
  },
} as const satisfies ReadStep;

/** ipNetToMediaTable on agents that index it by row number. */
export const IP_NET_TO_MEDIA_ADDRESSES_STEP = {
  name: "ip_net_to_media_table_addresses",
  table: "arp",
  columns: {
    ipNetToMediaIfIndex: "1.3.6.1.2.1.4.22.1.1",
    ipNetToMediaNetAddress: "1.3.6.1.2.1.4.22.1.3",
  },
  rowsIn: IP_NET_TO_MEDIA_STEP.name,
  isNeeded: (reads) =>
    hasOtherIndexes(columnOf(reads, IP_NET_TO_MEDIA_STEP, "ipNetToMediaPhysAddress"), MEDIA_INDEX_LENGTH),
} as const satisfies ReadStep;

/** ipv6NetToMediaTable: index ipv6IfIndex.address; some agents insert the address length between the two. */
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
 * Lists each address once per interface, ipNetToPhysicalTable first. Skips invalid, incomplete (no MAC address), group
 * and broadcast entries. Absent: no rows.
 */
export function arpOf(reads: Reads): ReportedArp {
  const entries = new Map<string, ArpEntry>();
  const decodeStep = (
    step: Pick<ReadStep, "name">,
    { values }: ColumnRead,
    isValid: (index: string) => boolean,
    neighborKeyOf: NeighborKeyOf,
  ): RowCount =>
    countStep(reads, step, (index) => {
      if (!isValid(index)) return "invalid";
      const mac = macOf(values.get(index));
      if (mac === null) return "incomplete";
      if (isGroupAddress(mac)) return "group";
      const neighborKey = neighborKeyOf(index);
      if (typeof neighborKey === "string") return neighborKey;
      const { address, ifIndex } = neighborKey;
      const key = `${ifIndex} ${address}`;
      if (entries.has(key)) return "duplicate";
      entries.set(key, { ip_address: address, mac_address: mac, if_index: ifIndex });
      return KEPT_ROW;
    });

  const physicalTypes = columnOf(reads, IP_NET_TO_PHYSICAL_STEP, "ipNetToPhysicalType");
  const isPhysicalValid = (index: string): boolean => physicalTypes.values.get(index) !== TYPE_INVALID;
  const mediaTypes = columnOf(reads, IP_NET_TO_MEDIA_STEP, "ipNetToMediaType");
  const isMediaValid = (index: string): boolean => mediaTypes.values.get(index) !== TYPE_INVALID;
  const mediaIfIndexes = columnOf(reads, IP_NET_TO_MEDIA_ADDRESSES_STEP, "ipNetToMediaIfIndex");
  const mediaAddresses = columnOf(reads, IP_NET_TO_MEDIA_ADDRESSES_STEP, "ipNetToMediaNetAddress");
  const mediaNeighborKey: NeighborKeyOf = (index) => {
    const address = mediaAddresses.values.get(index);
    const isNumbered = subIdsOf(index).length !== MEDIA_INDEX_LENGTH && address !== undefined;
    return isNumbered
      ? neighborKeyFrom(mediaIfIndexes.values.get(index), unicastOf(address))
      : neighborKeyFromIndex(index, mediaStart);
  };
  const states = columnOf(reads, IPV6_NET_TO_MEDIA_STEP, "ipv6IfNetToMediaState");
  const valids = columnOf(reads, IPV6_NET_TO_MEDIA_STEP, "ipv6NetToMediaValid");
  const isIpv6Valid = (index: string): boolean =>
    states.values.get(index) !== STATE_INVALID && valids.values.get(index) !== FALSE;

  const rows = {
    [IP_NET_TO_PHYSICAL_STEP.name]: decodeStep(
      IP_NET_TO_PHYSICAL_STEP,
      columnOf(reads, IP_NET_TO_PHYSICAL_STEP, "ipNetToPhysicalPhysAddress"),
      isPhysicalValid,
      (index) => neighborKeyFromIndex(index, physicalStart),
    ),
    [IP_NET_TO_MEDIA_STEP.name]: decodeStep(
      IP_NET_TO_MEDIA_STEP,
      columnOf(reads, IP_NET_TO_MEDIA_STEP, "ipNetToMediaPhysAddress"),
      isMediaValid,
      mediaNeighborKey,
    ),
    [IPV6_NET_TO_MEDIA_STEP.name]: decodeStep(
      IPV6_NET_TO_MEDIA_STEP,
      columnOf(reads, IPV6_NET_TO_MEDIA_STEP, "ipv6NetToMediaPhysAddress"),
      isIpv6Valid,
      (index) => neighborKeyFromIndex(index, ipv6Start),
    ),
  };
  const isServed = sumRows(Object.values(rows)).read > 0;
  return { arp: isServed ? [...entries.values()] : undefined, rows, report: reportOn(reads, STEPS, isServed) };
}

interface ReportedArp {
  readonly arp: ArpEntry[] | undefined;
  readonly rows: Readonly<Record<EntryStep, RowCount>>;
  readonly report: TableReport;
}

type EntryStep =
  | typeof IP_NET_TO_PHYSICAL_STEP.name
  | typeof IP_NET_TO_MEDIA_STEP.name
  | typeof IPV6_NET_TO_MEDIA_STEP.name;

type NeighborKeyOf = (index: string) => NeighborKey | RowReason;

interface NeighborKey {
  readonly address: string;
  readonly ifIndex: number | null;
}

const STEPS = [
  IP_NET_TO_PHYSICAL_STEP,
  IP_NET_TO_MEDIA_STEP,
  IP_NET_TO_MEDIA_ADDRESSES_STEP,
  IPV6_NET_TO_MEDIA_STEP,
].map(({ name }) => name);

/** @param addressStart returns null for an unsupported index format */
function neighborKeyFromIndex(
  index: string,
  addressStart: (subIds: readonly number[]) => number | null,
): NeighborKey | RowReason {
  const subIds = subIdsOf(index);
  const start = addressStart(subIds);
  if (start === null) return "index";
  return neighborKeyFrom(subIds[0], unicastOfOctets(subIds, start, Math.min(subIds.length, start + 16)));
}

/** Some agents give static entries ifIndex 0: these entries belong to no interface. */
function neighborKeyFrom(ifIndex: SnmpValue | undefined, address: string | null): NeighborKey | RowReason {
  const number = integerOf(ifIndex, 0, IF_INDEX_MAX);
  if (number === null) return "no_interface";
  return address === null ? "no_station" : { address, ifIndex: number === 0 ? null : number };
}

/** ipNetToMediaType and ipNetToPhysicalType. */
const TYPE_INVALID = 2;
const STATE_INVALID = 5;
/** TruthValue (RFC 2579). */
const FALSE = 2;

/** ipv4z and ipv6z (RFC 4001) end in a zone. Ignore it. */
function physicalStart(subIds: readonly number[]): number | null {
  const length = subIds[2];
  if (length === undefined || subIds.length !== length + 3) return null;
  return length === 4 || length === 16 || length === 20 ? 3 : null;
}

const MEDIA_INDEX_LENGTH = 5;

function mediaStart(subIds: readonly number[]): number | null {
  return subIds.length === MEDIA_INDEX_LENGTH ? 1 : null;
}

function ipv6Start(subIds: readonly number[]): number | null {
  if (subIds.length === 17) return 1;
  return subIds.length === 18 && subIds[1] === 16 ? 2 : null;
}
