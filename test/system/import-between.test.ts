// Disturbances between an import and its target: lost answers, restarts, and concurrent writes.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { workplaceForEach } from "../support/executable/workplaces.ts";
import { emptyWorld, type FakeNetbox, type NetboxWorld, serveNetbox } from "../support/imports/fake-netbox.ts";
import { counts, ImportPlace, NETBOX_TOKEN } from "../support/imports/import-place.ts";

const place = workplaceForEach();
let at: ImportPlace;
let netbox: FakeNetbox;
let proxy: Bun.Server<undefined>;
beforeEach(async () => {
  at = await ImportPlace.open(place);
  netbox = serveNetbox(world(), { token: NETBOX_TOKEN });
});
afterEach(() => Promise.all([netbox.stop(), proxy.stop(true)]));

function world(): NetboxWorld {
  const made = emptyWorld();
  made.sites = [{ id: 1, name: "Berlin" }];
  made.prefixes = [{ id: 1, prefix: "10.0.0.0/16", site: 1 }];
  for (let id = 1; id <= 60; id += 1) {
    made.devices.push({ id, name: `switch-${id}`, site: 1, interfaces: [{ id: id * 10, name: "Gi0/1" }] });
    made.addresses.push({ id, address: `10.0.1.${id}/16`, on: { device: id, interface: id * 10 } });
    made.addresses.push({ id: 100 + id, address: `10.0.2.${id}/16` });
  }
  return made;
}

/** Proxy between an import and the appliance. @param between receives every request, and may answer it itself */
function stand(between: (request: Request, forward: () => Promise<Response>) => Promise<Response>): string {
  proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const body = request.method === "GET" ? undefined : await request.arrayBuffer();
      const headers = new Headers(request.headers);
      headers.delete("host");
      const forward = () =>
        fetch(new URL(pathname + search, at.running.url), {
          method: request.method,
          headers,
          ...(body === undefined ? {} : { body }),
          decompress: false,
        });
      return between(request, forward);
    },
  });
  return proxy.url.href;
}

function run(server: string, ...args: string[]) {
  return at.import(["netbox", netbox.url, "--server", server, ...args]);
}

describe("an import", () => {
  test("with lost answers repeats its requests, without duplicates", async () => {
    let lost = 0;
    let writes = 0;
    const server = stand(async (request, forward) => {
      const answer = await forward();
      if (request.method === "GET") return answer;
      writes += 1;
      if (writes % 7 !== 3) return answer;
      lost += 1;
      await answer.body?.cancel();
      return new Response("gone", { status: 502, headers: { "retry-after": "0" } });
    });
    const done = await run(server);
    expect([done.code, lost > 5]).toEqual([0, true]);
    expect(counts(done, "hosts")).toEqual([60, 0, 0, 0, 0]);
    expect(counts(done, "ranges")).toEqual([60, 0, 0, 0, 0]);
    expect(await at.all("hosts")).toHaveLength(60);
    expect(await at.all("ip-ranges")).toHaveLength(60);
  });

  test("waits while netledger is unavailable, and continues", async () => {
    let requests = 0;
    let isDown = false;
    const server = stand(async (_request, forward) => {
      requests += 1;
      // Like a proxy in front of an unreachable server.
      if (requests === 12) isDown = true;
      if (isDown && requests < 15) return new Response("no upstream", { status: 503 });
      isDown = false;
      return forward();
    });
    const done = await run(server);
    expect(done.code).toBe(0);
    expect(requests).toBeGreaterThan(15);
    expect(await at.all("hosts")).toHaveLength(60);
  });

  test("re-reads a host changed in the meantime, and removes nothing from it", async () => {
    await run(stand((_request, forward) => forward()));
    await proxy.stop(true);
    const [device, ...others] = world().devices;
    await netbox.stop();
    const port = Number(new URL(netbox.url).port);
    const changed = {
      ...world(),
      devices: [
        {
          ...(device as NetboxWorld["devices"][0]),
          serial: "S1",
          interfaces: [{ id: 10, name: "Gi0/1", description: "up" }],
        },
        ...others,
      ],
    };
    netbox = serveNetbox(changed, { token: NETBOX_TOKEN }, port);
    const host = (await at.all("hosts")).find((each) => each.name === "switch-1");
    let added: any = null;
    const server = stand(async (request, forward) => {
      if (added === null && request.url.endsWith("/hosts/bulk")) {
        added = (await at.client.post("if-entries", { host_id: host.id, if_index: 7, if_descr: "Null0" })).data;
        await at.client.post("ip-addresses", { host_id: host.id, ip_address: "10.0.9.9" });
      }
      return forward();
    });
    const done = await run(server);
    expect(done.code).toBe(0);
    expect(counts(done, "hosts")).toEqual([0, 1, 59, 0, 0]);
    expect(counts(done, "interfaces")).toEqual([0, 1, 59, 0, 0]);
    const after = (await at.client.get(`hosts/${host.id}`)).data;
    expect(after.serial_number).toBe("S1");
    expect(after.interfaces.map((each: any) => [each.if_descr, each.if_alias]).sort()).toEqual([
      ["Gi0/1", "up"],
      ["Null0", null],
    ]);
    expect(after.ip_addresses.map((each: any) => each.ip_address).sort()).toEqual(["10.0.1.1", "10.0.9.9"]);
  });

  test("ends in one line when its key is disabled, and its writes stay", async () => {
    let writes = 0;
    const server = stand(async (request, forward) => {
      if (request.method !== "GET") writes += 1;
      if (writes < 3) return forward();
      return Response.json(
        { success: false, code: "auth_key_disabled", error: "This API key is disabled.", params: {}, meta: {} },
        { status: 401 },
      );
    });
    const ended = await run(server);
    expect([ended.code, ended.out]).toEqual([1, ""]);
    expect(ended.err).toMatch(/refuses the key: This API key is disabled\./);
    expect(ended.err.trimEnd()).not.toContain("\n");
    expect((await at.all("networks")).map((each) => each.name)).toContain("Berlin");
  });
});
