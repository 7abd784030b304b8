// Users and their rights in the test process: own sessions and password, API keys, and users; rights of others are
// changed only with permission.

import { beforeAll, describe, expect, test } from "bun:test";
import { PASSWORD } from "../support/appliance/appliance.ts";
import { made, type Wire } from "../support/appliance/factories.ts";
import type { Page } from "../support/page/page.ts";
import { OWNER, serveForAll } from "../support/page/visit.ts";
import { settles } from "../support/page/waiting.ts";

const ADMIN = "admin@acme.example";
const MEMBER = "member@acme.example";
const VIEWER = "viewer@acme.example";
const PEOPLE = [
  [ADMIN, "Admin"],
  [MEMBER, "Member"],
  [VIEWER, "Viewer"],
] as const;

const appliance = serveForAll(async ({ addUser, networkId }) => {
  for (const [email, role] of PEOPLE) await addUser(email, role, role === "Admin" ? [] : [networkId]);
});

async function isSignedOut(page: Page): Promise<void> {
  // If the change stream has already reported it, there is nothing to click.
  await page.evaluate(`document.querySelector("nav a[href^='/hosts']")?.click()`);
  await page.getByText("Your session has ended.").waitFor();
}

describe("one's own account", () => {
  const own = (page: Page) => page.getByRole("row").filter({ hasText: "this session" });
  const other = (page: Page) => page.getByRole("row").filter({ has: page.getByRole("button", { name: /^End/ }) });

  test("ends a session from the list, which is then signed out", async () => {
    await appliance.addUser("ends-one@acme.example", "Viewer", [appliance.networkId]);
    const { page: elsewhere } = await appliance.arrived("ends-one@acme.example", "/");
    const { visitor, page } = await appliance.arrived("ends-one@acme.example", "/settings");
    await own(page).waitFor();
    await other(page).getByRole("button").click();
    await page.getByText("The session has ended.").waitFor();
    await other(page).waitFor({ state: "detached" });
    await settles(() => own(page).count(), 1);
    expect(visitor.troubles()).toEqual([]);
    await isSignedOut(elsewhere);
  });

  test("ends all others at once", async () => {
    const { page: elsewhere } = await appliance.arrived(VIEWER, "/");
    const { page: home } = await appliance.arrived(VIEWER, "/");
    const { visitor, page } = await appliance.arrived(VIEWER, "/settings");
    await page.getByRole("button", { name: "End all others" }).click();
    const others = await other(page).count();
    expect(others).toBeGreaterThanOrEqual(2);
    await page.getByText("You are signed out everywhere but here").waitFor();
    await page.getByRole("button", { name: "End them" }).click();
    await page.getByText(`${others} sessions have ended.`).waitFor();
    expect(visitor.troubles()).toEqual([]);
    await isSignedOut(elsewhere);
    await isSignedOut(home);
  });

  test("changes the password, which ends all other sessions", async () => {
    await appliance.addUser("changes@acme.example", "Viewer", [appliance.networkId]);
    const { page: elsewhere } = await appliance.arrived("changes@acme.example", "/");
    const { visitor, page } = await appliance.arrived("changes@acme.example", "/settings");
    await page.getByRole("button", { name: "Change password" }).click();
    const form = page.getByRole("form", { name: "Change password" });
    await form.getByText("All your other sessions end. API keys stay valid.").waitFor();
    const fill = async (current: string, wanted: string, repeated = wanted) => {
      await form.getByLabel("Current password").fill(current);
      await form.getByLabel("New password, 10 characters or more").fill(wanted);
      await form.getByLabel("New password again").fill(repeated);
      await form.getByRole("button", { name: "Change password" }).click();
    };
    const next = "tomatoes are not the only fruit";
    await fill(PASSWORD, next, `${next}!`);
    await form.getByText("The two new passwords differ.").waitFor();
    expect(visitor.troubles()).toEqual([]);
    await fill("not my password", next);
    await form.getByText("The two new passwords differ.").waitFor({ state: "detached" });
    await form.getByRole("alert").waitFor();
    expect(visitor.troubles().filter((each) => !each.includes("401"))).toEqual([]);
    await fill(PASSWORD, next);
    await page.getByText("Your password was changed.").waitFor();
    expect(await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])")).not.toContain(next);
    await page.getByRole("link", { name: "Hosts" }).click();
    await page.getByRole("heading", { name: "Hosts", level: 1 }).waitFor();
    expect(visitor.troubles()).toEqual([]);
    await isSignedOut(elsewhere);
    await appliance.arrived("changes@acme.example", "/settings", next);
  });
});

