// Detours for cables around devices between their ends: a straight line through such a device would seem to end there.
// Pure.

/** A device and its position. */
interface Standing {
  readonly id: string;
  readonly x: number;
  readonly y: number;
}

interface Cable {
  readonly ends: readonly [Standing, Standing];
  readonly link: { readonly group: string };
}

/** Distance from the straight line in map units, 0 for a straight cable; by link group (its pair of devices). */
export type Bends = ReadonlyMap<string, number>;

/** A line closer to a device than this touches it, in map units. */
const NEAR = 22;
/** Room between two columns of the layout. */
const ASIDE_MAX = 74;
/** Added if both sides are taken. */
const ASIDE_MORE = 18;
/** Distance from the device at which a detour is complete. */
export const BEND_AFTER = 70;
const CELL = 160;
/** Exceeds the number of cells in any column. */
const FAR = 2 ** 20;

export function bendsOf(nodes: readonly Standing[], links: readonly Cable[]): Bends {
  const cells = new Map<number, Standing[]>();
  for (const node of nodes) {
    const key = cellOf(node.x, node.y);
    const there = cells.get(key);
    if (there === undefined) cells.set(key, [node]);
    else there.push(node);
  }
  const bends = new Map<string, number>();
  for (const { ends, link } of links) {
    if (bends.has(link.group) || ends[0].id === ends[1].id) continue;
    const [from, to] = inOrder(ends);
    bends.set(link.group, touches(cells, from, to, 0) ? around(cells, from, to) : 0);
  }
  return bends;
}

/** Same order for all cables between two devices, regardless of the order of their ends. */
export function inOrder<End extends { readonly id: string }>([one, other]: readonly [End, End]): readonly [End, End] {
  return one.id < other.id ? [one, other] : [other, one];
}

/** Grows with the length, so that detours in one row run in parallel. */
function around(cells: ReadonlyMap<number, readonly Standing[]>, from: Standing, to: Standing): number {
  const least = Math.min(ASIDE_MAX - ASIDE_MORE, NEAR + (6 * Math.hypot(to.x - from.x, to.y - from.y)) / CELL);
  const sides = [least, -least, least + ASIDE_MORE, -least - ASIDE_MORE];
  return sides.find((aside) => !touches(cells, from, to, aside)) ?? least;
}

/** Whether a line at this distance from the straight one touches a device other than its ends. */
function touches(
  cells: ReadonlyMap<number, readonly Standing[]>,
  from: Standing,
  to: Standing,
  aside: number,
): boolean {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / length, dy / length];
  const [left, top] = [from.x - uy * aside, from.y + ux * aside];
  // Only the displaced section of the line.
  const [begin, end] = aside === 0 ? [0, length] : [BEND_AFTER / 2, length - BEND_AFTER / 2];
  const looked = new Set<number>();
  for (let along = 0; along <= length + CELL / 2; along += CELL / 2) {
    const [x, y] = [left + ux * Math.min(along, length), top + uy * Math.min(along, length)];
    for (const [cx, cy] of AROUND) {
      const key = cellOf(x + cx * NEAR, y + cy * NEAR);
      if (looked.has(key)) continue;
      looked.add(key);
      for (const node of cells.get(key) ?? []) {
        if (node.id === from.id || node.id === to.id) continue;
        const [px, py] = [node.x - left, node.y - top];
        const place = px * ux + py * uy;
        if (place > begin && place < end && Math.abs(px * uy - py * ux) < NEAR) return true;
      }
    }
  }
  return false;
}

/** Cells that a line close to a cell border can touch. */
const AROUND = [
  [-1, -1],
  [-1, 1],
  [1, -1],
  [1, 1],
] as const;

function cellOf(x: number, y: number): number {
  return Math.floor(x / CELL) * FAR + Math.floor(y / CELL);
}
