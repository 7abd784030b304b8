// Routes of /api/v1/bindings.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { answerCsv } from "../../records/csv-answers.ts";
import { answerList } from "../../records/list-answers.ts";
import { listing } from "../../records/listing.ts";
import { answerRecord } from "../../records/record-answers.ts";
import { standardOperations } from "../../records/standard-operations.ts";
import { answerBulkRemoval, answerRemoval, answerWrite } from "../../records/write-answers.ts";
import { IdsQuery, Uuid } from "../../schemas/schemas.ts";
import { ALL_ISSUES } from "../issues.ts";
import { BINDING_EXAMPLE, BindingCreate, BindingUpdate } from "./binding.ts";
import type { BindingCommands } from "./commands.ts";
import { bindingResource } from "./resource.ts";

const filters = {
  host_id: Type.Optional(Uuid),
  network_id: Type.Optional(Uuid),
  service_id: Type.Optional(Type.String({ ...Uuid, description: "Only those of this service." })),
  ...IdsQuery,
};
const operations = standardOperations(bindingResource, filters);
const body = { service_id: BINDING_EXAMPLE.service_id, type: "Port", port_id: BINDING_EXAMPLE.port_id };
const writeErrors = ["entity_reference_invalid", "entity_access_denied", "entity_already_exists"] as const;

const listed = listing(bindingResource, filters, {
  host_id: { within: "host" },
  network_id: { within: "network" },
  service_id: { within: "service" },
});

/** /api/v1/bindings. */
export function bindingRoutes(surface: Surface<Actor, Access>, backend: Backend<BindingCommands>): void {
  surface
    .get("/api/v1/bindings", operations.list(), (call) => answerList(backend, call, listed(call.query)))
    .get("/api/v1/bindings/export/csv", operations.table(), (call) => answerCsv(backend, call, listed(call.query)))
    .post(
      "/api/v1/bindings",
      operations.create(BindingCreate, body, { description: ALL_ISSUES, errors: writeErrors }),
      (call) => answerWrite(backend, call, "binding.create", { body: call.body }, bindingResource),
    )
    .get("/api/v1/bindings/:id", operations.get(), (call) => answerRecord(backend, call, bindingResource))
    .put(
      "/api/v1/bindings/:id",
      operations.update(BindingUpdate, body, {
        description: ALL_ISSUES,
        errors: ["validation_id_mismatch", ...writeErrors],
      }),
      (call) => answerWrite(backend, call, "binding.update", { id: call.params.id, body: call.body }, bindingResource),
    )
    .delete("/api/v1/bindings/:id", operations.remove(), (call) =>
      answerRemoval(backend, call, "binding.delete", bindingResource),
    )
    .post("/api/v1/bindings/bulk-delete", operations.removeMany(), (call) =>
      answerBulkRemoval(backend, call, "binding.bulk_delete", bindingResource),
    );
}