describe("API keys", () => {
  const asked = (path: string, key: string) => appliance.running.withKey(key).get(path);

  test("are disabled temporarily with a reason, and concurrent changes are reported", async () => {
    const { visitor, page } = await appliance.arrived(ADMIN, "/settings/keys");
    await page.getByRole("button", { name: "New key" }).click();
    const making = page.getByRole("form", { name: "New key" });
    await making.getByLabel("Name", { exact: true }).fill("Backup job");
    // An Admin creates keys for others, except for an Owner.
    const users = making.getByLabel("User", { exact: true }).locator("option");
    const { data: all } = await appliance.client.get("users");
    const below = (all as unknown as Wire[]).filter(({ role }) => role !== "Owner").map(({ email }) => email);
    expect(below).toEqual(expect.arrayContaining([ADMIN, MEMBER, VIEWER]));
    await settles(async () => (await users.allTextContents()).sort(), below.sort());
    await making.getByLabel("User", { exact: true }).selectOption(MEMBER);
    await making.getByRole("button", { name: "Create" }).click();
    await page.locator(".command").getByRole("button").click();
    const key = String(await page.evaluate("navigator.clipboard.readText()"));
    await page.getByRole("button", { name: "I have copied it" }).click();
    const row = page.getByRole("row").filter({ hasText: "Backup job" });
    await row.getByRole("button", { name: "Edit the key Backup job" }).click();
    const form = page.getByRole("form", { name: "Edit the key Backup job" });
    await form.getByLabel("Enabled").uncheck();
    await form.getByLabel("Why").fill("not while we move");
    const keys = `${appliance.url}/api/v1/auth/keys`;
    const { data } = await (await page.request.get(keys)).json();
    const { id, name, organization_id, user_id, tags } = data.find(
      (each: { name: string }) => each.name === "Backup job",
    );
    const body = { name, organization_id, user_id, tags, expires_at: "2098-01-01T00:00:00Z" };
    expect((await page.request.put(`${keys}/${id}`, { data: body })).status()).toBe(200);
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("Others changed it meanwhile.").waitFor();
    await settles(() => form.getByLabel("Why").inputValue(), "not while we move");
    expect((await asked("hosts", key)).status).toBe(200);
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByText("The key Backup job was saved.").waitFor();
    await row.getByText("Disabled").waitFor();
    expect((await asked("hosts", key)).status).toBe(401);
    const versions = (await (await page.request.get(`${keys}/${id}/history`)).json()).data;
    expect(versions[0]).toMatchObject({ record: { is_enabled: false }, transaction: { reason: "not while we move" } });
    expect(visitor.troubles().filter((each) => !each.includes("412"))).toEqual([]);
  });

  test("are neither offered to a Viewer nor created by request; a Member sees their own and no Owner's", async () => {
    const { visitor, page } = await appliance.arrived(VIEWER, "/settings/keys");
    await page.getByText("There is no API key yet.").waitFor();
    expect(await page.getByRole("button", { name: "New key" }).count()).toBe(0);
    expect(visitor.troubles()).toEqual([]);
    const me = (await (await page.request.get(`${appliance.url}/api/auth/me`)).json()).data;
    const body = { name: "mine", organization_id: me.organization_id, user_id: me.id, tags: [] };
    expect((await page.request.post(`${appliance.url}/api/v1/auth/keys`, { data: body })).status()).toBe(403);
    const { page: owners } = await appliance.arrived(OWNER, "/settings/keys");
    await owners.getByRole("row").nth(1).waitFor();
    const [owned] = (
      await (await owners.request.get(`${appliance.url}/api/v1/auth/keys?filter=permissions = Owner`)).json()
    ).data;
    for (const email of [VIEWER, MEMBER]) {
      const { page: others } = await appliance.arrived(email, "/settings/keys");
      await others.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
      expect(await others.getByText(owned.key).count()).toBe(0);
      const answers = [
        await others.request.post(`${appliance.url}/api/v1/auth/keys/${owned.id}/rotate`),
        await others.request.delete(`${appliance.url}/api/v1/auth/keys/${owned.id}`),
      ];
      expect([email, answers.map((each) => each.status())]).toEqual([
        email,
        email === VIEWER ? [403, 403] : [404, 404],
      ]);
    }
    const { page: admins } = await appliance.arrived(ADMIN, "/settings/keys");
    const row = admins.getByRole("row").filter({ hasText: owned.key });
    await row.waitFor();
    expect(await row.getByRole("button").count()).toBe(0);
    expect((await admins.request.post(`${appliance.url}/api/v1/auth/keys/${owned.id}/rotate`)).status()).toBe(403);
  });
});

