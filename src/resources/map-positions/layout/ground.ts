// Occupied space of a map and search for free places. Pure.

import type { Cell } from "./blocks.ts";

/** In map units: x to the right, y down. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Minimum distance between two devices in at least one direction. */
export const SPACING_X = 160;
export const SPACING_Y = 120;

/** Search radius in cells. */
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

  /** Whether a device at this point would not overlap another. */
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
   * The nearest free place for cells placed together.
   * @param wanted the preferred place
   * @param down whether to search below it, else above
   * @returns the offset of the cells; null if there is no room nearby
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

  /** The cell from which everything to the right is free. */
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

/** Unique within some billions of units. */
function keyOf({ column, row }: Cell): number {
  return column * 2 ** 26 + row;
}
