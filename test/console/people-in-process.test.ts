// Users and their permissions in the test process: the user's own sessions and password, API keys, and users; only
// authorized roles change other users' permissions.

import { beforeAll, describe, expect, test } from "bun:test";
import { PASSWORD } from "../support/appliance/appliance.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import type { Page } from "../support/page/page.ts";
import { OWNER, serveForAll } from "../support/page/visit.ts";
import { expectEventually } from "../support/page/waiting.ts";

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

async function expectSignedOut(page: Page): Promise<void> {
  // If the change stream has already reported it, there is nothing to click.
  await page.evaluate(`document.querySelector("nav a[href^='/hosts']")?.click()`);
  await page.getByText("Your session has ended.").waitFor();
}

describe("the user's own account", () => {
  const own = (page: Page) => page.getByRole("row").filter({ hasText: "this session" });
  const otherSession = (page: Page) =>
    page.getByRole("row").filter({ has: page.getByRole("button", { name: /^End/ }) });

  test("ends a session from the list, which signs it out", async () => {
    await appliance.addUser("ends-one@acme.example", "Viewer", [appliance.networkId]);
    const { page: otherPage } = await appliance.openAs("ends-one@acme.example", "/");
    const { visitor, page } = await appliance.openAs("ends-one@acme.example", "/settings");
    await own(page).waitFor();
    await otherSession(page).getByRole("button").click();
    await page.getByText("The session has ended.").waitFor();
    await otherSession(page).waitFor({ state: "detached" });
    await expectEventually(() => own(page).count(), 1);
    expect(visitor.problems()).toEqual([]);
    await expectSignedOut(otherPage);
  });

  test("ends all other sessions at once", async () => {
    const { page: otherPage } = await appliance.openAs(VIEWER, "/");
    const { page: anotherPage } = await appliance.openAs(VIEWER, "/");
    const { visitor, page } = await appliance.openAs(VIEWER, "/settings");
    await page.getByRole("button", { name: "End all other sessions" }).click();
    const others = await otherSession(page).count();
    expect(others).toBeGreaterThanOrEqual(2);
    await page.getByText("You are signed out everywhere else").waitFor();
    await page.getByRole("button", { name: "End sessions" }).click();
    await page.getByText(`${others} sessions have ended.`).waitFor();
    expect(visitor.problems()).toEqual([]);
    await expectSignedOut(otherPage);
    await expectSignedOut(anotherPage);
  });

  test("changes the password, which ends all other sessions", async () => {
    await appliance.addUser("changes@acme.example", "Viewer", [appliance.networkId]);
    const { page: otherPage } = await appliance.openAs("changes@acme.example", "/");
    const { visitor, page } = await appliance.openAs("changes@acme.example", "/settings");
    await page.getByRole("button", { name: "Change password" }).click();
    const form = page.getByRole("form", { name: "Change password" });
    await form.getByText("All your other sessions end. API keys stay valid.").waitFor();
    const fill = async (current: string, newPassword: string, confirmation = newPassword) => {
      await form.getByLabel("Current password").fill(current);
      await form.getByLabel("New password, 10 characters or more").fill(newPassword);
      await form.getByLabel("New password again").fill(confirmation);
      await form.getByRole("button", { name: "Change password" }).click();
    };
    const next = "tomatoes are not the only fruit";
    await fill(PASSWORD, next, `${next}!`);
    await form.getByText("The two new passwords differ.").waitFor();
    expect(visitor.problems()).toEqual([]);
    await fill("not my password", next);
    await form.getByText("The two new passwords differ.").waitFor({ state: "detached" });
    await form.getByRole("alert").waitFor();
    expect(visitor.problems().filter((problem) => !problem.includes("401"))).toEqual([]);
    await fill(PASSWORD, next);
    await page.getByText("Your password was changed.").waitFor();
    expect(await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])")).not.toContain(next);
    await page.getByRole("link", { name: "Hosts" }).click();
    await page.getByRole("heading", { name: "Hosts", level: 1 }).waitFor();
    expect(visitor.problems()).toEqual([]);
    await expectSignedOut(otherPage);
    await appliance.openAs("changes@acme.example", "/settings", next);
  });
});

