// Finds the next time at which a result may differ: the next relevant change to each record, container, count and
// search query it depends on. Works in bounded steps.

import { ownValue } from "../base/fields.ts";
import type { AnyKind } from "../db/kind.ts";
import type { ReadConnection } from "../db/reading/read-connection.ts";
import { changedSql } from "../db/shape.ts";
import { KINDS } from "../records/resources.ts";
import { inNetworksSql, type Trace, type Visibility, visibilityValues } from "./records-at.ts";

/** Relevant fields by kind. A version without a field list is always relevant. */
export type RelevantFields = Readonly<Record<string, readonly string[]>>;

/** Distinct dependencies of a result. */
export class Dependencies implements Trace {
  private readonly byKey = new Map<string, Dependency>();

  term(query: string): void {
    this.byKey.set(`term ${query}`, { type: "term", query });
  }

  record(n: number, kind: AnyKind): void {
    this.byKey.set(`record ${n}`, { type: "record", n, kind });
  }

  members(scope: number): void {
    this.byKey.set(`members ${scope}`, { type: "members", scope });
  }

  count(scope: number, low: number, high: number): void {
    this.byKey.set(`count ${scope} ${low} ${high}`, { type: "count", scope, low, high });
  }

  [Symbol.iterator](): IterableIterator<[string, Dependency]> {
    return this.byKey.entries();
  }
}

type Dependency =
  | { readonly type: "term"; readonly query: string }
  | { readonly type: "record"; readonly n: number; readonly kind: AnyKind }
  | { readonly type: "members"; readonly scope: number }
  | { readonly type: "count"; readonly scope: number; readonly low: number; readonly high: number };

/** Maximum versions of a record, or counts of a scope, per step. */
const STEP_ROWS = 2_000;
/** Cost of a query, in rows. */
const QUERY_ROWS = 50;
/** Transactions remembered per dependency. */
const LIST_MAX = 1_000;

const IN_NETWORKS = inNetworksSql(KINDS, "?6");

/** Queries must come in chronological order. */
export class ChangeSeeker {
  private readonly connection: ReadConnection;
  private readonly visibility: Visibility;
  private readonly until: number;
  private readonly fields: RelevantFields;
  /** Upcoming transactions per dependency, and whether the list is complete. */
  private readonly ahead = new Map<string, { readonly sequences: number[]; isComplete: boolean }>();
  /** Rows read since the last yield. */
  private rows = 0;

  /** @param until the last relevant transaction */
  constructor(connection: ReadConnection, visibility: Visibility, until: number, fields: RelevantFields) {
    this.connection = connection;
    this.visibility = visibility;
    this.until = until;
    this.fields = fields;
  }

  /**
   * The first transaction after `sequence` that changes a dependency; null for none. Yields between steps of a few
   * milliseconds.
   */
  *next(dependencies: Dependencies, sequence: number): Generator<void, number | null> {
    let first: number | null = null;
    for (const [key, dependency] of dependencies) {
      const found = yield* this.nextChangeOf(key, dependency, sequence);
      if (found !== null && (first === null || found < first)) first = found;
    }
    return first;
  }

  private *nextChangeOf(key: string, dependency: Dependency, sequence: number): Generator<void, number | null> {
    let known = this.ahead.get(key);
    while (known !== undefined && known.sequences.length > 0 && (known.sequences[0] as number) <= sequence)
      known.sequences.shift();
    if (known === undefined || (known.sequences.length === 0 && !known.isComplete)) {
      known = yield* this.lookAhead(dependency, sequence);
      this.ahead.set(key, known);
    }
    return known.sequences[0] ?? null;
  }

