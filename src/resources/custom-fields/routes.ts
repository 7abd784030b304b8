// Routes for /api/v1/custom-fields.

import type { Access, Actor } from "../../access/actor.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { standardRoutes } from "../../records/standard-operations.ts";
import { IdsQuery } from "../../schemas/schemas.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { CustomFieldCommands } from "./commands.ts";
import { CustomFieldCreate, CustomFieldUpdate, customFieldKind } from "./custom-field.ts";
import { customFieldResource } from "./resource.ts";

const filters = {
  ...IdsQuery,
  ...searchQuery("the field's key, or a word of its label or description"),
  ...orderQuery(customFieldKind, ["created_at", "key", "label", "type", "required", "updated_at"]),
};
const body = {
  key: "support_until",
  label: "Support until",
  kinds: ["host"],
  type: "date",
  required: false,
  default: null,
};

const CLEARED =
  "With `cascade`, records that have a value lose it in the same transaction, each with its own version. A caller limited to some networks can do this only if all such records are in those.";

const { routesOn } = standardRoutes(customFieldResource, filters, {});

/** /api/v1/custom-fields. */
export function customFieldRoutes(surface: Surface<Actor, Access>, backend: Backend<CustomFieldCommands>): void {
  const routes = routesOn(surface, backend, "custom_field");
  routes.lists();
  routes.create(CustomFieldCreate, body, { errors: ["entity_access_denied", "entity_already_exists"] });
  routes.get();
  routes.update(CustomFieldUpdate, body, {
    description:
      "The key never changes. The type, a kind or a choice cannot change while records have values of it. A caller limited to some networks can change these only if every record with a value is in those.",
    errors: ["validation_id_mismatch", "entity_access_denied", "entity_in_use"],
  });
  routes.removals({ description: CLEARED, errors: ["entity_in_use", "entity_access_denied"] });
}
