// Recently created or deleted records: located through the running counts, without reading other changes.

import type { Actor } from "../../access/actor.ts";
import type { VersionOperation } from "../../db/change-counts.ts";
import type { TransactionRange } from "../../db/reading/activity.ts";
import type { RecordChange } from "../../db/reading/change-log.ts";
import { ChangeTotals } from "../../db/reading/change-totals.ts";
import { CountedChanges, type CountedQuery } from "../../db/reading/counted-changes.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { type Narrowing, narrowedChanges } from "../../history/narrowing.ts";

/** Only records that are not part of another record: a new switch is news, its 48 ports are not. */
export function topLevelRecords(actor: Actor, narrowing: Narrowing): CountedQuery {
  const query = narrowedChanges(actor, narrowing);
  return { ...query, kinds: query.kinds.filter((kind) => kind.owners === undefined) };
}

/** Latest first. @param limit maximum number of records */
export function* recentRecords(
  reader: Reader,
  query: CountedQuery,
  range: TransactionRange,
  { operation, limit }: { readonly operation: VersionOperation; readonly limit: number },
): Generator<void, readonly RecordChange[]> {
  const changes = new CountedChanges(reader, query);
  const sequences = yield* new ChangeTotals(reader, changes.scopes).latest(range, operation, limit);
  const found: RecordChange[] = [];
  for (const sequence of sequences) {
    // A transaction may create thousands of records: stops at the limit.
    for (const step of changes.changes({ after: sequence - 1, until: sequence })) {
      found.push(...step.changes.filter((change) => change.operation === operation).slice(0, limit - found.length));
      yield;
      if (found.length === limit) return found;
    }
  }
  return found;
}
