// netledger key …: API keys without signing in, for automation. A new key is printed once and alone, for use in a shell
// variable.

import { generateApiKey, hashApiKey, maskApiKey } from "../access/api-key.ts";
import { ROLES } from "../access/role.ts";
import { notFound } from "../base/errors.ts";
import {
  AllowedSources,
  type ApiKeyCreate,
  type ApiKeyRecord,
  type ApiKeyUpdate,
  apiKeyKind,
} from "../resources/api-keys/api-key.ts";
import type { KeySecret } from "../resources/api-keys/commands.ts";
import { type UserRecord, userKind } from "../resources/users/user.ts";
import { Name, OneOf, Timestamp } from "../schemas/schemas.ts";
import type { Store } from "../server/store.ts";
import { checkSetting } from "./checked-setting.ts";
import { type Command, defineCommand } from "./command.ts";
import {
  checkReason,
  type LiveRecord,
  networkIdsOf,
  type OrganizationReach,
  operatorOf,
  organizationOf,
  organizationsOf,
  recordOf,
  recordsOf,
  table,
  userByEmail,
} from "./operator.ts";
import { withStore } from "./with-store.ts";

const list = defineCommand(
  {
    name: "key list",
    summary: "lists all API keys, or those of one organization or user.",
    always: ["data", "acceptClock"],
    maybe: ["organization", "email"],
  },
  (config, io) =>
    withStore(config, io, false, async ({ reader }) => {
      const user = config.email === null ? null : userByEmail(reader, config.email);
      const organizations =
        user !== null
          ? [user.organization]
          : config.organization === null
            ? organizationsOf(reader)
            : [organizationOf(reader, config.organization)];
      const rows = organizations.flatMap((organization) => {
        const emails = new Map(
          recordsOf<UserRecord>(reader, userKind, organization).map((each) => [each.id, each.email]),
        );
        return recordsOf<ApiKeyRecord & { last_used: string | null }>(reader, apiKeyKind, organization)
          .filter((key) => user === null || key.user_id === user.record.id)
          .map((key) => [
            key.id,
            emails.get(key.user_id) ?? null,
            key.name,
            key.permissions,
            key.is_enabled ? "enabled" : "disabled",
            key.key,
            key.expires_at,
            key.last_used,
            key.allowed_sources?.join(",") ?? null,
          ]);
      });
      const fields = ["permissions", "state", "key", "expires_at", "last_used", "allowed_sources"];
      await io.print(table(["id", "email", "name", ...fields], rows));
    }),
);

const create = defineCommand(
  {
    name: "key create",
    summary: "creates an API key for a user and prints it, only this once.",
    always: ["data", "email", "name", "permissions", "acceptClock"],
    maybe: ["networks", "expiresAt", "allowedSources", "reason"],
  },
  (config, io) => {
    const reason = checkReason(config.reason);
    const name = checkSetting(Name, config.name, "--name");
    const permissions = checkSetting(OneOf(ROLES), config.permissions, "--permissions");
    const expiresAt = config.expiresAt === null ? null : checkSetting(Timestamp, config.expiresAt, "--expires-at");
    const texts = config.allowedSources?.map(({ text }) => text) ?? null;
    const sources = texts === null ? null : checkSetting(AllowedSources, texts, "--allowed-sources");
    return withStore(config, io, false, async ({ reader, writes }) => {
      const { record: user, organization } = userByEmail(reader, config.email);
      const networks = config.networks === null ? null : networkIdsOf(reader, organization, config.networks);
      const body: ApiKeyCreate = {
        name,
        organization_id: organization.id,
        user_id: user.id,
        tags: [],
        permissions,
        expires_at: expiresAt,
        allowed_sources: sources,
        ...(networks === null ? {} : { network_ids: networks }),
      };
      const key = generateApiKey(io.random);
      const secret: KeySecret = { text: key, hash: hashApiKey(key), mask: maskApiKey(key) };
      await writes.run("api_key.create", { body, secret }, operatorOf(organization.id, reason));
      await io.print(`${key}\n`);
    });
  },
);

const setEnabled = (name: string, summary: string, isEnabled: boolean) =>
  defineCommand({ name, summary, always: ["data", "keyId", "acceptClock"], maybe: ["reason"] }, (config, io) => {
    const reason = checkReason(config.reason);
    return withStore(config, io, false, async (store) => {
      const { record, ifMatch, organization } = keyOf(store, config.keyId);
      const { id, name, organization_id, user_id, tags } = record;
      const body: ApiKeyUpdate = { name, organization_id, user_id, tags: [...tags], is_enabled: isEnabled };
      await store.writes.run("api_key.update", { id, body, ifMatch }, operatorOf(organization.id, reason));
    });
  });

const remove = defineCommand(
  { name: "key delete", summary: "deletes an API key.", always: ["data", "keyId", "acceptClock"], maybe: ["reason"] },
  (config, io) => {
    const reason = checkReason(config.reason);
    return withStore(config, io, false, async (store) => {
      const { record, ifMatch, organization } = keyOf(store, config.keyId);
      await store.writes.run("api_key.delete", { id: record.id, ifMatch }, operatorOf(organization.id, reason));
    });
  },
);

export const keyCommands: readonly Command[] = [
  list,
  create,
  setEnabled("key disable", "disables an API key.", false),
  setEnabled("key enable", "enables a disabled API key again.", true),
  remove,
];

/** @throws DomainError entity_not_found */
function keyOf({ reader }: Store, id: string): LiveRecord<ApiKeyRecord> & { readonly organization: OrganizationReach } {
  for (const organization of organizationsOf(reader)) {
    const found = recordOf<ApiKeyRecord>(reader, apiKeyKind, organization, id.toLowerCase());
    if (found !== null) return { ...found, organization };
  }
  throw notFound(apiKeyKind, id);
}
