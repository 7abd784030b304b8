// Cells of a subnet's address map. Pure.

import { ownValue } from "../text/own-value.ts";
import { DAY_MS, parseInstant } from "../time/instant.ts";
import { addressToNumber, numberToAddress } from "./prefixes.ts";

/** Address data required by a cell. */
export interface CellData {
  readonly state: string;
  readonly ip_addresses: readonly { readonly last_seen_at: string }[];
  readonly conflict: { readonly acceptance: object | null } | null;
}

/** Maximum number of addresses listed one per row (see the handbook), and shown as cells. */
const CELLS_MAX = 4_096;

/** An address not seen for longer is probably no longer in use. */
const UNSEEN_MS = 30 * DAY_MS;

/** Number of addresses in a prefix; approximate for large IPv6 prefixes. */
export function addressesIn(cidr: string): number {
  const [, length = ""] = cidr.split("/");
  return 2 ** ((cidr.includes(":") ? 128 : 32) - Number(length));
}

/** Whether every address of a prefix has its own cell. */
export function hasCells(cidr: string): boolean {
  return addressesIn(cidr) <= CELLS_MAX;
}

/** Whether a prefix is shown as blocks: larger IPv4 prefixes only. Nearly all blocks of an IPv6 prefix are empty. */
export function hasBlocks(cidr: string): boolean {
  return !cidr.includes(":") && !hasCells(cidr);
}

/** Expands a run of addresses, such as a child subnet, into one row per address. IPv6 runs stay as they are. */
export function expandRuns<Row extends { readonly first: string; readonly last: string }>(rows: readonly Row[]): Row[] {
  return rows.flatMap((row) => {
    if (row.first === row.last || row.first.includes(":")) return [row];
    const from = addressToNumber(row.first);
    return Array.from({ length: Number(addressToNumber(row.last) - from) + 1 }, (_, index) => {
      const address = numberToAddress(from + BigInt(index));
      return { ...row, first: address, last: address };
    });
  });
}

/**
 * State of a cell: the address state, or `Twice` for an address of several hosts in conflict, `Accepted` if the conflict
 * is accepted, `Unseen` for one not seen recently, `Gone` for a free address previously used by a host.
 * @param nowMs null in the past: last-seen times are known only for now
 * @param wasUsed whether a host used the address one month earlier
 */
export function cellStateOf(
  { state, ip_addresses, conflict }: CellData,
  { nowMs, wasUsed }: { readonly nowMs: number | null; readonly wasUsed: boolean },
): string {
  if (state === "Free" && wasUsed) return "Gone";
  if (conflict !== null) return conflict.acceptance === null ? "Twice" : "Accepted";
  if (ip_addresses.length === 0 || nowMs === null) return state;
  const isRecent = ip_addresses.some(({ last_seen_at }) => nowMs - (parseInstant(last_seen_at) ?? nowMs) <= UNSEEN_MS);
  return isRecent ? state : "Unseen";
}

type CellChange = "added" | "removed" | "changed";

/** Address differences, as required by the cells; `name` is the address. */
type AddressDifferences = Readonly<Record<CellChange, readonly Readonly<Record<"entity_type" | "name", string>>[]>>;

/** Change per address. An address moved from one host to another counts as changed. */
export function changesByAddress(differences: AddressDifferences): ReadonlyMap<string, CellChange> {
  const changes = new Map<string, CellChange>();
  for (const change of ["added", "removed", "changed"] as const)
    for (const { entity_type, name } of differences[change])
      if (entity_type === "ip_address") changes.set(name, changes.has(name) ? "changed" : change);
  return changes;
}

/** Distinguishing part of an address among its neighbors: the last octet, or the last digits for IPv6. */
export function lastPartOf(address: string): string {
  return (/[^.:]*$/.exec(address)?.[0] || "0").slice(-3);
}

/** Address counts of a block: in use, in ranges, in child subnets, and free. */
export type BlockParts = Readonly<Record<"used" | "inRanges" | "inSubnets" | "free", number>>;

/** @param counts by address state, as in the API */
export function blockPartsOf(counts: Readonly<Record<string, number | string | undefined>>): BlockParts {
  const sum = (...states: string[]) => states.reduce((total, state) => total + Number(ownValue(counts, state) ?? 0), 0);
  return {
    used: sum("Used", "Gateway", "Seen"),
    inRanges: sum("Dhcp", "Reserved", "Static", "Other"),
    inSubnets: sum("Subnet"),
    free: sum("Free"),
  };
}

/** Number of cells per state, most frequent first. */
export function countsOf(states: readonly string[]): [state: string, count: number][] {
  const counts = new Map<string, number>();
  for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

/** Step of the utilization line. */
interface Point {
  readonly ms: number;
  readonly percent: number;
  /** Number of addresses in use. */
  readonly used: number | string;
}

/** Minimum height of a non-zero value, for visibility. */
const VISIBLE_PERCENT_MIN = 4;

/**
 * Step line as an SVG path, 1,000 wide and 100 high. Small non-zero values are raised, to distinguish them from zero.
 * @param points in chronological order
 */
export function stepsPath(
  points: readonly Point[],
  { from, to }: { readonly from: number; readonly to: number },
): string {
  const positionOf = (ms: number) => Math.round(((ms - from) / Math.max(1, to - from)) * 10_000) / 10;
  const height = ({ percent, used }: Point) =>
    Math.round((100 - Math.min(100, Math.max(Number(used) > 0 ? VISIBLE_PERCENT_MIN : 0, percent))) * 10) / 10;
  const [first] = points;
  if (first === undefined) return "";
  const steps = points.map((point) => `H${positionOf(point.ms)}V${height(point)}`).join("");
  return `M${positionOf(first.ms)} 100${steps}H1000V100Z`;
}

/** Equally spaced timestamps in order, including both ends. */
export function instantsBetween(from: number, to: number, count: number): number[] {
  if (to <= from) return [to];
  return Array.from({ length: count }, (_, index) => Math.round(from + ((to - from) * index) / (count - 1)));
}
