// First run in Chromium, on the executable: the link printed by `serve`, the claim, and errors on the way.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Page, Request } from "playwright-core";
import {
  accessibilityFindings,
  closeBrowser,
  expectEventually,
  hasChromium,
  Visitor,
} from "../support/browser/browser.ts";
import { ensureExecutable, PASSWORD, type Running, Sandbox } from "../support/executable/executable.ts";

const EMAIL = "ada@acme.example";

describe.skipIf(!hasChromium)("claiming an appliance in the browser", () => {
  let sandbox: Sandbox;
  let running: Running;
  let visitor: Visitor;

  beforeAll(ensureExecutable);
  beforeEach(async () => {
    sandbox = new Sandbox();
    running = await sandbox.serve();
    visitor = await Visitor.create(running.url);
  });
  afterEach(async () => {
    await visitor.close();
    await sandbox.close();
  });
  afterAll(closeBrowser);

  /** Path and fragment of the link printed at the start. */
  const link = () => (/\S+\/#setup=\S+/.exec(running.lines[2] ?? "")?.[0] ?? "").slice(running.url.length);

  async function fill(page: Page): Promise<void> {
    await page.getByLabel("Your name").fill("Ada Byron");
    await page.getByLabel("E-mail").fill(EMAIL);
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  }

  test("opens the printed link, fills in the form, presses Enter, and is signed in", async () => {
    const page = await visitor.open(link());
    await page.getByRole("heading", { name: "Claim this appliance" }).waitFor();
    // Neither a bystander nor the browser history sees the token.
    expect(page.url()).toBe(`${running.url}/`);
    expect(await page.getByLabel("Set-up token").count()).toBe(0);
    await fill(page);
    await page.keyboard.press("Enter");
    await page.getByRole("banner").waitFor();
    await page.getByRole("button", { name: "Account: Ada Byron" }).waitFor();
    const client = running.client();
    expect((await client.get("/api/auth/setup")).data).toEqual({ needed: false });
    expect(visitor.problems()).toEqual([]);
  });

  test("sends the token in one request body, and never in a URL, header, storage or log", async () => {
    const token = running.setupToken;
    const leaks: string[] = [];
    const pendingChecks: Promise<void>[] = [];
    let bodies = 0;
    const check = async (request: Request) => {
      const headers = JSON.stringify(await request.allHeaders());
      if ((request.url() + headers).includes(token)) leaks.push(request.url());
      if (request.postData()?.includes(token) === true) bodies += 1;
    };
    const onRequest = (request: Request) => pendingChecks.push(check(request));
    visitor.context.on("request", onRequest);
    const page = await visitor.open(link());
    const browserState = () =>
      page.evaluate<string>(
        "JSON.stringify([location.href, document.referrer, history.state, { ...localStorage }, { ...sessionStorage }, document.cookie])",
      );
    await fill(page);
    expect(await browserState()).not.toContain(token);
    await page.getByRole("button", { name: "Claim it" }).click();
    await page.getByRole("banner").waitFor();
    expect(await browserState()).not.toContain(token);
    // A full load of a linked page sends the referrer, which must not contain the token.
    await page.getByRole("link", { name: "Handbook" }).click();
    await page.waitForURL("**/handbook");
    expect(await page.evaluate<string>("document.referrer + location.href")).not.toContain(token);
    await page.goBack();
    await page.getByRole("banner").waitFor();
    expect(page.url()).not.toContain("setup");
    visitor.context.off("request", onRequest);
    await Promise.all(pendingChecks);
    expect({ leaks, bodies }).toEqual({ leaks: [], bodies: 1 });
    await running.waitForLog("operation=setUp ");
    expect(running.log).not.toContain(token);
    expect(running.log).not.toContain("#setup");
    expect(visitor.problems()).toEqual([]);
  });

  test("reports a wrong token at its field, keeps input, and accepts the link pasted there", async () => {
    const page = await visitor.open("/#setup=0000-0000-0000-0000-0000-0000-0000");
    await fill(page);
    await page.getByRole("button", { name: "Claim it" }).click();
    await page.getByText("This is not the token of the running appliance.").waitFor();
    const field = page.getByLabel("Set-up token");
    await field.and(page.locator(":focus")).waitFor();
    await expectEventually(() => page.getByLabel("E-mail").inputValue(), EMAIL);
    await field.fill(running.url + link());
    await page.keyboard.press("Enter");
    await page.getByRole("banner").waitFor();
    expect(visitor.problems()).toEqual(["401 for /api/auth/setup", expect.stringContaining("Failed to load resource")]);
  });

  test("shows errors at each field, before and after sending", async () => {
    const page = await visitor.open(link());
    await page.getByRole("button", { name: "Claim it" }).click();
    await page.getByLabel("E-mail").and(page.locator("[aria-invalid=true]:focus")).waitFor();
    await page.getByLabel("E-mail").fill("nobody");
    await page.getByLabel("Password", { exact: true }).fill("short");
    await page.getByRole("button", { name: "Claim it" }).click();
    await page.getByText("At least 10 characters; it has 5.").waitFor();
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.getByRole("button", { name: "Claim it" }).click();
    await page.getByLabel("E-mail").and(page.locator("[aria-invalid=true]")).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(visitor.problems()).toEqual(["400 for /api/auth/setup", expect.stringContaining("Failed to load resource")]);
  });

  test("forgets the token on reload and asks for it, and accepts the link again in the same tab", async () => {
    const page = await visitor.open(link());
    await page.getByRole("heading", { name: "Claim this appliance" }).waitFor();
    await page.reload();
    await page.getByLabel("Set-up token").waitFor();
    // Pasted over the URL of the open page: the browser does not reload.
    await page.goto(running.url + link());
    await expectEventually(() => page.getByLabel("Set-up token").count(), 0);
    expect(page.url()).toBe(`${running.url}/`);
    await fill(page);
    await page.keyboard.press("Enter");
    await page.getByRole("banner").waitFor();
    expect(visitor.problems()).toEqual([]);
  });

  test("redirects to sign-in for a used link or a lost race", async () => {
    const latePage = await visitor.open(link());
    await fill(latePage);
    const claim = { organization_name: "Acme", network_name: "Main", email: EMAIL, password: PASSWORD };
    await running.client().post("/api/auth/setup", { ...claim, setup_token: running.setupToken });
    await latePage.getByRole("button", { name: "Claim it" }).click();
    await latePage.getByText("This appliance is already claimed").waitFor();
    expect(visitor.problems()).toEqual(["409 for /api/auth/setup", expect.stringContaining("Failed to load resource")]);
    const page = await visitor.signIn(EMAIL, PASSWORD, link());
    expect(page.url()).toBe(`${running.url}/`);
    expect(visitor.problems()).toEqual([]);
  });

  test.each(["light", "dark"] as const)("is accessible, at 360 px: %s", async (colorScheme) => {
    const narrow = await Visitor.create(running.url, { colorScheme, viewport: { width: 360, height: 740 } });
    for (const path of ["/", link()]) {
      const page = await narrow.open(path);
      await page.getByRole("heading", { name: "Claim this appliance" }).waitFor();
      await page.getByRole("button", { name: "Claim it" }).click();
      await page.getByText("A value is required.").first().waitFor();
      expect([path, await accessibilityFindings(page)]).toEqual([path, []]);
      await expectEventually(
        () => page.evaluate<boolean>("document.documentElement.scrollWidth <= window.innerWidth"),
        true,
      );
    }
    expect(narrow.problems()).toEqual([]);
    await narrow.close();
  });
});
