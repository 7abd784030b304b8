// /api/v1/networks

import { Type } from "@sinclair/typebox";
import { ADMIN, VIEWER, type Access, type Actor } from "../../access/actor.ts";
import { AtQuery, CascadeQuery, IdParams, IdsQuery, PageQuery } from "../../http/schemas.ts";
import type { Surface } from "../../http/surface.ts";
import { answerList, answerRecord, answerRemoval, answerWrite, type Inventory } from "../answers.ts";
import { composeNetworks } from "./network-view.ts";
import { Network, NETWORK_EXAMPLE, NetworkCreate, networkKind, NetworkUpdate } from "./network.ts";

const List = Type.Object({ ...IdsQuery, ...PageQuery });
const At = Type.Object(AtQuery);
const Cascade = Type.Object(CascadeQuery);
const group = "Networks";
const example = { data: NETWORK_EXAMPLE };
const body = { name: "Campus North", stale_after_hours: 168 };

/** /api/v1/networks. */
export function networkRoutes(surface: Surface<Actor, Access>, inventory: Inventory): void {
  surface
    .get("/api/v1/networks", { operationId: "listNetworks", summary: "List networks", group, access: VIEWER, query: List, answer: Type.Array(Network), isList: true, example: { data: [NETWORK_EXAMPLE] } }, (call) =>
      answerList(inventory, call, { kind: networkKind, compose: composeNetworks }),
    )
    .post("/api/v1/networks", { operationId: "createNetwork", summary: "Create a network", group, access: ADMIN, body: NetworkCreate, answer: Network, errors: ["entity_reference_invalid", "entity_access_denied", "entity_already_exists"], example: { ...example, body } }, (call) =>
      answerWrite(inventory, call, "network.create", { body: call.body }, networkKind, composeNetworks),
    )
    .get("/api/v1/networks/:id", { operationId: "getNetwork", summary: "Get a network", group, access: VIEWER, params: IdParams, query: At, answer: Network, example }, (call) =>
      answerRecord(inventory, call, networkKind, composeNetworks),
    )
    .put("/api/v1/networks/:id", { operationId: "updateNetwork", summary: "Update a network", group, access: ADMIN, params: IdParams, body: NetworkUpdate, answer: Network, errors: ["validation_id_mismatch", "entity_reference_invalid", "entity_access_denied", "entity_already_exists"], example: { ...example, body } }, (call) =>
      answerWrite(inventory, call, "network.update", { id: call.params.id, body: call.body }, networkKind, composeNetworks),
    )
    .delete("/api/v1/networks/:id", { operationId: "deleteNetwork", summary: "Delete a network", group, access: ADMIN, params: IdParams, query: Cascade, answer: Network, errors: ["entity_in_use"], example }, (call) =>
      answerRemoval(inventory, call, "network.delete", { cascade: call.query.cascade ?? false }, networkKind, composeNetworks),
    );
}
