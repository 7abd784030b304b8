// Every console page with every tab in Chromium, on the executable: one walk per role through a month of a campus, now
// and ten days ago, and one through an empty appliance.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page, Request } from "playwright-core";
import { PAGE_PATHS, type PagePath } from "../../src/console/url/page-paths.ts";
import { DEMO_EMAIL } from "../../src/demo/cast.ts";
import { DEMO_PASSWORD } from "../../src/demo/demo.ts";
import {
  accessibilityFindings,
  closeBrowser,
  follow,
  hasChromium,
  isShown,
  settles,
  Visitor,
} from "../support/browser/browser.ts";
import { HARMLESS, WRITERS } from "../support/browser/page-controls.ts";
import { PAGE_PLACES, type Place, RECORD_PLACES } from "../support/browser/page-places.ts";
import { PAGE_SAMPLES } from "../support/browser/page-samples.ts";
import { ensureExecutable, PASSWORD, type Running, Workplace } from "../support/executable/executable.ts";
import { LONG_TEST_HANG_MS } from "../support/measure/limits.ts";

const TEN_DAYS_MS = 10 * 86_400_000;
const WIDTHS = [360, 1_280];

const COMPARED: Partial<Record<PagePath, string>> = { "/compare": "?vs=2020-01-01T00:00:00Z" };

/** A control on a page. */
interface Offer {
  readonly path: string;
  readonly name: string;
}

/** A signed-in user who visits pages, with the checks of each page. */
class Walker {
  readonly page: Page;
  private readonly url: string;
  private readonly visitor: Visitor;
  /** Pending requests; the change stream never ends. */
  private readonly awaited = new Set<Request>();

  private constructor(url: string, visitor: Visitor, page: Page) {
    this.url = url;
    this.visitor = visitor;
    this.page = page;
    page.on("request", (request) => request.url().includes("/api/v1/changes?after=") || this.awaited.add(request));
    const end = (request: Request) => this.awaited.delete(request);
    page.on("requestfinished", end);
    page.on("requestfailed", end);
  }

  static async signIn(url: string, email: string, password: string): Promise<Walker> {
    const visitor = await Visitor.arrive(url);
    return new Walker(url, visitor, await visitor.signIn(email, password));
  }

  async read(path: string): Promise<any> {
    return (await this.page.request.get(this.url + path)).json();
  }

  /** Adds a record through the API. */
  async add(path: string, data: unknown): Promise<void> {
    const answer = await this.page.request.post(`${this.url}/api/v1/${path}`, { data });
    expect([path, answer.status()]).toEqual([path, 200]);
  }

  /** @returns a field of the first record of a list */
  async first(list: string, field = "id"): Promise<string> {
    const { data } = await this.read(`/api/v1/${list}${list.includes("?") ? "&" : "?"}limit=1`);
    expect([list, data]).toEqual([list, [expect.objectContaining({ [field]: expect.anything() })]]);
    return String(data[0][field]);
  }

  /** Addresses of all pages; for pages of records, one record if there are any. */
  async addresses(hasRecords: boolean): Promise<string[]> {
    const found: string[] = [];
    for (const path of PAGE_PATHS) {
      const sample = PAGE_SAMPLES[path];
      if (sample === undefined) {
        const isOfRecords = path.includes(":");
        expect([path, isOfRecords], "a new page of records takes a place in PAGE_SAMPLES").toEqual([path, false]);
        found.push(path + (COMPARED[path] ?? ""));
      } else if (hasRecords) found.push(path.replace(":kind", "tag").replace(/:\w+/, await this.first(...sample)));
    }
    return found;
  }

