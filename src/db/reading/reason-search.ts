// The transactions whose reason has a text in it. Looks at those with a reason alone, in steps: they may be few among
// millions, or all of them. Reads no version.

import { foldCase } from "../../base/text.ts";
import type { Activity } from "./activity.ts";
import type { ReadConnection } from "./read-connection.ts";

/** Reasons looked at per step. */
const STEP_REASONS = 1_000;

export class ReasonSearch {
  private readonly connection: ReadConnection;
  private readonly activity: Activity;
  private readonly text: string;

  /**
   * @param activity whose transactions count
   * @param text what a reason must contain, without regard to case and to how accents are composed
   */
  constructor(connection: ReadConnection, activity: Activity, text: string) {
    this.connection = connection;
    this.activity = activity;
    this.text = foldCase(text);
  }

  /** Newest first up to `until`, without the first `offset`; a step may be empty. */
  *newestFirst(until: number, offset: number): Generator<readonly number[]> {
    let skipped = 0;
    for (const step of this.matches(until)) {
      yield step.slice(offset - skipped);
      skipped = Math.min(offset, skipped + step.length);
    }
  }

  /** Up to `until`, in steps. */
  *count(until: number): Generator<void, number> {
    let count = 0;
    for (const step of this.matches(until)) {
      count += step.length;
      yield;
    }
    return count;
  }

  private *matches(until: number): Generator<readonly number[]> {
    const statement = this.connection.statement(
      `SELECT sequence, reason FROM history_transactions WHERE reason IS NOT NULL AND sequence < +?1
        ORDER BY sequence DESC LIMIT ${STEP_REASONS}`,
    );
    for (let before = until + 1; ; ) {
      const rows = statement.values(before) as Array<[number, string]>;
      const matching = rows.filter(([, reason]) => foldCase(reason).includes(this.text)).map(([sequence]) => sequence);
      yield* this.activity.among(matching);
      const last = rows.at(-1);
      if (last === undefined || rows.length < STEP_REASONS) return;
      before = last[0];
    }
  }
}
