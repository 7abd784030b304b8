// Every console page with every tab in Chromium, on the executable: one walk per role through a month of campus
// history, now and ten days ago, and one through an empty appliance.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page, Request } from "playwright-core";
import { PAGE_PATHS, type PagePath } from "../../src/console/url/page-paths.ts";
import { DEMO_PASSWORD } from "../../src/demo/demo.ts";
import { DEMO_EMAIL } from "../../src/demo/people.ts";
import {
  accessibilityFindings,
  closeBrowser,
  expectEventually,
  follow,
  hasChromium,
  Visitor,
  waitUntilShown,
} from "../support/browser/browser.ts";
import { HARMLESS, WRITERS } from "../support/browser/page-controls.ts";
import { type NavigationEntry, PAGE_ENTRIES, RECORD_ENTRIES } from "../support/browser/page-places.ts";
import { PAGE_SAMPLES } from "../support/browser/page-samples.ts";
import { ensureExecutable, PASSWORD, type Running, Sandbox } from "../support/executable/executable.ts";
import { LONG_TEST_HANG_MS } from "../support/measure/limits.ts";

const TEN_DAYS_MS = 10 * 86_400_000;
const WIDTHS = [360, 1_280];

const QUERIES: Partial<Record<PagePath, string>> = { "/compare": "?vs=2020-01-01T00:00:00Z" };

/** A control on a page. */
interface Control {
  readonly path: string;
  readonly name: string;
}

/** A signed-in user who visits pages, with the checks of each page. */
class Walker {
  readonly page: Page;
  private readonly url: string;
  private readonly visitor: Visitor;
  /** Pending requests; the change stream never ends. */
  private readonly pendingRequests = new Set<Request>();

  private constructor(url: string, visitor: Visitor, page: Page) {
    this.url = url;
    this.visitor = visitor;
    this.page = page;
    page.on(
      "request",
      (request) => request.url().includes("/api/v1/changes?after=") || this.pendingRequests.add(request),
    );
    const markDone = (request: Request) => this.pendingRequests.delete(request);
    page.on("requestfinished", markDone);
    page.on("requestfailed", markDone);
  }

  static async signIn(url: string, email: string, password: string): Promise<Walker> {
    const visitor = await Visitor.create(url);
    return new Walker(url, visitor, await visitor.signIn(email, password));
  }

  async read(path: string): Promise<any> {
    return (await this.page.request.get(this.url + path)).json();
  }

  /** Adds a record through the API. */
  async add(path: string, data: unknown): Promise<void> {
    const response = await this.page.request.post(`${this.url}/api/v1/${path}`, { data });
    expect([path, response.status()]).toEqual([path, 200]);
  }

  /** @returns a field of the first record of a list */
  async first(list: string, field = "id"): Promise<string> {
    const { data } = await this.read(`/api/v1/${list}${list.includes("?") ? "&" : "?"}limit=1`);
    expect([list, data]).toEqual([list, [expect.objectContaining({ [field]: expect.anything() })]]);
    return String(data[0][field]);
  }

  /** Paths of all pages, with queries; record pages only if there are records, each with the first one. */
  async pagePaths(hasRecords: boolean): Promise<string[]> {
    const paths: string[] = [];
    for (const path of PAGE_PATHS) {
      const sample = PAGE_SAMPLES[path];
      if (sample === undefined) {
        const isRecordPage = path.includes(":");
        expect([path, isRecordPage], "a new record page needs an entry in PAGE_SAMPLES").toEqual([path, false]);
        paths.push(path + (QUERIES[path] ?? ""));
      } else if (hasRecords) paths.push(path.replace(":kind", "tag").replace(/:\w+/, await this.first(...sample)));
    }
    return paths;
  }

