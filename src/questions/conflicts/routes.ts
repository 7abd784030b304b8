// /api/v1/conflicts: what several records claim that only one of them can have.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, plainActor, VIEWER } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../inventory/backend.ts";
import { answerLongRead } from "../../inventory/long-read-answers.ts";
import { readAt, readingAt } from "../../inventory/read-instant.ts";
import { LIMIT_DEFAULT, OneOf, PageQuery, QueryList, Uuid } from "../../wire/schemas.ts";
import { EDGE_MACS_MAX } from "../summary/wandering.ts";
import { CONFLICT_TYPES } from "./conflict.ts";
import { CONFLICT_EXAMPLE, ConflictBody } from "./conflict-answer.ts";
import { type ConflictsInput, conflicts } from "./conflicts.ts";

const List = Type.Object({
  network_id: Type.Optional({ ...Uuid, description: "Only conflicts in which something of this network takes part." }),
  type: Type.Optional(QueryList(OneOf(CONFLICT_TYPES), { description: "Only conflicts of these types." })),
  ...PageQuery,
});

const DESCRIPTION = `What several records claim that only one of them can have, as of now or \`at\` an instant; by type and value.

- **Address**: one address on several hosts of a network. A public address counts across networks as well; a private one may be in each of them. Loopback, link-local and multicast addresses, addresses in
  subnets of type Loopback, DockerBridge and PodmanBridge, and addresses with the MAC address of a virtual router (VRRP, HSRP, GLBP) are no conflict.
- **Mac**: one MAC address at several edge ports of a network. An edge port has no known or announced neighbor and ${EDGE_MACS_MAX} MAC addresses at most, so uplinks do not count; nor do group addresses and those of virtual routers.
- **Subnet**: a subnet that is the same as one of another network, or lies in it; private prefixes too. A subnet within another of its own network is its part and no conflict. Subnets of type Internet, Remote, Loopback, DockerBridge and PodmanBridge do not count.

Only networks that the caller reaches count: a conflict with something beyond them is not there.`;

/** /api/v1/conflicts. */
export function conflictRoutes(surface: Surface<Actor, Access>, backend: Backend): void {
  const { reader } = backend;
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
    (call) => {
      const { network_id, type, limit, offset } = call.query;
      const { at, asked } = readAt(reader, call);
      return readingAt(backend, at, (asOf) => {
        const input: ConflictsInput = {
          actor: plainActor(call.actor),
          networkId: network_id ?? null,
          types: type ?? CONFLICT_TYPES,
          sequence: (asOf ?? reader.head()).sequence,
          limit: limit ?? LIMIT_DEFAULT,
          offset: offset ?? 0,
          asked,
          ...(asOf?.thinned === undefined ? {} : { thinned: asOf.thinned }),
        };
        return answerLongRead(backend, call, conflicts, input);
      });
    },
  );
}
