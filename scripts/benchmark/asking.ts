// Single requests to a measured appliance, outside any load: with the key of its store, one at a time.

import type { Running } from "./executable.ts";
import type { BuiltStore } from "./store.ts";

/** Sends JSON, or these bytes, to a path below `/api/v1`. @returns `data` @throws Error for another status */
export async function ask<T>(
  { port }: Pick<Running, "port">,
  { key }: BuiltStore,
  method: string,
  path: string,
  body?: object,
  status = 200,
): Promise<T> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: body instanceof Uint8Array ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (answer.status !== status) throw new Error(`${method} ${path} answered ${answer.status}: ${text.slice(0, 300)}`);
  return (JSON.parse(text) as { data: T }).data;
}

/** A host with 20 children, as a request body. */
export function hostWithChildren(networkId: string, number: number, name: string): object {
  return {
    network_id: networkId,
    name,
    ip_addresses: Array.from({ length: 5 }, (_, k) => ({ ip_address: `10.250.${number}.${k + 1}` })),
    ports: Array.from({ length: 10 }, (_, k) => ({ number: 8000 + k, protocol: "Tcp" })),
    services: Array.from({ length: 5 }, (_, k) => ({ name: `service ${k}`, service_definition: "bench" })),
  };
}

/** Twenty hosts with 20 children each, and bodies that change one of them every time. */
export async function hostUpdates(
  running: Pick<Running, "port">,
  store: BuiltStore,
): Promise<Array<{ path: string; body: (i: number) => string }>> {
  const updates = [];
  for (let number = 0; number < 20; number += 1) {
    const host = await ask<{ id: string; ports: Array<{ number: number }> }>(
      running,
      store,
      "POST",
      "/hosts",
      hostWithChildren(store.networkIds.campus as string, number, `changing-${number}`),
    );
    const body = (i: number) => {
      const ports = host.ports.map((each, k) => (k === 0 ? { ...each, number: 9000 + (i % 1000) } : each));
      return JSON.stringify({ ...host, ports });
    };
    updates.push({ path: `/api/v1/hosts/${host.id}`, body });
  }
  return updates;
}
