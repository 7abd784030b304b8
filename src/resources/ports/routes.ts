// /api/v1/ports (specification 2.6)

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
import { Port, PORT_EXAMPLE, PORT_ORDER_FIELDS, PortCreate, portKind, PortUpdate } from "./port.ts";

const filters = {
  host_id: Type.Optional(Uuid),
  network_id: Type.Optional(Uuid),
  ...IdsQuery,
  ...orderQuery(PORT_ORDER_FIELDS),
};
const List = Type.Object({ ...filters, ...PageQuery });
const Export = Type.Object({ ...filters, ...AtQuery });
const At = Type.Object(AtQuery);
const Cascade = Type.Object(CascadeQuery);
const group = "Ports";
const example = { data: PORT_EXAMPLE };
const body = { host_id: PORT_EXAMPLE.host_id, number: 443, protocol: "Tcp" };
const writeErrors = ["entity_reference_invalid", "entity_access_denied", "entity_already_exists"] as const;

/** What list and export are of. */
function listed(query: Static<typeof Export>): ListOptions {
  return { kind: portKind, within: { host: query.host_id, network: query.network_id }, order: orderTerms(query, []) };
}

/** /api/v1/ports. */
export function portRoutes(surface: Surface<Actor, Access>, inventory: Inventory): void {
  surface
    .get(
      "/api/v1/ports",
      {
        operationId: "listPorts",
        summary: "List ports",
        group,
        access: VIEWER,
        query: List,
        answer: Type.Array(Port),
        isList: true,
        example: { data: [PORT_EXAMPLE] },
      },
      (call) => answerList(inventory, call, listed(call.query)),
    )
    .get(
      "/api/v1/ports/export/csv",
      {
        operationId: "exportPorts",
        summary: "Export ports as CSV",
        group,
        access: VIEWER,
        query: Export,
        ...csvAnswer("ports", schemaColumns(Port), PORT_EXAMPLE),
      },
      (call) => answerCsv(inventory, call, listed(call.query)),
    )
    .post(
      "/api/v1/ports",
      {
        operationId: "createPort",
        summary: "Create a port",
        group,
        access: MEMBER,
        body: PortCreate,
        answer: Port,
        errors: writeErrors,
        example: { ...example, body: { id: PORT_EXAMPLE.id, ...body } },
      },
      (call) => answerWrite(inventory, call, "port.create", { body: call.body }, portKind),
    )
    .get(
      "/api/v1/ports/:id",
      {
        operationId: "getPort",
        summary: "Get a port",
        group,
        access: VIEWER,
        params: IdParams,
        query: At,
        answer: Port,
        example,
      },
      (call) => answerRecord(inventory, call, portKind),
    )
    .put(
      "/api/v1/ports/:id",
      {
        operationId: "updatePort",
        summary: "Update a port",
        group,
        access: MEMBER,
        params: IdParams,
        body: PortUpdate,
        answer: Port,
        errors: ["validation_id_mismatch", "entity_access_denied", "entity_already_exists"],
        example: { ...example, body },
      },
      (call) => answerWrite(inventory, call, "port.update", { id: call.params.id, body: call.body }, portKind),
    )
    .delete(
      "/api/v1/ports/:id",
      {
        operationId: "deletePort",
        summary: "Delete a port",
        group,
        access: MEMBER,
        params: IdParams,
        query: Cascade,
        answer: Port,
        example,
      },
      (call) => answerRemoval(inventory, call, "port.delete", { cascade: call.query.cascade ?? false }, portKind),
    )
    .post(
      "/api/v1/ports/bulk-delete",
      {
        operationId: "deletePorts",
        summary: "Delete many ports, all or none",
        group,
        access: MEMBER,
        query: Cascade,
        body: BulkIds,
        answer: Type.Array(Port),
        errors: ["entity_reference_invalid"],
        example: { data: [PORT_EXAMPLE], body: [PORT_EXAMPLE.id] },
      },
      (call) =>
        answerBulkRemoval(inventory, call, "port.bulk_delete", { cascade: call.query.cascade ?? false }, portKind),
    );
}
