import { describe, expect, test } from "bun:test";
import { type Sort, TouchedRecords } from "../../src/history/touched-records.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

const ALL_SORTS: readonly Sort[] = ["added", "removed", "changed"];

function describeMatches(touched: TouchedRecords, sorts: readonly Sort[] | null, size = 200): string[] {
  return [...touched.steps(sorts, size)].flatMap(({ kindIndex, records }) =>
    records.map(({ n, wasAlive, isAlive }) => `${kindIndex}/${n} ${wasAlive ? "was" : "-"} ${isAlive ? "is" : "-"}`),
  );
}

describe("touched records", () => {
  test("are returned by kind and in page order, each once, in any order of versions", () => {
    const touched = new TouchedRecords();
    for (const record of "1/70000 0/4294967295 1/31 1/32 0/2147483648 1/31 0/1".split(" ")) {
      const [kindIndex, n] = record.split("/").map(Number) as [number, number];
      touched.add(kindIndex, n, "Updated", true);
    }
    expect(describeMatches(touched, ALL_SORTS)).toEqual(
      ["0/1", "0/2147483648", "0/4294967295", "1/31", "1/32", "1/70000"].map((record) => `${record} was is`),
    );
  });

  test("have the net effect of their first and last version, and none if temporary or if only parts changed", () => {
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
    expect(describeMatches(touched, ["added"])).toEqual(["0/1 - is"]);
    expect(describeMatches(touched, ["removed"])).toEqual(["0/2 was -"]);
    expect(describeMatches(touched, ["changed"])).toEqual(["0/5 was is", "0/6 was is"]);
    expect(describeMatches(touched, null)).toHaveLength(6);
    touched.correct(0, 1, true, true);
    touched.correct(0, 4, true, true);
    expect(describeMatches(touched, ["changed"])).toEqual(["0/1 was is", "0/4 was is", "0/5 was is", "0/6 was is"]);
  });

  test("are the same as records tracked one by one", () => {
    const random = seededRandom(7);
    const touched = new TouchedRecords();
    const expected = new Map<string, { kindIndex: number; n: number; was: boolean; is: boolean }>();
    for (let index = 0; index < 20_000; index += 1) {
      const kindIndex = index % 3;
      const [high = 0, low = 0, choice = 0] = random.bytes(3);
      const n = 1 + high * 300 + low;
      const previous = expected.get(`${kindIndex} ${n}`);
      const operation = choice % 5 === 0 ? "Deleted" : choice % 3 === 0 ? "Created" : "Updated";
      const was = previous?.was ?? operation !== "Created";
      expected.set(`${kindIndex} ${n}`, { kindIndex, n, was, is: operation !== "Deleted" });
      touched.add(kindIndex, n, operation, true);
    }
    const inOrder = [...expected.values()].sort((a, b) => a.kindIndex - b.kindIndex || a.n - b.n);
    const expectedFor = (sort: Sort) =>
      inOrder
        .filter(({ was, is }) => (sort === "added" ? !was && is : sort === "removed" ? was && !is : was && is))
        .map(({ kindIndex, n, was, is }) => `${kindIndex}/${n} ${was ? "was" : "-"} ${is ? "is" : "-"}`);
    for (const sort of ALL_SORTS) expect(describeMatches(touched, [sort], 7)).toEqual(expectedFor(sort));
  });

  test("take less than a byte each in large numbers, and little memory when few", () => {
    const many = new TouchedRecords();
    for (let n = 1; n <= 500_000; n += 1) many.add(0, n, "Updated", true);
    expect(many.bytes).toBeLessThan(500_000);
    const few = new TouchedRecords();
    for (let index = 1; index <= 1_000; index += 1) few.add(0, index * 20_000, "Updated", true);
    expect(few.bytes).toBeLessThan(4_000_000);
  });

  test("are skipped in steps, even without a match", () => {
    const touched = new TouchedRecords();
    for (let n = 1; n <= 5_000_000; n += 1_000) touched.add(0, n, "Updated", true);
    const steps = [...touched.steps(["added"], 200)];
    expect(steps.length).toBeGreaterThan(2);
    expect(steps.every(({ records }) => records.length === 0)).toBe(true);
    for (const { records } of touched.steps(ALL_SORTS, 200)) expect(records.length).toBeLessThanOrEqual(200);
  });
});
