// Compares all that the indexes of words say with what is indexed, word for word: SQLite's own check of an index whose
// texts lie elsewhere looks at its structure alone. Holds sums of both sides, however many words there are.

import type { Sql } from "../../db/connection.ts";
import { inSnapshot } from "./ledger-walk.ts";

/** Words of a step, and the rest of the last one's. */
const STEP_WORDS = 5_000;
/** A sum and a number below 2^32 are a whole number that is exact. */
const SUM_MODULUS = 2 ** 52;

/** One side: which word stands in which text. In any order. */
export class WordSums {
  private count = 0;
  private sum = 0;
  private parity = 0;

  /** A word of the text that a record is found by from a transaction on. */
  add(word: string, n: number, sequence: number): void {
    const mixed = Bun.hash.crc32(`${n} ${sequence} ${word}`);
    this.count += 1;
    // So that the addition itself is exact: else the order would show.
    this.sum = (this.sum + mixed) % SUM_MODULUS;
    this.parity ^= mixed;
  }

  equals(other: WordSums): boolean {
    return this.count === other.count && this.sum === other.sum && this.parity === other.parity;
  }
}

/** The words of a text as it is indexed (src/db/search-text.ts). */
export function wordsOf(text: string): string[] {
  return text === "" ? [] : text.split(" ");
}

/**
 * All that an index says of transactions up to `until`, in steps.
 * @returns how many words each step took
 */
export function* sumIndex(
  db: Sql,
  index: "history_search" | "history_words",
  until: number,
  sums: WordSums,
): Generator<number> {
  const isQueryOnly = (db.$client.query("PRAGMA query_only").get() as { query_only: number }).query_only === 1;
  // SQLite's view of an index is a table that has to be made; a temporary one, which is not in the file.
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
