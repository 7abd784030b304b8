// States of record pages in Chromium, on the executable: loading, and under axe-core when failed or not yet created.
// Texts and requests are in record-states-in-process.test.ts.

import { beforeEach, describe, expect, test } from "bun:test";
import { accessibilityFindings, follow, hasChromium } from "../support/browser/browser.ts";
import {
  FAILED_REQUEST,
  FAILURES,
  failureAnswer,
  fillRecordPages,
  NOT_THERE,
  type RecordPage,
} from "../support/browser/record-pages.ts";
import { visitForAll } from "../support/browser/visit.ts";

describe.skipIf(!hasChromium)("a record page", () => {
  let records: readonly RecordPage[];
  const { appliance, visitor, page } = visitForAll(async ({ client, networkId }) => {
    records = await fillRecordPages(client, networkId);
  });

  beforeEach(async () => {
    await page.unrouteAll();
    visitor.troubles();
  });

  test("shows a loading notice after a delay, and the record in the same place", async () => {
    for (const [path, api, title] of records) {
      const { promise, resolve } = Promise.withResolvers<void>();
      await page.route(api, async (route) => {
        await promise;
        await route.continue();
      });
      await page.goto(appliance.url + path);
      // Not the placeholder shown while scripts load.
      await page.getByRole("main").getByRole("status").getByText("Loading…").waitFor();
      expect([path, await accessibilityFindings(page)]).toEqual([path, []]);
      const before = await page.locator("main h1").boundingBox();
      resolve();
      await page.getByRole("heading", { name: title, level: 1 }).waitFor();
      expect([path, (await page.locator("main h1").boundingBox())?.y]).toEqual([path, before?.y]);
      await page.unroute(api);
    }
    expect(visitor.troubles()).toEqual([]);
  });

  test("that fails is accessible, whatever the failure, and shows the record once answered", async () => {
    const [first, ...others] = FAILURES;
    for (const [path, api, title] of records) {
      let failure: (typeof FAILURES)[number] = first;
      await page.route(api, (route) => route.fulfill(failureAnswer(failure)));
      const isExplained = async () => {
        const problem = page.getByRole("alert").filter({ hasText: failure[2] }).first();
        await problem.getByText(`Request ${FAILED_REQUEST}`).waitFor();
        expect([path, failure[0], await accessibilityFindings(page)]).toEqual([path, failure[0], []]);
        return problem.getByRole("button", { name: "Try again" });
      };
      await follow(page, path);
      let again = await isExplained();
      for (failure of others) {
        await again.click();
        again = await isExplained();
      }
      await page.unroute(api);
      await again.click();
      await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    }
    expect(visitor.troubles().filter((each) => !FAILURES.some(([status]) => each.includes(String(status))))).toEqual(
      [],
    );
  });

  test("has its tabs in one line on a phone, with the selected one in view", async () => {
    const [path, , title] = records[0] ?? ["", "", ""];
    const small = await visitor.context.newPage();
    await small.setViewportSize({ width: 360, height: 640 });
    await small.goto(`${appliance.url}${path}?tab=history`);
    await small.getByRole("heading", { name: title, level: 1 }).waitFor();
    const shown = small.locator('.tabs a[aria-current="true"]');
    await shown.filter({ hasText: "History" }).waitFor();
    const [tab, row] = [await shown.boundingBox(), await small.locator(".tabs").boundingBox()];
    if (tab === null || row === null) throw new Error("there are no tabs");
    expect(row.height).toBeLessThan(2 * tab.height);
    expect([tab.x >= 0, tab.x + tab.width <= 360]).toEqual([true, true]);
    expect(await accessibilityFindings(small)).toEqual([]);
    expect(visitor.troubles()).toEqual([]);
    await small.close();
  });

  test("before the record's creation is accessible", async () => {
    for (const [path] of records) {
      await follow(page, `${path}?at=2020-01-01T00:00:00Z`);
      await page.getByRole("heading", { name: "did not exist yet" }).waitFor();
      expect([path, await accessibilityFindings(page)]).toEqual([path, []]);
    }
    expect(visitor.troubles().filter((each) => !NOT_THERE.test(each))).toEqual([]);
  });
});
