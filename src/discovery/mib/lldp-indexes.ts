// The indexes of LLDP's neighbors and their management addresses, also where a device leaves parts out.

import { KEPT_ROW, type RowFate, type RowReason } from "../rows.ts";
import { subIdsOf, unicastOfOctets } from "./values.ts";

interface NeighborIndex {
  readonly index: string;
  readonly subIds: readonly number[];
  /** The local port; null for an impossible index. */
  readonly port: number | null;
}

/**
 * A full index is time mark, local port, in version 2 a destination address, then the neighbor's number. Some devices
 * omit the time mark, the neighbor's number, or all but the port.
 * @param wholeLength numbers of a full index
 * @param isPort whether a local port has that number: of two candidates the one that more often has wins
 */
export function neighborIndexesOf(
  indexes: readonly string[],
  wholeLength: number,
  isPort: (number: number) => boolean,
): NeighborIndex[] {
  const rows = indexes.map((index) => ({ index, subIds: subIdsOf(index) }));
  const pairs = rows.filter(({ subIds }) => subIds.length === 2);
  const count = (at: 0 | 1): number => pairs.filter(({ subIds }) => isPort(subIds[at] as number)).length;
  const portOfPair = count(1) > count(0) ? 1 : 0;
  return rows.map(({ index, subIds }) => ({ index, subIds, port: portOf(subIds, wholeLength, portOfPair) }));
}

export interface ManagementAddresses {
  readonly byRow: ReadonlyMap<string, string>;
  fateOf(addressIndex: string): RowFate;
}

/**
 * The management address of each neighbor, by its row: the first IPv4 address, else the first IPv6 one.
 * @param addressIndexes of lldpRemManAddrTable, ascending: a neighbor's index, then subtype, length (which some devices
 * omit), address
 */
export function managementAddressesOf(
  addressIndexes: Iterable<string>,
  neighbors: readonly NeighborIndex[],
): ManagementAddresses {
  const lengths = [...new Set(neighbors.map(({ subIds }) => subIds.length))].sort((a, b) => b - a);
  const marked = lengths.filter(hasMark);
  const keys = new Set<string>();
  for (const neighbor of neighbors) for (const key of keysOf(neighbor)) keys.add(key);
  /** By row with and without its time mark. */
  const byKey = new Map<string, string>();
  const chosen = new Map<string, string>();
  const fates = new Map<string, RowReason>();
  for (const index of addressIndexes) {
    const subIds = subIdsOf(index);
    const find = (
      lengths: readonly number[],
      keyOf: (length: number) => string,
    ): { length: number; key: string } | undefined => {
      for (const length of lengths) {
        const key = keyOf(length);
        if (keys.has(key)) return { length, key };
      }
      return undefined;
    };
    const found =
      find(lengths, (length) => subIds.slice(0, length).join(".")) ??
      find(marked, (length) => markless(subIds, length));
    const address = found === undefined ? null : addressOf(subIds, found.length);
    if (found === undefined || address === null) {
      fates.set(index, found === undefined ? "no_neighbor" : "no_station");
      continue;
    }
    const best = better(byKey.get(found.key), address);
    if (best === address) chosen.set(found.key, index);
    byKey.set(found.key, best);
  }
  const kept = new Set(chosen.values());
  const addresses = new Map<string, string>();
  for (const neighbor of neighbors) {
    for (const key of keysOf(neighbor)) {
      const address = byKey.get(key);
      if (address !== undefined) addresses.set(neighbor.index, better(addresses.get(neighbor.index), address));
    }
  }
  return { byRow: addresses, fateOf: (index) => fates.get(index) ?? (kept.has(index) ? KEPT_ROW : "further") };
}

/** The time mark changes when the neighbor says something new, perhaps between reading the two tables. */
function keysOf({ index, subIds }: NeighborIndex): readonly string[] {
  return hasMark(subIds.length) ? [index, markless(subIds, subIds.length)] : [index];
}

/** IPv4 before IPv6, the first of each. */
function better(before: string | undefined, address: string): string {
  return before === undefined || (before.includes(":") && !address.includes(":")) ? address : before;
}

function portOf(subIds: readonly number[], wholeLength: number, portOfPair: 0 | 1): number | null {
  if (subIds.length === 1) return subIds[0] ?? null;
  if (subIds.length === 2) return subIds[portOfPair] ?? null;
  return subIds.length >= 3 && subIds.length <= wholeLength ? (subIds[1] ?? null) : null;
}

function hasMark(length: number): boolean {
  return length >= 3;
}

function markless(subIds: readonly number[], length: number): string {
  return `*.${subIds.slice(1, length).join(".")}`;
}

/**
 * Follows the neighbor's index and subtype; IPv4 and IPv6 differ in length. A length that does not match was cut off.
 */
function addressOf(subIds: readonly number[], start: number): string | null {
  const length = subIds[start + 1];
  const isCounted = length === 4 || length === 16;
  if (isCounted && subIds.length !== start + 2 + length) return null;
  return unicastOfOctets(subIds, start + (isCounted ? 2 : 1), subIds.length);
}
