// Transactions that touched a caller's scopes, in either direction, and their count. Each step is bounded by the number
// of transactions examined. Does not read versions.

import type { ReadConnection } from "./read-connection.ts";
import { SqlBuilder } from "./sql-builder.ts";

/** Ascending transactions from one step. */
export interface ActivityStep {
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
const STEP_LOOKUPS = 20_000;

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
  next(after: number, until: number, limit: number): ActivityStep {
    if (this.scopes.length <= MERGED_SCOPES_MAX) {
      const sequences = this.mergeScopes("sequence > ", after, until, "ASC", limit);
      return { sequences, through: sequences.length < limit ? until : (sequences.at(-1) as number) };
    }
    const end = this.sequenceAt(this.organizationN, this.ordinal(this.organizationN, after) + limit);
    const through = Math.min(until, end ?? until);
    return { sequences: this.between(after, through, "ASC"), through };
  }

  /** Oldest first, without the first `offset`; a step may be empty. */
  *oldestFirst({ after, until }: TransactionRange, offset: number): Generator<readonly number[]> {
    const scope = this.singleScope();
    // Ordinals allow a seek, so skipped transactions are not scanned.
    const start =
      scope === null || offset === 0 ? after : (this.sequenceAt(scope, this.ordinal(scope, after) + offset) ?? until);
    let skip = scope === null ? offset : 0;
    for (let through = start; through < until; ) {
      const step = this.next(through, until, STEP_TRANSACTIONS);
      yield step.sequences.slice(skip);
      skip -= Math.min(skip, step.sequences.length);
      through = step.through;
    }
  }

  /** Newest first, without the first `offset`; a step may be empty. */
  *newestFirst({ after, until }: TransactionRange, offset: number): Generator<readonly number[]> {
    const scope = this.singleScope();
    if (scope !== null) {
      const first = this.ordinal(scope, after);
      for (let ordinal = this.ordinal(scope, until) - offset; ordinal > first; ordinal -= STEP_TRANSACTIONS)
        yield this.upToOrdinal(scope, ordinal, Math.min(STEP_TRANSACTIONS, ordinal - first));
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
    const scope = this.singleScope();
    if (scope !== null) return this.ordinal(scope, until) - this.ordinal(scope, range.after);
    const cachedCount = range.after === 0 ? this.cachedCount() : undefined;
    const isKnown = cachedCount !== undefined && cachedCount.until <= until;
    let { until: after, count } = isKnown ? cachedCount : { until: range.after, count: 0 };
    for (let ordinal = this.ordinal(this.organizationN, after); after < until; ) {
      ordinal += STEP_TRANSACTIONS;
      const through = Math.min(until, this.sequenceAt(this.organizationN, ordinal) ?? until);
      count += this.countBetween(after, through);
      after = through;
      yield;
    }
    if (range.after === 0 && (cachedCount === undefined || cachedCount.until < until))
      this.cacheCount({ until, count });
    return count;
  }

  /** The subset of these transactions that touched the scopes, in the given order, in steps; at least one step. */
  *touching(sequences: readonly number[]): Generator<number[]> {
    const text = `SELECT j.value FROM json_each(+?1) j WHERE EXISTS (SELECT 1 FROM json_each(+?2) c
      CROSS JOIN ${this.table} a ON a.scope = c.value AND a.sequence = j.value) ORDER BY j.key`;
    const step = Math.max(1, Math.floor(STEP_LOOKUPS / Math.max(1, this.scopes.length)));
    let start = 0;
    do {
      yield this.sequences(text, JSON.stringify(sequences.slice(start, start + step)), this.scopesJson);
      start += step;
    } while (start < sequences.length);
  }

  private *descending(after: number, until: number): Generator<number[]> {
    if (this.scopes.length <= MERGED_SCOPES_MAX) {
      for (let before = until + 1; ; ) {
        const step = this.mergeScopes("sequence < ", before, after, "DESC", STEP_TRANSACTIONS);
        yield step;
        if (step.length < STEP_TRANSACTIONS) return;
        before = step.at(-1) as number;
      }
    }
    let through = until;
    for (let ordinal = this.ordinal(this.organizationN, until); ordinal > 0 && through > after; ) {
      ordinal -= STEP_TRANSACTIONS;
      const from = Math.max(after, this.sequenceAt(this.organizationN, ordinal) ?? 0);
      yield this.between(from, through, "DESC");
      through = from;
    }
  }

  /** A single scope, whose ordinals are stored; null otherwise. */
  private singleScope(): number | null {
    return this.scopes.length === 1 && this.table === "history_activity" ? (this.scopes[0] as number) : null;
  }

  /**
   * Distinct transactions in order: SQLite merges the scopes' indexes without sorting.
   * @param end limit in this direction: inclusive if ascending, exclusive if descending
   */
  private mergeScopes(
    comparison: "sequence > " | "sequence < ",
    from: number,
    end: number,
    direction: "ASC" | "DESC",
    limit: number,
  ): number[] {
    if (this.scopes.length === 0) return [];
    const sql = new SqlBuilder(null);
    const condition = `${comparison}${sql.bind(from)} AND sequence ${direction === "ASC" ? "<=" : ">"} ${sql.bind(end)}`;
    const each = this.scopes.map(
      (scope) => `SELECT sequence FROM ${this.table} WHERE scope = ${sql.bind(scope)} AND ${condition}`,
    );
    const text = `${each.join(" UNION ")} ORDER BY sequence ${direction} LIMIT ${sql.bind(limit)}`;
    return this.sequences(text, ...sql.values);
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

  private ordinal(scope: number, until: number): number {
    const text =
      "SELECT ordinal FROM history_activity WHERE scope = +?1 AND sequence <= +?2 ORDER BY sequence DESC LIMIT 1";
    return this.sequences(text, scope, until)[0] ?? 0;
  }

  /** Null if none; ordinals start at 1. */
  private sequenceAt(scope: number, ordinal: number): number | null {
    const text = "SELECT sequence FROM history_activity WHERE scope = +?1 AND ordinal = +?2";
    return this.sequences(text, scope, ordinal)[0] ?? null;
  }

  /** Newest first. */
  private upToOrdinal(scope: number, ordinal: number, limit: number): number[] {
    const text =
      "SELECT sequence FROM history_activity WHERE scope = +?1 AND ordinal <= +?2 ORDER BY ordinal DESC LIMIT +?3";
    return this.sequences(text, scope, ordinal, limit);
  }

  /** The first column: sequences, or ordinals. */
  private sequences(text: string, ...values: Array<string | number>): number[] {
    return (this.connection.statement(text).values(...values) as Array<[number]>).map((row) => row[0]);
  }

  private cachedCount(): { readonly until: number; readonly count: number } | undefined {
    return counted.get(this.connection)?.get(this.name());
  }

  private cacheCount(count: { readonly until: number; readonly count: number }): void {
    let counts = counted.get(this.connection);
    if (counts === undefined || counts.size >= COUNTED_MAX) counted.set(this.connection, (counts = new Map()));
    counts.set(this.name(), count);
  }

  private name(): string {
    return `${this.table} ${this.scopesJson}`;
  }
}
