// API keys as a resource.

import type { Resource } from "../resource.ts";
import { API_KEY_EXAMPLE, ApiKey, type ApiKeyRecord, apiKeyKind } from "./api-key.ts";
import { composeApiKeys } from "./api-key-view.ts";

export const apiKeyResource: Resource<ApiKeyRecord> = {
  kind: apiKeyKind,
  path: "auth/keys",
  group: "API keys",
  responseSchema: ApiKey,
  compose: composeApiKeys,
  example: API_KEY_EXAMPLE,
  restores: "A deleted key cannot be restored: the key itself is not in the history. The current key stays valid.",
  read: { role: "Viewer", sessionOnly: true },
  write: { role: "Member", sessionOnly: true },
};
