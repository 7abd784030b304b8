// User API key: grants programs all or part of a user's permissions. Only a hash is stored, in a separate table without
// history.

import { type Static, Type } from "@sinclair/typebox";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { sourcesColumn } from "../../access/allowed-sources.ts";
import { commonNetworks, networksOfUser } from "../../access/reach.ts";
import { ROLES, type Role } from "../../access/role.ts";
import { parseInstant } from "../../base/instant.ts";
import { textSortKey } from "../../base/text.ts";
import { type Kind, liveColumns, type RecordBase } from "../../db/kind.ts";
import {
  Body,
  CidrText,
  Name,
  Nullable,
  OneOf,
  RECORD_READ_ONLY,
  recordFields,
  TagIds,
  Timestamp,
  Uuid,
} from "../../schemas/schemas.ts";
import { requiredReference } from "../live-columns.ts";
import { organizations } from "../organizations/organization.ts";
import { RECORD_EXAMPLE } from "../record.ts";
import { withoutListItem } from "../references.ts";
import { NetworkIds, type UserRecord, users } from "../users/user.ts";

export interface ApiKeyRecord extends RecordBase {
  readonly name: string;
  readonly organization_id: string;
  readonly user_id: string;
  readonly tags: readonly string[];
  readonly expires_at: string | null;
  readonly is_enabled: boolean;
  readonly permissions: Role;
  /**
   * true: follows the user's networks, including later changes. network_ids is then stored empty and computed on read.
   */
  readonly all_networks: boolean;
  readonly network_ids: readonly string[];
  /** Canonical CIDRs from which requests are allowed, in address order; null for any source. */
  readonly allowed_sources: readonly string[] | null;
  /** A mask that identifies the key and does not authenticate. */
  readonly key: string;
}

export const apiKeys = sqliteTable("api_keys", {
  ...liveColumns,
  organization_n: requiredReference(() => organizations.n),
  user_n: requiredReference(() => users.n),
  permissions: text().notNull(),
  is_enabled: integer().notNull(),
  all_networks: integer().notNull(),
  /** UTC milliseconds; null for never. */
  expires_at: integer(),
  allowed_sources: text(),
});

export const apiKeyKind: Kind<ApiKeyRecord> = {
  name: "api_key",
  plural: "api_keys",
  words: { one: "API key", many: "API keys" },
  code: 16,
  table: apiKeys,
  columns: (key) => ({
    permissions: key.permissions,
    is_enabled: key.is_enabled ? 1 : 0,
    all_networks: key.all_networks ? 1 : 0,
    expires_at: key.expires_at === null ? null : parseInstant(key.expires_at),
    allowed_sources: sourcesColumn(key.allowed_sources),
  }),
  // Visible to its user and to callers who see all keys of the organization, through a session only.
  isOutsideFeed: true,
  // Lets lists be filtered by user.
  scopes: { user: "user_id" },
  references: [
    { to: "network", field: "network_ids", without: withoutListItem("network_ids") },
    { to: "tag", field: "tags", without: withoutListItem("tags") },
    { to: "user", field: "user_id" },
  ],
  links: (key) => [
    { relation: "tags", ids: key.tags },
    { relation: "network_ids", ids: key.network_ids },
  ],
  observed: ["last_used"],
  absent: "null",
  // Every key is unique; no later key continues an earlier one.
  identity: () => null,
  unique: null,
  indexedNames: ({ name }) => [{ field: "name", value: name, as: "Name" }],
  sortKeys: { name: textSortKey },
};

/**
 * The networks that a key reaches: its own list or all of its user's networks, never more than the user reaches.
 * @param every all networks of the organization, for users with access to all of them
 */
export function networksInForce(
  key: Pick<ApiKeyRecord, "all_networks" | "network_ids">,
  user: Pick<UserRecord, "role" | "network_ids">,
  every: readonly string[],
): readonly string[] {
  const ofUser = networksOfUser(user.role, () => user.network_ids) ?? every;
  return commonNetworks(key.all_networks ? null : key.network_ids, ofUser) ?? every;
}

/** Maximum number of source blocks per key. */
export const ALLOWED_SOURCES_MAX = 100;

/** At least one block: a list emptied by mistake must not allow every source. */
export const AllowedSources = Type.Array(CidrText, { minItems: 1, maxItems: ALLOWED_SOURCES_MAX });

const writable = {
  name: Name,
  organization_id: Uuid,
  user_id: Uuid,
  tags: TagIds,
  expires_at: Type.Optional(Nullable(Timestamp, { description: "Null: never." })),
  is_enabled: Type.Optional(Type.Boolean()),
  network_ids: Type.Optional(NetworkIds),
  all_networks: Type.Optional(
    Type.Boolean({
      description: "true: all networks of its user, now and later. Default in a create with network_ids: false.",
    }),
  ),
  allowed_sources: Type.Optional(
    Nullable(AllowedSources, {
      description:
        "CIDRs that its requests may come from; from elsewhere the key is rejected (401). Null, the default: everywhere. Duplicates are dropped.",
    }),
  ),
  permissions: Type.Optional(OneOf(ROLES)),
};
const READ_ONLY = [...RECORD_READ_ONLY, "key", "last_used"];

export const ApiKeyCreate = Body({ id: Type.Optional(Uuid), ...writable }, { ignored: READ_ONLY });
export const ApiKeyUpdate = Body({ id: Type.Optional(Uuid), ...writable }, { ignored: READ_ONLY });
export type ApiKeyCreate = Static<typeof ApiKeyCreate>;
export type ApiKeyUpdate = Static<typeof ApiKeyUpdate>;

export const ApiKey = Type.Object(
  {
    id: Uuid,
    name: Name,
    organization_id: Uuid,
    user_id: Uuid,
    tags: TagIds,
    expires_at: Nullable(Timestamp),
    is_enabled: Type.Boolean(),
    network_ids: Type.Array(Uuid, { description: "The networks that the key reaches now." }),
    all_networks: Type.Boolean({ description: "Whether it follows its user's networks." }),
    allowed_sources: Nullable(AllowedSources, {
      description: "CIDRs that its requests may come from; null for everywhere.",
    }),
    permissions: OneOf(ROLES),
    key: Type.String({ description: "A mask that identifies the key and does not authenticate." }),
    last_used: Nullable(Timestamp),
    ...recordFields,
  },
  { $id: "ApiKey" },
);

/** Response of a create and of a rotation: the only ones that return the key itself. */
export const ApiKeyWithSecret = Type.Object(
  { api_key: ApiKey, key: Type.String({ description: "The key. It is not stored and cannot be shown again." }) },
  { $id: "ApiKeyWithSecret" },
);

export const API_KEY_EXAMPLE = {
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0008",
  name: "Monitoring",
  organization_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0001",
  user_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0007",
  tags: [],
  expires_at: null,
  is_enabled: true,
  network_ids: ["01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002"],
  all_networks: false,
  allowed_sources: ["10.0.30.0/24"],
  permissions: "Viewer",
  key: "nlk_Ab3d…",
  last_used: null,
  ...RECORD_EXAMPLE,
};
