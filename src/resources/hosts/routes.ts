// /api/v1/hosts (specification 4.2)

import { Type } from "@sinclair/typebox";
import { MEMBER, VIEWER, type Access, type Actor } from "../../access/actor.ts";
import { AtQuery, CascadeQuery, IdParams, IdsQuery, PageQuery, Uuid } from "../../http/schemas.ts";
import type { Surface } from "../../http/surface.ts";
import { answerList, answerRecord, answerRemoval, answerWrite, type Inventory } from "../answers.ts";
import { hostKind } from "./host.ts";
import { Host, HostCreate, HostUpdate } from "./host-body.ts";
import { HOST_BODY_EXAMPLE, HOST_EXAMPLE } from "./host-example.ts";
import { composeHosts } from "./host-view.ts";

const List = Type.Object({
  network_id: Type.Optional(Uuid),
  ...IdsQuery,
  ...PageQuery,
});
const At = Type.Object(AtQuery);
const Cascade = Type.Object(CascadeQuery);
const group = "Hosts";
const example = { data: HOST_EXAMPLE };
const writeErrors = ["entity_reference_invalid", "entity_access_denied", "entity_already_exists"] as const;

/** /api/v1/hosts. */
export function hostRoutes(surface: Surface<Actor, Access>, inventory: Inventory): void {
  surface
    .get("/api/v1/hosts", { operationId: "listHosts", summary: "List hosts with their children", group, access: VIEWER, query: List, answer: Type.Array(Host), isList: true, example: { data: [HOST_EXAMPLE] } }, (call) =>
      answerList(inventory, call, { kind: hostKind, within: { network: call.query.network_id }, compose: composeHosts }),
    )
    .post("/api/v1/hosts", { operationId: "createHost", summary: "Create a host with its children", group, access: MEMBER, body: HostCreate, answer: Host, errors: writeErrors, example: { ...example, body: HOST_BODY_EXAMPLE } }, (call) =>
      answerWrite(inventory, call, "host.create", { body: call.body }, hostKind, composeHosts),
    )
    .get("/api/v1/hosts/:id", { operationId: "getHost", summary: "Get a host with its children", group, access: VIEWER, params: IdParams, query: At, answer: Host, example }, (call) =>
      answerRecord(inventory, call, hostKind, composeHosts),
    )
    .put(
      "/api/v1/hosts/:id",
      {
        operationId: "updateHost",
        summary: "Update a host and make its children match",
        description:
          "Addresses, ports and services that are given replace the host's: an item with a known id updates it, one that stands for the same real thing is that record, another is created, and what is not in the list is deleted. Lists that are null or left out stay as they are. All of it happens in one transaction or not at all.",
        group,
        access: MEMBER,
        params: IdParams,
        body: HostUpdate,
        answer: Host,
        errors: ["entity_stale", "validation_id_mismatch", ...writeErrors],
        example: { ...example, body: { id: HOST_EXAMPLE.id, hidden: false, tags: [], ...withoutNetwork(HOST_BODY_EXAMPLE) } },
      },
      (call) => answerWrite(inventory, call, "host.update", { id: call.params.id, body: call.body }, hostKind, composeHosts),
    )
    .delete("/api/v1/hosts/:id", { operationId: "deleteHost", summary: "Delete a host with its children", group, access: MEMBER, params: IdParams, query: Cascade, answer: Host, errors: ["entity_in_use"], example }, (call) =>
      answerRemoval(inventory, call, "host.delete", { cascade: call.query.cascade ?? false }, hostKind, composeHosts),
    );
}

function withoutNetwork(body: typeof HOST_BODY_EXAMPLE): Omit<typeof HOST_BODY_EXAMPLE, "network_id"> {
  const { network_id: _fixed, ...rest } = body;
  return rest;
}
