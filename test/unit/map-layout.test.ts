// Map layout invariants on random networks: no overlaps, a device's dependents grouped below it, and stored positions
// unchanged.

import { describe, expect, test } from "bun:test";
import type { LayoutLink } from "../../src/resources/map-positions/layout/forest.ts";
import { layOutMap } from "../../src/resources/map-positions/layout/layout.ts";
import { type Point, SPACING_X, SPACING_Y } from "../../src/resources/map-positions/layout/occupancy.ts";
import { type Position, positionsOf } from "../../src/resources/map-positions/layout/positions.ts";
import { type SeededRandom, seededRandom } from "../support/injected/seeded-random.ts";

const NO_POSITIONS = new Map<string, Point>();
const id = (number: number) => `device-${String(number).padStart(5, "0")}`;
const link = (first: string, second: string, speedBps: number | null = 1e9): LayoutLink => ({
  ends: [first, second],
  speedBps,
});

function overlaps(points: ReadonlyMap<string, Point>): string[] {
  const found: string[] = [];
  // Sorted by y: overlapping points are in the same row or in adjacent ones.
  const all = [...points].sort(([, a], [, b]) => a.y - b.y);
  for (const [index, [first, a]] of all.entries())
    for (let next = index + 1; next < all.length; next += 1) {
      const [second, b] = all[next] as [string, Point];
      if (b.y - a.y >= SPACING_Y) break;
      if (Math.abs(a.x - b.x) < SPACING_X) found.push(`${first} ${second}`);
    }
  return found;
}

/** Two cores, distribution switches on both, access switches on those, and their end devices. */
function campus(random: SeededRandom, count: number): LayoutLink[] {
  const links = [link(id(0), id(1), 40e9)];
  for (let number = 2; number < count; number += 1) {
    if (number < 6) links.push(link(id(0), id(number), 10e9), link(id(number), id(1), 10e9));
    else links.push(link(id(number), id(2 + random.integer(Math.min(number - 2, 40))), random.pick([1e8, 1e9, null])));
  }
  return links;
}

function randomNetwork(random: SeededRandom, count: number): LayoutLink[] {
  return Array.from({ length: random.integer(count * 2) }, () =>
    link(id(random.integer(count)), id(random.integer(count)), random.pick([null, 1e8, 1e9, 1e10])),
  );
}

const idsOf = (count: number) => Array.from({ length: count }, (_, number) => id(number));

