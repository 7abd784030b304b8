// Search candidates: record numbers from the word index, by kind, few enough to examine quickly. Records that the
// caller cannot access do not use up the limits. Reads no records.

import { type AnyKind, scopeKey } from "../db/kind.ts";
import { ENTRY, type EntryType, entryPrefixOf, entryTypes, macLookups } from "../db/name-entries.ts";
import type { Reader } from "../db/reading/reader.ts";
import { WordIndex } from "../db/reading/word-index.ts";
import { RESOURCES } from "../records/resources.ts";
import type { MatchKind, QueryEntry, QueryWord, SearchQuery } from "./search-query.ts";

/** Maximum number of records of a kind examined per kind of match. */
export const EXAMINED_MAX = 200;
/** Maximum number of distinct entries looked up for a prefix. */
const ENTRIES_MAX = 2_000;
/** Maximum number of entries per word in a lookup combined with other words. */
const COMBINED_ENTRIES_MAX = 24;
/** Maximum number of records with a word, for it to be combined with others. */
const COMBINED_MAX = 4_000;
/** A word with at most this many entries is rare enough to stop looking for a rarer one. */
const ENTRIES_FEW = 4;
/** Index rows read in one query for a prefix; beyond that, reads entry by entry. */
const ROWS_PER_READ = 4 * EXAMINED_MAX;
/** Index rows filtered by reach per step, in a few milliseconds. */
const FILTERED_PER_STEP = 4_000;

/** By record number: the transactions in which the entry appeared, newest last. */
export type CandidateRecords = Map<number, number[]>;

interface SearchScope {
  readonly organizationN: number;
  /** Record numbers of the networks in reach; null for all. */
  readonly networkNs: readonly number[] | null;
}

export class CandidateReader {
  private readonly reader: Reader;
  private readonly index: WordIndex;
  private readonly scope: SearchScope;
  private readonly until: number;
  /** Kinds with more candidates than were examined. */
  readonly cutOff = new Set<AnyKind>();
  private readonly known = new Map<AnyKind, boolean>();

  /** @param until the transaction of all reads */
  constructor(reader: Reader, scope: SearchScope, until: number) {
    this.reader = reader;
    this.index = new WordIndex(reader);
    this.scope = scope;
    this.until = until;
  }

  /** Candidates for one kind of match; may include records that match better. Yields between steps. */
  *of(kind: AnyKind, query: SearchQuery, matchKind: MatchKind): Generator<void, CandidateRecords> {
    const found: CandidateRecords = new Map();
    if (matchKind === "Exact") {
      for (const { exact } of query.readings) for (const entry of exact) yield* this.addExact(kind, entry, found);
      if (query.macDigits?.length === 12) yield* this.digits(kind, query.macDigits, found);
      if (kind.name === "vlan" && query.vlanNumber !== null)
        yield* this.addExact(kind, { sort: ENTRY.fullName, text: query.vlanNumber }, found);
    } else if (matchKind === "Prefix") {
      for (const { prefixEntries } of query.readings)
        for (const entry of prefixEntries) yield* this.addByPrefix(kind, entry, found);
      if (query.macDigits !== null && query.macDigits.length < 12) yield* this.digits(kind, query.macDigits, found);
    } else if (matchKind === "Word") {
      for (const { words } of query.readings) yield* this.byWords(kind, words, found);
    } else {
      const [{ words }] = query.readings;
      if (words.length === 1)
        yield* this.addByPrefix(kind, { sort: ENTRY.tail, text: (words[0] as QueryWord).text }, found);
    }
    return found;
  }

  /** Records with a word of this prefix; exact words first. */
  *byWord(kind: AnyKind, { prefixes }: QueryWord): Generator<void, CandidateRecords> {
    const found: CandidateRecords = new Map();
    for (const each of prefixes) yield* this.addByPrefix(kind, each, found);
    return found;
  }

  /**
   * Index entries of the rarest word, one of which every matching record has.
   * @returns null if each word is a prefix of many entries
   */
  entriesOfRarest(kind: AnyKind, words: readonly QueryWord[]): string[] | null {
    let fewest: string[] | null = null;
    // The longest word is usually the rarest.
    for (const { text, prefixes } of words.toSorted((a, b) => b.text.length - a.text.length)) {
      if (fewest !== null && fewest.length <= ENTRIES_FEW) break;
      // A single word may also be part of an address.
      const tail = words.length === 1 ? [{ sort: ENTRY.tail, text }] : [];
      // Stops at the count of the rarest word so far: beyond it this word is not rarer, and each entry takes an index
      // search.
      const enough: number = fewest === null ? COMBINED_ENTRIES_MAX + 1 : fewest.length;
      const entries: string[] = this.entriesOf(kind, { text, prefixes: [...prefixes, ...tail] })
        .take(enough)
        .toArray();
      if (entries.length < enough) fewest = entries;
    }
    return fewest;
  }

