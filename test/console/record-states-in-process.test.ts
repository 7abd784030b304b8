// States of record pages in the test process: failed, out of reach, not yet created or deleted.

import { beforeEach, describe, expect, test } from "bun:test";
import {
  FAILED_REQUEST,
  FAILURES,
  failureAnswer,
  fillRecordPages,
  NOT_THERE,
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
    visitor.troubles();
  });

  test.each(FAILURES)(
    "answered %d explains the error, with the request id, and retries",
    async (status, code, error) => {
      for (const [path, api, title] of records) {
        await page.route(api, (route: Route) => route.fulfill(failureAnswer([status, code, error])));
        await page.goto(appliance.url + path);
        const problem = page.getByRole("alert").filter({ hasText: error }).first();
        await problem.getByText(`Request ${FAILED_REQUEST}`).waitFor();
        await page.unroute(api);
        await problem.getByRole("button", { name: "Try again" }).click();
        await page.getByRole("heading", { name: title, level: 1 }).waitFor();
      }
      expect(visitor.troubles().filter((each) => !each.includes(String(status)))).toEqual([]);
    },
  );

  test("answered by a proxy says it was not the appliance", async () => {
    const [path, api, title] = records[0] ?? ["", "", ""];
    const bad = { status: 502, contentType: "text/html", body: "<h1>Bad gateway</h1>" };
    await page.route(api, (route) => route.fulfill(bad));
    await page.goto(appliance.url + path);
    const problem = page.getByRole("alert").filter({ hasText: "A proxy in front of the appliance answered 502" });
    await problem.first().waitFor();
    await page.unroute(api);
    await problem.first().getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    expect(visitor.troubles().filter((each) => !each.includes("502"))).toEqual([]);
  });

  test("of another instant that fails does not keep showing the present one", async () => {
    const [path, api, title] = records[0] ?? ["", "", ""];
    await page.goto(appliance.url + path);
    await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    await page.route(api, (route) => (route.request().url().includes("at=") ? route.abort() : route.continue()));
    await page.keyboard.press("[");
    await page.getByText("The appliance did not answer.").first().waitFor();
    expect(await page.getByRole("heading", { name: title, level: 1 }).count()).toBe(0);
    await page.unroute(api);
    visitor.troubles();
  });

  test("out of reach looks like an unknown one", async () => {
    for (const [path, , title] of records) {
      const unknown = path.replace(/[^/]*$/, "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010");
      await page.goto(appliance.url + unknown);
      await page.getByText("have access to it.").waitFor();
      await page.goto(`${appliance.url}${path}?at=2020-01-01T00:00:00Z`);
      await page.getByRole("heading", { name: "did not exist yet" }).waitFor();
      await page.getByRole("link", { name: "Show it then" }).click();
      await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    }
    expect(visitor.troubles().filter((each) => !NOT_THERE.test(each))).toEqual([]);
  });
});
