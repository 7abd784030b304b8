// The console's frame in Chromium, on the executable: who comes in, what the policy says, what a keyboard reaches.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CONSOLE_POLICY } from "../../src/http/console-pages.ts";
import { accessibilityFindings, closeBrowser, hasChromium, settles, Visitor } from "../support/browser/browser.ts";
import { ensureExecutable, PASSWORD, type Running, type SetUp, Workplace } from "../support/executable/executable.ts";

const OWNER = "owner@acme.example";
const MAC = "00:1b:21:aa:bb:cc";

describe.skipIf(!hasChromium)("the console's frame", () => {
  let workplace: Workplace;
  let appliance: SetUp & { readonly running: Running };
  let origin: string;

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    const made = await workplace.serveSetUp();
    appliance = made;
    origin = made.running.url;
    const host = { network_id: made.networkId, name: "web-1", hidden: false, tags: [] };
    await made.client.post("hosts", host);
  });

  afterAll(async () => {
    await closeBrowser();
    await workplace.close();
  });

  test("is what a browser gets, under a policy that lets nothing in", async () => {
    const page = await fetch(`${origin}/`, { headers: { accept: "text/html" } });
    expect(page.status).toBe(200);
    expect(page.headers.get("content-security-policy")).toBe(CONSOLE_POLICY);
    const text = await page.text();
    expect(text).not.toMatch(/<script(?![^>]* src="\/console\/)|<style|\son\w+=|style="/);
    const files = [...text.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, path]) => path);
    expect(files).toHaveLength(3);
    for (const path of files) {
      const file = await fetch(origin + path, { headers: { "accept-encoding": "br" }, decompress: false });
      expect([path, file.status, file.headers.get("content-encoding")]).toEqual([path, 200, "br"]);
      expect(file.headers.get("cache-control")).toContain("immutable");
    }
  });

  test("leaves scripts what they had: `/` leads to the API's documentation, and there is nothing at /hosts", async () => {
    const start = await fetch(`${origin}/`, { redirect: "manual" });
    expect([start.status, start.headers.get("location")]).toEqual([302, "/docs"]);
    expect((await fetch(`${origin}/hosts`)).status).toBe(404);
    expect((await fetch(`${origin}/hosts`, { headers: { accept: "text/html" } })).status).toBe(200);
    expect((await fetch(`${origin}/console/main-gone.js`)).status).toBe(404);
  });

  test("asks who comes, tells why it does not let somebody in, and leads back to the address that was opened", async () => {
    const visitor = await Visitor.arrive(origin);
    const page = await visitor.open("/?q=web-1");
    await page.getByLabel("E-mail").fill(OWNER);
    await page.getByLabel("Password").fill("not the password");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    expect(visitor.troubles()).toContain("401 for /api/auth/login");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "web-1" }).waitFor();
    await page.getByRole("list").getByText("web-1").first().waitFor();
    expect(visitor.troubles()).toEqual([]);
    await visitor.leave();
  });

  test("a session that ends in the middle is said, and signing in leads back to where one was", async () => {
    const visitor = await Visitor.arrive(origin);
    const page = await visitor.signIn(OWNER, PASSWORD);
    await page.getByLabel("Find anything").fill("web-1");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "web-1" }).waitFor();
    // All is answered: nothing but the next question hears that the session is over.
    await page.locator(".places").waitFor();
    await page.locator(".hits").waitFor();
    expect(visitor.troubles()).toEqual([]);
    await visitor.context.clearCookies();
    await page.getByLabel("Find anything").fill("web");
    await page.keyboard.press("Enter");
    await page.getByText("Your session has ended").waitFor();
    await page.getByLabel("E-mail").fill(OWNER);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "web", exact: true }).waitFor();
    expect(page.url()).toBe(`${origin}/?q=web`);
    await visitor.leave();
  });

  test("signing out leaves nothing of the inventory on the page, nor behind the browser's Back", async () => {
    const visitor = await Visitor.arrive(origin);
    const page = await visitor.signIn(OWNER, PASSWORD, "/?q=web-1");
    await page.getByRole("heading", { name: "web-1" }).waitFor();
    await page.getByRole("button", { name: /^Account/ }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Password").waitFor();
    await page.goBack().catch(() => null);
    await page.goto(`${origin}/?q=web-1`);
    await page.getByLabel("Password").waitFor();
    expect(await page.getByRole("list").count()).toBe(0);
    expect(visitor.troubles()).toEqual([]);
    await visitor.leave();
  });

  test("leaves nothing of what one wrote to whoever signs in next in the same tab", async () => {
    const visitor = await Visitor.arrive(origin);
    const page = await visitor.signIn(OWNER, PASSWORD, "/settings/tags");
    await page.getByRole("button", { name: "New tag" }).click();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("seen by its maker");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByText("Created.").waitFor();
    await page.getByRole("button", { name: /^Account/ }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("E-mail").fill(OWNER);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("seen by its maker").first().waitFor();
    expect(await page.getByText("Created.").count()).toBe(0);
    expect(visitor.troubles()).toEqual([]);
    await visitor.leave();
  });

  test("the past is said in words, in the reader's zone and in UTC, and `t` leads back to now", async () => {
    const visitor = await Visitor.arrive(origin, { timezoneId: "Europe/Berlin" });
    const page = await visitor.signIn(OWNER, PASSWORD, "/?at=2026-03-01T02:12:00Z");
    const band = page.getByRole("status").filter({ hasText: "As of" });
    await settles(() => band.textContent(), expect.stringContaining("2026-03-01 03:12:00"));
    await settles(
      () => band.getByRole("time").getAttribute("title"),
      expect.stringContaining("2026-03-01T02:12:00.000Z (UTC)"),
    );
    await page.keyboard.press("t");
    await band.waitFor({ state: "detached" });
    expect(page.url()).toBe(`${origin}/`);
    await page.goBack();
    await band.waitFor();
    expect(visitor.troubles()).toEqual([]);
    await visitor.leave();
  });

  test("a link carries the instant and the network along", async () => {
    const visitor = await Visitor.arrive(origin);
    const at = "2026-03-01T02:12:00Z";
    const page = await visitor.signIn(OWNER, PASSWORD, `/?at=${at}&network=${appliance.networkId}`);
    await page.keyboard.press("/");
    await page.keyboard.type(MAC);
    await page.keyboard.press("Enter");
    await page.getByText("Nothing was called").waitFor();
    expect(page.url()).toBe(`${origin}/?at=${at}&network=${appliance.networkId}&q=${MAC}`);
    expect(visitor.troubles()).toEqual([]);
    await visitor.leave();
  });

  test("what somebody quick types into a page as it appears stays, and a key pressed then does what it does", async () => {
    const visitor = await Visitor.arrive(origin);
    await (await visitor.signIn(OWNER, PASSWORD)).close();
    const page = await visitor.context.newPage();
    // As soon as they are there, before they are painted.
    await page.addInitScript(`
      const type = (selector, text) => {
        const field = document.querySelector(selector);
        if (field === null || field.typed) return;
        field.typed = true;
        field.value = text;
        field.dispatchEvent(new Event("input", { bubbles: true }));
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "f", bubbles: true }));
      };
      new MutationObserver(() => {
        type(".filter-field input", 'name = "web-1"');
        type(".time-bar .instant-field input", "-24h");
      }).observe(document, { childList: true, subtree: true });
    `);
    await page.goto(`${origin}/hosts`);
    await page.getByRole("link", { name: "web-1" }).waitFor();
    const filter = page.getByRole("combobox", { name: "Filter" });
    await settles(() => filter.inputValue(), 'name = "web-1"');
    await settles(() => page.locator(".time-bar .instant-field input").first().inputValue(), "-24h");
    await filter.and(page.locator(":focus")).waitFor();
    expect(visitor.troubles()).toEqual([]);
    await visitor.leave();
  });

  test("every key is shown by ?, and what is typed into a field is text", async () => {
    const visitor = await Visitor.arrive(origin);
    const page = await visitor.signIn(OWNER, PASSWORD);
    await page.getByLabel("Find anything").fill("what is t?");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.getByRole("heading", { name: "Find" }).focus();
    await page.keyboard.press("?");
    const keys = page.getByRole("dialog", { name: "Keys" });
    await settles(() => keys.textContent(), expect.stringContaining("Back to now"));
    await page.keyboard.press("Escape");
    expect(visitor.troubles()).toEqual([]);
    await visitor.leave();
  });

  test.each([
    ["light", 1280],
    ["dark", 1280],
    ["light", 360],
    ["dark", 360],
  ] as const)(
    "has nothing that axe-core finds, and nothing beside the window: %s, %i pixels wide",
    async (colorScheme, width) => {
      const visitor = await Visitor.arrive(origin, { colorScheme, viewport: { width, height: 740 } });
      const page = await visitor.open("/");
      await page.getByLabel("Password").waitFor();
      expect(await accessibilityFindings(page)).toEqual([]);
      await page.close();
      const signedIn = await visitor.signIn(OWNER, PASSWORD, "/?q=web-1&at=2026-03-01T02:12:00Z");
      for (const address of ["/?q=web-1&at=2026-03-01T02:12:00Z", "/?q=web-1", "/", "/no-such-page"]) {
        await signedIn.goto(origin + address);
        await signedIn.getByRole("heading", { level: 1 }).waitFor();
        expect([address, await accessibilityFindings(signedIn)]).toEqual([address, []]);
        const beside = await signedIn.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
        expect([address, beside <= 0]).toEqual([address, true]);
      }
      expect(visitor.troubles()).toEqual(["404 for /no-such-page", expect.stringContaining("404")]);
      await visitor.leave();
    },
  );

  test("offers to choose between networks as soon as there is a second one", async () => {
    const visitor = await Visitor.arrive(origin);
    const page = await visitor.signIn(OWNER, PASSWORD, "/settings/networks?new=network");
    await page.locator("#edit-name").fill("Branch");
    expect(await page.getByRole("banner").getByLabel("Network").count()).toBe(0);
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("banner").getByLabel("Network").selectOption({ label: "Branch" });
    await page.waitForURL((url) => url.searchParams.has("network"));
    expect(visitor.troubles()).toEqual([]);
    await visitor.leave();
  });
});
