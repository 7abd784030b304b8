// Routes for /api/v1/subnets.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { FilterQuery } from "../../records/list-filter.ts";
import { respondWithRecord } from "../../records/record-responses.ts";
import { standardRoutes } from "../../records/standard-operations.ts";
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
const body = { network_id: SUBNET_EXAMPLE.network_id, cidr: "10.2.3.0/24", name: "Server room", subnet_type: "Lan" };

const { operations, routesOn } = standardRoutes(subnetResource, filters, {
  network_id: { within: "network" },
  accepts_credentials: { equals: "accepts_credentials" },
});

/** /api/v1/subnets. */
export function subnetRoutes(surface: Surface<Actor, Access>, backend: Backend<SubnetCommands>): void {
  const routes = routesOn(surface, backend, "subnet");
  routes.lists({
    query: listQueries({ ...filters, ...FilterQuery, ...IncludeQuery }).List,
    responseSchema: Type.Array(SubnetShown),
  });
  routes.create(SubnetCreate, body);
  surface.get(
    "/api/v1/subnets/:id",
    { ...operations.get(), query: Type.Object({ ...AtQuery, ...IncludeQuery }), responseSchema: SubnetShown },
    (call) => respondWithRecord(backend, call, subnetResource, {}, call.query.include),
  );
  routes.update(SubnetUpdate, body, {
    errors: [
      "validation_id_mismatch",
      "entity_reference_invalid",
      "entity_access_denied",
      "entity_already_exists",
      "entity_in_use",
    ],
  });
  routes.removals({ errors: ["entity_in_use"] });
}
