// Route for /api/v1/discovery/withheld: items that need an Admin's approval before discovery sends credentials to them.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { OneOf, QueryList, Uuid } from "../../schemas/schemas.ts";
import { computedList } from "../computed-list-responses.ts";
import { withheld } from "./withheld.ts";
import { WITHHELD_EXAMPLE, WITHHELD_TYPES, WithheldBody } from "./withheld-schema.ts";
import { WITHHELD_COLUMNS, WITHHELD_ROWS_EXAMPLE } from "./withheld-table.ts";

const DESCRIPTION = `Subnets and addresses that receive no credentials until an Admin approves them, now or \`at\` a timestamp; subnets before addresses, each by value.

- **Subnet**: a subnet that does not accept credentials, although some are assigned to its network: a Member or discovery created it. Excludes subnets inside a larger subnet that accepts them, subnets of type Internet, Remote or Loopback, and subnets whose \`accepts_credentials\` an Admin has set to false: that is a decision, unless it is undone.
- **Address**: an address of a host with credentials that include the address, but without an Admin's approval: a Member or discovery gave it to the host.

An Admin approves them with \`accepts_credentials\` of the subnet, or by confirming the address. Every caller with access to the network may list them, with the reasons.`;

const selectionQuery = {
  network_id: Type.Optional({ ...Uuid, description: "Only in this network." }),
  type: Type.Optional(QueryList(OneOf(WITHHELD_TYPES), { description: "Only items of these types." })),
};

const withheldList = computedList({
  name: "Withheld",
  words: "the subnets and addresses from which credentials are withheld",
  description: DESCRIPTION,
  tableDescription:
    "All pages of the list: one row for each subnet and address. Multiple credentials are joined, in the same order in each column.",
  group: "Discovery",
  selectionQuery,
  row: WithheldBody,
  example: WITHHELD_EXAMPLE,
  columns: WITHHELD_COLUMNS,
  tableExample: WITHHELD_ROWS_EXAMPLE,
  read: withheld,
  parametersOf: ({ type }) => ({ types: type ?? WITHHELD_TYPES }),
});

/** /api/v1/discovery/withheld. */
export function withheldRoutes(surface: Surface<Actor, Access>, backend: Backend): void {
  surface
    .get("/api/v1/discovery/withheld", withheldList.list, (call) => withheldList.respond(backend, call, "json"))
    .get("/api/v1/discovery/withheld/export/csv", withheldList.table, (call) =>
      withheldList.respond(backend, call, "csv"),
    );
}
