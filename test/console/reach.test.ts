// Records out of a user's reach, in Chromium, on the executable: accessibility of the not-found pages for a Viewer of
// one network of two, and the choice of a map. Other pages are in reach-in-process.test.ts.

import { describe, expect, test } from "bun:test";
import type { Wire } from "../support/appliance/factories.ts";
import { accessibilityFindings, follow, hasChromium, settles } from "../support/browser/browser.ts";
import type { FilledNetwork } from "../support/browser/networks.ts";
import { fillTwoNetworks } from "../support/browser/two-networks.ts";
import { serveForAll } from "../support/browser/visit.ts";

const VIEWER = "night@acme.example";
const MEMBER = "day@acme.example";

/**
 * Answers to the only requests for records out of reach: whether they ever existed. The browser's own line has no URL.
 */
const NOT_THERE = /^404 for \S+\/(history\?|transactions\/\d+)|status of 404/;

describe.skipIf(!hasChromium)("a network beyond a user's reach", () => {
  let vault: Wire;
  let beyond: FilledNetwork;
  let ofVault: number;
  const appliance = serveForAll(async ({ addUser, client, networkId, organizationId }) => {
    ({ vault, beyond, ofVault } = await fillTwoNetworks(client, networkId, organizationId));
    await addUser(VIEWER, "Viewer", [networkId]);
    await addUser(MEMBER, "Member", [networkId, vault.id]);
  });

  test("a Viewer reads the ledger, with records of the other network out of reach", async () => {
    const { visitor, page } = await appliance.arrived(VIEWER, "/ledger");
    await page.getByRole("heading", { name: "Ledger", level: 1 }).waitFor();
    await page.getByText("What verifications found is for Owners").waitFor();
    await page.locator(".waiting").first().waitFor({ state: "detached" });
    expect(await page.getByText("Vault").count()).toBe(0);
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.troubles()).toEqual([]);
    for (const address of [
      `/hosts/${beyond.switchId}`,
      `/interfaces/${beyond.flapped.id}`,
      `/subnets/${beyond.subnet.id}`,
      `/vlans/${beyond.vlan.id}`,
      `/hosts/${beyond.switchId}?at=${beyond.beforeFlap}`,
      `/changes/${ofVault}`,
    ]) {
      await follow(page, address);
      await page.getByText("have access to").waitFor();
      expect([address, await accessibilityFindings(page)]).toEqual([address, []]);
    }
    expect(visitor.troubles().filter((each) => !NOT_THERE.test(each))).toEqual([]);
  });

  test("a Member of several networks chooses the map's network", async () => {
    const { visitor, page } = await appliance.arrived(MEMBER, "/map");
    const networks = page.getByRole("main").getByRole("listitem");
    await networks.getByRole("link", { name: "Vault" }).waitFor();
    await settles(() => networks.count(), 2);
    expect(await accessibilityFindings(page)).toEqual([]);
    await networks.getByRole("link", { name: "Vault" }).click();
    await page.waitForURL(`**/map?network=${vault.id}`);
    await networks.first().waitFor({ state: "detached" });
    expect(visitor.troubles()).toEqual([]);
  });
});
