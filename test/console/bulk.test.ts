// Bulk lists in Chromium, on the executable: the plan of a write under axe-core, and the rows of a scrolled list.
// Plans, writes and undos are in bulk-in-process.test.ts.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { addHostsInHalls } from "../support/appliance/halls.ts";
import { accessibilityFindings, closeBrowser, hasChromium, settles, Visitor } from "../support/browser/browser.ts";
import { ensureExecutable, PASSWORD, type Running, type SetUp, Workplace } from "../support/executable/executable.ts";

const OWNER = "owner@acme.example";

describe.skipIf(!hasChromium)("bulk editing", () => {
  let workplace: Workplace;
  let appliance: SetUp & { readonly running: Running; readonly client: ReturnType<Running["withKey"]> };
  let visitor: Visitor;
  let page: Page;

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    appliance = await workplace.serveSetUp();
    await addHostsInHalls(appliance.client, appliance.networkId);
    visitor = await Visitor.arrive(appliance.running.url);
    page = await visitor.signIn(OWNER, PASSWORD);
  });

  afterAll(async () => {
    await visitor.leave();
    await closeBrowser();
    await workplace.close();
  });

  const button = (name: string) => page.getByRole("button", { name, exact: true });

  test("has an accessible preview in both color schemes, before anything is written", async () => {
    await page.goto(`${appliance.running.url}/hosts?${new URLSearchParams({ filter: 'sys_location = "Hall 1"' })}`);
    await button("Edit").click();
    await page.getByLabel("Add a field to set").selectOption({ label: "Location" });
    await page.getByRole("region", { name: "Edit 20 hosts" }).getByLabel("Location").fill("Hall North");
    await button("Preview").click();
    await page.getByText("20 hosts would change.").waitFor();
    await page.getByRole("listitem").filter({ hasText: "access-1: Location Hall 1 to Hall North" }).first().waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect([colorScheme, await accessibilityFindings(page)]).toEqual([colorScheme, []]);
    }
    expect(visitor.troubles()).toEqual([]);
  });

  test("keeps row names in view, however far one scrolls sideways", async () => {
    await page.goto(`${appliance.running.url}/hosts`);
    await page.getByRole("link", { name: "access-1", exact: true }).waitFor();
    const places = () =>
      page.evaluate(`(() => {
        const list = document.querySelector(".list");
        const left = (selector) => list.querySelector(selector).getBoundingClientRect().left - list.getBoundingClientRect().left;
        return { name: left("tbody a") > 0, head: left("thead th") > 0, last: left("thead th:last-child") < list.clientWidth };
      })()`);
    await settles(places, { name: true, head: true, last: false });
    await page.evaluate("document.querySelector('.list').scrollLeft = 10_000");
    await settles(places, { name: true, head: true, last: true });
    expect(await accessibilityFindings(page)).toEqual([]);
    // Rows scrolled below the header do not cover it.
    await page.evaluate("document.querySelector('.list').scrollTop = 14");
    const above = () =>
      page.evaluate(`(() => {
        const { left, top, height } = document.querySelector(".list thead th").getBoundingClientRect();
        return document.elementFromPoint(left + 8, top + height - 2)?.closest("thead") !== null;
      })()`);
    await settles(above, true);
  });
});
