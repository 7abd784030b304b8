// /api/v1/discovery/withheld: what waits for an Admin's word before discovery may send credentials to it.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, plainActor, VIEWER } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { ActorCall, Backend } from "../../inventory/backend.ts";
import { tableHeaders, tableMedia } from "../../inventory/csv-answers.ts";
import { filterText } from "../../inventory/list-answers.ts";
import { FilterQuery } from "../../inventory/list-filter.ts";
import { answerLongRead } from "../../inventory/long-read-answers.ts";
import { readAt, readingAt } from "../../inventory/read-instant.ts";
import { LIMIT_DEFAULT, OneOf, PageQuery, QueryList, Uuid } from "../../wire/schemas.ts";
import { type WithheldInput, withheld } from "./withheld.ts";
import { WITHHELD_EXAMPLE, WITHHELD_TYPES, WithheldBody, type WithheldType } from "./withheld-answer.ts";
import { WITHHELD_COLUMNS, WITHHELD_ROWS_EXAMPLE } from "./withheld-table.ts";

const DESCRIPTION = `What waits for an Admin's word before discovery may send it credentials, now or \`at\` an instant; subnets before addresses, each by value.

- **Subnet**: a subnet that does not accept credentials, although some are assigned to its network: a Member or discovery made it. Not one that lies in a larger subnet which accepts them, nor one of type Internet, Remote or Loopback, nor one of which an Admin has set \`accepts_credentials\` to false: that is an answer, unless it is undone.
- **Address**: an address of a host that has credentials which are meant for it, but were sent to it by no Admin: a Member or discovery gave it to the host.

An Admin lets them go there by \`accepts_credentials\` of the subnet, or by confirming the address. Whoever reaches the network may see what waits and why.`;

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
      summary: "List where credentials are withheld until an Admin says otherwise",
      description: DESCRIPTION,
      group: "Discovery",
      access: VIEWER,
      query: List,
      answer: Type.Array(WithheldBody),
      isList: true,
      example: { data: [WITHHELD_EXAMPLE] },
    },
    (call) => answerWithheld(backend, call, { format: "json", ...call.query }),
  );
  surface.get(
    "/api/v1/discovery/withheld/export/csv",
    {
      operationId: "exportWithheld",
      summary: "Export where credentials are withheld as CSV",
      description:
        "All that the list has over all of its pages: a row for each subnet and address. Several credentials stand side by side, in the same order in each column.",
      group: "Discovery",
      access: VIEWER,
      query: Export,
      answer: null,
      media: [tableMedia(WITHHELD_COLUMNS, WITHHELD_ROWS_EXAMPLE)],
      example: { data: null },
    },
    (call) => answerWithheld(backend, call, { format: "csv", ...call.query, limit: 0, offset: 0 }),
  );
}

interface AskedWithheld {
  readonly format: "json" | "csv";
  readonly network_id?: string;
  readonly type?: readonly WithheldType[];
  readonly limit?: number;
  readonly offset?: number;
}

function answerWithheld(
  backend: Backend,
  call: ActorCall & { readonly query: { readonly at?: string; readonly filter?: string } },
  { format, network_id, type, limit, offset }: AskedWithheld,
): Response | Promise<Response> {
  const { reader } = backend;
  const { at, asked } = readAt(reader, call);
  return readingAt(backend, at, (asOf) => {
    const input: WithheldInput = {
      actor: plainActor(call.actor),
      networkId: network_id ?? null,
      types: type ?? WITHHELD_TYPES,
      filter: filterText(call, reader, asked),
      sequence: (asOf ?? reader.head()).sequence,
      limit: limit ?? LIMIT_DEFAULT,
      offset: offset ?? 0,
      asked,
      format,
      ...(asOf?.thinned === undefined ? {} : { thinned: asOf.thinned }),
    };
    return format === "csv"
      ? answerLongRead(backend, call, withheld, input, tableHeaders(call, "withheld", asOf, asked))
      : answerLongRead(backend, call, withheld, input);
  });
}
