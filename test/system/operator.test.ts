// Organizations, users and keys created by subcommands: next to a running appliance, which sees them at once, and
// without one.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { isWellFormedApiKey } from "../../src/access/api-key.ts";
import { type CommandResult, OWNER, PASSWORD, SET_UP_KEY } from "../support/executable/executable.ts";
import { sandboxForEach } from "../support/executable/sandboxes.ts";

const sandbox = sandboxForEach();

/** Runs a command of these words, and of arguments that may contain spaces. */
function command(words: string, ...args: string[]): Promise<CommandResult> {
  return sandbox.command(...words.split(" "), ...args);
}

/** Rows of a list, keyed by its header. */
function rows({ out }: CommandResult): Record<string, string>[] {
  const [header = [], ...lines] = out
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t"));
  return lines.map((cells) => Object.fromEntries(header.map((name, position) => [name, cells[position] ?? ""])));
}

describe("setup", () => {
  test("creates the first organization if there is no data yet", async () => {
    await sandbox.setUp();
    const user = { organization: "Acme", email: OWNER, name: OWNER, role: "Owner", state: "enabled", last_login: "" };
    expect(rows(await command("user list"))).toEqual([{ id: expect.any(String), ...user }]);
  });

  test("creates another, isolated organization next to a running appliance", async () => {
    const { key, running } = await sandbox.serveSetUp();
    const created = await command(
      "setup --organization Beta --network Branch --email owner@beta.example --password-file",
      await sandbox.passwordFile(),
    );
    expect([created.code, created.err]).toEqual([0, ""]);
    expect(created.out).toMatch(
      /^organization_id\t[0-9a-f-]{36}\nnetwork_id\t[0-9a-f-]{36}\nuser_id\t[0-9a-f-]{36}\n$/,
    );

    const betaKey = (await command("key create --email owner@beta.example --name b")).out.trim();
    expect((await running.withKey(betaKey).get("networks")).data).toMatchObject([{ name: "Branch" }]);
    expect((await running.withKey(key).get("networks")).data).toMatchObject([{ name: "Main" }]);
  });

  test("refuses a used e-mail address, and creates nothing", async () => {
    await sandbox.setUp();
    const result = await command(
      "setup --organization Beta --network Branch --email OWNER@acme.example --password-file",
      await sandbox.passwordFile(),
    );
    const err = "netledger: There is already a user with the email OWNER@acme.example.\n";
    expect(result).toEqual({ code: 1, signal: null, out: "", err });
    expect(rows(await command("user list"))).toHaveLength(1);
  });
});

