// Routes of /api/v1/vlans.

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
import type { VlanCommands } from "./commands.ts";
import { vlanResource } from "./resource.ts";
import { VLAN_EXAMPLE, VlanCreate, VlanUpdate, vlanKind } from "./vlan.ts";

const filters = {
  network_id: Type.Optional(Uuid),
  ...IdsQuery,
  ...searchQuery("the VLAN's number, or a word of its name or description"),
  ...orderQuery(vlanKind, ["created_at", "number", "name", "network_id", "updated_at"], true),
};
const operations = standardOperations(vlanResource, filters);
const body = { network_id: VLAN_EXAMPLE.network_id, number: 120, name: "Voice" };

const listed = listing(vlanResource, filters, { network_id: { within: "network" } });

/** /api/v1/vlans. */
export function vlanRoutes(surface: Surface<Actor, Access>, backend: Backend<VlanCommands>): void {
  surface
    .get("/api/v1/vlans", operations.list(), (call) => answerList(backend, call, listed(call.query)))
    .get("/api/v1/vlans/export/csv", operations.table(), (call) => answerCsv(backend, call, listed(call.query)))
    .post("/api/v1/vlans", operations.create(VlanCreate, body), (call) =>
      answerWrite(backend, call, "vlan.create", { body: call.body }, vlanResource),
    )
    .get("/api/v1/vlans/:id", operations.get(), (call) => answerRecord(backend, call, vlanResource))
    .put(
      "/api/v1/vlans/:id",
      operations.update(VlanUpdate, body, {
        errors: ["validation_id_mismatch", "entity_access_denied", "entity_already_exists"],
      }),
      (call) => answerWrite(backend, call, "vlan.update", { id: call.params.id, body: call.body }, vlanResource),
    )
    .delete("/api/v1/vlans/:id", operations.remove({ errors: ["entity_in_use"] }), (call) =>
      answerRemoval(backend, call, "vlan.delete", vlanResource),
    )
    .post("/api/v1/vlans/bulk-delete", operations.removeMany({ errors: ["entity_in_use"] }), (call) =>
      answerBulkRemoval(backend, call, "vlan.bulk_delete", vlanResource),
    );
}
