// Records out of a user's reach, in the test process: a Viewer with access to one of two networks, and a Member who
// loses access while viewing.

import { describe, expect, test } from "bun:test";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { fillTwoNetworks, MISSING_RECORD, type TwoNetworks, vaultPages } from "../support/browser/two-networks.ts";
import { serveForAll } from "../support/page/visit.ts";

const VIEWER = "night@acme.example";
const MEMBER = "day@acme.example";

describe("a network beyond a user's reach", () => {
  let filled: TwoNetworks;
  const appliance = serveForAll(async ({ addUser, client, networkId, organizationId }) => {
    filled = await fillTwoNetworks(client, networkId, organizationId);
    await addUser(VIEWER, "Viewer", [networkId]);
    await addUser(MEMBER, "Member", [networkId, filled.vault.id]);
  });

  test("a Viewer sees every page of their own network, without errors, and nothing of the other", async () => {
    const { own } = filled;
    const { visitor, page } = await appliance.openAs(VIEWER);
    for (const [path, heading] of [
      ["/", "Find"],
      ["/hosts", "Hosts"],
      [`/hosts/${own.switchId}`, "access-1"],
      [`/hosts/${own.switchId}?tab=history`, "access-1"],
      ["/interfaces", "Interfaces"],
      [`/interfaces/${own.flapped.id}`, "Gi1/0/7"],
      ["/addresses", "Addresses"],
      ["/services", "Services"],
      ["/subnets", "Subnets"],
      ["/subnets/list", "Subnets"],
      [`/subnets/${own.subnet.id}`, "10.2.3.0/28"],
      ["/vlans", "VLANs"],
      [`/vlans/${own.vlan.id}`, "VLAN 20"],
      ["/conflicts", "Conflicts"],
      ["/map", "Map"],
      ["/changes", "Changes"],
      ["/changes?tab=activity", "Changes"],
      ["/compare?vs=2020-01-01T00:00:00Z", "Compare"],
      ["/discovery", "Discovery"],
      ["/discovery/schedules", "Schedules"],
      ["/discovery/ignored", "Ignored"],
      ["/ledger", "Ledger"],
    ] as const) {
      await page.goto(appliance.url + path);
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
      await page.locator(".waiting").first().waitFor({ state: "detached" });
      expect([path, await page.getByText("Vault").count()]).toEqual([path, 0]);
      expect([path, visitor.problems()]).toEqual([path, []]);
    }
    await page.getByText("Verification results are visible to signed-in Owners").waitFor();
  });

  test("URLs of records in the other network look like those of unknown records, with links onward", async () => {
    const { visitor, page } = await appliance.openAs(VIEWER);
    for (const path of vaultPages(filled)) {
      await page.goto(appliance.url + path);
      await page.getByText("have access to").waitFor();
    }
    // The next transaction of their own network.
    const { vaultSequence } = filled;
    await page.getByRole("link", { name: "View after" }).click();
    await page.getByRole("heading", { name: `Transaction ${vaultSequence + 1}` }).waitFor();
    await page.getByText("new VLAN 77 Later").waitFor();
    await page.getByRole("link", { name: "View before" }).click();
    await page.locator(".difference").getByText("Gi1/0/8 of access-1").waitFor();
    expect(Number(page.url().split("/").at(-1))).toBeLessThan(vaultSequence);
    expect(visitor.problems().filter((problem) => !MISSING_RECORD.test(problem))).toEqual([]);
  });

  test("a network withdrawn from a Member disappears from the page, even at a past timestamp", async () => {
    const { switchId, beforeFlap } = filled.otherNetwork;
    const pastPath = `/hosts/${switchId}?at=${beforeFlap}`;
    const { visitor, page } = await appliance.openAs(MEMBER, pastPath);
    await page.getByRole("heading", { name: "access-1" }).waitFor();
    const { client, networkId } = appliance;
    const users = (await expectOk(client.get("users?limit=0"))) as unknown as JsonRecord[];
    const { id, email, name, role, is_enabled } = users.find(({ email }) => email === MEMBER) as JsonRecord;
    await expectOk(client.put(`users/${id}`, { id, email, name, role, is_enabled, network_ids: [networkId] }));
    await page.keyboard.press("t");
    await page.getByText("Host not found, or you don't have access to it.").waitFor();
    await page.goto(appliance.url + pastPath);
    await page.getByText("Host not found, or you don't have access to it.").waitFor();
    expect(await page.getByText("access-1").count()).toBe(0);
    expect(visitor.problems().filter((problem) => !MISSING_RECORD.test(problem))).toEqual([]);
  });
});
