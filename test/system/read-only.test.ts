// Read-only service of a backup: all reads work, all writes are rejected, and the file does not change.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { SCHEMA_VERSION } from "../../src/db/files/migrate.ts";
import type { Client } from "../support/appliance/client.ts";
import { ensureExecutable, OWNER, PASSWORD, type Running, Sandbox } from "../support/executable/executable.ts";

/** Above the threshold of long reads: orders and searches run off the serving thread. */
const SUBNETS = 1_100;

let sandbox: Sandbox;
let folder: string;
let file: string;
let key: string;
let live: Running;
let copy: Running;
let liveCookie: string;
let before: unknown[];
beforeAll(async () => {
  ensureExecutable();
  sandbox = new Sandbox();
  const setup = await sandbox.setUp();
  key = setup.key;
  live = await sandbox.serve();
  const client = live.withKey(key);
  const subnets = Array.from({ length: SUBNETS }, (_, index) => [
    `10.${index >> 8}.${index & 255}.0/24`,
    `made ${index}`,
  ]);
  const create = ([cidr, name]: string[]) => client.post("subnets", { network_id: setup.networkId, cidr, name });
  for (let first = 0; first < SUBNETS; first += 100) await Promise.all(subnets.slice(first, first + 100).map(create));
  const [subnet] = (await client.get("subnets?limit=1")).data;
  await client.put(`subnets/${subnet.id}`, { cidr: subnet.cidr, name: "renamed" });
  liveCookie = await signIn(live.client());
  await live.client({ cookie: liveCookie }).put("/api/auth/preferences", { theme: "dark" });
  folder = sandbox.path("archive");
  mkdirSync(folder);
  file = join(folder, "copy.db");
  expect((await sandbox.command("backup", file)).code).toBe(0);
  // The directory and the file are read-only for users other than root.
  chmodSync(file, 0o400);
  chmodSync(folder, 0o500);
  before = contents();
  copy = await sandbox.serve(["--read-only", file]);
});
afterAll(async () => {
  chmodSync(folder, 0o700);
  await sandbox.close();
});

async function signIn(client: Client): Promise<string> {
  const response = await client.post("/api/auth/login", { email: OWNER, password: PASSWORD });
  expect(response.status).toBe(200);
  return response.headers.get("set-cookie")?.split(";")[0] ?? "";
}

/** Every file of the backup's directory, with bytes and modification time. */
function contents(): unknown[] {
  return readdirSync(folder).map((name) => {
    const path = join(folder, name);
    return [name, statSync(path).mtimeMs, Bun.hash(readFileSync(path))];
  });
}

test("a start prints the address, the file and the timestamp served", () => {
  expect(copy.lines).toHaveLength(3);
  expect(copy.lines[1]).toMatch(/^Read-only: .*copy\.db; last change \d{4}-.*Z$/);
  expect(copy.log).toContain(`read_only=${file}`);
});

test("health and version report read-only mode", async () => {
  expect((await copy.client().get("/api/health")).data).toEqual({ status: "ok", read_only: true, limitations: [] });
  const version = { schema_version: SCHEMA_VERSION, read_only: true };
  expect((await copy.client().get("/api/version")).data).toMatchObject(version);
  expect((await copy.client().get("/api/auth/setup")).data).toEqual({ needed: false });
});

test("the copy responds to requests like the appliance itself", async () => {
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
    const [expected, response] = await Promise.all([live.withKey(key).get(path), copy.withKey(key).get(path)]);
    expect([path, response.status, response.text]).toEqual([path, 200, expected.text]);
  }
});

