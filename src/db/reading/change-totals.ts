// Change counts per scope and range of transactions, from running counts: one seek per end, regardless of the range.
// Bounded steps, no version reads. Network counts are additive, as no command moves a record to another network.

import { type ChangeCounts, NO_CHANGES, type VersionOperation } from "../change-counts.ts";
import type { TransactionRange } from "./activity.ts";
import type { LedgerEntry } from "./change-log.ts";
import type { ReadConnection } from "./read-connection.ts";

/** Changes in one scope within a range. */
export interface ScopeTotal {
  readonly scope: number;
  readonly counts: ChangeCounts;
  /** First and last transaction with a matching change. */
  readonly first: number;
  readonly last: number;
}

/** Changes made by one transaction in one scope, and their author. */
export interface Increase extends Pick<LedgerEntry, "sequence" | "actorType" | "actorId" | "actorName"> {
  readonly counts: ChangeCounts;
}

/** Seeks per step. */
const STEP_SEEKS = 2_000;
/** Rows per step. */
const STEP_ROWS = 2_000;

const COUNTS_AT = `SELECT created, updated, deleted FROM history_change_counts WHERE scope = +?1 AND sequence <= +?2
  ORDER BY sequence DESC LIMIT 1`;

const INCREASES = `SELECT c.sequence, c.created, c.updated, c.deleted, t.actor_type, t.actor_id, t.actor_name
  FROM history_change_counts c CROSS JOIN history_transactions t ON t.sequence = c.sequence
  WHERE c.scope = +?1 AND c.sequence > +?2 AND c.sequence <= +?3 ORDER BY c.sequence LIMIT ${STEP_ROWS}`;
type IncreaseRow = [number, number, number, number, Increase["actorType"], string | null, string];

const CHANGED_SCOPES = `SELECT c.value FROM json_each(+?1) c WHERE EXISTS (SELECT 1 FROM history_change_counts h
  WHERE h.scope = c.value AND h.sequence > +?2 AND h.sequence <= +?3)`;

export class ChangeTotals {
  private readonly connection: ReadConnection;
  private readonly scopes: readonly number[];

  /** @param scopes keys of a container's number and a kind's code */
  constructor(connection: ReadConnection, scopes: readonly number[]) {
    this.connection = connection;
    this.scopes = scopes;
  }

  /**
   * Changes between consecutive transactions, by kind code.
   * @param edges ascending; each range excludes its start and includes its end
   */
  *between(edges: readonly number[]): Generator<void, Array<Map<number, ChangeCounts>>> {
    const distinct = [...new Set(edges)];
    const range = { after: distinct[0] ?? 0, until: distinct.at(-1) ?? 0 };
    const scopes = yield* this.changedScopes(range);
    const totalsAt = new Map(distinct.map((edge) => [edge, new Map<number, ChangeCounts>()]));
    const perStep = Math.max(1, Math.floor(STEP_SEEKS / Math.max(1, distinct.length)));
    for (let start = 0; start < scopes.length; start += perStep) {
      const batch = JSON.stringify(scopes.slice(start, start + perStep));
      for (let from = 0; from < distinct.length; from += STEP_SEEKS) {
        this.addTotals(totalsAt, JSON.stringify(distinct.slice(from, from + STEP_SEEKS)), batch);
        yield;
      }
    }
    return edges.slice(1).map((edge, index) => {
      const [before, after] = [totalsAt.get(edges[index] as number), totalsAt.get(edge)];
      const counts = new Map<number, ChangeCounts>();
      for (const [code, counted] of after ?? []) {
        const increase = difference(counted, before?.get(code) ?? NO_CHANGES);
        if (hasAny(increase)) counts.set(code, increase);
      }
      return counts;
    });
  }

  /** Totals of each scope with matching changes. @param operation null for any */
  *perScope(range: TransactionRange, operation: VersionOperation | null): Generator<void, ScopeTotal[]> {
    const totals: ScopeTotal[] = [];
    const scopes = yield* this.changedScopes(range);
    for (const [index, scope] of scopes.entries()) {
      const before = this.countsAt(scope, range.after);
      const after = this.countsAt(scope, range.until);
      const counts = difference(after, before);
      if (operation === null ? hasAny(counts) : counts[operation] > 0) {
        const countOf = (each: ChangeCounts) =>
          operation === null ? each.Created + each.Updated + each.Deleted : each[operation];
        const first = this.firstExceeding(scope, range, countOf, countOf(before));
        const last = this.firstExceeding(scope, range, countOf, countOf(after) - 1);
        totals.push({ scope, counts, first, last });
      }
      if (index % 20 === 19) yield;
    }
    return totals;
  }

