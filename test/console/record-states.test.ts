// States of record pages in Chromium, on the executable: loading, and under axe-core when failed or not yet created.
// record-states-in-process.test.ts covers text and requests.

import { beforeEach, describe, expect, test } from "bun:test";
import { accessibilityFindings, follow, hasChromium } from "../support/browser/browser.ts";
import {
  FAILED_REQUEST,
  FAILURES,
  failureResponse,
  fillRecordPages,
  MISSING_RECORD,
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
    visitor.problems();
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
    expect(visitor.problems()).toEqual([]);
  });

  test("is accessible for every failure, and shows the record after a retry", async () => {
    const [first, ...others] = FAILURES;
    for (const [path, api, title] of records) {
      let failure: (typeof FAILURES)[number] = first;
      await page.route(api, (route) => route.fulfill(failureResponse(failure)));
      const expectExplanation = async () => {
        const problem = page.getByRole("alert").filter({ hasText: failure[2] }).first();
        await problem.getByText(`Request ${FAILED_REQUEST}`).waitFor();
        expect([path, failure[0], await accessibilityFindings(page)]).toEqual([path, failure[0], []]);
        return problem.getByRole("button", { name: "Try again" });
      };
      await follow(page, path);
      let retry = await expectExplanation();
      for (failure of others) {
        await retry.click();
        retry = await expectExplanation();
      }
      await page.unroute(api);
      await retry.click();
      await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    }
    const isExpected = (problem: string) => FAILURES.some(([status]) => problem.includes(String(status)));
    expect(visitor.problems().filter((problem) => !isExpected(problem))).toEqual([]);
  });

  test("keeps its tabs on one line on a phone, with the selected one in view", async () => {
    const [path, , title] = records[0] ?? ["", "", ""];
    const phonePage = await visitor.context.newPage();
    await phonePage.setViewportSize({ width: 360, height: 640 });
    await phonePage.goto(`${appliance.url}${path}?tab=history`);
    await phonePage.getByRole("heading", { name: title, level: 1 }).waitFor();
    const selectedTab = phonePage.locator('.tabs a[aria-current="true"]');
    await selectedTab.filter({ hasText: "History" }).waitFor();
    const [tab, row] = [await selectedTab.boundingBox(), await phonePage.locator(".tabs").boundingBox()];
    if (tab === null || row === null) throw new Error("no tabs found");
    expect(row.height).toBeLessThan(2 * tab.height);
    expect([tab.x >= 0, tab.x + tab.width <= 360]).toEqual([true, true]);
    expect(await accessibilityFindings(phonePage)).toEqual([]);
    expect(visitor.problems()).toEqual([]);
  });

  test("is accessible at a time before the record's creation", async () => {
    for (const [path] of records) {
      await follow(page, `${path}?at=2020-01-01T00:00:00Z`);
      await page.getByRole("heading", { name: "did not exist yet" }).waitFor();
      expect([path, await accessibilityFindings(page)]).toEqual([path, []]);
    }
    expect(visitor.problems().filter((problem) => !MISSING_RECORD.test(problem))).toEqual([]);
  });
});
