// Routes of /api/v1/users: users of the caller's organization. Callers change their own password under /api/auth.

import type { Access, Actor } from "../../access/actor.ts";
import { hashPassword } from "../../access/password.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { answerCsv } from "../../records/csv-answers.ts";
import { answerList } from "../../records/list-answers.ts";
import { listing } from "../../records/listing.ts";
import { answerRecord } from "../../records/record-answers.ts";
import { standardOperations } from "../../records/standard-operations.ts";
import { answerBulkRemoval, answerRemoval, answerWrite } from "../../records/write-answers.ts";
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
const operations = standardOperations(userResource, filters);
const body = {
  email: USER_EXAMPLE.email,
  name: USER_EXAMPLE.name,
  role: "Member",
  network_ids: USER_EXAMPLE.network_ids,
};
const password = "a phrase of their own";

const listed = listing(userResource, filters, {});

/** /api/v1/users. */
export function userRoutes(surface: Surface<Actor, Access>, backend: Backend<UserCommands>): void {
  surface
    .get(
      "/api/v1/users",
      operations.list({ description: "`network_ids` lists only networks that the caller reaches too." }),
      (call) => answerList(backend, call, listed(call.query)),
    )
    .get("/api/v1/users/export/csv", operations.table(), (call) => answerCsv(backend, call, listed(call.query)))
    .post(
      "/api/v1/users",
      operations.create(
        UserCreate,
        { ...body, password },
        { description: "The role can be at most the caller's own." },
      ),
      async (call) => {
        const { password, ...body } = call.body;
        return answerWrite(
          backend,
          call,
          "user.create",
          { body, passwordHash: await hashPassword(password, body.email) },
          userResource,
        );
      },
    )
    .get("/api/v1/users/:id", operations.get(), (call) => answerRecord(backend, call, userResource))
    .put(
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
        return answerWrite(backend, call, "user.update", { id: call.params.id, body, passwordHash }, userResource);
      },
    )
    .delete(
      "/api/v1/users/:id",
      operations.remove({
        summary: "Delete a user with the user's API keys",
        description:
          "The user's role cannot be above the caller's own. The organization's only Owner who can sign in cannot be deleted. The user's sessions end. History keeps the user's name. `cascade` has no effect.",
        errors: ["entity_access_denied", "entity_in_use"],
      }),
      (call) => answerRemoval(backend, call, "user.delete", userResource),
    )
    .post(
      "/api/v1/users/bulk-delete",
      operations.removeMany({
        summary: "Delete many users with their API keys, all or none",
        description: "`cascade` has no effect.",
        errors: ["entity_access_denied", "entity_in_use"],
      }),
      (call) => answerBulkRemoval(backend, call, "user.bulk_delete", userResource),
    );
}
