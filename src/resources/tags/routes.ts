// Routes for /api/v1/tags.

import type { Access, Actor } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { standardRoutes } from "../../records/standard-operations.ts";
import { IdsQuery } from "../../schemas/schemas.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { TagCommands } from "./commands.ts";
import { tagResource } from "./resource.ts";
import { TagCreate, TagUpdate, tagKind } from "./tag.ts";

const filters = {
  ...IdsQuery,
  ...searchQuery("a word of the tag's name or description"),
  ...orderQuery(tagKind, ["created_at", "name", "color", "updated_at", "is_application"]),
};
const CONFINED = "A caller limited to some networks can do this only if every record with the tag is in those.";
const body = { name: "core", color: "Green", description: "", is_application: false };

const { routesOn } = standardRoutes(tagResource, filters, {});

/** /api/v1/tags. */
export function tagRoutes(surface: Surface<Actor, Access>, backend: Backend<TagCommands>): void {
  const routes = routesOn(surface, backend, "tag");
  routes.lists();
  routes.create(TagCreate, body, { errors: ["entity_access_denied", "entity_already_exists"] });
  routes.get();
  routes.update(TagUpdate, body, {
    description: CONFINED,
    errors: ["validation_id_mismatch", "entity_access_denied", "entity_already_exists"],
  });
  const removal = (them: string) => ({
    description: `Removes ${them} from every record in the same transaction, with or without \`cascade\`. ${CONFINED}`,
    errors: ["entity_access_denied"] as const,
  });
  routes.removals(removal("it"), removal("them"));
}
