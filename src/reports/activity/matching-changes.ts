// Changes matching an activity query: read from the running counts if those suffice, else version by version, in
// bounded steps.

import type { Actor } from "../../access/actor.ts";
import type { Instant } from "../../base/instant.ts";
import type { VersionOperation } from "../../db/change-counts.ts";
import type { TransactionRange } from "../../db/reading/activity.ts";
import type { RecordChange } from "../../db/reading/change-log.ts";
import { ChangeTotals } from "../../db/reading/change-totals.ts";
import { CountedChanges, type CountedQuery } from "../../db/reading/counted-changes.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { type Narrowing, narrowedChanges } from "../../history/narrowing.ts";
import { ReachedFields } from "../../history/reached-fields.ts";
import type { Tally } from "./tally.ts";

export const GROUPINGS = ["time", "type", "record", "field", "actor", "network"] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** Plain data, passed to another thread. */
export interface ActivityInput extends TransactionRange {
  readonly actor: Actor;
  readonly groupBy: Grouping;
  readonly narrowing: Narrowing;
  /** Counts only this operation; null for all. */
  readonly operation: VersionOperation | null;
  /** Counts only updates of one of these fields; null for all changes. */
  readonly fields: readonly string[] | null;
  /** For grouping by time: number of equal parts of the period. */
  readonly buckets: number;
  /** For other groupings: maximum number of groups. */
  readonly limit: number;
  /** Null for the first matching change. */
  readonly from: Instant | null;
  readonly to: Instant;
}

export class MatchingChanges {
  readonly reader: Reader;
  readonly input: ActivityInput;
  readonly query: CountedQuery;
  private readonly reached: ReachedFields;

  constructor(reader: Reader, input: ActivityInput) {
    this.reader = reader;
    this.input = input;
    this.query = narrowedChanges(input.actor, input.narrowing);
    this.reached = new ReachedFields(reader, input.actor);
  }

  /** Timestamp of the first matching change before the end of the period; null if there is none. */
  *first(): Generator<void, Instant | null> {
    const sequence = yield* new CountedChanges(this.reader, this.query).first(this.input.until);
    return sequence === null ? null : this.reader.thinnedHistory.instantOf(sequence);
  }

  /** Running counts, if they are sufficient for the query. */
  runningTotals(query: CountedQuery): ChangeTotals | null {
    if (this.input.fields !== null) return null;
    const changes = new CountedChanges(this.reader, query);
    return changes.hasStoredCounts ? new ChangeTotals(this.reader, changes.scopes) : null;
  }

  /** Yields changes in commit order, step by step. */
  *changes(query: CountedQuery = this.query): Generator<readonly RecordChange[]> {
    const { operation, fields } = this.input;
    for (const { changes } of new CountedChanges(this.reader, query).changes(this.input))
      yield operation === null && fields === null
        ? changes
        : changes.filter(
            (change) =>
              (operation === null || change.operation === operation) &&
              (fields === null || this.fieldsOf(change).some((field) => fields.includes(field))),
          );
  }

  /** Counts version by version. @param onStep called with each step, before its changes are counted */
  *walk(
    query: CountedQuery,
    tallyFor: (change: RecordChange) => Tally,
    onStep: (changes: readonly RecordChange[]) => void = () => {},
  ): Generator<void> {
    for (const changes of this.changes(query)) {
      onStep(changes);
      for (const change of changes) tallyFor(change).add(change.operation, change.sequence);
      yield;
    }
  }

  /** Updated fields visible to the caller, without separately reported parts; empty for creations and deletions. */
  fieldsOf(change: RecordChange): readonly string[] {
    const fields = this.reached.of(change.kind, [change])[0] ?? [];
    const { partFields } = change.kind;
    return partFields === undefined ? fields : fields.filter((field) => !partFields.includes(field));
  }
}
