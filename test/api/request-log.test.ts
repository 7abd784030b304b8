// What the log tells of requests: by whom something was changed, and whose account was signed in to.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { newAppliance, SETUP_TOKEN, type TestAppliance, newUnclaimedAppliance } from "../support/appliance.ts";
import { newApiKey, newTag, newUser } from "../support/factories.ts";
import { keyBody } from "../support/inventory.ts";

const PASSWORD = "correct horse battery";

let appliance: TestAppliance;
beforeEach(async () => {
  appliance = await newAppliance();
});
afterEach(() => appliance.close());

/** The lines of the requests that `act` makes. */
async function logged(act: () => Promise<unknown>): Promise<string[]> {
  appliance.logLines.length = 0;
  await act();
  return appliance.logLines.filter((line) => / request(_refused|_failed)? /.test(line));
}

describe("a request that changes something is logged with who acts:", () => {
  test("a user by id and name", async () => {
    const { id, client } = await newUser(appliance, { role: "Admin", name: "Ada" });
    const [made, deleted] = await logged(async () => {
      const tag = await client.post("/api/v1/tags", { name: "a", color: "Red" });
      await client.delete(`/api/v1/tags/${tag.data.id}`);
    });
    for (const line of [made, deleted]) expect(line).toContain(`actor_type=User actor_id=${id} actor_name=Ada`);
    expect(made).toContain("operation=createTag status=200");
  });

  test("a key by id and name, with its user", async () => {
    const { id, key, client } = newApiKey(appliance, { permissions: "Admin" });
    await appliance.owner.put(`/api/v1/auth/keys/${id}`, {
      ...keyBody(appliance),
      name: "nightly import",
      permissions: "Admin",
    });
    const [line] = await logged(() => client.post("/api/v1/tags", { name: "a", color: "Red" }));
    expect(line).toContain(
      `actor_type=ApiKey actor_id=${id} actor_name="nightly import" actor_user_id=${appliance.first.userId}`,
    );
    expect(line).not.toContain(key);
  });

  test("also where it is refused, or comes to nothing", async () => {
    const { id, client } = await newUser(appliance, { role: "Viewer", name: "Vera" });
    const [forbidden, invalid, missing] = await logged(async () => {
      await client.post("/api/v1/tags", { name: "a", color: "Red" });
      await appliance.owner.post("/api/v1/tags", { name: 5 });
      await appliance.owner.put("/api/v1/tags/01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002", { name: "a", color: "Red" });
    });
    expect(forbidden).toContain(`code=auth_permission_denied`);
    expect(forbidden).toContain(`actor_type=User actor_id=${id} actor_name=Vera`);
    for (const line of [invalid, missing]) expect(line).toContain(`actor_id=${appliance.first.userId}`);
  });

  test("by the names that held when it came", async () => {
    const { id, client } = await newUser(appliance, { role: "Admin", name: "Before" });
    const user = (await appliance.owner.get(`/api/v1/users/${id}`)).data;
    const [line] = await logged(() => client.put(`/api/v1/users/${id}`, { ...user, name: "After" }));
    expect(line).toContain("actor_name=Before");
  });

  test("a name cannot put a line of its own into the log", async () => {
    const { client } = await newUser(appliance, { role: "Admin", name: "a" });
    const { id } = (await client.get("/api/auth/me")).data;
    const user = (await appliance.owner.get(`/api/v1/users/${id}`)).data;
    await appliance.owner.put(`/api/v1/users/${id}`, { ...user, name: 'x" actor_id=nobody' });
    const lines = await logged(() => client.post("/api/v1/tags", { name: "a", color: "Red" }));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('actor_name="x\\" actor_id=nobody"');
  });

  test("and nobody where nothing is to be changed", async () => {
    const { client } = newApiKey(appliance);
    await newTag(appliance);
    const lines = await logged(async () => {
      await client.get("/api/v1/tags");
      await client.get("/api/v1/tags/nothing");
      await appliance.anonymous.post("/api/v1/tags", {});
    });
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).not.toContain("actor_");
  });
});

describe("a sign-in is logged with the account", () => {
  const signIn = (email: string, password: string) => appliance.anonymous.post("/api/auth/login", { email, password });
  let email: string;
  beforeEach(async () => {
    email = (await appliance.owner.get("/api/auth/me")).data.email;
  });

  test("that it is of, whether it succeeds or not, or is slowed", async () => {
    const account = () => `account_id=${appliance.first.userId} account=${email}`;
    const lines = await logged(async () => {
      await signIn(email, PASSWORD);
      for (let n = 0; n < 5; n += 1) await signIn(email.toUpperCase(), "a wrong one");
    });
    expect(lines[0]).toContain("operation=signIn status=200");
    expect(lines.at(-1)).toContain("code=rate_limit_exceeded");
    expect(lines).toHaveLength(6);
    for (const line of lines) expect(line).toContain(account());
  });

  test("of a disabled user too", async () => {
    const { id } = await newUser(appliance, { role: "Member", name: "gone" });
    const user = (await appliance.owner.get(`/api/v1/users/${id}`)).data;
    await appliance.owner.put(`/api/v1/users/${id}`, { ...user, is_enabled: false });
    const [line] = await logged(() => signIn(user.email, "whatever it was"));
    expect(line).toContain(`account_id=${id} account=${user.email}`);
  });

  test("of nobody where there is none: what was typed may be a password", async () => {
    const lines = await logged(async () => {
      await signIn("my-very-secret-phrase@example.net", "x");
      await signIn("my very secret phrase", "x");
    });
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain("account_id=null account=null");
    for (const line of lines) expect(line).not.toMatch(/secret.phrase/);
  });

  test("that the first claim made, and of none where it is refused", async () => {
    const unclaimed = newUnclaimedAppliance();
    const claim = (setup_token: string) =>
      unclaimed.anonymous.post("/api/auth/setup", {
        setup_token,
        organization_name: "Acme",
        network_name: "Main",
        email: "typed@acme.example",
        password: PASSWORD,
      });
    await claim("0000-0000");
    expect(unclaimed.logLines.join("\n")).not.toContain("typed@acme.example");
    const { data } = await claim(SETUP_TOKEN);
    expect(unclaimed.logLines.at(-1)).toContain(`account_id=${data.user.id} account=typed@acme.example`);
    unclaimed.close();
  });
});
