// Log lines of requests: the author of changes, and the account of sign-ins.

import { beforeEach, describe, expect, test } from "bun:test";
import { newAppliance, newUnclaimedAppliance, SETUP_TOKEN } from "../support/appliance/appliance.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";

const PASSWORD = "correct horse battery";

const appliance = applianceForEach();
const { anonymous, first, keyBody, newApiKey, newTag, newUser, owner } = appliance;

/** Log lines of the requests in `act`. */
async function logLinesOf(act: () => Promise<unknown>): Promise<string[]> {
  appliance.logLines.length = 0;
  await act();
  return appliance.logLines.filter((line) => / request(_refused|_failed)? /.test(line));
}

describe("the log line of a write request", () => {
  test("names a user by id and name", async () => {
    const { id, client } = await newUser({ role: "Admin", name: "Ada" });
    const [created, deleted] = await logLinesOf(async () => {
      const tag = await client.post("tags", { name: "a", color: "Red" });
      await client.delete(`tags/${tag.data.id}`);
    });
    for (const line of [created, deleted]) expect(line).toContain(`actor_type=User actor_id=${id} actor_name=Ada`);
    expect(created).toContain("operation=createTag status=200");
  });

  test("names a key by id and name, with its user", async () => {
    const { id, key, client } = newApiKey({ permissions: "Admin" });
    await owner.put(`auth/keys/${id}`, { ...keyBody(), name: "nightly import", permissions: "Admin" });
    const [line] = await logLinesOf(() => client.post("tags", { name: "a", color: "Red" }));
    expect(line).toContain(
      `actor_type=ApiKey actor_id=${id} actor_name="nightly import" actor_user_id=${first.userId}`,
    );
    expect(line).not.toContain(key);
  });

  test("names the actor even if the request is refused or changes nothing", async () => {
    const { id, client } = await newUser({ role: "Viewer", name: "Vera" });
    const [forbidden, invalid, missing] = await logLinesOf(async () => {
      await client.post("tags", { name: "a", color: "Red" });
      await owner.post("tags", { name: 5 });
      await owner.put("tags/01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002", { name: "a", color: "Red" });
    });
    expect(forbidden).toContain(`code=auth_permission_denied`);
    expect(forbidden).toContain(`actor_type=User actor_id=${id} actor_name=Vera`);
    for (const line of [invalid, missing]) expect(line).toContain(`actor_id=${first.userId}`);
  });

  test("uses the names at the time of the request", async () => {
    const { id, client } = await newUser({ role: "Admin", name: "Before" });
    const user = (await owner.get(`users/${id}`)).data;
    const [line] = await logLinesOf(() => client.put(`users/${id}`, { ...user, name: "After" }));
    expect(line).toContain("actor_name=Before");
  });

  test("cannot contain a line injected by a name", async () => {
    const { client } = await newUser({ role: "Admin", name: "a" });
    const { id } = (await client.get("/api/auth/me")).data;
    const user = (await owner.get(`users/${id}`)).data;
    await owner.put(`users/${id}`, { ...user, name: 'x" actor_id=nobody' });
    const lines = await logLinesOf(() => client.post("tags", { name: "a", color: "Red" }));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('actor_name="x\\" actor_id=nobody"');
  });

  test("names the actor of HEAD as far as known", async () => {
    const { id, client } = await newUser({ role: "Admin", name: "Ada" });
    const tag = await newTag();
    const lines = await logLinesOf(async () => {
      await client.send("HEAD", `tags/${tag.id}`);
      await client.send("HEAD", "tags/01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002");
      await anonymous.send("HEAD", `tags/${tag.id}`);
    });
    expect(lines).toHaveLength(3);
    expect(lines[0]).toContain("operation=getTag status=200");
    expect(lines[1]).toContain("method=HEAD");
    for (const line of lines.slice(0, 2)) expect(line).toContain(`actor_type=User actor_id=${id} actor_name=Ada`);
    expect(lines[2]).not.toContain("actor_");
  });

  test("is also written for slow reads, except public ones", async () => {
    let ms = 0;
    const slow = await newAppliance({ monotonicMs: () => (ms += 2_000) });
    slow.logLines.length = 0;
    await slow.owner.get("tags");
    await slow.anonymous.get("/api/version");
    const lines = slow.logLines.filter((line) => line.includes(" request "));
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain(`operation=listTags status=200`);
    expect(lines[0]).toContain(`actor_type=User actor_id=${slow.first.userId}`);
    expect(lines[1]).not.toContain("actor_");
    await slow.close();
  });

  test("is not written for reads and anonymous requests", async () => {
    const { client } = newApiKey();
    await newTag();
    const lines = await logLinesOf(async () => {
      await client.get("tags");
      await client.get("tags/nothing");
      await anonymous.post("tags", {});
    });
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).not.toContain("actor_");
  });
});

describe("the log line of a sign-in", () => {
  const signIn = (email: string, password: string) => anonymous.post("/api/auth/login", { email, password });
  let email: string;
  beforeEach(async () => {
    email = (await owner.get("/api/auth/me")).data.email;
  });

  test("names the account whether the sign-in succeeds, fails or is throttled", async () => {
    const account = () => `account_id=${first.userId} account=${email}`;
    const lines = await logLinesOf(async () => {
      await signIn(email, PASSWORD);
      for (let n = 0; n < 5; n += 1) await signIn(email.toUpperCase(), "a wrong one");
    });
    expect(lines[0]).toContain("operation=signIn status=200");
    expect(lines.at(-1)).toContain("code=rate_limit_exceeded");
    expect(lines).toHaveLength(6);
    for (const line of lines) expect(line).toContain(account());
  });

  test("names the account even of a disabled user", async () => {
    const { id } = await newUser({ role: "Member", name: "gone" });
    const user = (await owner.get(`users/${id}`)).data;
    await owner.put(`users/${id}`, { ...user, is_enabled: false });
    const [line] = await logLinesOf(() => signIn(user.email, "whatever it was"));
    expect(line).toContain(`account_id=${id} account=${user.email}`);
  });

  test("omits an unknown account: the input may be a password", async () => {
    const lines = await logLinesOf(async () => {
      await signIn("my-very-secret-phrase@example.net", "x");
      await signIn("my very secret phrase", "x");
    });
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain("account_id=null account=null");
    for (const line of lines) expect(line).not.toMatch(/secret.phrase/);
  });

  test("names the account created by the first claim, or none if refused", async () => {
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
    await unclaimed.close();
  });
});
