// Time-lapse map: its pure functions, and a week of the demo in Chromium on the executable.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import {
  diagramAt,
  momentFrom,
  momentsUntil,
  type PeriodAnswer,
  periodOf,
  sideOf,
  withinPeriod,
} from "../../src/console/map/period.ts";
import { sceneOf } from "../../src/console/map/scene.ts";
import { addressOfView, viewAt } from "../../src/console/map/viewport.ts";
import { closeBrowser, hasChromium, settles, Visitor } from "../support/browser/browser.ts";
import { ensureExecutable, type Running, Workplace } from "../support/executable/executable.ts";

const day = (number: number) => `2026-03-0${number}T00:00:00.000Z`;
const ms = (number: number) => Date.parse(day(number));

type Stays = readonly (readonly [from: number, to: number | null])[];

function intervalsOf(stays: Stays) {
  return stays.map(([from, to]) => ({ from: day(from), to: to === null ? null : day(to) }));
}

function answerOf(nodes: Readonly<Record<string, Stays>>, links: Readonly<Record<string, Stays>>): PeriodAnswer {
  return {
    from: day(1),
    to: null,
    truncated: false,
    next_from: null,
    nodes: Object.entries(nodes).map(([id, stays], index) => ({
      id,
      kind: "Known",
      name: id,
      sys_name: null,
      chassis_id: null,
      manufacturer: null,
      model: null,
      management_address: null,
      intervals: intervalsOf(stays),
      position: { x: index * 160, y: 0, placed: "layout" },
    })),
    links: Object.entries(links).map(([id, stays]) => ({
      id,
      protocol: "Lldp",
      certainty: "Interfaces",
      is_shared: false,
      ends: id.split("-").map((node_id) => ({
        node_id,
        if_entry: null,
        port: "Gi1",
        speed_bps: 1e9,
        oper_status: "Down" as const,
      })),
      speed_bps: 1e9,
      oper_status: "Down",
      group: id,
      parallel: 1,
      evidence: [],
      intervals: intervalsOf(stays),
    })),
  };
}

/** b exists throughout, a until the 3rd and again from the 5th, c from the 4th. */
const WEEK = answerOf(
  {
    a: [
      [1, 3],
      [5, null],
    ],
    b: [[1, null]],
    c: [[4, null]],
  },
  {
    "a-b": [
      [1, 3],
      [5, null],
    ],
    "b-c": [[4, null]],
  },
);