describe("a map layout", () => {
  test("gives every device of any network a distinct integer position, in any input order", () => {
    const random = seededRandom(17);
    for (let round = 0; round < 60; round += 1) {
      const count = 1 + random.integer(120);
      const links = round % 2 === 0 ? randomNetwork(random, count) : campus(random, count);
      const points = layOutMap(idsOf(count), links, NO_POSITIONS);
      expect([...points.keys()].sort()).toEqual(idsOf(count));
      expect(overlaps(points)).toEqual([]);
      expect([...points.values()].every(({ x, y }) => Number.isInteger(x) && Number.isInteger(y))).toBe(true);
      const shuffled = [...links]
        .sort(() => random.integer(3) - 1)
        .map(({ ends: [first, second], speedBps }) => link(second, first, speedBps));
      expect(layOutMap(idsOf(count).reverse(), shuffled, NO_POSITIONS)).toEqual(points);
    }
  });

  test("never moves placed devices, and places nothing on them", () => {
    const random = seededRandom(18);
    for (let round = 0; round < 60; round += 1) {
      const count = 2 + random.integer(120);
      const links = round % 2 === 0 ? randomNetwork(random, count) : campus(random, count);
      const before = layOutMap(idsOf(1 + random.integer(count)), links, NO_POSITIONS);
      const placed = new Map(
        [...before].map(([node, point]) => [
          node,
          random.integer(4) === 0 ? { x: point.x + random.integer(50), y: point.y + random.integer(50) } : point,
        ]),
      );
      const initialOverlaps = new Set(overlaps(placed));
      const points = layOutMap(idsOf(count), links, placed);
      for (const [node, point] of placed) expect(points.get(node)).toEqual(point);
      expect(points.size).toBe(count);
      expect(overlaps(points).filter((pair) => !initialOverlaps.has(pair))).toEqual([]);
    }
  });

  test("places devices attached to one in a block below it, recursively", () => {
    const access = Array.from({ length: 12 }, (_, number) => id(10 + number));
    const links = [
      link(id(0), id(1), 10e9),
      link(id(0), id(2), 10e9),
      ...access.map((node, index) => link(id(1 + (index % 2)), node)),
    ];
    const points = layOutMap([id(0), id(1), id(2), ...access], links, NO_POSITIONS);
    const pointOf = (node: string) => points.get(node) as Point;
    const [left, right] = [0, 1].map((side) => access.filter((_, index) => index % 2 === side).map(pointOf));
    const extent = (all: Point[]) => [Math.min(...all.map(({ x }) => x)), Math.max(...all.map(({ x }) => x))];
    const [[, leftEnd], [rightStart]] = [extent(left as Point[]), extent(right as Point[])] as [number[], number[]];
    expect(leftEnd as number).toBeLessThan(rightStart as number);
    for (const { y } of [...(left as Point[]), ...(right as Point[])]) expect(y).toBeGreaterThan(pointOf(id(1)).y);
    expect(pointOf(id(1)).y).toBe(pointOf(id(0)).y + SPACING_Y);
    expect(pointOf(id(2)).y).toBe(pointOf(id(1)).y);
  });

  test("attaches a device by its fastest link, even if more slow links lead elsewhere", () => {
    const links = [
      link(id(0), id(1), 10e9),
      ...[2, 3, 4].flatMap((number) => [link(id(0), id(number)), link(id(1), id(number))]),
      link(id(0), id(9), 10e9),
      ...Array.from({ length: 5 }, () => link(id(1), id(9), 1e9)),
    ];
    const layOut = (changed: LayoutLink[]) => layOutMap([...idsOf(5), id(9)], changed, NO_POSITIONS);
    const original = layOut(links);
    const slower = layOut(
      links.map((line) => (line.ends[0] === id(0) && line.ends[1] === id(9) ? link(id(0), id(9), 1e9) : line)),
    );
    expect(original.get(id(9))).not.toEqual(slower.get(id(9)));
  });

  test("moves no other device when one is added", () => {
    const links = Array.from({ length: 8 }, (_, number) => link(id(0), id(1 + number)));
    for (let count = 3; count < 9; count += 1) {
      const before = layOutMap(idsOf(count), links.slice(0, count - 1), NO_POSITIONS);
      const after = layOutMap(idsOf(count + 1), links.slice(0, count), NO_POSITIONS);
      for (const [node, point] of before) expect(after.get(node)).toEqual(point);
    }
  });

  test("places each new device below its parent and above its children", () => {
    const placed = new Map([
      [id(1), { x: 1_000, y: 1_000 }],
      [id(2), { x: 1_400, y: 1_000 }],
    ]);
    const below = layOutMap(idsOf(4).slice(1), [link(id(1), id(2)), link(id(1), id(3))], placed).get(id(3)) as Point;
    expect([Math.abs(below.x - 1_000) <= SPACING_X, below.y - 1_000]).toEqual([true, expect.any(Number)]);
    expect(below.y).toBeGreaterThan(1_000);
    expect(below.y).toBeLessThanOrEqual(1_000 + 2 * SPACING_Y);
    const above = layOutMap(idsOf(3), [link(id(0), id(1)), link(id(0), id(2))], placed).get(id(0)) as Point;
    expect(above.y).toBeLessThan(1_000);
    expect(above.x).toBeGreaterThanOrEqual(1_000);
    expect(above.x).toBeLessThanOrEqual(1_400);
  });

  test("places devices without links separately, unaffected by others", () => {
    const links = campus(seededRandom(4), 60);
    const points = layOutMap(idsOf(100), links, NO_POSITIONS);
    const linked = layOutMap(idsOf(60), links, NO_POSITIONS);
    for (const [node, point] of linked) expect(points.get(node)).toEqual(point);
    for (let number = 60; number < 100; number += 1)
      expect((points.get(id(number)) as Point).x).toBeLessThan(-SPACING_X);
  });

  test("supports a chain of 3,000 switches, and a ring", () => {
    const chain = idsOf(3_000)
      .slice(1)
      .map((node, index) => link(id(index), node));
    for (const links of [chain, [...chain, link(id(0), id(2_999))]])
      expect(overlaps(layOutMap(idsOf(3_000), links, NO_POSITIONS))).toEqual([]);
  });
});

describe("map positions", () => {
  const links = campus(seededRandom(9), 80);
  const ids = idsOf(80);
  const laidOut = positionsOf(ids, links, new Map());

  test("equal the layout without stored positions", () => {
    expect(laidOut).toEqual(
      new Map([...layOutMap(ids, links, NO_POSITIONS)].map(([node, point]) => [node, { ...point, placed: "layout" }])),
    );
  });

  test("are stable for other devices when one is placed manually, or reset", () => {
    const manual = new Map<string, Position>([[id(7), { x: -5_000, y: 33, placed: "person" }]]);
    expect(positionsOf(ids, links, manual)).toEqual(new Map([...laidOut, ...manual]));
  });

  test("yield to manually placed devices only, and only if not stored", () => {
    const occupied = laidOut.get(id(20)) as Position;
    const manual = new Map<string, Position>([[id(7), { x: occupied.x + 10, y: occupied.y, placed: "person" }]]);
    const placed = positionsOf(ids, links, manual);
    expect(overlaps(placed)).toEqual([]);
    expect(ids.filter((node) => node !== id(7) && placed.get(node)?.x !== laidOut.get(node)?.x)).toEqual([id(20)]);
    const stored = new Map<string, Position>([...laidOut, ...manual]);
    expect(positionsOf(ids, links, stored)).toEqual(stored);
  });

  test("are stable under changes to links and devices if stored, at every timestamp", () => {
    const random = seededRandom(10);
    for (let round = 0; round < 20; round += 1) {
      const remainingLinks = links.filter(() => random.integer(4) > 0);
      const changedLinks = [...remainingLinks, link(id(80 + random.integer(5)), random.pick(ids)), link(id(3), id(40))];
      const positions = positionsOf(idsOf(85), changedLinks, laidOut);
      for (const node of ids) expect(positions.get(node)).toEqual(laidOut.get(node) as Position);
      expect(overlaps(positions)).toEqual([]);
    }
  });
});
