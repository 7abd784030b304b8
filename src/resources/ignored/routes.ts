// Routes for /api/v1/discovery/ignored.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { standardRoutes } from "../../records/standard-operations.ts";
import { respondWithWrite } from "../../records/write-responses.ts";
import { Cascade, IdsQuery, OneOf, Uuid } from "../../schemas/schemas.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { IgnoredCommands } from "./commands.ts";
import { IGNORED_ENTITIES, IGNORED_EXAMPLE, IgnoredCreate, ignoredKind } from "./ignored.ts";
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

const { operations, routesOn } = standardRoutes(ignoredResource, filters, {
  host_id: { within: "host" },
  network_id: { within: "network" },
  entity: { equals: "entity" },
});

/** /api/v1/discovery/ignored. */
export function ignoredRoutes(surface: Surface<Actor, Access>, backend: Backend<IgnoredCommands>): void {
  const routes = routesOn(surface, backend, "ignored");
  routes.lists({
    description:
      "Deleted records that discovery must not re-create. A deletion with `ignore=true` creates the entry; restoring the record or deleting the entry removes it.",
  });
  const ignoring = operations.create(
    IgnoredCreate,
    {},
    {
      operationId: "ignoreRecord",
      summary: "Ignore a record",
      description:
        "Has scans ignore a record from now on, and deletes it if it still exists. A deleted record can be ignored too, while its network and host exist and nothing has taken its identity.",
      errors: ["entity_reference_invalid", "entity_already_exists", "entity_in_use"],
    },
  );
  const { entity: example, record_id } = IGNORED_EXAMPLE;
  const documented = { query: Cascade, example: { data: IGNORED_EXAMPLE, body: { entity: example, record_id } } };
  surface.post(`/api/v1/${ignoredResource.path}`, { ...ignoring, ...documented }, (call) =>
    respondWithWrite(
      backend,
      call,
      "ignored.create",
      { body: call.body, cascade: call.query.cascade },
      ignoredResource,
    ),
  );
  routes.get();
  routes.removals({ operationId: "liftIgnored", description }, { operationId: "liftManyIgnored", description });
}
