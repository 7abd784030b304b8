// States of record pages in the test process: failed, out of reach, not yet created or deleted.

import { beforeEach, describe, expect, test } from "bun:test";
import {
  FAILED_REQUEST,
  FAILURES,
  failureResponse,
  fillRecordPages,
  MISSING_RECORD,
  type RecordPage,
} from "../support/browser/record-pages.ts";
import type { Route } from "../support/page/network.ts";
import { visitForAll } from "../support/page/visit.ts";

describe("a record page", () => {
  let records: readonly RecordPage[];
  const { appliance, visitor, page } = visitForAll(async ({ client, networkId }) => {
    records = await fillRecordPages(client, networkId);
  });

  beforeEach(async () => {
    await page.unrouteAll();
    visitor.problems();
  });

  test.each(FAILURES)("explains a %d response with the request id, and retries", async (status, code, error) => {
    for (const [path, api, title] of records) {
      await page.route(api, (route: Route) => route.fulfill(failureResponse([status, code, error])));
      await page.goto(appliance.url + path);
      const problem = page.getByRole("alert").filter({ hasText: error }).first();
      await problem.getByText(`Request ${FAILED_REQUEST}`).waitFor();
      await page.unroute(api);
      await problem.getByRole("button", { name: "Try again" }).click();
      await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    }
    expect(visitor.problems().filter((problem) => !problem.includes(String(status)))).toEqual([]);
  });

  test("attributes a proxy's error page to the proxy", async () => {
    const [path, api, title] = records[0] ?? ["", "", ""];
    const bad = { status: 502, contentType: "text/html", body: "<h1>Bad gateway</h1>" };
    await page.route(api, (route) => route.fulfill(bad));
    await page.goto(appliance.url + path);
    const problem = page.getByRole("alert").filter({ hasText: "A proxy in front of the appliance returned 502" });
    await problem.first().waitFor();
    await page.unroute(api);
    await problem.first().getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    expect(visitor.problems().filter((problem) => !problem.includes("502"))).toEqual([]);
  });

  test("stops showing the current record if loading another timestamp fails", async () => {
    const [path, api, title] = records[0] ?? ["", "", ""];
    await page.goto(appliance.url + path);
    await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    await page.route(api, (route) => (route.request().url().includes("at=") ? route.abort() : route.continue()));
    await page.keyboard.press("[");
    await page.getByText("The appliance did not respond.").first().waitFor();
    expect(await page.getByRole("heading", { name: title, level: 1 }).count()).toBe(0);
    await page.unroute(api);
    visitor.problems();
  });

  test("reports an unknown id, and links from an earlier time to the creation", async () => {
    for (const [path, , title] of records) {
      const unknown = path.replace(/[^/]*$/, "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010");
      await page.goto(appliance.url + unknown);
      await page.getByText("have access to it.").waitFor();
      await page.goto(`${appliance.url}${path}?at=2020-01-01T00:00:00Z`);
      await page.getByRole("heading", { name: "did not exist yet" }).waitFor();
      await page.getByRole("link", { name: "Show at that time" }).click();
      await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    }
    expect(visitor.problems().filter((problem) => !MISSING_RECORD.test(problem))).toEqual([]);
  });
});
