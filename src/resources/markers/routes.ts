// Routes of /api/v1/markers.

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
import type { MarkerCommands } from "./commands.ts";
import { MARKER_EXAMPLE, MarkerCreate, MarkerUpdate, markerKind } from "./marker.ts";
import { markerResource } from "./resource.ts";

const filters = {
  network_id: Type.Optional(Type.String({ ...Uuid, description: "Only those of this network." })),
  ...IdsQuery,
  ...searchQuery("a word of the marker's name or description"),
  ...orderQuery(markerKind, ["created_at", "name", "at", "network_id", "updated_at"]),
};
const operations = standardOperations(markerResource, filters);
const body = { network_id: MARKER_EXAMPLE.network_id, name: MARKER_EXAMPLE.name, at: MARKER_EXAMPLE.at };

const listed = listing(markerResource, filters, { network_id: { within: "network" } });

/** /api/v1/markers. */
export function markerRoutes(surface: Surface<Actor, Access>, backend: Backend<MarkerCommands>): void {
  surface
    .get("/api/v1/markers", operations.list(), (call) => answerList(backend, call, listed(call.query)))
    .get("/api/v1/markers/export/csv", operations.table(), (call) => answerCsv(backend, call, listed(call.query)))
    .post("/api/v1/markers", operations.create(MarkerCreate, body), (call) =>
      answerWrite(backend, call, "marker.create", { body: call.body }, markerResource),
    )
    .get("/api/v1/markers/:id", operations.get(), (call) => answerRecord(backend, call, markerResource))
    .put(
      "/api/v1/markers/:id",
      operations.update(MarkerUpdate, body, {
        errors: ["validation_id_mismatch", "entity_access_denied", "entity_already_exists"],
      }),
      (call) => answerWrite(backend, call, "marker.update", { id: call.params.id, body: call.body }, markerResource),
    )
    .delete("/api/v1/markers/:id", operations.remove(), (call) =>
      answerRemoval(backend, call, "marker.delete", markerResource),
    )
    .post("/api/v1/markers/bulk-delete", operations.removeMany(), (call) =>
      answerBulkRemoval(backend, call, "marker.bulk_delete", markerResource),
    );
}
