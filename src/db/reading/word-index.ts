// Reads the index of what records were called: who is called by a word at an instant, from the index alone, and where an
// entry first came up. Renders nothing, and knows no reach.

import { compareCodePoints } from "../../base/text.ts";
import {
  type EntryBeginning,
  type EntrySort,
  entryPlace,
  type Lookup,
  type PlacedKind,
  wordBeginnings,
} from "../called-words.ts";
import { phrase } from "../search-text.ts";
import type { AsOf } from "./list-query.ts";
import type { ReadConnection } from "./read-connection.ts";

/** Beyond every sequence. */
const ALWAYS = 2 ** 31 - 1;
/** Greater than whatever an entry goes on with. */
const BEYOND = "\u{10ffff}";
/** An entry's least continuation. */
const NEXT = "\u0001";

/** An entry of a version: of the record `n`, since the transaction. */
type Place = [term: string, n: number, sequence: number];

const PLACES = `SELECT term, doc >> 31 AS n, doc & 2147483647 AS sequence FROM history_word_places
  WHERE term >= ?1 AND term < ?2 AND (doc & 2147483647) <= ?3`;

export class WordIndex {
  private readonly connection: ReadConnection;

  constructor(connection: ReadConnection) {
    this.connection = connection;
  }

  /**
   * The records of an organization that were called so: each of the words begins a word of theirs.
   * @param words one at least, folded or not
   * @returns record numbers, ascending; of records that were alive, but maybe elsewhere
   */
  calledBy(organizationN: number, kind: PlacedKind, words: readonly string[], asOf: AsOf | null): number[] {
    const place = entryPlace(organizationN, kind);
    let found: Set<number> | null = null;
    for (const word of words) {
      const ns = new Set<number>();
      for (const beginning of wordBeginnings(word)) this.holding(place, beginning, asOf?.sequence ?? ALWAYS, found, ns);
      found = ns;
    }
    return [...(found ?? [])].sort((a, b) => a - b);
  }

  /**
   * The records of an organization that ever had these entries, up to a transaction, all in one version.
   * @returns record numbers; null where there are more places than so many
   */
  everCalled(organizationN: number, kind: PlacedKind, lookup: Lookup, until: number, limit: number): number[] | null {
    const place = entryPlace(organizationN, kind);
    const rows =
      "all" in lookup
        ? this.placesOf(
            lookup.all.map((entry) => [place + entry]),
            until,
            [0, 0],
            limit + 1,
          )
        : this.placesBeginning(place + lookup.beginning, until, limit + 1);
    return rows.length > limit ? null : rows.map(([n]) => n);
  }

  /** The entries that begin so, each once, in their order. @returns each without its place and sort */
  *entries(place: string, sort: EntrySort, beginning: string): Generator<string, void> {
    const before = place + sort;
    const first = before + beginning;
    const statement = this.connection.statement("SELECT term FROM history_word_places WHERE term >= ?1 LIMIT 1");
    for (let from = first; ; ) {
      const term = statement.values(from)[0]?.[0] as string | undefined;
      if (term === undefined || !term.startsWith(first)) return;
      yield term.slice(before.length);
      from = term + NEXT;
    }
  }

  /** Where entries that begin so came up, entry by entry. @returns record number and sequence */
  placesBeginning(beginning: string, until: number, limit: number): Array<[number, number]> {
    const rows = this.connection
      .statement(`${PLACES} LIMIT ?4`)
      .values(beginning, beginning + BEYOND, until, limit) as Place[];
    return rows.map(([, n, sequence]) => [n, sequence]);
  }

  /**
   * Where entries came up, in the order of the records: those of which one of each group came up with one version.
   * @param groups entries with their places and sorts
   * @param after the record number, and of that the sequence, from which on
   * @param lastN the record number up to which
   * @returns record number and sequence
   */
  placesOf(
    groups: ReadonlyArray<readonly string[]>,
    until: number,
    after: readonly [number, number],
    limit: number,
    lastN = ALWAYS,
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
   * Who had an entry that begins so: since it came up it has not ended. Beginnings and ends stand in the same order, so
   * that one pass over both will do.
   * @param among only these records; null for all
   */
  private holding(
    place: string,
    { sort, end, text }: EntryBeginning,
    until: number,
    among: ReadonlySet<number> | null,
    found: Set<number>,
  ): void {
    const ends = this.places(place + end + text, until, place.length + 1);
    let ended = ends.next();
    for (const [entry, n, sequence] of this.places(place + sort + text, until, place.length + 1)) {
      while (!ended.done && isBefore(ended.value, entry, n, sequence)) ended = ends.next();
      const hasEnded = !ended.done && ended.value[0] === entry && ended.value[1] === n;
      if (!hasEnded && (among === null || among.has(n))) found.add(n);
    }
    ends.return(undefined);
  }

  /** Entries that begin so, in their order. @param cut letters that the entries have in common and that do not count */
  private *places(beginning: string, until: number, cut: number): Generator<Place, undefined> {
    const rows = this.connection.db.prepare(PLACES);
    try {
      for (const row of rows.iterate(beginning, beginning + BEYOND, until) as Iterable<{
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

/** Whether an end comes before what holds since then: of another record or entry, or of what it was called earlier. */
function isBefore([term, n, sequence]: Place, entry: string, otherN: number, since: number): boolean {
  if (term !== entry) return compareCodePoints(term, entry) < 0;
  return n < otherN || (n === otherN && sequence <= since);
}
