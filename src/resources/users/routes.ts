// /api/v1/users: the people of the caller's organization. One's own password is changed under /api/auth.

import { Type, type Static } from "@sinclair/typebox";
import { ADMIN, VIEWER, type Access, type Actor } from "../../access/actor.ts";
import { hashPassword } from "../../access/password.ts";
import { AtQuery, BulkIds, CascadeQuery, IdParams, IdsQuery, PageQuery } from "../../http/schemas.ts";
import { schemaColumns } from "../../http/csv.ts";
import type { Surface } from "../../http/surface.ts";
import {
  answerBulkRemoval,
  answerCsv,
  answerList,
  answerRecord,
  answerRemoval,
  answerWrite,
  csvAnswer,
  type Inventory,
  type ListOptions,
} from "../answers.ts";
import { orderQuery, orderTerms } from "../ordering.ts";
import { composeUsers } from "./user-view.ts";
import { User, USER_EXAMPLE, USER_KEYED_FIELDS, USER_ORDER_FIELDS, UserCreate, userKind, UserUpdate } from "./user.ts";

const filters = { ...IdsQuery, ...orderQuery(USER_ORDER_FIELDS) };
const List = Type.Object({ ...filters, ...PageQuery });
const Export = Type.Object({ ...filters, ...AtQuery });
const At = Type.Object(AtQuery);
const Cascade = Type.Object(CascadeQuery);
const group = "Users";
const example = { data: USER_EXAMPLE };
const body = {
  email: USER_EXAMPLE.email,
  name: USER_EXAMPLE.name,
  role: "Member",
  network_ids: USER_EXAMPLE.network_ids,
};
const password = "a phrase of their own";

/** What list and export are of. */
function listed(query: Static<typeof Export>): ListOptions {
  return { kind: userKind, order: orderTerms(query, USER_KEYED_FIELDS), compose: composeUsers };
}

/** /api/v1/users. */
export function userRoutes(surface: Surface<Actor, Access>, inventory: Inventory): void {
  surface
    .get(
      "/api/v1/users",
      {
        operationId: "listUsers",
        summary: "List users",
        description: "`network_ids` names the networks that the caller reaches as well.",
        group,
        access: VIEWER,
        query: List,
        answer: Type.Array(User),
        isList: true,
        example: { data: [USER_EXAMPLE] },
      },
      (call) => answerList(inventory, call, listed(call.query)),
    )
    .get(
      "/api/v1/users/export/csv",
      {
        operationId: "exportUsers",
        summary: "Export users as CSV",
        group,
        access: VIEWER,
        query: Export,
        ...csvAnswer("users", schemaColumns(User), USER_EXAMPLE),
      },
      (call) => answerCsv(inventory, call, listed(call.query)),
    )
    .post(
      "/api/v1/users",
      {
        operationId: "createUser",
        summary: "Create a user",
        description: "With a role up to the caller's own.",
        group,
        access: ADMIN,
        body: UserCreate,
        answer: User,
        errors: ["entity_reference_invalid", "entity_access_denied", "entity_already_exists"],
        example: { ...example, body: { id: USER_EXAMPLE.id, ...body, password } },
      },
      async (call) => {
        const { password, ...body } = call.body;
        return answerWrite(
          inventory,
          call,
          "user.create",
          { body, passwordHash: await hashPassword(password) },
          userKind,
          composeUsers,
        );
      },
    )
    .get(
      "/api/v1/users/:id",
      {
        operationId: "getUser",
        summary: "Get a user",
        group,
        access: VIEWER,
        params: IdParams,
        query: At,
        answer: User,
        example,
      },
      (call) => answerRecord(inventory, call, userKind, composeUsers),
    )
    .put(
      "/api/v1/users/:id",
      {
        operationId: "updateUser",
        summary: "Update, disable or enable a user",
        description:
          "Neither the user's role nor the new one may be above the caller's own. Disabling ends the user's sessions and stops the user's API keys; a new password ends the sessions.",
        group,
        access: ADMIN,
        params: IdParams,
        body: UserUpdate,
        answer: User,
        errors: [
          "validation_id_mismatch",
          "entity_reference_invalid",
          "entity_access_denied",
          "entity_already_exists",
          "entity_in_use",
        ],
        example: { ...example, body: { ...body, is_enabled: false } },
      },
      async (call) => {
        const { password, ...body } = call.body;
        const passwordHash = password === undefined ? null : await hashPassword(password);
        return answerWrite(
          inventory,
          call,
          "user.update",
          { id: call.params.id, body, passwordHash },
          userKind,
          composeUsers,
        );
      },
    )
    .delete(
      "/api/v1/users/:id",
      {
        operationId: "deleteUser",
        summary: "Delete a user with the user's API keys",
        description:
          "The user's role may not be above the caller's own, and the organization's only Owner who can sign in stays. The user's sessions end. History goes on naming the user. `cascade` changes nothing.",
        group,
        access: ADMIN,
        params: IdParams,
        query: Cascade,
        answer: User,
        errors: ["entity_access_denied", "entity_in_use"],
        example,
      },
      (call) => answerRemoval(inventory, call, "user.delete", {}, userKind, composeUsers),
    )
    .post(
      "/api/v1/users/bulk-delete",
      {
        operationId: "deleteUsers",
        summary: "Delete many users with their API keys, all or none",
        description: "`cascade` changes nothing.",
        group,
        access: ADMIN,
        query: Cascade,
        body: BulkIds,
        answer: Type.Array(User),
        errors: ["entity_reference_invalid", "entity_access_denied", "entity_in_use"],
        example: { data: [USER_EXAMPLE], body: [USER_EXAMPLE.id] },
      },
      (call) => answerBulkRemoval(inventory, call, "user.bulk_delete", { cascade: false }, userKind, composeUsers),
    );
}
