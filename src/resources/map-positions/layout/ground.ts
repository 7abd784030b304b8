// What of a map is taken, and where there is room. Pure.

import type { Cell } from "./blocks.ts";

/** In units of the map: to the right, and down. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Two devices stand apart where they are at least so far from each other in one direction. */
export const SPACING_X = 160;
export const SPACING_Y = 120;

/** How many cells away a place is looked for. */
const REACH = 96;

export class Ground {
  private readonly taken = new Map<number, Point[]>();
  private top = Number.POSITIVE_INFINITY;
  private right = Number.NEGATIVE_INFINITY;

  constructor(points: Iterable<Point>) {
    for (const point of points) this.take(point);
  }

  take(point: Point): void {
    const key = keyOf(bucketOf(point));
    const known = this.taken.get(key);
    if (known === undefined) this.taken.set(key, [point]);
    else known.push(point);
    this.top = Math.min(this.top, point.y);
    this.right = Math.max(this.right, point.x);
  }

  /** Whether who stands there overlaps nobody. */
  isFree({ x, y }: Point): boolean {
    const { column, row } = bucketOf({ x, y });
    for (let beside = column - 1; beside <= column + 1; beside += 1) {
      for (let above = row - 1; above <= row + 1; above += 1) {
        const points = this.taken.get(keyOf({ column: beside, row: above }));
        if (points?.some((point) => Math.abs(point.x - x) < SPACING_X && Math.abs(point.y - y) < SPACING_Y))
          return false;
      }
    }
    return true;
  }

  /**
   * The nearest place for cells that stand together.
   * @param wanted where they would stand best
   * @param down whether to look below it, else above
   * @returns what to move them by; null where there is no room near by
   */
  near(cells: readonly Cell[], wanted: Cell, down: boolean): Cell | null {
    for (let distance = 0; distance <= REACH; distance += 1) {
      for (let aside = 0; aside <= distance; aside += 1) {
        const row = wanted.row + (distance - aside) * (down ? 1 : -1);
        for (const column of new Set([wanted.column + aside, wanted.column - aside]))
          if (cells.every((cell) => this.isFree(pointOf({ column: cell.column + column, row: cell.row + row }))))
            return { column, row };
      }
    }
    return null;
  }

  /** From where on to the right nothing stands. */
  beyond(): Cell {
    if (this.taken.size === 0) return { column: 0, row: 0 };
    return { column: Math.ceil(this.right / SPACING_X) + 2, row: Math.floor(this.top / SPACING_Y) };
  }
}

export function pointOf({ column, row }: Cell): Point {
  return { x: column * SPACING_X, y: row * SPACING_Y };
}

/** The nearest cell. */
export function cellAt({ x, y }: Point): Cell {
  return { column: Math.round(x / SPACING_X), row: Math.round(y / SPACING_Y) };
}

function bucketOf({ x, y }: Point): Cell {
  return { column: Math.floor(x / SPACING_X), row: Math.floor(y / SPACING_Y) };
}

/** Each its own within some billions of units. */
function keyOf({ column, row }: Cell): number {
  return column * 2 ** 26 + row;
}
