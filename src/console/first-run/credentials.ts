// Credentials for the first scan. Secrets exist only in the page's memory and in the body of one request.

import { api, type DataOf, read, throwRefusal, unwrap } from "../api/client.ts";
import { refusalOf } from "../api/refusal.ts";
import { type ApiResponse, useResponse } from "../api/response.ts";
import { reasonHeader } from "../forms/reason.ts";
import { me } from "../session/me.ts";
import { wizardText } from "../text/first-run.ts";
import type { Network } from "./scan-targets.ts";

export type Credential = DataOf<"/api/v1/credentials">[number];

/** All credentials; their number is small. */
export function useCredentials(): ApiResponse<readonly Credential[]> {
  return useResponse(read("/api/v1/credentials", { query: { limit: 0, order_by: "name" } }));
}

/** Credentials assigned to a network. */
export function credentialsOf(all: readonly Credential[], networkId: string): readonly Credential[] {
  return all.filter(({ assigned_network_ids }) => assigned_network_ids.includes(networkId));
}

/** Creates a credential for a network. @param key from newRequestKey() @throws Refusal */
export async function createCredentialFor(
  network: Network,
  name: string,
  credential_type: Credential["credential_type"],
  key: string,
): Promise<void> {
  await unwrap(
    api.POST("/api/v1/credentials", {
      params: { header: { "Idempotency-Key": key } },
      headers: { "X-Request-Id": key, ...reasonHeader(wizardText.reason) },
      body: {
        organization_id: me.value?.organization_id ?? "",
        name,
        credential_type,
        assigned_network_ids: [network.id],
        host_assignments: [],
        tags: [],
      },
    }),
  );
}

/** Whether a request with the key was carried out. @throws Refusal */
export async function wasCreatedWith(key: string): Promise<boolean> {
  const query = { filter: `request_id = "${key}"`, limit: 1 };
  return (await read("/api/v1/transactions", { query }).load()).data.length > 0;
}

/** Also assigns a credential of other networks to this network. @throws Refusal */
export async function shareCredential(network: Network, id: string): Promise<void> {
  const { data, error, response } = await api
    .GET("/api/v1/credentials/{id}", { params: { path: { id } } })
    .catch(throwRefusal);
  if (data === undefined) throw refusalOf(response, error);
  const { name, organization_id, credential_type, host_assignments, tags, assigned_network_ids } = data.data;
  if (assigned_network_ids.includes(network.id)) return;
  await unwrap(
    api.PUT("/api/v1/credentials/{id}", {
      params: { path: { id }, header: { "If-Match": response.headers.get("etag") ?? "*" } },
      headers: reasonHeader(wizardText.reason),
      body: {
        name,
        organization_id,
        // Masked secrets sent back leave the stored ones unchanged.
        credential_type,
        host_assignments,
        tags,
        assigned_network_ids: [...assigned_network_ids, network.id],
      },
    }),
  );
}
