// Imports with a source, target or environment that tries to obtain the token and key, or to abort the import: neither
// is disclosed, no unrequested traffic leaves this machine, and all other objects are imported.

import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { workplaceForAll } from "../support/executable/workplaces.ts";
import {
  emptyWorld,
  type FakeNetbox,
  type FakeNetboxOptions,
  type NetboxWorld,
  serveNetbox,
} from "../support/imports/fake-netbox.ts";
import { counts, ImportPlace, NETBOX_TOKEN } from "../support/imports/import-place.ts";
import { openProxy, PROXY_VARIABLES, type ProxyLog } from "../support/imports/proxy.ts";

const place = workplaceForAll();
let at: ImportPlace;
const servers: Array<{ stop(): Promise<unknown> }> = [];
beforeAll(async () => {
  at = await ImportPlace.open(place);
});
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

function serve(world: NetboxWorld, options: FakeNetboxOptions = {}): FakeNetbox {
  const server = serveNetbox(world, { token: NETBOX_TOKEN, ...options });
  servers.push(server);
  return server;
}

function proxy(): ProxyLog {
  const opened = openProxy();
  servers.push(opened);
  return opened;
}

const small = (): NetboxWorld => ({ ...emptyWorld(), sites: [{ id: 1, name: "Berlin" }] });

/** Inherited property names of every JavaScript object. */
const MEMBERS = Object.getOwnPropertyNames(Object.prototype);

test("interfaces, fields, choices, tags and sites named like Object.prototype members are imported", async () => {
  const world = small();
  world.fields = MEMBERS.map((name, place) => ({
    id: 1 + place,
    name,
    type: name,
    objects: ["dcim.device", "dcim.interface", name],
    choices: [["constructor", "toString"]],
  }));
  const custom = Object.fromEntries(MEMBERS.map((name) => [name, "constructor"]));
  world.tags = MEMBERS.map((name, place) => ({ id: 1 + place, name, color: name }));
  world.devices = [
    {
      id: 1,
      name: "constructor",
      site: 1,
      tags: MEMBERS,
      custom,
      interfaces: MEMBERS.map((type, place) => ({ id: 1 + place, name: type, type, custom })),
    },
    { id: 2, name: "plain", site: 1 },
  ];
  const done = await at.import(["netbox", serve(world).url, "--verbose"]);
  expect([done.err, done.out.split("\n").filter((line) => line.startsWith("refused"))]).toEqual(["", []]);
  expect(counts(done, "tags")).toEqual([MEMBERS.length, 0, 0, 0, 0]);
  expect(counts(done, "interfaces")).toEqual([MEMBERS.length, 0, 0, 0, 0]);
  const host = (await at.all("hosts")).find(({ name }) => name === "constructor");
  expect(new Set(host.interfaces.map((each: any) => each.if_type))).toEqual(new Set([1]));
  expect(host.custom_fields.constructor).toBe("constructor");
  expect(Object.keys(host.custom_fields)).toHaveLength(MEMBERS.length);
});

