// Records out of a user's reach, in Chromium, on the executable: accessibility of the not-found pages for a Viewer with
// access to one of two networks, and the choice of the map's network. reach-in-process.test.ts covers other pages.

import { describe, expect, test } from "bun:test";
import { accessibilityFindings, expectEventually, follow, hasChromium } from "../support/browser/browser.ts";
import { fillTwoNetworks, MISSING_RECORD, type TwoNetworks, vaultPages } from "../support/browser/two-networks.ts";
import { serveForAll } from "../support/browser/visit.ts";

const VIEWER = "night@acme.example";
const MEMBER = "day@acme.example";

describe.skipIf(!hasChromium)("a network beyond a user's reach", () => {
  let filled: TwoNetworks;
  const appliance = serveForAll(async ({ addUser, client, networkId, organizationId }) => {
    filled = await fillTwoNetworks(client, networkId, organizationId);
    await addUser(VIEWER, "Viewer", [networkId]);
    await addUser(MEMBER, "Member", [networkId, filled.vault.id]);
  });

  test("a Viewer reads the ledger, with records of the other network out of reach", async () => {
    const { visitor, page } = await appliance.visitAs(VIEWER, "/ledger");
    await page.getByRole("heading", { name: "Ledger", level: 1 }).waitFor();
    await page.getByText("Verification results are visible to signed-in Owners").waitFor();
    await page.locator(".waiting").first().waitFor({ state: "detached" });
    expect(await page.getByText("Vault").count()).toBe(0);
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.problems()).toEqual([]);
    for (const path of vaultPages(filled)) {
      await follow(page, path);
      await page.getByText("have access to").waitFor();
      expect([path, await accessibilityFindings(page)]).toEqual([path, []]);
    }
    expect(visitor.problems().filter((problem) => !MISSING_RECORD.test(problem))).toEqual([]);
  });

  test("a Member of several networks chooses the map's network", async () => {
    const { visitor, page } = await appliance.visitAs(MEMBER, "/map");
    const networks = page.getByRole("main").getByRole("listitem");
    await networks.getByRole("link", { name: "Vault" }).waitFor();
    await expectEventually(() => networks.count(), 2);
    expect(await accessibilityFindings(page)).toEqual([]);
    await networks.getByRole("link", { name: "Vault" }).click();
    await page.waitForURL(`**/map?network=${filled.vault.id}`);
    await networks.first().waitFor({ state: "detached" });
    expect(visitor.problems()).toEqual([]);
  });
});
