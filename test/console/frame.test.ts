// Console frame in Chromium, on the executable: the CSP, Back after a sign-out, time zones, and pages under axe-core.
// frame-in-process.test.ts covers sign-in, links and keys.

import { describe, expect, test } from "bun:test";
import { CONSOLE_POLICY } from "../../src/http/console-pages.ts";
import {
  expectAccessibleWithinInBoth,
  expectEventually,
  follow,
  hasChromium,
  Visitor,
  waitUntilShown,
} from "../support/browser/browser.ts";
import { OWNER, serveForAll } from "../support/browser/visit.ts";
import { PASSWORD } from "../support/executable/executable.ts";

describe.skipIf(!hasChromium)("the console frame", () => {
  const appliance = serveForAll(({ client, networkId }) =>
    client.post("hosts", { network_id: networkId, name: "web-1", hidden: false, tags: [] }),
  );

  test("is served to browsers under a restrictive content policy", async () => {
    const page = await fetch(`${appliance.url}/`, { headers: { accept: "text/html" } });
    expect(page.status).toBe(200);
    expect(page.headers.get("content-security-policy")).toBe(CONSOLE_POLICY);
    const text = await page.text();
    expect(text).not.toMatch(/<script(?![^>]* src="\/console\/)|<style|\son\w+=|style="/);
    const files = [...text.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, path]) => path);
    expect(files).toHaveLength(3);
    for (const path of files) {
      const file = await fetch(appliance.url + path, { headers: { "accept-encoding": "br" }, decompress: false });
      expect([path, file.status, file.headers.get("content-encoding")]).toEqual([path, 200, "br"]);
      expect(file.headers.get("cache-control")).toContain("immutable");
    }
  });

  test("leaves paths for scripts unchanged: `/` redirects to the API documentation, and /hosts is 404", async () => {
    const start = await fetch(`${appliance.url}/`, { redirect: "manual" });
    expect([start.status, start.headers.get("location")]).toEqual([302, "/docs"]);
    expect((await fetch(`${appliance.url}/hosts`)).status).toBe(404);
    expect((await fetch(`${appliance.url}/hosts`, { headers: { accept: "text/html" } })).status).toBe(200);
    expect((await fetch(`${appliance.url}/console/main-gone.js`)).status).toBe(404);
  });

  test("clears the inventory on sign-out, including for the browser's Back button", async () => {
    const visitor = await Visitor.create(appliance.url);
    const page = await visitor.open("/?q=web-1");
    await page.getByLabel("E-mail").fill(OWNER);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "web-1" }).waitFor();
    // Later requests would be refused.
    await waitUntilShown(page);
    await page.getByRole("button", { name: /^Account/ }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Password").waitFor();
    await page.goBack().catch(() => null);
    await page.goto(`${appliance.url}/?q=web-1`);
    await page.getByLabel("Password").waitFor();
    expect(await page.getByRole("list").count()).toBe(0);
    expect(visitor.problems()).toEqual([]);
    await visitor.close();
  });

  test("shows the past in words, in the reader's zone and in UTC, and `t` returns to now", async () => {
    const berlin = { timezoneId: "Europe/Berlin" };
    const { visitor, page } = await appliance.visitAs(OWNER, "/?at=2026-03-01T02:12:00Z", berlin);
    const band = page.getByRole("status").filter({ hasText: "As of" });
    await expectEventually(() => band.textContent(), expect.stringContaining("2026-03-01 03:12:00"));
    await expectEventually(
      () => band.getByRole("time").getAttribute("title"),
      expect.stringContaining("2026-03-01T02:12:00.000Z (UTC)"),
    );
    await page.keyboard.press("t");
    await band.waitFor({ state: "detached" });
    expect(page.url()).toBe(`${appliance.url}/`);
    await page.goBack();
    await band.waitFor();
    expect(visitor.problems()).toEqual([]);
  });

  test("keeps input typed while a page appears, and handles keys pressed then", async () => {
    const { visitor, page: first } = await appliance.visitAs(OWNER);
    await first.close();
    const page = await visitor.context.newPage();
    // Types as soon as the fields exist, before they are painted.
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
    await page.goto(`${appliance.url}/hosts`);
    await page.getByRole("link", { name: "web-1" }).waitFor();
    const filter = page.getByRole("combobox", { name: "Filter" });
    await expectEventually(() => filter.inputValue(), 'name = "web-1"');
    await expectEventually(() => page.locator(".time-bar .instant-field input").first().inputValue(), "-24h");
    await filter.and(page.locator(":focus")).waitFor();
    expect(visitor.problems()).toEqual([]);
  });

  test.each([1280, 360])("is accessible without overflow, in both color schemes, %i pixels wide", async (width) => {
    const visitor = await Visitor.create(appliance.url, { viewport: { width, height: 740 } });
    const page = await visitor.open("/");
    await page.getByLabel("Password").waitFor();
    await expectAccessibleWithinInBoth(page, "signed out");
    await page.close();
    const signedIn = await visitor.signIn(OWNER, PASSWORD, "/no-such-page");
    await signedIn.getByRole("heading", { level: 1 }).waitFor();
    await expectAccessibleWithinInBoth(signedIn, "/no-such-page");
    for (const path of ["/?q=web-1&at=2026-03-01T02:12:00Z", "/?q=web-1", "/"]) {
      await follow(signedIn, path);
      await expectAccessibleWithinInBoth(signedIn, path);
    }
    expect(visitor.problems()).toEqual(["404 for /no-such-page", expect.stringContaining("404")]);
    await visitor.close();
  });
});
