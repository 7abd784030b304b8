// Where each device of a map stands: where it is kept, else where it is laid out. Pure.

import type { LaidOutLink } from "./forest.ts";
import { Ground, type Point } from "./ground.ts";
import { layOutMap } from "./layout.ts";

export interface Position extends Point {
  /** By whom. */
  readonly placed: "person" | "layout";
}

/**
 * A position for each of the ids.
 * @param kept what is kept of the network, whether it is on this map or not: never moved, and its places are taken
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
 * Where nothing that was laid out is kept, all is laid out as if nobody had placed anything: to place one device by hand
 * moves no other, unless it stands where that would be.
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
