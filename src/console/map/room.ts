// Free space for labels: occupied boxes, indexed by grid square.

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const SQUARE = 48;
/** Exceeds the number of squares in any column. */
const FAR = 2 ** 22;

export class Room {
  private readonly squares = new Map<number, Box[]>();

  /** Occupies a box, even if it overlaps others. */
  occupy(box: Box): void {
    for (const square of squaresOf(box)) {
      const there = this.squares.get(square);
      if (there === undefined) this.squares.set(square, [box]);
      else there.push(box);
    }
  }

  isFree(box: Box): boolean {
    for (const square of squaresOf(box))
      for (const other of this.squares.get(square) ?? []) if (overlaps(box, other)) return false;
    return true;
  }

  /** Occupies a box if it is free. @returns whether it was */
  take(box: Box): boolean {
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
      squares.push(column * FAR + row);
  return squares;
}
