// Routes of /api/v1/subnets.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { answerCsv } from "../../records/csv-answers.ts";
import { answerList } from "../../records/list-answers.ts";
import { FilterQuery } from "../../records/list-filter.ts";
import { listing } from "../../records/listing.ts";
import { answerRecord } from "../../records/record-answers.ts";
import { standardOperations } from "../../records/standard-operations.ts";
import { answerBulkRemoval, answerRemoval, answerWrite } from "../../records/write-answers.ts";
import { AtQuery, IdsQuery, listQueries, Uuid } from "../../schemas/schemas.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { SubnetCommands } from "./commands.ts";
import { subnetResource } from "./resource.ts";
import { SUBNET_EXAMPLE, SubnetCreate, SubnetUpdate, subnetKind } from "./subnet.ts";
import { IncludeQuery, SubnetShown } from "./utilization.ts";

const filters = {
  network_id: Type.Optional(Uuid),
  ...IdsQuery,
  ...searchQuery("the subnet's CIDR, or a word of its name or description"),
  accepts_credentials: Type.Optional(
    Type.Boolean({ description: "Only subnets that accept credentials, or only those that do not." }),
  ),
  ...orderQuery(subnetKind, ["created_at", "name", "cidr", "subnet_type", "network_id", "vlan_id", "updated_at"], true),
};
const operations = standardOperations(subnetResource, filters);
const shown = {
  list: {
    ...operations.list(),
    query: listQueries({ ...filters, ...FilterQuery, ...IncludeQuery }).List,
    answer: Type.Array(SubnetShown),
  },
  get: { ...operations.get(), query: Type.Object({ ...AtQuery, ...IncludeQuery }), answer: SubnetShown },
};
const body = { network_id: SUBNET_EXAMPLE.network_id, cidr: "10.2.3.0/24", name: "Server room", subnet_type: "Lan" };

const listed = listing(subnetResource, filters, {
  network_id: { within: "network" },
  accepts_credentials: { equals: "accepts_credentials" },
});

/** /api/v1/subnets. */
export function subnetRoutes(surface: Surface<Actor, Access>, backend: Backend<SubnetCommands>): void {
  surface
    .get("/api/v1/subnets", shown.list, (call) => answerList(backend, call, listed(call.query)))
    .get("/api/v1/subnets/export/csv", operations.table(), (call) => answerCsv(backend, call, listed(call.query)))
    .post("/api/v1/subnets", operations.create(SubnetCreate, body), (call) =>
      answerWrite(backend, call, "subnet.create", { body: call.body }, subnetResource),
    )
    .get("/api/v1/subnets/:id", shown.get, (call) =>
      answerRecord(backend, call, subnetResource, {}, call.query.include),
    )
    .put(
      "/api/v1/subnets/:id",
      operations.update(SubnetUpdate, body, {
        errors: [
          "validation_id_mismatch",
          "entity_reference_invalid",
          "entity_access_denied",
          "entity_already_exists",
          "entity_in_use",
        ],
      }),
      (call) => answerWrite(backend, call, "subnet.update", { id: call.params.id, body: call.body }, subnetResource),
    )
    .delete("/api/v1/subnets/:id", operations.remove({ errors: ["entity_in_use"] }), (call) =>
      answerRemoval(backend, call, "subnet.delete", subnetResource),
    )
    .post("/api/v1/subnets/bulk-delete", operations.removeMany({ errors: ["entity_in_use"] }), (call) =>
      answerBulkRemoval(backend, call, "subnet.bulk_delete", subnetResource),
    );
}
