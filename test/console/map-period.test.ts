// Time-lapse map: its pure functions, and a week of the demo in Chromium on the executable.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import {
  diagramAt,
  momentFrom,
  momentsUntil,
  type PeriodResponse,
  periodOf,
  sideOf,
  withinPeriod,
} from "../../src/console/map/period.ts";
import { sceneOf } from "../../src/console/map/scene.ts";
import { viewAt, viewParameter } from "../../src/console/map/viewport.ts";
import { closeBrowser, expectEventually, hasChromium, Visitor } from "../support/browser/browser.ts";
import { ensureExecutable, type Running, Sandbox } from "../support/executable/executable.ts";
import { drawnLink, drawnNode } from "../support/topology/drawn.ts";

const day = (number: number | string) => `2026-03-0${number}T00:00:00.000Z`;
const ms = (number: number) => Date.parse(day(number));

/** @param days from and to, as in `1-3 5-` */
function intervalsOf(days: string) {
  return days.split(" ").map((range) => {
    const [from = "", to = ""] = range.split("-");
    return { from: day(from), to: to === "" ? null : day(to) };
  });
}

/** b exists throughout, a until the 3rd and again from the 5th, c from the 4th. */
const WEEK: PeriodResponse = {
  from: day(1),
  to: null,
  truncated: false,
  next_from: null,
  nodes: Object.entries({ a: "1-3 5-", b: "1-", c: "4-" }).map(([id, days], index) => ({
    ...drawnNode(id, index * 160),
    intervals: intervalsOf(days),
  })),
  links: Object.entries({ "a-b": "1-3 5-", "b-c": "4-" }).map(([id, days]) => ({
    ...drawnLink(id, id.split("-"), "Gi1", "Down"),
    intervals: intervalsOf(days),
  })),
};

