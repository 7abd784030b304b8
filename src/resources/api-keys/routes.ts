// /api/v1/auth/keys, by session only. The key itself is made here and told once; the writer gets its hash.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../../access/actor.ts";
import { generateApiKey, hashApiKey, maskApiKey } from "../../access/api-key.ts";
import { atLeast } from "../../access/role.ts";
import type { Random } from "../../base/random.ts";
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
  runWrite,
  writtenRecord,
  type Inventory,
  type ListOptions,
  type ResourceCall,
} from "../answers.ts";
import { composeApiKeys, composeWithSecret } from "./api-key-view.ts";
import { API_KEY_EXAMPLE, ApiKey, ApiKeyCreate, apiKeyKind, ApiKeyUpdate, ApiKeyWithSecret } from "./api-key.ts";
import type { KeyMade, KeySecret } from "./commands.ts";

const READ: Access = { role: "Viewer", sessionOnly: true };
const WRITE: Access = { role: "Member", sessionOnly: true };
const List = Type.Object({ ...IdsQuery, ...PageQuery });
const Export = Type.Object({ ...IdsQuery, ...AtQuery });
const At = Type.Object(AtQuery);
const Cascade = Type.Object(CascadeQuery);
const group = "API keys";
const example = { data: API_KEY_EXAMPLE };
const { name, organization_id, user_id, tags, permissions, network_ids } = API_KEY_EXAMPLE;
const body = { name, organization_id, user_id, tags, permissions, network_ids };
const withSecret = { data: { api_key: API_KEY_EXAMPLE, key: "nlk_Ab3d…" } };

/** /api/v1/auth/keys. The text of a key is in the answer that made it, and nowhere else. */
export function apiKeyRoutes(surface: Surface<Actor, Access>, inventory: Inventory, random: Random): void {
  surface
    .get(
      "/api/v1/auth/keys",
      {
        operationId: "listApiKeys",
        summary: "List API keys",
        description: "One's own; for Owner and Admin all of the organization.",
        group,
        access: READ,
        query: List,
        answer: Type.Array(ApiKey),
        isList: true,
        example: { data: [API_KEY_EXAMPLE] },
      },
      (call) => answerList(inventory, call, listed(call)),
    )
    .get(
      "/api/v1/auth/keys/export/csv",
      {
        operationId: "exportApiKeys",
        summary: "Export API keys as CSV",
        description: "One's own; for Owner and Admin all of the organization.",
        group,
        access: READ,
        query: Export,
        ...csvAnswer("API keys", schemaColumns(ApiKey), API_KEY_EXAMPLE),
      },
      (call) => answerCsv(inventory, call, listed(call)),
    )
    .post(
      "/api/v1/auth/keys",
      {
        operationId: "createApiKey",
        summary: "Create an API key",
        description:
          "The key itself is told in this answer only. Without `network_ids` it reaches what its user reaches, now and later.",
        group,
        access: WRITE,
        body: ApiKeyCreate,
        answer: ApiKeyWithSecret,
        isRecord: true,
        errors: ["entity_reference_invalid", "entity_access_denied", "entity_already_exists"],
        example: { ...withSecret, body: { id: API_KEY_EXAMPLE.id, ...body } },
      },
      (call) => {
        return answerWithSecret(call, "api_key.create", { body: call.body });
      },
    )
    .get(
      "/api/v1/auth/keys/:id",
      {
        operationId: "getApiKey",
        summary: "Get an API key",
        group,
        access: READ,
        params: IdParams,
        query: At,
        answer: ApiKey,
        example,
      },
      (call) => answerRecord(inventory, call, apiKeyKind, composeApiKeys, { user: onlyUser(call) }),
    )
    .put(
      "/api/v1/auth/keys/:id",
      {
        operationId: "updateApiKey",
        summary: "Update an API key",
        group,
        access: WRITE,
        params: IdParams,
        body: ApiKeyUpdate,
        answer: ApiKey,
        errors: ["validation_id_mismatch", "entity_reference_invalid", "entity_access_denied"],
        example: { ...example, body },
      },
      (call) =>
        answerWrite(
          inventory,
          call,
          "api_key.update",
          { id: call.params.id, body: call.body },
          apiKeyKind,
          composeApiKeys,
        ),
    )
    .post(
      "/api/v1/auth/keys/:id/rotate",
      {
        operationId: "rotateApiKey",
        summary: "Give an API key a new secret",
        description: "The old one is refused from now on; the new one is told in this answer only.",
        group,
        access: WRITE,
        params: IdParams,
        answer: ApiKeyWithSecret,
        isRecord: true,
        example: { ...withSecret, parameters: { id: API_KEY_EXAMPLE.id } },
      },
      (call) => {
        return answerWithSecret(call, "api_key.rotate", { id: call.params.id });
      },
    )
    .delete(
      "/api/v1/auth/keys/:id",
      {
        operationId: "deleteApiKey",
        summary: "Delete an API key",
        description: "`cascade` changes nothing.",
        group,
        access: WRITE,
        params: IdParams,
        query: Cascade,
        answer: ApiKey,
        example,
      },
      (call) => answerRemoval(inventory, call, "api_key.delete", {}, apiKeyKind, composeApiKeys),
    )
    .post(
      "/api/v1/auth/keys/bulk-delete",
      {
        operationId: "deleteApiKeys",
        summary: "Delete many API keys, all or none",
        description: "`cascade` changes nothing.",
        group,
        access: WRITE,
        query: Cascade,
        body: BulkIds,
        answer: Type.Array(ApiKey),
        errors: ["entity_reference_invalid"],
        example: { data: [API_KEY_EXAMPLE], body: [API_KEY_EXAMPLE.id] },
      },
      (call) =>
        answerBulkRemoval(inventory, call, "api_key.bulk_delete", { cascade: false }, apiKeyKind, composeApiKeys),
    );

  /** What list and export are of. */
  function listed(call: ResourceCall<unknown, unknown, unknown>): ListOptions {
    return { kind: apiKeyKind, within: { user: onlyUser(call) }, compose: composeApiKeys };
  }

  /** Whose keys the caller sees; undefined for all of the organization. */
  function onlyUser(call: ResourceCall<unknown, unknown, unknown>): string | undefined {
    return atLeast(call.actor.role, "Admin") ? undefined : (inventory.authorOf(call).userId as string);
  }

  /** Runs a command that makes a key's text, and tells it: to whoever asked, and to no cache. */
  async function answerWithSecret(
    call: ResourceCall<unknown, unknown, unknown>,
    command: string,
    input: object,
  ): Promise<Response> {
    const text = generateApiKey(random);
    const secret: KeySecret = { text, hash: hashApiKey(text), mask: maskApiKey(text) };
    const { sequence, result } = await runWrite<KeyMade>(inventory, call, command, { ...input, secret });
    call.headers["cache-control"] = "no-store";
    return writtenRecord(inventory, call, apiKeyKind, result.id, sequence, composeWithSecret(result.text));
  }
}
