// Routes of /api/v1/conflicts: exclusive values claimed by several records.

import { type Static, Type } from "@sinclair/typebox";
import { type Access, type Actor, MEMBER, VIEWER } from "../../access/actor.ts";
import { EDGE_MACS_MAX } from "../../history/edge-ports.ts";
import type { Surface } from "../../http/surface.ts";
import type { ActorCall, Backend } from "../../records/backend.ts";
import { tableMedia } from "../../records/csv-answers.ts";
import { FilterQuery } from "../../records/list-filter.ts";
import { runWrite } from "../../records/write-answers.ts";
import { Acceptance, AcceptanceCreate, CONFLICT_TYPES } from "../../resources/conflict-acceptances/acceptance.ts";
import { successBody } from "../../schemas/envelope.ts";
import { IdParams, OneOf, PageQuery, QueryList, Uuid } from "../../schemas/schemas.ts";
import { answerFoundList } from "../found-list-answers.ts";
import type { ConflictCommands } from "./commands.ts";
import { ACCEPTANCE_EXAMPLE, CONFLICT_EXAMPLE, ConflictBody } from "./conflict-answer.ts";
import { CONFLICT_COLUMNS, CONFLICT_ROWS_EXAMPLE } from "./conflict-table.ts";
import { type AskedConflicts, conflicts } from "./conflicts.ts";

const which = {
  network_id: Type.Optional({ ...Uuid, description: "Only conflicts in which something of this network takes part." }),
  type: Type.Optional(QueryList(OneOf(CONFLICT_TYPES), { description: "Only conflicts of these types." })),
  accepted: Type.Optional(
    Type.Boolean({ description: "Only conflicts that are accepted, or only those that are not." }),
  ),
  ...FilterQuery,
};
const List = Type.Object({ ...which, ...PageQuery });
const Export = Type.Object({ ...which, at: PageQuery.at });

const DESCRIPTION = `Claims by several records to something only one of them can have, now or \`at\` an instant; by type and value.

- **Address**: one address on several hosts of a network. A public address counts across networks as well; a private one may be in each of them. Loopback, link-local and multicast addresses, addresses in
  subnets of type Loopback, DockerBridge and PodmanBridge, and addresses with the MAC address of a virtual router (VRRP, HSRP, GLBP) are no conflict.
- **Mac**: one MAC address at several edge ports of a network. An edge port has no known or announced neighbor and ${EDGE_MACS_MAX} MAC addresses at most, so uplinks do not count; nor do group addresses and those of virtual routers.
- **Subnet**: a subnet that is the same as one of another network, or lies in it; private prefixes too. A subnet within another of its own network is its part and no conflict. Subnets of type Internet, Remote, Loopback, DockerBridge and PodmanBridge do not count.

Only networks that the caller reaches count; conflicts with records outside them are not listed. A conflict can be accepted; it then has an \`acceptance\`, until that is withdrawn or the parties change.`;

/** /api/v1/conflicts. */
export function conflictRoutes(surface: Surface<Actor, Access>, backend: Backend<ConflictCommands>): void {
  surface.get(
    "/api/v1/conflicts",
    {
      operationId: "listConflicts",
      summary: "List addresses, MAC addresses and subnets in conflict",
      description: DESCRIPTION,
      group: "Questions",
      access: VIEWER,
      query: List,
      answer: Type.Array(ConflictBody),
      isList: true,
      example: { data: [CONFLICT_EXAMPLE] },
    },
    (call) => answerConflicts(backend, call, "json"),
  );
  surface.get(
    "/api/v1/conflicts/export/csv",
    {
      operationId: "exportConflicts",
      summary: "Export addresses, MAC addresses and subnets in conflict as CSV",
      description:
        "All pages of the list: a row for each party (host, port or subnet), with its device and its network by name; rows of one conflict share a fingerprint.",
      group: "Questions",
      access: VIEWER,
      query: Export,
      answer: null,
      media: [tableMedia(CONFLICT_COLUMNS, CONFLICT_ROWS_EXAMPLE)],
      example: { data: null },
    },
    (call) => answerConflicts(backend, call, "csv"),
  );
  acceptanceRoutes(surface, backend);
}

function answerConflicts(
  backend: Backend,
  call: ActorCall & { readonly query: Static<typeof Export> },
  format: "json" | "csv",
): Response | Promise<Response> {
  const { type, accepted } = call.query;
  const own: AskedConflicts = { types: type ?? CONFLICT_TYPES, isAccepted: accepted ?? null };
  return answerFoundList(backend, call, format, "conflicts", conflicts, own);
}

function acceptanceRoutes(surface: Surface<Actor, Access>, backend: Backend<ConflictCommands>): void {
  const { type, value, fingerprint, reason } = ACCEPTANCE_EXAMPLE;
  surface
    .post(
      "/api/v1/conflicts/acceptances",
      {
        operationId: "acceptConflict",
        makesNoTransaction: true,
        summary: "Accept a conflict as it is",
        description:
          "By its `type`, `value` and `fingerprint`, as the list of conflicts has them. The acceptance applies to all callers who see the same conflict, as long as its parties stay the same. A conflict that is already accepted stays accepted.",
        group: "Questions",
        access: MEMBER,
        body: AcceptanceCreate,
        answer: Acceptance,
        errors: ["entity_stale"],
        example: { body: { type, value, fingerprint, reason }, data: ACCEPTANCE_EXAMPLE },
      },
      async (call) => {
        const { result } = await runWrite(backend, call, "conflict.accept", { body: call.body });
        return new Response(successBody(JSON.stringify(result)), answered(call));
      },
    )
    .delete(
      "/api/v1/conflicts/acceptances/:id",
      {
        operationId: "withdrawConflictAcceptance",
        makesNoTransaction: true,
        summary: "Withdraw the acceptance of a conflict",
        description:
          "The conflict is listed as not accepted again; earlier instants keep the acceptance. Requires reach to all of its networks. The answer is the former acceptance.",
        group: "Questions",
        access: MEMBER,
        params: IdParams,
        answer: Acceptance,
        example: { data: ACCEPTANCE_EXAMPLE },
      },
      async (call) => {
        const { result } = await runWrite(backend, call, "conflict.withdraw_acceptance", { id: call.params.id });
        return new Response(successBody(JSON.stringify(result)), answered(call));
      },
    );
}

function answered({ headers }: { readonly headers: Readonly<Record<string, string>> }): ResponseInit {
  return { headers: { ...headers, "content-type": "application/json" } };
}
