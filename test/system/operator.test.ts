// Organizations, users and keys created by subcommands: next to a running appliance, which sees them at once, and
// without one.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { isWellFormedApiKey } from "../../src/access/api-key.ts";
import { type Finished, PASSWORD, SET_UP_KEY } from "../support/executable/executable.ts";
import { workplaceForEach } from "../support/executable/workplaces.ts";

const place = workplaceForEach();

function command(...args: string[]): Promise<Finished> {
  return place.command(...args);
}

/** Rows of a list, keyed by its header. */
function rows({ out }: Finished): Record<string, string>[] {
  const [head = [], ...lines] = out
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t"));
  return lines.map((cells) => Object.fromEntries(head.map((name, position) => [name, cells[position] ?? ""])));
}

describe("setup", () => {
  test("creates the first organization if there are no data yet", async () => {
    await place.setUp();
    const users = rows(await command("user", "list"));
    expect(users).toEqual([
      {
        id: expect.any(String),
        organization: "Acme",
        email: "owner@acme.example",
        name: "owner@acme.example",
        role: "Owner",
        state: "enabled",
        last_login: "",
      },
    ]);
  });

  test("creates a further one next to a running appliance, isolated from others", async () => {
    const { key, running } = await place.serveSetUp();
    const made = await command(
      "setup",
      "--organization",
      "Beta",
      "--network",
      "Branch",
      "--email",
      "owner@beta.example",
      "--password-file",
      await place.passwordFile(),
    );
    expect([made.code, made.err]).toEqual([0, ""]);
    expect(made.out).toMatch(/^organization_id\t[0-9a-f-]{36}\nnetwork_id\t[0-9a-f-]{36}\nuser_id\t[0-9a-f-]{36}\n$/);

    const other = (await command("key", "create", "--email", "owner@beta.example", "--name", "b")).out.trim();
    expect(
      (await running.withKey(other).get("networks")).data.map((network: { name: string }) => network.name),
    ).toEqual(["Branch"]);
    expect((await running.withKey(key).get("networks")).data.map((network: { name: string }) => network.name)).toEqual([
      "Main",
    ]);
  });

  test("refuses a used e-mail address, and creates nothing", async () => {
    await place.setUp();
    const refused = await command(
      "setup",
      "--organization",
      "Beta",
      "--network",
      "Branch",
      "--email",
      "OWNER@acme.example",
      "--password-file",
      await place.passwordFile(),
    );
    expect(refused).toEqual({
      code: 1,
      signal: null,
      out: "",
      err: "netledger: There is already a user with the email OWNER@acme.example.\n",
    });
    expect(rows(await command("user", "list"))).toHaveLength(1);
  });
});

