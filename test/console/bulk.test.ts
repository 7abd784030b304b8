// Bulk lists in Chromium, on the executable: the plan of a write under axe-core, and the rows of a scrolled list.
// bulk-in-process.test.ts covers plans, writes and undos.

import { describe, expect, test } from "bun:test";
import { addHostsInHalls } from "../support/appliance/halls.ts";
import {
  accessibilityFindings,
  expectAccessibleInBoth,
  expectEventually,
  hasChromium,
} from "../support/browser/browser.ts";
import { visitForAll } from "../support/browser/visit.ts";

describe.skipIf(!hasChromium)("bulk editing", () => {
  const { appliance, visitor, page } = visitForAll(({ client, networkId }) => addHostsInHalls(client, networkId));

  const button = (name: string) => page.getByRole("button", { name, exact: true });

  test("has an accessible preview in both color schemes, before anything is written", async () => {
    await page.goto(`${appliance.url}/hosts?${new URLSearchParams({ filter: 'sys_location = "Hall 1"' })}`);
    await button("Edit").click();
    await page.getByLabel("Add a field to set").selectOption({ label: "Location" });
    await page.getByRole("region", { name: "Edit 20 hosts" }).getByLabel("Location").fill("Hall North");
    await button("Preview").click();
    await page.getByText("20 hosts would change.").waitFor();
    await page.getByRole("listitem").filter({ hasText: "access-1: Location Hall 1 to Hall North" }).first().waitFor();
    await expectAccessibleInBoth(page);
    expect(visitor.problems()).toEqual([]);
  });

  test("keeps row names in view during horizontal scrolling", async () => {
    await page.goto(`${appliance.url}/hosts`);
    await page.getByRole("link", { name: "access-1", exact: true }).waitFor();
    const positions = () =>
      page.evaluate(`(() => {
        const list = document.querySelector(".list");
        const left = (selector) => list.querySelector(selector).getBoundingClientRect().left - list.getBoundingClientRect().left;
        return { name: left("tbody a") > 0, head: left("thead th") > 0, last: left("thead th:last-child") < list.clientWidth };
      })()`);
    await expectEventually(positions, { name: true, head: true, last: false });
    await page.evaluate("document.querySelector('.list').scrollLeft = 10_000");
    await expectEventually(positions, { name: true, head: true, last: true });
    expect(await accessibilityFindings(page)).toEqual([]);
    // Rows scrolled below the header do not cover it.
    await page.evaluate("document.querySelector('.list').scrollTop = 14");
    const isHeaderOnTop = () =>
      page.evaluate(`(() => {
        const { left, top, height } = document.querySelector(".list thead th").getBoundingClientRect();
        return document.elementFromPoint(left + 8, top + height - 2)?.closest("thead") !== null;
      })()`);
    await expectEventually(isHeaderOnTop, true);
  });
});
