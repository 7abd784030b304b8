// Users and their permissions in Chromium, on the executable: the user's own account, an API key and a user under
// axe-core. people-in-process.test.ts covers role permissions and ending sessions.

import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { browserName } from "../../src/console/settings/browser-name.ts";
import { expectOk } from "../support/appliance/factories.ts";
import { accessibilityFindings, expectEventually, follow, hasChromium } from "../support/browser/browser.ts";
import { OWNER, serveForAll } from "../support/browser/visit.ts";
import { PASSWORD } from "../support/executable/executable.ts";

const MEMBER = "member@acme.example";
const VIEWER = "viewer@acme.example";
const NEW_EMAIL = "night@acme.example";
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

describe.skipIf(!hasChromium)("users and permissions", () => {
  const appliance = serveForAll(async ({ addUser, networkId }) => {
    for (const [email, role] of PEOPLE) await addUser(email, role, [networkId]);
  });
  const openAs = (email: string, path: string, permissions: string[] = []) =>
    appliance.visitAs(email, path, { timezoneId: "Europe/Berlin", permissions });

  test("stored preferences are listed, reset singly or all, and restored", async () => {
    const { client, networkId } = appliance;
    await expectOk(client.post("networks", { name: "Branch" }));
    const host = await expectOk(client.post("hosts", { network_id: networkId, name: "core-1" }));
    const { visitor, page } = await openAs(OWNER, "/settings");
    const row = (name: string) =>
      page.getByRole("row").filter({ has: page.getByRole("rowheader", { name, exact: true }) });
    const cell = (name: string) => row(name).getByRole("cell").first();
    const reset = (name: string) => page.getByRole("button", { name: `Reset: ${name}`, exact: true });
    const preferences = async () => ({
      zone: await row("Time zone").getByRole("combobox").inputValue(),
      range: await cell("Range of the time bar").textContent(),
      network: await cell("Default network").textContent(),
      searches: await cell("Recent searches").textContent(),
      pins: await cell("Pinned").textContent(),
      views: await cell("Saved views").textContent(),
    });
    const defaults = {
      ...{ zone: "Europe/Berlin", range: "Week", network: "All networks" },
      ...{ searches: "none", pins: "none", views: "none" },
    };
    await expectEventually(preferences, defaults);
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
    // Kept when another document is loaded.
    await page.goto(`${appliance.url}/settings`);
    const chosen = {
      ...{ zone: "UTC", range: "Day", network: "Branch", searches: "core-1 until you sign out", pins: "core-1" },
      views: "Hosts: The core",
    };
    await expectEventually(preferences, chosen);
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
    await expectEventually(preferences, { ...chosen, pins: "none" });
    await reset("Pinned").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await expectEventually(preferences, chosen);
    await page.getByRole("button", { name: "Reset all" }).click();
    await expectEventually(preferences, defaults);
    await page.getByText("All preferences were reset.").waitFor();
    expect(await page.getByRole("button", { name: /^Reset/ }).count()).toBe(0);
    const storedPreferences = async () =>
      (await (await page.request.get(`${appliance.url}/api/auth/preferences`)).json()).data;
    expect(await storedPreferences()).toEqual({});
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await expectEventually(preferences, chosen);
    expect(await storedPreferences()).toMatchObject({
      pins: [{ kind: "hosts", id: host.id }],
      "views.host": [{ name: "The core" }],
    });
    // Saved views link to their pages.
    await row("Saved views").getByRole("link", { name: "The core" }).click();
    await page.waitForURL((url) => url.pathname === "/hosts" && url.searchParams.get("filter") === 'name = "core-1"');
    await page.getByRole("heading", { level: 1, name: "Hosts" }).waitFor();
    expect(visitor.problems()).toEqual([]);
    // Nothing can be reset while viewing the past.
    await follow(page, "/settings?at=2026-03-01T02:12:00Z");
    await row("Pinned").waitFor();
    expect(await page.getByRole("button", { name: /^Reset/ }).count()).toBe(0);
  });

  test("the list of sessions and the change of the password are accessible", async () => {
    const otherSession = await fetch(`${appliance.url}/api/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: VIEWER, password: PASSWORD }),
    });
    expect(otherSession.status).toBe(200);
    const { visitor, page } = await openAs(VIEWER, "/settings");
    await page.getByRole("row").filter({ hasText: "this session" }).waitFor();
    const otherRow = page.getByRole("row").filter({ has: page.getByRole("button", { name: /^End/ }) });
    await otherRow.waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Change password" }).click();
    const form = page.getByRole("form", { name: "Change password" });
    await form.getByText("All your other sessions end. API keys stay valid.").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.problems()).toEqual([]);
  });

  const fetchWithKey = async (path: string, key: string) =>
    fetch(`${appliance.url}/api/v1/${path}`, { headers: { authorization: `Bearer ${key}` } });
  const copyKey = async (page: Page) => {
    await page.locator(".command").getByRole("button").click();
    return String(await page.evaluate("navigator.clipboard.readText()"));
  };
  const browserState = (page: Page) =>
    page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, history.state])");

  test("a key is shown once, used, rotated, and deleted while a program streams changes with it", async () => {
    const { visitor, page } = await openAs(MEMBER, "/settings/keys", ["clipboard-read", "clipboard-write"]);
    await page.getByText("No API keys.").waitFor();
    await page.getByRole("button", { name: "New key" }).click();
    const form = page.getByRole("form", { name: "New key" });
    await form.getByLabel("Name", { exact: true }).fill("Monitoring");
    expect(await form.getByLabel("User", { exact: true }).count()).toBe(0);
    await expectEventually(() => form.getByLabel("Maximum permissions").locator("option").count(), 2);
    await form.getByLabel("Selected networks").check();
    await form.getByRole("button", { name: "Create" }).click();
    await form.getByText("Choose at least one network, or all networks.").waitFor();
    await form.getByRole("checkbox").check();
    await form.getByLabel("Allowed source CIDRs").fill("127.0.0.0/8\n10.0.30.0/24");
    await form.getByLabel("Expires on").fill("2099-12-31");
    expect(await accessibilityFindings(page)).toEqual([]);
    await form.getByRole("button", { name: "Create" }).click();
    await page.getByText("The key Monitoring was created.").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    const first = await copyKey(page);
    expect(first).toMatch(/^nlk_\w{40,}$/);
    expect(await browserState(page)).not.toContain(first);
    await page.getByRole("button", { name: "I have copied it" }).click();
    expect(await page.locator("body").textContent()).not.toContain(first);
    const row = page.getByRole("row").filter({ hasText: "Monitoring" });
    await expectEventually(() => row.textContent(), expect.stringContaining("10.0.30.0/24, 127.0.0.0/8"));
    await expectEventually(() => row.textContent(), expect.stringContaining("2099-12-31"));
    await expectEventually(() => row.getByRole("cell").last().textContent(), "EditRotateDelete");

    expect((await fetchWithKey("hosts", first)).status).toBe(200);
    // Using a key creates no version that would update the page.
    const uses = async () =>
      (await (await page.request.get(`${appliance.url}/api/v1/auth/keys`)).json()).data[0].last_used !== null;
    await expectEventually(uses, true);
    await page.reload();
    await row.waitFor();
    await expectEventually(async () => /second(s)? ago|now/.test((await row.textContent()) ?? ""), true);

    await row.getByRole("button", { name: "Rotate the key Monitoring" }).click();
    await page.getByText("The old one stops working immediately").waitFor();
    expect((await fetchWithKey("hosts", first)).status).toBe(200);
    await page.getByRole("button", { name: "Rotate the key", exact: true }).click();
    await page.getByText("The key Monitoring was rotated.").waitFor();
    const second = await copyKey(page);
    expect(second).not.toBe(first);
    expect([(await fetchWithKey("hosts", first)).status, (await fetchWithKey("hosts", second)).status]).toEqual([
      401, 200,
    ]);
    await page.getByRole("button", { name: "I have copied it" }).click();

    const stream = await fetch(`${appliance.url}/api/v1/changes`, {
      headers: { authorization: `Bearer ${second}`, accept: "text/event-stream" },
    });
    expect(stream.headers.get("content-type")).toContain("text/event-stream");
    const streamText = stream.text();
    await row.getByRole("button", { name: "Delete the key Monitoring" }).click();
    await page.getByText("The key stops working immediately, including for event streams.").waitFor();
    await page.getByRole("button", { name: "Delete the key", exact: true }).click();
    await page.getByText("The key Monitoring was deleted.").waitFor();
    await page.getByText("No API keys.").waitFor();
    // The stream must end, or the test would hang.
    await streamText;
    // The page continues with the current session.
    await page.locator(".live-state").getByText("live", { exact: true }).waitFor();
    expect((await fetchWithKey("hosts", second)).status).toBe(401);
    expect(visitor.problems()).toEqual([]);
  });

  test("adding and deleting a user is accessible at each step", async () => {
    const { client, organizationId } = appliance;
    await expectOk(client.post("networks", { organization_id: organizationId, name: "Vault" }));
    const { visitor, page } = await openAs(OWNER, "/settings/people");
    const rowOf = (email: string) =>
      page.getByRole("row").filter({ has: page.getByRole("cell", { name: email, exact: true }) });
    await rowOf(VIEWER).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "New user" }).click();
    const creationForm = page.getByRole("form", { name: "New user" });
    await creationForm.getByLabel("Name", { exact: true }).fill("Night shift");
    await creationForm.getByLabel("E-mail").fill(NEW_EMAIL);
    await creationForm.getByLabel("Role").selectOption("Member");
    await creationForm.getByLabel("Vault").check();
    await creationForm.getByLabel("Password").fill("a first phrase of theirs");
    expect(await accessibilityFindings(page)).toEqual([]);
    await creationForm.getByRole("button", { name: "Create" }).click();
    await page.getByText("Night shift can sign in now.").waitFor();
    const row = rowOf(NEW_EMAIL);
    await row.getByText("Vault").waitFor();
    await row.getByRole("button", { name: "Delete Night shift" }).click();
    await page.getByText("This cannot be undone").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.problems()).toEqual([]);
  });
});
