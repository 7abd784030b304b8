// User: a person who signs in. Password hash and sessions are stored separately and never enter history.

import { type Static, Type } from "@sinclair/typebox";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { ROLES } from "../../access/role.ts";
import { foldCase, textSortKey } from "../../base/text.ts";
import { type Kind, liveColumns } from "../../db/kind.ts";
import { Body, Name, Nullable, OneOf, RECORD_READ_ONLY, recordFields, Timestamp, Uuid } from "../../schemas/schemas.ts";
import { requiredReference } from "../live-columns.ts";
import { organizations } from "../organizations/organization.ts";
import { RECORD_EXAMPLE, type RecordOf } from "../record.ts";
import { withoutListItem } from "../references.ts";
import { namesIn } from "../searching.ts";

export const EMAIL_MAX_LENGTH = 254;
export const USER_NETWORKS_MAX = 10_000;

export const users = sqliteTable("users", {
  ...liveColumns,
  organization_n: requiredReference(() => organizations.n),
  /** Case-folded. */
  email: text().notNull(),
  role: text().notNull(),
  is_enabled: integer().notNull(),
});

export const userKind: Kind<UserRecord> = {
  name: "user",
  plural: "users",
  label: (user) => user.email,
  code: 15,
  table: users,
  columns: (user) => ({ email: foldCase(user.email), role: user.role, is_enabled: user.is_enabled ? 1 : 0 }),
  scopes: {},
  references: [{ to: "network", field: "network_ids", without: withoutListItem("network_ids") }],
  links: (user) => [{ relation: "network_ids", ids: user.network_ids }],
  observed: ["last_login"],
  absent: "null",
  // One organization must not learn the history of a person in another.
  identity: (user) => `${user.organization_id}/${foldCase(user.email)}`,
  // Unique across the appliance: it alone identifies a user at sign-in.
  unique: { field: "email", value: (user) => user.email, key: (user) => foldCase(user.email), seenWithin: () => "" },
  indexedNames: namesIn<UserRecord>({ email: "Name", name: "Name" }),
  sortKeys: { name: textSortKey, email: textSortKey },
};

export const Email = Type.String({ format: "email", maxLength: EMAIL_MAX_LENGTH });
export const NetworkIds = Type.Array(Uuid, { maxItems: USER_NETWORKS_MAX });
const UserNetworkIds = Type.Array(Uuid, {
  maxItems: USER_NETWORKS_MAX,
  description:
    "The networks that a Member or Viewer reaches; empty: none. An Owner or Admin reaches every network, regardless of this list.",
});

export const User = Type.Object(
  {
    id: Uuid,
    organization_id: Uuid,
    /** As entered; compared ignoring case. */
    email: Email,
    name: Name,
    role: OneOf(ROLES),
    network_ids: UserNetworkIds,
    is_enabled: Type.Boolean(),
    last_login: Nullable(Timestamp),
    ...recordFields,
  },
  { $id: "User" },
);
export interface UserRecord extends RecordOf<typeof User> {}

const writable = {
  id: Type.Optional(Uuid),
  organization_id: Type.Optional(Uuid),
  email: Email,
  name: Type.Optional(Name),
  role: OneOf(ROLES),
  network_ids: Type.Optional(UserNetworkIds),
  is_enabled: Type.Optional(Type.Boolean()),
};
const READ_ONLY = [...RECORD_READ_ONLY, "last_login"];
/** Length in characters; the hash limits the bytes. */
export const Password = Type.String({ minLength: 10, maxLength: 1_024, writeOnly: true });

export const UserCreate = Body({ ...writable, password: Password }, { ignored: READ_ONLY });
export const UserUpdate = Body({ ...writable, password: Type.Optional(Password) }, { ignored: READ_ONLY });
export type UserCreate = Static<typeof UserCreate>;
export type UserUpdate = Static<typeof UserUpdate>;

export const USER_EXAMPLE: Static<typeof User> = {
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0009",
  organization_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0001",
  email: "night@example.net",
  name: "Night shift",
  role: "Member",
  network_ids: ["01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002"],
  is_enabled: true,
  last_login: null,
  ...RECORD_EXAMPLE,
};
