// Number of changes of an indexed field by record, over any period, in bounded steps. The counts of recent periods are
// kept and adjusted at both ends, so that views of the present and steps through the past read few changes.

import type { ChangesIndex } from "../kind.ts";
import type { TransactionRange } from "./activity.ts";
import type { ReadConnection } from "./read-connection.ts";

/** Changes per step. */
const STEP_CHANGES = 20_000;
/** Periods kept per thread; each takes some bytes per record that changed within it. */
const PERIODS_MAX = 3;
const COMMA = 44;
const DIGIT_0 = 48;
const NONE = new Uint8Array(0);

interface CountedPeriod extends TransactionRange {
  readonly index: ChangesIndex;
  readonly counts: ChangesOfRecords;
  /** End of the thinned history; a different end invalidates the counts. */
  readonly thinned: number;
}

export class FieldChanges {
  private readonly connection: ReadConnection;
  private readonly thinnedUntil: () => number;
  private readonly stepChanges: number;
  private periods: readonly CountedPeriod[] = [];

  /** @param thinnedUntil last thinned transaction */
  constructor(connection: ReadConnection, thinnedUntil: () => number, stepChanges = STEP_CHANGES) {
    this.connection = connection;
    this.thinnedUntil = thinnedUntil;
    this.stepChanges = stepChanges;
  }

  /**
   * Counts in (after, until] of all records, regardless of the caller's reach. Valid until the next step of any read.
   */
  *counts(index: ChangesIndex, { after, until }: TransactionRange): Generator<void, ChangesOfRecords> {
    return this.adjusted(index, { after, until }) ?? (yield* this.counted(index, { after, until }));
  }

  /** Counts of a known period, adjusted by the changes at both ends; null if either end has too many. */
  private adjusted(index: ChangesIndex, { after, until }: TransactionRange): ChangesOfRecords | null {
    for (const period of this.periods) {
      if (period.index !== index || period.thinned !== this.thinnedUntil()) continue;
      const endChanges = this.between(index, period.until, until);
      const startChanges = endChanges === null ? null : this.between(index, period.after, after);
      if (endChanges === null || startChanges === null) continue;
      // Additions first, so that no count drops below zero on the way.
      if (until > period.until) period.counts.change(endChanges, 1);
      if (after < period.after) period.counts.change(startChanges, 1);
      if (until < period.until) period.counts.change(endChanges, -1);
      if (after > period.after) period.counts.change(startChanges, -1);
      this.keep({ ...period, after, until }, period);
      return period.counts;
    }
    return null;
  }

  /** @param replaced the period that this one replaces */
  private keep(period: CountedPeriod, replaced: CountedPeriod | null): void {
    const { index, after, until, thinned } = period;
    const others = this.periods.filter(
      (each) =>
        each !== replaced &&
        each.thinned === thinned &&
        (each.index !== index || each.after !== after || each.until !== until),
    );
    this.periods = [period, ...others].slice(0, PERIODS_MAX);
  }

  /** Changes between two transactions in either order; null if they exceed a step. */
  private between(index: ChangesIndex, left: number, right: number): Uint8Array | null {
    if (left === right) return NONE;
    const [after, until] = left < right ? [left, right] : [right, left];
    return this.nextStep(index, after + 1, until) === undefined ? this.changed(index, after + 1, until) : null;
  }

  private *counted(index: ChangesIndex, { after, until }: TransactionRange): Generator<void, ChangesOfRecords> {
    const counts = new ChangesOfRecords();
    const thinned = this.thinnedUntil();
    for (let from = after + 1; from <= until; ) {
      const next = this.nextStep(index, from, until);
      if (next === from) {
        for (let n: number | null = 0; n !== null; ) {
          const [changed, last] = this.changedAtOnce(index, from, n);
          counts.change(changed ?? NONE, 1);
          yield;
          n = last;
        }
        from += 1;
      } else {
        counts.change(this.changed(index, from, next === undefined ? until : next - 1), 1);
        yield;
        from = next ?? until + 1;
      }
    }
    this.keep({ index, after, until, counts, thinned }, null);
    return counts;
  }

