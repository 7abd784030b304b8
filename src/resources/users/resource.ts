// Users as a resource.

import { ADMIN, VIEWER } from "../../access/actor.ts";
import type { Resource } from "../resource.ts";
import { USER_EXAMPLE, User, type UserRecord, userKind } from "./user.ts";
import { composeUsers } from "./user-view.ts";

export const userResource: Resource<UserRecord> = {
  kind: userKind,
  path: "users",
  group: "Users",
  responseSchema: User,
  compose: composeUsers,
  example: USER_EXAMPLE,
  names: { columns: { user_id: "user_email" }, fields: ["email"], example: "noc@example.net" },
  restores: "A deleted user cannot be restored: passwords are not in the history.",
  read: VIEWER,
  write: ADMIN,
};
