// /api/v1/vlans

import { Type, type Static } from "@sinclair/typebox";
import { MEMBER, VIEWER, type Access, type Actor } from "../../access/actor.ts";
import { AtQuery, BulkIds, CascadeQuery, IdParams, IdsQuery, PageQuery, Uuid } from "../../http/schemas.ts";
import { schemaColumns } from "../../http/csv.ts";
import type { Surface } from "../../http/surface.ts";
import {
  answerBulkRemoval,
  answerCsv,
  answerList,
  answerRecord,
  answerRemoval,
  answerWrite,
  csvAnswer,
  type Inventory,
  type ListOptions,
} from "../answers.ts";
import { orderQuery, orderTerms } from "../ordering.ts";
import { Vlan, VLAN_EXAMPLE, VLAN_KEYED_FIELDS, VLAN_ORDER_FIELDS, VlanCreate, vlanKind, VlanUpdate } from "./vlan.ts";

const filters = { network_id: Type.Optional(Uuid), ...IdsQuery, ...orderQuery(VLAN_ORDER_FIELDS) };
const List = Type.Object({ ...filters, ...PageQuery });
const Export = Type.Object({ ...filters, ...AtQuery });
const At = Type.Object(AtQuery);
const Cascade = Type.Object(CascadeQuery);
const group = "VLANs";
const example = { data: VLAN_EXAMPLE };
const body = { network_id: VLAN_EXAMPLE.network_id, number: 120, name: "Voice" };

/** What list and export are of. */
function listed(query: Static<typeof Export>): ListOptions {
  return { kind: vlanKind, within: { network: query.network_id }, order: orderTerms(query, VLAN_KEYED_FIELDS) };
}

/** /api/v1/vlans. */
export function vlanRoutes(surface: Surface<Actor, Access>, inventory: Inventory): void {
  surface
    .get(
      "/api/v1/vlans",
      {
        operationId: "listVlans",
        summary: "List VLANs",
        group,
        access: VIEWER,
        query: List,
        answer: Type.Array(Vlan),
        isList: true,
        example: { data: [VLAN_EXAMPLE] },
      },
      (call) => answerList(inventory, call, listed(call.query)),
    )
    .get(
      "/api/v1/vlans/export/csv",
      {
        operationId: "exportVlans",
        summary: "Export VLANs as CSV",
        group,
        access: VIEWER,
        query: Export,
        ...csvAnswer("VLANs", schemaColumns(Vlan), VLAN_EXAMPLE),
      },
      (call) => answerCsv(inventory, call, listed(call.query)),
    )
    .post(
      "/api/v1/vlans",
      {
        operationId: "createVlan",
        summary: "Create a VLAN",
        group,
        access: MEMBER,
        body: VlanCreate,
        answer: Vlan,
        errors: ["entity_reference_invalid", "entity_access_denied", "entity_already_exists"],
        example: { ...example, body: { id: VLAN_EXAMPLE.id, ...body } },
      },
      (call) => answerWrite(inventory, call, "vlan.create", { body: call.body }, vlanKind),
    )
    .get(
      "/api/v1/vlans/:id",
      {
        operationId: "getVlan",
        summary: "Get a VLAN",
        group,
        access: VIEWER,
        params: IdParams,
        query: At,
        answer: Vlan,
        example,
      },
      (call) => answerRecord(inventory, call, vlanKind),
    )
    .put(
      "/api/v1/vlans/:id",
      {
        operationId: "updateVlan",
        summary: "Update a VLAN",
        group,
        access: MEMBER,
        params: IdParams,
        body: VlanUpdate,
        answer: Vlan,
        errors: ["validation_id_mismatch", "entity_access_denied", "entity_already_exists"],
        example: { ...example, body },
      },
      (call) => answerWrite(inventory, call, "vlan.update", { id: call.params.id, body: call.body }, vlanKind),
    )
    .delete(
      "/api/v1/vlans/:id",
      {
        operationId: "deleteVlan",
        summary: "Delete a VLAN",
        group,
        access: MEMBER,
        params: IdParams,
        query: Cascade,
        answer: Vlan,
        errors: ["entity_in_use"],
        example,
      },
      (call) => answerRemoval(inventory, call, "vlan.delete", { cascade: call.query.cascade ?? false }, vlanKind),
    )
    .post(
      "/api/v1/vlans/bulk-delete",
      {
        operationId: "deleteVlans",
        summary: "Delete many VLANs, all or none",
        group,
        access: MEMBER,
        query: Cascade,
        body: BulkIds,
        answer: Type.Array(Vlan),
        errors: ["entity_reference_invalid", "entity_in_use"],
        example: { data: [VLAN_EXAMPLE], body: [VLAN_EXAMPLE.id] },
      },
      (call) =>
        answerBulkRemoval(inventory, call, "vlan.bulk_delete", { cascade: call.query.cascade ?? false }, vlanKind),
    );
}