describe("under any proxy variables", () => {
  test("an import connects to this machine directly, by address and by name", async () => {
    const log = proxy();
    const netbox = serve(small());
    const env = Object.fromEntries(PROXY_VARIABLES.map((name) => [name, log.url]));
    const port = new URL(netbox.url).port;
    for (const source of [netbox.url, `http://localhost:${port}`, `http://127.1:${port}`]) {
      const done = await at.import(["netbox", source, "--dry-run"], env);
      expect([source, done.code, done.err]).toEqual([source, 0, ""]);
    }
    // No listener there: only the contacted addresses matter.
    for (const source of [
      "https://127.0.0.1:1",
      "https://[::1]:1",
      "http://[::ffff:127.0.0.1]:1",
      "https://a.localhost:1",
    ])
      expect((await at.import(["netbox", source], env)).err).toMatch(/NetBox cannot be reached at /);
    expect(log.received()).toBe("");
  });

  test.each(["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])(
    "plain HTTP uses the proxy in %s only where permitted, and not for hosts in NO_PROXY",
    async (variable) => {
      const log = proxy();
      const env = { [variable]: log.url };
      const refused = await at.import(["netbox", "http://192.0.2.7"], env);
      expect([refused.code, log.received()]).toEqual([2, ""]);
      expect(refused.err).toMatch(/http:\/\/192\.0\.2\.7 is not https: .*; --plain-http permits this/);
      for (const none of ["NO_PROXY", "no_proxy"]) {
        const direct = await at.import(["netbox", "http://192.0.2.7", "--plain-http"], { ...env, [none]: "192.0.2.7" });
        expect([direct.code, log.received()]).toEqual([1, ""]);
      }
      await at.import(["netbox", "http://192.0.2.7", "--plain-http"], env);
      expect(log.received()).toStartWith("GET http://192.0.2.7/api/status/ HTTP/1.1\r\n");
    },
  );

  test.each(["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])(
    "the proxy in %s sees the target of HTTPS, but neither token nor key",
    async (variable) => {
      const log = proxy();
      const args = ["netbox", "https://netbox.example.com", "--server", "https://netledger.example.com"];
      expect((await at.import(args, { [variable]: log.url })).code).toBe(1);
      expect(log.received()).toStartWith("CONNECT netbox.example.com:443 HTTP/1.1\r\n");
      for (const secret of [NETBOX_TOKEN, at.environment.NETLEDGER_KEY as string])
        expect(log.received()).not.toContain(secret);
    },
  );
});

describe("token and key", () => {
  const echo = (secret: string) =>
    [
      ["a refusal", () => Response.json({ detail: `Invalid token ${secret}` }, { status: 403 })],
      ["an error that is cut", () => Response.json({ detail: `${"x".repeat(190)}${secret}` }, { status: 500 })],
      ["its version", () => Response.json({ "netbox-version": `2.1 ${secret}` })],
      ["a redirect", () => Response.redirect(`https://elsewhere.example/?t=${secret}`, 302)],
      ["a content type", () => new Response("", { headers: { "content-type": `text/${secret}` } })],
    ] as const;

  test.each(echo(NETBOX_TOKEN))("are not printed when the source repeats them in %s", async (_where, answer) => {
    const done = await at.import(["netbox", serve(small(), { intercept: () => answer() }).url]);
    expect(done.code).toBe(1);
    expect(done.out + done.err).toContain("[hidden]");
    expect(done.out + done.err).not.toContain(NETBOX_TOKEN.slice(0, 10));
  });

  test("appear in no plan line and no record, whatever objects are named", async () => {
    const key = at.environment.NETLEDGER_KEY as string;
    const world = small();
    world.sites = [{ id: 1, name: `site ${NETBOX_TOKEN}`, description: key }];
    world.tags = [{ id: 1, name: key }];
    world.fields = [{ id: 1, name: NETBOX_TOKEN, type: "text", objects: ["dcim.device"] }];
    world.prefixes = [{ id: 1, prefix: NETBOX_TOKEN, site: 1 }];
    world.devices = [
      { id: 1, name: `sw ${NETBOX_TOKEN.toUpperCase()}`, site: 1, tags: [key], custom: { [NETBOX_TOKEN]: key } },
    ];
    for (const args of [["--dry-run"], []]) {
      const done = await at.import(["netbox", serve(world).url, "--verbose", ...args]);
      expect(done.out).toMatch(/^created hosts: sw \[hidden\] \(/m);
      expect(done.out).toMatch(/^refused subnets: .*\[hidden\]/m);
      for (const secret of [NETBOX_TOKEN, key])
        expect((done.out + done.err).toLowerCase()).not.toContain(secret.toLowerCase());
    }
    const brought = JSON.stringify([await at.inventory(), await at.all("custom-fields")]).toLowerCase();
    for (const secret of [NETBOX_TOKEN, key]) expect(brought).not.toContain(secret.toLowerCase());
  });

  test("are not printed when a fake netledger repeats them", async () => {
    const key = at.environment.NETLEDGER_KEY as string;
    const echoing = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => Response.json({ success: false, code: "auth_key_disabled", error: `No ${key}` }, { status: 401 }),
    });
    servers.push(echoing);
    const done = await at.import(["netbox", serve(small()).url, "--server", echoing.url.origin]);
    expect([done.code, done.out]).toEqual([1, ""]);
    expect(done.err).toMatch(/refuses the key: No \[hidden\]$/m);
  });
});

describe("an endless source", () => {
  test.each([
    ["brackets", () => new Response("[".repeat(1_000)), /answers JSON of arrays and objects more than 64 deep/],
    [
      "a repeated page",
      () => Response.json({ count: 1_000_000, next: "more", results: [{ id: 1, name: "a" }] }),
      /\/api\/extras\/tags\/ returns the same page again/,
    ],
  ])("with %s ends the import in one line", async (_what, answer, message) => {
    const netbox = serve(small(), { intercept: (path) => (path === "/api/extras/tags/" ? answer() : null) });
    const done = await at.import(["netbox", netbox.url]);
    expect(done.code).toBe(1);
    expect(done.err).toMatch(message);
    expect(done.err.trimEnd()).not.toContain("\n");
    expect(netbox.asked.length).toBeLessThan(10);
  });
});
