// Routes for /api/v1/markers.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { standardRoutes } from "../../records/standard-operations.ts";
import { IdsQuery, Uuid } from "../../schemas/schemas.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { MarkerCommands } from "./commands.ts";
import { MARKER_EXAMPLE, MarkerCreate, MarkerUpdate, markerKind } from "./marker.ts";
import { markerResource } from "./resource.ts";

const filters = {
  network_id: Type.Optional(Type.String({ ...Uuid, description: "Only markers of this network." })),
  ...IdsQuery,
  ...searchQuery("a word of the marker's name or description"),
  ...orderQuery(markerKind, ["created_at", "name", "at", "network_id", "updated_at"]),
};
const body = { network_id: MARKER_EXAMPLE.network_id, name: MARKER_EXAMPLE.name, at: MARKER_EXAMPLE.at };

const { routesOn } = standardRoutes(markerResource, filters, { network_id: { within: "network" } });

/** /api/v1/markers. */
export function markerRoutes(surface: Surface<Actor, Access>, backend: Backend<MarkerCommands>): void {
  const routes = routesOn(surface, backend, "marker");
  routes.lists();
  routes.create(MarkerCreate, body);
  routes.get();
  routes.update(MarkerUpdate, body, {
    errors: ["validation_id_mismatch", "entity_access_denied", "entity_already_exists"],
  });
  routes.removals();
}
