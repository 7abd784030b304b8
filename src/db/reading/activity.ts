// Transactions that touched a caller's scopes, in either direction, and their count. Each step is bounded by the number
// of transactions examined. Must not read versions.

import type { ReadConnection } from "./read-connection.ts";
import { SqlBuilder } from "./sql-builder.ts";

/** Ascending transactions from one step. */
export interface Stretch {
  readonly sequences: readonly number[];
  /** The list is complete up to this transaction. */
  readonly through: number;
}

/** Transactions per step. */
const STEP_TRANSACTIONS = 2_000;
/** With more scopes, filters the organization's transactions instead of merging. */
const MERGED_SCOPES_MAX = 64;
const COUNTED_MAX = 100;
/** Scope lookups per step, one per scope and transaction. */
const STEP_LOOKS = 20_000;

/** Counting resumes from here: committed transactions never change. */
const counted = new WeakMap<ReadConnection, Map<string, { readonly until: number; readonly count: number }>>();

/** Transactions in (after, until]. */
export interface TransactionRange {
  readonly after: number;
  readonly until: number;
}

/** Tables of transactions by scope. Only history_activity stores ordinals. */
type ScopeTable = "history_activity" | "history_change_counts";

export class Activity {
  private readonly connection: ReadConnection;
  private readonly organizationN: number;
  private readonly scopes: readonly number[];
  private readonly scopesJson: string;
  private readonly table: ScopeTable;

  /** @param scopes the organization or scopes in it, in the key format of the table */
  constructor(
    connection: ReadConnection,
    organizationN: number,
    scopes: readonly number[],
    table: ScopeTable = "history_activity",
  ) {
    this.connection = connection;
    this.organizationN = organizationN;
    this.scopes = scopes;
    this.scopesJson = JSON.stringify(scopes);
    this.table = table;
  }

  /** Transactions in (after, until], limited to one step of `limit` transactions. */
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

  /** Oldest first, without the first `offset`; a step may be empty. */
  *oldestFirst({ after, until }: TransactionRange, offset: number): Generator<readonly number[]> {
    const scope = this.only();
    // Ordinals allow a seek, so skipped transactions are not scanned.
    const start = scope === null || offset === 0 ? after : (this.at(scope, this.place(scope, after) + offset) ?? until);
    let left = scope === null ? offset : 0;
    for (let through = start; through < until; ) {
      const step = this.next(through, until, STEP_TRANSACTIONS);
      yield step.sequences.slice(left);
      left -= Math.min(left, step.sequences.length);
      through = step.through;
    }
  }

  /** Newest first, without the first `offset`; a step may be empty. */
  *newestFirst({ after, until }: TransactionRange, offset: number): Generator<readonly number[]> {
    const scope = this.only();
    if (scope !== null) {
      const first = this.place(scope, after);
      for (let place = this.place(scope, until) - offset; place > first; place -= STEP_TRANSACTIONS)
        yield this.upToPlace(scope, place, Math.min(STEP_TRANSACTIONS, place - first));
      return;
    }
    let skipped = 0;
    for (const step of this.descending(after, until)) {
      yield step.slice(offset - skipped);
      skipped = Math.min(offset, skipped + step.length);
    }
  }

  /** Number of transactions, in steps. */
  *count(range: TransactionRange): Generator<void, number> {
    const { until } = range;
    const scope = this.only();
    if (scope !== null) return this.place(scope, until) - this.place(scope, range.after);
    const known = range.after === 0 ? this.known() : undefined;
    let { until: after, count } = {
      until: range.after,
      count: 0,
      ...(known !== undefined && known.until <= until ? known : {}),
    };
    for (let place = this.place(this.organizationN, after); after < until; ) {
      place += STEP_TRANSACTIONS;
      const through = Math.min(until, this.at(this.organizationN, place) ?? until);
      count += this.countBetween(after, through);
      after = through;
      yield;
    }
    if (range.after === 0 && (known === undefined || known.until < until)) this.know({ until, count });
    return count;
  }

