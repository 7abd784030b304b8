// Response schema and example of the search over all kinds.

import { Type } from "@sinclair/typebox";
import { HOST_EXAMPLE } from "../resources/hosts/host-example.ts";
import { IF_ENTRY_EXAMPLE } from "../resources/if-entries/if-entry.ts";
import { LastSeenField } from "../resources/last-seen.ts";
import { NETWORK_EXAMPLE } from "../resources/networks/network.ts";
import { Nullable, OneOf, Timestamp, Uuid } from "../schemas/schemas.ts";
import { SEARCHED_TYPES } from "./search.ts";
import { MATCHES } from "./search-query.ts";

const Reference = Type.Object({ id: Uuid, name: Type.String() });

export const SearchResults = Type.Array(
  Type.Object(
    {
      type: OneOf(SEARCHED_TYPES),
      id: Uuid,
      name: Type.String({ description: "Name of the record; for a deleted record, its last name." }),
      network: Nullable(Reference, { description: "The record's network." }),
      host: Nullable(Reference, { description: "The host of the record." }),
      match: Type.Object({
        field: Type.String({
          description: "The matching field; `fdb_macs` for the interface where a MAC address was seen.",
        }),
        value: Type.Union([Type.String(), Type.Integer()]),
        vendor: Type.Optional(Nullable(Type.String(), { description: "Vendor; only for a MAC address." })),
        kind: OneOf(MATCHES, {
          description:
            "`Exact`: a name equals the query. `Prefix`: a name starts with it. `Word`: each word of the query is a prefix of a word in a name. `Part`: part of a MAC or IP address.",
        }),
      }),
      named_until: Nullable(Timestamp, {
        description: "When the record lost the matching name; null for a current name.",
      }),
      deleted_at: Nullable(Timestamp, { description: "Time of the deletion; null for a live record." }),
      last_seen: LastSeenField,
    },
    { $id: "SearchResult" },
  ),
);

export const SearchMeta = Type.Object({
  search: Type.Object({
    limit: Type.Integer(),
    has_more: Type.Boolean({ description: "Whether there are, or may be, more results." }),
    cut_off: Type.Array(OneOf(SEARCHED_TYPES), {
      description: "Kinds with more candidates than were examined: a longer query narrows them down.",
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
    last_seen: null,
  },
];
