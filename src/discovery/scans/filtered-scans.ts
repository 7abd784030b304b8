// Filtered lists of scans and findings. Runs outside the main thread, since there may be many rows.

import type { Actor } from "../../access/actor.ts";
import { ownValue } from "../../base/fields.ts";
import type { Moment } from "../../db/reading/list-query.ts";
import { longRead, pausing, utf8 } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import type { RequestFilter } from "../../records/list-filter.ts";
import type { RowFields } from "../../records/row-fields.ts";
import { matchingKeys, RowFilter, type RowSource } from "../../records/row-filter.ts";
import { LIST_HEAD, listMeta, listTail } from "../../schemas/envelope.ts";
import type { FindingType } from "../sightings.ts";
import type { ScanProgress } from "./scan.ts";
import { evaluateFindings, evaluateScans, findingsAt, pastOf, type ScanQuery, scansOf } from "./scan-reads.ts";
import { FINDING_FIELDS, SCAN_FIELDS } from "./scan-rows.ts";
import { scanOf } from "./stored-scan.ts";

interface FilteredInput {
  readonly actor: Actor;
  readonly filter: RequestFilter;
  readonly moment: Moment;
  /** 0 for all. */
  readonly limit: number;
  readonly offset: number;
}

export interface FilteredScansInput extends FilteredInput, Omit<ScanQuery, "reach" | "past"> {
  /** Current progress of running scans, by ID. */
  readonly live: Readonly<Record<string, ScanProgress>>;
}

export interface FilteredFindingsInput extends FilteredInput {
  readonly scanId: string;
  readonly types?: readonly FindingType[] | undefined;
}

/** Rows read, and rows returned, per step. */
const STEP_ROWS = 500;
const STEP_RETURNED = 100;
/** Returns the page as an envelope. */
export const filteredScans = longRead(
  "filtered scans",
  function* (reader: Reader, input: FilteredScansInput) {
    const { actor, moment, live } = input;
    const past = pastOf(moment);
    const query: ScanQuery = { ...input, reach: actor, past };
    const rows = (ids: readonly string[]) =>
      new Map(
        [...scansOf(reader, query, ids)].map(([id, { row, networkId }]) => [
          id,
          scanOf(row, networkId, row.status === "Running" ? (ownValue(live, id) ?? null) : null),
        ]),
      );
    yield* page<string>(reader, input, SCAN_FIELDS, {
      source: (resolved) => ({ next: (last) => evaluateScans(reader, query, resolved, last, STEP_ROWS), rows }),
      texts: (ids) => new Map([...rows(ids)].map(([id, scan]) => [id, JSON.stringify(scan)])),
    });
  },
  { isInLargeSteps: true },
);

/** Returns the page as an envelope. */
export const filteredFindings = longRead(
  "filtered findings",
  function* (reader: Reader, input: FilteredFindingsInput) {
    const { scanId, types } = input;
    const texts = (ordinals: readonly number[]) => findingsAt(reader, scanId, ordinals);
    yield* page<number>(reader, input, FINDING_FIELDS, {
      source: (condition) => ({
        next: (last) => evaluateFindings(reader, { scanId, types, condition }, last ?? -1, STEP_ROWS),
        rows: (ordinals) => new Map([...texts(ordinals)].map(([ordinal, text]) => [ordinal, JSON.parse(text)])),
      }),
      texts,
    });
  },
  { isInLargeSteps: true },
);

interface PageParts<Key> {
  readonly source: (resolved: Parameters<typeof matchingKeys>[1]) => RowSource<Key>;
  /** As JSON, without rows deleted in the meantime. */
  readonly texts: (keys: readonly Key[]) => ReadonlyMap<Key, string>;
}

function* page<Key>(
  reader: Reader,
  { actor, filter, limit, offset, moment }: FilteredInput,
  fields: RowFields,
  { source, texts }: PageParts<Key>,
): Generator<Uint8Array> {
  const rowFilter = RowFilter.of(reader, fields, actor, filter);
  if (rowFilter === null) throw new Error("filtered scans: an empty filter is handled elsewhere");
  const resolved = yield* pausing(rowFilter.settled(reader, actor, moment.asOf ?? reader.present()));
  const found = yield* pausing(matchingKeys(source(resolved), resolved));
  const pageKeys = found.slice(offset, limit === 0 ? undefined : offset + limit);
  yield utf8(LIST_HEAD);
  let isFirst = true;
  for (let start = 0; start < pageKeys.length; start += STEP_RETURNED) {
    const keys = pageKeys.slice(start, start + STEP_RETURNED);
    const textByKey = texts(keys);
    const items = keys.flatMap((key) => textByKey.get(key) ?? []);
    if (items.length === 0) continue;
    yield utf8((isFirst ? "" : ",") + items.join(","));
    isFirst = false;
  }
  yield utf8(listTail(listMeta({ limit, offset, total: found.length }, moment)));
}