  /** Records of a kind within a range of numbers that have one of these entries; null if they are too many. */
  between(entries: readonly string[], firstN: number, lastN: number): number[] | null {
    if (entries.length === 0) return [];
    const rows = this.index.occurrencesOf([entries], this.until, [firstN, 0], EXAMINED_MAX, lastN);
    return rows.length === EXAMINED_MAX ? null : [...new Set(rows.map(([n]) => n))];
  }

  /** Full entries that begin with the word. */
  private *entriesOf(kind: AnyKind, { prefixes }: QueryWord): Generator<string, void> {
    const entryPrefix = entryPrefixOf(this.scope.organizationN, kind);
    for (const { sort, text } of prefixes)
      if (this.mayHave(kind, sort))
        for (const entry of this.index.entries(entryPrefix, sort, text)) yield entryPrefix + sort + entry;
  }

  /** Records with all words, found by examining the records with the rarest one. */
  private *byWords(kind: AnyKind, words: readonly QueryWord[], found: CandidateRecords): Generator<void> {
    const wasCut = this.cutOff.has(kind);
    let fewest: CandidateRecords | null = null;
    const all: CandidateRecords[] = [];
    for (const word of words) {
      this.cutOff.delete(kind);
      const records = yield* this.byWord(kind, word);
      all.push(records);
      if (!this.cutOff.has(kind) && (fewest === null || records.size < fewest.size)) fewest = records;
      if (fewest?.size === 0) break;
    }
    if (wasCut) this.cutOff.add(kind);
    else this.cutOff.delete(kind);
    if (fewest !== null) {
      // The record had all words from the latest of these transactions on.
      for (const n of fewest.keys()) for (const records of all) addSequences(found, n, records.get(n) ?? []);
      return;
    }
    // All words are common.
    this.cutOff.add(kind);
    yield* this.byCommonWords(kind, words, found);
  }

  /**
   * Some of the records with all words: if one word is rare enough, those that got all words in the same version;
   * otherwise the first records with the rarest word.
   */
  private *byCommonWords(kind: AnyKind, words: readonly QueryWord[], found: CandidateRecords): Generator<void> {
    const entries = words.map((word) => this.entriesOf(kind, word).next().value ?? undefined);
    let rarest: { readonly entry: string; readonly count: number } | null = null;
    for (const entry of entries) {
      if (entry === undefined) return;
      const count = this.estimate(entry);
      if (rarest === null || count < rarest.count) rarest = { entry, count };
    }
    if (rarest === null) return;
    if (rarest.count <= COMBINED_MAX)
      yield* this.rows(
        kind,
        entries.map((entry) => [entry as string]),
        found,
      );
    if (found.size === 0) yield* this.rows(kind, [[rarest.entry]], found);
  }

  /** Estimated number of records with an entry, from the density of the first ones. */
  private estimate(entry: string): number {
    const rows = this.index.occurrencesOf([[entry]], this.until, [0, 0], EXAMINED_MAX);
    const [first, last] = [rows[0], rows.at(-1)];
    if (first === undefined || last === undefined || rows.length < EXAMINED_MAX) return rows.length;
    return (rows.length * (this.reader.head().lastN - first[0])) / Math.max(1, last[0] - first[0]);
  }

  private *addExact(kind: AnyKind, { sort, text }: QueryEntry, found: CandidateRecords): Generator<void> {
    if (!this.mayHave(kind, sort)) return;
    yield* this.rows(kind, [[entryPrefixOf(this.scope.organizationN, kind) + sort + text]], found);
  }

  private *addByPrefix(kind: AnyKind, { sort, text }: QueryEntry, found: CandidateRecords): Generator<void> {
    if (!this.mayHave(kind, sort)) return;
    const entryPrefix = entryPrefixOf(this.scope.organizationN, kind);
    if (!this.isRestricted(kind)) {
      const rows = this.index.occurrencesWithPrefix(entryPrefix + sort + text, this.until, ROWS_PER_READ);
      const isFull = this.take(kind, rows, found);
      if (isFull || rows.length < ROWS_PER_READ) return;
    }
    let count = 0;
    for (const entry of this.index.entries(entryPrefix, sort, text)) {
      if (count === ENTRIES_MAX) this.cutOff.add(kind);
      if (count === ENTRIES_MAX || (yield* this.rows(kind, [[entryPrefix + sort + entry]], found))) return;
      count += 1;
    }
  }

