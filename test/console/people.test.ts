// People and their rights in Chromium, on the executable: one's own account and sessions; what others may is changed only
// by those who may, and said before it is done.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { browserName } from "../../src/console/settings/browser-name.ts";
import { made, type Wire } from "../support/appliance/factories.ts";
import { accessibilityFindings, closeBrowser, hasChromium, settles, Visitor } from "../support/browser/browser.ts";
import { ensureExecutable, PASSWORD, type Running, type SetUp, Workplace } from "../support/executable/executable.ts";

const OWNER = "owner@acme.example";
const ADMIN = "admin@acme.example";
const MEMBER = "member@acme.example";
const VIEWER = "viewer@acme.example";
const PEOPLE = [
  [ADMIN, "Admin"],
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
  ] as const)("is called as people call it: %s", (userAgent, name) => {
    expect(browserName(userAgent)).toBe(name);
  });
});

afterAll(() => closeBrowser());

describe.skipIf(!hasChromium)("one's own account", () => {
  let workplace: Workplace;
  let appliance: SetUp & { readonly running: Running; readonly client: ReturnType<Running["withKey"]> };
  let origin: string;
  const visitors: Visitor[] = [];

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    appliance = await workplace.serveSetUp();
    origin = appliance.running.url;
    const made = await workplace.command(
      ...["user", "create", "--email", VIEWER, "--role", "Viewer", "--networks", appliance.networkId],
      ...["--password-file", await workplace.passwordFile()],
    );
    expect(made).toMatchObject({ code: 0 });
  });

  afterEach(async () => {
    for (const visitor of visitors.splice(0)) await visitor.leave();
  });

  afterAll(() => workplace.close());

  async function arrived(email: string, path: string, password = PASSWORD): Promise<{ visitor: Visitor; page: Page }> {
    const visitor = await Visitor.arrive(origin);
    visitors.push(visitor);
    return { visitor, page: await visitor.signIn(email, password, path) };
  }

  async function isSignedOut(page: Page): Promise<void> {
    // Where the stream of changes has said so already, there is nothing to click any more.
    await page.evaluate(`document.querySelector("nav a[href^='/hosts']")?.click()`);
    await page.getByText("Your session has ended.").waitFor();
  }

  const own = (page: Page) => page.getByRole("row").filter({ hasText: "this session" });
  const other = (page: Page) => page.getByRole("row").filter({ has: page.getByRole("button", { name: /^End/ }) });

  test("lists what the console remembers of one's choices, takes back one of them or all, and that as well", async () => {
    const { client, networkId } = appliance;
    await made(client.post("networks", { name: "Branch" }));
    const host = await made(client.post("hosts", { network_id: networkId, name: "core-1" }));
    const visitor = await Visitor.arrive(origin, { timezoneId: "Europe/Berlin" });
    visitors.push(visitor);
    const page = await visitor.signIn(OWNER, PASSWORD, "/settings");
    const row = (name: string) =>
      page.getByRole("row").filter({ has: page.getByRole("rowheader", { name, exact: true }) });
    const cell = (name: string) => row(name).getByRole("cell").first();
    const reset = (name: string) => page.getByRole("button", { name: `Reset: ${name}`, exact: true });
    const shown = async () => ({
      zone: await row("Time zone").getByRole("combobox").inputValue(),
      range: await cell("Range of the time bar").textContent(),
      network: await cell("Network at first").textContent(),
      asked: await cell("Asked last").textContent(),
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
    await page.goto(`${origin}/hosts/${host.id}`);
    await page.getByRole("button", { name: "Pin", exact: true }).click();
    await page.getByRole("button", { name: "Pinned", exact: true }).waitFor();
    await page.goto(`${origin}/hosts?filter=name = "core-1"`);
    await page.getByRole("button", { name: "Views", exact: true }).click();
    await page.getByLabel("Name of the view").fill("The core");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "The core" }).waitFor();
    await page.goto(`${origin}/?q=core-1`);
    await page.locator(".hits").waitFor();
    await page.getByRole("banner").getByLabel("Network").selectOption({ label: "Branch" });
    await page.waitForURL((url) => url.searchParams.has("network"));
    await page.goto(`${origin}/settings`);
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
    const ofUser = async () => (await (await page.request.get(`${origin}/api/auth/preferences`)).json()).data;
    expect(await ofUser()).toEqual({});
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await settles(shown, chosen);
    expect(await ofUser()).toMatchObject({
      pins: [{ kind: "hosts", id: host.id }],
      "views.host": [{ name: "The core" }],
    });
    // They lead to what they are.
    await row("Saved views").getByRole("link", { name: "The core" }).click();
    await page.waitForURL((url) => url.pathname === "/hosts" && url.searchParams.get("filter") === 'name = "core-1"');
    await page.getByRole("heading", { level: 1, name: "Hosts" }).waitFor();
    expect(visitor.troubles()).toEqual([]);
    // In the past nothing is taken back.
    await page.goto(`${origin}/settings?at=2026-03-01T02:12:00Z`);
    await row("Pinned").waitFor();
    expect(await page.getByRole("button", { name: /^Reset/ }).count()).toBe(0);
  });

  test("ends a session from the list, and it is signed out there", async () => {
    const { page: elsewhere } = await arrived(VIEWER, "/");
    const { visitor, page } = await arrived(VIEWER, "/settings");
    await own(page).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await other(page).getByRole("button").click();
    await page.getByText("The session has ended.").waitFor();
    await other(page).waitFor({ state: "detached" });
    await settles(() => own(page).count(), 1);
    expect(visitor.troubles()).toEqual([]);
    await isSignedOut(elsewhere);
  });

  test("ends all others at once", async () => {
    const { page: elsewhere } = await arrived(VIEWER, "/");
    const { page: home } = await arrived(VIEWER, "/");
    const { visitor, page } = await arrived(VIEWER, "/settings");
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

  test("changes the password, which ends the other sessions and not this one", async () => {
    const { page: elsewhere } = await arrived(VIEWER, "/");
    const { visitor, page } = await arrived(VIEWER, "/settings");
    await page.getByRole("button", { name: "Change password" }).click();
    const form = page.getByRole("form", { name: "Change password" });
    await form.getByText("All your other sessions end. API keys stay valid.").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
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
    await arrived(VIEWER, "/settings", next);
  });
});