describe("user", () => {
  test("create adds a user who can sign in and access the given networks", async () => {
    const { networkId, running } = await sandbox.serveSetUp();
    const words = "user create --email noc@acme.example --role Member --networks main --password-file - --name";
    const args = [...words.split(" "), "Night shift", "--data", sandbox.data];
    const created = await sandbox.run(args, { stdin: `${PASSWORD}\n` });
    expect([created.code, created.err]).toEqual([0, ""]);
    const signedIn = await running.client().post("/api/auth/login", { email: "noc@acme.example", password: PASSWORD });
    const user = { name: "Night shift", role: "Member", network_ids: [networkId] };
    expect(signedIn.data).toMatchObject({ id: created.out.trim(), ...user });
  });

  test("commands store --reason, like key and setup commands", async () => {
    const { running } = await sandbox.serveSetUp();
    const night = "--email night@acme.example";
    const key = await command("key create --email owner@acme.example --name k --permissions Owner --reason", " CHG-1 ");
    expect([key.code, key.err]).toEqual([0, ""]);
    const [{ id }] = rows(await command("key list")).filter(({ name }) => name === "k") as [{ id: string }];
    for (const [reason, words] of [
      ["CHG-2: Größe", `key disable --id ${id}`],
      ["CHG-3", `key enable --id ${id}`],
      ["CHG-4", `user create ${night} --role Viewer --password-file ${await sandbox.passwordFile()}`],
      ["CHG-5", `user disable ${night}`],
      ["CHG-6", `user enable ${night}`],
    ] as const)
      expect([words, (await command(words, "--reason", reason)).code]).toEqual([words, 0]);
    const client = running.withKey(key.out.trim());
    const { data } = await client.get("transactions?reason=chg&order_direction=asc");
    const commands = data.map(({ command, reason }: Record<string, string>) => `${command} ${reason}`);
    expect(commands).toEqual(["user.create CHG-4", "user.update CHG-5", "user.update CHG-6"]);
    const db = new Database(join(sandbox.data, "netledger.db"), { readonly: true });
    const reasons = "SELECT reason FROM history_transactions WHERE source LIKE 'api_key.%' ORDER BY sequence";
    expect(db.query(reasons).values().slice(-3)).toEqual([["CHG-1"], ["CHG-2: Größe"], ["CHG-3"]]);
    db.close();
    const created = await command(
      "setup --organization Beta --network Branch --email owner@beta.example --reason CHG-7 --password-file",
      await sandbox.passwordFile(),
    );
    expect([created.code, created.err]).toEqual([0, ""]);
    const betaKey = (await command("key create --email owner@beta.example --name b")).out.trim();
    const transactions = await running.withKey(betaKey).get("transactions?reason=chg-7");
    expect(transactions.data).toMatchObject([{ command: "organization.set_up", reason: "CHG-7" }]);
    const err = expect.stringContaining("--reason must not be blank or contain control characters");
    expect(await command("key delete --id", id, "--reason", "a\u0007b")).toMatchObject({ code: 2, err });
    expect((await command("key delete --id", id, "--reason", "CHG-8")).code).toBe(0);
  });

  test("password sets a new password, and ends the sessions", async () => {
    await sandbox.setUp();
    const running = await sandbox.serve();
    const signIn = (password: string) => running.client().post("/api/auth/login", { email: OWNER, password });
    const signedIn = await signIn(PASSWORD);
    const session = running.client({ cookie: signedIn.headers.get("set-cookie")?.split(";")[0] ?? "" });
    expect((await session.get("/api/auth/me")).status).toBe(200);

    const changed = await sandbox.run(
      ["user", "password", "--data", sandbox.data, "--email", "owner@acme.example", "--password-file", "-"],
      { stdin: "another long phrase" },
    );
    expect(changed).toMatchObject({ code: 0, out: "", err: "" });
    expect((await session.get("/api/auth/me")).status).toBe(401);
    expect((await signIn(PASSWORD)).status).toBe(401);
    expect((await signIn("another long phrase")).status).toBe(200);
  });

  test("disable blocks a user and their keys, and enable reverses it", async () => {
    await sandbox.setUp();
    await command("user create --email noc@acme.example --role Admin --password-file", await sandbox.passwordFile());
    const key = (await command("key create --email noc@acme.example --name k")).out.trim();
    const running = await sandbox.serve();
    expect((await running.withKey(key).get("tags")).status).toBe(200);

    expect((await command("user disable --email NOC@acme.example")).code).toBe(0);
    expect((await running.withKey(key).get("tags")).body.code).toBe("auth_key_disabled");
    const states = rows(await command("user list")).map(({ email, state }) => `${email} ${state}`);
    expect(states).toEqual(["owner@acme.example enabled", "noc@acme.example disabled"]);

    expect((await command("user enable --email noc@acme.example")).code).toBe(0);
    expect((await running.withKey(key).get("tags")).status).toBe(200);
  });

  test("disable refuses the only Owner of an organization", async () => {
    await sandbox.setUp();
    const result = await command("user disable --email owner@acme.example");
    expect([result.code, result.out]).toEqual([1, ""]);
    expect(result.err).toContain("only Owner");
  });

  test("unknown names are reported", async () => {
    await sandbox.setUp();
    expect((await command("user disable --email no@acme.example")).err).toBe(
      'netledger: There is no user with the e-mail address "no@acme.example".\n',
    );
    const create = `user create --email a@acme.example --role Viewer --password-file ${await sandbox.passwordFile()}`;
    expect((await command(create, "--organization", "Beta")).err).toMatch(
      /^netledger: There is no organization "Beta", but [0-9a-f-]{36} Acme\.\n$/,
    );
    expect((await command(create, "--networks", "Main,Branch")).err).toBe(
      'netledger: There is no network "Branch" in Acme.\n',
    );
    expect(rows(await command("user list"))).toHaveLength(1);
  });
});

