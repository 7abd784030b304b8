// Index parser for LLDP neighbors and management addresses, tolerant of devices that omit index parts.

import { KEPT_ROW, type RowOutcome, type RowReason } from "../rows.ts";
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
 * @param fullLength sub-identifiers in a full index
 * @param isPort true if a local port has this number; of two candidate positions, the one with more matches wins
 */
export function neighborIndexesOf(
  indexes: readonly string[],
  fullLength: number,
  isPort: (number: number) => boolean,
): NeighborIndex[] {
  const rows = indexes.map((index) => ({ index, subIds: subIdsOf(index) }));
  const pairs = rows.filter(({ subIds }) => subIds.length === 2);
  const count = (position: 0 | 1): number => pairs.filter(({ subIds }) => isPort(subIds[position] as number)).length;
  const portOfPair = count(1) > count(0) ? 1 : 0;
  return rows.map(({ index, subIds }) => ({ index, subIds, port: portOf(subIds, fullLength, portOfPair) }));
}

export interface ManagementAddresses {
  readonly byRow: ReadonlyMap<string, string>;
  outcomeOf(addressIndex: string): RowOutcome;
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
  const withTimeMark = lengths.filter(hasTimeMark);
  const keys = new Set<string>();
  for (const neighbor of neighbors) for (const key of keysOf(neighbor)) keys.add(key);
  /** Keyed by row, with and without its time mark. */
  const byKey = new Map<string, string>();
  const chosen = new Map<string, string>();
  const outcomes = new Map<string, RowReason>();
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
      find(withTimeMark, (length) => withoutTimeMark(subIds, length));
    const address = found === undefined ? null : addressOf(subIds, found.length);
    if (found === undefined || address === null) {
      outcomes.set(index, found === undefined ? "no_neighbor" : "no_station");
      continue;
    }
    const best = preferred(byKey.get(found.key), address);
    if (best === address) chosen.set(found.key, index);
    byKey.set(found.key, best);
  }
  const chosenIndexes = new Set(chosen.values());
  const addresses = new Map<string, string>();
  for (const neighbor of neighbors) {
    for (const key of keysOf(neighbor)) {
      const address = byKey.get(key);
      if (address !== undefined) addresses.set(neighbor.index, preferred(addresses.get(neighbor.index), address));
    }
  }
  return {
    byRow: addresses,
    outcomeOf: (index) => outcomes.get(index) ?? (chosenIndexes.has(index) ? KEPT_ROW : "further"),
  };
}

/** The time mark changes with the neighbor's data, possibly between the reads of the two tables. */
function keysOf({ index, subIds }: NeighborIndex): readonly string[] {
  return hasTimeMark(subIds.length) ? [index, withoutTimeMark(subIds, subIds.length)] : [index];
}

/** IPv4 before IPv6, the first of each. */
function preferred(before: string | undefined, address: string): string {
  return before === undefined || (before.includes(":") && !address.includes(":")) ? address : before;
}

function portOf(subIds: readonly number[], fullLength: number, portOfPair: 0 | 1): number | null {
  if (subIds.length === 1) return subIds[0] ?? null;
  if (subIds.length === 2) return subIds[portOfPair] ?? null;
  return subIds.length >= 3 && subIds.length <= fullLength ? (subIds[1] ?? null) : null;
}

function hasTimeMark(length: number): boolean {
  return length >= 3;
}

function withoutTimeMark(subIds: readonly number[], length: number): string {
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
