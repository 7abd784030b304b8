// GET /api/v1/conflicts, as it is worked out: a page of what is in conflict, or all of it as a table. Every step is
// bounded.

import type { Actor } from "../../access/actor.ts";
import type { Instant } from "../../base/instant.ts";
import type { Thinned } from "../../db/pruned-history.ts";
import { longRead } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import type { FilterText } from "../../inventory/list-filter.ts";
import { RowFilter } from "../../inventory/row-filter.ts";
import { type Acceptance, acceptancesAt, type ConflictType } from "../../resources/conflict-acceptances/acceptance.ts";
import { csvHead, csvRows } from "../../wire/csv.ts";
import { LIST_HEAD, listMeta, listTail, resolvedMembers } from "../../wire/envelope.ts";
import { NamesThen } from "../activity/names-then.ts";
import { type Conflict, conflictFingerprint } from "./conflict.ts";
import { CONFLICT_FIELDS, shownConflict } from "./conflict-answer.ts";
import { CONFLICT_COLUMNS, conflictRows } from "./conflict-table.ts";
import { acceptedAmong, findConflicts } from "./find-conflicts.ts";

export interface ConflictsInput {
  readonly actor: Actor;
  readonly networkId: string | null;
  readonly types: readonly ConflictType[];
  /** Only those that are accepted, or only those that are not; null for both. */
  readonly isAccepted: boolean | null;
  readonly filter?: FilterText;
  /** As of which acceptances count; null for the present. */
  readonly at: Instant | null;
  /** The transaction as of which it is. */
  readonly sequence: number;
  /** 0 for all. */
  readonly limit: number;
  readonly offset: number;
  /** The instant to be echoed; null where none was asked for. */
  readonly asked: string | null;
  readonly thinned?: Thinned;
  readonly format: "json" | "csv";
}

/** Hands the turn to other reads. */
const PAUSE = new Uint8Array(0);
/** Conflicts named per step. */
const STEP_NAMED = 20;

/** The answer as an envelope, or as a table. */
export const conflicts = longRead("conflicts", function* (reader: Reader, input: ConflictsInput) {
  const { actor, sequence, limit, offset } = input;
  const names = new NamesThen(reader, actor, sequence);
  const found = yield* foundBy(reader, input, names);
  const page = found.slice(offset, limit === 0 ? undefined : offset + limit);
  const encoder = new TextEncoder();
  const isTable = input.format === "csv";
  yield encoder.encode(isTable ? csvHead(CONFLICT_COLUMNS) : LIST_HEAD);
  const networkNameOf = (id: string) => names.ofId(id)?.name ?? null;
  for (let start = 0; start < page.length; start += STEP_NAMED) {
    const some = page.slice(start, start + STEP_NAMED);
    const acceptances = acceptancesOf(reader, input, some);
    const shown = some.map((each) => shownConflict(each, names, acceptances));
    yield encoder.encode(
      isTable
        ? csvRows(
            CONFLICT_COLUMNS,
            shown.flatMap((each) => conflictRows(each, networkNameOf)),
          )
        : (start === 0 ? "" : ",") + shown.map((each) => JSON.stringify(each)).join(","),
    );
  }
  if (isTable) return;
  const meta = listMeta({ limit, offset, total: found.length }, input.asked, resolvedMembers(input.thinned));
  yield encoder.encode(listTail(meta));
});

/** All that are asked for, whatever the page. */
function* foundBy(reader: Reader, input: ConflictsInput, names: NamesThen): Generator<Uint8Array, readonly Conflict[]> {
  const { actor, sequence } = input;
  const filter = RowFilter.of(reader, CONFLICT_FIELDS, actor, input.filter);
  const finding = findConflicts(reader, { reach: actor, sequence }, input.types, input.networkId);
  let step = finding.next();
  for (; step.done !== true; step = finding.next()) yield PAUSE;
  let found = step.value;
  if (input.isAccepted !== null) {
    const looking = acceptedAmong(reader, actor.organizationN, found, input.at);
    let looked = looking.next();
    for (; looked.done !== true; looked = looking.next()) yield PAUSE;
    const accepted = looked.value;
    found = found.filter((each) => accepted.has(conflictFingerprint(each)) === input.isAccepted);
  }
  if (filter === null) return found;
  const matching: Conflict[] = [];
  for (let start = 0; start < found.length; start += STEP_NAMED) {
    const some = found.slice(start, start + STEP_NAMED);
    const acceptances = acceptancesOf(reader, input, some);
    matching.push(...some.filter((each) => filter.holds(shownConflict(each, names, acceptances))));
    yield PAUSE;
  }
  return matching;
}

function acceptancesOf(
  reader: Reader,
  { actor, at }: Pick<ConflictsInput, "actor" | "at">,
  found: readonly Conflict[],
): Map<string, Acceptance> {
  return acceptancesAt(reader, actor.organizationN, found.map(conflictFingerprint), at);
}
