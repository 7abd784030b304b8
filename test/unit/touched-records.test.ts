import { describe, expect, test } from "bun:test";
import { type Sort, TouchedRecords } from "../../src/history/touched-records.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

const ALL: readonly Sort[] = ["added", "removed", "changed"];

function found(touched: TouchedRecords, sorts: readonly Sort[] | null, size = 200): string[] {
  return [...touched.steps(sorts, size)].flatMap(({ kindPlace, records }) =>
    records.map(({ n, wasAlive, isAlive }) => `${kindPlace}/${n} ${wasAlive ? "was" : "-"} ${isAlive ? "is" : "-"}`),
  );
}

describe("touched records", () => {
  test("are returned by kind and in page order, each once, in any order of versions", () => {
    const touched = new TouchedRecords();
    for (const [kindPlace, n] of [
      [1, 70_000],
      [0, 4_294_967_295],
      [1, 31],
      [1, 32],
      [0, 2_147_483_648],
      [1, 31],
      [0, 1],
    ] as const)
      touched.add(kindPlace, n, "Updated", true);
    expect(found(touched, ALL)).toEqual(
      ["0/1", "0/2147483648", "0/4294967295", "1/31", "1/32", "1/70000"].map((record) => `${record} was is`),
    );
  });

  test("have the net effect of first and last version; temporary ones, and those with changed parts only, have none", () => {
    const touched = new TouchedRecords();
    touched.add(0, 1, "Created", true);
    touched.add(0, 1, "Updated", true);
    touched.add(0, 2, "Updated", true);
    touched.add(0, 2, "Deleted", true);
    touched.add(0, 3, "Created", true);
    touched.add(0, 3, "Deleted", true);
    touched.add(0, 4, "Updated", false);
    touched.add(0, 5, "Updated", false);
    touched.add(0, 5, "Updated", true);
    touched.add(0, 6, "Deleted", true);
    touched.add(0, 6, "Created", true);
    expect(found(touched, ["added"])).toEqual(["0/1 - is"]);
    expect(found(touched, ["removed"])).toEqual(["0/2 was -"]);
    expect(found(touched, ["changed"])).toEqual(["0/5 was is", "0/6 was is"]);
    expect(found(touched, null)).toHaveLength(6);
    touched.correct(0, 1, true, true);
    touched.correct(0, 4, true, true);
    expect(found(touched, ["changed"])).toEqual(["0/1 was is", "0/4 was is", "0/5 was is", "0/6 was is"]);
  });

  test("are the same as records tracked one by one", () => {
    const random = seededRandom(7);
    const touched = new TouchedRecords();
    const expected = new Map<string, { kindPlace: number; n: number; was: boolean; is: boolean }>();
    for (let each = 0; each < 20_000; each += 1) {
      const kindPlace = each % 3;
      const [high = 0, low = 0, what = 0] = random.bytes(3);
      const n = 1 + high * 300 + low;
      const known = expected.get(`${kindPlace} ${n}`);
      const operation = what % 5 === 0 ? "Deleted" : what % 3 === 0 ? "Created" : "Updated";
      expected.set(`${kindPlace} ${n}`, {
        kindPlace,
        n,
        was: known?.was ?? operation !== "Created",
        is: operation !== "Deleted",
      });
      touched.add(kindPlace, n, operation, true);
    }
    const inOrder = [...expected.values()].sort((a, b) => a.kindPlace - b.kindPlace || a.n - b.n);
    const of = (sort: Sort) =>
      inOrder
        .filter(({ was, is }) => (sort === "added" ? !was && is : sort === "removed" ? was && !is : was && is))
        .map(({ kindPlace, n, was, is }) => `${kindPlace}/${n} ${was ? "was" : "-"} ${is ? "is" : "-"}`);
    for (const sort of ALL) expect(found(touched, [sort], 7)).toEqual(of(sort));
  });

  test("take less than a byte each in quantity, and little when few", () => {
    const many = new TouchedRecords();
    for (let n = 1; n <= 500_000; n += 1) many.add(0, n, "Updated", true);
    expect(many.bytes).toBeLessThan(500_000);
    const few = new TouchedRecords();
    for (let each = 1; each <= 1_000; each += 1) few.add(0, each * 20_000, "Updated", true);
    expect(few.bytes).toBeLessThan(4_000_000);
  });

  test("are skipped in steps, even without a match", () => {
    const touched = new TouchedRecords();
    for (let n = 1; n <= 5_000_000; n += 1_000) touched.add(0, n, "Updated", true);
    const steps = [...touched.steps(["added"], 200)];
    expect(steps.length).toBeGreaterThan(2);
    expect(steps.every(({ records }) => records.length === 0)).toBe(true);
    for (const { records } of touched.steps(ALL, 200)) expect(records.length).toBeLessThanOrEqual(200);
  });
});