  /** Visits pages and all their tabs by links. @returns number of visits */
  async goThrough(addresses: readonly string[], look: (address: string) => Promise<void>): Promise<number> {
    const left = [...addresses];
    const seen = new Set<string>();
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { pathname, searchParams } = new URL(next, this.url);
      searchParams.sort();
      const address = searchParams.size === 0 ? pathname : `${pathname}?${searchParams}`;
      if (seen.has(address)) continue;
      seen.add(address);
      await follow(this.page, this.url + address);
      await look(address);
      const tabs = await this.page.locator("main .tabs a").all();
      left.push(...(await Promise.all(tabs.map(async (tab) => (await tab.getAttribute("href")) ?? ""))));
    }
    return seen.size;
  }

  async isSound(address: string): Promise<void> {
    expect([address, await accessibilityFindings(this.page)]).toEqual([address, []]);
    expect([address, this.visitor.troubles()]).toEqual([address, []]);
  }

  async fits(address: string): Promise<void> {
    for (const width of WIDTHS) {
      await this.page.setViewportSize({ width, height: 800 });
      const beside = await this.page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
      expect([address, width, Math.max(0, beside)]).toEqual([address, width, 0]);
    }
  }

  /** Whether the navigation marks the current page. */
  async isMarked(address: string, [entry, area]: Place): Promise<void> {
    const navigation = (name: string) => this.page.getByRole("navigation", { name, exact: true });
    const marked = (name: string) => navigation(name).locator("[aria-current]").allTextContents();
    expect([address, await marked("Pages")]).toEqual([address, [entry]]);
    expect([address, await marked("Settings")]).toEqual([address, area === undefined ? [] : [area]]);
    const { pathname } = new URL(address, this.url);
    for (const link of await this.page.getByRole("navigation").locator('[aria-current="page"]').all()) {
      const href = new URL((await link.getAttribute("href")) ?? "", this.url);
      expect([address, href.pathname]).toEqual([address, pathname]);
    }
  }

  /** Whether the palette has no duplicates. It shows its first entries, and more as the user types. */
  async hasPalette(address: string): Promise<void> {
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
    expect([address, titles.filter((title, at) => titles.indexOf(title) !== at)]).toEqual([address, []]);
    await this.page.keyboard.press("Escape");
  }

  async offers(address: string): Promise<Offer[]> {
    // Some controls arrive with an answer that the others do not wait for.
    await settles(async () => this.awaited.size, 0);
    await this.page.evaluate(
      "new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(() => shown())))",
    );
    const names = await this.page.evaluate<string[]>(
      `[...document.querySelectorAll("main button:not(.copied), main a.button, main input[type=file]")]
        .map((each) => (each.getAttribute("aria-label") ?? each.textContent ?? each.type).trim())`,
    );
    return names.map((name) => ({ path: new URL(address, this.url).pathname, name }));
  }

  troubles(): string[] {
    return this.visitor.troubles();
  }

  async leave(): Promise<void> {
    await this.visitor.leave();
  }
}

const writerOf = ({ path, name }: Offer) =>
  WRITERS.find(([called, where]) => called.test(name) && where.test(path)) ?? null;

/** Controls that write, and controls in neither table. */
const sorted = (offers: readonly Offer[]) => ({
  writers: offers.filter((offer) => writerOf(offer) !== null),
  unknown: offers.filter((offer) => writerOf(offer) === null && !HARMLESS.test(offer.name)),
});

const then = (address: string) =>
  `${address}${address.includes("?") ? "&" : "?"}at=${new Date(Date.now() - TEN_DAYS_MS).toISOString()}`;

afterAll(() => closeBrowser());

