// Prune effects: segments, retained transactions, and unnecessary versions.

import { describe, expect, test } from "bun:test";
import { formatInstant } from "../../src/base/instant.ts";
import { periodOf, type Segment } from "../../src/db/pruned-history.ts";
import {
  afterPrune,
  droppableVersions,
  firstRetainedFrom,
  isDroppableRange,
  parsePruneSource,
  pruneSource,
  retainedSequences,
} from "../../src/db/thinning.ts";

const segment = (first: number, last: number, resolution: Segment["resolution"], prunedBy: number): Segment => {
  return { first, last, resolution, prunedBy };
};

describe("the parameters of a prune", () => {
  test("are stored in its source, and parsed from it", () => {
    for (const keep of ["daily", "monthly", "none"] as const) {
      const options = { before: Date.UTC(2026, 0, 1), keep };
      expect(pruneSource(options)).toBe(`ledger.prune before=2026-01-01T00:00:00.000Z keep=${keep}`);
      expect(parsePruneSource(pruneSource(options))).toEqual(options);
    }
  });

  test.each([
    "host.update",
    "ledger.prune",
    "ledger.prune before=2026-01-01T00:00:00.000Z",
    "ledger.prune before=yesterday keep=daily",
    "ledger.prune before=2026-01-01T00:00:00.000Z keep=weekly",
    " ledger.prune before=2026-01-01T00:00:00.000Z keep=none",
  ])("are not parsed from %j", (source) => expect(parsePruneSource(source)).toBeNull());
});

describe("segments after a prune", () => {
  test("start with the ledger", () => {
    expect(afterPrune([], { last: 7, keep: "daily", sequence: 9 })).toEqual([segment(1, 7, "daily", 9)]);
  });

  test("merge and extend at equal resolution", () => {
    const before = [segment(1, 7, "daily", 9)];
    expect(afterPrune(before, { last: 20, keep: "daily", sequence: 30 })).toEqual([segment(1, 20, "daily", 30)]);
    expect(afterPrune(before, { last: 20, keep: "monthly", sequence: 30 })).toEqual([segment(1, 20, "monthly", 30)]);
    expect(afterPrune([segment(1, 7, "monthly", 9)], { last: 20, keep: "daily", sequence: 30 })).toEqual([
      segment(1, 7, "monthly", 9),
      segment(8, 20, "daily", 30),
    ]);
  });

  test("become coarser up to the prune's end, and never finer", () => {
    expect(afterPrune([segment(1, 20, "daily", 30)], { last: 7, keep: "none", sequence: 40 })).toEqual([
      segment(1, 7, "none", 40),
      segment(8, 20, "daily", 30),
    ]);
    const first = segment(1, 7, "none", 40);
    const split = afterPrune([first, segment(8, 20, "daily", 30)], { last: 12, keep: "monthly", sequence: 50 });
    expect(split).toEqual([first, segment(8, 12, "monthly", 50), segment(13, 20, "daily", 30)]);
    const coarse = [segment(1, 20, "monthly", 30)];
    expect(afterPrune(coarse, { last: 12, keep: "daily", sequence: 50 })).toEqual(coarse);
  });
});

describe("a retained transaction", () => {
  const day = (month: number, date: number, sequence: number) => {
    return { sequence, at: Date.UTC(2026, month - 1, date, 12) };
  };
  const dayEnds = [day(1, 30, 2), day(1, 31, 5), day(2, 1, 6), day(2, 28, 9), day(3, 1, 11), day(3, 2, 14)];

  test("is the last of each period in a segment, and the segment's last in any case", () => {
    expect(retainedSequences([segment(1, 12, "daily", 20)], dayEnds)).toEqual([2, 5, 6, 9, 11, 12]);
    expect(retainedSequences([segment(1, 12, "monthly", 20)], dayEnds)).toEqual([5, 9, 12]);
    expect(retainedSequences([segment(1, 12, "none", 20)], dayEnds)).toEqual([12]);
    const twoSegments = [segment(1, 7, "none", 20), segment(8, 12, "daily", 21)];
    expect(retainedSequences(twoSegments, dayEnds)).toEqual([7, 9, 11, 12]);
    expect(retainedSequences([], dayEnds)).toEqual([]);
  });

  test("is found starting from any transaction", () => {
    expect([1, 2, 3, 12].map((sequence) => firstRetainedFrom([2, 5, 12], sequence))).toEqual([2, 2, 5, 12]);
    expect(firstRetainedFrom([2, 5, 12], 13)).toBe(Number.POSITIVE_INFINITY);
  });

  test.each([
    ["2026-02-28T23:59:59.999Z", "2026-02-28", "2026-03-01", "2026-02-01", "2026-03-01"],
    ["2026-12-31T00:00:00.000Z", "2026-12-31", "2027-01-01", "2026-12-01", "2027-01-01"],
    ["2028-02-29T12:00:00.000Z", "2028-02-29", "2028-03-01", "2028-02-01", "2028-03-01"],
  ])("is chosen by day and month in UTC for %s", (at, dayStart, dayEnd, monthStart, monthEnd) => {
    const bounds = (resolution: "daily" | "monthly") =>
      Object.values(periodOf(Date.parse(at), resolution)).map((instant) => formatInstant(instant).slice(0, 10));
    expect(bounds("daily")).toEqual([dayStart, dayEnd]);
    expect(bounds("monthly")).toEqual([monthStart, monthEnd]);
  });
});

describe("unnecessary versions of a record", () => {
  const [CREATED, UPDATED, DELETED] = [1, 2, 3];
  const dropped = (retained: number[], ...versions: Array<[sequence: number, operation: number]>) =>
    droppableVersions(
      versions.map(([sequence, operation]) => ({ sequence, operation })),
      retained,
    ).map((version) => version.sequence);

  test("are those that were newest at no retained transaction", () => {
    expect(dropped([3, 8], [1, CREATED], [2, UPDATED], [4, UPDATED], [8, UPDATED])).toEqual([1, 4]);
    expect(dropped([3, 8], [3, CREATED])).toEqual([]);
  });

  test("exclude the deletion after remaining versions, and never leave only a deletion", () => {
    expect(dropped([3, 8], [1, CREATED], [5, DELETED])).toEqual([]);
    expect(dropped([8], [1, CREATED], [5, DELETED])).toEqual([1, 5]);
    // Restored before the end of the segment.
    expect(dropped([3, 8], [1, CREATED], [5, DELETED], [6, CREATED])).toEqual([5]);
    expect(dropped([5, 8], [1, CREATED], [4, DELETED], [6, CREATED], [7, DELETED])).toEqual([1, 4, 6, 7]);
    expect(dropped([2, 5, 8], [1, CREATED], [4, DELETED], [6, CREATED], [7, DELETED])).toEqual([6, 7]);
  });
});

test("a range that ended by the last retained transaction, and was valid at none, is unnecessary", () => {
  const isDropped = (range: string): boolean => {
    const [since, until] = range.split("–").map(Number) as [number, number];
    return isDroppableRange({ since, until }, [3, 8]);
  };
  // A range excludes the state at `until`.
  const unnecessary = "0–3 1–2 2–2 4–7 4–8 8–8".split(" ");
  const remaining = "0–4 3–4 3–8 2–8 8–9 4–9 9–9 9–12".split(" ");
  expect([...unnecessary, ...remaining].filter(isDropped)).toEqual(unnecessary);
  expect(isDroppableRange({ since: 1, until: 2 }, [])).toBe(false);
});
