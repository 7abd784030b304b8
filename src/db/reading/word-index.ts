// Reader for the word index of record names: finds records that have a word at a point in time, from the index alone,
// and first occurrences of entries. Does not render records. Independent of reach.

import { compareCodePoints } from "../../base/text.ts";
import {
  type CodedKind,
  type EntryPrefix,
  type EntryType,
  entryPrefixOf,
  type Lookup,
  wordPrefixes,
} from "../name-entries.ts";
import { phrase } from "../search-text.ts";
import type { AsOf } from "./list-query.ts";
import type { ReadConnection } from "./read-connection.ts";

/** Beyond every sequence. */
const NO_LIMIT = 2 ** 31 - 1;
/** Sorts after any continuation of an entry. */
const MAX_CODE_POINT = "\u{10ffff}";
/** The smallest continuation of an entry. */
const NEXT = "\u0001";

/** An entry of a version: term, record number and transaction. */
type Occurrence = [term: string, n: number, sequence: number];

const OCCURRENCES = `SELECT term, doc >> 31 AS n, doc & 2147483647 AS sequence FROM history_word_places
  WHERE term >= ?1 AND term < ?2 AND (doc & 2147483647) <= ?3`;

export class WordIndex {
  private readonly connection: ReadConnection;

  constructor(connection: ReadConnection) {
    this.connection = connection;
  }

  /**
   * Records of an organization whose names have, for each word, a word with that prefix.
   * @param words at least one, folded or not
   * @returns record numbers, ascending, of records alive but possibly out of scope
   */
  withNamePrefixes(organizationN: number, kind: CodedKind, words: readonly string[], asOf: AsOf | null): number[] {
    const keyPrefix = entryPrefixOf(organizationN, kind);
    let found: Set<number> | null = null;
    for (const word of words) {
      const ns = new Set<number>();
      for (const prefix of wordPrefixes(word))
        this.collectCurrent(keyPrefix, prefix, asOf?.sequence ?? NO_LIMIT, found, ns);
      found = ns;
    }
    return [...(found ?? [])].sort((a, b) => a - b);
  }

  /**
   * Records of an organization that ever had these entries in one version, up to a transaction.
   * @returns record numbers; null if there are more occurrences than `limit`
   */
  everHadEntries(
    organizationN: number,
    kind: CodedKind,
    lookup: Lookup,
    until: number,
    limit: number,
  ): number[] | null {
    const keyPrefix = entryPrefixOf(organizationN, kind);
    const groupsOf = (all: readonly string[]) => all.map((entry) => [keyPrefix + entry]);
    const rows =
      "all" in lookup
        ? this.occurrencesOf(groupsOf(lookup.all), until, [0, 0], limit + 1)
        : this.occurrencesWithPrefix(keyPrefix + lookup.beginning, until, limit + 1);
    return rows.length > limit ? null : rows.map(([n]) => n);
  }

  /** Distinct entries with a prefix, in order. @returns entries without place and type */
  *entries(keyPrefix: string, sort: EntryType, prefix: string): Generator<string, void> {
    const before = keyPrefix + sort;
    const first = before + prefix;
    const statement = this.connection.statement("SELECT term FROM history_word_places WHERE term >= ?1 LIMIT 1");
    for (let from = first; ; ) {
      const term = statement.values(from)[0]?.[0] as string | undefined;
      if (term === undefined || !term.startsWith(first)) return;
      yield term.slice(before.length);
      from = term + NEXT;
    }
  }

  /** Occurrences of entries with a prefix, entry by entry. @returns record number and sequence */
  occurrencesWithPrefix(prefix: string, until: number, limit: number): Array<[number, number]> {
    const rows = this.connection
      .statement(`${OCCURRENCES} LIMIT ?4`)
      .values(prefix, prefix + MAX_CODE_POINT, until, limit) as Occurrence[];
    return rows.map(([, n, sequence]) => [n, sequence]);
  }

  /**
   * Versions that have at least one entry of each group, in record order.
   * @param groups entries with their places and types
   * @param after resume point: record number and its sequence
   * @param lastN highest record number
   * @returns record number and sequence
   */
  occurrencesOf(
    groups: ReadonlyArray<readonly string[]>,
    until: number,
    after: readonly [number, number],
    limit: number,
    lastN = NO_LIMIT,
  ): Array<[number, number]> {
    const query = groups.map((entries) => `(${entries.map(phrase).join(" OR ")})`).join(" AND ");
    return this.connection
      .statement(
        `SELECT history_words.rowid >> 31, history_words.rowid & 2147483647 FROM history_words
          WHERE history_words MATCH +?1 AND history_words.rowid > ((?3 << 31) | ?4)
          AND history_words.rowid <= ((?6 << 31) | 2147483647) AND (history_words.rowid & 2147483647) <= +?2 LIMIT +?5`,
      )
      .values(query, until, ...after, limit, lastN) as Array<[number, number]>;
  }

  /**
   * Records whose matching entry has not ended. Starts and ends sort alike, so one pass over both suffices.
   * @param among restricts the records; null for all
   */
  private collectCurrent(
    keyPrefix: string,
    { entryType: sort, end, text }: EntryPrefix,
    until: number,
    among: ReadonlySet<number> | null,
    found: Set<number>,
  ): void {
    const ends = this.occurrences(keyPrefix + end + text, until, keyPrefix.length + 1);
    let ended = ends.next();
    for (const [entry, n, sequence] of this.occurrences(keyPrefix + sort + text, until, keyPrefix.length + 1)) {
      while (!ended.done && isBefore(ended.value, entry, n, sequence)) ended = ends.next();
      const hasEnded = !ended.done && ended.value[0] === entry && ended.value[1] === n;
      if (!hasEnded && (among === null || among.has(n))) found.add(n);
    }
    ends.return(undefined);
  }

  /** Entries with a prefix, in order. @param cut length of the common prefix to drop */
  private *occurrences(prefix: string, until: number, cut: number): Generator<Occurrence, undefined> {
    const rows = this.connection.db.prepare(OCCURRENCES);
    try {
      for (const row of rows.iterate(prefix, prefix + MAX_CODE_POINT, until) as Iterable<{
        term: string;
        n: number;
        sequence: number;
      }>)
        yield [row.term.slice(cut), row.n, row.sequence];
    } finally {
      rows.finalize();
    }
  }
}

/** Whether an end precedes an entry's start: of an earlier entry or record, or of an earlier name. */
function isBefore([term, n, sequence]: Occurrence, entry: string, otherN: number, since: number): boolean {
  if (term !== entry) return compareCodePoints(term, entry) < 0;
  return n < otherN || (n === otherN && sequence <= since);
}