  /** Latest transactions with changes of one operation, newest first: enough for `count` changes. */
  *latest(range: TransactionRange, operation: VersionOperation, count: number): Generator<void, number[]> {
    const sequences = new Set<number>();
    for (const { scope, counts } of yield* this.perScope(range, operation)) {
      const before = this.countsAt(scope, range.after)[operation];
      for (let index = 1; index <= Math.min(count, counts[operation]); index += 1)
        sequences.add(this.firstExceeding(scope, range, (each) => each[operation], before + counts[operation] - index));
      yield;
    }
    return [...sequences].sort((a, b) => b - a).slice(0, count);
  }

  /** Transactions with changes, scope by scope. */
  *increases({ after, until }: TransactionRange): Generator<Increase[]> {
    for (const scope of yield* ignoringSteps(this.changedScopes({ after, until }))) {
      let before = this.countsAt(scope, after);
      for (let from = after; ; ) {
        const rows = this.connection.statement(INCREASES).values(scope, from, until) as IncreaseRow[];
        yield rows.map(([sequence, Created, Updated, Deleted, actorType, actorId, actorName]) => {
          const counts = { Created, Updated, Deleted };
          const increase = { sequence, actorType, actorId, actorName, counts: difference(counts, before) };
          before = counts;
          return increase;
        });
        if (rows.length < STEP_ROWS) break;
        from = (rows.at(-1) as IncreaseRow)[0];
      }
    }
  }

  /** Scopes with any change. */
  private *changedScopes({ after, until }: TransactionRange): Generator<void, number[]> {
    const changedScopes: number[] = [];
    for (let start = 0; start < this.scopes.length; start += STEP_SEEKS) {
      const batch = JSON.stringify(this.scopes.slice(start, start + STEP_SEEKS));
      const rows = this.connection.statement(CHANGED_SCOPES).values(batch, after, until) as Array<[number]>;
      for (const [scope] of rows) changedScopes.push(scope);
      yield;
    }
    return changedScopes;
  }

  /** Adds the counts of these scopes to the totals of each edge. */
  private addTotals(totalsAt: ReadonlyMap<number, Map<number, ChangeCounts>>, edges: string, scopes: string): void {
    const rows = this.connection
      .statement(
        `SELECT e.value, c.value & 63, sum(h.created), sum(h.updated), sum(h.deleted)
          FROM json_each(+?1) e CROSS JOIN json_each(+?2) c CROSS JOIN history_change_counts h ON h.scope = c.value
          AND h.sequence = (SELECT max(sequence) FROM history_change_counts WHERE scope = c.value
            AND sequence <= e.value) GROUP BY e.key, c.value & 63`,
      )
      .values(edges, scopes) as Array<[number, number, number, number, number]>;
    for (const [edge, code, Created, Updated, Deleted] of rows) {
      const counts = totalsAt.get(edge);
      counts?.set(code, sum(counts.get(code) ?? NO_CHANGES, { Created, Updated, Deleted }));
    }
  }

  private countsAt(scope: number, sequence: number): ChangeCounts {
    const row = this.connection.statement(COUNTS_AT).values(scope, sequence)[0] as [number, number, number] | undefined;
    return row === undefined ? NO_CHANGES : { Created: row[0], Updated: row[1], Deleted: row[2] };
  }

  /** The first transaction of a range whose count exceeds `than`. Counts are monotonic. */
  private firstExceeding(
    scope: number,
    { after, until }: TransactionRange,
    count: (counts: ChangeCounts) => number,
    threshold: number,
  ): number {
    let [low, high] = [after, until];
    while (high - low > 1) {
      const middle = low + Math.floor((high - low) / 2);
      if (count(this.countsAt(scope, middle)) > threshold) high = middle;
      else low = middle;
    }
    return high;
  }
}

function difference(counts: ChangeCounts, before: ChangeCounts): ChangeCounts {
  return {
    Created: counts.Created - before.Created,
    Updated: counts.Updated - before.Updated,
    Deleted: counts.Deleted - before.Deleted,
  };
}

function sum(a: ChangeCounts, b: ChangeCounts): ChangeCounts {
  return { Created: a.Created + b.Created, Updated: a.Updated + b.Updated, Deleted: a.Deleted + b.Deleted };
}

function hasAny({ Created, Updated, Deleted }: ChangeCounts): boolean {
  return Created + Updated + Deleted > 0;
}

/** Runs steps to completion; each becomes an empty step of the caller. */
function* ignoringSteps<T>(steps: Generator<void, T>): Generator<never[], T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    yield [];
  }
}
