// Imports with a source, target or environment that tries to obtain the token and key, or to abort the import: neither
// is disclosed, no unrequested traffic leaves this machine, and all other objects are imported.

import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { sandboxForAll } from "../support/executable/sandboxes.ts";
import {
  emptyFixture,
  type FakeNetbox,
  type FakeNetboxOptions,
  type NetboxFixture,
  serveNetbox,
} from "../support/imports/fake-netbox.ts";
import { counts, ImportAppliance, NETBOX_TOKEN } from "../support/imports/import-target.ts";
import { openProxy, PROXY_VARIABLES, type ProxyLog } from "../support/imports/proxy.ts";

const sandbox = sandboxForAll();
let target: ImportAppliance;
const servers: Array<{ stop(): Promise<unknown> }> = [];
beforeAll(async () => {
  target = await ImportAppliance.open(sandbox);
});
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

function serve(fixture: NetboxFixture, options: FakeNetboxOptions = {}): FakeNetbox {
  const server = serveNetbox(fixture, { token: NETBOX_TOKEN, ...options });
  servers.push(server);
  return server;
}

function proxy(): ProxyLog {
  const log = openProxy();
  servers.push(log);
  return log;
}

const minimalData = (): NetboxFixture => ({ ...emptyFixture(), sites: [{ id: 1, name: "Berlin" }] });

/** Inherited property names of every JavaScript object. */
const PROTOTYPE_MEMBERS = Object.getOwnPropertyNames(Object.prototype);

test("interfaces, fields, choices, tags and sites named like Object.prototype members are imported", async () => {
  const fixture = minimalData();
  fixture.fields = PROTOTYPE_MEMBERS.map((name, index) => ({
    id: 1 + index,
    name,
    type: name,
    objects: ["dcim.device", "dcim.interface", name],
    choices: [["constructor", "toString"]],
  }));
  const custom = Object.fromEntries(PROTOTYPE_MEMBERS.map((name) => [name, "constructor"]));
  fixture.tags = PROTOTYPE_MEMBERS.map((name, index) => ({ id: 1 + index, name, color: name }));
  const interfaces = PROTOTYPE_MEMBERS.map((type, index) => ({ id: 1 + index, name: type, type, custom }));
  fixture.devices = [
    { id: 1, name: "constructor", site: 1, tags: PROTOTYPE_MEMBERS, custom, interfaces },
    { id: 2, name: "plain", site: 1 },
  ];
  const result = await target.import(["netbox", serve(fixture).url, "--verbose"]);
  expect([result.err, result.out.split("\n").filter((line) => line.startsWith("refused"))]).toEqual(["", []]);
  expect(counts(result, "tags")).toEqual([PROTOTYPE_MEMBERS.length, 0, 0, 0, 0]);
  expect(counts(result, "interfaces")).toEqual([PROTOTYPE_MEMBERS.length, 0, 0, 0, 0]);
  const host = (await target.list("hosts")).find(({ name }) => name === "constructor");
  expect(new Set(host.interfaces.map(({ if_type }: any) => if_type))).toEqual(new Set([1]));
  expect(host.custom_fields.constructor).toBe("constructor");
  expect(Object.keys(host.custom_fields)).toHaveLength(PROTOTYPE_MEMBERS.length);
});

