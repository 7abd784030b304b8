// Routes for /api/v1/bindings.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { standardRoutes } from "../../records/standard-operations.ts";
import { IdsQuery, Uuid } from "../../schemas/schemas.ts";
import { ALL_ISSUES } from "../issues.ts";
import { BINDING_EXAMPLE, BindingCreate, BindingUpdate } from "./binding.ts";
import type { BindingCommands } from "./commands.ts";
import { bindingResource } from "./resource.ts";

const filters = {
  host_id: Type.Optional(Uuid),
  network_id: Type.Optional(Uuid),
  service_id: Type.Optional(Type.String({ ...Uuid, description: "Only bindings of this service." })),
  ...IdsQuery,
};
const body = { service_id: BINDING_EXAMPLE.service_id, type: "Port", port_id: BINDING_EXAMPLE.port_id };

const { routesOn } = standardRoutes(bindingResource, filters, {
  host_id: { within: "host" },
  network_id: { within: "network" },
  service_id: { within: "service" },
});

/** /api/v1/bindings. */
export function bindingRoutes(surface: Surface<Actor, Access>, backend: Backend<BindingCommands>): void {
  const routes = routesOn(surface, backend, "binding");
  routes.lists();
  routes.create(BindingCreate, body, { description: ALL_ISSUES });
  routes.get();
  routes.update(BindingUpdate, body, { description: ALL_ISSUES });
  routes.removals();
}
