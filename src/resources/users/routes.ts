// Routes for /api/v1/users: users of the caller's organization. Callers change their own password under /api/auth.

import type { Access, Actor } from "../../access/actor.ts";
import { hashPassword } from "../../access/password.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { standardRoutes } from "../../records/standard-operations.ts";
import { respondWithWrite } from "../../records/write-responses.ts";
import { IdsQuery } from "../../schemas/schemas.ts";
import { orderQuery } from "../ordering.ts";
import { searchQuery } from "../searching.ts";
import type { UserCommands } from "./commands.ts";
import { userResource } from "./resource.ts";
import { USER_EXAMPLE, UserCreate, UserUpdate, userKind } from "./user.ts";

const filters = {
  ...IdsQuery,
  ...searchQuery("a word of the user's name or e-mail address"),
  ...orderQuery(userKind, ["created_at", "name", "email", "role", "last_login", "updated_at"]),
};
const body = {
  email: USER_EXAMPLE.email,
  name: USER_EXAMPLE.name,
  role: "Member",
  network_ids: USER_EXAMPLE.network_ids,
};
const password = "a phrase of their own";

const { operations, routesOn } = standardRoutes(userResource, filters, {});

/** /api/v1/users. */
export function userRoutes(surface: Surface<Actor, Access>, backend: Backend<UserCommands>): void {
  const routes = routesOn(surface, backend, "user");
  routes.lists({ description: "`network_ids` lists only networks that the caller reaches too." });
  surface.post(
    "/api/v1/users",
    operations.create(UserCreate, { ...body, password }, { description: "The role can be at most the caller's own." }),
    async (call) => {
      const { password, ...body } = call.body;
      const passwordHash = await hashPassword(password, body.email);
      return respondWithWrite(backend, call, "user.create", { body, passwordHash }, userResource);
    },
  );
  routes.get();
  surface.put(
    "/api/v1/users/:id",
    operations.update(
      UserUpdate,
      { ...body, is_enabled: false },
      {
        summary: "Update, disable or enable a user",
        description:
          "Neither the old nor the new role can be above the caller's own. Disabling ends the user's sessions and stops the user's API keys; a new password ends the sessions.",
        errors: [
          "validation_id_mismatch",
          "entity_reference_invalid",
          "entity_access_denied",
          "entity_already_exists",
          "entity_in_use",
        ],
      },
    ),
    async (call) => {
      const { password, ...body } = call.body;
      const passwordHash = password === undefined ? null : await hashPassword(password, body.email);
      return respondWithWrite(backend, call, "user.update", { id: call.params.id, body, passwordHash }, userResource);
    },
  );
  const errors = ["entity_access_denied", "entity_in_use"] as const;
  routes.removals(
    {
      summary: "Delete a user with the user's API keys",
      description:
        "The user's role cannot be above the caller's own. The organization's only Owner who can sign in cannot be deleted. The user's sessions end. History keeps the user's name. `cascade` has no effect.",
      errors,
    },
    { summary: "Delete many users with their API keys atomically", description: "`cascade` has no effect.", errors },
  );
}