describe("any proxy variables", () => {
  test("are ignored by an import to this machine, by address and by name", async () => {
    const log = proxy();
    const netbox = serve(minimalData());
    const env = Object.fromEntries(PROXY_VARIABLES.map((name) => [name, log.url]));
    const port = new URL(netbox.url).port;
    for (const source of [netbox.url, `http://localhost:${port}`, `http://127.1:${port}`]) {
      const result = await target.import(["netbox", source, "--dry-run"], env);
      expect([source, result.code, result.err]).toEqual([source, 0, ""]);
    }
    // No listener there: only the contacted addresses matter.
    const unused = ["https://127.0.0.1:1", "https://[::1]:1", "http://[::ffff:127.0.0.1]:1", "https://a.localhost:1"];
    for (const source of unused)
      expect((await target.import(["netbox", source], env)).err).toMatch(/NetBox cannot be reached at /);
    expect(log.received()).toBe("");
  });

  test.each(["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])(
    "apply from %s to plain HTTP only where permitted, and not to hosts in NO_PROXY",
    async (variable) => {
      const log = proxy();
      const env = { [variable]: log.url };
      const refused = await target.import(["netbox", "http://192.0.2.7"], env);
      expect([refused.code, log.received()]).toEqual([2, ""]);
      expect(refused.err).toMatch(/http:\/\/192\.0\.2\.7 is not https: .*; --plain-http permits this/);
      for (const exclusion of ["NO_PROXY", "no_proxy"]) {
        const excluded = { ...env, [exclusion]: "192.0.2.7" };
        const direct = await target.import(["netbox", "http://192.0.2.7", "--plain-http"], excluded);
        expect([direct.code, log.received()]).toEqual([1, ""]);
      }
      await target.import(["netbox", "http://192.0.2.7", "--plain-http"], env);
      expect(log.received()).toStartWith("GET http://192.0.2.7/api/status/ HTTP/1.1\r\n");
    },
  );

  test.each(["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])(
    "reveal the target of HTTPS to the proxy in %s, but neither token nor key",
    async (variable) => {
      const log = proxy();
      const args = ["netbox", "https://netbox.example.com", "--server", "https://netledger.example.com"];
      expect((await target.import(args, { [variable]: log.url })).code).toBe(1);
      expect(log.received()).toStartWith("CONNECT netbox.example.com:443 HTTP/1.1\r\n");
      for (const secret of [NETBOX_TOKEN, target.environment.NETLEDGER_KEY as string])
        expect(log.received()).not.toContain(secret);
    },
  );
});

describe("token and key", () => {
  const echo = (secret: string) =>
    [
      ["a refusal", () => Response.json({ detail: `Invalid token ${secret}` }, { status: 403 })],
      ["a truncated error", () => Response.json({ detail: `${"x".repeat(190)}${secret}` }, { status: 500 })],
      ["its version", () => Response.json({ "netbox-version": `2.1 ${secret}` })],
      ["a redirect", () => Response.redirect(`https://elsewhere.example/?t=${secret}`, 302)],
      ["a content type", () => new Response("", { headers: { "content-type": `text/${secret}` } })],
    ] as const;

  test.each(echo(NETBOX_TOKEN))("are not printed when the source repeats them in %s", async (_where, respond) => {
    const result = await target.import(["netbox", serve(minimalData(), { intercept: () => respond() }).url]);
    expect(result.code).toBe(1);
    expect(result.out + result.err).toContain("[hidden]");
    expect(result.out + result.err).not.toContain(NETBOX_TOKEN.slice(0, 10));
  });

  test("do not appear in plan lines or records, even as names of objects", async () => {
    const key = target.environment.NETLEDGER_KEY as string;
    const fixture = minimalData();
    fixture.sites = [{ id: 1, name: `site ${NETBOX_TOKEN}`, description: key }];
    fixture.tags = [{ id: 1, name: key }];
    fixture.fields = [{ id: 1, name: NETBOX_TOKEN, type: "text", objects: ["dcim.device"] }];
    fixture.prefixes = [{ id: 1, prefix: NETBOX_TOKEN, site: 1 }];
    fixture.devices = [
      { id: 1, name: `sw ${NETBOX_TOKEN.toUpperCase()}`, site: 1, tags: [key], custom: { [NETBOX_TOKEN]: key } },
    ];
    for (const args of [["--dry-run"], []]) {
      const result = await target.import(["netbox", serve(fixture).url, "--verbose", ...args]);
      expect(result.out).toMatch(/^created hosts: sw \[hidden\] \(/m);
      expect(result.out).toMatch(/^refused subnets: .*\[hidden\]/m);
      for (const secret of [NETBOX_TOKEN, key])
        expect((result.out + result.err).toLowerCase()).not.toContain(secret.toLowerCase());
    }
    const imported = JSON.stringify([await target.inventory(), await target.list("custom-fields")]).toLowerCase();
    for (const secret of [NETBOX_TOKEN, key]) expect(imported).not.toContain(secret.toLowerCase());
  });

  test("are not printed when a fake netledger repeats them", async () => {
    const key = target.environment.NETLEDGER_KEY as string;
    const echoServer = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => Response.json({ success: false, code: "auth_key_disabled", error: `No ${key}` }, { status: 401 }),
    });
    servers.push(echoServer);
    const result = await target.import(["netbox", serve(minimalData()).url, "--server", echoServer.url.origin]);
    expect([result.code, result.out]).toEqual([1, ""]);
    expect(result.err).toMatch(/rejects the key: No \[hidden\]$/m);
  });
});

describe("an endless source", () => {
  test.each([
    ["brackets", () => new Response("[".repeat(1_000)), /returns JSON of arrays and objects more than 64 deep/],
    [
      "a repeated page",
      () => Response.json({ count: 1_000_000, next: "more", results: [{ id: 1, name: "a" }] }),
      /\/api\/extras\/tags\/ returns the same page again/,
    ],
  ])("ends the import with a one-line error if it has %s", async (_case, respond, message) => {
    const netbox = serve(minimalData(), { intercept: (path) => (path === "/api/extras/tags/" ? respond() : null) });
    const result = await target.import(["netbox", netbox.url]);
    expect(result.code).toBe(1);
    expect(result.err).toMatch(message);
    expect(result.err.trimEnd()).not.toContain("\n");
    expect(netbox.requestedPaths.length).toBeLessThan(10);
  });
});
