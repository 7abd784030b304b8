// The ways to every page of the console, in Chromium, on the executable: the navigation marks where one is, the settings'
// own list too, wherever there is room; and the palette tells of nothing twice.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { PAGE_PATHS, type PagePath } from "../../src/console/url/page-paths.ts";
import { DEMO_EMAIL } from "../../src/demo/cast.ts";
import { DEMO_PASSWORD } from "../../src/demo/demo.ts";
import { accessibilityFindings, closeBrowser, hasChromium, settles, Visitor } from "../support/browser/browser.ts";
import { PAGE_SAMPLES } from "../support/browser/page-samples.ts";
import { ensureExecutable, type Running, Workplace } from "../support/executable/executable.ts";
import { LONG_TEST_HANG_MS } from "../support/measure/limits.ts";

type Place = readonly [entry: string, area?: string];

/** What is marked on each page: the entry of the navigation, and the page of the settings. */
const PLACES: Readonly<Record<Exclude<PagePath, "/records/:kind/:id">, Place>> = {
  "/": ["Find"],
  "/start": ["Discovery"],
  "/hosts": ["Hosts"],
  "/hosts/:id": ["Hosts"],
  "/hosts/:id/identity": ["Hosts"],
  "/interfaces": ["Interfaces"],
  "/interfaces/:id": ["Interfaces"],
  "/addresses": ["Addresses"],
  "/services": ["Services"],
  "/ports": ["Ports"],
  "/stations": ["Stations"],
  "/subnets": ["Subnets"],
  "/subnets/list": ["Subnets"],
  "/subnets/ranges": ["Subnets"],
  "/subnets/:id": ["Subnets"],
  "/vlans": ["VLANs"],
  "/vlans/:id": ["VLANs"],
  "/conflicts": ["Conflicts"],
  "/changes": ["Changes"],
  "/changes/:sequence": ["Changes"],
  "/compare": ["Compare"],
  "/map": ["Map"],
  "/discovery": ["Discovery"],
  "/discovery/schedules": ["Discovery"],
  "/discovery/schedules/:id": ["Discovery"],
  "/discovery/ignored": ["Discovery"],
  "/discovery/waiting": ["Discovery"],
  "/discovery/:id": ["Discovery"],
  "/ledger": ["Ledger"],
  "/settings": ["Settings", "Account"],
  "/settings/organization": ["Settings", "Organization"],
  "/settings/people": ["Settings", "People"],
  "/settings/keys": ["Settings", "API keys"],
  "/settings/credentials": ["Settings", "Credentials"],
  "/settings/credentials/:id": ["Settings", "Credentials"],
  "/settings/networks": ["Settings", "Networks"],
  "/settings/tags": ["Settings", "Tags"],
  "/settings/custom-fields": ["Settings", "Custom fields"],
  "/settings/markers": ["Settings", "Markers"],
  "/settings/backups": ["Settings", "Backups"],
  "/settings/retention": ["Settings", "Retention"],
  "/settings/appliance": ["Settings", "Health"],
  "/settings/log": ["Settings", "Log"],
  "/settings/about": ["Settings", "About"],
};

/** Of records that have no page of their own, or whose page has no history: their list in the API, and their place. */
const RECORDS: Readonly<Record<string, readonly [list: string, place: Place]>> = {
  network: ["networks", ["Settings", "Networks"]],
  ip_range: ["ip-ranges", ["Subnets"]],
  ip_address: ["ip-addresses", ["Addresses"]],
  port: ["ports", ["Ports"]],
  service: ["services", ["Services"]],
  binding: ["bindings", ["Services"]],
  schedule: ["discovery/schedules", ["Discovery"]],
  ignored: ["discovery/ignored", ["Discovery"]],
  credential: ["credentials", ["Settings", "Credentials"]],
  tag: ["tags", ["Settings", "Tags"]],
  custom_field: ["custom-fields", ["Settings", "Custom fields"]],
  marker: ["markers", ["Settings", "Markers"]],
  user: ["users", ["Settings", "People"]],
  api_key: ["auth/keys", ["Settings", "API keys"]],
};

afterAll(() => closeBrowser());