describe("a map period", () => {
  test("compares each instant with its start, and shows what is still to come", () => {
    const period = periodOf(WEEK);
    const at = (instant: number | null) =>
      Object.fromEntries(diagramAt(period, instant).links.map(({ id, presence }) => [id, presence]));
    expect(at(ms(1))).toEqual({ "a-b": "stayed", "b-c": "later" });
    expect(at(ms(3) - 1)).toEqual({ "a-b": "stayed", "b-c": "later" });
    expect(at(ms(3))).toEqual({ "a-b": "vanished", "b-c": "later" });
    expect(at(ms(4))).toEqual({ "a-b": "vanished", "b-c": "appeared" });
    expect(at(null)).toEqual({ "a-b": "stayed", "b-c": "appeared" });
  });

  test("does not draw future devices, nor a state of another time", () => {
    const options = { scale: 1, chosenId: null, way: new Set<string>(), found: null, widthOf: () => 20 };
    const scene = sceneOf(diagramAt(periodOf(WEEK), ms(3)), options);
    expect(scene.lines.map(({ id, tone, stroke }) => [id, tone, stroke])).toEqual([["a-b", "removed", "broken"]]);
    expect(scene.dots.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(scene.names.map(({ text }) => text).sort()).toEqual(["b", "− a"]);
    const [stayed] = sceneOf(diagramAt(periodOf(WEEK), ms(2)), options).lines;
    expect(stayed?.tone).toBe("line");
  });

  test("has a step for each instant of change, and none at its ends", () => {
    const period = periodOf(WEEK);
    expect(period.moments).toEqual([
      { ms: ms(3), appeared: [], vanished: ["a", "a-b"] },
      { ms: ms(4), appeared: ["c", "b-c"], vanished: [] },
      { ms: ms(5), appeared: ["a", "a-b"], vanished: [] },
    ]);
    expect([ms(2), ms(3), ms(9), null].map((each) => momentsUntil(period, each))).toEqual([0, 1, 3, 3]);
    expect(momentFrom(period, null, -1)?.ms).toBe(ms(5));
    expect(momentFrom(period, ms(5), -1)?.ms).toBe(ms(4));
    expect(momentFrom(period, ms(3), -1)).toBeNull();
    expect(momentFrom(period, ms(3), 1, 2)?.ms).toBe(ms(5));
    expect(momentFrom(period, ms(4), 1, 9)?.ms).toBe(ms(5));
    expect(momentFrom(period, ms(5), 1)).toBeNull();
  });

  test("ends where the answer was cut off, without extrapolating", () => {
    const cut = periodOf({ ...WEEK, to: day(9), truncated: true, next_from: day(4) });
    expect([ms(1) - 1, ms(2), ms(4), ms(4) + 1, null].map((each) => sideOf(cut, each))).toEqual([
      "before",
      "within",
      "within",
      "after",
      "after",
    ]);
    expect([ms(1) - 1, ms(2), ms(7), null].map((each) => withinPeriod(cut, each))).toEqual([
      ms(1),
      ms(2),
      ms(4) - 1,
      ms(4) - 1,
    ]);
    expect(sideOf(periodOf(WEEK), null)).toBe("within");
  });
});

describe("the part of a map in the URL", () => {
  test("has the same center and size in a window of any size", () => {
    const place = addressOfView({ x: 320, y: 110, scale: 0.8 }, { width: 800, height: 600 });
    expect(place).toBe("100,238,0.8");
    expect(viewAt(place, { width: 800, height: 600 })).toEqual({ x: 320, y: 300 - 238 * 0.8, scale: 0.8 });
    // With larger row distances, the same device is in the center.
    const tall = { x: 320, y: 300 - 238 * 0.8 * 2, scale: 0.8 };
    expect(viewAt(place, { width: 800, height: 600 }, 2)).toEqual(tall);
    expect(addressOfView(tall, { width: 800, height: 600 }, 2)).toBe(place);
    const small = viewAt(place, { width: 360, height: 300 });
    expect([small?.x, small?.scale]).toEqual([180 - 80, 0.8]);
  });

  test.each(["", "1,2", "a,b,c", "1,2,1e9", "1,2,3,4", "9".repeat(400)])("is the whole map for %p", (text) => {
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
  let workplace: Workplace;
  let demo: Running;
  let visitor: Visitor;
  /** The request as sent. */
  let sent: string;

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    demo = await workplace.serveDemo();
    visitor = await Visitor.arrive(demo.url, { timezoneId: "UTC" });
  });

  afterAll(async () => {
    await visitor.leave();
    await closeBrowser();
    await workplace.close();
  });

  const rows = (page: Page) => page.locator(".map-tables tbody tr").allTextContents();

  test("is dragged through: the replaced switch vanishes, the new one appears, without requests", async () => {
    const page = await visitor.signIn(OWNER, PASSWORD, "/map");
    await page.getByRole("link", { name: "Main campus" }).click();
    await page.getByRole("application").waitFor();
    await page.getByRole("button", { name: "Earlier" }).click();
    await page.getByRole("link", { name: "Time-lapse" }).click();
    await page.getByText("The instant is after the period").waitFor();
    await page.getByRole("link", { name: "Go to the end" }).click();
    await page.getByText("3 of 3 changes").waitFor();
    await page.getByRole("link", { name: /^\d+ links/ }).click();
    const asked = visitor.requests();
    const track = await page.locator(".track").boundingBox();
    if (track === null) throw new Error("no track");
    const y = track.y + track.height / 2;
    await page.mouse.move(track.x + track.width - 30, y);
    await page.mouse.down();
    await page.mouse.move(track.x + 20, y, { steps: 40 });
    await page.getByText("0 of 3 changes").waitFor();
    expect((await rows(page)).filter((row) => row.includes("still to come"))).toHaveLength(2);
    await page.mouse.move(track.x + track.width - 30, y, { steps: 40 });
    await page.mouse.up();
    await page.getByText("3 of 3 changes").waitFor();
    const told = await rows(page);
    expect(told.filter((row) => row.includes("acc-library-2") && row.includes("vanished"))).toHaveLength(2);
    expect(told.filter((row) => row.includes("acc-library-2") && row.includes("appeared"))).toHaveLength(1);
    expect(asked.filter((url) => url.includes("/api/v1/topology"))).toEqual([]);
    // One history entry, whatever the distance.
    await page.goBack();
    await page.getByText("3 of 3 changes").waitFor();
    sent = page.url();
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("is stepped through by keyboard, and a shared link shows the same part and step", async () => {
    const page = await visitor.open(`${new URL(sent).pathname}${new URL(sent).search}`);
    await page.getByText("3 of 3 changes").waitFor();
    // From the end to the last change, and on from there.
    await page.keyboard.press("p");
    for (const place of [2, 1]) {
      await page.keyboard.press("p");
      await page.getByText(`${place} of 3 changes`).waitFor();
    }
    await page.keyboard.press("n");
    await page.getByText("2 of 3 changes").waitFor();
    await page.keyboard.press("+");
    await page.waitForURL(/view=-?\d+,-?\d+,0\.\d+/);
    await page.getByRole("link", { name: "3 changes" }).click();
    const reached = page.locator(".map-tables tr:has([aria-current=step])");
    await settles(() => reached.textContent(), expect.stringMatching(/\+ acc-library-2 .*− acc-library-2 /));
    const told = await rows(page);
    const other = await Visitor.arrive(demo.url, { timezoneId: "UTC", viewport: { width: 700, height: 900 } });
    const theirs = await other.signIn("j.lund@larkfield.example", PASSWORD, "/");
    await theirs.goto(page.url());
    // The harbour is all that they see: the campus is none to them.
    await theirs.getByRole("heading", { name: "Network not found" }).waitFor();
    await other.leave();
    const member = await Visitor.arrive(demo.url, { timezoneId: "UTC", viewport: { width: 700, height: 900 } });
    const same = await member.signIn("t.berger@larkfield.example", PASSWORD, "/");
    await same.goto(page.url());
    await same.getByText("2 of 3 changes").waitFor();
    await settles(() => rows(same), told);
    expect(same.url()).toBe(page.url());
    await page.getByRole("button", { name: "Show all" }).click();
    await page.waitForURL((url) => !url.searchParams.has("view"));
    expect([member.troubles(), visitor.troubles()]).toEqual([[], []]);
    await member.leave();
    await page.close();
  });

  test("plays by itself, except with reduced motion", async () => {
    const page = await visitor.open(`${new URL(sent).pathname}${new URL(sent).search}`);
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
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });
});
