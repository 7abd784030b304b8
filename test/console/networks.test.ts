// Interfaces, subnets and VLANs in Chromium, on the executable; and the life of an interface as plain functions.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  eventsOf,
  type LifeVersion,
  lifeStateOf,
  piecesOf,
  piecesPath,
  stationsOf,
} from "../../src/console/interfaces/life.ts";
import { accessibilityFindings, closeBrowser, hasChromium, Visitor } from "../support/browser/browser.ts";
import { type FilledNetwork, fillNetwork } from "../support/browser/networks.ts";
import { ensureExecutable, PASSWORD, type Running, type SetUp, Workplace } from "../support/executable/executable.ts";

const OWNER = "owner@acme.example";

describe.skipIf(!hasChromium)("the pages of a network", () => {
  let workplace: Workplace;
  let appliance: SetUp & { readonly running: Running };
  let visitor: Visitor;
  let filled: FilledNetwork;

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    const made = await workplace.serveSetUp();
    appliance = made;
    filled = await fillNetwork(made.client, made.networkId);
    visitor = await Visitor.arrive(made.running.url);
  });

  afterAll(async () => {
    await visitor.leave();
    await closeBrowser();
    await workplace.close();
  });

  test("show when a port flapped and who hung on it, and lead to how it was then", async () => {
    const page = await visitor.signIn(OWNER, PASSWORD, `/interfaces/${filled.flapped.id}?life=all`);
    await page.getByRole("heading", { name: "Gi1/0/7" }).waitFor();
    const table = page.getByRole("table", { name: "What happened" });
    await table.waitFor();
    const states = await table.locator("tbody tr td:nth-child(2)").allTextContents();
    expect(states).toEqual(["Up", "Down", "Up", "Down", "Up"]);
    const last = table.getByRole("row").nth(1);
    expect(await last.getByText("100M").count()).toBe(1);
    await table.getByRole("link", { name: "printer-2" }).first().waitFor();
    expect(await page.locator("path.life-up").getAttribute("d")).toMatch(/M.*M.*M/);
    // The second-newest change is a going down.
    await table.getByRole("row").nth(2).getByRole("link").first().click();
    await page.getByText("Operational status").waitFor();
    await page.locator(".facts .state-down").waitFor();
    expect(page.url()).toContain("at=");
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  const PAGES: readonly [what: string, address: (network: FilledNetwork) => string][] = [
    ["an interface", ({ flapped }) => `/interfaces/${flapped.id}`],
    ["its whole life", ({ flapped }) => `/interfaces/${flapped.id}?life=all`],
    ["its history", ({ flapped }) => `/interfaces/${flapped.id}?tab=history`],
    ["it in the past", ({ flapped, beforeFlap }) => `/interfaces/${flapped.id}?at=${beforeFlap}`],
  ];

  test.each(["light", "dark"] as const)(
    "have nothing that axe-core finds, now and in the past, and no wider than a phone: %s",
    async (colorScheme) => {
      const own = await Visitor.arrive(appliance.running.url, { colorScheme, viewport: { width: 360, height: 740 } });
      const page = await own.signIn(OWNER, PASSWORD);
      for (const [what, address] of PAGES) {
        await page.goto(appliance.running.url + address(filled));
        await page.locator("main table, main .transactions").first().waitFor();
        expect([what, await accessibilityFindings(page)]).toEqual([what, []]);
        const beside = await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
        expect([what, Math.max(0, beside)]).toEqual([what, 0]);
      }
      expect(own.troubles()).toEqual([]);
      await own.leave();
    },
  );
});

describe("the life of an interface", () => {
  const at = (ms: number, changes: Partial<LifeVersion> = {}): LifeVersion => ({
    ms,
    isThere: true,
    adminStatus: "Up",
    operStatus: "Up",
    speedBps: 1e9,
    macs: [],
    ...changes,
  });
  const window = { from: 100, to: 1_100, bucketMs: 1_000 };

  test("is cut to the window, and what stays the same is one piece", () => {
    const versions = [at(0), at(300, { speedBps: 1e8 }), at(600, { operStatus: "Down" }), at(2_000)];
    expect(piecesOf(versions, window, lifeStateOf)).toEqual([
      { fromMs: 100, toMs: 600, value: "Up" },
      { fromMs: 600, toMs: 1_100, value: "Down" },
    ]);
  });

  test("tells disabled from down, and down from not there", () => {
    expect(lifeStateOf(at(0, { adminStatus: "Down", operStatus: "Down" }))).toBe("Disabled");
    expect(lifeStateOf(at(0, { operStatus: "LowerLayerDown" }))).toBe("LowerLayerDown");
    expect(lifeStateOf(at(0, { isThere: false }))).toBe("Absent");
  });

  test("has each station with the times at which it was there, who was there last first", () => {
    const versions = [
      at(0, { macs: ["a", "b"] }),
      at(400, { macs: ["b"] }),
      at(500, { macs: [] }),
      at(900, { macs: ["a"] }),
    ];
    expect(stationsOf(versions, window)).toEqual([
      {
        mac: "a",
        pieces: [
          { fromMs: 100, toMs: 400, value: true },
          { fromMs: 900, toMs: 1_100, value: true },
        ],
        totalMs: 500,
      },
      { mac: "b", pieces: [{ fromMs: 100, toMs: 500, value: true }], totalMs: 400 },
    ]);
    expect(stationsOf([...versions, at(1_000, { isThere: false, macs: ["a"] })], window)[0]?.pieces.at(-1)?.toMs).toBe(
      1_000,
    );
  });

  test("tells what became different, the newest first, and nothing of what did not", () => {
    const versions = [at(200, { macs: ["a"] }), at(300, { macs: ["a"] }), at(400, { operStatus: "Down", macs: ["b"] })];
    expect(eventsOf(versions, window)).toEqual([
      { ms: 400, state: "Down", speedBps: null, came: ["b"], went: ["a"] },
      { ms: 200, state: "Up", speedBps: 1e9, came: ["a"], went: [] },
    ]);
  });

  test("shows a flap however short it was", () => {
    expect(piecesPath([{ fromMs: 600, toMs: 600.1, value: "Down" }], window, () => 0.5)).toBe("M500 100V50H501.5V100Z");
  });
});
