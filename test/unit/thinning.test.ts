// Effects of a prune: segments, retained transactions, and unneeded versions.

import { describe, expect, test } from "bun:test";
import { formatInstant } from "../../src/base/instant.ts";
import { periodOf, type Segment } from "../../src/db/pruned-history.ts";
import {
  afterPrune,
  dispensable,
  firstKeptFrom,
  isDispensableStretch,
  keptSequences,
  parsePruneSource,
  pruneSource,
} from "../../src/db/thinning.ts";

const segment = (first: number, last: number, resolution: Segment["resolution"], prunedBy: number): Segment => ({
  first,
  last,
  resolution,
  prunedBy,
});

describe("a prune order", () => {
  test("is stored in its source, and parsed from it", () => {
    for (const keep of ["daily", "monthly", "none"] as const) {
      const order = { before: Date.UTC(2026, 0, 1), keep };
      expect(pruneSource(order)).toBe(`ledger.prune before=2026-01-01T00:00:00.000Z keep=${keep}`);
      expect(parsePruneSource(pruneSource(order))).toEqual(order);
    }
  });

  test.each([
    "host.update",
    "ledger.prune",
    "ledger.prune before=2026-01-01T00:00:00.000Z",
    "ledger.prune before=yesterday keep=daily",
    "ledger.prune before=2026-01-01T00:00:00.000Z keep=weekly",
    " ledger.prune before=2026-01-01T00:00:00.000Z keep=none",
  ])("is not parsed from %j", (source) => expect(parsePruneSource(source)).toBeNull());
});

describe("stretches after a prune", () => {
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
    expect(
      afterPrune([segment(1, 7, "none", 40), segment(8, 20, "daily", 30)], { last: 12, keep: "monthly", sequence: 50 }),
    ).toEqual([segment(1, 7, "none", 40), segment(8, 12, "monthly", 50), segment(13, 20, "daily", 30)]);
    expect(afterPrune([segment(1, 20, "monthly", 30)], { last: 12, keep: "daily", sequence: 50 })).toEqual([
      segment(1, 20, "monthly", 30),
    ]);
  });
});

describe("a kept state", () => {
  const day = (month: number, date: number, sequence: number) => ({
    sequence,
    at: Date.UTC(2026, month - 1, date, 12),
  });
  const dayEnds = [day(1, 30, 2), day(1, 31, 5), day(2, 1, 6), day(2, 28, 9), day(3, 1, 11), day(3, 2, 14)];

  test("is the last transaction of each period in a stretch, and its last in any case", () => {
    expect(keptSequences([segment(1, 12, "daily", 20)], dayEnds)).toEqual([2, 5, 6, 9, 11, 12]);
    expect(keptSequences([segment(1, 12, "monthly", 20)], dayEnds)).toEqual([5, 9, 12]);
    expect(keptSequences([segment(1, 12, "none", 20)], dayEnds)).toEqual([12]);
    expect(keptSequences([segment(1, 7, "none", 20), segment(8, 12, "daily", 21)], dayEnds)).toEqual([7, 9, 11, 12]);
    expect(keptSequences([], dayEnds)).toEqual([]);
  });

  test("is found from any transaction on", () => {
    expect([1, 2, 3, 12, 13].map((sequence) => firstKeptFrom([2, 5, 12], sequence))).toEqual([
      2,
      2,
      5,
      12,
      Number.POSITIVE_INFINITY,
    ]);
  });

  test.each([
    ["2026-02-28T23:59:59.999Z", "2026-02-28", "2026-03-01", "2026-02-01", "2026-03-01"],
    ["2026-12-31T00:00:00.000Z", "2026-12-31", "2027-01-01", "2026-12-01", "2027-01-01"],
    ["2028-02-29T12:00:00.000Z", "2028-02-29", "2028-03-01", "2028-02-01", "2028-03-01"],
  ])("for %s is chosen by day and month in UTC", (at, dayStart, dayEnd, monthStart, monthEnd) => {
    const bounds = (resolution: "daily" | "monthly") =>
      Object.values(periodOf(Date.parse(at), resolution)).map((each) => formatInstant(each).slice(0, 10));
    expect([bounds("daily"), bounds("monthly")]).toEqual([
      [dayStart, dayEnd],
      [monthStart, monthEnd],
    ]);
  });
});

describe("unnecessary versions of a record", () => {
  const CREATED = 1;
  const UPDATED = 2;
  const DELETED = 3;
  const dropped = (kept: number[], ...versions: Array<[sequence: number, operation: number]>) =>
    dispensable(
      versions.map(([sequence, operation]) => ({ sequence, operation })),
      kept,
    ).map((version) => version.sequence);

  test("are those that no kept transaction saw as newest", () => {
    expect(dropped([3, 8], [1, CREATED], [2, UPDATED], [4, UPDATED], [8, UPDATED])).toEqual([1, 4]);
    expect(dropped([3, 8], [3, CREATED])).toEqual([]);
  });

  test("exclude the end of remaining versions, and leave no lone end", () => {
    expect(dropped([3, 8], [1, CREATED], [5, DELETED])).toEqual([]);
    expect(dropped([8], [1, CREATED], [5, DELETED])).toEqual([1, 5]);
    // Restored before the end of the segment.
    expect(dropped([3, 8], [1, CREATED], [5, DELETED], [6, CREATED])).toEqual([5]);
    expect(dropped([5, 8], [1, CREATED], [4, DELETED], [6, CREATED], [7, DELETED])).toEqual([1, 4, 6, 7]);
    expect(dropped([2, 5, 8], [1, CREATED], [4, DELETED], [6, CREATED], [7, DELETED])).toEqual([6, 7]);
  });
});

test("a stretch that ended by the last kept transaction, and held at none, is unnecessary", () => {
  const kept = [3, 8];
  const isDropped = (since: number, until: number) => isDispensableStretch({ since, until }, kept);
  // Up to `until`, exclusive of its state.
  const gone: Array<[number, number]> = [
    [0, 3],
    [1, 2],
    [2, 2],
    [4, 7],
    [4, 8],
    [8, 8],
  ];
  const left: Array<[number, number]> = [
    [0, 4],
    [3, 4],
    [3, 8],
    [2, 8],
    [8, 9],
    [4, 9],
    [9, 9],
    [9, 12],
  ];
  expect([...gone, ...left].filter((stretch) => isDropped(...stretch))).toEqual(gone);
  expect(isDispensableStretch({ since: 1, until: 2 }, [])).toBe(false);
});