test("a password sign-in opens a session of this process only", async () => {
  expect((await copy.client({ cookie: liveCookie }).get("/api/auth/me")).status).toBe(401);
  const failure = await copy.client().post("/api/auth/login", { email: OWNER, password: "not the right one" });
  expect(failure.body.code).toBe("auth_invalid_credentials");
  const cookie = await signIn(copy.client());
  const session = copy.client({ cookie });
  expect((await session.get("/api/auth/me")).data).toMatchObject({ email: OWNER, authenticated_by: "Session" });
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
  const responses: Array<[string, string]> = [];
  for (const [path, byMethod] of Object.entries(document.paths)) {
    // A download changes nothing; a backup has no backups.
    if (path.startsWith("/api/auth/") || path.endsWith("/download")) continue;
    for (const [method, operation] of Object.entries(byMethod)) {
      if (method === "get") continue;
      const id =
        operation.responses["200"].content?.["application/json"]?.example.data?.id ??
        "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0007";
      const [type, body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
      const response = await session.send(
        method.toUpperCase(),
        path.replaceAll(/\{(\w+)\}/g, (_match, name) => (name === "sequence" ? "1" : id)),
        body?.example,
        type === undefined ? {} : { "content-type": type },
      );
      responses.push([`${method} ${path}`, `${response.status} ${response.body?.code}`]);
    }
  }
  expect(responses.length).toBeGreaterThan(50);
  // There is no storage for results, so none can be started.
  expect((await session.get("ledger/verifications")).data).toEqual([]);
  expect(responses.filter(([, code]) => code !== "403 store_read_only")).toEqual([]);
  const newPassword = { current_password: PASSWORD, new_password: "another long phrase" };
  const password = await session.put("/api/auth/password", newPassword);
  expect(password.body.code).toBe("store_read_only");
  const preferences = await session.put("/api/auth/preferences", { theme: "light" });
  expect([preferences.status, preferences.body.code]).toEqual([403, "store_read_only"]);
  expect((await session.get("/api/auth/preferences")).data).toEqual({ theme: "dark" });
});

test("permitted operations contain no writes", async () => {
  const document = (await copy.client().get("/api/openapi.json")).body as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  const operations = Object.values(document.paths).flatMap((byMethod) => Object.entries(byMethod));
  const methods = new Map(operations.map(([method, { operationId }]) => [operationId, method]));
  const callers = (served: Running, cookie: string) => [served.client({ cookie }), served.withKey(key)];
  const copyCallers = callers(copy, await signIn(copy.client()));
  const liveCallers = callers(live, await signIn(live.client()));
  for (const [index, client] of copyCallers.entries()) {
    const livePermissions = (await liveCallers[index]?.get("/api/auth/me"))?.data.permitted_operations as string[];
    const copyPermissions = (await client.get("/api/auth/me")).data.permitted_operations as string[];
    expect(livePermissions.filter((id) => methods.get(id) !== "get").length).toBeGreaterThan(50);
    // Sessions are in memory.
    const sessions = ["signIn", "signOut", "endSession", "endOtherSessions"];
    const expected = livePermissions.filter((id) => methods.get(id) === "get" || sessions.includes(id));
    expect(copyPermissions).toEqual(expected);
    expect(copyPermissions).toContain("listHosts");
  }
});

test("backups are not available", async () => {
  expect((await copy.withKey(key).get("backups")).data).toEqual([]);
  expect((await copy.withKey(key).post("backups", {})).body.code).toBe("store_read_only");
});

test("several processes can serve the same file without changing it", async () => {
  const otherCopy = await sandbox.serve(["--read-only", file]);
  expect((await otherCopy.withKey(key).get("subnets?limit=0")).data).toHaveLength(SUBNETS);
  expect((await copy.withKey(key).get("subnets?limit=1")).data).toHaveLength(1);
  expect((await otherCopy.stop()).code).toBe(0);
  expect(contents()).toEqual(before);
});

describe("refused with status 3 and one sentence", () => {
  const serveFile = async (path: string) => sandbox.run(["serve", "--read-only", path, "--listen", "127.0.0.1:0"]);
  const changedCopy = (...statements: string[]) => {
    const path = sandbox.path(`${crypto.randomUUID()}.db`);
    copyFileSync(file, path);
    chmodSync(path, 0o600);
    const db = new Database(path, { readwrite: true });
    for (const statement of statements) db.run(statement);
    db.close(true);
    return path;
  };

  test("an appliance's database", async () => {
    const database = join(sandbox.data, "netledger.db");
    const incomplete = `netledger: ${database} is incomplete without ${database}-wal.`;
    expect((await serveFile(database)).err).toStartWith(incomplete);
    const stopped = sandbox.path("stopped.db");
    copyFileSync(database, stopped);
    const sentence = `${stopped} is the database of an appliance, not a backup: take one with netledger backup.`;
    expect(await serveFile(stopped)).toEqual({ code: 3, signal: null, out: "", err: `netledger: ${sentence}\n` });
  });

  test.each([
    [SCHEMA_VERSION + 1, "was written by a newer netledger"],
    [
      SCHEMA_VERSION - 1,
      `has schema version ${SCHEMA_VERSION - 1}, but this netledger reads ${SCHEMA_VERSION}: netledger restore upgrades it into a separate folder.`,
    ],
  ])("a backup with the schema %i", async (version, sentence) => {
    const path = changedCopy(`PRAGMA user_version = ${version}`);
    const { code, err } = await serveFile(path);
    expect(code).toBe(3);
    expect(err).toContain(sentence);
  });

  test("a backup with a view in place of a table, as by verify --backup and restore", async () => {
    const path = changedCopy(
      "DROP TABLE appliance_settings",
      "CREATE VIEW appliance_settings AS SELECT '' AS name, '' AS value, 0 AS checksum",
    );
    const sentence = `netledger: ${path} holds the view "appliance_settings", which netledger did not create: it cannot be read as a backup.\n`;
    expect(await serveFile(path)).toEqual({ code: 3, signal: null, out: "", err: sentence });
    for (const command of [
      ["verify", "--backup", path],
      ["restore", path, "--data", sandbox.path("restored")],
    ])
      expect(await sandbox.run(command)).toEqual({ code: 3, signal: null, out: "", err: sentence });
  });

  test("a missing file", async () => {
    const path = sandbox.path("nothing.db");
    expect((await serveFile(path)).err).toBe(`netledger: There is no file ${path}.\n`);
  });
});

test("stopping leaves the file unchanged", async () => {
  const result = await copy.stop();
  expect([result.code, contents()]).toEqual([0, before]);
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
