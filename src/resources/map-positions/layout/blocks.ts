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
export function treeOf(root: string, childrenOf: (id: string) => readonly string[]): MapBlock {
  const children = childrenOf(root);
  if (children.length === 0) return { columns: 1, rows: 1, first: root, cells: [[root, ORIGIN]], below: [] };
  return withRoot(root, blockUnder(children, childrenOf));
}

function withRoot(root: string, block: MapBlock): MapBlock {
  return {
    columns: block.columns,
    rows: block.rows + 1,
    first: lowestId([root, block.first]),
    cells: [[root, { column: middleColumn(block), row: 0 }]],
    below: [[block, { column: 0, row: 1 }]],
  };
}

/** Devices in rows; below them the devices with dependents, each above its own. */
export function blockUnder(ids: readonly string[], childrenOf: (id: string) => readonly string[]): MapBlock {
  // Iterative: a chain of switches may be long.
  const order: string[] = [];
  for (const stack = [...ids]; stack.length > 0; ) {
    const id = stack.pop() as string;
    order.push(id);
    stack.push(...childrenOf(id));
  }
  const blocks = new Map<string, MapBlock>();
  for (const id of order.toReversed()) {
    const children = childrenOf(id);
    if (children.length > 0) blocks.set(id, combine(children, blocks));
  }
  return combine(ids, blocks);
}

/** The middle column. */
export function middleColumn({ columns }: MapBlock): number {
  return (columns - 1) / 2;
}

const ORIGIN: Cell = { column: 0, row: 0 };

/** Cell of each device in a block. */
export function cellsOf(block: MapBlock): Array<[id: string, cell: Cell]> {
  const result: Array<[string, Cell]> = [];
  for (const stack: Array<readonly [MapBlock, Cell]> = [[block, ORIGIN]]; stack.length > 0; ) {
    const [{ cells, below }, offset] = stack.pop() as readonly [MapBlock, Cell];
    for (const [id, cell] of cells) result.push([id, translate(cell, offset)]);
    for (const [inner, slot] of below) stack.push([inner, translate(slot, offset)]);
  }
  return result;
}

/** Blocks in rows, one cell apart, in the given order. */
export function arrangeOnShelves(blocks: readonly MapBlock[]): Array<[block: MapBlock, at: Cell]> {
  const area = blocks.reduce((sum, { columns, rows }) => sum + (columns + 1) * (rows + 1), 0);
  const width = Math.max(nextPowerOfTwo(Math.sqrt(area) * SHELF_ASPECT), ...blocks.map(({ columns }) => columns));
  let [column, row, rows] = [0, 0, 0];
  return blocks.map((block) => {
    if (column > 0 && column + block.columns > width) {
      row += rows + 1;
      [column, rows] = [0, 0];
    }
    const offset = { column, row };
    column += block.columns + 1;
    rows = Math.max(rows, block.rows);
    return [block, offset];
  });
}

/** The next power of two: small growth needs no additional room. */
export function nextPowerOfTwo(count: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, count)));
}

export function translate({ column, row }: Cell, delta: Cell): Cell {
  return { column: column + delta.column, row: row + delta.row };
}

/** Devices without dependents from the middle outwards, so that adding one moves none; the others below. */
function combine(ids: readonly string[], blocks: ReadonlyMap<string, MapBlock>): MapBlock {
  const trees = ids.flatMap((id) => {
    const block = blocks.get(id);
    return block === undefined ? [] : [withRoot(id, block)];
  });
  const leaves = ids.filter((id) => !blocks.has(id));
  const columns = (COLUMNS.find(([max]) => leaves.length <= max) as readonly [number, number])[1];
  const rows = leaves.length === 0 ? 0 : nextPowerOfTwo(Math.ceil(leaves.length / columns));
  const below = arrangeOnShelves(trees.sort((a, b) => compareIds(a.first, b.first)));
  const width = Math.max(columns, ...below.map(([block, offset]) => offset.column + block.columns));
  const margin = (width - columns) / 2;
  return {
    columns: width,
    rows: rows + Math.max(0, ...below.map(([block, offset]) => offset.row + block.rows)),
    first: lowestId([...ids, ...below.map(([{ first }]) => first)]),
    cells: leaves.map((id, slot) => [
      id,
      { column: margin + columnFromMiddle(slot % columns, columns), row: Math.floor(slot / columns) },
    ]),
    below: below.map(([block, offset]) => [block, translate(offset, { column: 0, row: rows })]),
  };
}

/** 0, 1, 2, 3 → middle, right of it, left of it, second to the right. */
function columnFromMiddle(slot: number, columns: number): number {
  const middle = (columns - 1) / 2;
  return slot % 2 === 0 ? middle - slot / 2 : middle + (slot + 1) / 2;
}

function lowestId(ids: readonly string[]): string {
  return ids.reduce((first, id) => (compareIds(id, first) < 0 ? id : first));
}
