// Responses for computed lists, at present or at a timestamp, produced on another thread.

import { plainActor } from "../access/actor.ts";
import type { LongRead } from "../db/reading/long-reads.ts";
import type { ActorCall, Backend } from "../records/backend.ts";
import { tableHeaders } from "../records/csv-answers.ts";
import { filterText } from "../records/list-answers.ts";
import { answerLongRead } from "../records/long-read-answers.ts";
import { fixed, readingAt } from "../records/read-instant.ts";
import { LIMIT_DEFAULT } from "../schemas/schemas.ts";
import type { FoundListInput } from "./found-list.ts";

interface FoundListQuery {
  readonly at?: string;
  readonly filter?: string;
  readonly network_id?: string;
  readonly limit?: number;
  readonly offset?: number;
}

/**
 * @param plural base name of a table's file
 * @param own additional parameters of this list
 */
export function answerFoundList<Own extends object>(
  backend: Backend,
  call: ActorCall & { readonly query: FoundListQuery },
  format: FoundListInput["format"],
  plural: string,
  read: LongRead<FoundListInput & Own>,
  own: Own,
): Response | Promise<Response> {
  const { reader } = backend;
  const { network_id, limit = LIMIT_DEFAULT, offset = 0 } = call.query;
  return readingAt(backend, call, (moment) => {
    const input = {
      actor: plainActor(call.actor),
      networkId: network_id ?? null,
      filter: filterText(call, reader, moment),
      moment: fixed(reader, moment),
      ...(format === "csv" ? { limit: 0, offset: 0 } : { limit, offset }),
      format,
      ...own,
    };
    return format === "csv"
      ? answerLongRead(backend, call, read, input, tableHeaders(call, plural, moment))
      : answerLongRead(backend, call, read, input);
  });
}
