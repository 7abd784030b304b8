// Which way a cable takes around the devices that stand between its ends: one that ran straight through them would seem
// to end there. Plain functions.

/** A device, where it stands. */
interface Standing {
  readonly id: string;
  readonly x: number;
  readonly y: number;
}

interface Cable {
  readonly ends: readonly [Standing, Standing];
  readonly link: { readonly group: string };
}

/** Beside the straight line, in units of the map; 0 for one that is free. By the two devices it joins. */
export type Bends = ReadonlyMap<string, number>;

/** So near to a device, a line touches it, in units of the map. */
const NEAR = 22;
/** Between two columns of the layout there is room for so much. */
const ASIDE_MAX = 74;
/** Tried where one side and the other are taken. */
const ASIDE_MORE = 18;
/** Where a line that goes around has left its device. */
export const BEND_AFTER = 70;
const CELL = 160;
/** More cells than any map has in a column. */
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

/** The same way round for all cables between two, whichever end each names first. */
export function inOrder<End extends { readonly id: string }>([one, other]: readonly [End, End]): readonly [End, End] {
  return one.id < other.id ? [one, other] : [other, one];
}

/** The longer it is, the farther aside: those in one row lie beside each other. */
function around(cells: ReadonlyMap<number, readonly Standing[]>, from: Standing, to: Standing): number {
  const least = Math.min(ASIDE_MAX - ASIDE_MORE, NEAR + (6 * Math.hypot(to.x - from.x, to.y - from.y)) / CELL);
  const sides = [least, -least, least + ASIDE_MORE, -least - ASIDE_MORE];
  return sides.find((aside) => !touches(cells, from, to, aside)) ?? least;
}

/** Whether a line beside the straight one touches a device that it does not end at. */
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
  // As far as the line is aside, and no farther.
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

/** The cells that a line near a border of one may touch. */
const AROUND = [
  [-1, -1],
  [-1, 1],
  [1, -1],
  [1, 1],
] as const;

function cellOf(x: number, y: number): number {
  return Math.floor(x / CELL) * FAR + Math.floor(y / CELL);
}