  /** Visits pages and all their tabs by links. @returns number of visits */
  async visitAll(paths: readonly string[], check: (path: string) => Promise<void>): Promise<number> {
    const remaining = [...paths];
    const visited = new Set<string>();
    for (let next = remaining.shift(); next !== undefined; next = remaining.shift()) {
      const { pathname, searchParams } = new URL(next, this.url);
      searchParams.sort();
      const path = searchParams.size === 0 ? pathname : `${pathname}?${searchParams}`;
      if (visited.has(path)) continue;
      visited.add(path);
      await follow(this.page, this.url + path);
      await check(path);
      const tabs = await this.page.locator("main .tabs a").all();
      remaining.push(...(await Promise.all(tabs.map(async (tab) => (await tab.getAttribute("href")) ?? ""))));
    }
    return visited.size;
  }

  async expectSound(path: string): Promise<void> {
    expect([path, await accessibilityFindings(this.page)]).toEqual([path, []]);
    expect([path, this.visitor.problems()]).toEqual([path, []]);
  }

  async expectNoOverflow(path: string): Promise<void> {
    for (const width of WIDTHS) {
      await this.page.setViewportSize({ width, height: 800 });
      const overflow = await this.page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
      expect([path, width, Math.max(0, overflow)]).toEqual([path, width, 0]);
    }
  }

  /** Expects the navigation to mark the current page. */
  async expectMarked(path: string, [entry, area]: NavigationEntry): Promise<void> {
    const navigation = (name: string) => this.page.getByRole("navigation", { name, exact: true });
    const currentEntries = (name: string) => navigation(name).locator("[aria-current]").allTextContents();
    expect([path, await currentEntries("Pages")]).toEqual([path, [entry]]);
    expect([path, await currentEntries("Settings")]).toEqual([path, area === undefined ? [] : [area]]);
    const { pathname } = new URL(path, this.url);
    for (const link of await this.page.getByRole("navigation").locator('[aria-current="page"]').all()) {
      const href = new URL((await link.getAttribute("href")) ?? "", this.url);
      expect([path, href.pathname]).toEqual([path, pathname]);
    }
  }

  /** Expects a palette without duplicates. It shows its first entries, and more as the user types. */
  async expectUniquePaletteEntries(path: string): Promise<void> {
    await this.page.keyboard.press("Control+k");
    await this.page.getByRole("option").first().waitFor();
    const box = this.page.getByRole("combobox", { name: "A page, an action or a record" });
    const titles: string[] = [];
    for (const group of ["on this page", "go to", "create", "account", "keys"]) {
      await box.fill(group);
      const options = this.page.getByRole("option").filter({ hasText: new RegExp(`${group}$`, "i") });
      titles.push(...(await options.locator("bdi").allTextContents()));
    }
    expect(titles.length).toBeGreaterThan(20);
    expect([path, titles.filter((title, index) => titles.indexOf(title) !== index)]).toEqual([path, []]);
    await this.page.keyboard.press("Escape");
  }

  async controls(path: string): Promise<Control[]> {
    // Some controls arrive with a later response than the others.
    await expectEventually(async () => this.pendingRequests.size, 0);
    await this.page.evaluate(
      "new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(() => shown())))",
    );
    const names = await this.page.evaluate<string[]>(
      `[...document.querySelectorAll("main button:not(.copied), main a.button, main input[type=file]")]
        .map((control) => (control.getAttribute("aria-label") ?? control.textContent ?? control.type).trim())`,
    );
    return names.map((name) => ({ path: new URL(path, this.url).pathname, name }));
  }

  problems(): string[] {
    return this.visitor.problems();
  }

  async close(): Promise<void> {
    await this.visitor.close();
  }
}

const writerOf = ({ path, name }: Control) =>
  WRITERS.find(([namePattern, pathPattern]) => namePattern.test(name) && pathPattern.test(path)) ?? null;

/** Sorts controls into those that write and those in neither table. */
const classify = (controls: readonly Control[]) => ({
  writers: controls.filter((control) => writerOf(control) !== null),
  unknown: controls.filter((control) => writerOf(control) === null && !HARMLESS.test(control.name)),
});

const tenDaysAgo = (path: string) =>
  `${path}${path.includes("?") ? "&" : "?"}at=${new Date(Date.now() - TEN_DAYS_MS).toISOString()}`;