describe("user", () => {
  test("create adds a user who can sign in with the named reach", async () => {
    const { networkId, running } = await place.serveSetUp();
    const made = await place.run(
      [
        "user",
        "create",
        "--data",
        place.data,
        "--email",
        "noc@acme.example",
        "--name",
        "Night shift",
        "--role",
        "Member",
        "--networks",
        "main",
        "--password-file",
        "-",
      ],
      { stdin: `${PASSWORD}\n` },
    );
    expect([made.code, made.err]).toEqual([0, ""]);
    const signedIn = await running.client().post("/api/auth/login", { email: "noc@acme.example", password: PASSWORD });
    expect(signedIn.data).toMatchObject({
      id: made.out.trim(),
      name: "Night shift",
      role: "Member",
      network_ids: [networkId],
    });
  });

  test("changes, like those of keys and organizations, store --reason", async () => {
    const { running } = await place.serveSetUp();
    const [email, night] = [
      ["--email", "owner@acme.example"],
      ["--email", "night@acme.example"],
    ] as const;
    const key = await command(
      "key",
      "create",
      ...email,
      "--name",
      "k",
      "--permissions",
      "Owner",
      "--reason",
      " CHG-1 ",
    );
    expect([key.code, key.err]).toEqual([0, ""]);
    const [{ id }] = rows(await command("key", "list")).filter(({ name }) => name === "k") as [{ id: string }];
    for (const [reason, ...words] of [
      ["CHG-2: Größe", "key", "disable", "--id", id],
      ["CHG-3", "key", "enable", "--id", id],
      ["CHG-4", "user", "create", ...night, "--role", "Viewer", "--password-file", await place.passwordFile()],
      ["CHG-5", "user", "disable", ...night],
      ["CHG-6", "user", "enable", ...night],
    ] as const)
      expect([words, (await command(...words, "--reason", reason)).code]).toEqual([words, 0]);
    const client = running.withKey(key.out.trim());
    const { data } = await client.get("transactions?reason=chg&order_direction=asc");
    expect(data.map(({ command, reason }: Record<string, string>) => [command, reason])).toEqual([
      ["user.create", "CHG-4"],
      ["user.update", "CHG-5"],
      ["user.update", "CHG-6"],
    ]);
    const all = new Database(join(place.data, "netledger.db"), { readonly: true });
    expect(
      all
        .query("SELECT reason FROM history_transactions WHERE source LIKE 'api_key.%' ORDER BY sequence")
        .values()
        .slice(-3),
    ).toEqual([["CHG-1"], ["CHG-2: Größe"], ["CHG-3"]]);
    all.close();
    const made = await command(
      "setup",
      ...["--organization", "Beta", "--network", "Branch", "--email", "owner@beta.example", "--reason", "CHG-7"],
      ...["--password-file", await place.passwordFile()],
    );
    expect([made.code, made.err]).toEqual([0, ""]);
    const other = (await command("key", "create", "--email", "owner@beta.example", "--name", "b")).out.trim();
    expect((await running.withKey(other).get("transactions?reason=chg-7")).data).toMatchObject([
      { command: "organization.set_up", reason: "CHG-7" },
    ]);
    expect(await command("key", "delete", "--id", id, "--reason", "a\u0007b")).toMatchObject({
      code: 2,
      err: expect.stringContaining("--reason must not be blank or contain control characters"),
    });
    expect((await command("key", "delete", "--id", id, "--reason", "CHG-8")).code).toBe(0);
  });

  test("password replaces a lost one, and ends the sessions", async () => {
    await place.setUp();
    const running = await place.serve();
    const signedIn = await running
      .client()
      .post("/api/auth/login", { email: "owner@acme.example", password: PASSWORD });
    const session = running.client({ cookie: signedIn.headers.get("set-cookie")?.split(";")[0] ?? "" });
    expect((await session.get("/api/auth/me")).status).toBe(200);

    const changed = await place.run(
      ["user", "password", "--data", place.data, "--email", "owner@acme.example", "--password-file", "-"],
      { stdin: "another long phrase" },
    );
    expect(changed).toMatchObject({ code: 0, out: "", err: "" });
    expect((await session.get("/api/auth/me")).status).toBe(401);
    expect(
      (await running.client().post("/api/auth/login", { email: "owner@acme.example", password: PASSWORD })).status,
    ).toBe(401);
    expect(
      (await running.client().post("/api/auth/login", { email: "owner@acme.example", password: "another long phrase" }))
        .status,
    ).toBe(200);
  });

  test("disable and enable block a user and reverse it, keys included", async () => {
    await place.setUp();
    await command(
      "user",
      "create",
      "--email",
      "noc@acme.example",
      "--role",
      "Admin",
      "--password-file",
      await place.passwordFile(),
    );
    const key = (await command("key", "create", "--email", "noc@acme.example", "--name", "k")).out.trim();
    const running = await place.serve();
    expect((await running.withKey(key).get("tags")).status).toBe(200);

    expect((await command("user", "disable", "--email", "NOC@acme.example")).code).toBe(0);
    expect((await running.withKey(key).get("tags")).body.code).toBe("auth_key_disabled");
    expect(rows(await command("user", "list")).map(({ email, state }) => [email, state])).toEqual([
      ["owner@acme.example", "enabled"],
      ["noc@acme.example", "disabled"],
    ]);

    expect((await command("user", "enable", "--email", "noc@acme.example")).code).toBe(0);
    expect((await running.withKey(key).get("tags")).status).toBe(200);
  });

  test("disable leaves every organization an Owner", async () => {
    await place.setUp();
    const refused = await command("user", "disable", "--email", "owner@acme.example");
    expect([refused.code, refused.out]).toEqual([1, ""]);
    expect(refused.err).toContain("only Owner");
  });

  test("unknown names are reported", async () => {
    await place.setUp();
    expect((await command("user", "disable", "--email", "no@acme.example")).err).toBe(
      'netledger: There is no user with the e-mail address "no@acme.example".\n',
    );
    const create = [
      "user",
      "create",
      "--email",
      "a@acme.example",
      "--role",
      "Viewer",
      "--password-file",
      await place.passwordFile(),
    ];
    expect((await command(...create, "--organization", "Beta")).err).toMatch(
      /^netledger: There is no organization "Beta", but [0-9a-f-]{36} Acme\.\n$/,
    );
    expect((await command(...create, "--networks", "Main,Branch")).err).toBe(
      'netledger: There is no network "Branch" in Acme.\n',
    );
    expect(rows(await command("user", "list"))).toHaveLength(1);
  });
});

