// Route for GET /api/v1/search: search by name over all kinds.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, plainActor, VIEWER } from "../access/actor.ts";
import { invalid } from "../base/errors.ts";
import { foldWords } from "../db/name-entries.ts";
import { SEARCH_MAX_LENGTH, SEARCH_MAX_WORDS } from "../db/search-text.ts";
import type { Surface } from "../http/surface.ts";
import type { Backend } from "../records/backend.ts";
import { respondWithLongRead } from "../records/long-read-responses.ts";
import { fixedMoment, readingAt } from "../records/read-instant.ts";
import { AtQuery, OneOf, QueryList, Uuid } from "../schemas/schemas.ts";
import { SEARCHED_TYPES, type SearchInput, search } from "./search.ts";
import { SEARCH_EXAMPLE, SearchMeta, SearchResults } from "./search-schema.ts";

const SEARCH_LIMIT_DEFAULT = 20;
const SEARCH_LIMIT_MAX = 100;

const Query = Type.Object({
  q: Type.String({
    minLength: 1,
    maxLength: SEARCH_MAX_LENGTH,
    description: `Search words, at most ${SEARCH_MAX_WORDS} different ones: a name, an address, a MAC address or four of its digits, a VLAN or port number, a serial number, an interface, or a host and one of its parts.`,
  }),
  types: Type.Optional(QueryList(OneOf(SEARCHED_TYPES), { description: "Only records of these kinds." })),
  network_id: Type.Optional({ ...Uuid, description: "Only in this network." }),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: SEARCH_LIMIT_MAX, default: SEARCH_LIMIT_DEFAULT, description: "Results." }),
  ),
  ...AtQuery,
});

const DESCRIPTION = `Records that match by name, of all kinds that the caller may list, best match first: equal names, names that begin with the query, names with all of its words, and addresses that
contain it. Within each level, by kind, name and id; former names come after current ones, with \`named_until\`; deleted records come last, with \`deleted_at\`.

Neither case nor accents matter. MAC addresses are found by four or more hexadecimal digits anywhere in them, in any notation, and also where switches see them: the result is then the
interface. IP addresses are found by their beginning, and from any octet or group on. Interfaces are found in full or abbreviated (\`Gi1/0/7\`, \`gi 1/0/7\`, \`GigabitEthernet1/0/7\`).
\`core-1 gi1/0/7\` finds the record named \`gi1/0/7\` on the host \`core-1\`. With \`at\`, later names are not found.

The number of records examined is bounded: \`meta.search.cut_off\` lists the kinds that may have more.`;

/** /api/v1/search. */
export function searchRoutes(surface: Surface<Actor, Access>, backend: Backend): void {
  surface.get(
    "/api/v1/search",
    {
      operationId: "search",
      summary: "Search records by name",
      description: DESCRIPTION,
      group: "Questions",
      access: VIEWER,
      query: Query,
      responseSchema: SearchResults,
      meta: SearchMeta,
      example: {
        parameters: { q: "gi1/0/7" },
        data: SEARCH_EXAMPLE,
        meta: { search: { limit: SEARCH_LIMIT_DEFAULT, has_more: false, cut_off: [] } },
      },
    },
    (call) => {
      const { q, types, network_id, limit } = call.query;
      assertWords(q);
      return readingAt(backend, call, (moment) => {
        const input: SearchInput = {
          actor: plainActor(call.actor),
          q,
          types: types ?? null,
          networkId: network_id ?? null,
          limit: limit ?? SEARCH_LIMIT_DEFAULT,
          moment: fixedMoment(backend.reader, moment),
        };
        return respondWithLongRead(backend, call, search, input);
      });
    },
  );
}

/** @throws DomainError validation_failed for a query without words, or with too many */
function assertWords(q: string): void {
  const { size } = new Set(foldWords(q));
  if (size === 0) throw invalid({ path: "/q", message: "must contain a word", value: q });
  if (size > SEARCH_MAX_WORDS)
    throw invalid({ path: "/q", message: `must have at most ${SEARCH_MAX_WORDS} different words`, value: q });
}
