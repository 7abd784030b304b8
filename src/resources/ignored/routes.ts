// Routes of /api/v1/discovery/ignored.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { standardRoutes } from "../../records/standard-operations.ts";
import { IdsQuery, OneOf, Uuid } from "../../schemas/schemas.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { IgnoredCommands } from "./commands.ts";
import { IGNORED_ENTITIES, ignoredKind } from "./ignored.ts";
import { ignoredResource } from "./resource.ts";

const entity = Type.Optional(OneOf(IGNORED_ENTITIES, { description: "Only entries for records of this kind." }));
const filters = {
  host_id: Type.Optional(Uuid),
  network_id: Type.Optional(Uuid),
  entity,
  ...IdsQuery,
  ...searchQuery("a word of the entry's label or signs"),
  ...orderQuery(ignoredKind, ["created_at", "entity", "label", "network_id", "host_id", "updated_at"]),
};
const description = "Lets discovery re-create the record: the next scan that finds it creates it again.";

const { routesOn } = standardRoutes(ignoredResource, filters, {
  host_id: { within: "host" },
  network_id: { within: "network" },
  entity: { equals: "entity" },
});

/** /api/v1/discovery/ignored. */
export function ignoredRoutes(surface: Surface<Actor, Access>, backend: Backend<IgnoredCommands>): void {
  const routes = routesOn(surface, backend, "ignored");
  routes.lists({
    description:
      "Discovered records that a user deleted and that discovery must not re-create. The deletion creates the entry; restoring the record or deleting the entry removes it.",
  });
  routes.get();
  routes.removals({ operationId: "liftIgnored", description }, { operationId: "liftManyIgnored", description });
}
