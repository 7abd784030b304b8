// Verification sums, which do not depend on order or size: a large intact store must not be reported as damaged.

import { expect, test } from "bun:test";
import { ChangeSums } from "../../src/history/verify/change-counts.ts";
import { WordSums } from "../../src/history/verify/index-words.ts";

/** Enough for a sum above 2^53, of numbers below 2^32. */
const ENTRY_COUNT = 2_300_000;

test("checksums of millions of entries are equal in any order", () => {
  // The word with the largest hash.
  const large = Array.from({ length: 2_000 }, (_, n) => `w${n}`).reduce((a, b) =>
    Bun.hash.crc32(`1 1 ${a}`) > Bun.hash.crc32(`1 1 ${b}`) ? a : b,
  );
  const sums = [0, 1, 2, 3].map((early) => {
    const sum = new WordSums();
    const addOthers = (first: number, last: number) => {
      for (let n = first; n < last; n += 1) sum.add("other", n, 2);
    };
    addOthers(0, early);
    for (let n = 0; n < ENTRY_COUNT; n += 1) sum.add(large, 1, 1);
    addOthers(early, 4);
    return sum;
  });
  const [firstSum, ...others] = sums as [WordSums, ...WordSums[]];
  for (const other of others) expect(firstSum.equals(other)).toBe(true);
  firstSum.add("one more", 1, 3);
  for (const other of others) expect(firstSum.equals(other)).toBe(false);
});

test("checksums of a transaction's changes are equal whether added individually or all at once", () => {
  const counts = [1, 7, 4_000_003, 2_097_151, 3_000_001];
  const oneByOne = new ChangeSums();
  const batched = new ChangeSums();
  const reversed = new ChangeSums();
  for (const [sequence, count] of counts.entries()) {
    for (let n = 0; n < count; n += 1) oneByOne.add(1, sequence, "Updated", 1);
    batched.add(1, sequence, "Updated", count);
  }
  for (const [sequence, count] of [...counts.entries()].reverse()) reversed.add(1, sequence, "Updated", count);
  const sum = oneByOne.take(1);
  expect([batched.take(1), reversed.take(1)]).toEqual([sum, sum]);
});
