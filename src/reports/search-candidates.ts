// Search candidates: record numbers from the word index, by kind, few enough to examine quickly. Records out of the
// caller's reach do not use up the limits. Must not read any record.

import { ENTRY, type EntrySort, entryPlace, entrySorts, macLookups } from "../db/called-words.ts";
import { type AnyKind, scopeKey } from "../db/kind.ts";
import type { Reader } from "../db/reading/reader.ts";
import { WordIndex } from "../db/reading/word-index.ts";
import { RESOURCES } from "../records/resources.ts";
import type { AskedEntry, AskedWord, MatchKind, SearchQuery } from "./search-query.ts";

/** Maximum number of records of a kind examined per kind of match. */
export const LOOKED_AT_MAX = 200;
/** Maximum number of distinct entries looked up for a prefix. */
const ENTRIES_MAX = 2_000;
/** Maximum number of entries per word in a lookup combined with other words. */
const ENTRIES_TOGETHER_MAX = 24;
/** Maximum number of records of a word for combining it with others. */
const TOGETHER_MAX = 4_000;
/** A word with this few entries is rare enough; no rarer one is searched. */
const ENTRIES_FEW = 4;
/** Index rows read at once for a prefix; beyond that, reads entry by entry. */
const ROWS_AT_ONCE = 4 * LOOKED_AT_MAX;
/** Index rows filtered by reach at once, in some milliseconds. */
const SIFTED_AT_ONCE = 4_000;

/** By record number: the transactions in which the entry appeared, newest last. */
export type CandidateRecords = Map<number, number[]>;

interface Sight {
  readonly organizationN: number;
  /** Record numbers of the networks in reach; null for all. */
  readonly networkNs: readonly number[] | null;
}

export class CandidateReader {
  private readonly reader: Reader;
  private readonly index: WordIndex;
  private readonly sight: Sight;
  private readonly until: number;
  /** Kinds with more candidates than were examined. */
  readonly cutOff = new Set<AnyKind>();
  private readonly known = new Map<AnyKind, boolean>();

  /** @param until the transaction of all reads */
  constructor(reader: Reader, sight: Sight, until: number) {
    this.reader = reader;
    this.index = new WordIndex(reader);
    this.sight = sight;
    this.until = until;
  }

  /** Candidates for one kind of match; may include records that match better. Yields between steps. */
  *of(kind: AnyKind, query: SearchQuery, way: MatchKind): Generator<void, CandidateRecords> {
    const found: CandidateRecords = new Map();
    if (way === "Exact") {
      for (const { exact } of query.readings) for (const asked of exact) yield* this.exactly(kind, asked, found);
      if (query.macDigits?.length === 12) yield* this.digits(kind, query.macDigits, found);
      if (kind.name === "vlan" && query.vlanNumber !== null)
        yield* this.exactly(kind, { sort: ENTRY.whole, text: query.vlanNumber }, found);
    } else if (way === "Prefix") {
      for (const { beginnings } of query.readings)
        for (const asked of beginnings) yield* this.beginning(kind, asked, found);
      if (query.macDigits !== null && query.macDigits.length < 12) yield* this.digits(kind, query.macDigits, found);
    } else if (way === "Word") {
      for (const { words } of query.readings) yield* this.byWords(kind, words, found);
    } else {
      const [{ words }] = query.readings;
      if (words.length === 1)
        yield* this.beginning(kind, { sort: ENTRY.tail, text: (words[0] as AskedWord).text }, found);
    }
    return found;
  }

  /** Records with a word of this prefix; exact words first. */
  *byWord(kind: AnyKind, { asked }: AskedWord): Generator<void, CandidateRecords> {
    const found: CandidateRecords = new Map();
    for (const each of asked) yield* this.beginning(kind, each, found);
    return found;
  }

  /**
   * Index entries of the rarest word: every record with all words has one of them.
   * @returns null if each word is a prefix of many entries
   */
  entriesOfRarest(kind: AnyKind, words: readonly AskedWord[]): string[] | null {
    let fewest: string[] | null = null;
    // The longest word is usually the rarest.
    for (const { text, asked } of words.toSorted((a, b) => b.text.length - a.text.length)) {
      if (fewest !== null && fewest.length <= ENTRIES_FEW) break;
      // A single word may also be part of an address.
      const tail = words.length === 1 ? [{ sort: ENTRY.tail, text }] : [];
      // Stops at the count of the rarest so far: this word is not rarer, and each entry takes an index search.
      const enough: number = fewest === null ? ENTRIES_TOGETHER_MAX + 1 : fewest.length;
      const entries: string[] = this.entriesOf(kind, { text, asked: [...asked, ...tail] })
        .take(enough)
        .toArray();
      if (entries.length < enough) fewest = entries;
    }
    return fewest;
  }

