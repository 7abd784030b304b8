// Who may be found by a search: record numbers from the index of words, kind by kind, and so many that looking at them is
// quick. What lies out of the caller's reach counts for nothing, however much of it there is. Looks at no record.

import { ENTRY, entryPlace, macWindows, wordBeginnings } from "../db/called-words.ts";
import type { AnyKind } from "../db/kind.ts";
import type { Reader } from "../db/reading/reader.ts";
import { WordIndex } from "../db/reading/word-index.ts";
import type { AskedEntry, MatchKind, SearchQuery } from "./search-query.ts";

/** Records of a kind that are looked at for each way of being found. */
export const LOOKED_AT_MAX = 200;
/** Different entries that are looked up for a beginning. */
const ENTRIES_MAX = 2_000;
/** Of each word, entries that are looked up together with those of other words. */
const ENTRIES_TOGETHER_MAX = 24;
/** Rows of the index that are sifted at once, some milliseconds. */
const SIFTED_AT_ONCE = 4_000;

/** By record number, the transactions with which what is asked for came up; newest last. */
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
  /** The kinds of which there are more than were looked at. */
  readonly cutOff = new Set<AnyKind>();

  /** @param until the transaction that everything is as of */
  constructor(reader: Reader, sight: Sight, until: number) {
    this.reader = reader;
    this.index = new WordIndex(reader);
    this.sight = sight;
    this.until = until;
  }

  /** Who may be found in one way; whoever is found in a better way may be among them. Yields between steps. */
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
      if (words.length === 1) yield* this.beginning(kind, { sort: ENTRY.tail, text: words[0] as string }, found);
    }
    return found;
  }

  /** Who has a word that begins so; first those who are called exactly so. */
  *byWord(kind: AnyKind, word: string): Generator<void, CandidateRecords> {
    const found: CandidateRecords = new Map();
    for (const asked of wordEntries(word)) yield* this.beginning(kind, asked, found);
    return found;
  }

  /** Who has all of the words: whoever has the rarest of them is looked at. */
  private *byWords(kind: AnyKind, words: readonly string[], found: CandidateRecords): Generator<void> {
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
      // It had all of them from the last on that came up.
      for (const n of fewest.keys()) for (const own of all) note(found, n, own.get(n) ?? []);
      return;
    }
    // All of them are common: those of whom one version has all.
    const place = entryPlace(this.sight.organizationN, kind.code);
    const groups = words.map((word) =>
      wordEntries(word).flatMap(({ sort, text }) =>
        this.index
          .entries(place, sort, text)
          .take(ENTRIES_TOGETHER_MAX)
          .map((entry) => place + sort + entry)
          .toArray(),
      ),
    );
    if (groups.every((entries) => entries.length > 0)) yield* this.rows(kind, groups, found);
    this.cutOff.add(kind);
  }

  private *exactly(kind: AnyKind, { sort, text }: AskedEntry, found: CandidateRecords): Generator<void> {
    yield* this.rows(kind, [[entryPlace(this.sight.organizationN, kind.code) + sort + text]], found);
  }

  private *beginning(kind: AnyKind, { sort, text }: AskedEntry, found: CandidateRecords): Generator<void> {
    const place = entryPlace(this.sight.organizationN, kind.code);
    let count = 0;
    for (const entry of this.index.entries(place, sort, text)) {
      if (count === ENTRIES_MAX) this.cutOff.add(kind);
      if (count === ENTRIES_MAX || (yield* this.rows(kind, [[place + sort + entry]], found))) return;
      count += 1;
    }
  }

  private *digits(kind: AnyKind, digits: string, found: CandidateRecords): Generator<void> {
    const place = entryPlace(this.sight.organizationN, kind.code);
    yield* this.rows(
      kind,
      macWindows(digits).map((window) => [place + ENTRY.digits + window]),
      found,
    );
  }

  /** Adds the records where entries came up. @returns whether there are more than may be looked at */
  private *rows(
    kind: AnyKind,
    groups: ReadonlyArray<readonly string[]>,
    found: CandidateRecords,
  ): Generator<void, boolean> {
    const isSifted =
      this.sight.networkNs !== null && kind.scopes.network !== undefined && kind.networkIsOptional !== true;
    const atOnce = isSifted ? SIFTED_AT_ONCE : LOOKED_AT_MAX + 1;
    for (let after: readonly [number, number] = [0, 0]; ; ) {
      const rows = this.index.placesOf(groups, this.until, after, atOnce);
      const seen = isSifted ? this.reached(kind, rows) : null;
      for (const [n, sequence] of rows) {
        if (seen?.has(n) === false) continue;
        if (!found.has(n) && found.size >= LOOKED_AT_MAX) {
          this.cutOff.add(kind);
          return true;
        }
        note(found, n, [sequence]);
      }
      if (rows.length < atOnce) return false;
      after = rows.at(-1) as [number, number];
      yield;
    }
  }

  /** Those who ever lived in a network in reach. */
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

function note(found: CandidateRecords, n: number, sequences: readonly number[]): void {
  const known = found.get(n);
  if (known === undefined) found.set(n, [...sequences]);
  else known.push(...sequences);
}

/** What begins a word: of what lists are searched by, and of what only this search goes by. */
function wordEntries(word: string): AskedEntry[] {
  return wordBeginnings(word).flatMap(({ sort, text }): AskedEntry[] =>
    sort === ENTRY.word
      ? [
          { sort, text },
          { sort: ENTRY.apart, text },
        ]
      : [{ sort, text }],
  );
}
