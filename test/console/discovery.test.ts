// Discovery and the ledger in Chromium, on the executable: scans as they run and what came of them, what is scanned
// when, what must not come back, and the head of the ledger to keep elsewhere.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Wire } from "../support/appliance/factories.ts";
import { accessibilityFindings, closeBrowser, hasChromium, settles, Visitor } from "../support/browser/browser.ts";
import { ensureExecutable, PASSWORD, type Running, type SetUp, Workplace } from "../support/executable/executable.ts";

const OWNER = "owner@acme.example";

describe.skipIf(!hasChromium)("discovery", () => {
  let workplace: Workplace;
  let appliance: SetUp & { readonly running: Running };
  let visitor: Visitor;
  let dryRun: Wire;
  let deleted: Wire;
  let data: (answer: Promise<{ status: number; body: Wire }>) => Promise<Wire>;
  let scan: (body: Wire, reason?: string) => Promise<Wire>;
  let cancel: (id: string) => Promise<unknown>;

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    const made = await workplace.serveSetUp();
    appliance = made;
    const { client, networkId } = made;
    data = async (answer) => {
      const { status, body } = await answer;
      if (status !== 200 && status !== 201) throw new Error(JSON.stringify(body));
      return body.data as Wire;
    };
    scan = (body, reason = "CHG-9: a look") =>
      data(
        client.post(
          "discovery/scans",
          { network_id: networkId, kind: "sweep", targets: ["127.0.0.1"], ...body },
          { "x-change-reason": reason },
        ),
      );
    cancel = (id) => client.post(`discovery/scans/${id}/cancel`, {});
    await data(
      client.post("discovery/schedules", {
        network_id: networkId,
        name: "<b>Every night</b>",
        cron: "30 2 * * *",
        timezone: "Europe/Berlin",
        kind: "full",
      }),
    );
    const found = await scan({ targets: ["127.0.0.9"] });
    // The stream ends with the scan.
    const stream = await fetch(`${made.running.url}/api/v1/discovery/scans/${found.id}/events`, {
      headers: { authorization: `Bearer ${made.key}` },
    });
    await stream.text();
    const host = (await client.get("hosts?search=127.0.0.9")).body.data[0];
    await client.delete(`hosts/${host.id}`);
    deleted = (await client.get("discovery/ignored")).body.data[0];
    dryRun = await scan({ commit: false });
    visitor = await Visitor.arrive(made.running.url);
  });

  afterAll(async () => {
    await visitor.leave();
    await closeBrowser();
    await workplace.close();
  });

  test("follows a dry run to its end, and reads what it would have written", async () => {
    const page = await visitor.signIn(OWNER, PASSWORD, `/discovery/${dryRun.id}`);
    await page.getByRole("heading", { name: "What came of it" }).waitFor();
    await page.getByText("A dry run: nothing was written.").waitFor();
    await page.getByText("Would be written").waitFor();
    await page.getByText("CHG-9: a look").waitFor();
    await page.getByRole("listitem").filter({ hasText: "Created" }).filter({ hasText: "127.0.0.1" }).first().waitFor();
    await page.getByLabel("Filter", { exact: true }).fill('label = "nobody"');
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("No findings match this filter.").waitFor();
    await page.getByRole("link", { name: "Remove the filter" }).click();
    await page.getByRole("link", { name: /^Created/ }).click();
    await page.getByText("Records that were not there before.").waitFor();
    // On paper there is what was found, and nothing that could be pressed.
    await page.emulateMedia({ media: "print" });
    await page.locator(".finding").first().waitFor();
    await settles(() => page.locator("nav:visible a:visible").allTextContents(), [expect.stringMatching(/^Created/)]);
    expect(await page.locator("button:visible, input:visible, select:visible").count()).toBe(0);
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("sees a scan wait for its turn, and that somebody cancelled it, without asking again", async () => {
    const first = await scan({ targets: ["127.0.0.0/20"], commit: false });
    const second = await scan({ commit: false }, "behind the other");
    const page = await visitor.open("/discovery");
    await page
      .getByRole("row", { name: /behind the other/ })
      .getByText("Queued")
      .waitFor();
    await page
      .getByRole("row", { name: /behind the other/ })
      .getByRole("link")
      .click();
    await page.getByText("It waits for its turn").waitFor();
    await cancel(second.id);
    await page.getByText("Cancelled").waitFor();
    await cancel(first.id);
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("says when a schedule runs next, of now alone, and what must not come back", async () => {
    const page = await visitor.open("/discovery/schedules");
    const row = page.getByRole("row", { name: /<b>Every night<\/b>/ });
    await row.getByText("30 2 * * *").waitFor();
    await row.locator("time").waitFor();
    await page.goto(`${appliance.running.url}/discovery/schedules?at=${dryRun.requested_at}`);
    await row.getByText("30 2 * * *").waitFor();
    expect(await page.getByRole("columnheader", { name: "Runs next" }).count()).toBe(0);
    await page.getByRole("link", { name: "Ignored" }).click();
    await page.getByRole("link", { name: deleted.label }).click();
    await page.getByText("127.0.0.9").first().waitFor();
    expect(page.url()).toContain(`/hosts/${deleted.record_id}?at=`);
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("gives the head of the ledger to keep elsewhere, and an Owner what the last verification said", async () => {
    const page = await visitor.open("/ledger");
    await page.getByText("None was made here yet.").waitFor();
    const { sequence, hash } = await data(appliance.running.withKey(appliance.key).get("ledger"));
    await page.getByRole("button", { name: `netledger verify --data DIR --head ${sequence}:${hash}` }).waitFor();
    await page.evaluate(`fetch("/api/v1/ledger/verifications", { method: "POST" })`);
    await page.reload();
    await page.getByText("Sound: nothing was found").waitFor();
    await page.getByText("the head", { exact: true }).waitFor();
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test.each(["light", "dark"] as const)("has nothing that axe-core finds, now and then: %s", async (colorScheme) => {
    const own = await Visitor.arrive(appliance.running.url, { colorScheme, viewport: { width: 360, height: 740 } });
    const page = await own.signIn(OWNER, PASSWORD, "/discovery");
    for (const [path, shown] of [
      ["/discovery", "table"],
      [`/discovery?at=${dryRun.requested_at}`, "table"],
      ["/discovery?at=2020-01-01T00:00:00Z", "text=There are no scans here."],
      [`/discovery/${dryRun.id}`, ".finding"],
      [`/discovery/${dryRun.id}?at=${dryRun.requested_at}`, ".facts"],
      ["/discovery/schedules", "table"],
      ["/discovery/ignored", "table"],
      ["/ledger", ".facts"],
    ] as const) {
      await page.goto(appliance.running.url + path);
      await page.locator("main").locator(shown).first().waitFor();
      expect([path, await accessibilityFindings(page)]).toEqual([path, []]);
      const beside = await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
      expect([path, beside <= 0]).toEqual([path, true]);
    }
    expect(own.troubles()).toEqual([]);
    await own.leave();
  });
});
