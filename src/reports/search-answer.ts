// Response schema and example of the search over all kinds.

import { Type } from "@sinclair/typebox";
import { HOST_EXAMPLE } from "../resources/hosts/host-example.ts";
import { IF_ENTRY_EXAMPLE } from "../resources/if-entries/if-entry.ts";
import { NETWORK_EXAMPLE } from "../resources/networks/network.ts";
import { Nullable, OneOf, Timestamp, Uuid } from "../schemas/schemas.ts";
import { SEARCHED_TYPES } from "./search.ts";
import { MATCHES } from "./search-query.ts";

const Place = Type.Object({ id: Uuid, name: Type.String() });

export const SearchResults = Type.Array(
  Type.Object(
    {
      type: OneOf(SEARCHED_TYPES),
      id: Uuid,
      name: Type.String({ description: "Its name; the last one of a deleted record." }),
      network: Nullable(Place, { description: "The network it is in." }),
      host: Nullable(Place, { description: "The host it belongs to." }),
      match: Type.Object({
        field: Type.String({
          description: "The field that was found; `fdb_macs` on the interface that a MAC address was seen at.",
        }),
        value: Type.Union([Type.String(), Type.Integer()]),
        vendor: Type.Optional(Nullable(Type.String(), { description: "Who made it; only of a MAC address." })),
        kind: OneOf(MATCHES, {
          description:
            "`Exact`: a name equals the query. `Prefix`: a name begins with it. `Word`: each word begins a word of it. `Part`: of a MAC or IP address.",
        }),
      }),
      named_until: Nullable(Timestamp, { description: "Until when it was called so; null if it is." }),
      deleted_at: Nullable(Timestamp, { description: "When it ended; null if it is there." }),
    },
    { $id: "SearchResult" },
  ),
);

export const SearchMeta = Type.Object({
  search: Type.Object({
    limit: Type.Integer(),
    has_more: Type.Boolean({ description: "Whether more was found, or more could have been." }),
    cut_off: Type.Array(OneOf(SEARCHED_TYPES), {
      description: "The kinds of which more could be called so than were looked at: a longer question finds them.",
    }),
  }),
});

export const SEARCH_EXAMPLE = [
  {
    type: "if_entry",
    id: IF_ENTRY_EXAMPLE.id,
    name: IF_ENTRY_EXAMPLE.if_name ?? IF_ENTRY_EXAMPLE.if_descr,
    network: { id: NETWORK_EXAMPLE.id, name: NETWORK_EXAMPLE.name },
    host: { id: HOST_EXAMPLE.id, name: HOST_EXAMPLE.name },
    match: { field: "if_descr", value: IF_ENTRY_EXAMPLE.if_descr, kind: "Exact" },
    named_until: null,
    deleted_at: null,
  },
];
