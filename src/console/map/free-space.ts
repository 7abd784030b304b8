// Free space for labels: occupied boxes, indexed by grid square.

import type { Point, Size } from "./viewport.ts";

export type Box = Point & Size;

const SQUARE = 48;
/** Exceeds the number of squares in any column. */
const COLUMN_STRIDE = 2 ** 22;

export class FreeSpace {
  private readonly squares = new Map<number, Box[]>();

  /** Occupies a box, even if it overlaps others. */
  occupy(box: Box): void {
    for (const square of squaresOf(box)) {
      const boxes = this.squares.get(square);
      if (boxes === undefined) this.squares.set(square, [box]);
      else boxes.push(box);
    }
  }

  isFree(box: Box): boolean {
    for (const square of squaresOf(box))
      for (const occupied of this.squares.get(square) ?? []) if (overlaps(box, occupied)) return false;
    return true;
  }

  /** Occupies a box if it is free. @returns whether it was */
  tryOccupy(box: Box): boolean {
    const isFree = this.isFree(box);
    if (isFree) this.occupy(box);
    return isFree;
  }
}

function overlaps(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

function squaresOf({ x, y, width, height }: Box): number[] {
  const squares: number[] = [];
  for (let row = Math.floor(y / SQUARE); row <= Math.floor((y + height) / SQUARE); row += 1)
    for (let column = Math.floor(x / SQUARE); column <= Math.floor((x + width) / SQUARE); column += 1)
      squares.push(column * COLUMN_STRIDE + row);
  return squares;
}
