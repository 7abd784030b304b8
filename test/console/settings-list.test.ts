// Settings navigation in Chromium, on the executable: its position next to the pages, and its button on narrow screens.

import { describe, expect, test } from "bun:test";
import { accessibilityFindings, expectEventually, hasChromium, waitUntilShown } from "../support/browser/browser.ts";
import { visitForAll } from "../support/browser/visit.ts";

describe.skipIf(!hasChromium)("the settings list", () => {
  const { appliance, visitor, page } = visitForAll();

  async function open(path: string): Promise<void> {
    await page.goto(appliance.url + path);
    await waitUntilShown(page);
  }

  test("keeps its position between pages, left of the page", async () => {
    await open("/settings");
    const areas = page.getByRole("navigation", { name: "Settings", exact: true });
    const before = await areas.boundingBox();
    const heading = page.getByRole("heading", { level: 1 });
    for (const name of ["API keys", "Networks", "Backups", "Account"]) {
      await areas.getByRole("link", { name, exact: true }).click();
      await expectEventually(() => heading.textContent(), name);
      expect([name, await areas.boundingBox()]).toEqual([name, before]);
      // To its right instead of below: content that arrives later does not move it.
      const [list, title] = [await areas.boundingBox(), await heading.boundingBox()];
      expect((title?.x ?? 0) - (list?.x ?? 0) - (list?.width ?? 0)).toBeGreaterThan(0);
    }
    const groups = await areas.getByRole("list").evaluateAll((lists) => lists.length);
    expect(groups).toBe(4);
    for (const name of ["You", "Access", "Inventory", "Appliance"])
      expect([name, await areas.getByRole("list", { name, exact: true }).count()]).toEqual([name, 1]);
    expect(visitor.problems()).toEqual([]);
  });

  test("opens by keyboard on a narrow screen, and returns focus to its button", async () => {
    await page.setViewportSize({ width: 360, height: 800 });
    await open("/settings/keys");
    const areas = page.getByRole("navigation", { name: "Settings", exact: true });
    expect(await areas.isVisible()).toBe(false);
    const button = page.getByRole("button", { name: "Settings: API keys" });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await button.focus();
      await page.keyboard.press("Enter");
      await areas.waitFor();
      expect([colorScheme, await accessibilityFindings(page)]).toEqual([colorScheme, []]);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      const box = await areas.boundingBox();
      expect((box?.x ?? -1) >= 0 && (box?.x ?? 0) + (box?.width ?? 0) <= 360).toBe(true);
      await page.keyboard.press("Escape");
      await areas.waitFor({ state: "hidden" });
    }
    await button.focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await areas.getByRole("link", { name: "Account" }).and(page.locator(":focus")).waitFor();
    for (const _ of ["Organization", "People"]) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "People" }).waitFor();
    await areas.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Settings: People" }).and(page.locator(":focus")).waitFor();
    expect(visitor.problems()).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
  });
});