  /** Records of a kind within a range of numbers that have one of these entries; null if they are too many. */
  between(entries: readonly string[], firstN: number, lastN: number): number[] | null {
    if (entries.length === 0) return [];
    const rows = this.index.placesOf([entries], this.until, [firstN, 0], LOOKED_AT_MAX, lastN);
    return rows.length === LOOKED_AT_MAX ? null : [...new Set(rows.map(([n]) => n))];
  }

  /** Full entries that begin with the word. */
  private *entriesOf(kind: AnyKind, { asked }: AskedWord): Generator<string, void> {
    const place = entryPlace(this.sight.organizationN, kind);
    for (const { sort, text } of asked)
      if (this.mayHave(kind, sort))
        for (const entry of this.index.entries(place, sort, text)) yield place + sort + entry;
  }

  /** Records with all words: examines the records with the rarest one. */
  private *byWords(kind: AnyKind, words: readonly AskedWord[], found: CandidateRecords): Generator<void> {
    const wasCut = this.cutOff.has(kind);
    let fewest: CandidateRecords | null = null;
    const all: CandidateRecords[] = [];
    for (const word of words) {
      this.cutOff.delete(kind);
      const own = yield* this.byWord(kind, word);
      all.push(own);
      if (!this.cutOff.has(kind) && (fewest === null || own.size < fewest.size)) fewest = own;
      if (fewest?.size === 0) break;
    }
    if (wasCut) this.cutOff.add(kind);
    else this.cutOff.delete(kind);
    if (fewest !== null) {
      // The record had all words from the latest of these transactions on.
      for (const n of fewest.keys()) for (const own of all) note(found, n, own.get(n) ?? []);
      return;
    }
    // All words are common.
    this.cutOff.add(kind);
    yield* this.byCommonWords(kind, words, found);
  }

  /**
   * Some of the records with all words: if one word is rare enough, those that got all of them in one version; else the
   * first records with the rarest word.
   */
  private *byCommonWords(kind: AnyKind, words: readonly AskedWord[], found: CandidateRecords): Generator<void> {
    const entries = words.map((word) => this.entriesOf(kind, word).next().value ?? undefined);
    let rarest: { readonly entry: string; readonly count: number } | null = null;
    for (const entry of entries) {
      if (entry === undefined) return;
      const count = this.estimate(entry);
      if (rarest === null || count < rarest.count) rarest = { entry, count };
    }
    if (rarest === null) return;
    if (rarest.count <= TOGETHER_MAX)
      yield* this.rows(
        kind,
        entries.map((entry) => [entry as string]),
        found,
      );
    if (found.size === 0) yield* this.rows(kind, [[rarest.entry]], found);
  }

  /** Estimated number of records with an entry, from the density of the first ones. */
  private estimate(entry: string): number {
    const rows = this.index.placesOf([[entry]], this.until, [0, 0], LOOKED_AT_MAX);
    const [first, last] = [rows[0], rows.at(-1)];
    if (first === undefined || last === undefined || rows.length < LOOKED_AT_MAX) return rows.length;
    return (rows.length * (this.reader.head().lastN - first[0])) / Math.max(1, last[0] - first[0]);
  }

  private *exactly(kind: AnyKind, { sort, text }: AskedEntry, found: CandidateRecords): Generator<void> {
    if (!this.mayHave(kind, sort)) return;
    yield* this.rows(kind, [[entryPlace(this.sight.organizationN, kind) + sort + text]], found);
  }

  private *beginning(kind: AnyKind, { sort, text }: AskedEntry, found: CandidateRecords): Generator<void> {
    if (!this.mayHave(kind, sort)) return;
    const place = entryPlace(this.sight.organizationN, kind);
    if (!this.isSifted(kind)) {
      const rows = this.index.placesBeginning(place + sort + text, this.until, ROWS_AT_ONCE);
      const isFull = this.take(kind, rows, found);
      if (isFull || rows.length < ROWS_AT_ONCE) return;
    }
    let count = 0;
    for (const entry of this.index.entries(place, sort, text)) {
      if (count === ENTRIES_MAX) this.cutOff.add(kind);
      if (count === ENTRIES_MAX || (yield* this.rows(kind, [[place + sort + entry]], found))) return;
      count += 1;
    }
  }