afterAll(() => closeBrowser());

describe.skipIf(!hasChromium)("every page with a month of campus history", () => {
  let sandbox: Sandbox;
  let running: Running;
  let owner: Walker;
  let pagePaths: string[];
  /** Marked navigation entries by path. */
  const navigationByPath = new Map<string, NavigationEntry>();

  const emailOf = (role: string) => `${role.toLowerCase()}@campus.example`;

  beforeAll(async () => {
    ensureExecutable();
    sandbox = new Sandbox();
    running = await sandbox.serveDemo();
    owner = await Walker.signIn(running.url, DEMO_EMAIL, DEMO_PASSWORD);
    const { data: me } = await owner.read("/api/auth/me");
    const { data: networks } = await owner.read("/api/v1/networks?limit=0");
    const network_ids = networks.map(({ id }: { id: string }) => id);
    await owner.add("custom-fields", { key: "rack", kinds: ["host"], type: "text" });
    await owner.add("markers", { name: "the walk", at: new Date().toISOString() });
    await owner.add("auth/keys", { name: "Walk", organization_id: me.organization_id, user_id: me.id, tags: [] });
    for (const role of ["Viewer", "Member"])
      await owner.add("users", { email: emailOf(role), name: role, role, password: PASSWORD, network_ids });
    const host = await owner.first('hosts?filter=name = "acc-admin-1"');
    pagePaths = [
      ...(await owner.pagePaths(true)),
      ...["addresses", "services", "history"].map((tab) => `/hosts/${host}?tab=${tab}`),
      `/changes/${await owner.first("transactions", "sequence")}`,
    ];
    for (const [index, path] of PAGE_PATHS.entries())
      if (path !== "/records/:kind/:id")
        navigationByPath.set(new URL(pagePaths[index] ?? "", running.url).pathname, PAGE_ENTRIES[path]);
    for (const [kind, [list, navigationEntry]] of Object.entries(RECORD_ENTRIES)) {
      pagePaths.push(`/records/${kind}/${await owner.first(list)}`);
      navigationByPath.set(pagePaths.at(-1) ?? "", navigationEntry);
    }
  }, LONG_TEST_HANG_MS);

  afterAll(async () => {
    await owner.close();
    await sandbox.close();
  });

  test(
    "is accessible now, in light colors, marked in the navigation, within its width, and has known controls only",
    LONG_TEST_HANG_MS,
    async () => {
      await owner.page.emulateMedia({ colorScheme: "light" });
      const visibleControls: Control[] = [];
      const visitedPathnames = new Set<string>();
      const count = await owner.visitAll(pagePaths, async (path) => {
        await owner.expectSound(path);
        visibleControls.push(...(await owner.controls(path)));
        const { pathname } = new URL(path, running.url);
        const navigationEntry = navigationByPath.get(pathname);
        if (navigationEntry !== undefined) await owner.expectMarked(path, navigationEntry);
        await owner.expectNoOverflow(path);
        // Checked once per page, not per tab.
        if (!visitedPathnames.has(pathname)) await owner.expectUniquePaletteEntries(path);
        visitedPathnames.add(pathname);
        expect([path, owner.problems()]).toEqual([path, []]);
      });
      expect(count).toBeGreaterThanOrEqual(PAGE_PATHS.length + 8);

      // Other walks cannot detect a control that the Owner lacks.
      const { writers, unknown } = classify(visibleControls);
      expect(unknown).toEqual([]);
      const missingWriters = WRITERS.filter((writer) => !writers.some((control) => writerOf(control) === writer));
      expect(missingWriters.map(([namePattern, pathPattern]) => `${namePattern} ${pathPattern}`)).toEqual([]);
    },
  );

  test("is accessible ten days ago, in dark colors", LONG_TEST_HANG_MS, async () => {
    await owner.page.emulateMedia({ colorScheme: "dark" });
    const count = await owner.visitAll(pagePaths.map(tenDaysAgo), (path) => owner.expectSound(path));
    expect(count).toBeGreaterThanOrEqual(PAGE_PATHS.length + 8);
  });

  test.each(["Viewer", "Member"])(
    "offers a %s no control the API would refuse, and the API refuses all other operations",
    LONG_TEST_HANG_MS,
    async (role) => {
      const walker = await Walker.signIn(running.url, emailOf(role), PASSWORD);
      const { data: me } = await walker.read("/api/auth/me");
      const permitted = new Set<string>(me.permitted_operations);
      const visibleControls: Control[] = [];
      // A Viewer by URL, each in a separate document; a Member by links. An API key is visible to its user and to Owners
      // only.
      for (const path of pagePaths.filter((path) => !path.startsWith("/records/api_key/"))) {
        if (role === "Viewer") await walker.page.goto(running.url + path);
        else await follow(walker.page, running.url + path);
        await waitUntilShown(walker.page);
        visibleControls.push(...(await walker.controls(path)));
        expect([path, walker.problems()]).toEqual([path, []]);
      }
      const { writers, unknown } = classify(visibleControls);
      expect(unknown).toEqual([]);
      const isPermitted = (control: Control) => writerOf(control)?.[2].some((operation) => permitted.has(operation));
      expect(writers.filter((control) => isPermitted(control) !== true)).toEqual([]);
      // The last transaction is the Owner's.
      expect(writers.filter(({ name }) => name === "Undo")).toEqual([]);
      // A Viewer can change their password, a Member the inventory.
      expect(writers.length).toBeGreaterThan(role === "Viewer" ? 0 : 25);

      const { paths } = await walker.read("/api/openapi.json");
      const refused: string[] = [];
      for (const [path, methods] of Object.entries<Record<string, { operationId?: string }>>(paths))
        for (const [method, { operationId }] of Object.entries(methods)) {
          if (!["post", "put", "delete"].includes(method) || operationId === undefined) continue;
          if (permitted.has(operationId) || ["setUp", "signIn", "signOut"].includes(operationId)) continue;
          const url = running.url + path.replaceAll(/\{\w+\}/g, "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0001");
          const response = await walker.page.request.fetch(url, { method: method.toUpperCase(), data: {} });
          refused.push(operationId);
          expect([operationId, response.status()]).toEqual([operationId, 403]);
        }
      expect(refused).toContain("createTag");
      expect(refused.length).toBeGreaterThan(role === "Viewer" ? 80 : 25);
      expect((await owner.read(`/api/v1/transactions?actor_id=${me.id}`)).data).toEqual([]);
      await walker.close();
    },
  );
});

