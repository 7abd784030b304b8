// Ports that flap: whose operational status changed so often within a day. By an index of the versions that changed it,
// in bounded steps.

import type { TransactionRange } from "../../db/reading/activity.ts";
import { ChangeLog } from "../../db/reading/change-log.ts";
import type { Reach } from "../../db/reading/list-query.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { RecordTallies } from "../activity/record-tallies.ts";

/** Changes within the day that make a port flap. */
export const FLAPPING_CHANGES = 6;

export interface FlappingPort {
  readonly n: number;
  readonly changes: number;
  /** The transaction of the last of them. */
  readonly last: number;
}

const STEP_VERSIONS = 10_000;
const IS_OF_STATUS = `instr(changed, '"oper_status"') > 0`;

/** Those that changed most first. @param networkN null for all that the caller reaches */
export function* flappingPorts(
  reader: Reader,
  reach: Reach,
  networkN: number | null,
  { after, until }: TransactionRange,
  stepVersions = STEP_VERSIONS,
): Generator<void, readonly FlappingPort[]> {
  const tallies = new RecordTallies();
  // Within a transaction by record: what comes next is after both.
  for (let [sequence, n] = [after + 1, 0]; ; ) {
    const rows = reader
      .statement(
        `SELECT key & 2147483647, key >> 31 FROM history_versions INDEXED BY history_versions_of_status
          WHERE ${IS_OF_STATUS} AND (key & 2147483647) >= +?1 AND (key & 2147483647) <= +?2
          AND ((key & 2147483647) > +?1 OR key > ((+?3 << 31) | +?1))
          ORDER BY key & 2147483647, key LIMIT +?4`,
      )
      .values(sequence, until, n, stepVersions) as Array<[number, number]>;
    for (const [each, record] of rows) tallies.add(record, "Updated", each);
    yield;
    const last = rows.at(-1);
    if (last === undefined || rows.length < stepVersions) break;
    [sequence, n] = last;
  }
  const log = new ChangeLog(reader);
  const flapping: FlappingPort[] = [];
  for (const often of tallies.often(FLAPPING_CHANGES)) {
    const seen = log.everSeenOf(
      [ifEntryKind],
      often.map(({ n }) => n),
      reach,
      networkN,
    );
    for (const { n, tally } of often) if (seen.has(n)) flapping.push({ n, changes: tally.updated, last: tally.last });
    yield;
  }
  return flapping.sort((one, other) => other.changes - one.changes || other.last - one.last || one.n - other.n);
}
