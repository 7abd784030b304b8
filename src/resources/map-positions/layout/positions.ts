// Device positions on a map, stored or laid out. Pure.

import type { LayoutLink } from "./forest.ts";
import { layOutMap } from "./layout.ts";
import { Occupancy, type Point } from "./occupancy.ts";

export interface Position extends Point {
  /** Origin of the position. */
  readonly placed: "person" | "layout";
}

/**
 * A position for each id.
 * @param stored stored positions of the network, on this map or not; they never move, and their space is occupied
 */
export function positionsOf(
  ids: readonly string[],
  links: readonly LayoutLink[],
  stored: ReadonlyMap<string, Position>,
): Map<string, Position> {
  const laidOut = layOutMap(ids, links, existingPoints(ids, links, stored));
  return new Map(ids.map((id) => [id, stored.get(id) ?? { ...(laidOut.get(id) as Point), placed: "layout" }]));
}

/**
 * Without stored layout positions, lays out the map as if nothing had been placed: placing one device manually then
 * moves no other, unless it overlaps one.
 */
function existingPoints(
  ids: readonly string[],
  links: readonly LayoutLink[],
  stored: ReadonlyMap<string, Position>,
): ReadonlyMap<string, Point> {
  if (stored.size === 0 || [...stored.values()].some(({ placed }) => placed === "layout")) return stored;
  const occupancy = new Occupancy(stored.values());
  const unaffected = [...layOutMap(ids, links, new Map())].filter(
    ([id, point]) => !stored.has(id) && occupancy.isFree(point),
  );
  return new Map<string, Point>([...stored, ...unaffected]);
}
