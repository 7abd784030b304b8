// Index parser for LLDP neighbors and management addresses, tolerant of devices that omit index parts.

import { KEPT_ROW, type RowFate, type RowReason } from "../rows.ts";
import { subIdsOf, unicastOfOctets } from "./values.ts";

interface NeighborIndex {
  readonly index: string;
  readonly subIds: readonly number[];
  /** Local port; null for an impossible index. */
  readonly port: number | null;
}

/**
 * A full index is time mark, local port, destination address (version 2 only), neighbor number. Some devices omit the
 * time mark, the neighbor number, or everything but the port.
 * @param wholeLength sub-identifiers in a full index
 * @param isPort true if a local port has this number; of two candidate positions, the one with more matches wins
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
 * Finds the management address of each neighbor row: the first IPv4 address, else the first IPv6 address.
 * @param addressIndexes indexes of lldpRemManAddrTable, ascending: neighbor index, subtype, length (omitted by some
 * devices), address
 */
export function managementAddressesOf(
  addressIndexes: Iterable<string>,
  neighbors: readonly NeighborIndex[],
): ManagementAddresses {
  const lengths = [...new Set(neighbors.map(({ subIds }) => subIds.length))].sort((a, b) => b - a);
  const marked = lengths.filter(hasMark);
  const keys = new Set<string>();
  for (const neighbor of neighbors) for (const key of keysOf(neighbor)) keys.add(key);
  /** Keyed by row, with and without its time mark. */
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

/** The time mark changes with the neighbor's data, possibly between the reads of the two tables. */
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
 * The address follows the neighbor index and subtype; IPv4 and IPv6 differ in length. A mismatched length means the
 * index was truncated.
 */
function addressOf(subIds: readonly number[], start: number): string | null {
  const length = subIds[start + 1];
  const isCounted = length === 4 || length === 16;
  if (isCounted && subIds.length !== start + 2 + length) return null;
  return unicastOfOctets(subIds, start + (isCounted ? 2 : 1), subIds.length);
}
