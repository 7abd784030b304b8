// Address-table decoder: ipAddressTable and ipAddrTable of IP-MIB (RFC 4293), ipv6AddrTable of IPV6-MIB (RFC 2465).

import { ipSortKey, parseIp } from "../../base/ip.ts";
import type { DeviceAddress, TableReport } from "../device.ts";
import { KEPT_ROW, type RowCount, type RowReason, sumRows } from "../rows.ts";
import { columnOf, countStep, hasOtherIndexes, reportOn } from "./columns.ts";
import type { ColumnRead, ReadStep, Reads, SnmpValue } from "./reads.ts";
import { IF_INDEX_MAX, ifIndexOf, integerOf, subIdsOf, unicastOf, unicastOfOctets } from "./values.ts";

/**
 * ipAddressTable: index InetAddressType.length.address, with a zone of four more bytes for ipv4z and ipv6z (RFC 4001).
 */
export const IP_ADDRESS_TABLE_STEP = {
  name: "ip_address_table",
  table: "addresses",
  columns: {
    ipAddressIfIndex: "1.3.6.1.2.1.4.34.1.3",
    ipAddressType: "1.3.6.1.2.1.4.34.1.4",
    ipAddressPrefix: "1.3.6.1.2.1.4.34.1.5",
  },
} as const satisfies ReadStep;

/** ipAddrTable, deprecated but still the most common: index is the address. */
export const IP_ADDR_TABLE_STEP = {
  name: "ip_addr_table",
  table: "addresses",
  columns: {
    ipAdEntIfIndex: "1.3.6.1.2.1.4.20.1.2",
    ipAdEntNetMask: "1.3.6.1.2.1.4.20.1.3",
  },
} as const satisfies ReadStep;

/** ipAddrTable on agents that index it by row number instead of by address. */
export const IP_ADDR_TABLE_ADDRESSES_STEP = {
  name: "ip_addr_table_addresses",
  table: "addresses",
  columns: { ipAdEntAddr: "1.3.6.1.2.1.4.20.1.1" },
  rowsIn: IP_ADDR_TABLE_STEP.name,
  isNeeded: (reads) => ipAddrColumnsOf(reads).some((column) => hasOtherIndexes(column, 4)),
} as const satisfies ReadStep;

/** ipv6AddrTable: index ipv6IfIndex.address; some agents insert the address length between the two. */
export const IPV6_ADDR_TABLE_STEP = {
  name: "ipv6_addr_table",
  table: "addresses",
  columns: { ipv6AddrPfxLength: "1.3.6.1.2.1.55.1.8.1.2" },
} as const satisfies ReadStep;

/**
 * Lists each address once, by ipSortKey, including loopback and link-local, zones dropped. Skips unspecified,
 * broadcast, multicast, anycast(2) and broadcast(3) addresses. An address on several interfaces goes to the lowest
 * ifIndex; ipAddressTable wins conflicts. A prefix length of 0 counts as null. Absent: no rows, since a device polled
 * over IP has an address. An unreadable index makes the table partial.
 */
export function addressesOf(reads: Reads): ReportedAddresses {
  const found = new Map<string, DeviceAddress>();
  const unreadable: string[] = [];
  const decodeStep = (step: ReadStep, rowOf: (index: string) => DeviceAddress | RowReason): RowCount => {
    const inTable = new Map<string, DeviceAddress>();
    const count = countStep(reads, step, (index) => {
      const address = rowOf(index);
      if (address === "index") unreadable.push(index);
      if (typeof address === "string") return address;
      const before = inTable.get(address.ip_address);
      inTable.set(address.ip_address, before === undefined ? address : lower(before, address));
      return before === undefined && !found.has(address.ip_address) ? KEPT_ROW : "duplicate";
    });
    for (const address of inTable.values()) {
      const before = found.get(address.ip_address);
      found.set(address.ip_address, before === undefined ? address : completed(before, address));
    }
    return count;
  };
  const rows = {
    [IP_ADDRESS_TABLE_STEP.name]: decodeStep(IP_ADDRESS_TABLE_STEP, ipAddressRows(reads)),
    [IP_ADDR_TABLE_STEP.name]: decodeStep(IP_ADDR_TABLE_STEP, ipAddrRows(reads)),
    [IPV6_ADDR_TABLE_STEP.name]: decodeStep(IPV6_ADDR_TABLE_STEP, ipv6AddrRows(reads)),
  };
  const rowCount = sumRows(Object.values(rows)).read;
  const notes =
    unreadable.length === 0
      ? []
      : [`${unreadable.length} of ${rowCount} rows have an index that is not an address (${unreadable[0]})`];
  const report = reportOn(reads, STEPS, rowCount > 0, notes);
  const isNoneRead = found.size === 0 && report.state !== "complete";
  return { addresses: isNoneRead ? undefined : sorted(found.values()), rows, report };
}

interface ReportedAddresses {
  readonly addresses: DeviceAddress[] | undefined;
  readonly rows: Readonly<Record<AddressStep, RowCount>>;
  readonly report: TableReport;
}

type AddressStep =
  | typeof IP_ADDRESS_TABLE_STEP.name
  | typeof IP_ADDR_TABLE_STEP.name
  | typeof IPV6_ADDR_TABLE_STEP.name;

const STEPS = [IP_ADDRESS_TABLE_STEP, IP_ADDR_TABLE_STEP, IP_ADDR_TABLE_ADDRESSES_STEP, IPV6_ADDR_TABLE_STEP].map(
  ({ name }) => name,
);

