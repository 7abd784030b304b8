// Grid blocks for the map layout: the dependents of a device, with nested blocks for theirs. Pure.

import { compareIds } from "./forest.ts";

/** Grid coordinates. */
export interface Cell {
  readonly column: number;
  readonly row: number;
}

/** Devices placed together, in cells starting at 0, 0. */
export interface MapBlock {
  readonly columns: number;
  readonly rows: number;
  /** The lowest id in the block. */
  readonly first: string;
  readonly cells: ReadonlyArray<readonly [id: string, cell: Cell]>;
  readonly below: ReadonlyArray<readonly [block: MapBlock, at: Cell]>;
}

/**
 * Number of columns by number of devices, in steps, so that adding a device seldom moves the others. Odd, so that there
 * is a middle column; adjacent blocks then also span an odd number of columns.
 */
const COLUMNS: ReadonlyArray<readonly [most: number, columns: number]> = [
  [0, 0],
  [10, 5],
  [36, 9],
  [Number.POSITIVE_INFINITY, 17],
];

/** Shelves are wider than high, like screens. */
const SHELF_ASPECT = 1.5;

/** A device above its dependents. @param childrenOf in order of creation */
export function treeOf(top: string, childrenOf: (id: string) => readonly string[]): MapBlock {
  const children = childrenOf(top);
  if (children.length === 0) return { columns: 1, rows: 1, first: top, cells: [[top, ORIGIN]], below: [] };
  return onTop(top, blockUnder(children, childrenOf));
}

function onTop(top: string, block: MapBlock): MapBlock {
  return {
    columns: block.columns,
    rows: block.rows + 1,
    first: earliest([top, block.first]),
    cells: [[top, { column: middleOf(block), row: 0 }]],
    below: [[block, { column: 0, row: 1 }]],
  };
}

/** Devices in rows; below them the devices with dependents, each above its own. */
export function blockUnder(ids: readonly string[], childrenOf: (id: string) => readonly string[]): MapBlock {
  // Iterative: a chain of switches may be long.
  const order: string[] = [];
  for (const open = [...ids]; open.length > 0; ) {
    const id = open.pop() as string;
    order.push(id);
    open.push(...childrenOf(id));
  }
  const blocks = new Map<string, MapBlock>();
  for (const id of order.toReversed()) {
    const children = childrenOf(id);
    if (children.length > 0) blocks.set(id, oneBlock(children, blocks));
  }
  return oneBlock(ids, blocks);
}

/** The middle column. */
export function middleOf({ columns }: MapBlock): number {
  return (columns - 1) / 2;
}

const ORIGIN: Cell = { column: 0, row: 0 };

/** Cell of each device in a block. */
export function cellsOf(block: MapBlock): Array<[id: string, cell: Cell]> {
  const found: Array<[string, Cell]> = [];
  for (const open: Array<readonly [MapBlock, Cell]> = [[block, ORIGIN]]; open.length > 0; ) {
    const [{ cells, below }, at] = open.pop() as readonly [MapBlock, Cell];
    for (const [id, cell] of cells) found.push([id, moved(cell, at)]);
    for (const [inner, place] of below) open.push([inner, moved(place, at)]);
  }
  return found;
}

/** Blocks in rows, one cell apart, in the given order. */
export function onShelves(blocks: readonly MapBlock[]): Array<[block: MapBlock, at: Cell]> {
  const area = blocks.reduce((sum, { columns, rows }) => sum + (columns + 1) * (rows + 1), 0);
  const width = Math.max(roomFor(Math.sqrt(area) * SHELF_ASPECT), ...blocks.map(({ columns }) => columns));
  let [column, row, rows] = [0, 0, 0];
  return blocks.map((block) => {
    if (column > 0 && column + block.columns > width) {
      row += rows + 1;
      [column, rows] = [0, 0];
    }
    const at = { column, row };
    column += block.columns + 1;
    rows = Math.max(rows, block.rows);
    return [block, at];
  });
}

/** The next power of two: small growth needs no additional room. */
export function roomFor(count: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, count)));
}

export function moved({ column, row }: Cell, by: Cell): Cell {
  return { column: column + by.column, row: row + by.row };
}

/** Devices without dependents from the middle outwards, so that adding one moves none; the others below. */
function oneBlock(ids: readonly string[], blocks: ReadonlyMap<string, MapBlock>): MapBlock {
  const trees = ids.flatMap((id) => {
    const block = blocks.get(id);
    return block === undefined ? [] : [onTop(id, block)];
  });
  const ends = ids.filter((id) => !blocks.has(id));
  const columns = (COLUMNS.find(([most]) => ends.length <= most) as readonly [number, number])[1];
  const rows = ends.length === 0 ? 0 : roomFor(Math.ceil(ends.length / columns));
  const below = onShelves(trees.sort((a, b) => compareIds(a.first, b.first)));
  const width = Math.max(columns, ...below.map(([block, at]) => at.column + block.columns));
  const left = (width - columns) / 2;
  return {
    columns: width,
    rows: rows + Math.max(0, ...below.map(([block, at]) => at.row + block.rows)),
    first: earliest([...ids, ...below.map(([{ first }]) => first)]),
    cells: ends.map((id, place) => [
      id,
      { column: left + outwards(place % columns, columns), row: Math.floor(place / columns) },
    ]),
    below: below.map(([block, at]) => [block, moved(at, { column: 0, row: rows })]),
  };
}

/** 0, 1, 2, 3 → middle, right of it, left of it, second to the right. */
function outwards(place: number, columns: number): number {
  const middle = (columns - 1) / 2;
  return place % 2 === 0 ? middle - place / 2 : middle + (place + 1) / 2;
}

function earliest(ids: readonly string[]): string {
  return ids.reduce((first, id) => (compareIds(id, first) < 0 ? id : first));
}
