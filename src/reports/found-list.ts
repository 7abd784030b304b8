// A list of what a question finds, whose rows are no records: a page of it as an envelope, or all of it as a table. In
// bounded steps, so that others read in between.

import type { Actor } from "../access/actor.ts";
import type { FixedMoment } from "../db/reading/list-query.ts";
import type { FilterText } from "../records/list-filter.ts";
import type { RowFilter } from "../records/row-filter.ts";
import { type CsvColumn, csvHead, csvRows } from "../schemas/csv.ts";
import { LIST_HEAD, listMeta, listTail } from "../schemas/envelope.ts";
import type { NamesThen } from "./activity/names-then.ts";

/** What each of them is asked by. Crosses to another thread. */
export interface FoundListInput {
  readonly actor: Actor;
  /** Null for all that the caller reaches. */
  readonly networkId: string | null;
  readonly filter?: FilterText;
  readonly moment: FixedMoment;
  /** 0 for all. */
  readonly limit: number;
  readonly offset: number;
  readonly format: "json" | "csv";
}

/** How what is found is told. */
interface Telling<Found, Row extends object> {
  /** Told in one step. */
  readonly stepRows: number;
  /** What the list has of them, in the same order. */
  shown(some: readonly Found[]): readonly Row[];
  readonly columns: readonly CsvColumn[];
  /** The rows of the table for one of the list. */
  tableRows(row: Row, networkNameOf: (id: string) => string | null): readonly Record<string, unknown>[];
}

/** Hands the turn to other reads. */
const PAUSE = new Uint8Array(0);

/** What a search comes to that has nothing to tell before its end. */
export function* inTurns<T>(finding: Generator<unknown, T>): Generator<Uint8Array, T> {
  let step = finding.next();
  for (; step.done !== true; step = finding.next()) yield PAUSE;
  return step.value;
}

/** Those that the filter holds for. @param filter null for all */
export function* holding<Found, Row extends object>(
  filter: RowFilter | null,
  found: readonly Found[],
  { stepRows, shown }: Pick<Telling<Found, Row>, "stepRows" | "shown">,
): Generator<Uint8Array, readonly Found[]> {
  if (filter === null) return found;
  const matching: Found[] = [];
  for (let start = 0; start < found.length; start += stepRows) {
    const some = found.slice(start, start + stepRows);
    const rows = shown(some);
    matching.push(...some.filter((_, place) => filter.holds(rows[place] as Row)));
    yield PAUSE;
  }
  return matching;
}

/** The answer: the page of what was found, or all of it as a table. */
export function* toldList<Found, Row extends object>(
  { limit, offset, moment, format }: FoundListInput,
  names: NamesThen,
  found: readonly Found[],
  { stepRows, shown, columns, tableRows }: Telling<Found, Row>,
): Generator<Uint8Array, void> {
  const page = found.slice(offset, limit === 0 ? undefined : offset + limit);
  const isTable = format === "csv";
  const networkNameOf = (id: string) => names.ofId(id)?.name ?? null;
  yield encoder.encode(isTable ? csvHead(columns) : LIST_HEAD);
  for (let start = 0; start < page.length; start += stepRows) {
    const rows = shown(page.slice(start, start + stepRows));
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
