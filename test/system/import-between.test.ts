// Failures between an import and its target: lost responses, restarts, and concurrent writes.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { sandboxForEach } from "../support/executable/sandboxes.ts";
import { emptyFixture, type FakeNetbox, type NetboxFixture, serveNetbox } from "../support/imports/fake-netbox.ts";
import { counts, ImportAppliance, NETBOX_TOKEN } from "../support/imports/import-target.ts";

const sandbox = sandboxForEach();
let target: ImportAppliance;
let netbox: FakeNetbox;
let proxy: Bun.Server<undefined>;
beforeEach(async () => {
  target = await ImportAppliance.open(sandbox);
  netbox = serveNetbox(fixture(), { token: NETBOX_TOKEN });
});
afterEach(() => Promise.all([netbox.stop(), proxy.stop(true)]));

function fixture(): NetboxFixture {
  const data = emptyFixture();
  data.sites = [{ id: 1, name: "Berlin" }];
  data.prefixes = [{ id: 1, prefix: "10.0.0.0/16", site: 1 }];
  for (let id = 1; id <= 60; id += 1) {
    data.devices.push({ id, name: `switch-${id}`, site: 1, interfaces: [{ id: id * 10, name: "Gi0/1" }] });
    data.addresses.push({ id, address: `10.0.1.${id}/16`, on: { device: id, interface: id * 10 } });
    data.addresses.push({ id: 100 + id, address: `10.0.2.${id}/16` });
  }
  return data;
}

/** Proxy between an import and the appliance. @param handler receives every request, and may respond itself */
function startProxy(handler: (request: Request, forward: () => Promise<Response>) => Promise<Response>): string {
  proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const body = request.method === "GET" ? undefined : await request.arrayBuffer();
      const headers = new Headers(request.headers);
      headers.delete("host");
      const forward = () =>
        fetch(new URL(pathname + search, target.running.url), {
          method: request.method,
          headers,
          ...(body === undefined ? {} : { body }),
          decompress: false,
        });
      return handler(request, forward);
    },
  });
  return proxy.url.href;
}

function run(server: string, ...args: string[]) {
  return target.import(["netbox", netbox.url, "--server", server, ...args]);
}

describe("an import", () => {
  test("repeats requests whose responses are lost, without duplicates", async () => {
    let lost = 0;
    let writes = 0;
    const server = startProxy(async (request, forward) => {
      const response = await forward();
      if (request.method === "GET") return response;
      writes += 1;
      if (writes % 7 !== 3) return response;
      lost += 1;
      await response.body?.cancel();
      return new Response("gone", { status: 502, headers: { "retry-after": "0" } });
    });
    const result = await run(server);
    expect([result.code, lost > 5]).toEqual([0, true]);
    expect(counts(result, "hosts")).toEqual([60, 0, 0, 0, 0]);
    expect(counts(result, "ranges")).toEqual([60, 0, 0, 0, 0]);
    expect(await target.list("hosts")).toHaveLength(60);
    expect(await target.list("ip-ranges")).toHaveLength(60);
  });

  test("waits while netledger is unavailable, and continues", async () => {
    let requests = 0;
    let isDown = false;
    const server = startProxy(async (_request, forward) => {
      requests += 1;
      // Like a proxy in front of an unreachable server.
      if (requests === 12) isDown = true;
      if (isDown && requests < 15) return new Response("no upstream", { status: 503 });
      isDown = false;
      return forward();
    });
    const result = await run(server);
    expect(result.code).toBe(0);
    expect(requests).toBeGreaterThan(15);
    expect(await target.list("hosts")).toHaveLength(60);
  });

  test("re-reads a host changed in the meantime, and removes nothing from it", async () => {
    await run(startProxy((_request, forward) => forward()));
    await proxy.stop(true);
    const [device, ...others] = fixture().devices;
    await netbox.stop();
    const port = Number(new URL(netbox.url).port);
    const interfaces = [{ id: 10, name: "Gi0/1", description: "up" }];
    const changed = { ...(device as NetboxFixture["devices"][0]), serial: "S1", interfaces };
    netbox = serveNetbox({ ...fixture(), devices: [changed, ...others] }, { token: NETBOX_TOKEN }, port);
    const host = (await target.list("hosts")).find(({ name }) => name === "switch-1");
    let added: any = null;
    const server = startProxy(async (request, forward) => {
      if (added === null && request.url.endsWith("/hosts/bulk")) {
        added = (await target.client.post("if-entries", { host_id: host.id, if_index: 7, if_descr: "Null0" })).data;
        await target.client.post("ip-addresses", { host_id: host.id, ip_address: "10.0.9.9" });
      }
      return forward();
    });
    const result = await run(server);
    expect(result.code).toBe(0);
    expect(counts(result, "hosts")).toEqual([0, 1, 59, 0, 0]);
    expect(counts(result, "interfaces")).toEqual([0, 1, 59, 0, 0]);
    const after = (await target.client.get(`hosts/${host.id}`)).data;
    expect(after.serial_number).toBe("S1");
    expect(after.interfaces.map(({ if_descr, if_alias }: any) => [if_descr, if_alias]).sort()).toEqual([
      ["Gi0/1", "up"],
      ["Null0", null],
    ]);
    expect(after.ip_addresses.map(({ ip_address }: any) => ip_address).sort()).toEqual(["10.0.1.1", "10.0.9.9"]);
  });

  test("ends with a one-line error when its key is disabled, and keeps its writes", async () => {
    let writes = 0;
    const server = startProxy(async (request, forward) => {
      if (request.method !== "GET") writes += 1;
      if (writes < 3) return forward();
      const refusal = { success: false, code: "auth_key_disabled", error: "This API key is disabled." };
      return Response.json({ ...refusal, params: {}, meta: {} }, { status: 401 });
    });
    const result = await run(server);
    expect([result.code, result.out]).toEqual([1, ""]);
    expect(result.err).toMatch(/rejects the key: This API key is disabled\./);
    expect(result.err.trimEnd()).not.toContain("\n");
    expect((await target.list("networks")).map(({ name }) => name)).toContain("Berlin");
  });
});
