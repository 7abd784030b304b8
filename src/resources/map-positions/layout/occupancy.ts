// Occupied space of a map and search for free positions. Pure.

import { append } from "../../../base/multimap.ts";
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
const SEARCH_RADIUS = 96;

export class Occupancy {
  private readonly buckets = new Map<number, Point[]>();
  private top = Number.POSITIVE_INFINITY;
  private right = Number.NEGATIVE_INFINITY;

  constructor(points: Iterable<Point>) {
    for (const point of points) this.occupy(point);
  }

  occupy(point: Point): void {
    const key = keyOf(bucketOf(point));
    append(this.buckets, key, point);
    this.top = Math.min(this.top, point.y);
    this.right = Math.max(this.right, point.x);
  }

  /** Whether a device at this point would not overlap another. */
  isFree({ x, y }: Point): boolean {
    const { column, row } = bucketOf({ x, y });
    for (let neighborColumn = column - 1; neighborColumn <= column + 1; neighborColumn += 1) {
      for (let neighborRow = row - 1; neighborRow <= row + 1; neighborRow += 1) {
        const points = this.buckets.get(keyOf({ column: neighborColumn, row: neighborRow }));
        if (points?.some((point) => Math.abs(point.x - x) < SPACING_X && Math.abs(point.y - y) < SPACING_Y))
          return false;
      }
    }
    return true;
  }

  /**
   * The nearest free position for cells placed together.
   * @param preferred the preferred position
   * @param searchDown whether to search below it, else above
   * @returns the offset of the cells; null if there is no room nearby
   */
  nearestFree(cells: readonly Cell[], preferred: Cell, searchDown: boolean): Cell | null {
    for (let distance = 0; distance <= SEARCH_RADIUS; distance += 1) {
      for (let sideways = 0; sideways <= distance; sideways += 1) {
        const row = preferred.row + (distance - sideways) * (searchDown ? 1 : -1);
        for (const column of new Set([preferred.column + sideways, preferred.column - sideways]))
          if (cells.every((cell) => this.isFree(pointOf({ column: cell.column + column, row: cell.row + row }))))
            return { column, row };
      }
    }
    return null;
  }

  /** The cell from which everything to the right is free. */
  freeArea(): Cell {
    if (this.buckets.size === 0) return { column: 0, row: 0 };
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
