// Compact set of records touched between two points in time: four bits per record, in blocks of 32 neighboring numbers,
// as there may be millions. Independent of versions and documents.

import type { VersionOperation } from "../db/change-counts.ts";

/** Difference types, by the record's existence at both ends. */
export const SORTS = ["added", "removed", "changed"] as const;
export type Sort = (typeof SORTS)[number];

export interface TouchedRecord {
  readonly n: number;
  /** At the earlier end. */
  readonly wasAlive: boolean;
  /** At the later end. */
  readonly isAlive: boolean;
}

/** Records of one kind, in page order; empty to yield to other reads. */
interface TouchedStep {
  readonly kindIndex: number;
  readonly records: readonly TouchedRecord[];
}

/** Words per block of 32 neighbors, one bit per record each. */
const [TOUCHED, WAS_ALIVE, IS_ALIVE, DIFFERS, WORDS] = [0, 1, 2, 3, 4];
/** Records per chapter. */
const CHAPTER_RECORDS = 16_384;
const CHAPTER_BLOCKS = CHAPTER_RECORDS / 32;
/** More than any kind has. */
const CHAPTERS_OF_KIND = 2 ** 32 / CHAPTER_RECORDS;
/** Chapters skipped per step: a million records, in about a millisecond. */
const STEP_CHAPTERS = 64;

export class TouchedRecords {
  /** By kind position and chapter number: the offset of each block's words; 0 for none. */
  private readonly chapters = new Map<number, Uint32Array>();
  private words = new Uint32Array(1_024);
  /** Offset 0 is reserved. */
  private used = WORDS;

  get bytes(): number {
    return this.words.byteLength + this.chapters.size * CHAPTER_BLOCKS * Uint32Array.BYTES_PER_ELEMENT;
  }

  /**
   * Adds a version. Versions of a record must come in chronological order.
   * @param kindIndex orders the kinds
   * @param differs whether the record itself may differ, not only its parts
   */
  add(kindIndex: number, n: number, operation: VersionOperation, differs: boolean): void {
    const start = this.startOf(kindIndex, n);
    const bit = 1 << (n % 32);
    if (!this.has(start + TOUCHED, bit)) {
      this.set(start + TOUCHED, bit, true);
      // Only a created record did not exist before.
      this.set(start + WAS_ALIVE, bit, operation !== "Created");
    }
    this.set(start + IS_ALIVE, bit, operation !== "Deleted");
    if (differs) this.set(start + DIFFERS, bit, true);
  }

  /**
   * Adds facts that the remaining versions do not show after thinning.
   * @param differs forces the record to count as possibly changed
   */
  correct(kindIndex: number, n: number, wasAlive: boolean, differs: boolean): void {
    const start = this.startOf(kindIndex, n);
    const bit = 1 << (n % 32);
    this.set(start + WAS_ALIVE, bit, wasAlive);
    if (differs) this.set(start + DIFFERS, bit, true);
  }

  /**
   * By kind, in page order. Omits records that only existed in between or did not change themselves.
   * @param sorts null for all touched records
   * @param size maximum records per step
   */
  *steps(sorts: readonly Sort[] | null, size: number): Generator<TouchedStep> {
    let kindIndex = 0;
    let records: TouchedRecord[] = [];
    let scanned = 0;
    for (const chapter of Uint32Array.from(this.chapters.keys()).sort()) {
      const index = Math.floor(chapter / CHAPTERS_OF_KIND);
      if (scanned === STEP_CHAPTERS || (records.length > 0 && index !== kindIndex)) {
        yield { kindIndex, records };
        records = [];
        scanned = 0;
      }
      kindIndex = index;
      scanned += 1;
      for (const [block, start] of (this.chapters.get(chapter) as Uint32Array).entries()) {
        if (start === 0) continue;
        const first = (chapter % CHAPTERS_OF_KIND) * CHAPTER_RECORDS + block * 32;
        for (let bits = this.matchingBits(start, sorts); bits !== 0; bits &= bits - 1) {
          const bit = bits & -bits;
          records.push({
            n: first + 31 - Math.clz32(bit),
            wasAlive: this.has(start + WAS_ALIVE, bit),
            isAlive: this.has(start + IS_ALIVE, bit),
          });
          if (records.length < size) continue;
          yield { kindIndex, records };
          records = [];
          scanned = 0;
        }
      }
    }
    if (records.length > 0) yield { kindIndex, records };
  }

  private matchingBits(start: number, sorts: readonly Sort[] | null): number {
    const touched = this.words[start + TOUCHED] as number;
    if (sorts === null) return touched;
    const before = this.words[start + WAS_ALIVE] as number;
    const after = this.words[start + IS_ALIVE] as number;
    let bits = 0;
    if (sorts.includes("added")) bits |= ~before & after;
    if (sorts.includes("removed")) bits |= before & ~after;
    if (sorts.includes("changed")) bits |= before & after & (this.words[start + DIFFERS] as number);
    return bits & touched;
  }

  private has(word: number, bit: number): boolean {
    return ((this.words[word] as number) & bit) !== 0;
  }

  private set(word: number, bit: number, value: boolean): void {
    const bits = this.words[word] as number;
    this.words[word] = value ? bits | bit : bits & ~bit;
  }

  private startOf(kindIndex: number, n: number): number {
    const number = kindIndex * CHAPTERS_OF_KIND + Math.floor(n / CHAPTER_RECORDS);
    let chapter = this.chapters.get(number);
    if (chapter === undefined) this.chapters.set(number, (chapter = new Uint32Array(CHAPTER_BLOCKS)));
    const block = Math.floor((n % CHAPTER_RECORDS) / 32);
    let start = chapter[block] as number;
    if (start === 0) start = chapter[block] = this.allocate();
    return start;
  }

  private allocate(): number {
    const start = this.used;
    if (start === this.words.length) {
      const larger = new Uint32Array(this.words.length * 2);
      larger.set(this.words);
      this.words = larger;
    }
    this.used += WORDS;
    return start;
  }
}
