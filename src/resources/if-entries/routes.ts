// Routes of /api/v1/if-entries.

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
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { IfEntryCommands } from "./commands.ts";
import { IF_ENTRY_EXAMPLE, IfEntryCreate, IfEntryUpdate, ifEntryKind } from "./if-entry.ts";
import { ifEntryResource } from "./resource.ts";

const filters = {
  host_id: Type.Optional(Uuid),
  network_id: Type.Optional(Uuid),
  ...IdsQuery,
  ...searchQuery(
    "a word of the interface's name, description or alias, in full or abbreviated as in `Gi1/0/7`; or its MAC address or one that the device forwards to it",
  ),
  ...orderQuery(
    ifEntryKind,
    ["created_at", "if_index", "if_descr", "if_name", "if_alias", "mac_address", "oper_status", "updated_at"],
    true,
  ),
};
const operations = standardOperations(ifEntryResource, filters);
const body = {
  host_id: IF_ENTRY_EXAMPLE.host_id,
  if_index: 1,
  if_descr: "GigabitEthernet1/0/1",
  if_type: 6,
  speed_bps: 1_000_000_000,
  admin_status: "Up",
  oper_status: "Up",
};
const updateErrors = [
  "validation_id_mismatch",
  "entity_reference_invalid",
  "entity_access_denied",
  "entity_already_exists",
] as const;

const listed = listing(ifEntryResource, filters, { host_id: { within: "host" }, network_id: { within: "network" } });

/** /api/v1/if-entries. */
export function ifEntryRoutes(surface: Surface<Actor, Access>, backend: Backend<IfEntryCommands>): void {
  surface
    .get("/api/v1/if-entries", operations.list(), (call) => answerList(backend, call, listed(call.query)))
    .get("/api/v1/if-entries/export/csv", operations.table(), (call) => answerCsv(backend, call, listed(call.query)))
    .postHandedOver("/api/v1/if-entries", operations.create(IfEntryCreate, body, { description: ALL_ISSUES }), (call) =>
      answerWrite(backend, call, "if_entry.create", { body: call.body }, ifEntryResource),
    )
    .get("/api/v1/if-entries/:id", operations.get(), (call) => answerRecord(backend, call, ifEntryResource))
    .putHandedOver(
      "/api/v1/if-entries/:id",
      operations.update(IfEntryUpdate, body, { description: ALL_ISSUES, errors: updateErrors }),
      (call) => answerWrite(backend, call, "if_entry.update", { id: call.params.id, body: call.body }, ifEntryResource),
    )
    .delete("/api/v1/if-entries/:id", operations.remove(), (call) =>
      answerRemoval(backend, call, "if_entry.delete", ifEntryResource),
    )
    .post("/api/v1/if-entries/bulk-delete", operations.removeMany(), (call) =>
      answerBulkRemoval(backend, call, "if_entry.bulk_delete", ifEntryResource),
    );
}
