// People and their rights in Chromium, on the executable: one's own account and sessions; what others may is changed only
// by those who may, and said before it is done.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { browserName } from "../../src/console/settings/browser-name.ts";
import { accessibilityFindings, closeBrowser, hasChromium, Visitor } from "../support/browser/browser.ts";
import { ensureExecutable, PASSWORD, type Running, type SetUp, Workplace } from "../support/executable/executable.ts";

const VIEWER = "viewer@acme.example";

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

  afterAll(async () => {
    await closeBrowser();
    await workplace.close();
  });

  async function arrived(email: string, path: string, password = PASSWORD): Promise<{ visitor: Visitor; page: Page }> {
    const visitor = await Visitor.arrive(origin);
    visitors.push(visitor);
    return { visitor, page: await visitor.signIn(email, password, path) };
  }

  async function isSignedOut(page: Page): Promise<void> {
    await page.getByRole("link", { name: "Hosts" }).click();
    await page.getByText("Your session has ended.").waitFor();
  }

  const own = (page: Page) => page.getByRole("row").filter({ hasText: "this session" });
  const other = (page: Page) => page.getByRole("row").filter({ has: page.getByRole("button", { name: /^End/ }) });

  test("ends a session from the list, and it is signed out there", async () => {
    const { page: elsewhere } = await arrived(VIEWER, "/");
    const { visitor, page } = await arrived(VIEWER, "/settings");
    await own(page).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await other(page).getByRole("button").click();
    await page.getByText("The session has ended.").waitFor();
    await other(page).waitFor({ state: "detached" });
    expect(await own(page).count()).toBe(1);
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
