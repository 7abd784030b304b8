// Search: its pure functions, and its appearance in Chromium, on the executable. find-in-process.test.ts covers text,
// requests and state.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Route } from "playwright-core";
import { pageOfRequest } from "../../src/console/find/attention.ts";
import { locateTermOf } from "../../src/console/find/locate-term.ts";
import {
  type Interval,
  isAtInstant,
  isCutOff,
  locationIntervalsOf,
  spanAround,
} from "../../src/console/find/location-intervals.ts";
import {
  APPEARANCES,
  accessibilityFindings,
  expectAccessibleWithin,
  follow,
  hasChromium,
} from "../support/browser/browser.ts";
import { fillSearchFixture, MOVED_MAC, RUNNING_NAME } from "../support/browser/search-fixture.ts";
import { visitForAll } from "../support/browser/visit.ts";

describe("a query by its form", () => {
  test.each([
    "00:1b:21:AA:bb:cc",
    "00-1b-21-aa-bb-cc",
    "001b.21aa.bbcc",
    "001b-21aa-bbcc",
    "001B21AABBCC",
    "0:1b:21:aa:bb:cc",
    " 00 1b 21 aa bb cc ",
  ])("%s is a MAC address", (text) => {
    expect(locateTermOf(text)).toEqual({ by: "mac", value: "00:1b:21:aa:bb:cc" });
  });

  const ADDRESSES = "10.2.3.4 0.0.0.0 255.255.255.255 2001:db8::1 :: fe80::1b:21ff:feaa:bbcc ::ffff:10.2.3.4";
  test.each(ADDRESSES.split(" "))("%s is an IP address", (value) => {
    expect(locateTermOf(value)).toEqual({ by: "ip", value });
  });

  test.each(["web-1", "web-1.example.net", "Zürich Mitte", "1b21", "10.2.3.4.example", "مفتاح"])(
    "%s may be a host name",
    (value) => {
      expect(locateTermOf(value)).toEqual({ by: "hostname", value });
    },
  );

  test.each([
    "",
    " ",
    "120",
    "10.2.",
    "10.2.3.256",
    "010.2.3.4",
    "10.2.3.0/24",
    "VLAN 120",
    "gi1/0/7",
    "2001:db8::/32",
    "a\u0000b",
  ])("%j has no specific form", (text) => {
    expect(locateTermOf(text)).toBeNull();
  });

  test("cannot be longer than a name", () => {
    expect(locateTermOf("x".repeat(255))?.by).toBe("hostname");
    expect(locateTermOf("x".repeat(256))).toBeNull();
  });
});

describe("attention items", () => {
  test.each([
    [
      "/api/v1/if-entries?filter=changes%28oper_status%2C+%22-24h%22%29+%3E%3D+6",
      "/interfaces?filter=changes%28oper_status%2C+%22-24h%22%29+%3E%3D+6",
    ],
    ["/api/v1/hosts?filter=stale_since%3A*&network_id=7", "/hosts?filter=stale_since%3A*"],
    ["/api/v1/locate?mac=8c%3A16%3A45%3A31%3A4d%3A0e", "/?q=8c%3A16%3A45%3A31%3A4d%3A0e"],
    ["/api/v1/discovery/scans?status=Failed&network_id=7", "/discovery?filter=status+%3D+Failed"],
    ["/api/v1/discovery/scans/7/findings?type=Unreached", "/discovery/7?type=Unreached"],
    ["/api/v1/discovery/schedules?ids=7%2C8", "/discovery/schedules"],
    ["/api/v1/discovery/withheld?network_id=7", "/discovery/waiting"],
    ["/api/v1/no-such-list?status=Failed", null],
  ])("%s is shown at %j", (request, page) => {
    expect(pageOfRequest(request)).toBe(page);
  });
});