describe("API keys", () => {
  const fetchWithKey = (path: string, key: string) => appliance.running.withKey(key).get(path);

  test("are disabled temporarily with a reason, and concurrent changes are reported", async () => {
    const { visitor, page } = await appliance.openAs(ADMIN, "/settings/keys");
    await page.getByRole("button", { name: "New key" }).click();
    const creationForm = page.getByRole("form", { name: "New key" });
    await creationForm.getByLabel("Name", { exact: true }).fill("Backup job");
    // An Admin creates keys for others, except for an Owner.
    const users = creationForm.getByLabel("User", { exact: true }).locator("option");
    const { data: all } = await appliance.client.get("users");
    const selectableEmails = (all as unknown as JsonRecord[])
      .filter(({ role }) => role !== "Owner")
      .map(({ email }) => email);
    expect(selectableEmails).toEqual(expect.arrayContaining([ADMIN, MEMBER, VIEWER]));
    await expectEventually(async () => (await users.allTextContents()).sort(), selectableEmails.sort());
    await creationForm.getByLabel("User", { exact: true }).selectOption(MEMBER);
    await creationForm.getByRole("button", { name: "Create" }).click();
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
      ({ name }: { name: string }) => name === "Backup job",
    );
    const body = { name, organization_id, user_id, tags, expires_at: "2098-01-01T00:00:00Z" };
    expect((await page.request.put(`${keys}/${id}`, { data: body })).status()).toBe(200);
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("Others have changed this record in the meantime.").waitFor();
    await expectEventually(() => form.getByLabel("Why").inputValue(), "not while we move");
    expect((await fetchWithKey("hosts", key)).status).toBe(200);
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByText("The key Backup job was saved.").waitFor();
    await row.getByText("Disabled").waitFor();
    expect((await fetchWithKey("hosts", key)).status).toBe(401);
    const versions = (await (await page.request.get(`${keys}/${id}/history`)).json()).data;
    expect(versions[0]).toMatchObject({ record: { is_enabled: false }, transaction: { reason: "not while we move" } });
    expect(visitor.problems().filter((problem) => !problem.includes("412"))).toEqual([]);
  });

  test("cannot be created by a Viewer, and an Owner's key is inaccessible to other roles", async () => {
    const { visitor, page } = await appliance.openAs(VIEWER, "/settings/keys");
    await page.getByText("No API keys.").waitFor();
    expect(await page.getByRole("button", { name: "New key" }).count()).toBe(0);
    expect(visitor.problems()).toEqual([]);
    const me = (await (await page.request.get(`${appliance.url}/api/auth/me`)).json()).data;
    const body = { name: "mine", organization_id: me.organization_id, user_id: me.id, tags: [] };
    expect((await page.request.post(`${appliance.url}/api/v1/auth/keys`, { data: body })).status()).toBe(403);
    const { page: ownerPage } = await appliance.openAs(OWNER, "/settings/keys");
    await ownerPage.getByRole("row").nth(1).waitFor();
    const [ownerKey] = (
      await (await ownerPage.request.get(`${appliance.url}/api/v1/auth/keys?filter=permissions = Owner`)).json()
    ).data;
    for (const email of [VIEWER, MEMBER]) {
      const { page: otherPage } = await appliance.openAs(email, "/settings/keys");
      await otherPage.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
      expect(await otherPage.getByText(ownerKey.key).count()).toBe(0);
      const responses = [
        await otherPage.request.post(`${appliance.url}/api/v1/auth/keys/${ownerKey.id}/rotate`),
        await otherPage.request.delete(`${appliance.url}/api/v1/auth/keys/${ownerKey.id}`),
      ];
      expect([email, responses.map((response) => response.status())]).toEqual([
        email,
        email === VIEWER ? [403, 403] : [404, 404],
      ]);
    }
    const { page: adminPage } = await appliance.openAs(ADMIN, "/settings/keys");
    const row = adminPage.getByRole("row").filter({ hasText: ownerKey.key });
    await row.waitFor();
    expect(await row.getByRole("button").count()).toBe(0);
    expect((await adminPage.request.post(`${appliance.url}/api/v1/auth/keys/${ownerKey.id}/rotate`)).status()).toBe(
      403,
    );
  });
});

