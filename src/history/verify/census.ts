// Census comparison: checks the counts stored per scope against the spans of each scope. Works scope by scope on a
// stream of spans; holds the events of one scope at a time.

import type { Sql } from "../../db/connection.ts";
import { advance, STEP_ROWS } from "./ledger-walk.ts";

/** Called with a sequence at which the two differ; null for a missing row. */
type OnDifference = (scope: number, sequence: number, expected: number | null, actual: number | null) => void;

type Row = [scope: number, sequence: number, count: number];

/** One comparison: first every span, then the rest. */
export class CensusComparison {
  private readonly until: number;
  private readonly onDifference: OnDifference;
  private readonly rows: { values(...values: number[]): unknown[][] };
  private scope: number | null = null;
  /** Sequence × 2, plus 1 for a start: a scope of a million records takes 8 MB. */
  private events = new Float64Array(1_024);
  private length = 0;
  private page: Row[] = [];
  private position = 0;
  private after: [number, number] = [Number.MIN_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
  private isAtEnd = false;

  constructor(db: Sql, until: number, onDifference: OnDifference) {
    this.until = until;
    this.onDifference = onDifference;
    this.rows = db.$client.query(
      `SELECT scope, sequence, count FROM history_census WHERE (scope, sequence) > (?1, ?2) AND sequence <= ?3
        ORDER BY scope, sequence LIMIT ${STEP_ROWS}`,
    ) as never;
  }

  /** Call in ascending order of scopes. */
  span(scope: number, born: number, died: number): void {
    if (scope !== this.scope) {
      this.compare();
      this.scope = scope;
    }
    this.event(born * 2 + 1);
    if (died <= this.until) this.event(died * 2);
  }

  /** Call after the last span. */
  *rest(): Generator<number> {
    this.compare();
    // Scopes beyond the last one with spans.
    for (let row = this.next(Number.POSITIVE_INFINITY); row !== null; row = this.next(Number.POSITIVE_INFINITY))
      this.onDifference(row[0], row[1], null, row[2]);
    yield 0;
  }

  private event(event: number): void {
    if (this.length === this.events.length) {
      const larger = new Float64Array(this.length * 2);
      larger.set(this.events);
      this.events = larger;
    }
    this.events[this.length] = event;
    this.length += 1;
  }

  private compare(): void {
    const { scope } = this;
    if (scope === null) return;
    const events = this.events.subarray(0, this.length).sort();
    let count = 0;
    for (let position = 0; position < events.length; ) {
      const sequence = Math.floor((events[position] as number) / 2);
      let delta = 0;
      for (; position < events.length && Math.floor((events[position] as number) / 2) === sequence; position += 1)
        delta += (events[position] as number) % 2 === 1 ? 1 : -1;
      count += delta;
      if (delta !== 0) this.expect(scope, sequence, count);
    }
    for (let row = this.next(scope); row !== null; row = this.next(scope))
      this.onDifference(row[0], row[1], null, row[2]);
    this.length = 0;
  }

  private expect(scope: number, sequence: number, count: number): void {
    for (;;) {
      const row = this.peek();
      if (row === null || row[0] > scope || (row[0] === scope && row[1] > sequence))
        return this.onDifference(scope, sequence, count, null);
      this.position += 1;
      if (row[0] === scope && row[1] === sequence) {
        if (row[2] !== count) this.onDifference(scope, sequence, count, row[2]);
        return;
      }
      this.onDifference(row[0], row[1], null, row[2]);
    }
  }

  /** The next row of this scope or an earlier one. */
  private next(scope: number): Row | null {
    const row = this.peek();
    if (row === null || row[0] > scope) return null;
    this.position += 1;
    return row;
  }

  private peek(): Row | null {
    if (this.position === this.page.length && !this.isAtEnd) {
      this.page = this.rows.values(...this.after, this.until) as Row[];
      this.position = 0;
      const last = this.page.at(-1);
      if (last === undefined) this.isAtEnd = true;
      else this.after = advance("history_census", this.after, [last[0], last[1]]);
    }
    return this.page[this.position] ?? null;
  }
}
