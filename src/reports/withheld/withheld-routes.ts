// Route of /api/v1/discovery/withheld: items that need an Admin's approval before discovery sends credentials to them.

import { type Static, Type } from "@sinclair/typebox";
import { type Access, type Actor, VIEWER } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { ActorCall, Backend } from "../../records/backend.ts";
import { tableMedia } from "../../records/csv-answers.ts";
import { FilterQuery } from "../../records/list-filter.ts";
import { OneOf, PageQuery, QueryList, Uuid } from "../../schemas/schemas.ts";
import { answerFoundList } from "../found-list-answers.ts";
import { type AskedWithheld, withheld } from "./withheld.ts";
import { WITHHELD_EXAMPLE, WITHHELD_TYPES, WithheldBody } from "./withheld-answer.ts";
import { WITHHELD_COLUMNS, WITHHELD_ROWS_EXAMPLE } from "./withheld-table.ts";

const DESCRIPTION = `Subnets and addresses that receive no credentials until an Admin approves them, now or \`at\` an instant; subnets before addresses, each by value.

- **Subnet**: a subnet that does not accept credentials, although some are assigned to its network: a Member or discovery made it. Not one that lies in a larger subnet which accepts them, nor one of type Internet, Remote or Loopback, nor one of which an Admin has set \`accepts_credentials\` to false: that is an answer, unless it is undone.
- **Address**: an address of a host that has credentials which are meant for it, but were sent to it by no Admin: a Member or discovery gave it to the host.

An Admin approves them by \`accepts_credentials\` of the subnet, or by confirming the address. Every caller who reaches the network may list them, with the reasons.`;

const which = {
  network_id: Type.Optional({ ...Uuid, description: "Only in this network." }),
  type: Type.Optional(QueryList(OneOf(WITHHELD_TYPES), { description: "Only these." })),
  ...FilterQuery,
};
const List = Type.Object({ ...which, ...PageQuery });
const Export = Type.Object({ ...which, at: PageQuery.at });

/** /api/v1/discovery/withheld. */
export function withheldRoutes(surface: Surface<Actor, Access>, backend: Backend): void {
  surface.get(
    "/api/v1/discovery/withheld",
    {
      operationId: "listWithheld",
      summary: "List the subnets and addresses from which credentials are withheld",
      description: DESCRIPTION,
      group: "Discovery",
      access: VIEWER,
      query: List,
      answer: Type.Array(WithheldBody),
      isList: true,
      example: { data: [WITHHELD_EXAMPLE] },
    },
    (call) => answerWithheld(backend, call, "json"),
  );
  surface.get(
    "/api/v1/discovery/withheld/export/csv",
    {
      operationId: "exportWithheld",
      summary: "Export the subnets and addresses from which credentials are withheld as CSV",
      description:
        "All pages of the list: a row for each subnet and address. Several credentials are joined, in the same order in each column.",
      group: "Discovery",
      access: VIEWER,
      query: Export,
      answer: null,
      media: [tableMedia(WITHHELD_COLUMNS, WITHHELD_ROWS_EXAMPLE)],
      example: { data: null },
    },
    (call) => answerWithheld(backend, call, "csv"),
  );
}

function answerWithheld(
  backend: Backend,
  call: ActorCall & { readonly query: Static<typeof Export> },
  format: "json" | "csv",
): Response | Promise<Response> {
  const own: AskedWithheld = { types: call.query.type ?? WITHHELD_TYPES };
  return answerFoundList(backend, call, format, "withheld", withheld, own);
}
