// Planted faults as data: each still applies to the sources. `./scripts/test --all` runs them.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { BOUNDS } from "../bounds.ts";
import type { FigureValues } from "../figures/figures.ts";
import { brokenBounds } from "./broken-bound.ts";
import { withFault } from "./fault.ts";
import { FAULTS } from "./faults.ts";

test("there are at least 25 faults, with different names and rules", () => {
  expect(FAULTS.length).toBeGreaterThanOrEqual(25);
  expect(new Set(FAULTS.map(({ name }) => name)).size).toBe(FAULTS.length);
  expect(new Set(FAULTS.map(({ rule }) => rule)).size).toBe(FAULTS.length);
});

test("every fault breaks figures that have bounds", () => {
  const bounded = new Set(BOUNDS.map(({ figure }) => figure));
  const wrong = FAULTS.filter(({ figures }) => figures.length === 0 || figures.some((figure) => !bounded.has(figure)));
  expect(wrong.map(({ name }) => name)).toEqual([]);
});

test.each(FAULTS)("the fault in $name applies to the sources, with valid syntax", (fault) => {
  const text = readFileSync(fault.file, "utf8");
  const patched = withFault(fault, text);
  expect(patched).not.toBe(text);
  expect(() => new Bun.Transpiler({ loader: "ts" }).transformSync(patched)).not.toThrow();
});

const BOUND = { figure: "places", title: "places", required: [1, 1], today: [0.9, 0.8] } as const;
const runsWith = (...places: number[]) => places.map((value) => ({ places: value }) as FigureValues);

test("a bound is broken once no result of the remaining seeds can bring the mean back", () => {
  expect(brokenBounds(runsWith(0.85), 3, [BOUND])).toEqual([]);
  expect(brokenBounds(runsWith(0.84, 0.85), 3, [BOUND])).toEqual([
    { figure: "places", value: (0.84 + 0.85 + 1) / 3, bound: 0.9, of: "mean" },
  ]);
});

test("a bound is broken by one seed beyond the bound of the worst seed", () => {
  expect(brokenBounds(runsWith(0.79), 6, [BOUND])).toMatchObject([{ value: 0.79, of: "worst seed" }]);
  const upper = { ...BOUND, isUpper: true, today: [0.1, 0.2] } as const;
  expect(brokenBounds(runsWith(0.2), 6, [upper])).toEqual([]);
  expect(brokenBounds(runsWith(0.3), 6, [upper])).toMatchObject([{ value: 0.3, bound: 0.2, of: "worst seed" }]);
});
