// Discovery and ledger in Chromium, on the executable: running scans and their results, also printed, and the pages
// under axe-core. Schedules, ignored records and the ledger head are in discovery-in-process.test.ts.

import { beforeEach, describe, expect, test } from "bun:test";
import { made, type Wire } from "../support/appliance/factories.ts";
import { accessibilityFindings, follow, hasChromium, settles } from "../support/browser/browser.ts";
import { type Fill, visitForAll } from "../support/browser/visit.ts";

describe.skipIf(!hasChromium)("discovery", () => {
  let dryRun: Wire;
  const fill: Fill = async ({ client, networkId, url, key }) => {
    const nightly = { name: "<b>Every night</b>", cron: "30 2 * * *", timezone: "Europe/Berlin", kind: "full" };
    await made(client.post("discovery/schedules", { network_id: networkId, ...nightly }));
    const found = await scan({ targets: ["127.0.0.9"] });
    // The event stream ends with the scan.
    const headers = { authorization: `Bearer ${key}` };
    await (await fetch(`${url}/api/v1/discovery/scans/${found.id}/events`, { headers })).text();
    const host = (await client.get("hosts?search=127.0.0.9")).body.data[0];
    await client.delete(`hosts/${host.id}`);
    expect((await client.get("discovery/ignored")).body.data).toHaveLength(1);
    dryRun = await scan({ commit: false });
  };
  const { appliance, client, visitor, page } = visitForAll(fill, { path: "/discovery" });

  beforeEach(async () => {
    visitor.troubles();
    await page.emulateMedia({ media: null });
  });

  const scan = (body: Wire, reason = "CHG-9: a look"): Promise<Wire> => {
    const asked = { network_id: appliance.networkId, kind: "sweep", targets: ["127.0.0.1"], ...body };
    return made(client.post("discovery/scans", asked, { "x-change-reason": reason }));
  };
  const cancel = (id: string) => client.post(`discovery/scans/${id}/cancel`, {});

  test("follows a dry run to its end, and shows its planned writes", async () => {
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
    await page.getByText("Records that were not there before.").waitFor();
    // The printout has the findings, and no controls.
    await page.emulateMedia({ media: "print" });
    await page.locator(".finding").first().waitFor();
    await settles(() => page.locator("nav:visible a:visible").allTextContents(), [expect.stringMatching(/^Created/)]);
    expect(await page.locator("button:visible, input:visible, select:visible").count()).toBe(0);
    expect(visitor.troubles()).toEqual([]);
  });

  test("shows a scan waiting, and cancelled by another user, without polling", async () => {
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
    expect(visitor.troubles()).toEqual([]);
  });

  test("is accessible, at present and in the past, in both color schemes", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.evaluate(`fetch("/api/v1/ledger/verifications", { method: "POST" })`);
    for (const [path, shown] of [
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
      await page.locator("main").locator(shown).first().waitFor();
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        expect([path, colorScheme, await accessibilityFindings(page)]).toEqual([path, colorScheme, []]);
        const beside = await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
        expect([path, colorScheme, beside <= 0]).toEqual([path, colorScheme, true]);
      }
    }
    expect(visitor.troubles()).toEqual([]);
  });
});
