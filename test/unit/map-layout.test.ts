// Map layout: no overlaps, the dependents of a device together below it, and fixed positions unmoved. Random networks,
// checked for these invariants.

import { describe, expect, test } from "bun:test";
import type { LaidOutLink } from "../../src/resources/map-positions/layout/forest.ts";
import { type Point, SPACING_X, SPACING_Y } from "../../src/resources/map-positions/layout/ground.ts";
import { layOutMap } from "../../src/resources/map-positions/layout/layout.ts";
import { type Position, positionsOf } from "../../src/resources/map-positions/layout/positions.ts";
import { type SeededRandom, seededRandom } from "../support/injected/seeded-random.ts";

const NOTHING = new Map<string, Point>();
const id = (number: number) => `device-${String(number).padStart(5, "0")}`;
const link = (one: string, other: string, speedBps: number | null = 1e9): LaidOutLink => ({
  ends: [one, other],
  speedBps,
});

function overlaps(points: ReadonlyMap<string, Point>): string[] {
  const found: string[] = [];
  // By rows of the map: overlapping points are in the same row or in adjacent ones.
  const all = [...points].sort(([, a], [, b]) => a.y - b.y);
  for (const [place, [one, a]] of all.entries())
    for (let next = place + 1; next < all.length; next += 1) {
      const [other, b] = all[next] as [string, Point];
      if (b.y - a.y >= SPACING_Y) break;
      if (Math.abs(a.x - b.x) < SPACING_X) found.push(`${one} ${other}`);
    }
  return found;
}

/** Two cores, distribution switches on both, access switches on those, and their end devices. */
function campus(random: SeededRandom, count: number): LaidOutLink[] {
  const links = [link(id(0), id(1), 40e9)];
  for (let number = 2; number < count; number += 1) {
    if (number < 6) links.push(link(id(0), id(number), 10e9), link(id(number), id(1), 10e9));
    else links.push(link(id(number), id(2 + random.integer(Math.min(number - 2, 40))), random.pick([1e8, 1e9, null])));
  }
  return links;
}

function someNetwork(random: SeededRandom, count: number): LaidOutLink[] {
  return Array.from({ length: random.integer(count * 2) }, () =>
    link(id(random.integer(count)), id(random.integer(count)), random.pick([null, 1e8, 1e9, 1e10])),
  );
}

const idsOf = (count: number) => Array.from({ length: count }, (_, number) => id(number));

