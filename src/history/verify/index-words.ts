// Word-by-word comparison of full-text indexes with their source text, since SQLite's check of an external-content FTS5
// index only covers its structure. Holds checksums of both sides, however many words there are.

import type { Sql } from "../../db/connection.ts";
import { inSnapshot } from "./ledger-walk.ts";

/** Words per step, plus the rest of the last one's occurrences. */
const STEP_WORDS = 5_000;
/** A sum plus a number below 2^32 stays an exact integer. */
const SUM_MODULUS = 2 ** 52;

/** Checksum of one side: words with their strings, in any order. */
export class WordSums {
  private count = 0;
  private sum = 0;
  private parity = 0;

  /** Adds a word of a record's text that starts at a transaction. */
  add(word: string, n: number, sequence: number): void {
    const hash = Bun.hash.crc32(`${n} ${sequence} ${word}`);
    this.count += 1;
    // Keeps the addition exact, or the result would depend on the order.
    this.sum = (this.sum + hash) % SUM_MODULUS;
    this.parity ^= hash;
  }

  equals(other: WordSums): boolean {
    return this.count === other.count && this.sum === other.sum && this.parity === other.parity;
  }
}

/** Words of an indexed string (src/db/search-text.ts). */
export function wordsOf(text: string): string[] {
  return text === "" ? [] : text.split(" ");
}

/**
 * Sums all index entries of transactions up to `until`, in steps.
 * @returns the number of words per step
 */
export function* sumIndex(
  db: Sql,
  index: "history_search" | "history_words",
  until: number,
  sums: WordSums,
): Generator<number> {
  const isQueryOnly = (db.$client.query("PRAGMA query_only").get() as { query_only: number }).query_only === 1;
  // fts5vocab requires a virtual table; a temporary one does not touch the file.
  if (isQueryOnly) db.$client.run("PRAGMA query_only = OFF");
  try {
    db.$client.run(`CREATE VIRTUAL TABLE temp.all_words USING fts5vocab('main', '${index}', 'instance')`);
    const statement = db.$client.prepare(
      `SELECT term, doc >> 31 AS n, doc & 2147483647 AS sequence
       FROM temp.all_words WHERE term > ? ORDER BY term`,
    );
    try {
      let after: string | null = "";
      while (after !== null) {
        let count = 0;
        let last: string | null = null;
        let isAtEnd = true;
        inSnapshot(db, () => {
          for (const { term, n, sequence } of statement.iterate(after as string) as Iterable<{
            term: string;
            n: number;
            sequence: number;
          }>) {
            if (count >= STEP_WORDS && term !== last) {
              isAtEnd = false;
              break;
            }
            last = term;
            count += 1;
            if (sequence <= until) sums.add(term, n, sequence);
          }
        });
        after = isAtEnd ? null : last;
        yield count;
      }
    } finally {
      statement.finalize();
      db.$client.run("DROP TABLE temp.all_words");
    }
  } finally {
    if (isQueryOnly) db.$client.run("PRAGMA query_only = ON");
  }
}