  private *lookAhead(
    dependency: Dependency,
    after: number,
  ): Generator<void, { sequences: number[]; isComplete: boolean }> {
    if (this.rows >= STEP_ROWS) {
      this.rows = 0;
      yield;
    }
    if (dependency.type === "term") {
      const values = [dependency.query, after, this.until, LIST_MAX, ...visibilityValues(this.visibility)];
      const found = this.queryList(this.termSql(), values);
      // A query may have hundreds of words.
      this.rows = STEP_ROWS;
      return found;
    }
    if (dependency.type === "members") {
      return this.queryList(
        `SELECT s FROM (SELECT born AS s FROM history_spans WHERE scope = +?1 UNION SELECT died FROM history_spans
          WHERE scope = +?1) WHERE s > +?2 AND s <= +?3 ORDER BY s LIMIT +?4`,
        [dependency.scope, after, this.until, LIST_MAX],
      );
    }
    const found =
      dependency.type === "record"
        ? yield* this.nextVersion(dependency.n, dependency.kind, after)
        : yield* this.nextCount(dependency, after);
    return { sequences: found === null ? [] : [found], isComplete: found === null };
  }

  private queryList(text: string, values: (string | number)[]): { sequences: number[]; isComplete: boolean } {
    const sequences = (this.connection.statement(text).values(...values) as Array<[number]>).map((row) => row[0]);
    this.rows += sequences.length + QUERY_ROWS;
    return { sequences, isComplete: sequences.length < LIST_MAX };
  }

  /** Start of a visible matching text. Its end is covered by the record's versions. */
  private termSql(): string {
    const visible = this.visibility.networkIds === null ? "" : ` AND ${IN_NETWORKS}`;
    return `SELECT DISTINCT t.key & 2147483647 AS s
      FROM (SELECT history_search.rowid AS key FROM history_search WHERE history_search MATCH +?1
        AND (history_search.rowid & 2147483647) > +?2 AND (history_search.rowid & 2147483647) <= +?3) t
      CROSS JOIN history_records r ON r.n = t.key >> 31 CROSS JOIN history_versions v ON v.key = t.key
      WHERE EXISTS (SELECT 1 FROM history_spans o WHERE o.scope = +?5 * 64 + r.kind AND o.n = r.n)${visible}
        ORDER BY s LIMIT +?4`;
  }

  /** The next version with a relevant field or without a field list; in thinned history the next remaining one. */
  private *nextVersion(n: number, kind: AnyKind, after: number): Generator<void, number | null> {
    const fields = (ownValue(this.fields, kind.name) ?? []).map((field) => `'${field}'`).join(", ");
    const text = `SELECT count(*), max(s), min(CASE WHEN changed IS NULL OR EXISTS (SELECT 1 FROM json_each(changed) c
      WHERE c.value IN (${fields})) OR s <= (SELECT max(last) FROM history_segments) THEN s END)
      FROM (SELECT v.key & 2147483647 AS s, ${changedSql(kind, "v")} AS changed FROM history_versions v
        WHERE v.key > ((+?1 << 31) | +?2) AND v.key <= ((+?1 << 31) | +?3) ORDER BY v.key LIMIT ${STEP_ROWS})`;
    return yield* this.scan(text, [n], after);
  }

  /** The first transaction at which a count leaves its range. */
  private *nextCount(
    { scope, low, high }: { readonly scope: number; readonly low: number; readonly high: number },
    after: number,
  ): Generator<void, number | null> {
    const text = `SELECT count(*), max(sequence), min(CASE WHEN count < +?4 OR count > +?5 THEN sequence END)
      FROM (SELECT sequence, count FROM history_census WHERE scope = +?1 AND sequence > +?2 AND sequence <= +?3
        ORDER BY sequence LIMIT ${STEP_ROWS})`;
    return yield* this.scan(text, [scope, low, high], after);
  }

  /** @param values ?1, and ?4 onwards; ?2 and ?3 are the start of the step and the overall end */
  private *scan(text: string, [first, ...rest]: readonly number[], after: number): Generator<void, number | null> {
    for (let from = after; ; ) {
      const [count, last, found] = this.connection
        .statement(text)
        .values(first as number, from, this.until, ...rest)[0] as [number, number | null, number | null];
      this.rows += count + QUERY_ROWS;
      if (found !== null) return found;
      if (count < STEP_ROWS || last === null) return null;
      from = last;
      this.rows = 0;
      yield;
    }
  }
}
