// Changes in Chromium, on the executable: a walk from the feed through a transaction to the comparison, and the pages
// under axe-core. changes-in-process.test.ts covers links, CSV and feed pages.

import { afterEach, describe, expect, test } from "bun:test";
import {
  APPEARANCES,
  expectAccessibleWithin,
  expectEventually,
  follow,
  hasChromium,
} from "../support/browser/browser.ts";
import { changeVlans } from "../support/browser/changed-vlans.ts";
import { visitForAll } from "../support/browser/visit.ts";

describe.skipIf(!hasChromium)("changes", () => {
  let before: string;
  const { visitor, page } = visitForAll(
    async ({ client, networkId }) => {
      before = await changeVlans(client, networkId);
    },
    { path: "/changes" },
  );

  afterEach(() => expect(visitor.problems()).toEqual([]));

  test("are filtered by kind and reason in the URL, and each line expands to its details", async () => {
    await follow(page, "/changes");
    await page.getByText("CHG-4711").waitFor();
    const all = await page.locator(".transaction").count();
    await page.getByLabel("Kinds").selectOption("vlan");
    await page.getByLabel("Reason contains").fill("4711");
    await page.keyboard.press("Enter");
    await page.waitForURL(/reason=4711/);
    const reason = page.getByLabel("Reason contains").and(page.locator(":focus"));
    const change = page.locator(".transaction");
    await change.getByText("VLAN 120 Phones: name Voice → Phones").waitFor();
    // The filter also applies to the transactions already listed.
    await expectEventually(() => change.count(), 1);
    // Narrowing further keeps the position, and Back returns to the previous query.
    await reason.fill("4712");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.waitForURL(/reason=4712/);
    await page.goBack();
    await expectEventually(() => page.getByLabel("Reason contains").inputValue(), "4711");
    await expectEventually(() => page.getByLabel("Kinds").inputValue(), "vlan");
    await expectEventually(() => change.count(), 1);
    expect(all).toBeGreaterThan(1);
    await change.getByRole("button").click();
    await change.getByText("Phones").first().waitFor();
    await expectEventually(() => change.locator("del").first().textContent(), "Voice");
    await change.getByRole("link", { name: /^Transaction \d+$/ }).click();
    await page.getByRole("heading", { name: /^Transaction \d+$/ }).waitFor();
    await page.getByText("CHG-4711: as it is called").waitFor();
    await page.locator(".phrases").getByText("name Voice → Phones").waitFor();
    await page.getByRole("link", { name: "Compare before and after" }).click();
    await page.getByRole("heading", { name: "Compare", exact: true }).waitFor();
    await page.getByText("1 VLAN", { exact: true }).waitFor();
    await expectEventually(() => page.locator("ins").first().textContent(), "Phones");
  });

  test.each(APPEARANCES)("are accessible: %s, %i pixels wide", async (colorScheme, width) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 740 });
    for (const address of [
      "/changes",
      "/changes?tab=activity",
      "/compare",
      `/compare?vs=${before}`,
      `/changes?at=${before}`,
    ]) {
      await follow(page, address);
      await page.locator(".transactions, .activity-list li, .difference, .periods").last().waitFor();
      await expectAccessibleWithin(page, address);
    }
  });
});
