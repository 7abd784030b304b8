// Routes for /api/v1/conflicts: exclusive values claimed by several records.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, MEMBER } from "../../access/actor.ts";
import { EDGE_PORT } from "../../history/edge-ports.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { runWrite } from "../../records/write-responses.ts";
import { Acceptance, AcceptanceCreate, CONFLICT_TYPES } from "../../resources/conflict-acceptances/acceptance.ts";
import { successResponse } from "../../schemas/envelope.ts";
import { IdParams, OneOf, QueryList, Uuid } from "../../schemas/schemas.ts";
import { computedList } from "../computed-list-responses.ts";
import type { ConflictCommands } from "./commands.ts";
import { ACCEPTANCE_EXAMPLE, CONFLICT_EXAMPLE, ConflictBody } from "./conflict-schema.ts";
import { CONFLICT_COLUMNS, CONFLICT_ROWS_EXAMPLE } from "./conflict-table.ts";
import { conflicts } from "./conflicts.ts";

const selectionQuery = {
  network_id: Type.Optional({ ...Uuid, description: "Only conflicts with a party in this network." }),
  type: Type.Optional(QueryList(OneOf(CONFLICT_TYPES), { description: "Only conflicts of these types." })),
  accepted: Type.Optional(Type.Boolean({ description: "true: only accepted conflicts. false: only unaccepted ones." })),
};

const DESCRIPTION = `Exclusive values claimed by several records, now or \`at\` a timestamp; ordered by type and value.

- **Address**: one address on several hosts of a network. A public address counts across networks as well; a private one may be in each of them. Not in conflict are loopback, link-local and multicast addresses; addresses in subnets of type Loopback, DockerBridge and PodmanBridge, and on bridges within a machine (Docker, libvirt); addresses with the MAC address of a virtual router (VRRP, HSRP, GLBP, CARP), also if only neighbor tables have it there; addresses with one MAC address on all hosts (a cluster, an anycast gateway), or with another one in all neighbor tables than the hosts report; addresses that several devices with other addresses have on the same VLAN interface, if no other device hears one of them; and stale addresses and hosts, if another host has the address.
- **Mac**: one MAC address at several edge ports of a network. ${EDGE_PORT} Uplinks do not count; nor do group addresses, those of virtual routers, and ports of a switch that neighbor tables or sweeps had seen and none sees any longer.
- **Subnet**: a subnet that equals one of another network, or is inside it; private prefixes too. A subnet inside another one of its own network is a child and does not conflict. Subnets of type Internet, Remote, Container, Loopback, DockerBridge and PodmanBridge do not count, nor those that devices have only on bridges within a machine.

Only networks that the caller reaches count; conflicts with records outside them are not listed. A conflict can be accepted; it then has an \`acceptance\`, until that is withdrawn or the parties change. A shared prefix stays accepted when another network joins.`;

const conflictList = computedList({
  name: "Conflicts",
  words: "addresses, MAC addresses and subnets in conflict",
  description: DESCRIPTION,
  tableDescription:
    "All pages of the list: one row for each party (host, port or subnet), with its device and its network by name; rows of one conflict share a fingerprint.",
  group: "Questions",
  selectionQuery,
  row: ConflictBody,
  example: CONFLICT_EXAMPLE,
  columns: CONFLICT_COLUMNS,
  tableExample: CONFLICT_ROWS_EXAMPLE,
  read: conflicts,
  parametersOf: ({ type, accepted }) => ({ types: type ?? CONFLICT_TYPES, isAccepted: accepted ?? null }),
});

/** /api/v1/conflicts. */
export function conflictRoutes(surface: Surface<Actor, Access>, backend: Backend<ConflictCommands>): void {
  surface
    .get("/api/v1/conflicts", conflictList.list, (call) => conflictList.respond(backend, call, "json"))
    .get("/api/v1/conflicts/export/csv", conflictList.table, (call) => conflictList.respond(backend, call, "csv"));
  acceptanceRoutes(surface, backend);
}

function acceptanceRoutes(surface: Surface<Actor, Access>, backend: Backend<ConflictCommands>): void {
  const { type, value, fingerprint, reason } = ACCEPTANCE_EXAMPLE;
  surface
    .post(
      "/api/v1/conflicts/acceptances",
      {
        operationId: "acceptConflict",
        writesNoTransaction: true,
        summary: "Accept a conflict",
        description:
          "Identified by `type`, `value` and `fingerprint`, as in the list of conflicts. The acceptance applies to all callers who see the same conflict, as long as its parties stay the same. A conflict that is already accepted stays accepted.",
        group: "Questions",
        access: MEMBER,
        body: AcceptanceCreate,
        responseSchema: Acceptance,
        errors: ["entity_stale"],
        example: { body: { type, value, fingerprint, reason }, data: ACCEPTANCE_EXAMPLE },
      },
      async (call) => {
        const { result } = await runWrite(backend, call, "conflict.accept", { body: call.body });
        return successResponse(call, JSON.stringify(result));
      },
    )
    .delete(
      "/api/v1/conflicts/acceptances/:id",
      {
        operationId: "withdrawConflictAcceptance",
        writesNoTransaction: true,
        summary: "Reopen an accepted conflict",
        description:
          "Withdraws the acceptance: the conflict is listed as unaccepted again; at earlier timestamps it stays accepted. Requires access to all of its networks. Returns the former acceptance.",
        group: "Questions",
        access: MEMBER,
        params: IdParams,
        responseSchema: Acceptance,
        example: { data: ACCEPTANCE_EXAMPLE },
      },
      async (call) => {
        const { result } = await runWrite(backend, call, "conflict.withdraw_acceptance", { id: call.params.id });
        return successResponse(call, JSON.stringify(result));
      },
    );
}
