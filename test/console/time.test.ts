// Time bar: its pure functions, and its streams, layout and pointer in Chromium, on the executable.
// time-in-process.test.ts covers keys, typed text and URLs.

import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { LiveChange } from "../../src/console/api/change-filter.ts";
import { matchesChange } from "../../src/console/api/change-filter.ts";
import { EventReader, type StreamEvent } from "../../src/console/api/event-stream.ts";
import { formatUtc } from "../../src/console/time/instant.ts";
import { parseTimeInput } from "../../src/console/time/parse-time-input.ts";
import { Throttle } from "../../src/console/time/throttle.ts";
import { ticksOf } from "../../src/console/time/ticks.ts";
import {
  histogramPath,
  instantAt,
  positionOf,
  RANGES,
  type RangeName,
  windowBetween,
  windowEnding,
} from "../../src/console/time/window.ts";
import {
  APPEARANCES,
  accessibilityFindings,
  expectAccessibleWithin,
  expectEventually,
  follow,
  hasChromium,
  LAN_NAME,
  Visitor,
  waitForDimming,
} from "../support/browser/browser.ts";
import { OWNER, serveForAll } from "../support/browser/visit.ts";
import { PASSWORD, Sandbox } from "../support/executable/executable.ts";

const BERLIN = "Europe/Berlin";
const HOUR = 3_600_000;

describe("parsing a timestamp", () => {
  const nowMs = Date.parse("2026-03-02T12:00:00Z");
  const parse = (text: string, currentMs = nowMs) => {
    const output = parseTimeInput(text, { nowMs: currentMs, timeZone: BERLIN });
    return output.type === "instant" ? formatUtc(output.ms) : output;
  };

  test.each([
    ["-24h", "2026-03-01T12:00:00.000Z"],
    ["-90s", "2026-03-02T11:58:30.000Z"],
    [" − 2w ", "2026-02-16T12:00:00.000Z"],
    ["2 days ago", "2026-02-28T12:00:00.000Z"],
    ["an hour ago", "2026-03-02T11:00:00.000Z"],
    ["5 min ago", "2026-03-02T11:55:00.000Z"],
    ["2 months ago", "2025-12-31T14:52:48.000Z"],
    ["a year ago", "2025-03-02T06:00:00.000Z"],
    ["2026-03-01T02:12:00Z", "2026-03-01T02:12:00.000Z"],
    ["2026-03-01 03:12+01:00", "2026-03-01T02:12:00.000Z"],
    ["2026-03-01 03:12", "2026-03-01T02:12:00.000Z"],
    ["2026-03-01T03:12:09.5", "2026-03-01T02:12:09.500Z"],
    ["2026-03-01", "2026-02-28T23:00:00.000Z"],
    ["yesterday 14:00", "2026-03-01T13:00:00.000Z"],
    ["Yesterday", "2026-02-28T23:00:00.000Z"],
    ["today 9:05", "2026-03-02T08:05:00.000Z"],
    ["12:30", "2026-03-02T11:30:00.000Z"],
    ["14:00", "2026-03-01T13:00:00.000Z"],
    // The current time is a Monday, 13:00.
    ["friday", "2026-02-26T23:00:00.000Z"],
    ["Tue 03:12", "2026-02-24T02:12:00.000Z"],
    ["monday 12:30", "2026-03-02T11:30:00.000Z"],
    ["monday 14:00", "2026-02-23T13:00:00.000Z"],
    ["last monday", "2026-02-22T23:00:00.000Z"],
    ["last sun 8:00", "2026-03-01T07:00:00.000Z"],
  ])("%p is parsed as local time", (text, utc) => {
    expect(parse(text)).toBe(utc);
  });

  test("now and markers are recognized", () => {
    expect(parse("NOW")).toEqual({ type: "now" });
    expect(parse("marker:before the core upgrade")).toEqual({ type: "marker", name: "before the core upgrade" });
  });

  test.each(
    [
      ["", "tomorrow", "2026-02-30", "2026-02-30T00:00:00Z", "2026-13-01", "25:00", "12:60", "24h", "-1y", "marker:"],
      ["fr", "moonday", "next friday", "last", "last yesterday", "mondays 12:00"],
      ["-999999999w", "2026-03-01 03:12 pm", "0001-01-01", "3:1", "2026-3-1"],
    ].flat(),
  )("%p is rejected, not guessed", (text) => {
    expect(parse(text)).toEqual({ type: "unreadable" });
  });

  test("an ambiguous local time yields two timestamps, and a skipped one a suggestion", () => {
    expect(parse("2026-10-25 02:30")).toEqual({
      type: "repeated",
      instants: [Date.parse("2026-10-25T00:30:00Z"), Date.parse("2026-10-25T01:30:00Z")],
    });
    expect(parse("2026-03-29 02:30")).toEqual({ type: "skipped", substitute: Date.parse("2026-03-29T01:30:00Z") });
    // Yesterday, shortly after midnight.
    const after = Date.parse("2026-10-25T23:30:00Z");
    expect(parse("02:30", after)).toMatchObject({ type: "repeated" });
  });
});

