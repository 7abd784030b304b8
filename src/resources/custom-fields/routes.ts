// Routes of /api/v1/custom-fields.

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
import type { CustomFieldCommands } from "./commands.ts";
import { CustomFieldCreate, CustomFieldUpdate, customFieldKind } from "./custom-field.ts";
import { customFieldResource } from "./resource.ts";

const filters = {
  ...IdsQuery,
  ...searchQuery("the field's key, or a word of its label or description"),
  ...orderQuery(customFieldKind, ["created_at", "key", "label", "type", "required", "updated_at"]),
};
const operations = standardOperations(customFieldResource, filters);
const body = {
  key: "support_until",
  label: "Support until",
  kinds: ["host"],
  type: "date",
  required: false,
  default: null,
};

const CLEARED =
  "With `cascade`, records that have a value lose it in the same transaction, each with a version of its own. A caller limited to some networks can do this only if all of them are in those.";

const listed = listing(customFieldResource, filters, {});

/** /api/v1/custom-fields. */
export function customFieldRoutes(surface: Surface<Actor, Access>, backend: Backend<CustomFieldCommands>): void {
  surface
    .get("/api/v1/custom-fields", operations.list(), (call) => answerList(backend, call, listed(call.query)))
    .get("/api/v1/custom-fields/export/csv", operations.table(), (call) => answerCsv(backend, call, listed(call.query)))
    .post(
      "/api/v1/custom-fields",
      operations.create(CustomFieldCreate, body, { errors: ["entity_access_denied", "entity_already_exists"] }),
      (call) => answerWrite(backend, call, "custom_field.create", { body: call.body }, customFieldResource),
    )
    .get("/api/v1/custom-fields/:id", operations.get(), (call) => answerRecord(backend, call, customFieldResource))
    .put(
      "/api/v1/custom-fields/:id",
      operations.update(CustomFieldUpdate, body, {
        description:
          "The key never changes. The type, a kind and a choice stay as long as records have values of them. A caller limited to some networks can change these, and the choices, only if every record with a value is in those.",
        errors: ["validation_id_mismatch", "entity_access_denied", "entity_in_use"],
      }),
      (call) =>
        answerWrite(backend, call, "custom_field.update", { id: call.params.id, body: call.body }, customFieldResource),
    )
    .delete(
      "/api/v1/custom-fields/:id",
      operations.remove({ description: CLEARED, errors: ["entity_in_use", "entity_access_denied"] }),
      (call) => answerRemoval(backend, call, "custom_field.delete", customFieldResource),
    )
    .post(
      "/api/v1/custom-fields/bulk-delete",
      operations.removeMany({ description: CLEARED, errors: ["entity_in_use", "entity_access_denied"] }),
      (call) => answerBulkRemoval(backend, call, "custom_field.bulk_delete", customFieldResource),
    );
}