  /** Transaction of the first change that exceeds a step; undefined if none does. */
  private nextStep(index: ChangesIndex, from: number, until: number): number | undefined {
    const text = `SELECT key & 2147483647 FROM ${changesSql(index)} AND (key & 2147483647) >= +?1
      AND (key & 2147483647) <= +?2 ORDER BY key & 2147483647 LIMIT 1 OFFSET +?3`;
    return (this.connection.statement(text).values(from, until, this.stepChanges)[0] as [number] | undefined)?.[0];
  }

  /** Returned as one BLOB of text: transferring half a million rows would take longer than finding them. */
  private changed(index: ChangesIndex, from: number, until: number): Uint8Array {
    const text = `SELECT CAST(group_concat(key >> 31) AS BLOB) FROM ${changesSql(index)}
      AND (key & 2147483647) >= +?1 AND (key & 2147483647) <= +?2`;
    return (this.connection.statement(text).values(from, until)[0] as [Uint8Array | null])[0] ?? NONE;
  }

  /** One step of the changes of one transaction, after a record; with the last record, or nulls for none. */
  private changedAtOnce(index: ChangesIndex, sequence: number, n: number): [Uint8Array | null, number | null] {
    const text = `SELECT CAST(group_concat(n) AS BLOB), max(n) FROM (SELECT key >> 31 AS n FROM ${changesSql(index)}
      AND (key & 2147483647) = +?1 AND key > ((+?2 << 31) | +?1) ORDER BY key LIMIT +?3)`;
    return this.connection.statement(text).values(sequence, n, this.stepChanges)[0] as [Uint8Array, number];
  }
}

function changesSql({ field, name }: ChangesIndex): string {
  return `history_versions INDEXED BY ${name} WHERE instr(changed, '"${field}"') > 0`;
}

const CHAPTER_BITS = 16;
const CHAPTER_RECORDS = 2 ** CHAPTER_BITS;
const SMALL_COUNT = 100;
const NO_CHAPTER = new Uint32Array(0);

/** Change counts of many records: one number each, in chunks of consecutive record numbers. */
export class ChangesOfRecords {
  private readonly chapters = new Map<number, Uint32Array>();

  /** @param ns decimal, comma-separated; empty for none @param by weight of each change */
  change(ns: Uint8Array, by: 1 | -1): void {
    if (ns.length === 0) return;
    // Records changed by one transaction have neighboring numbers.
    let number = -1;
    let chapter: Uint32Array = NO_CHAPTER;
    let n = 0;
    for (let index = 0; index <= ns.length; index += 1) {
      const letter = index === ns.length ? COMMA : (ns[index] as number);
      if (letter !== COMMA) {
        n = n * 10 + letter - DIGIT_0;
        continue;
      }
      const chapterNumber = n >>> CHAPTER_BITS;
      if (chapterNumber !== number) {
        number = chapterNumber;
        chapter = this.chapter(chapterNumber);
      }
      (chapter[n & (CHAPTER_RECORDS - 1)] as number) += by;
      n = 0;
    }
  }

  add(n: number): void {
    const chapter = this.chapter(n >>> CHAPTER_BITS);
    (chapter[n & (CHAPTER_RECORDS - 1)] as number) += 1;
  }

  /** Numbers of the changed records whose count passes a test. */
  numbers(test: (count: number) => boolean): number[] {
    const verdicts: boolean[] = [];
    const found: number[] = [];
    // Most counts are small and fail: a comparison is faster than their verdict.
    let least = 1;
    while (least < SMALL_COUNT && !test(least)) least += 1;
    for (const [number, chapter] of this.chapters)
      for (let page = 0; page < CHAPTER_RECORDS; page += 1) {
        const count = chapter[page] as number;
        if (count >= least && (verdicts[count] ??= test(count))) found.push(number * CHAPTER_RECORDS + page);
      }
    return found;
  }

  of(n: number): number {
    return this.chapters.get(n >>> CHAPTER_BITS)?.[n & (CHAPTER_RECORDS - 1)] ?? 0;
  }

  private chapter(number: number): Uint32Array {
    let chapter = this.chapters.get(number);
    if (chapter === undefined) this.chapters.set(number, (chapter = new Uint32Array(CHAPTER_RECORDS)));
    return chapter;
  }
}
