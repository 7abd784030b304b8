// Console frame in the test process: sign-in, session expiry, links and keyboard shortcuts.

import { describe, expect, test } from "bun:test";
import { PASSWORD } from "../support/appliance/appliance.ts";
import { OWNER, serveForAll } from "../support/page/visit.ts";
import { Visitor } from "../support/page/visitor.ts";
import { expectEventually } from "../support/page/waiting.ts";

const MAC = "00:1b:21:aa:bb:cc";

describe("the console frame", () => {
  const appliance = serveForAll(({ client, networkId }) =>
    client.post("hosts", { network_id: networkId, name: "web-1", hidden: false, tags: [] }),
  );

  test("asks for sign-in, explains an error, and returns to the requested URL", async () => {
    const visitor = await Visitor.create(appliance.url);
    const page = await visitor.open("/?q=web-1");
    await page.getByLabel("E-mail").fill(OWNER);
    await page.getByLabel("Password").fill("not the password");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    expect(visitor.problems()).toContain("401 for /api/auth/login");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "web-1" }).waitFor();
    await page.getByRole("list").getByText("web-1").first().waitFor();
    expect(visitor.problems()).toEqual([]);
    await visitor.close();
  });

  test("reports a session that ends mid-work, and returns to the same page after sign-in", async () => {
    const { visitor, page } = await appliance.openAs(OWNER);
    await page.getByLabel("Find anything").fill("web-1");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "web-1" }).waitFor();
    // All requests are complete, so the next one is the first to fail.
    await page.locator(".places").waitFor();
    await page.locator(".hits").waitFor();
    expect(visitor.problems()).toEqual([]);
    await visitor.context.clearCookies();
    await page.getByLabel("Find anything").fill("web");
    await page.keyboard.press("Enter");
    await page.getByText("Your session has ended").waitFor();
    await page.getByLabel("E-mail").fill(OWNER);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "web", exact: true }).waitFor();
    expect(page.url()).toBe(`${appliance.url}/?q=web`);
  });

  test("leaves no message behind for the next user of the same tab", async () => {
    const { visitor, page } = await appliance.openAs(OWNER, "/settings/tags");
    await page.getByRole("button", { name: "New tag" }).click();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("first-user-tag");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByText("Created.").waitFor();
    await page.getByRole("button", { name: /^Account/ }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("E-mail").fill(OWNER);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("first-user-tag").first().waitFor();
    expect(await page.getByText("Created.").count()).toBe(0);
    expect(visitor.problems()).toEqual([]);
  });

  test("carries the timestamp and the network over in links", async () => {
    const at = "2026-03-01T02:12:00Z";
    const { visitor, page } = await appliance.openAs(OWNER, `/?at=${at}&network=${appliance.networkId}`);
    await page.keyboard.press("/");
    await page.keyboard.type(MAC);
    await page.keyboard.press("Enter");
    await page.getByText("No match for").waitFor();
    expect(page.url()).toBe(`${appliance.url}/?at=${at}&network=${appliance.networkId}&q=${MAC}`);
    expect(visitor.problems()).toEqual([]);
  });

  test("lists every shortcut under ?, and does not intercept typing in fields", async () => {
    const { visitor, page } = await appliance.openAs(OWNER);
    await page.getByLabel("Find anything").fill("what is t?");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.getByRole("heading", { name: "Find" }).focus();
    await page.keyboard.press("?");
    const keys = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await expectEventually(() => keys.textContent(), expect.stringContaining("Back to now"));
    await page.keyboard.press("Escape");
    expect(visitor.problems()).toEqual([]);
  });

  test("offers a network selector once there are two networks", async () => {
    const { visitor, page } = await appliance.openAs(OWNER, "/settings/networks?new=network");
    await page.locator("#edit-name").fill("Branch");
    expect(await page.getByRole("banner").getByLabel("Network").count()).toBe(0);
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("banner").getByLabel("Network").selectOption({ label: "Branch" });
    await page.waitForURL((url) => url.searchParams.has("network"));
    expect(visitor.problems()).toEqual([]);
  });
});
