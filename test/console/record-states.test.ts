// The states of the pages of a record in Chromium, on the executable: while they wait, where they fail, what one may not
// see, and what is not there yet or no more.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page, Route } from "playwright-core";
import { accessibilityFindings, closeBrowser, hasChromium, Visitor } from "../support/browser/browser.ts";
import { type FilledNetwork, fillNetwork } from "../support/browser/networks.ts";
import { ensureExecutable, PASSWORD, type Running, type SetUp, Workplace } from "../support/executable/executable.ts";

const OWNER = "owner@acme.example";

/** Nothing of what is not there is asked for but whether it ever was; that the browser says without an address. */
const NOT_THERE = /^404 for \S+\/history\?|status of 404/;

describe.skipIf(!hasChromium)("the page of a record", () => {
  let workplace: Workplace;
  let appliance: SetUp & { readonly running: Running };
  let visitor: Visitor;
  let page: Page;
  let records: readonly (readonly [path: string, api: string, title: string])[];

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    const made = await workplace.serveSetUp();
    appliance = made;
    const filled: FilledNetwork = await fillNetwork(made.client, made.networkId);
    records = [
      [`/hosts/${filled.switchId}`, `**/api/v1/hosts?ids=${filled.switchId}*`, "access-1"],
      [`/interfaces/${filled.flapped.id}`, `**/api/v1/if-entries?ids=${filled.flapped.id}*`, "Gi1/0/7"],
      [`/subnets/${filled.subnet.id}`, `**/api/v1/subnets?ids=${filled.subnet.id}*`, "10.2.3.0/28"],
      [`/vlans/${filled.vlan.id}`, `**/api/v1/vlans?ids=${filled.vlan.id}*`, "VLAN 20"],
    ];
    visitor = await Visitor.arrive(made.running.url);
    page = await visitor.signIn(OWNER, PASSWORD);
  });

  afterAll(async () => {
    await visitor.leave();
    await closeBrowser();
    await workplace.close();
  });

  test("says that it loads once that is noticed, and shows the record in the same place", async () => {
    for (const [path, api, title] of records) {
      const { promise, resolve } = Promise.withResolvers<void>();
      await page.route(api, async (route) => {
        await promise;
        await route.continue();
      });
      await page.goto(appliance.running.url + path);
      // Not that of the files of the page.
      await page.getByRole("main").getByRole("status").getByText("Loading…").waitFor();
      expect([path, await accessibilityFindings(page)]).toEqual([path, []]);
      const before = await page.locator("main h1").boundingBox();
      resolve();
      await page.getByRole("heading", { name: title, level: 1 }).waitFor();
      expect([path, (await page.locator("main h1").boundingBox())?.y]).toEqual([path, before?.y]);
      await page.unroute(api);
    }
    expect(visitor.troubles()).toEqual([]);
  });

  test.each([
    [500, "internal_error", "Something went wrong here.", 1],
    [403, "auth_permission_denied", "This takes the role Admin.", 1],
    [503, "shutting_down", "The appliance is being restarted.", 1],
  ])("that is answered %d says what happened, with the request, and asks again", async (status, code, error) => {
    for (const [path, api, title] of records) {
      const fail = (route: Route) =>
        route.fulfill({
          status,
          headers: { "x-request-id": "req-4711" },
          json: { success: false, code, error, params: {}, meta: {} },
        });
      await page.route(api, fail);
      await page.goto(appliance.running.url + path);
      const problem = page.getByRole("alert").filter({ hasText: error }).first();
      await problem.getByText("Request req-4711").waitFor();
      expect([path, await accessibilityFindings(page)]).toEqual([path, []]);
      await page.unroute(api);
      await problem.getByRole("button", { name: "Try again" }).click();
      await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    }
    expect(visitor.troubles().filter((each) => !each.includes(String(status)))).toEqual([]);
  });

  test("that a proxy answers for says that it was not the appliance", async () => {
    const [path, api, title] = records[0] ?? ["", "", ""];
    const bad = { status: 502, contentType: "text/html", body: "<h1>Bad gateway</h1>" };
    await page.route(api, (route) => route.fulfill(bad));
    await page.goto(appliance.running.url + path);
    const problem = page.getByRole("alert").filter({ hasText: "A proxy in front of the appliance answered 502" });
    await problem.first().waitFor();
    await page.unroute(api);
    await problem.first().getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    expect(visitor.troubles().filter((each) => !each.includes("502"))).toEqual([]);
  });

  test("of another instant that fails does not go on showing this one", async () => {
    const [path, api, title] = records[0] ?? ["", "", ""];
    await page.goto(appliance.running.url + path);
    await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    await page.route(api, (route) => (route.request().url().includes("at=") ? route.abort() : route.continue()));
    await page.keyboard.press("[");
    await page.getByText("The appliance did not answer.").first().waitFor();
    expect(await page.getByRole("heading", { name: title, level: 1 }).count()).toBe(0);
    await page.unroute(api);
    visitor.troubles();
  });

  test("has its parts in one line on a telephone, and the one that is shown is in sight", async () => {
    const own = await Visitor.arrive(appliance.running.url, { viewport: { width: 360, height: 640 } });
    const [path, , title] = records[0] ?? ["", "", ""];
    const small = await own.signIn(OWNER, PASSWORD, `${path}?tab=history`);
    await small.getByRole("heading", { name: title, level: 1 }).waitFor();
    const shown = small.locator('.tabs a[aria-current="true"]');
    await shown.filter({ hasText: "History" }).waitFor();
    const [tab, row] = [await shown.boundingBox(), await small.locator(".tabs").boundingBox()];
    if (tab === null || row === null) throw new Error("there are no tabs");
    expect(row.height).toBeLessThan(2 * tab.height);
    expect([tab.x >= 0, tab.x + tab.width <= 360]).toEqual([true, true]);
    expect(await accessibilityFindings(small)).toEqual([]);
    expect(own.troubles()).toEqual([]);
    await own.leave();
  });

  test("that one may not see is one that is not there", async () => {
    for (const [path, , title] of records) {
      const unknown = path.replace(/[^/]*$/, "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010");
      await page.goto(appliance.running.url + unknown);
      await page.getByText("or it is not within your reach.").waitFor();
      await page.goto(`${appliance.running.url}${path}?at=2020-01-01T00:00:00Z`);
      await page.getByRole("heading", { name: "did not exist yet" }).waitFor();
      expect([path, await accessibilityFindings(page)]).toEqual([path, []]);
      await page.getByRole("link", { name: "Show it then" }).click();
      await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    }
    expect(visitor.troubles().filter((each) => !NOT_THERE.test(each))).toEqual([]);
  });
});
