// Search for transactions by their reason. Reads only transactions with a reason, in steps, since anything from a few
// in millions to all of them may have one. Does not read versions.

import { foldCase } from "../../base/text.ts";
import type { Activity, TransactionRange } from "./activity.ts";
import type { ReadConnection } from "./read-connection.ts";

/** Reasons examined per step. */
const STEP_REASONS = 1_000;

export class ReasonSearch {
  private readonly connection: ReadConnection;
  private readonly activity: Activity;
  private readonly text: string;

  /**
   * @param activity limits the transactions
   * @param text to find in a reason, ignoring case and Unicode composition
   */
  constructor(connection: ReadConnection, activity: Activity, text: string) {
    this.connection = connection;
    this.activity = activity;
    this.text = foldCase(text);
  }

  /** Newest first, without the first `offset`; a step may be empty. */
  newestFirst(range: TransactionRange, offset: number): Generator<readonly number[]> {
    return skipFirst(this.matches(range, "DESC"), offset);
  }

  /** Oldest first, without the first `offset`; a step may be empty. */
  oldestFirst(range: TransactionRange, offset: number): Generator<readonly number[]> {
    return skipFirst(this.matches(range, "ASC"), offset);
  }

  /** Number of matches, in steps. */
  *count(range: TransactionRange): Generator<void, number> {
    let count = 0;
    for (const step of this.matches(range, "DESC")) {
      count += step.length;
      yield;
    }
    return count;
  }

  private *matches({ after, until }: TransactionRange, direction: "ASC" | "DESC"): Generator<readonly number[]> {
    const statement = this.connection.statement(
      `SELECT sequence, reason FROM history_transactions WHERE reason IS NOT NULL AND sequence > +?1 AND sequence < +?2
        ORDER BY sequence ${direction} LIMIT ${STEP_REASONS}`,
    );
    for (let [low, high] = [after, until + 1]; ; ) {
      const rows = statement.values(low, high) as Array<[number, string]>;
      const matching = rows.filter(([, reason]) => hasReason(reason, this.text));
      yield* this.activity.touching(matching.map(([sequence]) => sequence));
      const last = rows.at(-1);
      if (last === undefined || rows.length < STEP_REASONS) return;
      if (direction === "ASC") low = last[0];
      else high = last[0];
    }
  }
}

/** Whether a reason contains a folded text (foldCase), ignoring case and Unicode composition. */
export function hasReason(reason: string | null, folded: string): boolean {
  return reason !== null && foldCase(reason).includes(folded);
}

function* skipFirst(steps: Iterable<readonly number[]>, offset: number): Generator<readonly number[]> {
  let skipped = 0;
  for (const step of steps) {
    yield step.slice(offset - skipped);
    skipped = Math.min(offset, skipped + step.length);
  }
}
