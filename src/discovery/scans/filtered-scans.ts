// Filtered lists of scans and findings. Runs outside the main thread, since there may be very many rows.

import type { Actor } from "../../access/actor.ts";
import { ownValue } from "../../base/fields.ts";
import type { Moment } from "../../db/reading/list-query.ts";
import { longRead, pausing } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import type { FilterText } from "../../records/list-filter.ts";
import type { RowFields } from "../../records/row-fields.ts";
import { matchingKeys, RowFilter, type RowSource } from "../../records/row-filter.ts";
import { LIST_HEAD, listMeta, listTail } from "../../schemas/envelope.ts";
import type { FindingType } from "../sightings.ts";
import type { ScanProgress } from "./scan.ts";
import { findingsAt, judgedFindings, judgedScans, type ScanQuery, scansOf, scansThen } from "./scan-reads.ts";
import { FINDING_FIELDS, SCAN_FIELDS } from "./scan-rows.ts";
import { scanOf } from "./stored-scan.ts";

interface FilteredInput {
  readonly actor: Actor;
  readonly filter: FilterText;
  readonly moment: Moment;
  /** 0 for all. */
  readonly limit: number;
  readonly offset: number;
}

export interface FilteredScansInput extends FilteredInput, Omit<ScanQuery, "reach" | "then"> {
  /** Current progress of running scans, by ID. */
  readonly live: Readonly<Record<string, ScanProgress>>;
}

export interface FilteredFindingsInput extends FilteredInput {
  readonly scanId: string;
  readonly types?: readonly FindingType[] | undefined;
}

/** Rows read, and rows returned, per step. */
const STEP_ROWS = 500;
const STEP_TOLD = 100;
const encoder = new TextEncoder();

/** Returns the page as an envelope. */
export const filteredScans = longRead(
  "filtered scans",
  function* (reader: Reader, input: FilteredScansInput) {
    const { actor, moment, live } = input;
    const then = scansThen(moment);
    const query: ScanQuery = { ...input, reach: actor, then };
    const rows = (ids: readonly string[]) =>
      new Map(
        [...scansOf(reader, query, ids)].map(([id, { row, networkId }]) => [
          id,
          scanOf(row, networkId, row.status === "Running" ? (ownValue(live, id) ?? null) : null),
        ]),
      );
    yield* page<string>(reader, input, SCAN_FIELDS, {
      source: (settled) => ({ next: (last) => judgedScans(reader, query, settled, last, STEP_ROWS), rows }),
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
        next: (last) => judgedFindings(reader, { scanId, types, condition }, last ?? -1, STEP_ROWS),
        rows: (ordinals) => new Map([...texts(ordinals)].map(([ordinal, text]) => [ordinal, JSON.parse(text)])),
      }),
      texts,
    });
  },
  { isInLargeSteps: true },
);

interface PageParts<Key> {
  readonly source: (settled: Parameters<typeof matchingKeys>[1]) => RowSource<Key>;
  /** As JSON, without rows deleted in the meantime. */
  readonly texts: (keys: readonly Key[]) => ReadonlyMap<Key, string>;
}

function* page<Key>(
  reader: Reader,
  { actor, filter, limit, offset, moment }: FilteredInput,
  fields: RowFields,
  { source, texts }: PageParts<Key>,
): Generator<Uint8Array> {
  const read = RowFilter.of(reader, fields, actor, filter);
  if (read === null) throw new Error("filtered scans: a filter that asks nothing is answered elsewhere");
  const settled = yield* pausing(read.settled(reader, actor, moment.asOf ?? reader.present()));
  const found = yield* pausing(matchingKeys(source(settled), settled));
  const wanted = found.slice(offset, limit === 0 ? undefined : offset + limit);
  yield encoder.encode(LIST_HEAD);
  let isFirst = true;
  for (let start = 0; start < wanted.length; start += STEP_TOLD) {
    const keys = wanted.slice(start, start + STEP_TOLD);
    const told = texts(keys);
    const items = keys.flatMap((key) => told.get(key) ?? []);
    if (items.length === 0) continue;
    yield encoder.encode((isFirst ? "" : ",") + items.join(","));
    isFirst = false;
  }
  yield encoder.encode(listTail(listMeta({ limit, offset, total: found.length }, moment)));
}