describe.skipIf(!hasChromium)("whoever goes through all pages", () => {
  let workplace: Workplace;
  let running: Running;
  let visitor: Visitor;
  let page: Page;
  const pages: Array<readonly [address: string, place: Place]> = [];

  const api = (path: string) => `${running.url}/api/v1/${path}`;
  const first = async (list: string, field = "id") => {
    const { data } = await (await page.request.get(api(list))).json();
    expect([list, data.length > 0]).toEqual([list, true]);
    return String(data[0][field]);
  };

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    running = await workplace.serveDemo();
    visitor = await Visitor.arrive(running.url);
    page = await visitor.signIn(DEMO_EMAIL, DEMO_PASSWORD);
    const me = (await (await page.request.get(`${running.url}/api/auth/me`)).json()).data;
    const host = await (await page.request.get(api('hosts?filter=name = "acc-admin-1"'))).json();
    const custom = { key: "rack", kinds: ["host"], type: "text" };
    const key = { name: "Walk", organization_id: me.organization_id, user_id: me.id, tags: [] };
    for (const [path, data] of [
      ["custom-fields", custom],
      ["markers", { name: "the walk", at: new Date().toISOString() }],
      ["auth/keys", key],
    ] as const)
      expect([path, (await page.request.post(api(path), { data })).status()]).toEqual([path, 200]);
    for (const path of PAGE_PATHS) {
      const sample = PAGE_SAMPLES[path];
      if (path === "/records/:kind/:id") continue;
      pages.push([sample === undefined ? path : path.replace(/:\w+/, await first(...sample)), PLACES[path]]);
    }
    for (const [kind, [list, place]] of Object.entries(RECORDS))
      pages.push([`/records/${kind}/${await first(list)}`, place]);
    for (const tab of ["addresses", "services", "history"])
      pages.push([`/hosts/${host.data[0].id}?tab=${tab}`, ["Hosts"]]);
  }, LONG_TEST_HANG_MS);

  afterAll(async () => {
    await visitor.leave();
    await workplace.close();
  });

  async function open(address: string): Promise<void> {
    await page.goto(running.url + address);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.locator(".waiting").first().waitFor({ state: "detached" });
  }

  const marked = (name: string) =>
    page.getByRole("navigation", { name, exact: true }).locator("[aria-current]").allTextContents();

  test(
    "sees on each of them where it belongs, as the page itself or as one below it, and is told of nothing twice",
    async () => {
      for (const [address, [entry, area]] of pages) {
        await open(address);
        expect([address, await marked("Pages")]).toEqual([address, [entry]]);
        expect([address, await marked("Settings")]).toEqual([address, area === undefined ? [] : [area]]);
        const current = page.getByRole("navigation").locator('[aria-current="page"]');
        const { pathname } = new URL(address, running.url);
        for (const link of await current.all())
          expect([address, new URL((await link.getAttribute("href")) ?? "", running.url).pathname]).toEqual([
            address,
            pathname,
          ]);
        await page.keyboard.press("Control+k");
        await page.getByRole("option").first().waitFor();
        await page.getByRole("combobox", { name: "A page, an action or a record" }).waitFor();
        const titles = await toldTitles();
        expect(titles.length).toBeGreaterThan(20);
        expect([address, titles.filter((title, at) => titles.indexOf(title) !== at)]).toEqual([address, []]);
        await page.keyboard.press("Escape");
        expect([address, visitor.troubles()]).toEqual([address, []]);
      }
    },
    LONG_TEST_HANG_MS,
  );

  /** Of all entries: the palette shows the first of them, and more of those that are typed. */
  async function toldTitles(): Promise<string[]> {
    const box = page.getByRole("combobox", { name: "A page, an action or a record" });
    const titles: string[] = [];
    for (const group of ["on this page", "go to", "create", "account", "keys"]) {
      await box.fill(group);
      const options = page.getByRole("option").filter({ hasText: new RegExp(`${group}$`, "i") });
      titles.push(...(await options.locator("bdi").allTextContents()));
    }
    return titles;
  }

  test("finds the list of settings where it was, from one page to the next, and the page beside it", async () => {
    await open("/settings");
    const areas = page.getByRole("navigation", { name: "Settings", exact: true });
    const before = await areas.boundingBox();
    const heading = page.getByRole("heading", { level: 1 });
    for (const name of ["API keys", "Networks", "Backups", "Account"]) {
      await areas.getByRole("link", { name, exact: true }).click();
      await settles(() => heading.textContent(), name);
      expect([name, await areas.boundingBox()]).toEqual([name, before]);
      // Beside it and not below: nothing that comes moves it.
      const [list, title] = [await areas.boundingBox(), await heading.boundingBox()];
      expect((title?.x ?? 0) - (list?.x ?? 0) - (list?.width ?? 0)).toBeGreaterThan(0);
    }
    const groups = await areas.getByRole("list").evaluateAll((lists) => lists.length);
    expect(groups).toBe(4);
    for (const name of ["You", "Access", "Inventory", "Appliance"])
      expect([name, await areas.getByRole("list", { name, exact: true }).count()]).toEqual([name, 1]);
    expect(visitor.troubles()).toEqual([]);
  });

  test("opens it by the keyboard where there is little room, and is back at its button", async () => {
    await page.setViewportSize({ width: 360, height: 800 });
    await open("/settings/keys");
    const areas = page.getByRole("navigation", { name: "Settings", exact: true });
    expect(await areas.isVisible()).toBe(false);
    const button = page.getByRole("button", { name: "Settings: API keys" });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await button.focus();
      await page.keyboard.press("Enter");
      await areas.waitFor();
      expect([colorScheme, await accessibilityFindings(page)]).toEqual([colorScheme, []]);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      const box = await areas.boundingBox();
      expect((box?.x ?? -1) >= 0 && (box?.x ?? 0) + (box?.width ?? 0) <= 360).toBe(true);
      await page.keyboard.press("Escape");
      await areas.waitFor({ state: "hidden" });
    }
    await button.focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await areas.getByRole("link", { name: "Account" }).and(page.locator(":focus")).waitFor();
    for (const _ of ["Organization", "People"]) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "People" }).waitFor();
    await areas.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Settings: People" }).and(page.locator(":focus")).waitFor();
    expect(visitor.troubles()).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
  });
});
