// The transactions that touched a caller's scopes, in either direction, and their count. Every step is bounded by the
// transactions looked through. Reads no version.

import type { ReadConnection } from "./read-connection.ts";
import { SqlBuilder } from "./sql-builder.ts";

/** Transactions in order, as far as one step came. */
export interface Stretch {
  readonly sequences: readonly number[];
  /** Complete up to this one. */
  readonly through: number;
}

/** Per step. */
const STEP_TRANSACTIONS = 2_000;
/** More scopes are filtered from their organization's transactions instead of merged. */
const MERGED_SCOPES_MAX = 64;
const COUNTED_MAX = 100;
/** Scopes looked up per step, each for each transaction. */
const STEP_LOOKS = 20_000;

/** Counting goes on from here: what is committed never changes. */
const counted = new WeakMap<ReadConnection, Map<string, { readonly until: number; readonly count: number }>>();

export class Activity {
  private readonly connection: ReadConnection;
  private readonly organizationN: number;
  private readonly scopes: readonly number[];
  private readonly scopesJson: string;

  /**
   * @param scopes of this organization, or it itself
   */
  constructor(connection: ReadConnection, organizationN: number, scopes: readonly number[]) {
    this.connection = connection;
    this.organizationN = organizationN;
    this.scopes = scopes;
    this.scopesJson = JSON.stringify(scopes);
  }

  /** Those after `after` up to `until`, as far as a step through `limit` of them comes. */
  next(after: number, until: number, limit: number): Stretch {
    if (this.scopes.length <= MERGED_SCOPES_MAX) {
      const sequences = this.merged("sequence > ", after, until, "ASC", limit);
      return { sequences, through: sequences.length < limit ? until : (sequences.at(-1) as number) };
    }
    const through = Math.min(
      until,
      this.at(this.organizationN, this.place(this.organizationN, after) + limit) ?? until,
    );
    return { sequences: this.between(after, through, "ASC"), through };
  }

  /** Newest first up to `until`, without the first `offset`; a step may be empty. */
  *newestFirst(until: number, offset: number): Generator<readonly number[]> {
    const scope = this.only();
    if (scope !== null) {
      for (let place = this.place(scope, until) - offset; place > 0; place -= STEP_TRANSACTIONS)
        yield this.upToPlace(scope, place);
      return;
    }
    let skipped = 0;
    for (const step of this.descending(until)) {
      yield step.slice(offset - skipped);
      skipped = Math.min(offset, skipped + step.length);
    }
  }

  /** Up to `until`, in steps. */
  *count(until: number): Generator<void, number> {
    const scope = this.only();
    if (scope !== null) return this.place(scope, until);
    const known = this.known();
    let { until: after, count } = { until: 0, count: 0, ...(known !== undefined && known.until <= until ? known : {}) };
    for (let place = this.place(this.organizationN, after); after < until; ) {
      place += STEP_TRANSACTIONS;
      const through = Math.min(until, this.at(this.organizationN, place) ?? until);
      count += this.countBetween(after, through);
      after = through;
      yield;
    }
    if (known === undefined || known.until < until) this.know({ until, count });
    return count;
  }

  /** Those of these transactions that touched the scopes, in the order given, in steps; one at least. */
  *among(sequences: readonly number[]): Generator<number[]> {
    const text = `SELECT j.value FROM json_each(+?1) j WHERE EXISTS (SELECT 1 FROM json_each(+?2) c
      CROSS JOIN history_activity a ON a.scope = c.value AND a.sequence = j.value) ORDER BY j.key`;
    const step = Math.max(1, Math.floor(STEP_LOOKS / Math.max(1, this.scopes.length)));
    let start = 0;
    do {
      yield this.sequences(text, JSON.stringify(sequences.slice(start, start + step)), this.scopesJson);
      start += step;
    } while (start < sequences.length);
  }

