// Computation of GET /api/v1/conflicts: a page of conflicts, or all of them as a table. Every step is bounded.

import type { Instant } from "../../base/instant.ts";
import type { FixedMoment } from "../../db/reading/list-query.ts";
import { longRead, pausing } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { RowFilter } from "../../records/row-filter.ts";
import { type Acceptance, acceptancesAt, type ConflictType } from "../../resources/conflict-acceptances/acceptance.ts";
import { NamesThen } from "../activity/names-then.ts";
import { type FoundListInput, holding, toldList } from "../found-list.ts";
import { type Conflict, conflictFingerprint } from "./conflict.ts";
import { CONFLICT_FIELDS, shownConflict } from "./conflict-answer.ts";
import { CONFLICT_COLUMNS, conflictRows } from "./conflict-table.ts";
import { acceptedAmong, findConflicts } from "./find-conflicts.ts";

/** Passed to another thread. */
export interface AskedConflicts {
  readonly types: readonly ConflictType[];
  /** true: only accepted conflicts; false: only unaccepted ones; null for both. */
  readonly isAccepted: boolean | null;
}

type ConflictsInput = FoundListInput & AskedConflicts;

/** Yields the response as an envelope, or as a table. */
export const conflicts = longRead("conflicts", function* (reader: Reader, input: ConflictsInput) {
  const { sequence } = input.moment.asOf;
  const { actor } = input;
  const filter = RowFilter.of(reader, CONFLICT_FIELDS, actor, input.filter);
  const found = yield* foundBy(reader, input);
  const names = new NamesThen(reader, actor, sequence);
  const telling = {
    stepRows: STEP_NAMED,
    shown: (some: readonly Conflict[]) => {
      const acceptances = acceptancesOf(reader, input, some);
      return some.map((each) => shownConflict(each, names, acceptances));
    },
    columns: CONFLICT_COLUMNS,
    tableRows: conflictRows,
  };
  yield* toldList(input, names, yield* holding(filter, found, telling), telling);
});

/** Conflicts whose parties are named per step. */
const STEP_NAMED = 20;

/** All matching conflicts, regardless of page and filter. */
function* foundBy(reader: Reader, input: ConflictsInput): Generator<Uint8Array, readonly Conflict[]> {
  const { actor, moment, types, networkId, isAccepted } = input;
  const { sequence } = moment.asOf;
  const found = yield* pausing(findConflicts(reader, { reach: actor, sequence }, types, networkId));
  if (isAccepted === null) return found;
  const accepted = yield* pausing(acceptedAmong(reader, actor.organizationN, found, acceptedBy(moment)));
  return found.filter((each) => accepted.has(conflictFingerprint(each)) === isAccepted);
}

function acceptancesOf(
  reader: Reader,
  { actor, moment }: Pick<ConflictsInput, "actor" | "moment">,
  found: readonly Conflict[],
): Map<string, Acceptance> {
  return acceptancesAt(reader, actor.organizationN, found.map(conflictFingerprint), acceptedBy(moment));
}

/** Timestamp for acceptances; null for the present. */
function acceptedBy({ at, asOf }: FixedMoment): Instant | null {
  return asOf.present ? null : at;
}