describe("location history", () => {
  const interval = (from: number, to: number | null, port: string) =>
    ({
      from: new Date(from).toISOString(),
      to: to === null ? null : new Date(to).toISOString(),
      switch: { id: "s", name: "s" },
      port: { id: port, name: port },
    }) as Interval;

  test("shows gaps where the location is unknown, and each location in one color", () => {
    const stays = locationIntervalsOf(
      [interval(1_000, 2_000, "a"), interval(2_000, 3_000, "b"), interval(5_000, null, "a")],
      9_000,
    );
    expect(stays.map(({ from, to, tone, isCurrent: holds }) => [from, to, tone, holds])).toEqual([
      [1_000, 2_000, 0, false],
      [2_000, 3_000, 1, false],
      [3_000, 5_000, -1, false],
      [5_000, 9_000, 0, true],
    ]);
    expect(stays.map((stay) => isAtInstant(stay, 2_000))).toEqual([false, true, false, false]);
    expect(stays.map((stay) => isAtInstant(stay, null))).toEqual([false, false, false, true]);
    expect(locationIntervalsOf([], 9_000)).toEqual([]);
  });

  test("ends with unknown if the location is no longer known", () => {
    const unlocated = { interval: null, from: 2_000, to: 9_000, isCurrent: true, tone: -1 };
    expect(locationIntervalsOf([interval(1_000, 2_000, "a")], 9_000).at(-1)).toEqual(unlocated);
  });

  test("that begins before the requested period has no start in it", () => {
    const span = { from: 1_000_000 };
    const cut = [1_000_000, 1_030_000, 1_090_000].map((from) => isCutOff({ from }, span));
    expect([cut, isCutOff({ from: 0 }, { from: null })]).toEqual([[true, true, false], false]);
  });

  test("covers the last month, a month around an older timestamp, or everything", () => {
    const day = 86_400_000;
    const now = 1_000.3 * day;
    expect(spanAround(null, now, false)).toEqual({ from: now - 30 * day, to: now, query: { from: "-30d" } });
    expect(spanAround(now - 14 * day, now, false)).toEqual(spanAround(null, now, false));
    const older = spanAround(now - 100 * day, now, false);
    expect([older.from, older.to]).toEqual([885 * day, 915 * day]);
    expect(older.query).toEqual({ from: "1972-06-04T00:00:00Z", to: "1972-07-04T00:00:00Z" });
    expect(spanAround(now - 15.5 * day, now, false).to).toBe(999 * day);
    expect(spanAround(now - 100 * day, now, true).query).toEqual({});
  });
});

describe.skipIf(!hasChromium)("locating", () => {
  let lastNight: string;
  const { visitor, page } = visitForAll(async ({ client, networkId, organizationId }) => {
    lastNight = await fillSearchFixture(client, networkId, organizationId);
  });

  beforeEach(() => page.unrouteAll());
  afterEach(() => expect(visitor.problems()).toEqual([]));

  test("is accessible on failure, and for a DHCP address", async () => {
    const queryUrls = /\/api\/v1\/(search|locate)/;
    const error = "The appliance is being restarted.";
    const body = { success: false, code: "internal_error", error, params: {}, meta: {} };
    const failing = [
      { respond: (route: Route) => route.fulfill({ status: 503, json: body }), message: error },
      { respond: (route: Route) => route.abort(), message: "The appliance did not respond." },
    ];
    for (const { respond, message } of failing) {
      await page.route(queryUrls, respond);
      await follow(page, "/?q=10.2.3.4");
      await page.getByRole("main").getByRole("alert").filter({ hasText: message }).waitFor();
      expect([message, await accessibilityFindings(page)]).toEqual([message, []]);
      await page.unroute(queryUrls);
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByRole("region", { name: "Where it is" }).getByRole("link", { name: "laptop-7" }).first().waitFor();
      await follow(page, "/?q=10.2.3.200");
      await page.getByText("Assigned by DHCP (Clients) in 10.2.3.0/24 Lab").waitFor();
    }
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.problems().filter((problem) => !/net::ERR_|50[03]/.test(problem))).toEqual([]);
  });

  test("shows hostile, right-to-left and overlong names safely", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await follow(page, "/?q=document.title");
    await page.locator(".hits").getByText(RUNNING_NAME).waitFor();
    expect(await page.title()).toBe("document.title · netledger");
    const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
    expect(overflow).toBeLessThanOrEqual(0);
    await follow(page, `/?q=${encodeURIComponent("<script>")}`);
    await page.locator(".hits").getByText(RUNNING_NAME).waitFor();
  });

  test.each(APPEARANCES)("is accessible, now and in the past: %s, %i pixels wide", async (colorScheme, width) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 740 });
    const searchPaths = [`/?q=${MOVED_MAC}`, `/?q=${MOVED_MAC}&at=${lastNight}`, "/?q=twin", "/?q=10.99.0.1"];
    for (const path of [...searchPaths, "/", `/?at=${lastNight}`, "/?at=2020-01-01T00:00:00Z"]) {
      await follow(page, path);
      await page.locator(".hits, .start").first().waitFor();
      if (searchPaths.includes(path)) await page.locator(".locate").waitFor();
      // Those opened on an earlier page may still be open.
      for (const details of await page.locator(".locate details").all())
        if ((await details.getAttribute("open")) === null) await details.locator(":scope > summary").click();
      expect([path, await page.locator(".locate details:not([open])").count()]).toEqual([path, 0]);
      await expectAccessibleWithin(page, path);
    }
  });
});