  private *descending(until: number): Generator<number[]> {
    if (this.scopes.length <= MERGED_SCOPES_MAX) {
      for (let before = until + 1; ; ) {
        const step = this.merged("sequence < ", before, 0, "DESC", STEP_TRANSACTIONS);
        yield step;
        if (step.length < STEP_TRANSACTIONS) return;
        before = step.at(-1) as number;
      }
    }
    let through = until;
    for (let place = this.place(this.organizationN, until); place > 0; ) {
      place -= STEP_TRANSACTIONS;
      const after = this.at(this.organizationN, place) ?? 0;
      yield this.between(after, through, "DESC");
      through = after;
    }
  }

  /** A single scope: its places are stored. */
  private only(): number | null {
    return this.scopes.length === 1 ? (this.scopes[0] as number) : null;
  }

  /** Each once, in order: SQLite merges the scopes' indexes without sorting. */
  private merged(
    beyond: "sequence > " | "sequence < ",
    from: number,
    until: number,
    direction: "ASC" | "DESC",
    limit: number,
  ): number[] {
    const sql = new SqlBuilder(null);
    const condition = `${beyond}${sql.bind(from)}${direction === "ASC" ? ` AND sequence <= ${sql.bind(until)}` : ""}`;
    const each = this.scopes.map(
      (scope) => `SELECT sequence FROM history_activity WHERE scope = ${sql.bind(scope)} AND ${condition}`,
    );
    return this.sequences(
      `${each.join(" UNION ")} ORDER BY sequence ${direction} LIMIT ${sql.bind(limit)}`,
      ...sql.values,
    );
  }

  /** Each once, sorted: for two transactions not far apart. */
  private between(after: number, through: number, direction: "ASC" | "DESC"): number[] {
    const text = `SELECT DISTINCT a.sequence FROM json_each(+?1) c CROSS JOIN history_activity a ON a.scope = c.value
      AND a.sequence > +?2 AND a.sequence <= +?3 ORDER BY a.sequence ${direction}`;
    return this.sequences(text, this.scopesJson, after, through);
  }

  private countBetween(after: number, through: number): number {
    const text = `SELECT count(DISTINCT a.sequence) FROM json_each(+?1) c
      CROSS JOIN history_activity a ON a.scope = c.value
        AND a.sequence > +?2 AND a.sequence <= +?3`;
    return (this.connection.statement(text).values(this.scopesJson, after, through)[0] as [number])[0];
  }

  private place(scope: number, until: number): number {
    const row = this.connection
      .statement(
        "SELECT ordinal FROM history_activity WHERE scope = +?1 AND sequence <= +?2 ORDER BY sequence DESC LIMIT 1",
      )
      .values(scope, until)[0] as [number] | undefined;
    return row?.[0] ?? 0;
  }

  /** Null for none; places begin at 1. */
  private at(scope: number, place: number): number | null {
    const row = this.connection
      .statement("SELECT sequence FROM history_activity WHERE scope = +?1 AND ordinal = +?2")
      .values(scope, place)[0] as [number] | undefined;
    return row?.[0] ?? null;
  }

  private upToPlace(scope: number, place: number): number[] {
    return this.sequences(
      "SELECT sequence FROM history_activity WHERE scope = +?1 AND ordinal <= +?2 ORDER BY ordinal DESC LIMIT +?3",
      scope,
      place,
      STEP_TRANSACTIONS,
    );
  }

  private sequences(text: string, ...values: Array<string | number>): number[] {
    return (this.connection.statement(text).values(...values) as Array<[number]>).map((row) => row[0]);
  }

  private known(): { readonly until: number; readonly count: number } | undefined {
    return counted.get(this.connection)?.get(this.scopesJson);
  }

  private know(count: { readonly until: number; readonly count: number }): void {
    let counts = counted.get(this.connection);
    if (counts === undefined || counts.size >= COUNTED_MAX) counted.set(this.connection, (counts = new Map()));
    counts.set(this.scopesJson, count);
  }
}
