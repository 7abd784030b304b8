// Compact change counters for many records: five numbers each, in chunks of 4,096 consecutive record numbers.
// Reads no records.

import type { VersionOperation } from "../../db/change-counts.ts";
import { compareByTotal, Tally } from "./tally.ts";

export interface RecordTally {
  readonly n: number;
  readonly tally: Tally;
}

const CHAPTER_BITS = 12;
const CHAPTER_RECORDS = 2 ** CHAPTER_BITS;
/** Created, updated and deleted; first and last transaction. */
const FIELDS = 5;
const OFFSETS: Readonly<Record<VersionOperation, number>> = { Created: 0, Updated: 1, Deleted: 2 };
const [FIRST, LAST] = [3, 4];

export class RecordTallies {
  private readonly chapters = new Map<number, Uint32Array>();
  /** Number of changed records. */
  size = 0;

  /** Changes must be added in chronological order. */
  add(n: number, operation: VersionOperation, sequence: number): void {
    const number = Math.floor(n / CHAPTER_RECORDS);
    let chapter = this.chapters.get(number);
    if (chapter === undefined) this.chapters.set(number, (chapter = new Uint32Array(CHAPTER_RECORDS * FIELDS)));
    const start = (n % CHAPTER_RECORDS) * FIELDS;
    chapter[start + OFFSETS[operation]] = (chapter[start + OFFSETS[operation]] as number) + 1;
    if (chapter[start + FIRST] === 0) {
      chapter[start + FIRST] = sequence;
      this.size += 1;
    }
    chapter[start + LAST] = sequence;
  }

  /** Finds the records with the most changes, in steps. */
  *largest(limit: number): Generator<void, RecordTally[]> {
    let best: RecordTally[] = [];
    // Skips records with fewer changes than the lowest of the best so far: there may be a million records.
    let minimumTotal = 1;
    for (const [number, chapter] of this.chapters) {
      for (let index = 0; index < CHAPTER_RECORDS; index += 1) {
        const start = index * FIELDS;
        const tally = totalAt(chapter, start) < minimumTotal ? null : tallyAt(chapter, start);
        if (tally !== null) best.push({ n: number * CHAPTER_RECORDS + index, tally });
      }
      if (best.length > limit) best = best.sort(compare).slice(0, limit);
      if (best.length === limit) minimumTotal = best.at(-1)?.tally.total ?? 1;
      yield;
    }
    return best.sort(compare);
  }
}

function totalAt(chapter: Uint32Array, start: number): number {
  const [created = 0, updated = 0, deleted = 0] = [chapter[start], chapter[start + 1], chapter[start + 2]];
  return created + updated + deleted;
}

function tallyAt(chapter: Uint32Array, start: number): Tally {
  const [created = 0, updated = 0, deleted = 0, first = 0, last = 0] = chapter.subarray(start, start + FIELDS);
  return Object.assign(new Tally(), { created, updated, deleted, first, last });
}

function compare(left: RecordTally, right: RecordTally): number {
  return compareByTotal(left.tally, right.tally) || left.n - right.n;
}
