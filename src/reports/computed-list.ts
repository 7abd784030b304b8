// Computed list whose rows are not records: a page as an envelope, or all rows as a table. Yields to other reads
// between bounded steps.

import type { Actor } from "../access/actor.ts";
import type { FixedMoment } from "../db/reading/list-query.ts";
import { PAUSE } from "../db/reading/long-reads.ts";
import type { RequestFilter } from "../records/list-filter.ts";
import type { RowFilter } from "../records/row-filter.ts";
import { type CsvColumn, csvHead, csvRows } from "../schemas/csv.ts";
import { LIST_HEAD, listMeta, listTail } from "../schemas/envelope.ts";
import type { PastNames } from "./activity/names-at.ts";

/** Parameters common to all such lists. Passed to another thread. */
export interface ComputedListInput {
  readonly actor: Actor;
  /** Null for everything that the caller can access. */
  readonly networkId: string | null;
  readonly filter?: RequestFilter;
  readonly moment: FixedMoment;
  /** 0 for all. */
  readonly limit: number;
  readonly offset: number;
  readonly format: "json" | "csv";
}

/** Rendering of a list's results. */
interface Rendering<Found, Row extends object> {
  /** Rows rendered per step. */
  readonly stepRows: number;
  /** List rows of these results, in the same order. */
  render(batch: readonly Found[]): readonly Row[];
  readonly columns: readonly CsvColumn[];
  /** Table rows of one list row. */
  tableRows(row: Row, networkNameOf: (id: string) => string | null): readonly Record<string, unknown>[];
}

/** Results that match the filter. @param filter null for all */
export function* filterResults<Found, Row extends object>(
  filter: RowFilter | null,
  found: readonly Found[],
  { stepRows, render }: Rendering<Found, Row>,
): Generator<Uint8Array, readonly Found[]> {
  if (filter === null) return found;
  const matching: Found[] = [];
  for (let start = 0; start < found.length; start += stepRows) {
    const batch = found.slice(start, start + stepRows);
    const rows = render(batch);
    matching.push(...batch.filter((_, index) => filter.holds(rows[index] as Row)));
    yield PAUSE;
  }
  return matching;
}

/** Yields the response: one page of the results, or all of them as a table. */
export function* renderList<Found, Row extends object>(
  { limit, offset, moment, format }: ComputedListInput,
  names: PastNames,
  found: readonly Found[],
  { stepRows, render, columns, tableRows }: Rendering<Found, Row>,
): Generator<Uint8Array, void> {
  const page = found.slice(offset, limit === 0 ? undefined : offset + limit);
  const isTable = format === "csv";
  const networkNameOf = (id: string) => names.ofId(id)?.name ?? null;
  yield encoder.encode(isTable ? csvHead(columns) : LIST_HEAD);
  for (let start = 0; start < page.length; start += stepRows) {
    const rows = render(page.slice(start, start + stepRows));
    yield encoder.encode(
      isTable
        ? csvRows(
            columns,
            rows.flatMap((row) => tableRows(row, networkNameOf)),
          )
        : (start === 0 ? "" : ",") + rows.map((row) => JSON.stringify(row)).join(","),
    );
  }
  if (isTable) return;
  yield encoder.encode(listTail(listMeta({ limit, offset, total: found.length }, moment)));
}

const encoder = new TextEncoder();
