// Routes of /api/v1/discovery/ignored.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { answerCsv } from "../../records/csv-answers.ts";
import { answerList } from "../../records/list-answers.ts";
import { listing } from "../../records/listing.ts";
import { answerRecord } from "../../records/record-answers.ts";
import { standardOperations } from "../../records/standard-operations.ts";
import { answerBulkRemoval, answerRemoval } from "../../records/write-answers.ts";
import { IdsQuery, OneOf, Uuid } from "../../schemas/schemas.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { IgnoredCommands } from "./commands.ts";
import { IGNORED_ENTITIES, ignoredKind } from "./ignored.ts";
import { ignoredResource } from "./resource.ts";

const entity = Type.Optional(OneOf(IGNORED_ENTITIES, { description: "Only entries for records of this kind." }));
const filters = {
  host_id: Type.Optional(Uuid),
  network_id: Type.Optional(Uuid),
  entity,
  ...IdsQuery,
  ...searchQuery("a word of the entry's label, or of what it is recognized by"),
  ...orderQuery(ignoredKind, ["created_at", "entity", "label", "network_id", "host_id", "updated_at"]),
};
const operations = standardOperations(ignoredResource, filters);
const description = "Lets discovery bring the record back: the next scan that finds it creates it again.";

const listed = listing(ignoredResource, filters, {
  host_id: { within: "host" },
  network_id: { within: "network" },
  entity: { equals: "entity" },
});

/** /api/v1/discovery/ignored. */
export function ignoredRoutes(surface: Surface<Actor, Access>, backend: Backend<IgnoredCommands>): void {
  surface
    .get(
      "/api/v1/discovery/ignored",
      operations.list({
        description:
          "Records that a person deleted after discovery found them, and that discovery must not bring back. The deletion creates the entry. Restoring the record, or deleting the entry, ends it.",
      }),
      (call) => answerList(backend, call, listed(call.query)),
    )
    .get("/api/v1/discovery/ignored/export/csv", operations.table(), (call) =>
      answerCsv(backend, call, listed(call.query)),
    )
    .get("/api/v1/discovery/ignored/:id", operations.get(), (call) => answerRecord(backend, call, ignoredResource))
    .delete("/api/v1/discovery/ignored/:id", operations.remove({ operationId: "liftIgnored", description }), (call) =>
      answerRemoval(backend, call, "ignored.delete", ignoredResource),
    )
    .post(
      "/api/v1/discovery/ignored/bulk-delete",
      operations.removeMany({
        operationId: "liftManyIgnored",
        description,
      }),
      (call) => answerBulkRemoval(backend, call, "ignored.bulk_delete", ignoredResource),
    );
}
