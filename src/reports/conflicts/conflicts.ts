// Implementation of GET /api/v1/conflicts: a page of conflicts, or all of them as a table. Every step is bounded.

import { longRead, pausing } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { RowFilter } from "../../records/row-filter.ts";
import type { ConflictType } from "../../resources/conflict-acceptances/acceptance.ts";
import { PastNames } from "../activity/names-at.ts";
import { type ComputedListInput, filterResults, renderList } from "../computed-list.ts";
import { Claims } from "./claims.ts";
import { type Conflict, conflictFingerprint } from "./conflict.ts";
import { CONFLICT_FIELDS, conflictBody } from "./conflict-schema.ts";
import { CONFLICT_COLUMNS, conflictRows } from "./conflict-table.ts";
import { acceptancesByFingerprint, acceptancesOf, conflictQuery, findConflicts } from "./find-conflicts.ts";

/** Passed to another thread. */
interface ConflictSelection {
  readonly types: readonly ConflictType[];
  /** True for accepted conflicts only, false for unaccepted ones only, null for both. */
  readonly isAccepted: boolean | null;
}

type ConflictsInput = ComputedListInput & ConflictSelection;

/** Yields the response as an envelope, or as a table. */
export const conflicts = longRead("conflicts", function* (reader: Reader, input: ConflictsInput) {
  const { actor } = input;
  const query = conflictQuery(actor, input.moment);
  const filter = RowFilter.of(reader, CONFLICT_FIELDS, actor, input.filter);
  const found = yield* selectConflicts(reader, input);
  const names = new PastNames(reader, actor, query.sequence);
  const known = { names, claims: new Claims(reader, query) };
  const rendering = {
    stepRows: STEP_NAMED,
    render: (batch: readonly Conflict[]) => {
      const acceptances = acceptancesOf(reader, query, batch);
      return batch.map((each) => conflictBody(each, { ...known, acceptances }));
    },
    columns: CONFLICT_COLUMNS,
    tableRows: conflictRows,
  };
  yield* renderList(input, names, yield* filterResults(filter, found, rendering), rendering);
});

/** Conflicts whose parties are named per step. */
const STEP_NAMED = 20;

/** All matching conflicts, regardless of page and filter. */
function* selectConflicts(reader: Reader, input: ConflictsInput): Generator<Uint8Array, readonly Conflict[]> {
  const { actor, moment, types, networkId, isAccepted } = input;
  const query = conflictQuery(actor, moment);
  const found = yield* pausing(findConflicts(reader, query, types, networkId));
  if (isAccepted === null) return found;
  const accepted = yield* pausing(acceptancesByFingerprint(reader, query, found));
  return found.filter((each) => accepted.has(conflictFingerprint(each)) === isAccepted);
}
