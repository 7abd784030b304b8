// Routes of /api/v1/services.

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
import { IP_ADDRESS_EXAMPLE } from "../ip-addresses/ip-address.ts";
import { ALL_ISSUES } from "../issues.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { ServiceCommands } from "./commands.ts";
import { serviceResource } from "./resource.ts";
import { SERVICE_DEFINITION_MAX_LENGTH, serviceKind } from "./service.ts";
import { SERVICE_EXAMPLE, ServiceCreate, ServiceUpdate } from "./service-body.ts";

const filters = {
  host_id: Type.Optional(Uuid),
  network_id: Type.Optional(Uuid),
  ...IdsQuery,
  ...searchQuery("a word of the service's name or definition"),
  service_definition: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: SERVICE_DEFINITION_MAX_LENGTH,
      description: "Only services with exactly this definition.",
    }),
  ),
  ...orderQuery(
    serviceKind,
    ["created_at", "name", "service_definition", "position", "host_id", "network_id", "last_seen_at", "updated_at"],
    true,
  ),
};
const operations = standardOperations(serviceResource, filters);
const body = {
  host_id: SERVICE_EXAMPLE.host_id,
  name: "Web shop",
  service_definition: "nginx",
  bindings: [{ type: "IpAddress", ip_address_id: IP_ADDRESS_EXAMPLE.id }],
};
const writeErrors = ["entity_reference_invalid", "entity_access_denied", "entity_already_exists"] as const;

const listed = listing(serviceResource, filters, {
  host_id: { within: "host" },
  network_id: { within: "network" },
  service_definition: { equals: "service_definition" },
});

/** /api/v1/services. */
export function serviceRoutes(surface: Surface<Actor, Access>, backend: Backend<ServiceCommands>): void {
  surface
    .get("/api/v1/services", operations.list({ summary: "List services with their bindings" }), (call) =>
      answerList(backend, call, listed(call.query)),
    )
    .get("/api/v1/services/export/csv", operations.table(), (call) => answerCsv(backend, call, listed(call.query)))
    .postHandedOver(
      "/api/v1/services",
      operations.create(ServiceCreate, body, {
        summary: "Create a service with its bindings",
        description: ALL_ISSUES,
        errors: writeErrors,
      }),
      (call) => answerWrite(backend, call, "service.create", { body: call.body }, serviceResource),
    )
    .get("/api/v1/services/:id", operations.get({ summary: "Get a service with its bindings" }), (call) =>
      answerRecord(backend, call, serviceResource),
    )
    .putHandedOver(
      "/api/v1/services/:id",
      operations.update(ServiceUpdate, body, {
        summary: "Update a service with its bindings",
        description: `Syncs the bindings to the given list; null or left out: unchanged. ${ALL_ISSUES}`,
        errors: ["validation_id_mismatch", ...writeErrors],
      }),
      (call) => answerWrite(backend, call, "service.update", { id: call.params.id, body: call.body }, serviceResource),
    )
    .delete("/api/v1/services/:id", operations.remove({ summary: "Delete a service with its bindings" }), (call) =>
      answerRemoval(backend, call, "service.delete", serviceResource),
    )
    .post(
      "/api/v1/services/bulk-delete",
      operations.removeMany({ summary: "Delete many services with their bindings, all or none" }),
      (call) => answerBulkRemoval(backend, call, "service.bulk_delete", serviceResource),
    );
}