describe("the window of the time bar", () => {
  test.each(Object.keys(RANGES) as RangeName[])("a %s stays the same until the next bucket begins", (range) => {
    const { bucketMs } = RANGES[range];
    const end = 1_000 * bucketMs;
    const window = windowEnding(range, end - bucketMs + 1);
    expect(windowEnding(range, end)).toEqual(window);
    expect(windowEnding(range, end + 1).from).toBe(window.from + bucketMs);
    // A whole number of buckets, at most the API's limit.
    expect((window.to - window.from) / bucketMs).toBeWithin(100, 501);
  });

  test("every position maps to its timestamp, and no two pixels share one", () => {
    for (const window of [windowEnding("week", 5e11), windowEnding("hour", 5e11), windowBetween(5e11, 5e11 + 700)]) {
      const instants = Array.from({ length: 601 }, (_, px) => instantAt(px / 600, window, 600));
      for (const [px, ms] of instants.entries())
        expect(Math.abs(positionOf(ms, window) * 600 - px)).toBeLessThanOrEqual(0.6);
      expect(new Set(instants).size).toBe(instants.length);
    }
  });

  test("positions beyond its ends are clamped", () => {
    const window = windowBetween(1_000_000, 2_000_000);
    expect(instantAt(-3, window, 100)).toBe(1_000_000);
    expect(instantAt(7, window, 100)).toBe(2_000_000);
  });

  test("the histogram shows a single change next to ten thousand, and nothing for none", () => {
    const window = windowBetween(0, 3_000);
    const bucket = (position: number, total: number) => ({
      fromMs: position * 1_000,
      toMs: (position + 1) * 1_000,
      total,
    });
    const path = histogramPath([bucket(0, 1), bucket(1, 0), bucket(2, 10_000)], window);
    const heights = [...path.matchAll(/M([\d.]+) 100V([\d.]+)H([\d.]+)/g)].map((match) => match.slice(1).map(Number));
    expect(heights).toEqual([
      [0, expect.any(Number), 333.3],
      [666.7, 0, 1_000],
    ]);
    expect(100 - (heights[0]?.[1] ?? 0)).toBeWithin(12, 30);
  });

  test("has labels at round local times, even across clock changes", () => {
    const labels = (window: Parameters<typeof ticksOf>[0], maxLabels: number) =>
      ticksOf(window, BERLIN, maxLabels)
        .map(({ label }) => label)
        .join(" ");
    const end = Date.parse("2026-03-30T10:00:00Z");
    expect(labels(windowEnding("hour", end), 6)).toBe("11:00 11:10 11:20 11:30 11:40 11:50 12:00");
    expect(labels(windowEnding("week", end), 8)).toBe("03-24 03-25 03-26 03-27 03-28 03-29 03-30");
    expect(labels(windowEnding("month", end), 6)).toBe("03-01 03-06 03-11 03-16 03-21 03-26");
    const years = windowBetween(Date.parse("2024-11-15T00:00:00Z"), end);
    expect(labels(years, 6)).toBe("2025 2025-04 2025-07 2025-10 2026");
    for (const { ms, label } of ticksOf(windowEnding("week", end), BERLIN, 8))
      expect(formatUtc(ms).slice(11, 16)).toBe(label > "03-29" ? "22:00" : "23:00");
  });

  test("has no more labels than fit, at any length", () => {
    for (let length = 5; length < 400 * 365 * 24 * HOUR; length *= 3)
      expect(ticksOf(windowBetween(0, length), BERLIN, 8).length).toBeLessThanOrEqual(11);
  });
});

