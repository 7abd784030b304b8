// Implementation of GET /api/v1/discovery/withheld: a page of items that need an Admin's approval, or all of them as a
// table. Every step is bounded.

import { compareCodePoints } from "../../base/text.ts";
import { longRead, pausing } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { RowFilter } from "../../records/row-filter.ts";
import { PastNames } from "../activity/names-at.ts";
import { type ComputedListInput, filterResults, renderList } from "../computed-list.ts";
import { findWithheld, type WithheldItem } from "./find-withheld.ts";
import { withheldOrigin } from "./withheld-origins.ts";
import { WITHHELD_FIELDS, type WithheldBody, type WithheldType, withheldReason } from "./withheld-schema.ts";
import { WITHHELD_COLUMNS, withheldRow } from "./withheld-table.ts";

/** Passed to another thread. */
interface WithheldSelection {
  readonly types: readonly WithheldType[];
}

/** Yields the response as an envelope, or as a table. */
export const withheld = longRead("withheld", function* (reader: Reader, input: ComputedListInput & WithheldSelection) {
  const { actor, moment, networkId, types } = input;
  const { sequence } = moment.asOf;
  const filter = RowFilter.of(reader, WITHHELD_FIELDS, actor, input.filter);
  const found = yield* pausing(findWithheld(reader, { reach: actor, networkId, types, sequence }));
  const names = new PastNames(reader, actor, sequence);
  const rendering = {
    stepRows: STEP_ROWS,
    render: (batch: readonly WithheldItem[]) => batch.map((item) => withheldBody(reader, names, item, sequence)),
    columns: WITHHELD_COLUMNS,
    tableRows: (row: WithheldBody, networkNameOf: (id: string) => string | null) => [withheldRow(row, networkNameOf)],
  };
  yield* renderList(input, names, yield* filterResults(filter, found, rendering), rendering);
});

/** Rows named per step. */
const STEP_ROWS = 100;

function withheldBody(reader: Reader, names: PastNames, item: WithheldItem, sequence: number): WithheldBody {
  const { type, n, id, value, networkN, hostId, assignments, addressCount } = item;
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
      (left, right) => compareCodePoints(left.name, right.name) || compareCodePoints(left.id, right.id),
    ),
    address_count: addressCount,
    ...withheldOrigin(reader, item, sequence),
    reason: withheldReason(type, id, host?.name ?? null),
  };
}
