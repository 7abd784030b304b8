// Routes of /api/v1/tags.

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
import type { TagCommands } from "./commands.ts";
import { tagResource } from "./resource.ts";
import { TagCreate, TagUpdate, tagKind } from "./tag.ts";

const filters = {
  ...IdsQuery,
  ...searchQuery("a word of the tag's name or description"),
  ...orderQuery(tagKind, ["created_at", "name", "color", "updated_at", "is_application"]),
};
const operations = standardOperations(tagResource, filters);
const CONFINED = "A caller limited to some networks can do this only if every record with the tag is in those.";
const body = { name: "core", color: "Green", description: "", is_application: false };

const listed = listing(tagResource, filters, {});

/** /api/v1/tags. */
export function tagRoutes(surface: Surface<Actor, Access>, backend: Backend<TagCommands>): void {
  surface
    .get("/api/v1/tags", operations.list(), (call) => answerList(backend, call, listed(call.query)))
    .get("/api/v1/tags/export/csv", operations.table(), (call) => answerCsv(backend, call, listed(call.query)))
    .post(
      "/api/v1/tags",
      operations.create(TagCreate, body, { errors: ["entity_access_denied", "entity_already_exists"] }),
      (call) => answerWrite(backend, call, "tag.create", { body: call.body }, tagResource),
    )
    .get("/api/v1/tags/:id", operations.get(), (call) => answerRecord(backend, call, tagResource))
    .put(
      "/api/v1/tags/:id",
      operations.update(TagUpdate, body, {
        description: CONFINED,
        errors: ["validation_id_mismatch", "entity_access_denied", "entity_already_exists"],
      }),
      (call) => answerWrite(backend, call, "tag.update", { id: call.params.id, body: call.body }, tagResource),
    )
    .delete(
      "/api/v1/tags/:id",
      operations.remove({
        description: `Removes it from every record in the same transaction, with or without \`cascade\`. ${CONFINED}`,
        errors: ["entity_access_denied"],
      }),
      (call) => answerRemoval(backend, call, "tag.delete", tagResource),
    )
    .post(
      "/api/v1/tags/bulk-delete",
      operations.removeMany({
        description: `Removes them from every record in the same transaction, with or without \`cascade\`. ${CONFINED}`,
        errors: ["entity_access_denied"],
      }),
      (call) => answerBulkRemoval(backend, call, "tag.bulk_delete", tagResource),
    );
}
