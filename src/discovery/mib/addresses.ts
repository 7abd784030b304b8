// The addresses of a device: ipAddressTable and ipAddrTable of IP-MIB (RFC 4293), ipv6AddrTable of IPV6-MIB (RFC 2465).

import { ipSortKey, parseIp } from "../../base/ip.ts";
import type { DeviceAddress, TableReport } from "../device.ts";
import { columnOf, reportOn, rowsOf } from "./columns.ts";
import type { ReadStep, Reads, SnmpValue } from "./reads.ts";
import { IF_INDEX_MAX, ifIndexOf, integerOf, subIdsOf, unicastOfOctets } from "./values.ts";

/** ipAddressTable: index InetAddressType.length.address, with a zone of four more bytes for ipv4z and ipv6z (RFC 4001). */
export const IP_ADDRESS_TABLE_STEP = {
  name: "ip_address_table",
  table: "addresses",
  columns: {
    ipAddressIfIndex: "1.3.6.1.2.1.4.34.1.3",
    ipAddressType: "1.3.6.1.2.1.4.34.1.4",
    ipAddressPrefix: "1.3.6.1.2.1.4.34.1.5",
  },
} as const satisfies ReadStep;

/** ipAddrTable, deprecated and still the most common: index is the address. */
export const IP_ADDR_TABLE_STEP = {
  name: "ip_addr_table",
  table: "addresses",
  columns: {
    ipAdEntIfIndex: "1.3.6.1.2.1.4.20.1.2",
    ipAdEntNetMask: "1.3.6.1.2.1.4.20.1.3",
  },
} as const satisfies ReadStep;

/** ipv6AddrTable: index ipv6IfIndex.address; some agents put the address's length between. */
export const IPV6_ADDR_TABLE_STEP = {
  name: "ipv6_addr_table",
  table: "addresses",
  columns: { ipv6AddrPfxLength: "1.3.6.1.2.1.55.1.8.1.2" },
} as const satisfies ReadStep;

/**
 * Each address once, by ipSortKey: loopback and link-local ones too, zones dropped; not the unspecified address, broadcast, multicast, and
 * not anycast(2) and broadcast(3) of ipAddressType. One address on several interfaces, as link-local ones are, is of the lowest ifIndex. Where
 * tables differ, ipAddressTable comes first. A prefix length of nought says nothing of a link, and is none told.
 *
 * Absent: no rows; a device that is asked over IP has an address. Rows whose index is no address make it partial.
 */
export function addressesOf(reads: Reads): { addresses: DeviceAddress[] | undefined; report: TableReport } {
  const found = new Map<string, DeviceAddress>();
  const unread: string[] = [];
  let rowCount = 0;
  for (const table of [ipAddressRows(reads), ipAddrRows(reads), ipv6AddrRows(reads)]) {
    const inTable = new Map<string, DeviceAddress>();
    for (const row of table) {
      rowCount += 1;
      if (row.address === undefined) unread.push(row.index);
      else if (row.address !== null) {
        const before = inTable.get(row.address.ip_address);
        inTable.set(row.address.ip_address, before === undefined ? row.address : lower(before, row.address));
      }
    }
    for (const address of inTable.values()) {
      const before = found.get(address.ip_address);
      found.set(address.ip_address, before === undefined ? address : completed(before, address));
    }
  }
  const notes = unread.length === 0 ? [] : [`${unread.length} of ${rowCount} rows have an index that is no address (${unread[0]})`];
  const report = reportOn(reads, [IP_ADDRESS_TABLE_STEP.name, IP_ADDR_TABLE_STEP.name, IPV6_ADDR_TABLE_STEP.name], rowCount > 0, notes);
  const isNoneRead = found.size === 0 && report.state !== "complete";
  return { addresses: isNoneRead ? undefined : sorted(found.values()), report };
}

interface AddressRow {
  readonly index: string;
  /** Null: none of the device's own; undefined: the index is no address. */
  readonly address: DeviceAddress | null | undefined;
}

