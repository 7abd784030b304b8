// Read-only service of a backup: all reads work, no write does, and the file stays the same to the last byte.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { SCHEMA_VERSION } from "../../src/db/files/migrate.ts";
import type { Client } from "../support/appliance/client.ts";
import { ensureExecutable, PASSWORD, type Running, Workplace } from "../support/executable/executable.ts";

/** Above the threshold of long reads: orders and searches run off the serving thread. */
const SUBNETS = 1_100;

let place: Workplace;
let folder: string;
let file: string;
let key: string;
let live: Running;
let copy: Running;
let cookieOfLive: string;
let before: unknown[];
beforeAll(async () => {
  ensureExecutable();
  place = new Workplace();
  const made = await place.setUp();
  key = made.key;
  live = await place.serve();
  const client = live.withKey(key);
  const subnets = Array.from({ length: SUBNETS }, (_, each) => ({
    network_id: made.networkId,
    cidr: `10.${each >> 8}.${each & 255}.0/24`,
    name: `made ${each}`,
  }));
  for (let first = 0; first < SUBNETS; first += 100)
    await Promise.all(subnets.slice(first, first + 100).map((body) => client.post("subnets", body)));
  const [subnet] = (await client.get("subnets?limit=1")).data;
  await client.put(`subnets/${subnet.id}`, { cidr: subnet.cidr, name: "renamed" });
  cookieOfLive = await signIn(live.client());
  await live.client({ cookie: cookieOfLive }).put("/api/auth/preferences", { theme: "dark" });
  folder = place.path("archive");
  mkdirSync(folder);
  file = join(folder, "copy.db");
  expect((await place.command("backup", file)).code).toBe(0);
  // The folder and the file are read-only for users other than root.
  chmodSync(file, 0o400);
  chmodSync(folder, 0o500);
  before = contents();
  copy = await place.serve(["--read-only", file]);
});
afterAll(async () => {
  chmodSync(folder, 0o700);
  await place.close();
});

async function signIn(client: Client): Promise<string> {
  const answer = await client.post("/api/auth/login", { email: "owner@acme.example", password: PASSWORD });
  expect(answer.status).toBe(200);
  return answer.headers.get("set-cookie")?.split(";")[0] ?? "";
}

/** Every file of the backup's folder, with bytes and modification time. */
function contents(): unknown[] {
  return readdirSync(folder).map((name) => [
    name,
    statSync(join(folder, name)).mtimeMs,
    Bun.hash(readFileSync(join(folder, name))),
  ]);
}

test("prints its address, its file and the instant served", () => {
  expect(copy.lines).toHaveLength(3);
  expect(copy.lines[1]).toMatch(/^Read-only: .*copy\.db; last change \d{4}-.*Z$/);
  expect(copy.log).toContain(`read_only=${file}`);
});

test("health and version report read-only mode", async () => {
  expect((await copy.client().get("/api/health")).data).toEqual({ status: "ok", read_only: true, limitations: [] });
  expect((await copy.client().get("/api/version")).data).toMatchObject({
    schema_version: SCHEMA_VERSION,
    read_only: true,
  });
  expect((await copy.client().get("/api/auth/setup")).data).toEqual({ needed: false });
});

test("requests are answered as by the appliance itself", async () => {
  const [first] = (await live.withKey(key).get("subnets?limit=1")).data;
  const paths = [
    "/api/v1/subnets?limit=7&offset=3",
    "/api/v1/subnets?limit=0",
    "/api/v1/subnets?order_by=name&order_direction=desc&limit=5",
    "/api/v1/subnets/export/csv",
    `/api/v1/subnets/${first.id}`,
    `/api/v1/subnets/${first.id}?at=${first.created_at}`,
    `/api/v1/subnets/${first.id}/history`,
    `/api/v1/subnets?at=${first.created_at}`,
    "/api/v1/networks?at=2020-01-01T00:00:00Z",
    "/api/v1/hosts",
    "/api/v1/changes?limit=20",
    "/api/v1/organizations",
  ];
  for (const path of paths) {
    const [expected, answer] = await Promise.all([live.withKey(key).get(path), copy.withKey(key).get(path)]);
    expect([path, answer.status, answer.text]).toEqual([path, 200, expected.text]);
  }
});