describe("a throttle", () => {
  const createThrottle = () => {
    const passed: number[] = [];
    const waits: { ready: () => void; isStopped: boolean }[] = [];
    const throttle = new Throttle<number>(
      (value) => passed.push(value),
      (ready) => {
        const wait = { ready, isStopped: false };
        waits.push(wait);
        return () => (wait.isStopped = true);
      },
    );
    return { throttle, passed, waits };
  };

  test("passes the first immediately, then the newest of the rest", () => {
    const { throttle, passed, waits } = createThrottle();
    for (const value of [1, 2, 3, 4]) throttle.offer(value);
    expect(passed).toEqual([1]);
    waits[0]?.ready();
    expect(passed).toEqual([1, 4]);
    waits[1]?.ready();
    throttle.offer(5);
    expect(passed).toEqual([1, 4, 5]);
  });

  test("passes the pending one at its end, or drops it", () => {
    const { throttle, passed, waits } = createThrottle();
    for (const value of [1, 2]) throttle.offer(value);
    throttle.flush();
    expect(passed).toEqual([1, 2]);
    expect(waits.map(({ isStopped }) => isStopped)).toEqual([true]);
    for (const value of [3, 4]) throttle.offer(value);
    throttle.clear();
    throttle.offer(5);
    expect(passed).toEqual([1, 2, 3, 5]);
  });
});

describe("events of a stream", () => {
  const text =
    'retry: 3000\n\nevent: change\ndata: {"a":1}\n\n: still here\n\nevent: change\r\nid: 42-9f86d081\r\ndata: one\r\ndata: two\r\n\r\ndata: cut';
  const expectedEvents = [
    { type: "change", data: '{"a":1}', id: null },
    { type: "change", data: "one\ntwo", id: "42-9f86d081" },
  ];

  test("are delivered when complete, wherever the chunks are split", () => {
    for (let size = 1; size <= text.length; size++) {
      const reader = new EventReader();
      const events: StreamEvent[] = [];
      for (let start = 0; start < text.length; start += size)
        events.push(...reader.read(text.slice(start, start + size)));
      expect(events).toEqual(expectedEvents);
    }
  });
});

describe("a page's relevant changes", () => {
  const change: LiveChange = {
    sequence: 7,
    atMs: 0,
    type: "port",
    operation: "Created",
    id: "p",
    hostId: "h",
    networkId: "n",
  };

  test("are those of its kinds, host and network; organization-wide ones concern every page", () => {
    expect(matchesChange({}, change)).toBe(true);
    expect(matchesChange({ types: ["port"], host_id: "h", network_id: "n" }, change)).toBe(true);
    expect(matchesChange({ types: ["host"] }, change)).toBe(false);
    expect(matchesChange({ host_id: "other" }, change)).toBe(false);
    expect(matchesChange({ id: "h" }, change)).toBe(false);
    expect(matchesChange({ network_id: "other" }, change)).toBe(false);
    expect(matchesChange({ network_id: "other" }, { ...change, networkId: null })).toBe(true);
  });
});

