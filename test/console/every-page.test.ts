// Every page of the console with every tab of it in Chromium, on the executable: now in light and in the past in dark
// colours, of a full appliance and of an empty one. axe-core finds nothing, and the browser complains of nothing.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { PAGE_PATHS, type PagePath } from "../../src/console/url/page-paths.ts";
import { DEMO_EMAIL } from "../../src/demo/cast.ts";
import { DEMO_PASSWORD } from "../../src/demo/demo.ts";
import { accessibilityFindings, closeBrowser, hasChromium, Visitor } from "../support/browser/browser.ts";
import { PAGE_SAMPLES } from "../support/browser/page-samples.ts";
import { ensureExecutable, PASSWORD, type Running, Workplace } from "../support/executable/executable.ts";
import { LONG_TEST_HANG_MS } from "../support/measure/limits.ts";

const OWNER = "owner@acme.example";
const TEN_DAYS_MS = 10 * 86_400_000;

const COMPARED: Partial<Record<PagePath, string>> = { "/compare": "?vs=2020-01-01T00:00:00Z" };

const PLACES = [
  {
    of: "a month of a campus",
    serve: (place: Workplace) => place.serveDemo(),
    email: DEMO_EMAIL,
    password: DEMO_PASSWORD,
    hasRecords: true,
  },
  {
    of: "an empty appliance",
    serve: async (place: Workplace) => (await place.serveSetUp()).running,
    email: OWNER,
    password: PASSWORD,
    hasRecords: false,
  },
] as const;

afterAll(() => closeBrowser());

describe.skipIf(!hasChromium).each(PLACES)("every page of $of", ({ serve, email, password, hasRecords }) => {
  let workplace: Workplace;
  let running: Running;
  let visitor: Visitor;
  let page: Page;

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    running = await serve(workplace);
    visitor = await Visitor.arrive(running.url);
    page = await visitor.signIn(email, password);
  });

  afterAll(async () => {
    await visitor.leave();
    await workplace.close();
  });

  async function sampled([list, field]: readonly [string, string]): Promise<string> {
    const { href } = new URL(`/api/v1/${list}${list.includes("?") ? "&" : "?"}limit=1`, running.url);
    const { data } = await (await page.request.get(href)).json();
    expect([list, data]).toEqual([list, [expect.objectContaining({ [field]: expect.anything() })]]);
    return String(data[0][field]);
  }

  /** Of those that there are something to show on. */
  async function addresses(): Promise<string[]> {
    const found: string[] = [];
    for (const path of PAGE_PATHS) {
      const sample = PAGE_SAMPLES[path];
      if (sample === undefined) {
        expect([path, path.includes(":")], "a new page of records takes a place in PAGE_SAMPLES").toEqual([
          path,
          false,
        ]);
        found.push(path + (COMPARED[path] ?? ""));
      } else if (hasRecords) found.push(path.replace(":kind", "tag").replace(/:\w+/, await sampled(sample)));
    }
    return found;
  }

  /** @returns the addresses of its tabs */
  async function look(address: string, colorScheme: "light" | "dark"): Promise<string[]> {
    await page.goto(running.url + address);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.locator(".waiting").first().waitFor({ state: "detached" });
    expect([address, colorScheme, await accessibilityFindings(page)]).toEqual([address, colorScheme, []]);
    expect([address, visitor.troubles()]).toEqual([address, []]);
    const tabs = await page.locator("main .tabs a").all();
    return Promise.all(tabs.map(async (tab) => (await tab.getAttribute("href")) ?? ""));
  }

  async function lookAtAll(instant: string | null, colorScheme: "light" | "dark"): Promise<number> {
    await page.emulateMedia({ colorScheme });
    const left = await addresses();
    const seen = new Set<string>();
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const url = new URL(next, running.url);
      if (instant !== null) url.searchParams.set("at", instant);
      url.searchParams.sort();
      const address = url.pathname + url.search;
      if (seen.has(address)) continue;
      seen.add(address);
      left.push(...(await look(address, colorScheme)));
    }
    return seen.size;
  }

  const atLeast = hasRecords ? PAGE_PATHS.length + 8 : PAGE_PATHS.length - Object.keys(PAGE_SAMPLES).length;

  test(
    "is as it should be now, in light colours",
    async () => {
      expect(await lookAtAll(null, "light")).toBeGreaterThanOrEqual(atLeast);
    },
    LONG_TEST_HANG_MS,
  );

  test(
    "is as it should be ten days ago, in dark colours",
    async () => {
      const then = new Date(Date.now() - TEN_DAYS_MS).toISOString();
      expect(await lookAtAll(then, "dark")).toBeGreaterThanOrEqual(atLeast);
    },
    LONG_TEST_HANG_MS,
  );
});
