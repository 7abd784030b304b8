// /api/v1/bindings (specification 2.7)

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
import { ALL_OFFENDERS } from "../offenders.ts";
import { composeBindings } from "./binding-view.ts";
import { Binding, BINDING_EXAMPLE, BindingCreate, bindingKind, BindingUpdate } from "./binding.ts";

const filters = {
  host_id: Type.Optional(Uuid),
  network_id: Type.Optional(Uuid),
  service_id: Type.Optional(Type.String({ ...Uuid, description: "Only those of this service." })),
  ...IdsQuery,
};
const List = Type.Object({ ...filters, ...PageQuery });
const Export = Type.Object({ ...filters, ...AtQuery });
const At = Type.Object(AtQuery);
const Cascade = Type.Object(CascadeQuery);
const group = "Bindings";
const example = { data: BINDING_EXAMPLE };
const body = { service_id: BINDING_EXAMPLE.service_id, type: "Port", port_id: BINDING_EXAMPLE.port_id };
const writeErrors = ["entity_reference_invalid", "entity_access_denied", "entity_already_exists"] as const;

/** What list and export are of. */
function listed(query: Static<typeof Export>): ListOptions {
  return {
    kind: bindingKind,
    within: { host: query.host_id, network: query.network_id, service: query.service_id },
    compose: composeBindings,
  };
}

/** /api/v1/bindings. */
export function bindingRoutes(surface: Surface<Actor, Access>, inventory: Inventory): void {
  surface
    .get(
      "/api/v1/bindings",
      {
        operationId: "listBindings",
        summary: "List bindings",
        group,
        access: VIEWER,
        query: List,
        answer: Type.Array(Binding),
        isList: true,
        example: { data: [BINDING_EXAMPLE] },
      },
      (call) => answerList(inventory, call, listed(call.query)),
    )
    .get(
      "/api/v1/bindings/export/csv",
      {
        operationId: "exportBindings",
        summary: "Export bindings as CSV",
        group,
        access: VIEWER,
        query: Export,
        ...csvAnswer("bindings", schemaColumns(Binding), BINDING_EXAMPLE),
      },
      (call) => answerCsv(inventory, call, listed(call.query)),
    )
    .post(
      "/api/v1/bindings",
      {
        operationId: "createBinding",
        summary: "Create a binding",
        description: ALL_OFFENDERS,
        group,
        access: MEMBER,
        body: BindingCreate,
        answer: Binding,
        errors: writeErrors,
        example: { ...example, body: { id: BINDING_EXAMPLE.id, ...body } },
      },
      (call) => answerWrite(inventory, call, "binding.create", { body: call.body }, bindingKind, composeBindings),
    )
    .get(
      "/api/v1/bindings/:id",
      {
        operationId: "getBinding",
        summary: "Get a binding",
        group,
        access: VIEWER,
        params: IdParams,
        query: At,
        answer: Binding,
        example,
      },
      (call) => answerRecord(inventory, call, bindingKind, composeBindings),
    )
    .put(
      "/api/v1/bindings/:id",
      {
        operationId: "updateBinding",
        summary: "Update a binding",
        description: ALL_OFFENDERS,
        group,
        access: MEMBER,
        params: IdParams,
        body: BindingUpdate,
        answer: Binding,
        errors: ["validation_id_mismatch", ...writeErrors],
        example: { ...example, body },
      },
      (call) =>
        answerWrite(
          inventory,
          call,
          "binding.update",
          { id: call.params.id, body: call.body },
          bindingKind,
          composeBindings,
        ),
    )
    .delete(
      "/api/v1/bindings/:id",
      {
        operationId: "deleteBinding",
        summary: "Delete a binding",
        group,
        access: MEMBER,
        params: IdParams,
        query: Cascade,
        answer: Binding,
        example,
      },
      (call) =>
        answerRemoval(
          inventory,
          call,
          "binding.delete",
          { cascade: call.query.cascade ?? false },
          bindingKind,
          composeBindings,
        ),
    )
    .post(
      "/api/v1/bindings/bulk-delete",
      {
        operationId: "deleteBindings",
        summary: "Delete many bindings, all or none",
        group,
        access: MEMBER,
        query: Cascade,
        body: BulkIds,
        answer: Type.Array(Binding),
        errors: ["entity_reference_invalid"],
        example: { data: [BINDING_EXAMPLE], body: [BINDING_EXAMPLE.id] },
      },
      (call) =>
        answerBulkRemoval(
          inventory,
          call,
          "binding.bulk_delete",
          { cascade: call.query.cascade ?? false },
          bindingKind,
          composeBindings,
        ),
    );
}
