// Time bar in the test process: keys, typed text and URLs, and page content while another timestamp loads. time.test.ts
// covers streams, layout and pointer.

import { describe, expect, test } from "bun:test";
import type { Page } from "../support/page/page.ts";
import { OWNER, serveForAll } from "../support/page/visit.ts";
import type { Visitor } from "../support/page/visitor.ts";
import { expectEventually } from "../support/page/waiting.ts";

const BERLIN = "Europe/Berlin";

describe("the time bar", () => {
  let visitor: Visitor;
  const appliance = serveForAll(async ({ client, networkId }) => {
    const create = (name: string) => client.post("hosts", { network_id: networkId, name, hidden: false, tags: [] });
    for (const name of ["web-1", "web-2"]) await create(name);
    await client.post("markers", { name: "before the core upgrade" });
    for (const name of ["web-3", "web-4"]) await create(name);
  });

  async function openAsOwner(path = "/"): Promise<Page> {
    const session = await appliance.openAs(OWNER, path);
    visitor = session.visitor;
    return session.page;
  }

  /** Opens a page with the time zone Berlin, selected under Settings. */
  async function openInBerlin(path = "/"): Promise<Page> {
    const page = await openAsOwner("/settings");
    await page.getByRole("combobox", { name: "Time zone" }).selectOption(BERLIN);
    await page.goto(appliance.url + path);
    await page.getByRole("banner").waitFor();
    return page;
  }

  /** Timestamps of all changes, oldest first. */
  async function changes(): Promise<string[]> {
    const { data } = await appliance.client.get("transactions?order_direction=asc");
    return data.map(({ at }: { at: string }) => at);
  }

  const atOf = (page: Page) => new URL(page.url()).searchParams.get("at");
  test("[ and ] step exactly from change to change, and on to now", async () => {
    const page = await openAsOwner("/?q=web");
    const instants = await changes();
    for (const instant of instants.slice(-3).toReversed()) {
      await page.keyboard.press("[");
      await page.waitForURL((url) => Date.parse(url.searchParams.get("at") ?? "") === Date.parse(instant));
    }
    await page.keyboard.press("]");
    await page.waitForURL((url) => Date.parse(url.searchParams.get("at") ?? "") === Date.parse(instants.at(-2) ?? ""));
    for (const _ of instants.slice(-2)) await page.keyboard.press("]");
    await page.waitForURL(`${appliance.url}/?q=web`);
    await page.getByText("No later changes").waitFor();
    await page.goto(`${appliance.url}/?at=2020-01-01T00:00:00Z`);
    await page.getByText("No data yet at that time").waitFor();
    await page.getByRole("button", { name: "Previous change" }).click();
    await page.getByText("No earlier changes").waitFor();
    expect(visitor.problems()).toEqual([]);
    await page.route("**/api/v1/transactions?*", (route) => route.abort());
    await page.keyboard.press("[");
    await page.locator(".step-note").filter({ hasText: "The appliance did not respond." }).waitFor();
    expect(visitor.problems().filter((problem) => !problem.includes("net::ERR_"))).toEqual([]);
  });

  test("moves its handle by keyboard and announces the timestamp; a held key is one history entry", async () => {
    const page = await openInBerlin();
    const handle = page.getByRole("slider", { name: "Instant" });
    await expectEventually(() => handle.getAttribute("aria-valuetext"), "Now");
    const entries = await page.evaluate<number>("history.length");
    await handle.focus();
    await page.keyboard.down("ArrowLeft");
    await page.keyboard.down("ArrowLeft");
    await page.keyboard.up("ArrowLeft");
    await page.getByRole("status").filter({ hasText: "As of" }).waitFor();
    await expectEventually(
      () => handle.getAttribute("aria-valuetext"),
      expect.stringMatching(/^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d.*, \d+ \w+ ago$/),
    );
    await expectEventually(() => page.evaluate<number>("history.length"), entries + 1);
    // The week has hourly resolution.
    expect(atOf(page)).toMatch(/T\d\d:00:00Z$/);
    await page.keyboard.press("End");
    await page.getByRole("status").filter({ hasText: /^Now$/ }).waitFor();
    expect(visitor.problems()).toEqual([]);
  });

  test("accepts ages, local times and markers in its field, and asks to resolve an ambiguous hour", async () => {
    const page = await openInBerlin();
    const field = page.getByLabel("Go to a time");
    const enter = async (text: string) => {
      await field.fill(text);
      await field.press("Enter");
    };
    await enter("2026-03-01 03:12");
    await page.waitForURL(`${appliance.url}/?at=2026-03-01T02:12:00Z`);
    await field.and(page.locator("[title*='2026-03-01T02:12:00.000Z (UTC)']")).waitFor();
    await enter("2026-10-25 02:30");
    await page.getByRole("button", { name: "01:30:00 UTC" }).click();
    await page.waitForURL(`${appliance.url}/?at=2026-10-25T01:30:00Z`);
    await enter("2026-03-29 02:30");
    await page.getByText("was skipped").waitFor();
    await page.getByRole("button", { name: "2026-03-29 03:30:00" }).click();
    await page.waitForURL(`${appliance.url}/?at=2026-03-29T01:30:00Z`);
    await enter("before the core upgrade");
    await page.getByRole("status").filter({ hasText: "marker “before the core upgrade”" }).waitFor();
    expect(atOf(page)).toBe("marker:before the core upgrade");
    await enter("half past nine");
    await page.getByRole("alert").filter({ hasText: "Can't read this" }).waitFor();
    await enter("-24h");
    await page.waitForURL(/at=2\d\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/);
    await enter("now");
    await page.waitForURL(`${appliance.url}/`);
    expect(visitor.problems()).toEqual([]);
  });

  test("resolves an age in the URL to its timestamp; invalid or future timestamps are reported", async () => {
    const page = await openInBerlin("/?at=-24h");
    await page.waitForURL(/at=2\d\d\d-\d\d-\d\dT[^&]*Z$/);
    await page.goto(`${appliance.url}/?at=half-past-nine`);
    await page.getByText("Can't read").waitFor();
    await page.goto(`${appliance.url}/?at=2199-01-01T00:00:00Z`);
    await page.getByText("in the future").waitFor();
    await page.goto(`${appliance.url}/?at=2026-10-25 02:30`);
    await page.getByRole("link", { name: "00:30:00 UTC" }).click();
    await page.waitForURL(`${appliance.url}/?at=2026-10-25T00:30:00Z`);
    await page.goto(`${appliance.url}/?at=marker:no-such`);
    await page.getByText("No marker “no-such”").waitFor();
    expect(visitor.problems()).toEqual([]);
  });

  test("opens Compare from pages that show a single timestamp", async () => {
    const page = await openAsOwner("/changes?at=2026-03-01T02:12:00Z");
    await page.getByRole("button", { name: "Compare…" }).click();
    await page.getByRole("button", { name: "before the core upgrade" }).click();
    await page.waitForURL(`${appliance.url}/compare?at=2026-03-01T02:12:00Z&vs=marker:before+the+core+upgrade`);
    await page.getByRole("link", { name: "Swap" }).waitFor();
    // A manually edited URL.
    await page.goto(`${appliance.url}/ledger?vs=2026-03-01T02:12:00Z`);
    await page.getByText("This page shows only B.").waitFor();
    await page.getByRole("link", { name: "Show differences" }).click();
    await page.waitForURL(`${appliance.url}/compare?vs=2026-03-01T02:12:00Z`);
    await page.getByRole("heading", { name: "Compare", level: 1 }).waitFor();
    expect(visitor.problems()).toEqual([]);
  });

  test("goes to a marker entered before the markers have loaded", async () => {
    await (await openAsOwner()).close();
    const page = await visitor.context.newPage();
    const markersLoaded = Promise.withResolvers<void>();
    await page.route("**/api/v1/markers?*", async (route) => {
      await markersLoaded.promise;
      await route.continue();
    });
    await page.goto(`${appliance.url}/hosts`);
    await page.getByLabel("Go to a time").fill("before the core upgrade");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").filter({ hasText: "Can't read this" }).waitFor();
    markersLoaded.resolve();
    await page.getByRole("status").filter({ hasText: "marker “before the core upgrade”" }).waitFor();
    await page.getByRole("alert").waitFor({ state: "detached" });
    expect(visitor.problems()).toEqual([]);
  });

  test.each([
    ["/hosts", "hosts"],
    ["/changes", "transactions"],
    ["/", "search"],
  ])(
    "keeps the previous content of %s, with a notice, until the response arrives, and clears it on failure",
    async (path, endpoint) => {
      const [, , , instant = ""] = await changes();
      const query = path === "/" ? "?q=web" : "";
      const page = await openAsOwner(path + query);
      const row = page.locator("main :is(tbody, .transactions, .hits)").getByText("web-4");
      await row.first().waitFor();
      const gate = Promise.withResolvers<void>();
      await page.route(`**/api/v1/${endpoint}?*`, async (route) => {
        if (!route.request().url().includes("at=")) return route.continue();
        await gate.promise;
        return route.continue();
      });
      const field = page.getByLabel("Go to a time");
      await field.fill(instant);
      await field.press("Enter");
      const busyMain = page.locator('main[aria-busy="true"]');
      await busyMain.waitFor();
      await page.getByRole("status").filter({ hasText: "loading…" }).waitFor();
      await expectEventually(() => row.first().isVisible(), true);
      gate.resolve();
      await busyMain.waitFor({ state: "detached" });
      await row.first().waitFor({ state: "detached" });
      await page.getByText("loading…").waitFor({ state: "detached" });
      await page.unrouteAll();
      await page.route(`**/api/v1/${endpoint}?*`, (route) =>
        route.fulfill({ status: 500, contentType: "application/problem+json", body: '{"code":"INTERNAL_ERROR"}' }),
      );
      await page.keyboard.press("Escape");
      await field.fill("-2s");
      await field.press("Enter");
      await page.getByRole("alert").first().waitFor();
      await expectEventually(() => busyMain.count(), 0);
      expect(await page.locator("main tbody tr, main .transaction, main .hits li").count()).toBe(0);
    },
  );
});