describe("key", () => {
  test("create prints only the key, which works within its rights", async () => {
    const { networkId, running } = await place.serveSetUp();
    const made = await command(
      "key",
      "create",
      "--email",
      "owner@acme.example",
      "--name",
      "reader",
      "--networks",
      networkId,
    );
    expect([made.code, made.err]).toEqual([0, ""]);
    expect(made.out).toEndWith("\n");
    expect(isWellFormedApiKey(made.out.slice(0, -1))).toBe(true);
    const client = running.withKey(made.out.trim());
    expect((await client.get("networks")).data).toHaveLength(1);
    expect((await client.post("tags", { name: "x", color: "Red" })).body.code).toBe("auth_permission_denied");
  });

  test("list shows a mask and never a key", async () => {
    const { key } = await place.setUp();
    const list = await command("key", "list", "--email", "owner@acme.example");
    expect(rows(list)).toEqual([
      {
        id: expect.any(String),
        email: "owner@acme.example",
        name: SET_UP_KEY,
        permissions: "Owner",
        state: "enabled",
        key: `${key.slice(0, 8)}…`,
        expires_at: "",
        last_used: "",
        allowed_sources: "",
      },
    ]);
    expect(list.out).not.toContain(key);
  });

  test("create limits a key's source addresses, and list shows them", async () => {
    const { running } = await place.serveSetUp();
    const create = (name: string, sources: string) =>
      command("key", "create", "--email", "owner@acme.example", "--name", name, "--allowed-sources", sources);
    const [near, far] = [await create("near", "127.0.0.1, 2001:DB8::/32"), await create("far", "127.0.0.2/32")];
    expect((await running.withKey(near.out.trim()).get("tags")).status).toBe(200);
    expect(await running.withKey(far.out.trim()).get("tags")).toMatchObject({
      status: 401,
      body: { code: "auth_not_authenticated" },
    });
    const listed = rows(await command("key", "list")).map(({ name, allowed_sources }) => [name, allowed_sources]);
    expect(listed).toEqual([
      [SET_UP_KEY, ""],
      ["near", "127.0.0.1/32,2001:db8::/32"],
      ["far", "127.0.0.2/32"],
    ]);
  });

  test("disable, enable and delete take effect immediately", async () => {
    const { key, running } = await place.serveSetUp();
    const id = rows(await command("key", "list"))[0]?.id ?? "";
    const status = async () => (await running.withKey(key).get("tags")).body.code ?? "ok";
    expect(await status()).toBe("ok");
    expect((await command("key", "disable", "--id", id)).code).toBe(0);
    expect(await status()).toBe("auth_key_disabled");
    expect((await command("key", "enable", "--id", id.toUpperCase())).code).toBe(0);
    expect(await status()).toBe("ok");
    expect((await command("key", "delete", "--id", id)).code).toBe(0);
    expect(await status()).toBe("auth_not_authenticated");
    expect(await command("key", "delete", "--id", id)).toMatchObject({
      code: 1,
      err: `netledger: There is no API key with the id ${id}.\n`,
    });
  });
});

