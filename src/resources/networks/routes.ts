// Routes of /api/v1/networks.

import type { Access, Actor } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { answerCsv } from "../../records/csv-answers.ts";
import { answerList } from "../../records/list-answers.ts";
import { listing } from "../../records/listing.ts";
import { answerRecord } from "../../records/record-answers.ts";
import { standardOperations } from "../../records/standard-operations.ts";
import { answerBulkRemoval, answerRemoval, answerWrite } from "../../records/write-answers.ts";
import { IdsQuery } from "../../schemas/schemas.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { NetworkCommands } from "./commands.ts";
import { NetworkCreate, NetworkUpdate, networkKind } from "./network.ts";
import { networkResource } from "./resource.ts";

const filters = {
  ...IdsQuery,
  ...searchQuery("a word of the network's name or description"),
  ...orderQuery(networkKind, ["created_at", "name", "stale_after_hours", "updated_at"]),
};
const operations = standardOperations(networkResource, filters);
const body = { name: "Campus South", stale_after_hours: 168 };

const listed = listing(networkResource, filters, {});

/** /api/v1/networks. */
export function networkRoutes(surface: Surface<Actor, Access>, backend: Backend<NetworkCommands>): void {
  surface
    .get("/api/v1/networks", operations.list(), (call) => answerList(backend, call, listed(call.query)))
    .get("/api/v1/networks/export/csv", operations.table(), (call) => answerCsv(backend, call, listed(call.query)))
    .post("/api/v1/networks", operations.create(NetworkCreate, body), (call) =>
      answerWrite(backend, call, "network.create", { body: call.body }, networkResource),
    )
    .get("/api/v1/networks/:id", operations.get(), (call) => answerRecord(backend, call, networkResource))
    .put(
      "/api/v1/networks/:id",
      operations.update(NetworkUpdate, body, {
        errors: ["validation_id_mismatch", "entity_reference_invalid", "entity_access_denied", "entity_already_exists"],
      }),
      (call) => answerWrite(backend, call, "network.update", { id: call.params.id, body: call.body }, networkResource),
    )
    .delete("/api/v1/networks/:id", operations.remove({ errors: ["entity_in_use"] }), (call) =>
      answerRemoval(backend, call, "network.delete", networkResource),
    )
    .post("/api/v1/networks/bulk-delete", operations.removeMany({ errors: ["entity_in_use"] }), (call) =>
      answerBulkRemoval(backend, call, "network.bulk_delete", networkResource),
    );
}
