// CSV exports, shared by all resources: an entire list as a table.

import type { Access } from "../access/actor.ts";
import { formatInstant } from "../base/instant.ts";
import type { Moment } from "../db/reading/list-query.ts";
import type { MediaResponse, Operation } from "../http/surface.ts";
import type { OrderParameters } from "../resources/ordering.ts";
import { CSV_TYPE, type CsvColumn, csvHead, csvRows } from "../schemas/csv.ts";
import type { ActorCall, Backend } from "./backend.ts";
import { withCustomFields } from "./custom-fields-at.ts";
import { listCondition, thinnedUntil } from "./list-filter.ts";
import { assertOrder, type ListOptions, listQuery, longList, requestFilter } from "./list-responses.ts";
import { exampleName, withNames } from "./name-columns.ts";
import { readingAt, resolvedHeaders } from "./read-instant.ts";

/** Response description of a CSV export. */
export function csvResponse(
  plural: string,
  columns: readonly CsvColumn[],
  example: object,
): Pick<Operation<Access>, "responseSchema" | "media" | "example"> {
  return {
    responseSchema: null,
    media: [
      {
        type: "text/csv",
        description: `The ${plural} as CSV: RFC 4180 with a header row. Each id column is followed by a column with the names as of that timestamp, empty for records out of the caller's reach. Lists are joined with semicolons. Each custom field of the kind has a column, \`custom_fields.KEY\`. Cells that a spreadsheet would run as a formula begin with an apostrophe. In thinned history, the headers \`X-Resolution\`, \`X-Resolved-At\` and \`X-Thinned-Until\` replace the fields of \`meta\`.`,
        get example() {
          const withNameColumns = withNames(
            withCustomFields(columns, () => []),
            exampleName,
          );
          return csvHead(withNameColumns) + csvRows(withNameColumns, [example as Record<string, unknown>]);
        },
      },
    ],
    example: { data: null },
  };
}

/** Exports all pages of a list as a table. */
export function respondWithCsv(
  backend: Backend,
  call: ActorCall & {
    readonly query: OrderParameters<string> & {
      readonly at?: string;
      readonly ids?: string[];
      readonly filter?: string;
    };
  },
  options: ListOptions,
): Response | Promise<Response> {
  return readingAt(backend, call, (moment) => {
    const { asOf } = moment;
    const headers = tableHeaders(call, options.resource.kind.plural.replaceAll("_", "-"), moment);
    const filter = requestFilter(call, backend.reader, moment);
    // Before the response starts, so that errors still get a status.
    const filtered = { kindName: options.resource.kind.name, reach: call.actor, asOf };
    assertOrder(backend.reader, call, options, asOf);
    const { after } = listCondition(backend.reader, filtered, filter);
    const until = thinnedUntil(backend.reader, after);
    if (until !== null) headers["x-thinned-until"] = formatInstant(until);
    return longList(
      backend,
      call,
      { ...listQuery(call, options, asOf), limit: 0, offset: 0 },
      { omitsChildren: options.omitsChildren === true, isPage: false, at: moment.at, filter, format: "csv" },
      headers,
    );
  });
}

/**
 * Response description of a table whose rows are not records, such as a report.
 * @param example records as rows
 */
export function tableMedia(columns: readonly CsvColumn[], example: readonly Record<string, unknown>[]): MediaResponse {
  return {
    type: "text/csv",
    description:
      "RFC 4180 with a header row. Names are as of that timestamp. Cells that a spreadsheet would run as a formula begin with an apostrophe. In thinned history, the headers `X-Resolution` and `X-Resolved-At` replace the fields of `meta`.",
    get example() {
      return csvHead(columns) + csvRows(columns, example);
    },
  };
}

/** Response headers of a table: a file name with the timestamp, and the resolution of thinned history. */
export function tableHeaders(
  { headers }: Pick<ActorCall, "headers">,
  plural: string,
  moment: Moment,
): Record<string, string> {
  const name = `${plural}${moment.at === null ? "" : `-${formatInstant(moment.at).replaceAll(":", "-")}`}.csv`;
  return {
    ...headers,
    "content-type": CSV_TYPE,
    "content-disposition": `attachment; filename="${name}"`,
    ...resolvedHeaders(moment),
  };
}
