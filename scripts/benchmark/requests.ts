// Single requests to the appliance under test, not part of the measured load, with its store's API key.

import { Client } from "../../test/support/appliance/client.ts";
import type { Running } from "./executable.ts";
import type { BuiltStore } from "./store.ts";

/** Sends JSON or raw bytes to a path below `/api/v1`. @returns the response's `data` @throws Error if unsuccessful */
export async function callApi<T>(
  { port }: Pick<Running, "port">,
  { key }: BuiltStore,
  method: string,
  path: string,
  body?: object,
  status = 200,
): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: body instanceof Uint8Array ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status !== status)
    throw new Error(`${method} ${path} returned ${response.status}: ${text.slice(0, 300)}`);
  return (JSON.parse(text) as { data: T }).data;
}

/** API client that sends these headers with every request. */
export function clientWith({ port }: Pick<Running, "port">, headers: Record<string, string> = {}): Client {
  return new Client((request) => fetch(request), headers, `http://127.0.0.1:${port}`);
}

/** Fetches a path and measures the time until the last byte. @throws Error if the status is not 200 */
export async function timedGet(
  { port }: Pick<Running, "port">,
  { key }: Pick<BuiltStore, "key">,
  path: string,
): Promise<{ readonly text: string; readonly tookMs: number }> {
  const started = performance.now();
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${key}` } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} returned ${response.status}: ${text.slice(0, 300)}`);
  return { text, tookMs: performance.now() - started };
}

/** Request body for a credential with an SNMPv2c community. */
export function communityCredential(
  organization_id: string,
  name: string,
  community: string,
  assigned_network_ids: readonly (string | undefined)[] = [],
) {
  const credential_type = { type: "SnmpV2c", community: { mode: "Inline", value: community } };
  return { organization_id, name, credential_type, assigned_network_ids, host_assignments: [] as object[], tags: [] };
}

/** Request body for a host with 20 children. */
export function hostWithChildren(networkId: string, number: number, name: string): object {
  return {
    network_id: networkId,
    name,
    ip_addresses: Array.from({ length: 5 }, (_, k) => ({ ip_address: `10.250.${number}.${k + 1}` })),
    ports: Array.from({ length: 10 }, (_, k) => ({ number: 8000 + k, protocol: "Tcp" })),
    services: Array.from({ length: 5 }, (_, k) => ({ name: `service ${k}`, service_definition: "bench" })),
  };
}

/** Creates 20 hosts with 20 children each. @returns their paths and PUT bodies that change one child each time */
export async function hostUpdates(
  running: Pick<Running, "port">,
  store: BuiltStore,
): Promise<Array<{ path: string; body: (i: number) => string }>> {
  const updates = [];
  for (let number = 0; number < 20; number += 1) {
    const host = await callApi<{ id: string; ports: Array<{ number: number }> }>(
      running,
      store,
      "POST",
      "/hosts",
      hostWithChildren(store.networkIds.campus as string, number, `changing-${number}`),
    );
    const body = (i: number) => {
      const ports = host.ports.map((port, k) => (k === 0 ? { ...port, number: 9000 + (i % 1000) } : port));
      return JSON.stringify({ ...host, ports });
    };
    updates.push({ path: `/api/v1/hosts/${host.id}`, body });
  }
  return updates;
}