describe("key", () => {
  test("create prints only the key, and the key works within its permissions", async () => {
    const { networkId, running } = await sandbox.serveSetUp();
    const created = await command("key create --email owner@acme.example --name reader --networks", networkId);
    expect([created.code, created.err]).toEqual([0, ""]);
    expect(created.out).toEndWith("\n");
    expect(isWellFormedApiKey(created.out.slice(0, -1))).toBe(true);
    const client = running.withKey(created.out.trim());
    expect((await client.get("networks")).data).toHaveLength(1);
    expect((await client.post("tags", { name: "x", color: "Red" })).body.code).toBe("auth_permission_denied");
  });

  test("list shows a mask and never a key", async () => {
    const { key } = await sandbox.setUp();
    const list = await command("key list --email owner@acme.example");
    const named = { email: OWNER, name: SET_UP_KEY, permissions: "Owner", state: "enabled", allowed_sources: "" };
    const row = { ...named, key: `${key.slice(0, 8)}…`, expires_at: "", last_used: "" };
    expect(rows(list)).toEqual([{ id: expect.any(String), ...row }]);
    expect(list.out).not.toContain(key);
  });

  test("create limits a key's source addresses, and list shows them", async () => {
    const { running } = await sandbox.serveSetUp();
    const create = (name: string, sources: string) =>
      command("key create --email owner@acme.example --name", name, "--allowed-sources", sources);
    const [near, far] = [await create("near", "127.0.0.1, 2001:DB8::/32"), await create("far", "127.0.0.2/32")];
    expect((await running.withKey(near.out.trim()).get("tags")).status).toBe(200);
    const refused = { status: 401, body: { code: "auth_not_authenticated" } };
    expect(await running.withKey(far.out.trim()).get("tags")).toMatchObject(refused);
    const listed = rows(await command("key list")).map(({ name, allowed_sources }) => [name, allowed_sources]);
    expect(listed).toEqual([
      [SET_UP_KEY, ""],
      ["near", "127.0.0.1/32,2001:db8::/32"],
      ["far", "127.0.0.2/32"],
    ]);
  });

  test("disable, enable and delete take effect immediately", async () => {
    const { key, running } = await sandbox.serveSetUp();
    const id = rows(await command("key list"))[0]?.id ?? "";
    const status = async () => (await running.withKey(key).get("tags")).body.code ?? "ok";
    expect(await status()).toBe("ok");
    expect((await command("key disable --id", id)).code).toBe(0);
    expect(await status()).toBe("auth_key_disabled");
    expect((await command("key enable --id", id.toUpperCase())).code).toBe(0);
    expect(await status()).toBe("ok");
    expect((await command("key delete --id", id)).code).toBe(0);
    expect(await status()).toBe("auth_not_authenticated");
    const err = `netledger: There is no API key with the id ${id}.\n`;
    expect(await command("key delete --id", id)).toMatchObject({ code: 1, err });
  });
});

test("subcommands and the appliance can write concurrently, and the ledger records each once", async () => {
  const { networkId, client } = await sandbox.serveSetUp();
  const passwordFile = await sandbox.passwordFile();
  const users = Array.from({ length: 4 }, (_, position) =>
    command("user create --email", `u${position}@acme.example`, "--role", "Viewer", "--password-file", passwordFile),
  );
  let busy = true;
  const ended = Promise.all(users).finally(() => (busy = false));
  const created: string[] = [];
  for (let position = 0; busy; position += 1) {
    const cidr = `10.${position >> 8}.${position & 255}.0/24`;
    const response = await client.post("subnets", { network_id: networkId, cidr, name: "s" });
    expect(response.status).toBe(200);
    created.push(response.data.id);
  }
  expect((await ended).map(({ code, err }) => [code, err])).toEqual(users.map(() => [0, ""]));
  const list = await client.get("subnets?limit=0");
  expect(list.data.map((subnet: { id: string }) => subnet.id)).toEqual(created);
  expect(rows(await command("user list"))).toHaveLength(5);
});

describe("an organization that requires change reasons", () => {
  test("does not require one from the machine's operator, but stores a given one", async () => {
    const { client, networkId, running } = await sandbox.serveSetUp();
    const update = await client.put("organizations", { name: "Acme", require_change_reason: true });
    expect(update).toMatchObject({ status: 200 });
    const before = (await client.get("ledger")).data.sequence;
    const missingReason = { status: 400, body: { params: { issues: [{ path: "/X-Change-Reason" }] } } };
    expect(await client.post("tags", { name: "a", color: "Red" })).toMatchObject(missingReason);
    const user = "--email late@acme.example";
    const withPassword = `${user} --password-file ${await sandbox.passwordFile()}`;
    const create = `user create ${withPassword} --role Member --networks ${networkId}`;
    expect(await command(create)).toMatchObject({ code: 0, err: "" });
    expect(await command(`user password ${withPassword} --reason CHG-7`)).toMatchObject({ code: 0 });
    const key = await command(`key create ${user} --name night --permissions Member`);
    expect(key).toMatchObject({ code: 0, err: "" });
    // A key created by such a command needs reasons like any other.
    const createHost = (headers = {}) =>
      running.withKey(key.out.trim()).post("hosts", { network_id: networkId, name: "h" }, headers);
    expect(await createHost()).toMatchObject(missingReason);
    expect(await createHost({ "x-change-reason": "CHG-8" })).toMatchObject({ status: 200 });
    await running.stop();

    expect(await command(`user disable ${user}`)).toMatchObject({ code: 0, err: "" });
    expect(await command("verify")).toMatchObject({ code: 0 });
    const db = new Database(join(sandbox.data, "netledger.db"), { readonly: true });
    const query = db.query("SELECT source, actor_type, reason FROM history_transactions WHERE sequence > ?");
    expect(query.values(before)).toEqual([
      ["user.create", "System", null],
      ["user.set_password", "System", "CHG-7"],
      ["api_key.create", "System", null],
      ["host.create", "ApiKey", "CHG-8"],
      ["user.update", "System", null],
    ]);
    db.close();
  });
});
