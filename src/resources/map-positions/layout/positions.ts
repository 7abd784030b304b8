// Position of each device on a map: stored, else laid out. Pure.

import type { LaidOutLink } from "./forest.ts";
import { Ground, type Point } from "./ground.ts";
import { layOutMap } from "./layout.ts";

export interface Position extends Point {
  /** Origin of the position. */
  readonly placed: "person" | "layout";
}

/**
 * A position for each id.
 * @param kept stored positions of the network, on this map or not; they never move, and their space is taken
 */
export function positionsOf(
  ids: readonly string[],
  links: readonly LaidOutLink[],
  kept: ReadonlyMap<string, Position>,
): Map<string, Position> {
  const laidOut = layOutMap(ids, links, standingOf(ids, links, kept));
  return new Map(ids.map((id) => [id, kept.get(id) ?? { ...(laidOut.get(id) as Point), placed: "layout" }]));
}

/**
 * Without stored layout positions, lays out the map as if nothing had been placed: placing one device by hand then
 * moves no other, unless it overlaps one.
 */
function standingOf(
  ids: readonly string[],
  links: readonly LaidOutLink[],
  kept: ReadonlyMap<string, Position>,
): ReadonlyMap<string, Point> {
  if (kept.size === 0 || [...kept.values()].some(({ placed }) => placed === "layout")) return kept;
  const ground = new Ground(kept.values());
  const untouched = [...layOutMap(ids, links, new Map())].filter(
    ([id, point]) => !kept.has(id) && ground.isFree(point),
  );
  return new Map<string, Point>([...kept, ...untouched]);
}
