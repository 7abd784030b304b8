// Computation of GET /api/v1/discovery/withheld: a page of items that need an Admin's approval, or all of them as a
// table. Every step is bounded.

import { compareCodePoints } from "../../base/text.ts";
import { longRead, pausing } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { RowFilter } from "../../records/row-filter.ts";
import { NamesThen } from "../activity/names-then.ts";
import { type FoundListInput, holding, toldList } from "../found-list.ts";
import { findWithheld, type WithheldItem } from "./find-withheld.ts";
import { WITHHELD_FIELDS, type WithheldBody, type WithheldType, withheldReason } from "./withheld-answer.ts";
import { withheldOrigin } from "./withheld-origins.ts";
import { WITHHELD_COLUMNS, withheldRow } from "./withheld-table.ts";

/** Passed to another thread. */
export interface AskedWithheld {
  readonly types: readonly WithheldType[];
}

/** Yields the response as an envelope, or as a table. */
export const withheld = longRead("withheld", function* (reader: Reader, input: FoundListInput & AskedWithheld) {
  const { actor, moment, networkId, types } = input;
  const { sequence } = moment.asOf;
  const filter = RowFilter.of(reader, WITHHELD_FIELDS, actor, input.filter);
  const found = yield* pausing(findWithheld(reader, { reach: actor, networkId, types, sequence }));
  const names = new NamesThen(reader, actor, sequence);
  const telling = {
    stepRows: STEP_ROWS,
    shown: (some: readonly WithheldItem[]) => some.map((each) => shownWithheld(reader, names, each, sequence)),
    columns: WITHHELD_COLUMNS,
    tableRows: (row: WithheldBody, networkNameOf: (id: string) => string | null) => [withheldRow(row, networkNameOf)],
  };
  yield* toldList(input, names, yield* holding(filter, found, telling), telling);
});

/** Rows named per step. */
const STEP_ROWS = 100;

function shownWithheld(reader: Reader, names: NamesThen, each: WithheldItem, sequence: number): WithheldBody {
  const { type, n, id, value, networkN, hostId, assignments, addressCount } = each;
  const host = hostId === null ? null : { id: hostId, name: names.ofId(hostId)?.name ?? "" };
  const credentials = assignments.map(({ credentialId }) => ({
    id: credentialId,
    name: names.ofId(credentialId)?.name ?? "",
  }));
  return {
    type,
    id,
    value,
    network_id: names.of(n)?.networkId ?? (reader.recordIds([networkN])[0] as string),
    host,
    credentials: credentials.sort(
      (one, other) => compareCodePoints(one.name, other.name) || compareCodePoints(one.id, other.id),
    ),
    address_count: addressCount,
    ...withheldOrigin(reader, each, sequence),
    reason: withheldReason(type, id, host?.name ?? null),
  };
}