/** ipAddressType: what an interface shares with others. */
const ANYCAST = 2;
const BROADCAST = 3;
/** ipAddressPrefixTable: a RowPointer to it ends in the prefix length. Some agents leave the column out of it, or the address's length. */
const IP_ADDRESS_PREFIX_ENTRY = "1.3.6.1.2.1.4.32.1.";

function* ipAddressRows(reads: Reads): Generator<AddressRow> {
  const ifIndexes = columnOf(reads, IP_ADDRESS_TABLE_STEP.name, "ipAddressIfIndex");
  const types = columnOf(reads, IP_ADDRESS_TABLE_STEP.name, "ipAddressType");
  const prefixes = columnOf(reads, IP_ADDRESS_TABLE_STEP.name, "ipAddressPrefix");
  for (const index of rowsOf([ifIndexes, types, prefixes])) {
    const subIds = subIdsOf(index);
    const length = subIds[1];
    if (length === undefined || subIds.length !== length + 2 || ![4, 8, 16, 20].includes(length)) {
      yield { index, address: undefined };
      continue;
    }
    const bytes = length < 16 ? 4 : 16;
    const type = types.values.get(index);
    const address = type !== ANYCAST && type !== BROADCAST ? unicastOfOctets(subIds, 2, 2 + bytes) : null;
    const prefix = prefixes.values.get(index);
    yield rowOf(index, address, prefixLengthOfPointer(prefix, bytes * 8), ifIndexOf(ifIndexes.values.get(index)));
  }
}

function* ipAddrRows(reads: Reads): Generator<AddressRow> {
  const ifIndexes = columnOf(reads, IP_ADDR_TABLE_STEP.name, "ipAdEntIfIndex");
  const masks = columnOf(reads, IP_ADDR_TABLE_STEP.name, "ipAdEntNetMask");
  for (const index of rowsOf([ifIndexes, masks])) {
    const subIds = subIdsOf(index);
    if (subIds.length !== 4) {
      yield { index, address: undefined };
      continue;
    }
    const address = unicastOfOctets(subIds, 0, 4);
    yield rowOf(index, address, prefixLengthOfMask(masks.values.get(index)), ifIndexOf(ifIndexes.values.get(index)));
  }
}

function* ipv6AddrRows(reads: Reads): Generator<AddressRow> {
  const lengths = columnOf(reads, IPV6_ADDR_TABLE_STEP.name, "ipv6AddrPfxLength");
  for (const [index, length] of lengths.values) {
    const subIds = subIdsOf(index);
    const start = subIds.length === 18 && subIds[1] === 16 ? 2 : 1;
    if (subIds.length !== start + 16) {
      yield { index, address: undefined };
      continue;
    }
    const address = unicastOfOctets(subIds, start, start + 16);
    yield rowOf(index, address, integerOf(length, 1, 128), integerOf(subIds[0], 1, IF_INDEX_MAX));
  }
}

function rowOf(index: string, address: string | null, prefixLength: number | null, ifIndex: number | null): AddressRow {
  return { index, address: address === null ? null : { ip_address: address, prefix_length: prefixLength, if_index: ifIndex } };
}

function prefixLengthOfPointer(pointer: SnmpValue | undefined, bits: number): number | null {
  if (typeof pointer !== "string" || !pointer.startsWith(IP_ADDRESS_PREFIX_ENTRY)) return null;
  const last = pointer.slice(pointer.lastIndexOf(".") + 1);
  return /^\d{1,3}$/.test(last) ? integerOf(Number(last), 1, bits) : null;
}

/** Null for a mask with gaps. */
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
  return { ip_address: address.ip_address, prefix_length: address.prefix_length ?? other.prefix_length, if_index: address.if_index ?? other.if_index };
}

function sorted(addresses: Iterable<DeviceAddress>): DeviceAddress[] {
  const keyed = Array.from(addresses, (address) => ({ address, key: sortKey(address) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ address }) => address);
}

function sortKey({ ip_address }: DeviceAddress): string {
  const ip = parseIp(ip_address);
  return ip === null ? "" : ipSortKey(ip);
}