describe.skipIf(!hasChromium)("the time bar", () => {
  const appliance = serveForAll(
    async ({ client }) => {
      for (const name of ["web-1", "web-2"]) await createHost(name);
      await client.post("markers", { name: "before the core upgrade" });
      for (const name of ["web-3", "web-4"]) await createHost(name);
    },
    { args: () => ["--host-name", LAN_NAME] },
  );

  async function createHost(name: string): Promise<void> {
    await appliance.client.post("hosts", { network_id: appliance.networkId, name, hidden: false, tags: [] });
  }

  /** Timestamps of all changes, oldest first. */
  async function changes(): Promise<string[]> {
    const { data } = await appliance.client.get("transactions?order_direction=asc");
    return data.map(({ at }: { at: string }) => at);
  }

  const atOf = (page: Page) => new URL(page.url()).searchParams.get("at");
  /** Shows all history. */
  async function showAll(page: Page): Promise<void> {
    const [first = ""] = await changes();
    const fold = page.getByRole("button", { name: "Other times" });
    await fold
      .or(page.getByRole("combobox", { name: "Range" }))
      .first()
      .waitFor();
    const folded = page.getByRole("button", { name: "Other times", expanded: false });
    if ((await folded.count()) > 0) await folded.click();
    await page.getByRole("combobox", { name: "Range" }).selectOption("all");
    await page
      .locator(`[role=slider][aria-valuemin="${Date.parse(first)}"]`)
      .first()
      .waitFor();
  }

  test("dragging shows past states live, and Back returns to the start of the drag", async () => {
    const { visitor, page } = await appliance.visitAs(OWNER, "/?q=web");
    await page.getByRole("list").getByText("web-4").first().waitFor();
    await showAll(page);
    const track = await page.locator(".track").boundingBox();
    if (track === null) throw new Error("no track found");
    const entries = await page.evaluate<number>("history.length");
    const y = track.y + track.height / 2;
    await page.mouse.move(track.x + track.width * 0.9, y);
    await page.mouse.down();
    const requestedUrls = visitor.requests();
    await page.mouse.move(track.x + 1, y, { steps: 60 });
    await page.getByRole("status").filter({ hasText: "As of" }).waitFor();
    await page.getByText("web-4").waitFor({ state: "detached" });
    await expectEventually(() => page.evaluate<number>("history.length"), entries);
    await page.mouse.up();
    await expectEventually(() => page.evaluate<number>("history.length"), entries + 1);
    const searches = requestedUrls.filter((url) => url.includes("/api/v1/search"));
    // Fewer than the pointer's moves, each for a distinct timestamp.
    expect(searches.length).toBeWithin(1, 60);
    expect(new Set(searches).size).toBe(searches.length);
    await page.goBack();
    await page.getByRole("list").getByText("web-4").first().waitFor();
    expect(page.url()).toBe(`${appliance.url}/?q=web`);
    expect(visitor.problems()).toEqual([]);
  });

  test("a page is compared with a marker, swapped, and the comparison ended", async () => {
    const { visitor, page } = await appliance.visitAs(OWNER, "/hosts?at=2026-03-01T02:12:00Z");
    await page.getByRole("button", { name: "Compare…" }).click();
    await page.getByRole("button", { name: "before the core upgrade" }).click();
    const comparison = page.getByRole("status").filter({ hasText: "Comparing" });
    await comparison.filter({ hasText: /A marker “before the core upgrade”.* with B 2026-03-01/ }).waitFor();
    await expectEventually(() => page.getByRole("slider", { name: "Compared with" }).count(), 1);
    const [comparedSlider, track] = [page.getByRole("slider", { name: "Compared with" }), page.locator(".track")];
    const [from, to] = [await comparedSlider.boundingBox(), await track.boundingBox()];
    if (from === null || to === null) throw new Error("no handle found");
    await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
    await page.mouse.down();
    await page.mouse.move(to.x + to.width / 4, to.y + to.height / 2, { steps: 10 });
    await page.mouse.up();
    await page.waitForURL(/at=2026-03-01T02:12:00Z&vs=2026-02-/);
    await page.goBack();
    await page.getByRole("link", { name: "Swap" }).click();
    await page.waitForURL(`${appliance.url}/hosts?at=marker:before+the+core+upgrade&vs=2026-03-01T02:12:00Z`);
    await page.getByRole("link", { name: "End comparison" }).click();
    await comparison.waitFor({ state: "detached" });
    // The focused control has disappeared: the focus moves to its neighbor.
    await expectEventually(() => page.evaluate<string>("document.activeElement.id"), "shown-instant");
    await page.getByRole("button", { name: "Compare…" }).click();
    await page.getByRole("button", { name: "Now", exact: true }).click();
    await page.waitForURL(`${appliance.url}/hosts?vs=marker:before+the+core+upgrade`);
    expect(visitor.problems()).toEqual([]);
  });

  test("printouts show the timestamp, in the reader's zone and in UTC, and the print time", async () => {
    const { visitor, page } = await appliance.visitAs(OWNER, "/hosts?at=2026-03-01T02:12:00Z", { timezoneId: BERLIN });
    await page.emulateMedia({ media: "print" });
    const band = page.getByRole("region", { name: "Time", exact: true });
    const output = () => page.evaluate<string>("document.querySelector('.band-said').innerText");
    await band.getByText("2026-03-01T02:12:00.000Z (UTC)").waitFor();
    expect(await output()).toContain("2026-03-01 03:12:00");
    await page.goto(`${appliance.url}/hosts`);
    await band.getByText("Z (UTC)").waitFor();
    expect(await output()).toMatch(/Now\s+(\d{4}-\d\d-\d\d) \d\d:\d\d:\d\d · \d{4}-\d\d-\d\dT/);
    await page.emulateMedia({ media: "screen" });
    expect(await output()).not.toContain("UTC");
    expect(visitor.problems()).toEqual([]);
  });

  test.each([1280, 800, 360])(
    "announces other users' changes without moving anything, and shows them on request: %i wide",
    async (width) => {
      const { visitor, page } = await appliance.visitAs(OWNER, "/hosts", { viewport: { width, height: 800 } });
      await page.getByText("web-4").first().waitFor();
      await page.getByText("live", { exact: true }).waitFor();
      const heading = page.getByRole("heading", { level: 1 });
      const before = await heading.boundingBox();
      await createHost(`by-others-1-${width}`);
      await createHost(`by-others-2-${width}`);
      await page.getByText(/^2 changes since \d\d:\d\d/).waitFor();
      expect(await page.getByText(`by-others-2-${width}`).count()).toBe(0);
      expect(await heading.boundingBox()).toEqual(before);
      await page.keyboard.press(".");
      await page.getByText(`by-others-2-${width}`).first().waitFor();
      expect(await page.getByText(/changes? since/).count()).toBe(0);
      // New markers are suggested immediately; changes of other kinds are not reported on this page.
      await appliance.client.post("markers", { name: `after ${width}` });
      await page.locator(`datalist option[value="marker:after ${width}"]`).waitFor({ state: "attached" });
      expect(await page.getByText(/changes? since/).count()).toBe(0);
      await page.keyboard.press("[");
      await page.getByRole("status").filter({ hasText: "As of" }).waitFor();
      expect(await heading.boundingBox()).toEqual(before);
      await page.goto(`${appliance.url}/hosts?at=2026-03-01T02:12:00Z`);
      await page.getByRole("status").filter({ hasText: "As of" }).waitFor();
      expect(await page.getByText("live", { exact: true }).count()).toBe(0);
      expect(visitor.problems()).toEqual([]);
    },
  );

  test("a page waiting for another timestamp is dimmed until the response arrives", async () => {
    const [, , , instant = ""] = await changes();
    const { visitor, page } = await appliance.visitAs(OWNER, "/hosts");
    const row = page.locator("main tbody").getByText("web-4");
    await row.first().waitFor();
    const gate = Promise.withResolvers<void>();
    await page.route("**/api/v1/hosts?*", async (route) => {
      if (route.request().url().includes("at=")) await gate.promise;
      return route.continue();
    });
    const field = page.getByLabel("Go to a time");
    await field.fill(instant);
    await field.press("Enter");
    await page.locator('main[aria-busy="true"]').waitFor();
    // The content stays in place, dimmed: it does not match the band.
    await expectEventually(() => row.first().isVisible(), true);
    await waitForDimming(page);
    await expectEventually(
      () => page.evaluate<string>("getComputedStyle(document.querySelector('main')).opacity"),
      "0.5",
    );
    gate.resolve();
    await row.first().waitFor({ state: "detached" });
    await page.unrouteAll({ behavior: "wait" });
    expect(visitor.problems()).toEqual([]);
  });

  test("a host page updates live, and [ steps through its own changes only", async () => {
    const core = { network_id: appliance.networkId, name: "core-1", hidden: false, tags: [] };
    const created = await appliance.client.post("hosts", core);
    const { visitor, page } = await appliance.visitAs(OWNER, `/hosts/${created.data.id}`);
    await page.getByRole("heading", { name: "core-1" }).waitFor();
    await page.getByText("live", { exact: true }).waitFor();
    await appliance.client.put(`hosts/${created.data.id}`, { ...created.data, name: "core-2" });
    await page.getByRole("heading", { name: "core-2" }).waitFor();
    await createHost("another");
    await page.keyboard.press("[");
    await page.getByRole("status").filter({ hasText: "As of" }).waitFor();
    await page.keyboard.press("[");
    await page.getByRole("heading", { name: "core-1" }).waitFor();
    expect(Date.parse(atOf(page) ?? "")).toBe(Date.parse(created.data.created_at));
    expect(visitor.problems()).toEqual([]);
  });

  test("all tabs of a browser share one stream; when its tab closes, another resumes it", async () => {
    const visitor = await Visitor.create(appliance.url);
    const streams = () => requestedUrls.filter((url) => url.includes("/api/v1/changes")).length;
    const requestedUrls = visitor.requests();
    const first = await visitor.signIn(OWNER, PASSWORD, "/hosts");
    await first.getByText("live", { exact: true }).waitFor();
    const second = await visitor.open("/hosts");
    await second.getByText("live", { exact: true }).waitFor();
    for (const page of [first, second]) await page.getByText("web-4").first().waitFor();
    await createHost("seen-by-both");
    for (const page of [first, second]) await page.getByText(/^1 change since/).waitFor();
    expect(streams()).toBe(1);
    await first.close();
    await createHost("seen-by-the-other");
    await second.getByText(/^2 changes since/).waitFor();
    expect(streams()).toBe(2);
    await second.getByRole("button", { name: /^Account/ }).click();
    await second.getByRole("button", { name: "Sign out" }).click();
    await second.getByLabel("Password").waitFor();
    expect(visitor.problems()).toEqual([]);
    await visitor.close();
  });

  test("after a restart of the appliance, no change is missed", async () => {
    const sandbox = new Sandbox();
    const { running, networkId, key } = await sandbox.serveSetUp();
    const listen = new URL(running.url).host;
    const visitor = await Visitor.create(running.url);
    const page = await visitor.signIn(OWNER, PASSWORD, "/hosts");
    await page.getByText("live", { exact: true }).waitFor();
    await page.getByRole("heading", { name: "Hosts" }).waitFor();
    await running.stop();
    await page.getByText("offline").waitFor();
    const restarted = await sandbox.serve([], { listen });
    await restarted.withKey(key).post("hosts", { network_id: networkId, name: "after", hidden: false, tags: [] });
    await page.getByText(/^1 change since/).waitFor();
    await page.getByText("live", { exact: true }).waitFor();
    // The browser's message about an unreachable host.
    expect(visitor.problems().filter((problem) => !problem.includes("net::ERR_"))).toEqual([]);
    await visitor.close();
    await sandbox.close();
  });

  test("over plain HTTP on a LAN, without locks, the visible tab still receives changes", async () => {
    const lanUrl = appliance.url.replace("127.0.0.1", LAN_NAME);
    const visitor = await Visitor.create(lanUrl);
    const page = await visitor.signIn(OWNER, PASSWORD, "/hosts");
    await expectEventually(() => page.evaluate<boolean>("navigator.locks === undefined"), true);
    await page.getByText("live", { exact: true }).waitFor();
    await page.getByText("web-4").first().waitFor();
    await createHost("seen-over-the-lan");
    await page.getByText(/^1 change since/).waitFor();
    expect(visitor.problems()).toEqual([]);
    await visitor.close();
  });

  test.each([
    [360, 640],
    [360, 780],
  ])(
    "leaves most of a phone's screen to content, %i by %i: lists begin in its top 28 percent",
    async (width, height) => {
      const { visitor, page } = await appliance.visitAs(OWNER, "/", { viewport: { width, height } });
      const [, , , instant = ""] = await changes();
      for (const path of ["/hosts", `/hosts?at=${instant}`]) {
        await follow(page, path);
        const row = page.locator("tbody tr:not(.spacer)").first();
        await row.waitFor();
        expect((await row.boundingBox())?.y ?? height).toBeLessThanOrEqual(height * 0.28);
      }
      expect(visitor.problems()).toEqual([]);
    },
  );

  test.each([
    [360, 640],
    [320, 568],
    [640, 360],
  ])("collapses to one line in a small window, %i by %i, and expands", async (width, height) => {
    const [, , , instant = ""] = await changes();
    const { visitor, page } = await appliance.visitAs(OWNER, `/hosts?at=${instant}`, { viewport: { width, height } });
    const bar = page.getByRole("region", { name: "Time", exact: true });
    const heading = page.getByRole("heading", { level: 1 });
    const output = page.getByRole("status").filter({ hasText: "As of" });
    await page.getByText("web-1").first().waitFor();
    expect((await bar.boundingBox())?.height).toBeLessThan(40);
    const before = await heading.boundingBox();
    // The whole line opens it, not only the button's icon.
    await output.click({ force: true });
    const fold = page.getByRole("button", { name: "Other times" });
    await expectEventually(() => fold.getAttribute("aria-expanded"), "true");
    for (const control of [
      page.getByRole("slider", { name: "Instant" }),
      page.getByRole("button", { name: "Previous change" }),
      page.getByRole("button", { name: "Compare…" }),
    ]) {
      const box = await control.boundingBox();
      expect(box !== null && box.x >= 0 && box.x + box.width <= width && box.y + box.height <= height).toBe(true);
    }
    // All comparison options are reachable, if necessary by scrolling.
    await page.getByRole("button", { name: "Compare…" }).click();
    const anotherInstant = page.locator("#compare").getByLabel("Other time");
    await anotherInstant.focus();
    const field = await anotherInstant.boundingBox();
    expect(field !== null && field.y >= 0 && field.y + field.height <= height).toBe(true);
    await page.keyboard.press("Escape");
    // By keyboard as well, without moving the content below.
    await fold.press("Enter");
    expect(await page.getByRole("slider", { name: "Instant" }).count()).toBe(0);
    expect(await heading.boundingBox()).toEqual(before);
    await page.keyboard.press("[");
    await page.waitForURL((url) => Date.parse(url.searchParams.get("at") ?? "") < Date.parse(instant));
    expect(await heading.boundingBox()).toEqual(before);
    // The focused control has disappeared: the focus moves to the button that opens the rest.
    await page.getByRole("link", { name: "Back to now" }).click();
    await output.waitFor({ state: "detached" });
    await expectEventually(() => page.evaluate<string>("document.activeElement.id"), "time-fold");
    expect(await heading.boundingBox()).toEqual(before);
    await page.keyboard.press("@");
    await page.keyboard.type("-1h");
    await page.keyboard.press("Enter");
    await output.waitFor();
    await page.getByRole("heading", { level: 1 }).focus();
    await page.keyboard.press("t");
    await page.waitForURL(`${appliance.url}/hosts`);
    await expectAccessibleWithin(page, "collapsed");
    expect(visitor.problems()).toEqual([]);
  });

  test.each(APPEARANCES)("is accessible without overflow: %s, %i pixels wide", async (colorScheme, width) => {
    const { visitor, page } = await appliance.visitAs(OWNER, "/", { colorScheme, viewport: { width, height: 740 } });
    for (const path of [
      "/",
      "/?at=marker:before the core upgrade&vs=2026-03-01T02:12:00Z",
      "/?at=2020-01-01T00:00:00Z",
    ]) {
      await page.goto(appliance.url + path);
      await showAll(page);
      await page.getByRole("button", { name: "Compare…" }).click();
      await expectAccessibleWithin(page, path);
    }
    await page.keyboard.press("Escape");
    await page.getByLabel("Range", { exact: true }).selectOption("custom");
    await page.getByRole("heading", { name: "Time range" }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.problems()).toEqual([]);
  });
});
