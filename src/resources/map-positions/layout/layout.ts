// Map layout for devices without a position. Pure. Depends only on ids, links and existing positions, and never moves
// an existing position.

import {
  arrangeOnShelves,
  blockUnder,
  type Cell,
  cellsOf,
  type MapBlock,
  middleColumn,
  nextPowerOfTwo,
  translate,
  treeOf,
} from "./blocks.ts";
import { Forest, type LayoutLink } from "./forest.ts";
import { cellAt, Occupancy, type Point, pointOf } from "./occupancy.ts";

/** Column to the left of everything laid out with links. */
const ISOLATED_COLUMN = -3;

/**
 * A point for each id: existing positions unchanged, new ones without overlap. The dependents of a device (forest.ts)
 * form a block below it. The result does not depend on the order of the input.
 * @param existing existing positions, of these ids or of others; their space is occupied
 */
export function layOutMap(
  ids: readonly string[],
  links: readonly LayoutLink[],
  existing: ReadonlyMap<string, Point>,
): Map<string, Point> {
  const forest = new Forest(ids, links);
  const occupancy = new Occupancy(existing.values());
  const points = new Map<string, Point>();
  const place = (id: string, point: Point) => {
    points.set(id, point);
    occupancy.occupy(point);
  };
  for (const id of forest.ids) {
    const point = existing.get(id);
    if (point !== undefined) points.set(id, point);
  }
  const unplaced: MapBlock[] = [];
  for (const [block, preferred] of newBlocks(forest, existing)) {
    const cells = cellsOf(block);
    const offset =
      preferred === null
        ? null
        : occupancy.nearestFree(
            cells.map(([, cell]) => cell),
            preferred.offset,
            preferred.isBelow,
          );
    if (offset === null) unplaced.push(block);
    else for (const [id, cell] of cells) place(id, pointOf(translate(cell, offset)));
  }
  const start = occupancy.freeArea();
  for (const [tree, offset] of arrangeOnShelves(unplaced))
    for (const [id, cell] of cellsOf(tree)) place(id, pointOf(translate(translate(cell, offset), start)));
  const isolated = forest.isolated.filter((id) => !existing.has(id));
  const columns = nextPowerOfTwo(Math.sqrt(isolated.length));
  let next = 0;
  for (const id of isolated) {
    let point: Point;
    do {
      point = pointOf({ column: ISOLATED_COLUMN - (next % columns), row: Math.floor(next / columns) });
      next += 1;
    } while (!occupancy.isFree(point));
    place(id, point);
  }
  return points;
}

/** Preferred position of a block, and whether to search for room below or above it. */
interface Preference {
  readonly offset: Cell;
  readonly isBelow: boolean;
}

/** New devices with links: the dependents of a positioned device as one block; else each center with its dependents. */
function* newBlocks(forest: Forest, existing: ReadonlyMap<string, Point>): Generator<[MapBlock, Preference | null]> {
  const isNew = (id: string) => !existing.has(id);
  const childrenOf = (id: string) => forest.childrenOf(id).filter(isNew);
  for (const id of forest.ids) {
    const point = existing.get(id);
    if (point !== undefined) {
      const children = childrenOf(id);
      if (children.length > 0) yield below(blockUnder(children, childrenOf), point);
    } else if (forest.parentOf(id) === null && forest.neighborsOf(id).size > 0) {
      const tree = treeOf(id, childrenOf);
      yield [tree, above(tree, forest, existing)];
    }
  }
}

function below(block: MapBlock, point: Point): [MapBlock, Preference] {
  const { column, row } = cellAt(point);
  return [block, { offset: { column: column - middleColumn(block), row: row + 1 }, isBelow: true }];
}

/** Null if none of its neighbors has a position. */
function above(tree: MapBlock, forest: Forest, existing: ReadonlyMap<string, Point>): Preference | null {
  if (existing.size === 0) return null;
  const linked = cellsOf(tree)
    .flatMap(([id]) => [...forest.neighborsOf(id).keys()])
    .flatMap((id) => existing.get(id) ?? []);
  if (linked.length === 0) return null;
  const x = linked.reduce((sum, point) => sum + point.x, 0) / linked.length;
  const y = linked.reduce((lowest, point) => Math.min(lowest, point.y), Number.POSITIVE_INFINITY);
  const { column, row } = cellAt({ x, y });
  return { offset: { column: column - middleColumn(tree), row: row - tree.rows }, isBelow: false };
}