describe.skipIf(!hasChromium)("whoever looks after keys", () => {
  let workplace: Workplace;
  let appliance: SetUp & { readonly running: Running; readonly client: ReturnType<Running["withKey"]> };
  let origin: string;
  const visitors: Visitor[] = [];

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    appliance = await workplace.serveSetUp();
    origin = appliance.running.url;
    for (const [email, role] of PEOPLE) {
      const networks = role === "Admin" ? [] : ["--networks", appliance.networkId];
      const password = ["--password-file", await workplace.passwordFile()];
      const made = await workplace.command(
        "user",
        "create",
        "--email",
        email,
        "--role",
        role,
        ...networks,
        ...password,
      );
      expect(made).toMatchObject({ code: 0 });
    }
  });

  afterEach(async () => {
    for (const visitor of visitors.splice(0)) await visitor.leave();
  });

  afterAll(() => workplace.close());

  async function arrived(email: string, path: string): Promise<{ visitor: Visitor; page: Page }> {
    const visitor = await Visitor.arrive(origin, { permissions: ["clipboard-read", "clipboard-write"] });
    visitors.push(visitor);
    return { visitor, page: await visitor.signIn(email, PASSWORD, path) };
  }

  const asked = async (path: string, key: string) =>
    fetch(`${origin}/api/v1/${path}`, { headers: { authorization: `Bearer ${key}` } });
  const copied = async (page: Page) => {
    await page.locator(".command").getByRole("button").click();
    return String(await page.evaluate("navigator.clipboard.readText()"));
  };
  const kept = (page: Page) =>
    page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, history.state])");

  test("makes a key that is shown once, uses it, rotates it, and ends it while a program follows with it", async () => {
    const { visitor, page } = await arrived(MEMBER, "/settings/keys");
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
    await settles(async () => {
      await page.reload();
      await row.waitFor();
      return /second(s)? ago|now/.test((await row.textContent()) ?? "");
    }, true);

    await row.getByRole("button", { name: "Rotate the key Monitoring" }).click();
    await page.getByText("The old one stops working at once").waitFor();
    expect((await asked("hosts", first)).status).toBe(200);
    await page.getByRole("button", { name: "Rotate it" }).click();
    await page.getByText("The key Monitoring was rotated.").waitFor();
    const second = await copied(page);
    expect(second).not.toBe(first);
    expect([(await asked("hosts", first)).status, (await asked("hosts", second)).status]).toEqual([401, 200]);
    await page.getByRole("button", { name: "I have copied it" }).click();

    const stream = await fetch(`${origin}/api/v1/changes`, {
      headers: { authorization: `Bearer ${second}`, accept: "text/event-stream" },
    });
    expect(stream.headers.get("content-type")).toContain("text/event-stream");
    const followed = stream.text();
    await row.getByRole("button", { name: "Delete the key Monitoring" }).click();
    await page.getByText("It stops working at once, also where it follows changes. This cannot be undone").waitFor();
    await page.getByRole("button", { name: "Delete the key", exact: true }).click();
    await page.getByText("The key Monitoring was deleted.").waitFor();
    await page.getByText("There is no API key yet.").waitFor();
    // It ends, or the test would not.
    await followed;
    // The page follows with the session, which goes on.
    await page.locator(".live-state").getByText("live", { exact: true }).waitFor();
    expect((await asked("hosts", second)).status).toBe(401);
    expect(visitor.troubles()).toEqual([]);
  });

  test("changes a key for a while, says why, and is told what others changed meanwhile", async () => {
    const { visitor, page } = await arrived(ADMIN, "/settings/keys");
    await page.getByRole("button", { name: "New key" }).click();
    const making = page.getByRole("form", { name: "New key" });
    await making.getByLabel("Name", { exact: true }).fill("Backup job");
    // An Admin makes them for others, but not for an Owner.
    const users = making.getByLabel("User", { exact: true }).locator("option");
    await settles(async () => (await users.allTextContents()).sort(), [ADMIN, MEMBER, VIEWER]);
    await making.getByLabel("User", { exact: true }).selectOption(MEMBER);
    await making.getByRole("button", { name: "Create" }).click();
    const key = await copied(page);
    await page.getByRole("button", { name: "I have copied it" }).click();
    const row = page.getByRole("row").filter({ hasText: "Backup job" });
    await row.getByRole("button", { name: "Edit the key Backup job" }).click();
    const form = page.getByRole("form", { name: "Edit the key Backup job" });
    await form.getByLabel("Enabled").uncheck();
    await form.getByLabel("Why").fill("not while we move");
    const keys = `${origin}/api/v1/auth/keys`;
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

  test("a Viewer is offered no key, and is made none by hand; a Member sees their own and no Owner's", async () => {
    const { visitor, page } = await arrived(VIEWER, "/settings/keys");
    await page.getByText("There is no API key yet.").waitFor();
    expect(await page.getByRole("button", { name: "New key" }).count()).toBe(0);
    expect(visitor.troubles()).toEqual([]);
    const me = (await (await page.request.get(`${origin}/api/auth/me`)).json()).data;
    const body = { name: "mine", organization_id: me.organization_id, user_id: me.id, tags: [] };
    expect((await page.request.post(`${origin}/api/v1/auth/keys`, { data: body })).status()).toBe(403);
    const { page: owners } = await arrived(OWNER, "/settings/keys");
    await owners.getByRole("row").nth(1).waitFor();
    const [owned] = (await (await owners.request.get(`${origin}/api/v1/auth/keys?filter=permissions = Owner`)).json())
      .data;
    for (const email of [VIEWER, MEMBER]) {
      const { page: others } = await arrived(email, "/settings/keys");
      await others.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
      expect(await others.getByText(owned.key).count()).toBe(0);
      const answers = [
        await others.request.post(`${origin}/api/v1/auth/keys/${owned.id}/rotate`),
        await others.request.delete(`${origin}/api/v1/auth/keys/${owned.id}`),
      ];
      expect([email, answers.map((each) => each.status())]).toEqual([
        email,
        email === VIEWER ? [403, 403] : [404, 404],
      ]);
    }
    const { page: admins } = await arrived(ADMIN, "/settings/keys");
    const row = admins.getByRole("row").filter({ hasText: owned.key });
    await row.waitFor();
    expect(await row.getByRole("button").count()).toBe(0);
    expect((await admins.request.post(`${origin}/api/v1/auth/keys/${owned.id}/rotate`)).status()).toBe(403);
  });
});

