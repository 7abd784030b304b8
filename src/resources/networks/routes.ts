// Routes for /api/v1/networks.

import type { Access, Actor } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { standardRoutes } from "../../records/standard-operations.ts";
import { IdsQuery } from "../../schemas/schemas.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { NetworkCommands } from "./commands.ts";
import { NetworkCreate, NetworkUpdate, networkKind } from "./network.ts";
import { networkResource } from "./resource.ts";

const filters = {
  ...IdsQuery,
  ...searchQuery("a word of the network's name or description"),
  ...orderQuery(networkKind, ["created_at", "name", "stale_after_hours", "updated_at"]),
};
const body = { name: "Campus South", stale_after_hours: 168 };

const { routesOn } = standardRoutes(networkResource, filters, {});

/** /api/v1/networks. */
export function networkRoutes(surface: Surface<Actor, Access>, backend: Backend<NetworkCommands>): void {
  const routes = routesOn(surface, backend, "network");
  routes.lists();
  routes.create(NetworkCreate, body);
  routes.get();
  routes.update(NetworkUpdate, body);
  routes.removals({ errors: ["entity_in_use"] });
}
