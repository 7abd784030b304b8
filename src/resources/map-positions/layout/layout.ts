// Map layout for devices without a position. Pure. Must not know more than ids, links and existing positions, and must
// not move any existing position.

import {
  blockUnder,
  type Cell,
  cellsOf,
  type MapBlock,
  middleOf,
  moved,
  onShelves,
  roomFor,
  treeOf,
} from "./blocks.ts";
import { Forest, type LaidOutLink } from "./forest.ts";
import { cellAt, Ground, type Point, pointOf } from "./ground.ts";

/** Column to the left of everything laid out with links. */
const ALONE_COLUMN = -3;

/**
 * A point for each id: existing positions unchanged, new ones without overlap. The dependents of a device (forest.ts)
 * form a block below it. The result does not depend on the order of the input.
 * @param standing existing positions, of these ids or of others, whose space is taken
 */
export function layOutMap(
  ids: readonly string[],
  links: readonly LaidOutLink[],
  standing: ReadonlyMap<string, Point>,
): Map<string, Point> {
  const forest = new Forest(ids, links);
  const ground = new Ground(standing.values());
  const found = new Map<string, Point>();
  const place = (id: string, point: Point) => {
    found.set(id, point);
    ground.take(point);
  };
  for (const id of forest.ids) {
    const point = standing.get(id);
    if (point !== undefined) found.set(id, point);
  }
  const free: MapBlock[] = [];
  for (const [block, wanted] of newBlocks(forest, standing)) {
    const cells = cellsOf(block);
    const at =
      wanted === null
        ? null
        : ground.near(
            cells.map(([, cell]) => cell),
            wanted.at,
            wanted.isBelow,
          );
    if (at === null) free.push(block);
    else for (const [id, cell] of cells) place(id, pointOf(moved(cell, at)));
  }
  const start = ground.beyond();
  for (const [tree, at] of onShelves(free))
    for (const [id, cell] of cellsOf(tree)) place(id, pointOf(moved(moved(cell, at), start)));
  const alone = forest.alone.filter((id) => !standing.has(id));
  const columns = roomFor(Math.sqrt(alone.length));
  let next = 0;
  for (const id of alone) {
    let point: Point;
    do {
      point = pointOf({ column: ALONE_COLUMN - (next % columns), row: Math.floor(next / columns) });
      next += 1;
    } while (!ground.isFree(point));
    place(id, point);
  }
  return found;
}

/** Preferred place of a block, and whether to search for room below or above it. */
interface Wanted {
  readonly at: Cell;
  readonly isBelow: boolean;
}

/** New devices with links: the dependents of a positioned device as one block; else each center with its dependents. */
function* newBlocks(forest: Forest, standing: ReadonlyMap<string, Point>): Generator<[MapBlock, Wanted | null]> {
  const isNew = (id: string) => !standing.has(id);
  const childrenOf = (id: string) => forest.childrenOf(id).filter(isNew);
  for (const id of forest.ids) {
    const point = standing.get(id);
    if (point !== undefined) {
      const children = childrenOf(id);
      if (children.length > 0) yield below(blockUnder(children, childrenOf), point);
    } else if (forest.parentOf(id) === null && forest.neighborsOf(id).size > 0) {
      const tree = treeOf(id, childrenOf);
      yield [tree, above(tree, forest, standing)];
    }
  }
}

function below(block: MapBlock, point: Point): [MapBlock, Wanted] {
  const { column, row } = cellAt(point);
  return [block, { at: { column: column - middleOf(block), row: row + 1 }, isBelow: true }];
}

/** Null if none of its neighbors has a position. */
function above(tree: MapBlock, forest: Forest, standing: ReadonlyMap<string, Point>): Wanted | null {
  if (standing.size === 0) return null;
  const linked = cellsOf(tree)
    .flatMap(([id]) => [...forest.neighborsOf(id).keys()])
    .flatMap((id) => standing.get(id) ?? []);
  if (linked.length === 0) return null;
  const x = linked.reduce((sum, point) => sum + point.x, 0) / linked.length;
  const y = linked.reduce((least, point) => Math.min(least, point.y), Number.POSITIVE_INFINITY);
  const { column, row } = cellAt({ x, y });
  return { at: { column: column - middleOf(tree), row: row - tree.rows }, isBelow: false };
}