describe.skipIf(!hasChromium)("every page of an empty appliance", () => {
  let sandbox: Sandbox;
  let walker: Walker;
  let pagePaths: string[];
  const minVisits = PAGE_PATHS.length - Object.keys(PAGE_SAMPLES).length;

  beforeAll(async () => {
    ensureExecutable();
    sandbox = new Sandbox();
    const { running } = await sandbox.serveSetUp();
    walker = await Walker.signIn(running.url, "owner@acme.example", PASSWORD);
    pagePaths = await walker.pagePaths(false);
  });

  afterAll(async () => {
    await walker.close();
    await sandbox.close();
  });

  test("is accessible now, in light colors, and within its width", LONG_TEST_HANG_MS, async () => {
    await walker.page.emulateMedia({ colorScheme: "light" });
    const count = await walker.visitAll(pagePaths, async (path) => {
      await walker.expectSound(path);
      await walker.expectNoOverflow(path);
    });
    expect(count).toBeGreaterThanOrEqual(minVisits);
  });

  test("is accessible ten days ago, in dark colors", LONG_TEST_HANG_MS, async () => {
    await walker.page.emulateMedia({ colorScheme: "dark" });
    const count = await walker.visitAll(pagePaths.map(tenDaysAgo), (path) => walker.expectSound(path));
    expect(count).toBeGreaterThanOrEqual(minVisits);
  });
});