describe.skipIf(!hasChromium)("whoever looks after people", () => {
  const NEW = "night@acme.example";
  const FIRST = "a first phrase of theirs";
  const SECOND = "a second phrase of theirs";
  let workplace: Workplace;
  let appliance: SetUp & { readonly running: Running; readonly client: ReturnType<Running["withKey"]> };
  let origin: string;
  const visitors: Visitor[] = [];

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    appliance = await workplace.serveSetUp();
    origin = appliance.running.url;
    await made(appliance.client.post("networks", { organization_id: appliance.organizationId, name: "Vault" }));
    for (const [email, role] of PEOPLE) {
      const networks = role === "Admin" ? [] : ["--networks", appliance.networkId];
      const password = ["--password-file", await workplace.passwordFile()];
      const added = await workplace.command(
        "user",
        "create",
        "--email",
        email,
        "--role",
        role,
        ...networks,
        ...password,
      );
      expect(added).toMatchObject({ code: 0 });
    }
  });

  afterEach(async () => {
    for (const visitor of visitors.splice(0)) await visitor.leave();
  });

  afterAll(() => workplace.close());

  async function arrived(email: string, path: string, password = PASSWORD): Promise<{ visitor: Visitor; page: Page }> {
    const visitor = await Visitor.arrive(origin);
    visitors.push(visitor);
    return { visitor, page: await visitor.signIn(email, password, path) };
  }

  const rowOf = (page: Page, email: string) =>
    page.getByRole("row").filter({ has: page.getByRole("cell", { name: email, exact: true }) });
  const signsIn = async (password: string) =>
    (
      await fetch(`${origin}/api/auth/login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ email: NEW, password }),
      })
    ).status;

  test("adds somebody with one of two networks, gives them another password, keeps them out, and removes them", async () => {
    const { visitor, page } = await arrived(OWNER, "/settings/people");
    await rowOf(page, VIEWER).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "New user" }).click();
    const adding = page.getByRole("form", { name: "New user" });
    await adding.getByLabel("Name", { exact: true }).fill("Night shift");
    await adding.getByLabel("E-mail").fill(VIEWER);
    await adding.getByLabel("Role").selectOption("Member");
    await adding.getByLabel("Vault").check();
    await adding.getByLabel("Password").fill(FIRST);
    expect(await accessibilityFindings(page)).toEqual([]);
    await adding.getByRole("button", { name: "Create" }).click();
    await adding.getByRole("alert").waitFor();
    expect(visitor.troubles().every((each) => each.includes("409"))).toBe(true);
    // What was typed is still there.
    await settles(() => adding.getByLabel("Vault").isChecked(), true);
    await adding.getByLabel("E-mail").fill(NEW);
    await adding.getByRole("button", { name: "Create" }).click();
    await page.getByText("Night shift can sign in now.").waitFor();
    expect(await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])")).not.toContain(FIRST);
    const row = rowOf(page, NEW);
    await row.getByText("Vault").waitFor();
    await settles(() => row.textContent(), expect.stringContaining("Member"));

    const { page: theirs } = await arrived(NEW, "/settings", FIRST);
    await theirs.getByText("1 network", { exact: true }).waitFor();
    const { id, organization_id } = (await (await theirs.request.get(`${origin}/api/auth/me`)).json()).data;
    const body = { name: "theirs", organization_id, user_id: id, tags: [] };
    const { key } = (await (await theirs.request.post(`${origin}/api/v1/auth/keys`, { data: body })).json()).data;
    const answered = async () =>
      (await fetch(`${origin}/api/v1/hosts`, { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await answered()).toBe(200);

    await row.getByRole("button", { name: "Edit Night shift" }).click();
    const editing = page.getByRole("form", { name: "Edit Night shift" });
    await editing.getByText("Another password ends all their sessions.").waitFor();
    await editing.getByLabel("New password").fill(SECOND);
    await editing.getByRole("button", { name: "Save" }).click();
    await page.getByText("Night shift was saved.").waitFor();
    expect([await signsIn(FIRST), await signsIn(SECOND), await answered()]).toEqual([401, 200, 200]);
    // Where the stream of changes has said so already, there is nothing to click any more.
    await theirs.evaluate(`document.querySelector("nav a[href^='/hosts']")?.click()`);
    await theirs.getByText("Your session has ended.").waitFor();

    await row.getByRole("button", { name: "Edit Night shift" }).click();
    await editing.getByLabel("May sign in").uncheck();
    await editing.getByLabel("Why").fill("left the team");
    await editing.getByRole("button", { name: "Save" }).click();
    await row.getByText("Disabled").waitFor();
    expect([await signsIn(SECOND), await answered()]).toEqual([401, 401]);
    const [last] = (await appliance.client.get(`users/${id}/history`)).data as unknown as Wire[];
    expect(last).toMatchObject({ changed_fields: ["is_enabled"], transaction: { reason: "left the team" } });

    await row.getByRole("button", { name: "Delete Night shift" }).click();
    await page.getByText("Their API key goes with them, at once.").waitFor();
    await page.getByText("This cannot be undone").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Delete the user" }).click();
    await page.getByText("Night shift was deleted.").waitFor();
    await row.waitFor({ state: "detached" });
    expect(visitor.troubles()).toEqual([]);
  });

  test("is told what others changed meanwhile, also where something else was refused before", async () => {
    const { page } = await arrived(OWNER, "/settings/people");
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

  test("reads why the only Owner stays one", async () => {
    const { visitor, page } = await arrived(OWNER, "/settings/people");
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

  test("an Admin gives no role above their own, and a Member and a Viewer change nobody", async () => {
    const { visitor, page } = await arrived(ADMIN, "/settings/people");
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
    const users = `${origin}/api/v1/users`;
    const body = { email: "me.too@acme.example", role: "Owner", password: FIRST };
    expect((await page.request.post(users, { data: body })).status()).toBe(403);
    const { data } = await (await page.request.get(users)).json();
    const [owner] = data.filter((each: { role: string }) => each.role === "Owner");
    expect((await page.request.delete(`${users}/${owner.id}`)).status()).toBe(403);
    for (const email of [MEMBER, VIEWER]) {
      const { visitor: other, page: theirs } = await arrived(email, "/settings/people");
      await rowOf(theirs, email).getByText("you").waitFor();
      expect(await theirs.getByRole("button", { name: "New user" }).count()).toBe(0);
      expect(await theirs.getByRole("row").getByRole("button").count()).toBe(0);
      expect(other.troubles()).toEqual([]);
      const me = (await (await theirs.request.get(`${origin}/api/auth/me`)).json()).data;
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
