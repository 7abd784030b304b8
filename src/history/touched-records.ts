// Which records were touched between two instants, and what that comes to: four bits for each, kept for 32 neighbouring record
// numbers at a time, since there may be millions. Knows no version and no document.

import type { Operation } from "../db/change-log.ts";

/** What became of a record, by its two ends. */
export type Sort = "added" | "removed" | "changed";

export interface TouchedRecord {
  readonly n: number;
  /** At the earlier instant. */
  readonly wasAlive: boolean;
  /** At the later one. */
  readonly isAlive: boolean;
}

/** Records of one kind, in page order; none to hand the turn on where many were passed over. */
export interface TouchedStep {
  readonly kindPlace: number;
  readonly records: readonly TouchedRecord[];
}

/** What the words of 32 neighbours say, each a bit for each of them. */
const [TOUCHED, WAS_ALIVE, IS_ALIVE, DIFFERS, WORDS] = [0, 1, 2, 3, 4];
/** Record numbers of one kind whose words are found together. */
const CHAPTER_RECORDS = 16_384;
const CHAPTER_BLOCKS = CHAPTER_RECORDS / 32;
/** More than a kind has. */
const CHAPTERS_OF_KIND = 2 ** 32 / CHAPTER_RECORDS;
/** What is passed over in one step: a million records, in about a millisecond. */
const STEP_CHAPTERS = 64;

export class TouchedRecords {
  /** By the place of the kind and the number of the chapter: where the words of each 32 neighbours begin; 0 for none. */
  private readonly chapters = new Map<number, Uint32Array>();
  private words = new Uint32Array(1_024);
  /** No words begin at 0. */
  private used = WORDS;

  /** What is kept of them all. */
  get bytes(): number {
    return this.words.byteLength + this.chapters.size * CHAPTER_BLOCKS * Uint32Array.BYTES_PER_ELEMENT;
  }

  /**
   * One version; those of a record in order of time.
   * @param kindPlace stands for its kind: kinds come in the order of their places
   * @param differs whether by it the record itself may differ, not only parts that are records of their own
   */
  add(kindPlace: number, n: number, operation: Operation, differs: boolean): void {
    const start = this.startOf(kindPlace, n);
    const bit = 1 << (n % 32);
    if (!this.has(start + TOUCHED, bit)) {
      this.set(start + TOUCHED, bit, true);
      // What is created was not there before; what is changed or deleted was.
      this.set(start + WAS_ALIVE, bit, operation !== "Created");
    }
    this.set(start + IS_ALIVE, bit, operation !== "Deleted");
    if (differs) this.set(start + DIFFERS, bit, true);
  }

  /** What the versions that are left do not tell of a touched record. @param differs whether it may, whatever they say */
  correct(kindPlace: number, n: number, wasAlive: boolean, differs: boolean): void {
    const start = this.startOf(kindPlace, n);
    const bit = 1 << (n % 32);
    this.set(start + WAS_ALIVE, bit, wasAlive);
    if (differs) this.set(start + DIFFERS, bit, true);
  }

  /**
   * Those that come to one of these, by kind and then in page order. What came and went, and what did not change itself, comes to nothing.
   * @param sorts null for all that were touched
   * @param size records at most in one step
   */
  *steps(sorts: readonly Sort[] | null, size: number): Generator<TouchedStep> {
    let kindPlace = 0;
    let records: TouchedRecord[] = [];
    let passed = 0;
    for (const chapter of Uint32Array.from(this.chapters.keys()).sort()) {
      const ofKind = Math.floor(chapter / CHAPTERS_OF_KIND);
      if (passed === STEP_CHAPTERS || (records.length > 0 && ofKind !== kindPlace)) {
        yield { kindPlace, records };
        records = [];
        passed = 0;
      }
      kindPlace = ofKind;
      passed += 1;
      for (const [block, start] of (this.chapters.get(chapter) as Uint32Array).entries()) {
        if (start === 0) continue;
        const first = (chapter % CHAPTERS_OF_KIND) * CHAPTER_RECORDS + block * 32;
        for (let bits = this.wanted(start, sorts); bits !== 0; bits &= bits - 1) {
          const bit = bits & -bits;
          records.push({
            n: first + 31 - Math.clz32(bit),
            wasAlive: this.has(start + WAS_ALIVE, bit),
            isAlive: this.has(start + IS_ALIVE, bit),
          });
          if (records.length < size) continue;
          yield { kindPlace, records };
          records = [];
          passed = 0;
        }
      }
    }
    if (records.length > 0) yield { kindPlace, records };
  }

  private wanted(start: number, sorts: readonly Sort[] | null): number {
    const touched = this.words[start + TOUCHED] as number;
    if (sorts === null) return touched;
    const was = this.words[start + WAS_ALIVE] as number;
    const is = this.words[start + IS_ALIVE] as number;
    let bits = 0;
    if (sorts.includes("added")) bits |= ~was & is;
    if (sorts.includes("removed")) bits |= was & ~is;
    if (sorts.includes("changed")) bits |= was & is & (this.words[start + DIFFERS] as number);
    return bits & touched;
  }

  private has(word: number, bit: number): boolean {
    return ((this.words[word] as number) & bit) !== 0;
  }

  private set(word: number, bit: number, value: boolean): void {
    const bits = this.words[word] as number;
    this.words[word] = value ? bits | bit : bits & ~bit;
  }

  /** Where the words of this record and its neighbours begin. */
  private startOf(kindPlace: number, n: number): number {
    const number = kindPlace * CHAPTERS_OF_KIND + Math.floor(n / CHAPTER_RECORDS);
    let chapter = this.chapters.get(number);
    if (chapter === undefined) this.chapters.set(number, (chapter = new Uint32Array(CHAPTER_BLOCKS)));
    const block = Math.floor((n % CHAPTER_RECORDS) / 32);
    let start = chapter[block] as number;
    if (start === 0) start = chapter[block] = this.begin();
    return start;
  }

  private begin(): number {
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