describe("a map period", () => {
  test("compares each timestamp with its start, and shows later additions", () => {
    const period = periodOf(WEEK);
    const presencesAt = (instant: number | null) =>
      Object.fromEntries(diagramAt(period, instant).links.map(({ id, presence }) => [id, presence]));
    expect(presencesAt(ms(1))).toEqual({ "a-b": "stayed", "b-c": "later" });
    expect(presencesAt(ms(3) - 1)).toEqual({ "a-b": "stayed", "b-c": "later" });
    expect(presencesAt(ms(3))).toEqual({ "a-b": "vanished", "b-c": "later" });
    expect(presencesAt(ms(4))).toEqual({ "a-b": "vanished", "b-c": "appeared" });
    expect(presencesAt(null)).toEqual({ "a-b": "stayed", "b-c": "appeared" });
  });

  test("draws neither future devices nor the state at another time", () => {
    const options = { scale: 1, selectedId: null, path: new Set<string>(), found: null, widthOf: () => 20 };
    const scene = sceneOf(diagramAt(periodOf(WEEK), ms(3)), options);
    expect(scene.lines.map(({ id, tone, stroke }) => [id, tone, stroke])).toEqual([["a-b", "removed", "dashed"]]);
    expect(scene.dots.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(scene.names.map(({ text }) => text).sort()).toEqual(["b", "− a"]);
    const [stayed] = sceneOf(diagramAt(periodOf(WEEK), ms(2)), options).lines;
    expect(stayed?.tone).toBe("line");
  });

  test("has a step for each time of change, and none at its ends", () => {
    const period = periodOf(WEEK);
    expect(period.moments).toEqual([
      { ms: ms(3), appeared: [], vanished: ["a", "a-b"] },
      { ms: ms(4), appeared: ["c", "b-c"], vanished: [] },
      { ms: ms(5), appeared: ["a", "a-b"], vanished: [] },
    ]);
    expect([ms(2), ms(3), ms(9), null].map((end) => momentsUntil(period, end))).toEqual([0, 1, 3, 3]);
    expect(momentFrom(period, null, -1)?.ms).toBe(ms(5));
    expect(momentFrom(period, ms(5), -1)?.ms).toBe(ms(4));
    expect(momentFrom(period, ms(3), -1)).toBeNull();
    expect(momentFrom(period, ms(3), 1, 2)?.ms).toBe(ms(5));
    expect(momentFrom(period, ms(4), 1, 9)?.ms).toBe(ms(5));
    expect(momentFrom(period, ms(5), 1)).toBeNull();
  });

  test("ends where the response was cut off, without extrapolating", () => {
    const cut = periodOf({ ...WEEK, to: day(9), truncated: true, next_from: day(4) });
    const sides = [ms(1) - 1, ms(2), ms(4), ms(4) + 1, null].map((instant) => sideOf(cut, instant));
    expect(sides.join(" ")).toBe("before within within after after");
    const clamped = [ms(1) - 1, ms(2), ms(7), null].map((instant) => withinPeriod(cut, instant));
    expect(clamped).toEqual([ms(1), ms(2), ms(4) - 1, ms(4) - 1]);
    expect(sideOf(periodOf(WEEK), null)).toBe("within");
  });
});

describe("the part of a map in the URL", () => {
  test("has the same center and size in a window of any size", () => {
    const position = viewParameter({ x: 320, y: 110, scale: 0.8 }, { width: 800, height: 600 });
    expect(position).toBe("100,238,0.8");
    expect(viewAt(position, { width: 800, height: 600 })).toEqual({ x: 320, y: 300 - 238 * 0.8, scale: 0.8 });
    // With larger row distances, the same device is in the center.
    const tall = { x: 320, y: 300 - 238 * 0.8 * 2, scale: 0.8 };
    expect(viewAt(position, { width: 800, height: 600 }, 2)).toEqual(tall);
    expect(viewParameter(tall, { width: 800, height: 600 }, 2)).toBe(position);
    const small = viewAt(position, { width: 360, height: 300 });
    expect([small?.x, small?.scale]).toEqual([180 - 80, 0.8]);
  });

  test.each(["", "1,2", "a,b,c", "1,2,1e9", "1,2,3,4", "9".repeat(400)])("is the entire map for %p", (text) => {
    expect(viewAt(text, { width: 800, height: 600 })).toBeNull();
  });

  test("is limited to the zoom range", () => {
    expect(viewAt("0,0,999", { width: 800, height: 600 })?.scale).toBe(4);
    expect(viewAt("0,0,0.000001", { width: 800, height: 600 })?.scale).toBe(0.01);
  });
});

const OWNER = "demo@larkfield.example";
const PASSWORD = "look-around";

describe.skipIf(!hasChromium)("a week of the demo on the map", () => {
  let sandbox: Sandbox;
  let demo: Running;
  let visitor: Visitor;
  /** URL of the time-lapse. */
  let savedUrl: string;

  beforeAll(async () => {
    ensureExecutable();
    sandbox = new Sandbox();
    demo = await sandbox.serveDemo();
    visitor = await Visitor.create(demo.url, { timezoneId: "UTC" });
  });

  afterAll(async () => {
    await visitor.close();
    await closeBrowser();
    await sandbox.close();
  });

  const rows = (page: Page) => page.locator(".map-tables tbody tr").allTextContents();

  test("is dragged through: the replaced switch disappears, the new one appears, without requests", async () => {
    const page = await visitor.signIn(OWNER, PASSWORD, "/map");
    await page.getByRole("link", { name: "Main campus" }).click();
    await page.getByRole("application").waitFor();
    await page.getByRole("button", { name: "Earlier" }).click();
    await page.getByRole("link", { name: "Time-lapse" }).click();
    await page.getByText("The selected time is after the period").waitFor();
    await page.getByRole("link", { name: "Go to the end" }).click();
    await page.getByText("3 of 3 changes").waitFor();
    await page.getByRole("link", { name: /^\d+ links/ }).click();
    const requestedUrls = visitor.requests();
    const track = await page.locator(".track").boundingBox();
    if (track === null) throw new Error("no track");
    const y = track.y + track.height / 2;
    await page.mouse.move(track.x + track.width - 30, y);
    await page.mouse.down();
    await page.mouse.move(track.x + 20, y, { steps: 40 });
    await page.getByText("0 of 3 changes").waitFor();
    expect((await rows(page)).filter((row) => row.includes("appears later"))).toHaveLength(2);
    await page.mouse.move(track.x + track.width - 30, y, { steps: 40 });
    await page.mouse.up();
    await page.getByText("3 of 3 changes").waitFor();
    const rowTexts = await rows(page);
    expect(rowTexts.filter((row) => row.includes("acc-library-2") && row.includes("vanished"))).toHaveLength(2);
    expect(rowTexts.filter((row) => row.includes("acc-library-2") && row.includes("appeared"))).toHaveLength(1);
    expect(requestedUrls.filter((url) => url.includes("/api/v1/topology"))).toEqual([]);
    // One history entry, regardless of the distance.
    await page.goBack();
    await page.getByText("3 of 3 changes").waitFor();
    savedUrl = page.url();
    expect(visitor.problems()).toEqual([]);
    await page.close();
  });

  test("is stepped through by keyboard, and a shared link shows the same part and step", async () => {
    const page = await visitor.open(`${new URL(savedUrl).pathname}${new URL(savedUrl).search}`);
    await page.getByText("3 of 3 changes").waitFor();
    // From the end to the last change, and on from there.
    await page.keyboard.press("p");
    for (const position of [2, 1]) {
      await page.keyboard.press("p");
      await page.getByText(`${position} of 3 changes`).waitFor();
    }
    await page.keyboard.press("n");
    await page.getByText("2 of 3 changes").waitFor();
    await page.keyboard.press("+");
    await page.waitForURL(/view=-?\d+,-?\d+,0\.\d+/);
    await page.getByRole("link", { name: "3 changes" }).click();
    const currentStep = page.locator(".map-tables tr:has([aria-current=step])");
    await expectEventually(
      () => currentStep.textContent(),
      expect.stringMatching(/\+ acc-library-2 .*− acc-library-2 /),
    );
    const rowTexts = await rows(page);
    const limitedMember = await Visitor.create(demo.url, { timezoneId: "UTC", viewport: { width: 700, height: 900 } });
    const memberPage = await limitedMember.signIn("j.lund@larkfield.example", PASSWORD, "/");
    await memberPage.goto(page.url());
    // This user reaches only the harbor network, not the campus.
    await memberPage.getByRole("heading", { name: "Network not found" }).waitFor();
    await limitedMember.close();
    const member = await Visitor.create(demo.url, { timezoneId: "UTC", viewport: { width: 700, height: 900 } });
    const otherPage = await member.signIn("t.berger@larkfield.example", PASSWORD, "/");
    await otherPage.goto(page.url());
    await otherPage.getByText("2 of 3 changes").waitFor();
    await expectEventually(() => rows(otherPage), rowTexts);
    expect(otherPage.url()).toBe(page.url());
    await page.getByRole("button", { name: "Show all" }).click();
    await page.waitForURL((url) => !url.searchParams.has("view"));
    expect([member.problems(), visitor.problems()]).toEqual([[], []]);
    await member.close();
    await page.close();
  });

  test("plays by itself, except with reduced motion", async () => {
    const page = await visitor.open(`${new URL(savedUrl).pathname}${new URL(savedUrl).search}`);
    await page.getByText("3 of 3 changes").waitFor();
    // The waits start beforehand: each text is shown for less than a second.
    const steps = ["0 of 3 changes", "1 of 3 changes", "2 of 3 changes"].map((step) => page.getByText(step).waitFor());
    const pause = page.getByRole("button", { name: "Pause" }).waitFor();
    await page.getByRole("button", { name: "Play" }).click();
    await Promise.all([pause, ...steps]);
    await page.getByRole("button", { name: "Play" }).waitFor();
    await page.getByText("3 of 3 changes").waitFor();
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.reload();
    await page.getByText("of 3 changes").waitFor();
    expect(await page.getByRole("button", { name: "Play" }).count()).toBe(0);
    await page.keyboard.press("p");
    await page.keyboard.press("p");
    await page.getByText("2 of 3 changes").waitFor();
    expect(visitor.problems()).toEqual([]);
    await page.close();
  });
});