const ANYCAST = 2;
const BROADCAST = 3;
/**
 * ipAddressPrefixTable: a RowPointer to it ends in the prefix length. Some agents omit its column or the address
 * length.
 */
const IP_ADDRESS_PREFIX_ENTRY = "1.3.6.1.2.1.4.32.1.";

type RowOf = (index: string) => DeviceAddress | RowReason;

function ipAddressRows(reads: Reads): RowOf {
  const ifIndexes = columnOf(reads, IP_ADDRESS_TABLE_STEP, "ipAddressIfIndex");
  const types = columnOf(reads, IP_ADDRESS_TABLE_STEP, "ipAddressType");
  const prefixes = columnOf(reads, IP_ADDRESS_TABLE_STEP, "ipAddressPrefix");
  return (index) => {
    const subIds = subIdsOf(index);
    const length = subIds[1];
    if (length === undefined || subIds.length !== length + 2 || ![4, 8, 16, 20].includes(length)) return "index";
    const bytes = length < 16 ? 4 : 16;
    const type = types.values.get(index);
    const isShared = type === ANYCAST || type === BROADCAST || (type === undefined && !types.isComplete);
    const address = isShared ? null : unicastOfOctets(subIds, 2, 2 + bytes);
    const prefix = prefixes.values.get(index);
    return rowOf(address, prefixLengthOfPointer(prefix, bytes * 8), ifIndexOf(ifIndexes.values.get(index)));
  };
}

function ipAddrRows(reads: Reads): RowOf {
  const [ifIndexes, masks] = ipAddrColumnsOf(reads);
  const addresses = columnOf(reads, IP_ADDR_TABLE_ADDRESSES_STEP, "ipAdEntAddr");
  return (index) => {
    const subIds = subIdsOf(index);
    const isNumbered = subIds.length !== IPV4_LENGTH;
    const reported = isNumbered ? addresses.values.get(index) : undefined;
    if (isNumbered && reported === undefined) return "index";
    const address = reported === undefined ? unicastOfOctets(subIds, 0, IPV4_LENGTH) : unicastOf(reported);
    return rowOf(address, prefixLengthOfMask(masks.values.get(index)), ifIndexOf(ifIndexes.values.get(index)));
  };
}

const IPV4_LENGTH = 4;

function ipAddrColumnsOf(reads: Reads): [ifIndexes: ColumnRead, masks: ColumnRead] {
  return [columnOf(reads, IP_ADDR_TABLE_STEP, "ipAdEntIfIndex"), columnOf(reads, IP_ADDR_TABLE_STEP, "ipAdEntNetMask")];
}

function ipv6AddrRows(reads: Reads): RowOf {
  const lengths = columnOf(reads, IPV6_ADDR_TABLE_STEP, "ipv6AddrPfxLength");
  return (index) => {
    const subIds = subIdsOf(index);
    const start = subIds.length === 18 && subIds[1] === 16 ? 2 : 1;
    if (subIds.length !== start + 16) return "index";
    const address = unicastOfOctets(subIds, start, start + 16);
    return rowOf(address, integerOf(lengths.values.get(index), 1, 128), integerOf(subIds[0], 1, IF_INDEX_MAX));
  };
}

function rowOf(address: string | null, prefixLength: number | null, ifIndex: number | null): DeviceAddress | RowReason {
  return address === null ? "no_station" : { ip_address: address, prefix_length: prefixLength, if_index: ifIndex };
}

function prefixLengthOfPointer(pointer: SnmpValue | undefined, bits: number): number | null {
  if (typeof pointer !== "string" || !pointer.startsWith(IP_ADDRESS_PREFIX_ENTRY)) return null;
  const last = pointer.slice(pointer.lastIndexOf(".") + 1);
  return /^\d{1,3}$/.test(last) ? integerOf(Number(last), 1, bits) : null;
}

/** Returns null for a non-contiguous mask. */
function prefixLengthOfMask(mask: SnmpValue | undefined): number | null {
  const bytes = typeof mask === "string" ? parseIp(mask)?.bytes : mask instanceof Uint8Array ? mask : undefined;
  if (bytes === undefined || bytes.length !== 4) return null;
  const [first = 0, second = 0, third = 0, fourth = 0] = bytes;
  const hostMask = ~((first << 24) | (second << 16) | (third << 8) | fourth) >>> 0;
  const isContiguous = ((hostMask + 1) & hostMask) === 0;
  return isContiguous && first > 0 ? Math.clz32(hostMask) : null;
}

function lower(some: DeviceAddress, other: DeviceAddress): DeviceAddress {
  return (other.if_index ?? Infinity) < (some.if_index ?? Infinity) ? completed(other, some) : completed(some, other);
}

function completed(address: DeviceAddress, other: DeviceAddress): DeviceAddress {
  return {
    ip_address: address.ip_address,
    prefix_length: address.prefix_length ?? other.prefix_length,
    if_index: address.if_index ?? other.if_index,
  };
}

function sorted(addresses: Iterable<DeviceAddress>): DeviceAddress[] {
  const keyed = Array.from(addresses, (address) => ({ address, key: sortKey(address) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ address }) => address);
}

function sortKey({ ip_address }: DeviceAddress): string {
  const ip = parseIp(ip_address);
  return ip === null ? "" : ipSortKey(ip);
}
