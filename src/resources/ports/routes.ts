// Routes for /api/v1/ports.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { standardRoutes } from "../../records/standard-operations.ts";
import { IdsQuery, Uuid } from "../../schemas/schemas.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { PortCommands } from "./commands.ts";
import { PORT_EXAMPLE, PortCreate, PortUpdate, portKind } from "./port.ts";
import { portResource } from "./resource.ts";

const filters = {
  host_id: Type.Optional(Uuid),
  network_id: Type.Optional(Uuid),
  ...IdsQuery,
  ...searchQuery("the port's number or type"),
  ...orderQuery(portKind, ["created_at", "number", "protocol", "type", "updated_at"]),
};
const body = { host_id: PORT_EXAMPLE.host_id, number: 443, protocol: "Tcp" };

const { routesOn } = standardRoutes(portResource, filters, {
  host_id: { within: "host" },
  network_id: { within: "network" },
});

/** /api/v1/ports. */
export function portRoutes(surface: Surface<Actor, Access>, backend: Backend<PortCommands>): void {
  const routes = routesOn(surface, backend, "port");
  routes.lists();
  routes.create(PortCreate, body);
  routes.get();
  routes.update(PortUpdate, body, {
    errors: ["validation_id_mismatch", "entity_access_denied", "entity_already_exists"],
  });
  routes.removals();
}