describe.skipIf(!hasChromium)("every page with a month of campus history", () => {
  let workplace: Workplace;
  let running: Running;
  let owner: Walker;
  let addresses: string[];
  /** Marked navigation entries by path. */
  const places = new Map<string, Place>();

  const emailOf = (role: string) => `${role.toLowerCase()}@campus.example`;

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    running = await workplace.serveDemo();
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
    addresses = [
      ...(await owner.addresses(true)),
      ...["addresses", "services", "history"].map((tab) => `/hosts/${host}?tab=${tab}`),
      `/changes/${await owner.first("transactions", "sequence")}`,
    ];
    for (const [index, path] of PAGE_PATHS.entries())
      if (path !== "/records/:kind/:id")
        places.set(new URL(addresses[index] ?? "", running.url).pathname, PAGE_PLACES[path]);
    for (const [kind, [list, place]] of Object.entries(RECORD_PLACES)) {
      addresses.push(`/records/${kind}/${await owner.first(list)}`);
      places.set(addresses.at(-1) ?? "", place);
    }
  }, LONG_TEST_HANG_MS);

  afterAll(async () => {
    await owner.leave();
    await workplace.close();
  });

  test(
    "is accessible at present, in light colors, marked in the navigation, within its width, and has known controls only",
    LONG_TEST_HANG_MS,
    async () => {
      await owner.page.emulateMedia({ colorScheme: "light" });
      const offered: Offer[] = [];
      const paths = new Set<string>();
      const count = await owner.goThrough(addresses, async (address) => {
        await owner.isSound(address);
        offered.push(...(await owner.offers(address)));
        const { pathname } = new URL(address, running.url);
        const place = places.get(pathname);
        if (place !== undefined) await owner.isMarked(address, place);
        await owner.fits(address);
        // Per page, not per tab.
        if (!paths.has(pathname)) await owner.hasPalette(address);
        paths.add(pathname);
        expect([address, owner.troubles()]).toEqual([address, []]);
      });
      expect(count).toBeGreaterThanOrEqual(PAGE_PATHS.length + 8);

      // The other walks could not detect a control that the Owner lacks.
      const { writers, unknown } = sorted(offered);
      expect(unknown).toEqual([]);
      const unseen = WRITERS.filter((writer) => !writers.some((offer) => writerOf(offer) === writer));
      expect(unseen.map(([called, where]) => `${called} ${where}`)).toEqual([]);
    },
  );

  test("is accessible ten days ago, in dark colors", LONG_TEST_HANG_MS, async () => {
    await owner.page.emulateMedia({ colorScheme: "dark" });
    const count = await owner.goThrough(addresses.map(then), (address) => owner.isSound(address));
    expect(count).toBeGreaterThanOrEqual(PAGE_PATHS.length + 8);
  });

  test.each(["Viewer", "Member"])(
    "offers a %s no control the API would refuse, and the API refuses all other operations",
    LONG_TEST_HANG_MS,
    async (role) => {
      const walker = await Walker.signIn(running.url, emailOf(role), PASSWORD);
      const { data: me } = await walker.read("/api/auth/me");
      const permitted = new Set<string>(me.permitted_operations);
      const offered: Offer[] = [];
      // By URL, each in a separate document. An API key is visible to its user and to Owners only.
      for (const address of addresses.filter((each) => !each.startsWith("/records/api_key/"))) {
        await walker.page.goto(running.url + address);
        await isShown(walker.page);
        offered.push(...(await walker.offers(address)));
        expect([address, walker.troubles()]).toEqual([address, []]);
      }
      const { writers, unknown } = sorted(offered);
      expect(unknown).toEqual([]);
      expect(writers.filter((offer) => writerOf(offer)?.[2].some((each) => permitted.has(each)) !== true)).toEqual([]);
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
          const answer = await walker.page.request.fetch(url, { method: method.toUpperCase(), data: {} });
          refused.push(operationId);
          expect([operationId, answer.status()]).toEqual([operationId, 403]);
        }
      expect(refused).toContain("createTag");
      expect(refused.length).toBeGreaterThan(role === "Viewer" ? 80 : 25);
      expect((await owner.read(`/api/v1/transactions?actor_id=${me.id}`)).data).toEqual([]);
      await walker.leave();
    },
  );
});

describe.skipIf(!hasChromium)("every page of an empty appliance", () => {
  let workplace: Workplace;
  let walker: Walker;
  let addresses: string[];
  const atLeast = PAGE_PATHS.length - Object.keys(PAGE_SAMPLES).length;

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    const { running } = await workplace.serveSetUp();
    walker = await Walker.signIn(running.url, "owner@acme.example", PASSWORD);
    addresses = await walker.addresses(false);
  });

  afterAll(async () => {
    await walker.leave();
    await workplace.close();
  });

  test("is accessible at present, in light colors, and within its width", LONG_TEST_HANG_MS, async () => {
    await walker.page.emulateMedia({ colorScheme: "light" });
    const count = await walker.goThrough(addresses, async (address) => {
      await walker.isSound(address);
      await walker.fits(address);
    });
    expect(count).toBeGreaterThanOrEqual(atLeast);
  });

  test("is accessible ten days ago, in dark colors", LONG_TEST_HANG_MS, async () => {
    await walker.page.emulateMedia({ colorScheme: "dark" });
    const count = await walker.goThrough(addresses.map(then), (address) => walker.isSound(address));
    expect(count).toBeGreaterThanOrEqual(atLeast);
  });
});