test("subcommands and the appliance can write concurrently, and the ledger records each once", async () => {
  const { networkId, client } = await place.serveSetUp();
  const passwordFile = await place.passwordFile();
  const users = Array.from({ length: 4 }, (_, position) =>
    command(
      "user",
      "create",
      "--email",
      `u${position}@acme.example`,
      "--role",
      "Viewer",
      "--password-file",
      passwordFile,
    ),
  );
  let busy = true;
  const ended = Promise.all(users).finally(() => (busy = false));
  const made: string[] = [];
  for (let position = 0; busy; position += 1) {
    const answer = await client.post("subnets", {
      network_id: networkId,
      cidr: `10.${position >> 8}.${position & 255}.0/24`,
      name: "s",
    });
    expect(answer.status).toBe(200);
    made.push(answer.data.id);
  }
  expect((await ended).map(({ code, err }) => [code, err])).toEqual(users.map(() => [0, ""]));
  const list = await client.get("subnets?limit=0");
  expect(list.data.map((subnet: { id: string }) => subnet.id)).toEqual(made);
  expect(rows(await command("user", "list"))).toHaveLength(5);
});

describe("an organization that demands a reason", () => {
  test("does not demand one of the machine's operator, with and without an appliance, but stores a given one", async () => {
    const { client, networkId, running } = await place.serveSetUp();
    const demanded = await client.put("organizations", { name: "Acme", require_change_reason: true });
    expect(demanded).toMatchObject({ status: 200 });
    const before = (await client.get("ledger")).data.sequence;
    const lacking = { status: 400, body: { params: { issues: [{ path: "/X-Change-Reason" }] } } };
    expect(await client.post("tags", { name: "a", color: "Red" })).toMatchObject(lacking);
    const password = ["--password-file", await place.passwordFile()];
    const user = ["--email", "late@acme.example"];
    const created = ["user", "create", ...user, "--role", "Member", "--networks", networkId, ...password];
    expect(await command(...created)).toMatchObject({ code: 0, err: "" });
    expect(await command("user", "password", ...user, ...password, "--reason", "CHG-7")).toMatchObject({ code: 0 });
    const key = await command("key", "create", ...user, "--name", "night", "--permissions", "Member");
    expect(key).toMatchObject({ code: 0, err: "" });
    // A key created by such a command needs reasons like any other.
    const made = { network_id: networkId, name: "h" };
    expect(await running.withKey(key.out.trim()).post("hosts", made)).toMatchObject(lacking);
    expect(await running.withKey(key.out.trim()).post("hosts", made, { "x-change-reason": "CHG-8" })).toMatchObject({
      status: 200,
    });
    await running.stop();

    expect(await command("user", "disable", ...user)).toMatchObject({ code: 0, err: "" });
    expect(await command("verify")).toMatchObject({ code: 0 });
    const db = new Database(join(place.data, "netledger.db"), { readonly: true });
    const told = db.query("SELECT source, actor_type, reason FROM history_transactions WHERE sequence > ?");
    expect(told.values(before)).toEqual([
      ["user.create", "System", null],
      ["user.set_password", "System", "CHG-7"],
      ["api_key.create", "System", null],
      ["host.create", "ApiKey", "CHG-8"],
      ["user.update", "System", null],
    ]);
    db.close();
  });
});