describe("users", () => {
  const NEW_EMAIL = "night@acme.example";
  const FIRST_PASSWORD = "a first phrase of theirs";
  const SECOND_PASSWORD = "a second phrase of theirs";

  beforeAll(async () => {
    await expectOk(appliance.client.post("networks", { organization_id: appliance.organizationId, name: "Vault" }));
  });

  const rowOf = (page: Page, email: string) =>
    page.getByRole("row").filter({ has: page.getByRole("cell", { name: email, exact: true }) });
  const signInStatus = async (password: string) => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ email: NEW_EMAIL, password });
    const login = new Request(`${appliance.url}/api/auth/login`, { method: "POST", headers, body });
    return (await appliance.testAppliance.handle(login)).status;
  };

  test("are added with one of two networks, given a new password, disabled, and deleted", async () => {
    const { visitor, page } = await appliance.openAs(OWNER, "/settings/people");
    await rowOf(page, VIEWER).waitFor();
    await page.getByRole("button", { name: "New user" }).click();
    const creationForm = page.getByRole("form", { name: "New user" });
    await creationForm.getByLabel("Name", { exact: true }).fill("Night shift");
    await creationForm.getByLabel("E-mail").fill(VIEWER);
    await creationForm.getByLabel("Role").selectOption("Member");
    await creationForm.getByLabel("Vault").check();
    await creationForm.getByLabel("Password").fill(FIRST_PASSWORD);
    await creationForm.getByRole("button", { name: "Create" }).click();
    await creationForm.getByRole("alert").waitFor();
    expect(visitor.problems().every((problem) => problem.includes("409"))).toBe(true);
    // The typed text is still there.
    await expectEventually(() => creationForm.getByLabel("Vault").isChecked(), true);
    await creationForm.getByLabel("E-mail").fill(NEW_EMAIL);
    await creationForm.getByRole("button", { name: "Create" }).click();
    await page.getByText("Night shift can sign in now.").waitFor();
    expect(await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])")).not.toContain(
      FIRST_PASSWORD,
    );
    const row = rowOf(page, NEW_EMAIL);
    await row.getByText("Vault").waitFor();
    await expectEventually(() => row.textContent(), expect.stringContaining("Member"));

    const { page: userPage } = await appliance.openAs(NEW_EMAIL, "/settings", FIRST_PASSWORD);
    await userPage.getByText("1 network", { exact: true }).waitFor();
    const { id, organization_id } = (await (await userPage.request.get(`${appliance.url}/api/auth/me`)).json()).data;
    const body = { name: "theirs", organization_id, user_id: id, tags: [] };
    const { key } = (await (await userPage.request.post(`${appliance.url}/api/v1/auth/keys`, { data: body })).json())
      .data;
    const keyStatus = async () => (await appliance.running.withKey(key).get("hosts")).status;
    expect(await keyStatus()).toBe(200);

    await row.getByRole("button", { name: "Edit Night shift" }).click();
    const editForm = page.getByRole("form", { name: "Edit Night shift" });
    await editForm.getByText("A new password ends all their sessions.").waitFor();
    await editForm.getByLabel("New password").fill(SECOND_PASSWORD);
    await editForm.getByRole("button", { name: "Save" }).click();
    await page.getByText("Night shift was saved.").waitFor();
    expect([await signInStatus(FIRST_PASSWORD), await signInStatus(SECOND_PASSWORD), await keyStatus()]).toEqual([
      401, 200, 200,
    ]);
    await expectSignedOut(userPage);

    await row.getByRole("button", { name: "Edit Night shift" }).click();
    await editForm.getByLabel("May sign in").uncheck();
    await editForm.getByLabel("Why").fill("left the team");
    await editForm.getByRole("button", { name: "Save" }).click();
    await row.getByText("Disabled").waitFor();
    expect([await signInStatus(SECOND_PASSWORD), await keyStatus()]).toEqual([401, 401]);
    const [last] = (await appliance.client.get(`users/${id}/history`)).data as unknown as JsonRecord[];
    expect(last).toMatchObject({ changed_fields: ["is_enabled"], transaction: { reason: "left the team" } });

    await row.getByRole("button", { name: "Delete Night shift" }).click();
    await page.getByText("Their API key is deleted as well, at once.").waitFor();
    await page.getByText("This cannot be undone").waitFor();
    await page.getByRole("button", { name: "Delete the user" }).click();
    await page.getByText("Night shift was deleted.").waitFor();
    await row.waitFor({ state: "detached" });
    expect(visitor.problems()).toEqual([]);
  });

  test("report concurrent changes, even after another rejection", async () => {
    const { page } = await appliance.openAs(OWNER, "/settings/people");
    const row = rowOf(page, MEMBER);
    await row.getByRole("button", { name: /^Edit/ }).click();
    const form = page.getByRole("form", { name: /^Edit/ });
    await form.getByLabel("E-mail").fill(VIEWER);
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByRole("alert").waitFor();
    const users = (await appliance.client.get("users")).data as unknown as JsonRecord[];
    const { id, email, name, role, network_ids } = users.find(({ email }) => email === MEMBER) as JsonRecord;
    const otherFields = { email, name, role, network_ids };
    expect((await appliance.client.put(`users/${id}`, { ...otherFields, is_enabled: false })).status).toBe(200);
    await form.getByLabel("E-mail").fill(MEMBER);
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("Others have changed this record in the meantime.").waitFor();
    expect((await appliance.client.get(`users/${id}`)).data).toMatchObject({ is_enabled: false });
    expect((await appliance.client.put(`users/${id}`, { ...otherFields, is_enabled: true })).status).toBe(200);
  });

  test("explain to the only Owner why the role cannot be given up", async () => {
    const { visitor, page } = await appliance.openAs(OWNER, "/settings/people");
    const own = rowOf(page, OWNER);
    await expectEventually(() => own.getByRole("button").allTextContents(), ["Edit"]);
    await own.getByRole("button", { name: "Edit" }).click();
    const form = page.getByRole("form");
    await form.getByText("Your own password is changed under Account.").waitFor();
    await form.getByLabel("Role").selectOption("Viewer");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("This is the organization's only Owner who can sign in").waitFor();
    expect(visitor.problems().every((problem) => problem.includes("409"))).toBe(true);
  });

  test("cannot be given a role above the Admin's own, nor be changed by a Member or Viewer", async () => {
    const { visitor, page } = await appliance.openAs(ADMIN, "/settings/people");
    await rowOf(page, VIEWER).waitFor();
    expect(await rowOf(page, OWNER).getByRole("button").count()).toBe(0);
    await expectEventually(() => rowOf(page, VIEWER).getByRole("button").allTextContents(), ["Edit", "Delete"]);
    await page.getByRole("button", { name: "New user" }).click();
    const roles = page.getByRole("form").getByLabel("Role").locator("option");
    await expectEventually(
      () => roles.evaluateAll((options) => options.map((option) => option.getAttribute("value"))),
      ["Admin", "Member", "Viewer"],
    );
    expect(visitor.problems()).toEqual([]);
    const users = `${appliance.url}/api/v1/users`;
    const body = { email: "me.too@acme.example", role: "Owner", password: FIRST_PASSWORD };
    expect((await page.request.post(users, { data: body })).status()).toBe(403);
    const { data } = await (await page.request.get(users)).json();
    const [owner] = data.filter(({ role }: { role: string }) => role === "Owner");
    expect((await page.request.delete(`${users}/${owner.id}`)).status()).toBe(403);
    for (const email of [MEMBER, VIEWER]) {
      const { visitor: user, page: userPage } = await appliance.openAs(email, "/settings/people");
      await rowOf(userPage, email).getByText("you").waitFor();
      expect(await userPage.getByRole("button", { name: "New user" }).count()).toBe(0);
      expect(await userPage.getByRole("row").getByRole("button").count()).toBe(0);
      expect(user.problems()).toEqual([]);
      const me = (await (await userPage.request.get(`${appliance.url}/api/auth/me`)).json()).data;
      const promotion = { email, role: "Admin" };
      const responses = [
        await userPage.request.put(`${users}/${me.id}`, { data: promotion }),
        await userPage.request.post(users, { data: { ...body, role: "Viewer" } }),
        await userPage.request.delete(`${users}/${me.id}`),
      ];
      expect([email, responses.map((response) => response.status())]).toEqual([email, [403, 403, 403]]);
    }
  });
});
