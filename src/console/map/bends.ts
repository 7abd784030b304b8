// Detours for links that would pass behind other devices and seem to end there. Pure.

import type { Point } from "./viewport.ts";

/** A device and its position. */
type PositionedDevice = Point & { readonly id: string };

/** Devices by grid square. */
type Cells = ReadonlyMap<number, readonly PositionedDevice[]>;

interface Link {
  readonly ends: readonly [PositionedDevice, PositionedDevice];
  readonly link: { readonly group: string };
}

/** Distance from the straight line in map units, 0 for a straight link; by link group (its pair of devices). */
export type Bends = ReadonlyMap<string, number>;

/** A line closer to a device than this touches it, in map units. */
const NEAR = 22;
/** Space between two columns of the layout. */
const OFFSET_MAX = 74;
/** Added to the offset if both sides are taken. */
const OFFSET_STEP = 18;
/** Distance from the device at which a detour is complete. */
export const BEND_AFTER = 70;
const CELL = 160;
/** Exceeds the number of cells in any column. */
const COLUMN_STRIDE = 2 ** 20;

export function bendsOf(nodes: readonly PositionedDevice[], links: readonly Link[]): Bends {
  const cells = Map.groupBy(nodes, ({ x, y }) => cellOf(x, y));
  const bends = new Map<string, number>();
  for (const { ends, link } of links) {
    if (bends.has(link.group) || ends[0].id === ends[1].id) continue;
    const [from, to] = orderedEnds(ends);
    bends.set(link.group, touches(cells, from, to, 0) ? detourOf(cells, from, to) : 0);
  }
  return bends;
}

/** Same order for all links between two devices, regardless of the order of their ends. */
export function orderedEnds<End extends { readonly id: string }>([first, second]: readonly [End, End]) {
  return first.id < second.id ? ([first, second] as const) : ([second, first] as const);
}

/** Offset of a detour. Grows with the length, so that detours in one row run in parallel. */
function detourOf(cells: Cells, from: PositionedDevice, to: PositionedDevice): number {
  const smallest = Math.min(OFFSET_MAX - OFFSET_STEP, NEAR + (6 * Math.hypot(to.x - from.x, to.y - from.y)) / CELL);
  const sides = [smallest, -smallest, smallest + OFFSET_STEP, -smallest - OFFSET_STEP];
  return sides.find((offset) => !touches(cells, from, to, offset)) ?? smallest;
}

/** Whether a line at this distance from the straight one touches a device other than its ends. */
function touches(cells: Cells, from: PositionedDevice, to: PositionedDevice, offset: number): boolean {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / length, dy / length];
  const [left, top] = [from.x - uy * offset, from.y + ux * offset];
  // Only the displaced section of the line.
  const [start, end] = offset === 0 ? [0, length] : [BEND_AFTER / 2, length - BEND_AFTER / 2];
  const visited = new Set<number>();
  for (let along = 0; along <= length + CELL / 2; along += CELL / 2) {
    const [x, y] = [left + ux * Math.min(along, length), top + uy * Math.min(along, length)];
    for (const [cx, cy] of CELL_CORNERS) {
      const key = cellOf(x + cx * NEAR, y + cy * NEAR);
      if (visited.has(key)) continue;
      visited.add(key);
      for (const node of cells.get(key) ?? []) {
        if (node.id === from.id || node.id === to.id) continue;
        const [px, py] = [node.x - left, node.y - top];
        const projection = px * ux + py * uy;
        if (projection > start && projection < end && Math.abs(px * uy - py * ux) < NEAR) return true;
      }
    }
  }
  return false;
}

/** Cells that a line close to a cell border can touch. */
const CELL_CORNERS = [-1, 1].flatMap((x) => [-1, 1].map((y) => [x, y] as const));

function cellOf(x: number, y: number): number {
  return Math.floor(x / CELL) * COLUMN_STRIDE + Math.floor(y / CELL);
}
