// Users and their rights in Chromium, on the executable: the own account, an API key and a user under axe-core. Rights
// of roles and ends of sessions are in people-in-process.test.ts.

import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { browserName } from "../../src/console/settings/browser-name.ts";
import { made } from "../support/appliance/factories.ts";
import { accessibilityFindings, follow, hasChromium, settles } from "../support/browser/browser.ts";
import { OWNER, serveForAll } from "../support/browser/visit.ts";
import { PASSWORD } from "../support/executable/executable.ts";

const MEMBER = "member@acme.example";
const VIEWER = "viewer@acme.example";
const NEW = "night@acme.example";
const PEOPLE = [
  [MEMBER, "Member"],
  [VIEWER, "Viewer"],
] as const;

describe("a session's browser", () => {
  const MOZILLA = "Mozilla/5.0";
  test.each([
    [`${MOZILLA} (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0`, "Firefox 128 on Linux"],
    [
      `${MOZILLA} (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36`,
      "Chrome 131 on Windows",
    ],
    [
      `${MOZILLA} (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0`,
      "Edge 131 on Windows",
    ],
    [
      `${MOZILLA} (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1`,
      "Safari 17 on iOS",
    ],
    [
      `${MOZILLA} (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36`,
      "Chrome 130 on Android",
    ],
    ["curl/8.5.0", "curl/8.5.0"],
    ["", "unknown"],
    [null, "unknown"],
  ] as const)("is shown by its common name: %s", (userAgent, name) => {
    expect(browserName(userAgent)).toBe(name);
  });
});