describe("users", () => {
  const NEW = "night@acme.example";
  const FIRST = "a first phrase of theirs";
  const SECOND = "a second phrase of theirs";

  beforeAll(async () => {
    await made(appliance.client.post("networks", { organization_id: appliance.organizationId, name: "Vault" }));
  });

  const rowOf = (page: Page, email: string) =>
    page.getByRole("row").filter({ has: page.getByRole("cell", { name: email, exact: true }) });
  const signsIn = async (password: string) => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ email: NEW, password });
    const login = new Request(`${appliance.url}/api/auth/login`, { method: "POST", headers, body });
    return (await appliance.inside.handle(login)).status;
  };

  test("are added with one of two networks, given a new password, disabled, and deleted", async () => {
    const { visitor, page } = await appliance.arrived(OWNER, "/settings/people");
    await rowOf(page, VIEWER).waitFor();
    await page.getByRole("button", { name: "New user" }).click();
    const adding = page.getByRole("form", { name: "New user" });
    await adding.getByLabel("Name", { exact: true }).fill("Night shift");
    await adding.getByLabel("E-mail").fill(VIEWER);
    await adding.getByLabel("Role").selectOption("Member");
    await adding.getByLabel("Vault").check();
    await adding.getByLabel("Password").fill(FIRST);
    await adding.getByRole("button", { name: "Create" }).click();
    await adding.getByRole("alert").waitFor();
    expect(visitor.troubles().every((each) => each.includes("409"))).toBe(true);
    // The typed text is still there.
    await settles(() => adding.getByLabel("Vault").isChecked(), true);
    await adding.getByLabel("E-mail").fill(NEW);
    await adding.getByRole("button", { name: "Create" }).click();
    await page.getByText("Night shift can sign in now.").waitFor();
    expect(await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])")).not.toContain(FIRST);
    const row = rowOf(page, NEW);
    await row.getByText("Vault").waitFor();
    await settles(() => row.textContent(), expect.stringContaining("Member"));

    const { page: theirs } = await appliance.arrived(NEW, "/settings", FIRST);
    await theirs.getByText("1 network", { exact: true }).waitFor();
    const { id, organization_id } = (await (await theirs.request.get(`${appliance.url}/api/auth/me`)).json()).data;
    const body = { name: "theirs", organization_id, user_id: id, tags: [] };
    const { key } = (await (await theirs.request.post(`${appliance.url}/api/v1/auth/keys`, { data: body })).json())
      .data;
    const answered = async () => (await appliance.running.withKey(key).get("hosts")).status;
    expect(await answered()).toBe(200);

    await row.getByRole("button", { name: "Edit Night shift" }).click();
    const editing = page.getByRole("form", { name: "Edit Night shift" });
    await editing.getByText("Another password ends all their sessions.").waitFor();
    await editing.getByLabel("New password").fill(SECOND);
    await editing.getByRole("button", { name: "Save" }).click();
    await page.getByText("Night shift was saved.").waitFor();
    expect([await signsIn(FIRST), await signsIn(SECOND), await answered()]).toEqual([401, 200, 200]);
    await isSignedOut(theirs);

    await row.getByRole("button", { name: "Edit Night shift" }).click();
    await editing.getByLabel("May sign in").uncheck();
    await editing.getByLabel("Why").fill("left the team");
    await editing.getByRole("button", { name: "Save" }).click();
    await row.getByText("Disabled").waitFor();
    expect([await signsIn(SECOND), await answered()]).toEqual([401, 401]);
    const [last] = (await appliance.client.get(`users/${id}/history`)).data as unknown as Wire[];
    expect(last).toMatchObject({ changed_fields: ["is_enabled"], transaction: { reason: "left the team" } });

    await row.getByRole("button", { name: "Delete Night shift" }).click();
    await page.getByText("Their API key is deleted as well, at once.").waitFor();
    await page.getByText("This cannot be undone").waitFor();
    await page.getByRole("button", { name: "Delete the user" }).click();
    await page.getByText("Night shift was deleted.").waitFor();
    await row.waitFor({ state: "detached" });
    expect(visitor.troubles()).toEqual([]);
  });

  test("report concurrent changes, even after another refusal", async () => {
    const { page } = await appliance.arrived(OWNER, "/settings/people");
    const row = rowOf(page, MEMBER);
    await row.getByRole("button", { name: /^Edit/ }).click();
    const form = page.getByRole("form", { name: /^Edit/ });
    await form.getByLabel("E-mail").fill(VIEWER);
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByRole("alert").waitFor();
    const users = (await appliance.client.get("users")).data as unknown as Wire[];
    const { id, email, name, role, network_ids } = users.find((each) => each.email === MEMBER) as Wire;
    const others = { email, name, role, network_ids };
    expect((await appliance.client.put(`users/${id}`, { ...others, is_enabled: false })).status).toBe(200);
    await form.getByLabel("E-mail").fill(MEMBER);
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("Others changed it meanwhile.").waitFor();
    expect((await appliance.client.get(`users/${id}`)).data).toMatchObject({ is_enabled: false });
    expect((await appliance.client.put(`users/${id}`, { ...others, is_enabled: true })).status).toBe(200);
  });

  test("include an only Owner, who reads why they must stay one", async () => {
    const { visitor, page } = await appliance.arrived(OWNER, "/settings/people");
    const own = rowOf(page, OWNER);
    await settles(() => own.getByRole("button").allTextContents(), ["Edit"]);
    await own.getByRole("button", { name: "Edit" }).click();
    const form = page.getByRole("form");
    await form.getByText("Your own password is changed under Account.").waitFor();
    await form.getByLabel("Role").selectOption("Viewer");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("This is the organization's only Owner who can sign in").waitFor();
    expect(visitor.troubles().every((each) => each.includes("409"))).toBe(true);
  });

  test("get no role above an Admin's own, and cannot be changed by a Member or Viewer", async () => {
    const { visitor, page } = await appliance.arrived(ADMIN, "/settings/people");
    await rowOf(page, VIEWER).waitFor();
    expect(await rowOf(page, OWNER).getByRole("button").count()).toBe(0);
    await settles(() => rowOf(page, VIEWER).getByRole("button").allTextContents(), ["Edit", "Delete"]);
    await page.getByRole("button", { name: "New user" }).click();
    const roles = page.getByRole("form").getByLabel("Role").locator("option");
    await settles(
      () => roles.evaluateAll((options) => options.map((each) => each.getAttribute("value"))),
      ["Admin", "Member", "Viewer"],
    );
    expect(visitor.troubles()).toEqual([]);
    const users = `${appliance.url}/api/v1/users`;
    const body = { email: "me.too@acme.example", role: "Owner", password: FIRST };
    expect((await page.request.post(users, { data: body })).status()).toBe(403);
    const { data } = await (await page.request.get(users)).json();
    const [owner] = data.filter((each: { role: string }) => each.role === "Owner");
    expect((await page.request.delete(`${users}/${owner.id}`)).status()).toBe(403);
    for (const email of [MEMBER, VIEWER]) {
      const { visitor: other, page: theirs } = await appliance.arrived(email, "/settings/people");
      await rowOf(theirs, email).getByText("you").waitFor();
      expect(await theirs.getByRole("button", { name: "New user" }).count()).toBe(0);
      expect(await theirs.getByRole("row").getByRole("button").count()).toBe(0);
      expect(other.troubles()).toEqual([]);
      const me = (await (await theirs.request.get(`${appliance.url}/api/auth/me`)).json()).data;
      const raised = { email, role: "Admin" };
      const answers = [
        await theirs.request.put(`${users}/${me.id}`, { data: raised }),
        await theirs.request.post(users, { data: { ...body, role: "Viewer" } }),
        await theirs.request.delete(`${users}/${me.id}`),
      ];
      expect([email, answers.map((each) => each.status())]).toEqual([email, [403, 403, 403]]);
    }
  });
});
