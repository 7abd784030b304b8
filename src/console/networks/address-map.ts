// The addresses of a subnet as cells. Plain functions.

import { ownValue } from "../text/own-value.ts";
import { parseInstant } from "../time/instant.ts";
import { addressOfNumber, numberOfAddress } from "./prefixes.ts";

/** What is told of an address, as far as its cell needs it. */
export interface CellFacts {
  readonly state: string;
  readonly ip_addresses: readonly { readonly host: { readonly id: string }; readonly last_seen_at: string }[];
}

/** As many as have a row each (see the handbook), and a cell. */
export const CELLS_MAX = 4_096;

/** What has not been seen for so long is probably gone. */
const UNSEEN_MS = 30 * 86_400_000;

/** How many addresses a prefix has; of large ones of IPv6 about as many. */
export function addressesIn(cidr: string): number {
  const [, length = ""] = cidr.split("/");
  return 2 ** ((cidr.includes(":") ? 128 : 32) - Number(length));
}

/** Whether every address of a prefix has a cell of its own. */
export function hasCells(cidr: string): boolean {
  return addressesIn(cidr) <= CELLS_MAX;
}

/** Whether a prefix is shown by its blocks: larger ones of IPv4. In IPv6 there is mostly nothing in any of them. */
export function hasBlocks(cidr: string): boolean {
  return !cidr.includes(":") && !hasCells(cidr);
}

/**
 * A run of addresses, such as a subnet within, as one row for each of them: so that the cells below it stand where one
 * looks for them. Of IPv6 as it is.
 */
export function oneByOne<Row extends { readonly first: string; readonly last: string }>(rows: readonly Row[]): Row[] {
  return rows.flatMap((row) => {
    if (row.first === row.last || row.first.includes(":")) return [row];
    const from = numberOfAddress(row.first);
    return Array.from({ length: Number(numberOfAddress(row.last) - from) + 1 }, (_, index) => {
      const address = addressOfNumber(from + BigInt(index));
      return { ...row, first: address, last: address };
    });
  });
}

interface CellStateOptions {
  /** Null in the past: when something was last seen is known of now alone. */
  readonly nowMs: number | null;
  /** Whether a host had it a month before. */
  readonly wasUsed: boolean;
}

/**
 * What a cell shows: the state, or `Twice` where several hosts have the address, `Unseen` where it was not seen for long,
 * or `Gone` where it is free and a host had it.
 */
export function cellStateOf({ state, ip_addresses }: CellFacts, { nowMs, wasUsed }: CellStateOptions): string {
  if (state === "Free" && wasUsed) return "Gone";
  const hosts = new Set(ip_addresses.map(({ host }) => host.id));
  if (hosts.size > 1) return "Twice";
  if (ip_addresses.length === 0 || nowMs === null) return state;
  const isSeen = ip_addresses.some(({ last_seen_at }) => nowMs - (parseInstant(last_seen_at) ?? nowMs) <= UNSEEN_MS);
  return isSeen ? state : "Unseen";
}

type CellChange = "added" | "removed" | "changed";

/** Differences of addresses, as far as their cells need them; `name` is the address. */
interface AddressDifferences {
  readonly added: readonly Differing[];
  readonly removed: readonly Differing[];
  readonly changed: readonly Differing[];
}

interface Differing {
  readonly entity_type: string;
  readonly name: string;
}

/** What became of addresses: one that a host gave up and another has now is changed. */
export function changesByAddress({ added, removed, changed }: AddressDifferences): ReadonlyMap<string, CellChange> {
  const changes = new Map<string, CellChange>();
  const add = (rows: readonly Differing[], change: CellChange) => {
    for (const { entity_type, name } of rows)
      if (entity_type === "ip_address") changes.set(name, changes.has(name) ? "changed" : change);
  };
  add(added, "added");
  add(removed, "removed");
  add(changed, "changed");
  return changes;
}

/** The part of an address that tells it from its neighbors: the last octet, or the last digits of IPv6. */
export function lastPartOf(address: string): string {
  return (/[^.:]*$/.exec(address)?.[0] || "0").slice(-3);
}

/** How many addresses of a block are in use, set aside, in subnets within, and free. */
export interface BlockParts {
  readonly used: number;
  readonly aside: number;
  readonly inSubnets: number;
  readonly free: number;
}

/** @param counts by the state of addresses, as the API has it */
export function blockPartsOf(counts: Readonly<Record<string, number | string | undefined>>): BlockParts {
  const sum = (...states: string[]) => states.reduce((total, state) => total + Number(ownValue(counts, state) ?? 0), 0);
  return {
    used: sum("Used", "Gateway"),
    aside: sum("Dhcp", "Reserved", "Static", "Other"),
    inSubnets: sum("Subnet"),
    free: sum("Free"),
  };
}

/** How many cells have each state, the most frequent first. */
export function countsOf(states: readonly string[]): [state: string, count: number][] {
  const counts = new Map<string, number>();
  for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

/** A step of a line over time: from 0 to 100. */
interface Point {
  readonly ms: number;
  readonly percent: number;
  /** How many that is. */
  readonly used: number | string;
}

/** What is in use is seen, however little of all it is. */
const SEEN_PERCENT = 4;

/**
 * Points as the path of an SVG, 1,000 wide and 100 high: a step at each, as what is counted changes in steps. Few in use
 * are drawn higher than they are: none and one can be told apart.
 * @param points in order
 */
export function stepsPath(
  points: readonly Point[],
  { from, to }: { readonly from: number; readonly to: number },
): string {
  const place = (ms: number) => Math.round(((ms - from) / Math.max(1, to - from)) * 10_000) / 10;
  const drawn = ({ percent, used }: Point) => (Number(used) > 0 ? Math.max(SEEN_PERCENT, percent) : percent);
  const height = (point: Point) => Math.round((100 - Math.min(100, drawn(point))) * 10) / 10;
  const [first] = points;
  if (first === undefined) return "";
  const steps = points.map((point) => `H${place(point.ms)}V${height(point)}`).join("");
  return `M${place(first.ms)} 100${steps}H1000V100Z`;
}

/** Instants in equal steps, the last one included, in order. */
export function instantsBetween(from: number, to: number, count: number): number[] {
  if (to <= from) return [to];
  return Array.from({ length: count }, (_, index) => Math.round(from + ((to - from) * index) / (count - 1)));
}
