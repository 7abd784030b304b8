// Discovery and ledger in Chromium, on the executable: running scans and their results, also printed, and the pages
// under axe-core. discovery-in-process.test.ts covers schedules, ignored records and the ledger head.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { expectAccessibleWithinInBoth, expectEventually, follow, hasChromium } from "../support/browser/browser.ts";
import { type Fill, visitForAll } from "../support/browser/visit.ts";

describe.skipIf(!hasChromium)("discovery", () => {
  let dryRun: JsonRecord;
  const fill: Fill = async ({ client, networkId, url, key }) => {
    const nightly = { name: "<b>Every night</b>", cron: "30 2 * * *", timezone: "Europe/Berlin", kind: "full" };
    await expectOk(client.post("discovery/schedules", { network_id: networkId, ...nightly }));
    const found = await scan({ targets: ["127.0.0.9"] });
    // The event stream ends with the scan.
    const headers = { authorization: `Bearer ${key}` };
    await (await fetch(`${url}/api/v1/discovery/scans/${found.id}/events`, { headers })).text();
    const host = (await client.get("hosts?search=127.0.0.9")).body.data[0];
    await client.delete(`hosts/${host.id}?ignore=true`);
    expect((await client.get("discovery/ignored")).body.data).toHaveLength(1);
    dryRun = await scan({ commit: false });
  };
  const { appliance, client, visitor, page } = visitForAll(fill, { path: "/discovery" });

  beforeEach(() => page.emulateMedia({ media: null }));
  afterEach(() => expect(visitor.problems()).toEqual([]));

  const scan = (body: JsonRecord, reason = "CHG-9: a look"): Promise<JsonRecord> => {
    const request = { network_id: appliance.networkId, kind: "sweep", targets: ["127.0.0.1"], ...body };
    return expectOk(client.post("discovery/scans", request, { "x-change-reason": reason }));
  };
  const cancel = (id: string) => client.post(`discovery/scans/${id}/cancel`, {});

  test("follows a dry run to completion, and shows its planned writes", async () => {
    await follow(page, `/discovery/${dryRun.id}`);
    await page.getByRole("heading", { name: "Result" }).waitFor();
    await page.getByText("Dry run – nothing was saved.").waitFor();
    await page.getByText("Would be written").waitFor();
    await page.getByText("CHG-9: a look").waitFor();
    await page.getByRole("listitem").filter({ hasText: "Created" }).filter({ hasText: "127.0.0.1" }).first().waitFor();
    await page.getByLabel("Filter", { exact: true }).fill('label = "nobody"');
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("No findings match this filter.").waitFor();
    await page.getByRole("link", { name: "Remove the filter" }).click();
    await page.getByRole("link", { name: /^Created/ }).click();
    await page.getByText("Records that did not exist before.").waitFor();
    // The printout has the findings, and no controls.
    await page.emulateMedia({ media: "print" });
    await page.locator(".finding").first().waitFor();
    await expectEventually(
      () => page.locator("nav:visible a:visible").allTextContents(),
      [expect.stringMatching(/^Created/)],
    );
    expect(await page.locator("button:visible, input:visible, select:visible").count()).toBe(0);
  });

  test("shows a scan waiting, and canceled by another user, without polling", async () => {
    const first = await scan({ targets: ["127.0.0.0/20"], commit: false });
    const second = await scan({ commit: false }, "behind the other");
    await follow(page, "/discovery");
    await page
      .getByRole("row", { name: /behind the other/ })
      .getByText("Queued")
      .waitFor();
    await page
      .getByRole("row", { name: /behind the other/ })
      .getByRole("link")
      .click();
    await page.getByText("Queued: scans").waitFor();
    await cancel(second.id);
    await page.getByText("Cancelled").waitFor();
    await cancel(first.id);
  });

  test("is accessible, now and in the past, in both color schemes", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.evaluate(`fetch("/api/v1/ledger/verifications", { method: "POST" })`);
    for (const [path, selector] of [
      ["/discovery", "table"],
      [`/discovery?at=${dryRun.requested_at}`, "table"],
      ["/discovery?at=2020-01-01T00:00:00Z", "text=No scans."],
      [`/discovery/${dryRun.id}`, ".finding"],
      [`/discovery/${dryRun.id}?at=${dryRun.requested_at}`, ".facts"],
      ["/discovery/schedules", "table"],
      ["/discovery/ignored", "table"],
      ["/ledger", "text=Ledger intact – no problems found"],
    ] as const) {
      await follow(page, path);
      await page.locator("main").locator(selector).first().waitFor();
      await expectAccessibleWithinInBoth(page, path);
    }
  });
});
