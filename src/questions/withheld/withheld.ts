// GET /api/v1/discovery/withheld, as it is worked out: a page of where credentials are withheld until an Admin says
// otherwise, or all of them as a table. Every step is bounded.

import type { Actor } from "../../access/actor.ts";
import { compareCodePoints } from "../../base/text.ts";
import type { Thinned } from "../../db/pruned-history.ts";
import { longRead } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import type { FilterText } from "../../inventory/list-filter.ts";
import { RowFilter } from "../../inventory/row-filter.ts";
import { csvHead, csvRows } from "../../wire/csv.ts";
import { LIST_HEAD, listMeta, listTail, resolvedMembers } from "../../wire/envelope.ts";
import { NamesThen } from "../activity/names-then.ts";
import { findWithheld, type WithheldItem } from "./find-withheld.ts";
import { WITHHELD_FIELDS, type WithheldBody, type WithheldType, withheldReason } from "./withheld-answer.ts";
import { withheldOrigin } from "./withheld-origins.ts";
import { WITHHELD_COLUMNS, withheldRow } from "./withheld-table.ts";

/** Crosses to another thread. */
export interface WithheldInput {
  readonly actor: Actor;
  readonly networkId: string | null;
  readonly types: readonly WithheldType[];
  readonly filter?: FilterText;
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
/** Rows named per step. */
const STEP_ROWS = 100;

/** The answer as an envelope, or as a table. */
export const withheld = longRead("withheld", function* (reader: Reader, input: WithheldInput) {
  const { actor, sequence, networkId, types, limit, offset } = input;
  const filter = RowFilter.of(reader, WITHHELD_FIELDS, actor, input.filter);
  const finding = findWithheld(reader, { reach: actor, networkId, types, sequence });
  let step = finding.next();
  for (; step.done !== true; step = finding.next()) yield PAUSE;
  let found = step.value;
  const names = new NamesThen(reader, actor, sequence);
  const shown = (each: WithheldItem) => shownWithheld(reader, names, each, sequence);
  if (filter !== null) {
    const matching: WithheldItem[] = [];
    for (let start = 0; start < found.length; start += STEP_ROWS) {
      matching.push(...found.slice(start, start + STEP_ROWS).filter((each) => filter.holds(shown(each))));
      yield PAUSE;
    }
    found = matching;
  }
  const page = found.slice(offset, limit === 0 ? undefined : offset + limit);
  const isTable = input.format === "csv";
  const networkNameOf = (id: string) => names.ofId(id)?.name ?? null;
  yield encoder.encode(isTable ? csvHead(WITHHELD_COLUMNS) : LIST_HEAD);
  for (let start = 0; start < page.length; start += STEP_ROWS) {
    const rows = page.slice(start, start + STEP_ROWS).map(shown);
    yield encoder.encode(
      isTable
        ? csvRows(
            WITHHELD_COLUMNS,
            rows.map((row) => withheldRow(row, networkNameOf)),
          )
        : (start === 0 ? "" : ",") + rows.map((row) => JSON.stringify(row)).join(","),
    );
  }
  if (isTable) return;
  const meta = listMeta({ limit, offset, total: found.length }, input.asked, resolvedMembers(input.thinned));
  yield encoder.encode(listTail(meta));
});

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

const encoder = new TextEncoder();
