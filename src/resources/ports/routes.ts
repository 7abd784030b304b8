// Routes of /api/v1/ports.

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
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { PortCommands } from "./commands.ts";
import { PORT_EXAMPLE, PortCreate, PortUpdate, portKind } from "./port.ts";
import { portResource } from "./resource.ts";

const filters = {
  host_id: Type.Optional(Uuid),
  network_id: Type.Optional(Uuid),
  ...IdsQuery,
  ...searchQuery("the port's number or type"),
  ...orderQuery(portKind, ["created_at", "number", "protocol", "type", "updated_at"]),
};
const operations = standardOperations(portResource, filters);
const body = { host_id: PORT_EXAMPLE.host_id, number: 443, protocol: "Tcp" };
const writeErrors = ["entity_reference_invalid", "entity_access_denied", "entity_already_exists"] as const;

const listed = listing(portResource, filters, { host_id: { within: "host" }, network_id: { within: "network" } });

/** /api/v1/ports. */
export function portRoutes(surface: Surface<Actor, Access>, backend: Backend<PortCommands>): void {
  surface
    .get("/api/v1/ports", operations.list(), (call) => answerList(backend, call, listed(call.query)))
    .get("/api/v1/ports/export/csv", operations.table(), (call) => answerCsv(backend, call, listed(call.query)))
    .post("/api/v1/ports", operations.create(PortCreate, body, { errors: writeErrors }), (call) =>
      answerWrite(backend, call, "port.create", { body: call.body }, portResource),
    )
    .get("/api/v1/ports/:id", operations.get(), (call) => answerRecord(backend, call, portResource))
    .put(
      "/api/v1/ports/:id",
      operations.update(PortUpdate, body, {
        errors: ["validation_id_mismatch", "entity_access_denied", "entity_already_exists"],
      }),
      (call) => answerWrite(backend, call, "port.update", { id: call.params.id, body: call.body }, portResource),
    )
    .delete("/api/v1/ports/:id", operations.remove(), (call) =>
      answerRemoval(backend, call, "port.delete", portResource),
    )
    .post("/api/v1/ports/bulk-delete", operations.removeMany(), (call) =>
      answerBulkRemoval(backend, call, "port.bulk_delete", portResource),
    );
}
