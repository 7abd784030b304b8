// Records out of a user's reach, in Chromium, on the executable: accessibility of the not-found pages for a Viewer of
// one network of two, and the choice of a map. Other pages are in reach-in-process.test.ts.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Wire } from "../support/appliance/factories.ts";
import {
  accessibilityFindings,
  closeBrowser,
  follow,
  hasChromium,
  settles,
  Visitor,
} from "../support/browser/browser.ts";
import type { FilledNetwork } from "../support/browser/networks.ts";
import { fillTwoNetworks } from "../support/browser/two-networks.ts";
import { ensureExecutable, PASSWORD, Workplace } from "../support/executable/executable.ts";

const VIEWER = "night@acme.example";
const MEMBER = "day@acme.example";

/**
 * Answers to the only requests for records out of reach: whether they ever existed. The browser's own line has no URL.
 */
const NOT_THERE = /^404 for \S+\/(history\?|transactions\/\d+)|status of 404/;

describe.skipIf(!hasChromium)("a network beyond a user's reach", () => {
  let workplace: Workplace;
  let origin: string;
  let vault: Wire;
  let beyond: FilledNetwork;
  let ofVault: number;

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    const { running, client, networkId, organizationId } = await workplace.serveSetUp();
    origin = running.url;
    ({ vault, beyond, ofVault } = await fillTwoNetworks(client, networkId, organizationId));
    const password = ["--password-file", await workplace.passwordFile()];
    for (const user of [
      ["--email", VIEWER, "--role", "Viewer", "--networks", networkId],
      ["--email", MEMBER, "--role", "Member", "--networks", `${networkId},${vault.id}`],
    ])
      expect(await workplace.command("user", "create", ...user, ...password)).toMatchObject({ code: 0 });
  });

  afterAll(async () => {
    await closeBrowser();
    await workplace.close();
  });

  test("a Viewer reads the ledger, with records of the other network out of reach", async () => {
    const visitor = await Visitor.arrive(origin);
    const page = await visitor.signIn(VIEWER, PASSWORD, "/ledger");
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
    await visitor.leave();
  });

  test("a Member of several networks chooses the map's network", async () => {
    const visitor = await Visitor.arrive(origin);
    const page = await visitor.signIn(MEMBER, PASSWORD, "/map");
    const networks = page.getByRole("main").getByRole("listitem");
    await networks.getByRole("link", { name: "Vault" }).waitFor();
    await settles(() => networks.count(), 2);
    expect(await accessibilityFindings(page)).toEqual([]);
    await networks.getByRole("link", { name: "Vault" }).click();
    await page.waitForURL(`**/map?network=${vault.id}`);
    await networks.first().waitFor({ state: "detached" });
    expect(visitor.troubles()).toEqual([]);
    await visitor.leave();
  });
});
