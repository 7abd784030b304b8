// Routes for /api/v1/components.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { standardRoutes } from "../../records/standard-operations.ts";
import { IdsQuery, Uuid } from "../../schemas/schemas.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import { componentKind } from "./component.ts";
import { componentResource } from "./resource.ts";

const ORDERED_BY = ["created_at", "class", "position", "manufacturer", "model", "serial_number", "updated_at"] as const;
const filters = {
  host_id: Type.Optional(Uuid),
  network_id: Type.Optional(Uuid),
  ...IdsQuery,
  ...searchQuery("the component's serial number, model or manufacturer"),
  ...orderQuery(componentKind, ORDERED_BY),
};

const { readsOn } = standardRoutes(componentResource, filters, {
  host_id: { within: "host" },
  network_id: { within: "network" },
});

/** /api/v1/components. */
export function componentRoutes(surface: Surface<Actor, Access>, backend: Backend): void {
  const routes = readsOn(surface, backend);
  routes.lists();
  routes.get();
}
