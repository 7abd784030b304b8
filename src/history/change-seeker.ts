// Search for the next time an answer may differ: the next relevant change of each record, container, count and search
// query it depends on. Works in bounded steps.

import { ownValue } from "../base/fields.ts";
import type { AnyKind } from "../db/kind.ts";
import type { ReadConnection } from "../db/reading/read-connection.ts";
import { changedSql } from "../db/shape.ts";
import { KINDS } from "../records/resources.ts";
import { liesInSql, type Sight, type Trace } from "./records-at.ts";

/** Relevant fields by kind. A version without a field list is always relevant. */
export type RelevantFields = Readonly<Record<string, readonly string[]>>;

/** Distinct dependencies of an answer. */
export class Grounds implements Trace {
  private readonly seekers = new Map<string, Ground>();

  term(query: string): void {
    this.seekers.set(`term ${query}`, { type: "term", query });
  }

  record(n: number, kind: AnyKind): void {
    this.seekers.set(`record ${n}`, { type: "record", n, kind });
  }

  members(scope: number): void {
    this.seekers.set(`members ${scope}`, { type: "members", scope });
  }

  count(scope: number, low: number, high: number): void {
    this.seekers.set(`count ${scope} ${low} ${high}`, { type: "count", scope, low, high });
  }

  [Symbol.iterator](): IterableIterator<[string, Ground]> {
    return this.seekers.entries();
  }
}

type Ground =
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

const LIES_IN = liesInSql(KINDS, "?6");

/** Queries must come in chronological order. */
export class ChangeSeeker {
  private readonly connection: ReadConnection;
  private readonly sight: Sight;
  private readonly until: number;
  private readonly fields: RelevantFields;
  /** Upcoming transactions per dependency, and whether the list is complete. */
  private readonly ahead = new Map<string, { readonly sequences: number[]; isWhole: boolean }>();
  /** Rows read since the last yield. */
  private rows = 0;

  /** @param until the last relevant transaction */
  constructor(connection: ReadConnection, sight: Sight, until: number, fields: RelevantFields) {
    this.connection = connection;
    this.sight = sight;
    this.until = until;
    this.fields = fields;
  }

  /**
   * The first transaction after `sequence` that changes a dependency; null for none. Yields between steps of a few
   * milliseconds.
   */
  *next(grounds: Grounds, sequence: number): Generator<void, number | null> {
    let first: number | null = null;
    for (const [key, ground] of grounds) {
      const found = yield* this.nextOf(key, ground, sequence);
      if (found !== null && (first === null || found < first)) first = found;
    }
    return first;
  }

  private *nextOf(key: string, ground: Ground, sequence: number): Generator<void, number | null> {
    let known = this.ahead.get(key);
    while (known !== undefined && known.sequences.length > 0 && (known.sequences[0] as number) <= sequence)
      known.sequences.shift();
    if (known === undefined || (known.sequences.length === 0 && !known.isWhole)) {
      known = yield* this.look(ground, sequence);
      this.ahead.set(key, known);
    }
    return known.sequences[0] ?? null;
  }

  private *look(ground: Ground, after: number): Generator<void, { sequences: number[]; isWhole: boolean }> {
    if (this.rows >= STEP_ROWS) {
      this.rows = 0;
      yield;
    }
    if (ground.type === "term") {
      const found = this.listed(this.termSql(), [ground.query, after, this.until, LIST_MAX, ...this.sightValues()]);
      // A query may have hundreds of words.
      this.rows = STEP_ROWS;
      return found;
    }
    if (ground.type === "members") {
      return this.listed(
        `SELECT s FROM (SELECT born AS s FROM history_spans WHERE scope = +?1 UNION SELECT died FROM history_spans
          WHERE scope = +?1) WHERE s > +?2 AND s <= +?3 ORDER BY s LIMIT +?4`,
        [ground.scope, after, this.until, LIST_MAX],
      );
    }
    const found =
      ground.type === "record"
        ? yield* this.nextVersion(ground.n, ground.kind, after)
        : yield* this.nextCount(ground, after);
    return { sequences: found === null ? [] : [found], isWhole: found === null };
  }

  private listed(text: string, values: (string | number)[]): { sequences: number[]; isWhole: boolean } {
    const sequences = (this.connection.statement(text).values(...values) as Array<[number]>).map((row) => row[0]);
    this.rows += sequences.length + QUERY_ROWS;
    return { sequences, isWhole: sequences.length < LIST_MAX };
  }

  /** Start of a visible matching text. Its end is covered by the record's versions. */
  private termSql(): string {
    const visible = this.sight.networkIds === null ? "" : ` AND ${LIES_IN}`;
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

  private sightValues(): (string | number)[] {
    const { organizationN, networkIds } = this.sight;
    return networkIds === null ? [organizationN] : [organizationN, JSON.stringify(networkIds)];
  }
}
