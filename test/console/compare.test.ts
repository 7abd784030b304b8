// Comparison of two timestamps in Chromium, on the executable: a walk from the start page to a port, a scrolled list,
// and page appearance. compare-in-process.test.ts covers text, requests and state.

import { afterEach, describe, expect, test } from "bun:test";
import {
  APPEARANCES,
  expectAccessibleWithin,
  expectEventually,
  follow,
  hasChromium,
} from "../support/browser/browser.ts";
import { fillTwoInstants, MANY, type TwoInstants } from "../support/browser/two-instants.ts";
import { visitForAll } from "../support/browser/visit.ts";

describe.skipIf(!hasChromium)("comparing two timestamps", () => {
  let filled: TwoInstants;
  const { visitor, page } = visitForAll(async ({ client, networkId }) => {
    filled = await fillTwoInstants(client, networkId);
  });

  afterEach(() => expect(visitor.problems()).toEqual([]));

  const rows = () => page.locator(".list tbody tr:not(.spacer)");
  const withInstants = (path: string) =>
    `${path}${path.includes("?") ? "&" : "?"}at=${filled.after}&vs=${filled.before}`;

  test("more differences than one request returns are scrolled in windows, to the last", async () => {
    await follow(page, `/hosts?at=${filled.late}&vs=${filled.before}&only=differences`);
    await page.getByRole("link", { name: `${(MANY + 1).toLocaleString("en")} changed` }).waitFor();
    await page.getByText("sorted by type of change and creation").waitFor();
    await expectEventually(() => rows().nth(0).textContent(), expect.stringContaining("Added"));
    await page.evaluate("document.querySelector('.list').scrollTop = 1e9");
    await page.getByRole("link", { name: `host-${1_000 + MANY - 1}` }).waitFor();
    await expectEventually(() => page.getByRole("table").getAttribute("aria-rowcount"), String(MANY + 4));
    await page.getByRole("link", { name: "All rows" }).click();
    await page.getByText(`${(MANY + 3).toLocaleString("en")} hosts`).waitFor();
    await rows().nth(0).getByText("Removed").waitFor();
    await page.locator("tr.is-changed").nth(10).waitFor();
  });

  test("a network is compared with a marker from the start page, down to the changed port", async () => {
    await follow(page, `/?at=${filled.after}`);
    await page.getByRole("link", { name: "Hosts", exact: true }).click();
    await page.getByRole("heading", { name: "Hosts" }).waitFor();
    await page.getByRole("button", { name: "Compare…" }).click();
    await page.getByRole("button", { name: "before the move" }).click();
    await page.getByRole("link", { name: "3 differ" }).click();
    await page.getByText("3 hosts").waitFor();
    expect(new URL(page.url()).searchParams.get("vs")).toBe("marker:before the move");
    // A deleted record links to its earlier state.
    const removedLink = page.getByRole("link", { name: "leaving" });
    await expectEventually(() => removedLink.getAttribute("href"), expect.stringContaining("at=marker:before"));
    await page.getByRole("link", { name: "core", exact: true }).click();
    await page.getByRole("heading", { name: "Changes from A to B" }).waitFor();
    const serial = page.locator(".facts > div").filter({ hasText: "Serial number" });
    await serial.locator("del").waitFor();
    await expectEventually(() => serial.textContent(), "Serial numberFOC1 → FOC2");
    // A removed value keeps its position.
    await expectEventually(
      () => page.locator(".facts > div").filter({ hasText: "Model" }).locator("del").textContent(),
      "C9300-24T",
    );

    await page
      .locator(".tabs")
      .getByRole("link", { name: /^Interfaces \d/ })
      .click();
    await page.getByRole("link", { name: /^Changed: Gi1\/0\/1/ }).waitFor();
    await page.getByRole("link", { name: /^Added: Gi1\/0\/4/ }).waitFor();
    await page.locator(".port-removed").getByText("2").waitFor();
    const port = page.locator("tr").filter({ has: page.getByRole("link", { name: "Gi1/0/1", exact: true }) });
    await port.filter({ hasText: "Up → Down" }).waitFor();
    await page
      .locator(".tabs")
      .getByRole("link", { name: /^Addresses/ })
      .click();
    const addresses = page.locator("table tbody tr");
    await addresses.filter({ hasText: "Added" }).getByText("10.2.3.6").waitFor();
    await addresses.filter({ hasText: "Removed" }).getByText("10.2.3.1").waitFor();
    await page
      .locator(".tabs")
      .getByRole("link", { name: /^Services/ })
      .click();
    await page.locator("tr").filter({ hasText: "Added" }).getByText("443").waitFor();
    await page.locator("tr").filter({ hasText: "Removed" }).getByText("22").waitFor();
  });

  test.each(APPEARANCES)("is accessible without overflow: %s, %i wide", async (colorScheme, width) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 740 });
    const pages =
      colorScheme === "light"
        ? ["/hosts?only=differences", "/subnets", `/hosts/${filled.switchId}?tab=ports`, `/vlans/${filled.vlanId}`]
        : ["/interfaces", "/subnets", `/hosts/${filled.switchId}`, `/subnets/${filled.subnetId}`];
    for (const path of pages.map(withInstants)) {
      await follow(page, path);
      await page.locator("main .sign").first().waitFor();
      await expectAccessibleWithin(page, path);
    }
  });
});