  private *digits(kind: AnyKind, digits: string, found: CandidateRecords): Generator<void> {
    if (!this.mayHave(kind, ENTRY.digits)) return;
    const place = entryPlace(this.sight.organizationN, kind);
    for (const groups of macLookups(digits)) {
      const placed = groups.map((entries) => entries.map((entry) => place + entry));
      if (yield* this.rows(kind, placed, found)) return;
    }
  }

  /** Adds the records of these entries. @returns whether the limit was exceeded */
  private *rows(
    kind: AnyKind,
    groups: ReadonlyArray<readonly string[]>,
    found: CandidateRecords,
  ): Generator<void, boolean> {
    const isSifted = this.isSifted(kind);
    const atOnce = isSifted ? SIFTED_AT_ONCE : LOOKED_AT_MAX + 1;
    for (let after: readonly [number, number] = [0, 0]; ; ) {
      const rows = this.index.placesOf(groups, this.until, after, atOnce);
      const seen = isSifted ? this.reached(kind, rows) : null;
      if (this.take(kind, seen === null ? rows : rows.filter(([n]) => seen.has(n)), found)) return true;
      if (rows.length < atOnce) return false;
      after = rows.at(-1) as [number, number];
      yield;
    }
  }

  /** Adds records. @returns whether the limit was exceeded */
  private take(kind: AnyKind, rows: ReadonlyArray<readonly [number, number]>, found: CandidateRecords): boolean {
    for (const [n, sequence] of rows) {
      if (!found.has(n) && found.size >= LOOKED_AT_MAX) {
        this.cutOff.add(kind);
        return true;
      }
      note(found, n, [sequence]);
    }
    return false;
  }

  /**
   * Whether the caller may see any entry of this sort. Searching for missing entries is the most expensive case: the
   * index walks everything before their place.
   */
  private mayHave(kind: AnyKind, sort: EntrySort): boolean {
    return sortsOf(kind).has(sort) && this.everWas(kind);
  }

  /** Whether a record of a kind ever existed in reach. */
  private everWas(kind: AnyKind): boolean {
    let was = this.known.get(kind);
    if (was === undefined) {
      const { organizationN, networkNs } = this.sight;
      const containerNs = networkNs !== null && this.isSifted(kind) ? networkNs : [organizationN];
      const ever = this.reader.statement("SELECT 1 FROM history_spans WHERE scope = +?1 LIMIT 1");
      was = containerNs.some((n) => ever.values(scopeKey(n, kind)).length > 0);
      this.known.set(kind, was);
    }
    return was;
  }

  /** Whether records of a kind may be out of the caller's reach. */
  private isSifted(kind: AnyKind): boolean {
    return this.sight.networkNs !== null && kind.scopes.network !== undefined && kind.networkIsOptional !== true;
  }

  /** Records that were ever in a reachable network. */
  private reached(kind: AnyKind, rows: ReadonlyArray<readonly [number, number]>): Set<number> {
    const ns = JSON.stringify([...new Set(rows.map(([n]) => n))]);
    const found = this.reader
      .statement(
        `SELECT j.value FROM json_each(+?1) j WHERE EXISTS (SELECT 1 FROM json_each(+?2) c
          CROSS JOIN history_spans s ON s.scope = c.value * 64 + ${kind.code} AND s.n = j.value)`,
      )
      .values(ns, JSON.stringify(this.sight.networkNs)) as Array<[number]>;
    return new Set(found.map(([n]) => n));
  }
}

const sortsByKind = new WeakMap<AnyKind, ReadonlySet<EntrySort>>();

/** Entry sorts of a kind, derived from its example. */
function sortsOf(kind: AnyKind): ReadonlySet<EntrySort> {
  let sorts = sortsByKind.get(kind);
  if (sorts === undefined) {
    const example = RESOURCES.find((resource) => resource.kind === kind)?.example ?? {};
    sorts = new Set((kind.called?.(example) ?? []).flatMap(entrySorts));
    sortsByKind.set(kind, sorts);
  }
  return sorts;
}

function note(found: CandidateRecords, n: number, sequences: readonly number[]): void {
  const known = found.get(n);
  if (known === undefined) found.set(n, [...sequences]);
  else known.push(...sequences);
}