  /** The subset of these transactions that touched the scopes, in the given order, in steps; at least one step. */
  *among(sequences: readonly number[]): Generator<number[]> {
    const text = `SELECT j.value FROM json_each(+?1) j WHERE EXISTS (SELECT 1 FROM json_each(+?2) c
      CROSS JOIN ${this.table} a ON a.scope = c.value AND a.sequence = j.value) ORDER BY j.key`;
    const step = Math.max(1, Math.floor(STEP_LOOKS / Math.max(1, this.scopes.length)));
    let start = 0;
    do {
      yield this.sequences(text, JSON.stringify(sequences.slice(start, start + step)), this.scopesJson);
      start += step;
    } while (start < sequences.length);
  }

  private *descending(after: number, until: number): Generator<number[]> {
    if (this.scopes.length <= MERGED_SCOPES_MAX) {
      for (let before = until + 1; ; ) {
        const step = this.merged("sequence < ", before, after, "DESC", STEP_TRANSACTIONS);
        yield step;
        if (step.length < STEP_TRANSACTIONS) return;
        before = step.at(-1) as number;
      }
    }
    let through = until;
    for (let place = this.place(this.organizationN, until); place > 0 && through > after; ) {
      place -= STEP_TRANSACTIONS;
      const from = Math.max(after, this.at(this.organizationN, place) ?? 0);
      yield this.between(from, through, "DESC");
      through = from;
    }
  }

  /** A single scope, whose ordinals are stored; null otherwise. */
  private only(): number | null {
    return this.scopes.length === 1 && this.table === "history_activity" ? (this.scopes[0] as number) : null;
  }

  /**
   * Distinct transactions in order: SQLite merges the scopes' indexes without sorting.
   * @param end limit in this direction: inclusive if ascending, exclusive if descending
   */
  private merged(
    beyond: "sequence > " | "sequence < ",
    from: number,
    end: number,
    direction: "ASC" | "DESC",
    limit: number,
  ): number[] {
    if (this.scopes.length === 0) return [];
    const sql = new SqlBuilder(null);
    const condition = `${beyond}${sql.bind(from)} AND sequence ${direction === "ASC" ? "<=" : ">"} ${sql.bind(end)}`;
    const each = this.scopes.map(
      (scope) => `SELECT sequence FROM ${this.table} WHERE scope = ${sql.bind(scope)} AND ${condition}`,
    );
    return this.sequences(
      `${each.join(" UNION ")} ORDER BY sequence ${direction} LIMIT ${sql.bind(limit)}`,
      ...sql.values,
    );
  }

  /** Distinct, sorted transactions: for a short range. */
  private between(after: number, through: number, direction: "ASC" | "DESC"): number[] {
    const text = `SELECT DISTINCT a.sequence FROM json_each(+?1) c CROSS JOIN ${this.table} a ON a.scope = c.value
      AND a.sequence > +?2 AND a.sequence <= +?3 ORDER BY a.sequence ${direction}`;
    return this.sequences(text, this.scopesJson, after, through);
  }

  private countBetween(after: number, through: number): number {
    const text = `SELECT count(DISTINCT a.sequence) FROM json_each(+?1) c
      CROSS JOIN ${this.table} a ON a.scope = c.value
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

  /** Null if none; ordinals start at 1. */
  private at(scope: number, place: number): number | null {
    const row = this.connection
      .statement("SELECT sequence FROM history_activity WHERE scope = +?1 AND ordinal = +?2")
      .values(scope, place)[0] as [number] | undefined;
    return row?.[0] ?? null;
  }

  /** Newest first. */
  private upToPlace(scope: number, place: number, limit: number): number[] {
    return this.sequences(
      "SELECT sequence FROM history_activity WHERE scope = +?1 AND ordinal <= +?2 ORDER BY ordinal DESC LIMIT +?3",
      scope,
      place,
      limit,
    );
  }

  private sequences(text: string, ...values: Array<string | number>): number[] {
    return (this.connection.statement(text).values(...values) as Array<[number]>).map((row) => row[0]);
  }

  private known(): { readonly until: number; readonly count: number } | undefined {
    return counted.get(this.connection)?.get(this.name());
  }

  private know(count: { readonly until: number; readonly count: number }): void {
    let counts = counted.get(this.connection);
    if (counts === undefined || counts.size >= COUNTED_MAX) counted.set(this.connection, (counts = new Map()));
    counts.set(this.name(), count);
  }

  private name(): string {
    return `${this.table} ${this.scopesJson}`;
  }
}
