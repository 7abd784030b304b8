// Changes in the test process: sentences with links to records, comparison of two timestamps, page numbers in the URL.

import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { expectOk } from "../support/appliance/factories.ts";
import { changeVlans } from "../support/browser/changed-vlans.ts";
import { visitForAll } from "../support/page/visit.ts";

describe("changes", () => {
  let before: string;
  const { appliance, client, visitor, page } = visitForAll(async ({ client, networkId }) => {
    before = await changeVlans(client, networkId);
  });
  beforeAll(() => page.close());

  afterEach(() => expect(visitor.problems()).toEqual([]));

  test("are sentences whose names link to the record at that time, even if deleted since", async () => {
    const deletedHost = await expectOk(
      client.post("hosts", { network_id: appliance.networkId, name: "old-1", hidden: false, tags: [] }),
    );
    await expectOk(client.delete(`hosts/${deletedHost.id}`));
    const page = await visitor.open("/changes");
    const line = page.locator(".transaction").filter({ hasText: "host old-1 gone" });
    await line.getByRole("link", { name: "old-1" }).click();
    await page.getByRole("heading", { name: "old-1" }).waitFor();
    await page.getByRole("status").filter({ hasText: "As of" }).waitFor();
    await page.goto(`${appliance.url}/`);
    const latest = page.getByRole("heading", { name: "Latest changes" }).locator("xpath=..");
    await latest.getByText("host old-1 gone").waitFor();
    await latest.getByText("new host old-1").waitFor();
    await latest.getByRole("link", { name: "All changes" }).click();
    await page.getByRole("heading", { name: "Changes" }).waitFor();
  });

  test("between two timestamps are compared in either order, and exported as CSV", async () => {
    const page = await visitor.open(`/compare?vs=${before}`);
    await page.getByText("2 VLANs").waitFor();
    await page.getByRole("link", { name: "<i>Guests</i>" }).waitFor();
    const csv = await page.getByRole("link", { name: "CSV" }).getAttribute("href");
    const text = await (await page.request.get(appliance.url + csv)).text();
    expect(text).toContain("Phones");
    await page.goto(`${appliance.url}/compare?at=${before}&vs=2099-01-01T00:00:00Z`);
    await page.locator(".difference, .problem").first().waitFor();
    expect(visitor.problems().filter((problem) => !problem.includes("400"))).toEqual([]);
  });

  test("are paged in the URL: a shared page is stable, regardless of later writes", async () => {
    for (let number = 1_000; number < 1_060; number += 1)
      await expectOk(client.post("vlans", { network_id: appliance.networkId, number, name: `lab ${number}` }));
    const page = await visitor.open("/changes?types=vlan");
    await page.getByText("new VLAN 1059 lab 1059").waitFor();
    await page.getByRole("link", { name: "Older" }).click();
    const first = page.locator(".transaction").first();
    await first.getByText("new VLAN 1009 lab 1009").waitFor();
    const sharedUrl = page.url();
    expect(sharedUrl).toMatch(/[?&]offset=50&until=/);
    await expectOk(client.post("vlans", { network_id: appliance.networkId, number: 2_000, name: "later" }));
    await page.goto(`${appliance.url}/ledger`);
    await page.goto(sharedUrl);
    await first.getByText("new VLAN 1009 lab 1009").waitFor();
    await page.getByLabel("Kinds").selectOption("");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("new VLAN 2000 later").waitFor();
    expect(page.url()).not.toMatch(/offset|until/);
    await page.goBack();
    await first.getByText("new VLAN 1009 lab 1009").waitFor();
    await page.getByRole("link", { name: "Newer" }).click();
    await first.getByText("new VLAN 2000 later").waitFor();
  });

  test("of an unknown transaction show an error", async () => {
    const page = await visitor.open("/changes/999999");
    await page.getByText("Transaction not found").waitFor();
    await page.goto(`${appliance.url}/changes/nonsense`);
    await page.getByText("Transaction not found").waitFor();
    expect(visitor.problems().filter((problem) => !problem.includes("404"))).toEqual([]);
  });
});