test("a password sign-in opens a session of this process only", async () => {
  expect((await copy.client({ cookie: cookieOfLive }).get("/api/auth/me")).status).toBe(401);
  const wrong = await copy
    .client()
    .post("/api/auth/login", { email: "owner@acme.example", password: "not the right one" });
  expect(wrong.body.code).toBe("auth_invalid_credentials");
  const cookie = await signIn(copy.client());
  const session = copy.client({ cookie });
  expect((await session.get("/api/auth/me")).data).toMatchObject({
    email: "owner@acme.example",
    authenticated_by: "Session",
  });
  expect((await session.get("auth/keys")).data).toHaveLength(1);
  expect((await session.get("/api/auth/sessions")).data).toMatchObject([
    { last_used_from: "127.0.0.1", user_agent: expect.stringMatching(/^Bun\//), is_current: true },
  ]);
  expect((await live.client({ cookie }).get("/api/auth/me")).status).toBe(401);
  expect((await session.post("/api/auth/logout", {})).status).toBe(200);
  expect((await session.get("/api/auth/me")).status).toBe(401);
});

test("every write operation is refused with store_read_only", async () => {
  const document = (await copy.client().get("/api/openapi.json")).body as {
    paths: Record<string, Record<string, Operation>>;
  };
  const session = copy.client({ cookie: await signIn(copy.client()) });
  const answers: Array<[string, string]> = [];
  for (const [path, byMethod] of Object.entries(document.paths)) {
    // A download changes nothing; a backup has no backups.
    if (path.startsWith("/api/auth/") || path.endsWith("/download")) continue;
    for (const [method, operation] of Object.entries(byMethod)) {
      if (method === "get") continue;
      const id =
        operation.responses["200"].content?.["application/json"]?.example.data?.id ??
        "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0007";
      const [type, body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
      const answer = await session.send(
        method.toUpperCase(),
        path.replaceAll(/\{(\w+)\}/g, (_whole, name) => (name === "sequence" ? "1" : id)),
        body?.example,
        type === undefined ? {} : { "content-type": type },
      );
      answers.push([`${method} ${path}`, `${answer.status} ${answer.body?.code}`]);
    }
  }
  expect(answers.length).toBeGreaterThan(50);
  // There is no storage for results, so none can be started.
  expect((await session.get("ledger/verifications")).data).toEqual([]);
  expect(answers.filter(([, code]) => code !== "403 store_read_only")).toEqual([]);
  const password = await session.put("/api/auth/password", {
    current_password: PASSWORD,
    new_password: "another long phrase",
  });
  expect(password.body.code).toBe("store_read_only");
  const preferences = await session.put("/api/auth/preferences", { theme: "light" });
  expect([preferences.status, preferences.body.code]).toEqual([403, "store_read_only"]);
  expect((await session.get("/api/auth/preferences")).data).toEqual({ theme: "dark" });
});

test("no caller is offered write operations", async () => {
  const document = (await copy.client().get("/api/openapi.json")).body as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  const methods = new Map(
    Object.values(document.paths).flatMap((byMethod) =>
      Object.entries(byMethod).map(([method, { operationId }]) => [operationId, method] as const),
    ),
  );
  const callers = (served: Running, cookie: string) => [served.client({ cookie }), served.withKey(key)];
  const onCopy = callers(copy, await signIn(copy.client()));
  const onLive = callers(live, await signIn(live.client()));
  for (const [place, client] of onCopy.entries()) {
    const there = (await onLive[place]?.get("/api/auth/me"))?.data.permitted_operations as string[];
    const here = (await client.get("/api/auth/me")).data.permitted_operations as string[];
    expect(there.filter((each) => methods.get(each) !== "get").length).toBeGreaterThan(50);
    // Sessions are in memory.
    const sessions = ["signIn", "signOut", "endSession", "endOtherSessions"];
    expect(here).toEqual(there.filter((each) => methods.get(each) === "get" || sessions.includes(each)));
    expect(here).toContain("listHosts");
  }
});

test("backups are not available", async () => {
  expect((await copy.withKey(key).get("backups")).data).toEqual([]);
  expect((await copy.withKey(key).post("backups", {})).body.code).toBe("store_read_only");
});

test("several processes can serve the same file, without a trace", async () => {
  const other = await place.serve(["--read-only", file]);
  expect((await other.withKey(key).get("subnets?limit=0")).data).toHaveLength(SUBNETS);
  expect((await copy.withKey(key).get("subnets?limit=1")).data).toHaveLength(1);
  expect((await other.stop()).code).toBe(0);
  expect(contents()).toEqual(before);
});

describe("refused with status 3 and one sentence:", () => {
  const refused = async (path: string) => place.run(["serve", "--read-only", path, "--listen", "127.0.0.1:0"]);

  test("an appliance's database", async () => {
    const database = join(place.data, "netledger.db");
    expect((await refused(database)).err).toStartWith(
      `netledger: ${database} is incomplete: ${database}-wal belongs to it.`,
    );
    const stopped = place.path("stopped.db");
    copyFileSync(database, stopped);
    expect(await refused(stopped)).toEqual({
      code: 3,
      signal: null,
      out: "",
      err: `netledger: ${stopped} is the database of an appliance, not a backup: take one with netledger backup.\n`,
    });
  });

  test.each([
    [SCHEMA_VERSION + 1, "was written by a newer netledger"],
    [
      SCHEMA_VERSION - 1,
      `has the schema ${SCHEMA_VERSION - 1}, and this netledger reads ${SCHEMA_VERSION}: netledger restore upgrades it into a folder of its own.`,
    ],
  ])("a backup with the schema %i", async (version, sentence) => {
    const path = place.path(`${version}.db`);
    copyFileSync(file, path);
    chmodSync(path, 0o600);
    const db = new Database(path, { readwrite: true });
    db.run(`PRAGMA user_version = ${version}`);
    db.close(true);
    const { code, err } = await refused(path);
    expect(code).toBe(3);
    expect(err).toContain(sentence);
  });

  test("a backup with a view in place of a table, as by verify --backup and restore", async () => {
    const path = place.path("foreign.db");
    copyFileSync(file, path);
    chmodSync(path, 0o600);
    const db = new Database(path, { readwrite: true });
    db.run("DROP TABLE appliance_settings");
    db.run("CREATE VIEW appliance_settings AS SELECT '' AS name, '' AS value, 0 AS checksum");
    db.close(true);
    const sentence = `netledger: ${path} holds the view "appliance_settings", which netledger did not create: it cannot be read as a backup.\n`;
    expect(await refused(path)).toEqual({ code: 3, signal: null, out: "", err: sentence });
    for (const command of [
      ["verify", "--backup", path],
      ["restore", path, "--data", place.path("restored")],
    ])
      expect(await place.run(command)).toEqual({ code: 3, signal: null, out: "", err: sentence });
  });

  test("a missing file", async () => {
    expect((await refused(place.path("nothing.db"))).err).toBe(
      `netledger: There is no file ${place.path("nothing.db")}.\n`,
    );
  });
});

test("a stop leaves the file unchanged", async () => {
  const end = await copy.stop();
  expect([end.code, contents()]).toEqual([0, before]);
});

interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example: any }>> };
  readonly responses: {
    readonly "200": {
      readonly content?: {
        readonly "application/json"?: { readonly example: { readonly data: { readonly id: string } | null } };
      };
    };
  };
}
