// Records out of a user's reach, in the test process: a Viewer of one network of two, and a Member who loses access
// while viewing.

import { describe, expect, test } from "bun:test";
import { made, type Wire } from "../support/appliance/factories.ts";
import type { FilledNetwork } from "../support/browser/networks.ts";
import { fillTwoNetworks } from "../support/browser/two-networks.ts";
import { serveForAll } from "../support/page/visit.ts";

const VIEWER = "night@acme.example";
const MEMBER = "day@acme.example";

/**
 * Answers to the only requests for records out of reach: whether they ever existed. The browser's own line has no URL.
 */
const NOT_THERE = /^404 for \S+\/(history\?|transactions\/\d+)|status of 404/;

describe("a network beyond a user's reach", () => {
  let own: FilledNetwork;
  let beyond: FilledNetwork;
  let ofVault: number;
  const appliance = serveForAll(async ({ addUser, client, networkId, organizationId }) => {
    const filled = await fillTwoNetworks(client, networkId, organizationId);
    ({ own, beyond, ofVault } = filled);
    await addUser(VIEWER, "Viewer", [networkId]);
    await addUser(MEMBER, "Member", [networkId, filled.vault.id]);
  });

  test("a Viewer sees every page of their own network, without refusals, and nothing of the other", async () => {
    const { visitor, page } = await appliance.arrived(VIEWER);
    for (const [address, heading] of [
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
      await page.goto(appliance.url + address);
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
      await page.locator(".waiting").first().waitFor({ state: "detached" });
      expect([address, await page.getByText("Vault").count()]).toEqual([address, 0]);
      expect([address, visitor.troubles()]).toEqual([address, []]);
    }
    await page.getByText("What verifications found is for Owners").waitFor();
  });

  test("URLs of records in the other network look like those of unknown records, with links onward", async () => {
    const { visitor, page } = await appliance.arrived(VIEWER);
    for (const address of [
      `/hosts/${beyond.switchId}`,
      `/interfaces/${beyond.flapped.id}`,
      `/subnets/${beyond.subnet.id}`,
      `/vlans/${beyond.vlan.id}`,
      `/hosts/${beyond.switchId}?at=${beyond.beforeFlap}`,
      `/changes/${ofVault}`,
    ]) {
      await page.goto(appliance.url + address);
      await page.getByText("have access to").waitFor();
    }
    // The next transaction of their own network.
    await page.getByRole("link", { name: "View after" }).click();
    await page.getByRole("heading", { name: `Transaction ${ofVault + 1}` }).waitFor();
    await page.getByText("new VLAN 77 Later").waitFor();
    await page.getByRole("link", { name: "View before" }).click();
    await page.locator(".difference").getByText("Gi1/0/8 of access-1").waitFor();
    expect(Number(page.url().split("/").at(-1))).toBeLessThan(ofVault);
    expect(visitor.troubles().filter((each) => !NOT_THERE.test(each))).toEqual([]);
  });

  test("a network withdrawn from a Member disappears from the page, also from a past instant", async () => {
    const then = `/hosts/${beyond.switchId}?at=${beyond.beforeFlap}`;
    const { visitor, page } = await appliance.arrived(MEMBER, then);
    await page.getByRole("heading", { name: "access-1" }).waitFor();
    const { client, networkId } = appliance;
    const users = (await made(client.get("users?limit=0"))) as unknown as Wire[];
    const { id, email, name, role, is_enabled } = users.find((each) => each.email === MEMBER) as Wire;
    await made(client.put(`users/${id}`, { id, email, name, role, is_enabled, network_ids: [networkId] }));
    await page.keyboard.press("t");
    await page.getByText("Host not found, or you don't have access to it.").waitFor();
    await page.goto(appliance.url + then);
    await page.getByText("Host not found, or you don't have access to it.").waitFor();
    expect(await page.getByText("access-1").count()).toBe(0);
    expect(visitor.troubles().filter((each) => !NOT_THERE.test(each))).toEqual([]);
  });
});