describe("a map layout", () => {
  test("of any network gives every device a distinct integer position, in any input order", () => {
    const random = seededRandom(17);
    for (let turn = 0; turn < 60; turn += 1) {
      const count = 1 + random.integer(120);
      const links = turn % 2 === 0 ? someNetwork(random, count) : campus(random, count);
      const points = layOutMap(idsOf(count), links, NOTHING);
      expect([...points.keys()].sort()).toEqual(idsOf(count));
      expect(overlaps(points)).toEqual([]);
      expect([...points.values()].every(({ x, y }) => Number.isInteger(x) && Number.isInteger(y))).toBe(true);
      const shuffled = [...links]
        .sort(() => random.integer(3) - 1)
        .map(({ ends: [one, other], speedBps }) => link(other, one, speedBps));
      expect(layOutMap(idsOf(count).reverse(), shuffled, NOTHING)).toEqual(points);
    }
  });

  test("never moves placed devices, and places nothing on them", () => {
    const random = seededRandom(18);
    for (let turn = 0; turn < 60; turn += 1) {
      const count = 2 + random.integer(120);
      const links = turn % 2 === 0 ? someNetwork(random, count) : campus(random, count);
      const before = layOutMap(idsOf(1 + random.integer(count)), links, NOTHING);
      const standing = new Map(
        [...before].map(([each, point]) => [
          each,
          random.integer(4) === 0 ? { x: point.x + random.integer(50), y: point.y + random.integer(50) } : point,
        ]),
      );
      const own = new Set(overlaps(standing));
      const points = layOutMap(idsOf(count), links, standing);
      for (const [each, point] of standing) expect(points.get(each)).toEqual(point);
      expect(points.size).toBe(count);
      expect(overlaps(points).filter((pair) => !own.has(pair))).toEqual([]);
    }
  });

  test("places devices attached to one in a block below it, recursively", () => {
    const access = Array.from({ length: 12 }, (_, number) => id(10 + number));
    const links = [
      link(id(0), id(1), 10e9),
      link(id(0), id(2), 10e9),
      ...access.map((each, place) => link(id(1 + (place % 2)), each)),
    ];
    const points = layOutMap([id(0), id(1), id(2), ...access], links, NOTHING);
    const at = (each: string) => points.get(each) as Point;
    const [left, right] = [0, 1].map((side) => access.filter((_, place) => place % 2 === side).map(at));
    const extent = (all: Point[]) => [Math.min(...all.map(({ x }) => x)), Math.max(...all.map(({ x }) => x))];
    const [[, leftEnd], [rightStart]] = [extent(left as Point[]), extent(right as Point[])] as [number[], number[]];
    expect(leftEnd as number).toBeLessThan(rightStart as number);
    for (const each of [...(left as Point[]), ...(right as Point[])]) expect(each.y).toBeGreaterThan(at(id(1)).y);
    expect(at(id(1)).y).toBe(at(id(0)).y + SPACING_Y);
    expect(at(id(2)).y).toBe(at(id(1)).y);
  });

  test("attaches a device to the faster of two, however many slow links lead to the other", () => {
    const links = [
      link(id(0), id(1), 10e9),
      ...[2, 3, 4].flatMap((number) => [link(id(0), id(number)), link(id(1), id(number))]),
      link(id(0), id(9), 10e9),
      ...Array.from({ length: 5 }, () => link(id(1), id(9), 1e9)),
    ];
    const hung = (changed: LaidOutLink[]) => layOutMap([...idsOf(5), id(9)], changed, NOTHING);
    const onFaster = hung(links);
    const moved = hung(
      links.map((each) => (each.ends[0] === id(0) && each.ends[1] === id(9) ? link(id(0), id(9), 1e9) : each)),
    );
    expect(onFaster.get(id(9))).not.toEqual(moved.get(id(9)));
  });

  test("moves no other device when one is added", () => {
    const links = Array.from({ length: 8 }, (_, number) => link(id(0), id(1 + number)));
    for (let count = 3; count < 9; count += 1) {
      const before = layOutMap(idsOf(count), links.slice(0, count - 1), NOTHING);
      const after = layOutMap(idsOf(count + 1), links.slice(0, count), NOTHING);
      for (const [each, point] of before) expect(after.get(each)).toEqual(point);
    }
  });

  test("of new devices places each below its parent and above its children", () => {
    const standing = new Map([
      [id(1), { x: 1_000, y: 1_000 }],
      [id(2), { x: 1_400, y: 1_000 }],
    ]);
    const below = layOutMap(idsOf(4).slice(1), [link(id(1), id(2)), link(id(1), id(3))], standing).get(id(3)) as Point;
    expect([Math.abs(below.x - 1_000) <= SPACING_X, below.y - 1_000]).toEqual([true, expect.any(Number)]);
    expect(below.y).toBeGreaterThan(1_000);
    expect(below.y).toBeLessThanOrEqual(1_000 + 2 * SPACING_Y);
    const above = layOutMap(idsOf(3), [link(id(0), id(1)), link(id(0), id(2))], standing).get(id(0)) as Point;
    expect(above.y).toBeLessThan(1_000);
    expect(above.x).toBeGreaterThanOrEqual(1_000);
    expect(above.x).toBeLessThanOrEqual(1_400);
  });

  test("places devices without links separately, unaffected by others", () => {
    const links = campus(seededRandom(4), 60);
    const points = layOutMap(idsOf(100), links, NOTHING);
    const linked = layOutMap(idsOf(60), links, NOTHING);
    for (const [each, point] of linked) expect(points.get(each)).toEqual(point);
    for (let number = 60; number < 100; number += 1)
      expect((points.get(id(number)) as Point).x).toBeLessThan(-SPACING_X);
  });

  test("supports a chain of 3,000 switches, and a ring", () => {
    const chain = idsOf(3_000)
      .slice(1)
      .map((each, place) => link(id(place), each));
    for (const links of [chain, [...chain, link(id(0), id(2_999))]])
      expect(overlaps(layOutMap(idsOf(3_000), links, NOTHING))).toEqual([]);
  });
});

describe("map positions", () => {
  const links = campus(seededRandom(9), 80);
  const ids = idsOf(80);
  const laidOut = positionsOf(ids, links, new Map());

  test("are the layout's without stored ones", () => {
    expect(laidOut).toEqual(
      new Map([...layOutMap(ids, links, NOTHING)].map(([each, point]) => [each, { ...point, placed: "layout" }])),
    );
  });

  test("of other devices are stable when one is placed manually, or reset", () => {
    const kept = new Map<string, Position>([[id(7), { x: -5_000, y: 33, placed: "person" }]]);
    expect(positionsOf(ids, links, kept)).toEqual(new Map([...laidOut, ...kept]));
  });

  test("yield to manually placed devices only, and only if not stored", () => {
    const on = laidOut.get(id(20)) as Position;
    const kept = new Map<string, Position>([[id(7), { x: on.x + 10, y: on.y, placed: "person" }]]);
    const placed = positionsOf(ids, links, kept);
    expect(overlaps(placed)).toEqual([]);
    expect(ids.filter((each) => each !== id(7) && placed.get(each)?.x !== laidOut.get(each)?.x)).toEqual([id(20)]);
    const remembered = new Map<string, Position>([...laidOut, ...kept]);
    expect(positionsOf(ids, links, remembered)).toEqual(remembered);
  });

  test("that are stored are stable under changes of links and devices, at every instant", () => {
    const random = seededRandom(10);
    for (let turn = 0; turn < 20; turn += 1) {
      const then = links.filter(() => random.integer(4) > 0);
      const more = [...then, link(id(80 + random.integer(5)), random.pick(ids)), link(id(3), id(40))];
      const shown = positionsOf(idsOf(85), more, laidOut);
      for (const each of ids) expect(shown.get(each)).toEqual(laidOut.get(each) as Position);
      expect(overlaps(shown)).toEqual([]);
    }
  });
});
