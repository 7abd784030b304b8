// /api/v1/vlans

import { Type } from "@sinclair/typebox";
import { MEMBER, VIEWER, type Access, type Actor } from "../../access/actor.ts";
import { AtQuery, CascadeQuery, IdParams, IdsQuery, PageQuery, Uuid } from "../../http/schemas.ts";
import type { Surface } from "../../http/surface.ts";
import { answerList, answerRecord, answerRemoval, answerWrite, type Inventory } from "../answers.ts";
import { Vlan, VLAN_EXAMPLE, VlanCreate, vlanKind, VlanUpdate } from "./vlan.ts";

const List = Type.Object({ network_id: Type.Optional(Uuid), ...IdsQuery, ...PageQuery });
const At = Type.Object(AtQuery);
const Cascade = Type.Object(CascadeQuery);
const group = "VLANs";
const example = { data: VLAN_EXAMPLE };
const body = { network_id: VLAN_EXAMPLE.network_id, number: 120, name: "Voice" };

/** /api/v1/vlans. */
export function vlanRoutes(surface: Surface<Actor, Access>, inventory: Inventory): void {
  surface
    .get("/api/v1/vlans", { operationId: "listVlans", summary: "List VLANs", group, access: VIEWER, query: List, answer: Type.Array(Vlan), isList: true, example: { data: [VLAN_EXAMPLE] } }, (call) =>
      answerList(inventory, call, { kind: vlanKind, within: { network: call.query.network_id } }),
    )
    .post("/api/v1/vlans", { operationId: "createVlan", summary: "Create a VLAN", group, access: MEMBER, body: VlanCreate, answer: Vlan, errors: ["entity_reference_invalid", "entity_access_denied", "entity_already_exists"], example: { ...example, body } }, (call) =>
      answerWrite(inventory, call, "vlan.create", { body: call.body }, vlanKind),
    )
    .get("/api/v1/vlans/:id", { operationId: "getVlan", summary: "Get a VLAN", group, access: VIEWER, params: IdParams, query: At, answer: Vlan, example }, (call) =>
      answerRecord(inventory, call, vlanKind),
    )
    .put("/api/v1/vlans/:id", { operationId: "updateVlan", summary: "Update a VLAN", group, access: MEMBER, params: IdParams, body: VlanUpdate, answer: Vlan, errors: ["validation_id_mismatch", "entity_access_denied", "entity_already_exists"], example: { ...example, body } }, (call) =>
      answerWrite(inventory, call, "vlan.update", { id: call.params.id, body: call.body }, vlanKind),
    )
    .delete("/api/v1/vlans/:id", { operationId: "deleteVlan", summary: "Delete a VLAN", group, access: MEMBER, params: IdParams, query: Cascade, answer: Vlan, errors: ["entity_in_use"], example }, (call) =>
      answerRemoval(inventory, call, "vlan.delete", { cascade: call.query.cascade ?? false }, vlanKind),
    );
}
