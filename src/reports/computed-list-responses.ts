// Operations and responses of computed lists and their CSV exports, now or at a timestamp, produced on another thread.

import { type Static, type TObject, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { plainActor, VIEWER } from "../access/actor.ts";
import type { LongRead } from "../db/reading/long-reads.ts";
import type { ActorCall, Backend } from "../records/backend.ts";
import { tableHeaders, tableMedia } from "../records/csv-responses.ts";
import { FilterQuery } from "../records/list-filter.ts";
import { requestFilter } from "../records/list-responses.ts";
import { respondWithLongRead } from "../records/long-read-responses.ts";
import { fixedMoment, readingAt } from "../records/read-instant.ts";
import type { CsvColumn } from "../schemas/csv.ts";
import { LIMIT_DEFAULT, PageQuery } from "../schemas/schemas.ts";
import type { ComputedListInput } from "./computed-list.ts";

/** A list with its documentation. */
interface DocumentedList<Selection extends TProperties, Parameters extends object> {
  /** Used in operation ids and, in lower case, in the file name of the table. */
  readonly name: string;
  /** Names its rows in the operation summaries. */
  readonly words: string;
  readonly description: string;
  readonly tableDescription: string;
  readonly group: string;
  readonly selectionQuery: Selection;
  readonly row: TSchema;
  readonly example: object;
  readonly columns: readonly CsvColumn[];
  readonly tableExample: readonly Record<string, unknown>[];
  readonly read: LongRead<ComputedListInput & Parameters>;
  /** Additional parameters of the read. */
  readonly parametersOf: (query: Static<TObject<Selection>>) => NoInfer<Parameters>;
}

/** The operations of a list and its export, and their responses. */
export function computedList<Selection extends TProperties, Parameters extends object>(
  list: DocumentedList<Selection, Parameters>,
) {
  const { name, words, description, tableDescription, group, row, example, columns, tableExample } = list;
  const query = { ...list.selectionQuery, ...FilterQuery };
  return {
    list: {
      operationId: `list${name}`,
      summary: `List ${words}`,
      description,
      group,
      access: VIEWER,
      query: Type.Object({ ...query, ...PageQuery }),
      responseSchema: Type.Array(row),
      isList: true,
      example: { data: [example] },
    },
    table: {
      operationId: `export${name}`,
      summary: `Export ${words} as CSV`,
      description: tableDescription,
      group,
      access: VIEWER,
      query: Type.Object({ ...query, at: PageQuery.at }),
      responseSchema: null,
      media: [tableMedia(columns, tableExample)],
      example: { data: null },
    },
    respond: (backend: Backend, call: ComputedListCall, format: ComputedListInput["format"]) =>
      respondWithComputedList(backend, call, format, list),
  };
}

interface ComputedListCall extends ActorCall {
  readonly query: {
    readonly at?: string;
    readonly filter?: string;
    readonly network_id?: string;
    readonly limit?: number;
    readonly offset?: number;
  };
}

function respondWithComputedList<Selection extends TProperties, Parameters extends object>(
  backend: Backend,
  call: ComputedListCall,
  format: ComputedListInput["format"],
  { name, read, parametersOf }: DocumentedList<Selection, Parameters>,
): Response | Promise<Response> {
  const { reader } = backend;
  const { network_id, limit = LIMIT_DEFAULT, offset = 0 } = call.query;
  const parameters: Parameters = parametersOf(call.query as never);
  return readingAt(backend, call, (moment) => {
    const input = {
      actor: plainActor(call.actor),
      networkId: network_id ?? null,
      filter: requestFilter(call, reader, moment),
      moment: fixedMoment(reader, moment),
      ...(format === "csv" ? { limit: 0, offset: 0 } : { limit, offset }),
      format,
      ...parameters,
    };
    return format === "csv"
      ? respondWithLongRead(backend, call, read, input, tableHeaders(call, name.toLowerCase(), moment))
      : respondWithLongRead(backend, call, read, input);
  });
}
