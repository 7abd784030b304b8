// Routes for /api/v1/auth/keys, by session only. Keys are generated here and returned once; the writer gets the hash.

import type { Access, Actor } from "../../access/actor.ts";
import { generateApiKey, hashApiKey, maskApiKey } from "../../access/api-key.ts";
import { atLeast } from "../../access/role.ts";
import type { Random } from "../../base/random.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend, ResourceCall } from "../../records/backend.ts";
import { respondWithCsv } from "../../records/csv-responses.ts";
import { type ListOptions, respondWithList } from "../../records/list-responses.ts";
import { respondWithRecord } from "../../records/record-responses.ts";
import { standardRoutes } from "../../records/standard-operations.ts";
import { runWrite, type WriteResult, writtenRecord } from "../../records/write-responses.ts";
import { IdParams, IdsQuery } from "../../schemas/schemas.ts";
import { normalizedSearch, searchQuery } from "../searching.ts";
import { API_KEY_EXAMPLE, ApiKeyCreate, ApiKeyUpdate, ApiKeyWithSecret, apiKeyKind } from "./api-key.ts";
import { composeWithSecret } from "./api-key-view.ts";
import type { ApiKeyCommands, GeneratedKey, KeySecret } from "./commands.ts";
import { apiKeyResource } from "./resource.ts";

const { group, write } = apiKeyResource;
const filters = { ...IdsQuery, ...searchQuery("a word of the key's name") };
const { operations, routesOn } = standardRoutes(apiKeyResource, filters, {});
const { name, organization_id, user_id, tags, permissions, network_ids, allowed_sources } = API_KEY_EXAMPLE;
const body = { name, organization_id, user_id, tags, permissions, network_ids, allowed_sources };
const withSecret = { data: { api_key: API_KEY_EXAMPLE, key: "nlk_Ab3d…" } };

/** /api/v1/auth/keys. Only the response that creates or rotates a key contains its plaintext. */
export function apiKeyRoutes(surface: Surface<Actor, Access>, backend: Backend<ApiKeyCommands>, random: Random): void {
  const routes = routesOn(surface, backend, "api_key");
  const listed = { description: "Your own; for an Owner or Admin, all of the organization." };
  surface
    .get("/api/v1/auth/keys", operations.list(listed), (call) => respondWithList(backend, call, listOptions(call)))
    .get("/api/v1/auth/keys/export/csv", operations.table(listed), (call) =>
      respondWithCsv(backend, call, listOptions(call)),
    )
    .post(
      "/api/v1/auth/keys",
      {
        ...operations.create(ApiKeyCreate, body, {
          description:
            "The key itself is returned only once. Without `network_ids` it reaches whatever its user reaches, now and later.",
        }),
        responseSchema: ApiKeyWithSecret,
        isRecord: true,
        example: { ...withSecret, body: { id: API_KEY_EXAMPLE.id, ...body } },
      },
      (call) => {
        const secret = newSecret();
        return answerWithSecret(call, runWrite(backend, call, "api_key.create", { body: call.body, secret }));
      },
    )
    .get("/api/v1/auth/keys/:id", operations.get(), (call) =>
      respondWithRecord(backend, call, apiKeyResource, { user: onlyUser(call) }),
    );
  routes.update(ApiKeyUpdate, body, {
    errors: ["validation_id_mismatch", "entity_reference_invalid", "entity_access_denied"],
  });
  surface.post(
    "/api/v1/auth/keys/:id/rotate",
    {
      operationId: "rotateApiKey",
      summary: "Rotate an API key",
      description: "The old key stops working at once. The new key is returned only once.",
      group,
      access: write,
      params: IdParams,
      responseSchema: ApiKeyWithSecret,
      isRecord: true,
      example: { ...withSecret, parameters: { id: API_KEY_EXAMPLE.id } },
    },
    (call) => {
      const secret = newSecret();
      return answerWithSecret(call, runWrite(backend, call, "api_key.rotate", { id: call.params.id, secret }));
    },
  );
  routes.removals({ description: "`cascade` has no effect." });

  /** Scope shared by list and export. */
  function listOptions(call: ResourceCall<unknown, { readonly search?: string }, unknown>): ListOptions {
    return { resource: apiKeyResource, search: normalizedSearch(call.query.search), within: { user: onlyUser(call) } };
  }

  /** User whose keys the caller sees; undefined for all users of the organization. */
  function onlyUser(call: ResourceCall<unknown, unknown, unknown>): string | undefined {
    return atLeast(call.actor.role, "Admin") ? undefined : (backend.authorOf(call).userId as string);
  }

  function newSecret(): KeySecret {
    const text = generateApiKey(random);
    return { text, hash: hashApiKey(text), mask: maskApiKey(text) };
  }

  /** Returns the plaintext of a new key to the caller and forbids caching. */
  async function answerWithSecret(
    call: ResourceCall<unknown, unknown, unknown>,
    pendingWrite: Promise<WriteResult<GeneratedKey>>,
  ): Promise<Response> {
    const { sequence, result } = await pendingWrite;
    call.headers["cache-control"] = "no-store";
    const view = { kind: apiKeyKind, compose: composeWithSecret(result.text) };
    return writtenRecord(backend, call, view, result.id, sequence);
  }
}
