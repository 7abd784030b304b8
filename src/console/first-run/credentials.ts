// Credentials of the first scan: list, creation for a network, and sharing of an existing one. Secrets exist only in
// the page's memory and in the body of one request.

import { type Answer, useAnswer } from "../api/answer.ts";
import { api, type DataOf, done, read, rethrown } from "../api/client.ts";
import { refusalOf } from "../api/refusal.ts";
import { reasonHeader } from "../forms/reason.ts";
import { me } from "../session/me.ts";
import { wayText } from "../text/first-run.ts";
import type { Network } from "./chosen.ts";

export type Credential = DataOf<"/api/v1/credentials">[number];

/** All credentials; their number is small. */
export function useCredentials(): Answer<readonly Credential[]> {
  return useAnswer(read("/api/v1/credentials", { query: { limit: 0, order_by: "name" } }));
}

/** Credentials used for a network. */
export function credentialsOf(all: readonly Credential[], networkId: string): readonly Credential[] {
  return all.filter(({ assigned_network_ids }) => assigned_network_ids.includes(networkId));
}

/** @param key of newRequestKey() @throws Refusal */
export async function giveCredential(
  of: Network,
  name: string,
  credential_type: Credential["credential_type"],
  key: string,
): Promise<void> {
  await done(
    api.POST("/api/v1/credentials", {
      params: { header: { "Idempotency-Key": key } },
      headers: { "X-Request-Id": key, ...reasonHeader(wayText.reason) },
      body: {
        organization_id: me.value?.organization_id ?? "",
        name,
        credential_type,
        assigned_network_ids: [of.id],
        host_assignments: [],
        tags: [],
      },
    }),
  );
}

/** Whether a credential was created with the key. @throws Refusal */
export async function isGiven(key: string): Promise<boolean> {
  const query = { filter: `request_id = "${key}"`, limit: 1 };
  return (await read("/api/v1/transactions", { query }).load()).data.length > 0;
}

/** Assigns a credential of other networks to this one as well. @throws Refusal */
export async function shareCredential(of: Network, id: string): Promise<void> {
  const { data, error, response } = await api
    .GET("/api/v1/credentials/{id}", { params: { path: { id } } })
    .catch(rethrown);
  if (data === undefined) throw refusalOf(response, error);
  const { name, organization_id, credential_type, host_assignments, tags, assigned_network_ids } = data.data;
  if (assigned_network_ids.includes(of.id)) return;
  await done(
    api.PUT("/api/v1/credentials/{id}", {
      params: { path: { id }, header: { "If-Match": response.headers.get("etag") ?? "*" } },
      headers: reasonHeader(wayText.reason),
      body: {
        name,
        organization_id,
        // Masked secrets sent back leave the stored ones unchanged.
        credential_type,
        host_assignments,
        tags,
        assigned_network_ids: [...assigned_network_ids, of.id],
      },
    }),
  );
}
