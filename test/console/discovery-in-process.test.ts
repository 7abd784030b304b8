// Discovery and ledger in the test process: schedules, ignored records, and the ledger head to store externally.

import { describe, expect, test } from "bun:test";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { DiscoveryClient } from "../support/executable/discovery-client.ts";
import { visitForAll } from "../support/page/visit.ts";

describe("discovery", () => {
  let dryRun: JsonRecord;
  let deleted: JsonRecord;
  const { appliance, client, visitor, page } = visitForAll(
    async ({ client, networkId, organizationId, testAppliance: inside }) => {
      const discovery = new DiscoveryClient(client, organizationId);
      const request = { network_id: networkId, kind: "sweep" };
      const nightly = { name: "<b>Every night</b>", cron: "30 2 * * *", timezone: "Europe/Berlin", kind: "full" };
      await expectOk(client.post("discovery/schedules", { network_id: networkId, ...nightly }));
      inside.probes.alive.set("127.0.0.9", {});
      await discovery.waitForEnd((await discovery.start({ ...request, targets: ["127.0.0.9"] })).id);
      const [host] = (await expectOk(client.get("hosts?search=127.0.0.9"))) as unknown as [JsonRecord];
      await expectOk(client.delete(`hosts/${host.id}?ignore=true`));
      [deleted] = (await expectOk(client.get("discovery/ignored"))) as unknown as [JsonRecord];
      dryRun = await expectOk(client.post("discovery/scans", { ...request, targets: ["127.0.0.1"], commit: false }));
    },
  );

  test("shows the next run of a schedule, now only, and ignored entries", async () => {
    await page.goto(`${appliance.url}/discovery/schedules`);
    const row = page.getByRole("row", { name: /<b>Every night<\/b>/ });
    await row.getByText("30 2 * * *").waitFor();
    await row.locator("time").waitFor();
    await page.goto(`${appliance.url}/discovery/schedules?at=${dryRun.requested_at}`);
    await row.getByText("30 2 * * *").waitFor();
    expect(await page.getByRole("columnheader", { name: "Runs next" }).count()).toBe(0);
    await page.getByRole("link", { name: "Ignored" }).click();
    await page.getByRole("link", { name: deleted.label }).click();
    await page.getByText("127.0.0.9").first().waitFor();
    expect(page.url()).toContain(`/hosts/${deleted.record_id}?at=`);
    expect(visitor.problems()).toEqual([]);
  });

  test("has scans ignore a deleted record from its page, and undoes that", async () => {
    await expectOk(client.delete(`discovery/ignored/${deleted.id}`));
    await page.goto(`${appliance.url}/hosts/${deleted.record_id}`);
    await page.getByRole("button", { name: "Ignore in scans…" }).click();
    await page.getByRole("button", { name: "Ignore", exact: true }).click();
    await page.getByText("Scans will ignore this record.").waitFor();
    const ignored = async () => (await client.get("discovery/ignored")).body.data;
    expect(await ignored()).toMatchObject([{ entity: "host", record_id: deleted.record_id }]);
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await page.getByRole("region", { name: "Undo this transaction" }).getByRole("button", { name: "Undo" }).click();
    await page.getByRole("button", { name: "Ignore in scans…" }).waitFor();
    expect(await ignored()).toEqual([]);
    expect(visitor.problems()).toEqual([]);
  });

  test("shows the ledger's head for external storage, and an Owner the last verification", async () => {
    await page.goto(`${appliance.url}/ledger`);
    await page.getByText("No verification yet.").waitFor();
    const { sequence, hash } = await expectOk(client.get("ledger"));
    await page.getByRole("button", { name: `netledger verify --data DIR --head ${sequence}:${hash}` }).waitFor();
    await page.evaluate(`fetch("/api/v1/ledger/verifications", { method: "POST" })`);
    await page.reload();
    await page.getByText("Ledger intact – no problems found").waitFor();
    await page.getByText("the head", { exact: true }).waitFor();
    expect(visitor.problems()).toEqual([]);
  });
});