describe.skipIf(!hasChromium)("users and rights", () => {
  const appliance = serveForAll(async ({ addUser, networkId }) => {
    for (const [email, role] of PEOPLE) await addUser(email, role, [networkId]);
  });
  const arrived = (email: string, path: string, permissions: string[] = []) =>
    appliance.arrived(email, path, { timezoneId: "Europe/Berlin", permissions });

  test("stored preferences are listed, reset singly or all, and restored", async () => {
    const { client, networkId } = appliance;
    await made(client.post("networks", { name: "Branch" }));
    const host = await made(client.post("hosts", { network_id: networkId, name: "core-1" }));
    const { visitor, page } = await arrived(OWNER, "/settings");
    const row = (name: string) =>
      page.getByRole("row").filter({ has: page.getByRole("rowheader", { name, exact: true }) });
    const cell = (name: string) => row(name).getByRole("cell").first();
    const reset = (name: string) => page.getByRole("button", { name: `Reset: ${name}`, exact: true });
    const shown = async () => ({
      zone: await row("Time zone").getByRole("combobox").inputValue(),
      range: await cell("Range of the time bar").textContent(),
      network: await cell("Default network").textContent(),
      asked: await cell("Recent searches").textContent(),
      pins: await cell("Pinned").textContent(),
      views: await cell("Saved views").textContent(),
    });
    const beginning = {
      ...{ zone: "Europe/Berlin", range: "Week", network: "All networks" },
      ...{ asked: "none", pins: "none", views: "none" },
    };
    await settles(shown, beginning);
    expect(await page.getByRole("button", { name: /^Reset/ }).count()).toBe(0);

    await row("Time zone").getByRole("combobox").selectOption("UTC");
    await page.locator("select.range").selectOption("day");
    await follow(page, `/hosts/${host.id}`);
    await page.getByRole("button", { name: "Pin", exact: true }).click();
    await page.getByRole("button", { name: "Pinned", exact: true }).waitFor();
    await follow(page, '/hosts?filter=name = "core-1"');
    await page.getByRole("button", { name: "Views", exact: true }).click();
    await page.getByLabel("View name").fill("The core");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "The core" }).waitFor();
    await follow(page, "/?q=core-1");
    await page.locator(".hits").waitFor();
    await page.getByRole("banner").getByLabel("Network").selectOption({ label: "Branch" });
    await page.waitForURL((url) => url.searchParams.has("network"));
    // Kept across documents.
    await page.goto(`${appliance.url}/settings`);
    const chosen = {
      ...{ zone: "UTC", range: "Day", network: "Branch", asked: "core-1 until you sign out", pins: "core-1" },
      views: "Hosts: The core",
    };
    await settles(shown, chosen);
    for (const [width, colorScheme] of [
      [1280, "light"],
      [360, "dark"],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      expect([width, await accessibilityFindings(page)]).toEqual([width, []]);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    }
    await page.setViewportSize({ width: 1280, height: 800 });

    await reset("Pinned").click();
    await settles(shown, { ...chosen, pins: "none" });
    await reset("Pinned").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await settles(shown, chosen);
    await page.getByRole("button", { name: "Reset all" }).click();
    await settles(shown, beginning);
    await page.getByText("All of them are as they were at the beginning.").waitFor();
    expect(await page.getByRole("button", { name: /^Reset/ }).count()).toBe(0);
    const ofUser = async () => (await (await page.request.get(`${appliance.url}/api/auth/preferences`)).json()).data;
    expect(await ofUser()).toEqual({});
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await settles(shown, chosen);
    expect(await ofUser()).toMatchObject({
      pins: [{ kind: "hosts", id: host.id }],
      "views.host": [{ name: "The core" }],
    });
    // Saved views link to their pages.
    await row("Saved views").getByRole("link", { name: "The core" }).click();
    await page.waitForURL((url) => url.pathname === "/hosts" && url.searchParams.get("filter") === 'name = "core-1"');
    await page.getByRole("heading", { level: 1, name: "Hosts" }).waitFor();
    expect(visitor.troubles()).toEqual([]);
    // No revocation while viewing the past.
    await follow(page, "/settings?at=2026-03-01T02:12:00Z");
    await row("Pinned").waitFor();
    expect(await page.getByRole("button", { name: /^Reset/ }).count()).toBe(0);
  });

  test("ending a session and changing the password are accessible", async () => {
    const elsewhere = await fetch(`${appliance.url}/api/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: VIEWER, password: PASSWORD }),
    });
    expect(elsewhere.status).toBe(200);
    const { visitor, page } = await arrived(VIEWER, "/settings");
    await page.getByRole("row").filter({ hasText: "this session" }).waitFor();
    const other = page.getByRole("row").filter({ has: page.getByRole("button", { name: /^End/ }) });
    await other.waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await other.getByRole("button").click();
    await page.getByText("The session has ended.").waitFor();
    await other.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Change password" }).click();
    const form = page.getByRole("form", { name: "Change password" });
    await form.getByText("All your other sessions end. API keys stay valid.").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.troubles()).toEqual([]);
  });

  const asked = async (path: string, key: string) =>
    fetch(`${appliance.url}/api/v1/${path}`, { headers: { authorization: `Bearer ${key}` } });
  const copied = async (page: Page) => {
    await page.locator(".command").getByRole("button").click();
    return String(await page.evaluate("navigator.clipboard.readText()"));
  };
  const kept = (page: Page) =>
    page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, history.state])");

  test("a key is shown once, used, rotated, and ended while a program follows changes with it", async () => {
    const { visitor, page } = await arrived(MEMBER, "/settings/keys", ["clipboard-read", "clipboard-write"]);
    await page.getByText("There is no API key yet.").waitFor();
    await page.getByRole("button", { name: "New key" }).click();
    const form = page.getByRole("form", { name: "New key" });
    await form.getByLabel("Name", { exact: true }).fill("Monitoring");
    expect(await form.getByLabel("User", { exact: true }).count()).toBe(0);
    await settles(() => form.getByLabel("What it may do, at most").locator("option").count(), 2);
    await form.getByLabel("Only these").check();
    await form.getByRole("button", { name: "Create" }).click();
    await form.getByText("Choose at least one network, or all of the user.").waitFor();
    await form.getByRole("checkbox").check();
    await form.getByLabel("Only from these CIDRs").fill("127.0.0.0/8\n10.0.30.0/24");
    await form.getByLabel("Expires on").fill("2099-12-31");
    expect(await accessibilityFindings(page)).toEqual([]);
    await form.getByRole("button", { name: "Create" }).click();
    await page.getByText("The key Monitoring was created.").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    const first = await copied(page);
    expect(first).toMatch(/^nlk_\w{40,}$/);
    expect(await kept(page)).not.toContain(first);
    await page.getByRole("button", { name: "I have copied it" }).click();
    expect(await page.locator("body").textContent()).not.toContain(first);
    const row = page.getByRole("row").filter({ hasText: "Monitoring" });
    await settles(() => row.textContent(), expect.stringContaining("10.0.30.0/24, 127.0.0.0/8"));
    await settles(() => row.textContent(), expect.stringContaining("2099-12-31"));
    await settles(() => row.getByRole("cell").last().textContent(), "EditRotateDelete");

    expect((await asked("hosts", first)).status).toBe(200);
    // Using a key creates no version that would update the page.
    const uses = async () =>
      (await (await page.request.get(`${appliance.url}/api/v1/auth/keys`)).json()).data[0].last_used !== null;
    await settles(uses, true);
    await page.reload();
    await row.waitFor();
    await settles(async () => /second(s)? ago|now/.test((await row.textContent()) ?? ""), true);

    await row.getByRole("button", { name: "Rotate the key Monitoring" }).click();
    await page.getByText("The old one stops working at once").waitFor();
    expect((await asked("hosts", first)).status).toBe(200);
    await page.getByRole("button", { name: "Rotate it" }).click();
    await page.getByText("The key Monitoring was rotated.").waitFor();
    const second = await copied(page);
    expect(second).not.toBe(first);
    expect([(await asked("hosts", first)).status, (await asked("hosts", second)).status]).toEqual([401, 200]);
    await page.getByRole("button", { name: "I have copied it" }).click();

    const stream = await fetch(`${appliance.url}/api/v1/changes`, {
      headers: { authorization: `Bearer ${second}`, accept: "text/event-stream" },
    });
    expect(stream.headers.get("content-type")).toContain("text/event-stream");
    const followed = stream.text();
    await row.getByRole("button", { name: "Delete the key Monitoring" }).click();
    await page.getByText("It stops working at once, also where it follows changes. This cannot be undone").waitFor();
    await page.getByRole("button", { name: "Delete the key", exact: true }).click();
    await page.getByText("The key Monitoring was deleted.").waitFor();
    await page.getByText("There is no API key yet.").waitFor();
    // The stream must end, or the test would hang.
    await followed;
    // The page continues with the current session.
    await page.locator(".live-state").getByText("live", { exact: true }).waitFor();
    expect((await asked("hosts", second)).status).toBe(401);
    expect(visitor.troubles()).toEqual([]);
  });

  test("adding and deleting a user is accessible at each step", async () => {
    const { client, organizationId } = appliance;
    await made(client.post("networks", { organization_id: organizationId, name: "Vault" }));
    const { visitor, page } = await arrived(OWNER, "/settings/people");
    const rowOf = (email: string) =>
      page.getByRole("row").filter({ has: page.getByRole("cell", { name: email, exact: true }) });
    await rowOf(VIEWER).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "New user" }).click();
    const adding = page.getByRole("form", { name: "New user" });
    await adding.getByLabel("Name", { exact: true }).fill("Night shift");
    await adding.getByLabel("E-mail").fill(NEW);
    await adding.getByLabel("Role").selectOption("Member");
    await adding.getByLabel("Vault").check();
    await adding.getByLabel("Password").fill("a first phrase of theirs");
    expect(await accessibilityFindings(page)).toEqual([]);
    await adding.getByRole("button", { name: "Create" }).click();
    await page.getByText("Night shift can sign in now.").waitFor();
    const row = rowOf(NEW);
    await row.getByText("Vault").waitFor();
    const { data: users } = await client.get("users");
    const { id } = users.find((each: { email: string }) => each.email === NEW);
    const key = { name: "theirs", organization_id: organizationId, user_id: id, tags: [] };
    expect((await page.request.post(`${appliance.url}/api/v1/auth/keys`, { data: key })).status()).toBe(200);
    await row.getByRole("button", { name: "Edit Night shift" }).click();
    const editing = page.getByRole("form", { name: "Edit Night shift" });
    await editing.getByLabel("May sign in").uncheck();
    await editing.getByRole("button", { name: "Save" }).click();
    await row.getByText("Disabled").waitFor();
    await row.getByRole("button", { name: "Delete Night shift" }).click();
    await page.getByText("Their API key is deleted as well, at once.").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Delete the user" }).click();
    await page.getByText("Night shift was deleted.").waitFor();
    await row.waitFor({ state: "detached" });
    expect(visitor.troubles()).toEqual([]);
  });
});
