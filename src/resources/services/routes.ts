// Routes for /api/v1/services.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { standardRoutes } from "../../records/standard-operations.ts";
import { IdsQuery, Uuid } from "../../schemas/schemas.ts";
import { IP_ADDRESS_EXAMPLE } from "../ip-addresses/ip-address.ts";
import { ALL_ISSUES } from "../issues.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { ServiceCommands } from "./commands.ts";
import { serviceResource } from "./resource.ts";
import { SERVICE_DEFINITION_MAX_LENGTH, serviceKind } from "./service.ts";
import { SERVICE_EXAMPLE, ServiceCreate, ServiceUpdate } from "./service-body.ts";

const filters = {
  host_id: Type.Optional(Uuid),
  network_id: Type.Optional(Uuid),
  ...IdsQuery,
  ...searchQuery("a word of the service's name or definition"),
  service_definition: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: SERVICE_DEFINITION_MAX_LENGTH,
      description: "Only services with exactly this definition.",
    }),
  ),
  ...orderQuery(
    serviceKind,
    ["created_at", "name", "service_definition", "position", "host_id", "network_id", "last_seen_at", "updated_at"],
    true,
  ),
};
const body = {
  host_id: SERVICE_EXAMPLE.host_id,
  name: "Web shop",
  service_definition: "nginx",
  bindings: [{ type: "IpAddress", ip_address_id: IP_ADDRESS_EXAMPLE.id }],
};

const { routesOn } = standardRoutes(serviceResource, filters, {
  host_id: { within: "host" },
  network_id: { within: "network" },
  service_definition: { equals: "service_definition" },
});

/** /api/v1/services. */
export function serviceRoutes(surface: Surface<Actor, Access>, backend: Backend<ServiceCommands>): void {
  const routes = routesOn(surface, backend, "service");
  routes.lists({ summary: "List services with their bindings" });
  routes.create(ServiceCreate, body, {
    summary: "Create a service with its bindings",
    description: ALL_ISSUES,
    acceptsRawBody: true,
  });
  routes.get({ summary: "Get a service with its bindings" });
  routes.update(ServiceUpdate, body, {
    summary: "Update a service with its bindings",
    description: `Syncs the bindings to the given list; null or omitted: unchanged. ${ALL_ISSUES}`,
    acceptsRawBody: true,
  });
  routes.removals(
    { summary: "Delete a service with its bindings" },
    { summary: "Delete many services with their bindings atomically" },
  );
}