  private *digits(kind: AnyKind, digits: string, found: CandidateRecords): Generator<void> {
    if (!this.mayHave(kind, ENTRY.digits)) return;
    const entryPrefix = entryPrefixOf(this.scope.organizationN, kind);
    for (const groups of macLookups(digits)) {
      const entryGroups = groups.map((entries) => entries.map((entry) => entryPrefix + entry));
      if (yield* this.rows(kind, entryGroups, found)) return;
    }
  }

  /** Adds the records of these entries. @returns whether the limit was exceeded */
  private *rows(
    kind: AnyKind,
    groups: ReadonlyArray<readonly string[]>,
    found: CandidateRecords,
  ): Generator<void, boolean> {
    const isRestricted = this.isRestricted(kind);
    const batchSize = isRestricted ? FILTERED_PER_STEP : EXAMINED_MAX + 1;
    for (let after: readonly [number, number] = [0, 0]; ; ) {
      const rows = this.index.occurrencesOf(groups, this.until, after, batchSize);
      const reachable = isRestricted ? this.filterReachable(kind, rows) : null;
      if (this.take(kind, reachable === null ? rows : rows.filter(([n]) => reachable.has(n)), found)) return true;
      if (rows.length < batchSize) return false;
      after = rows.at(-1) as [number, number];
      yield;
    }
  }

  /** Adds records. @returns whether the limit was exceeded */
  private take(kind: AnyKind, rows: ReadonlyArray<readonly [number, number]>, found: CandidateRecords): boolean {
    for (const [n, sequence] of rows) {
      if (!found.has(n) && found.size >= EXAMINED_MAX) {
        this.cutOff.add(kind);
        return true;
      }
      addSequences(found, n, [sequence]);
    }
    return false;
  }

  /**
   * Whether the caller may see any entry of this type. Searching for entries that do not exist is the most expensive
   * case, since the index walks everything up to where they would be.
   */
  private mayHave(kind: AnyKind, sort: EntryType): boolean {
    return sortsOf(kind).has(sort) && this.everExisted(kind);
  }

  /** Whether a record of a kind ever existed that the caller can see. */
  private everExisted(kind: AnyKind): boolean {
    let existed = this.known.get(kind);
    if (existed === undefined) {
      const { organizationN, networkNs } = this.scope;
      const containerNs = networkNs !== null && this.isRestricted(kind) ? networkNs : [organizationN];
      const ever = this.reader.statement("SELECT 1 FROM history_spans WHERE scope = +?1 LIMIT 1");
      existed = containerNs.some((n) => ever.values(scopeKey(n, kind)).length > 0);
      this.known.set(kind, existed);
    }
    return existed;
  }

  /** Whether records of a kind may be out of the caller's reach. */
  private isRestricted(kind: AnyKind): boolean {
    return this.scope.networkNs !== null && kind.scopes.network !== undefined && kind.networkIsOptional !== true;
  }

  /** Records that were ever in a reachable network. */
  private filterReachable(kind: AnyKind, rows: ReadonlyArray<readonly [number, number]>): Set<number> {
    const ns = JSON.stringify([...new Set(rows.map(([n]) => n))]);
    const found = this.reader
      .statement(
        `SELECT j.value FROM json_each(+?1) j WHERE EXISTS (SELECT 1 FROM json_each(+?2) c
          CROSS JOIN history_spans s ON s.scope = c.value * 64 + ${kind.code} AND s.n = j.value)`,
      )
      .values(ns, JSON.stringify(this.scope.networkNs)) as Array<[number]>;
    return new Set(found.map(([n]) => n));
  }
}

const sortsByKind = new WeakMap<AnyKind, ReadonlySet<EntryType>>();

/** Entry types of a kind, derived from its example. */
function sortsOf(kind: AnyKind): ReadonlySet<EntryType> {
  let sorts = sortsByKind.get(kind);
  if (sorts === undefined) {
    const example = RESOURCES.find((resource) => resource.kind === kind)?.example ?? {};
    sorts = new Set((kind.indexedNames?.(example) ?? []).flatMap(entryTypes));
    sortsByKind.set(kind, sorts);
  }
  return sorts;
}

function addSequences(found: CandidateRecords, n: number, sequences: readonly number[]): void {
  const known = found.get(n);
  if (known === undefined) found.set(n, [...sequences]);
  else known.push(...sequences);
}
