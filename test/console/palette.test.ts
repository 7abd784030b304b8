// Command palette in Chromium, on the executable: every page, action and record, by keyboard only.

import { afterEach, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { PAGE_PATHS } from "../../src/console/url/page-paths.ts";
import { expectOk } from "../support/appliance/factories.ts";
import { expectAccessibleInBoth, expectEventually, hasChromium } from "../support/browser/browser.ts";
import { visitForAll } from "../support/browser/visit.ts";

const VIEWER = "viewer@acme.example";

describe.skipIf(!hasChromium)("the command palette", () => {
  const { appliance, visitor, page } = visitForAll(async ({ addUser, client, networkId }) => {
    await addUser(VIEWER, "Viewer", [networkId]);
    await expectOk(client.post("hosts", { network_id: networkId, name: "core-9" }));
  });

  afterEach(() => expect(visitor.problems()).toEqual([]));

  const choose = async (target: Page, typed: string, title: string) => {
    await target.keyboard.press("Control+k");
    await target.getByRole("combobox", { name: "A page, an action or a record" }).fill(typed);
    await target.getByRole("option", { name: title }).first().waitFor();
    await target.keyboard.press("Enter");
  };

  test("leads to any page", async () => {
    const titles = new Map<string, string>();
    await page.goto(appliance.url);
    await page.getByRole("banner").waitFor();
    await page.keyboard.press("Control+k");
    const options = page.getByRole("option").filter({ hasText: "Go to" });
    await options.first().waitFor();
    for (const option of await options.all())
      titles.set((await option.locator("bdi").textContent()) ?? "", (await option.getAttribute("id")) ?? "");
    // The handbook and the API reference are served outside the console.
    expect(titles.size).toBe(PAGE_PATHS.filter((path) => !path.includes(":")).length + 2);
    await page.keyboard.press("Escape");
    await choose(page, "custom f", "Custom fields");
    await page.waitForURL("**/settings/custom-fields");
    await choose(page, "conflicts", "Conflicts");
    await page.waitForURL("**/conflicts");
  });

  test("starts a record, presses a button of the page, and opens a record by name", async () => {
    await choose(page, "new vlan", "New VLAN");
    await page.getByRole("form", { name: "New VLAN" }).waitFor();
    await choose(page, "core-9", "core-9");
    await page.getByRole("heading", { name: "core-9" }).waitFor();
    await choose(page, "edit", "Edit");
    await page.getByRole("form", { name: "Edit core-9" }).waitFor();
  });

  test("finds by synonyms, starts a scan of the selected network, and goes to a timestamp", async () => {
    await page.goto(`${appliance.url}/hosts?network=${appliance.networkId}`);
    await page.getByRole("banner").waitFor();
    for (const [typed, title] of [
      ["password", "Account"],
      ["log out", "Sign out"],
      ["add host", "New host"],
      ["help", "Handbook"],
      ["users", "People"],
      ["undo", "Changes"],
    ] as const) {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "A page, an action or a record" }).fill(typed);
      await page.getByRole("option", { name: title }).first().waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    await choose(page, "yesterday 14:00", "As of");
    await page.waitForURL((url) => url.pathname === "/hosts" && url.searchParams.get("at")?.includes("T") === true);
    await page.keyboard.press("t");
    await page.waitForURL((url) => !url.searchParams.has("at"));
    await choose(page, "scan now", "Scan now");
    await page.waitForURL((url) => url.pathname === "/discovery" && !url.searchParams.has("at"));
    await page.getByRole("heading", { name: "Discovery" }).waitFor();
    expect(new URL(page.url()).searchParams.get("of")).toBe(appliance.networkId);
  });

  test("reopens when the keys are pressed right after closing", async () => {
    await page.goto(`${appliance.url}/hosts`);
    await page.getByRole("banner").waitFor();
    const box = page.getByRole("combobox", { name: "A page, an action or a record" });
    await page.keyboard.press("Control+k");
    await box.waitFor();
    // Within one task: the dialog has not fired its close event yet.
    for (let round = 0; round < 5; round += 1) {
      await page.evaluate(
        `document.querySelector("dialog.palette").close(); document.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true }))`,
      );
      await page.locator("dialog.palette[open]").waitFor();
      await box.fill("help");
      await page.getByRole("option", { name: "Handbook" }).first().waitFor();
    }
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  test("returns focus on closing, even mid-word, and leaves the text intact", async () => {
    await page.goto(`${appliance.url}/hosts`);
    const box = page.getByRole("searchbox").first();
    await box.pressSequentially("cor");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "A page, an action or a record" }).fill("zzzz");
    await page.getByText("No matches.").waitFor();
    await page.getByRole("combobox", { name: "A page, an action or a record" }).fill("h");
    await expectAccessibleInBoth(page);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expectEventually(() => box.evaluate((element) => element === element.ownerDocument.activeElement), true);
    await expectEventually(() => box.inputValue(), "cor");
  });

  test("focuses the chosen page, wherever the focus was before", async () => {
    await page.goto(`${appliance.url}/hosts`);
    await page.getByRole("button", { name: "Compare…" }).focus();
    await choose(page, "core-9", "core-9");
    await page.getByRole("heading", { level: 1, name: "core-9" }).and(page.locator(":focus")).waitFor();
    await page.getByRole("button", { name: "Compare…" }).focus();
    await choose(page, "vlans", "VLANs");
    await page.getByRole("heading", { level: 1, name: "VLANs" }).and(page.locator(":focus")).waitFor();
  });

  test("hides pages and actions the role forbids", async () => {
    const { page: viewerPage } = await appliance.visitAs(VIEWER);
    await viewerPage.keyboard.press("Control+k");
    await viewerPage.getByRole("combobox", { name: "A page, an action or a record" }).fill("new");
    await viewerPage.getByRole("dialog").waitFor();
    expect(await viewerPage.getByRole("option", { name: "New host" }).count()).toBe(0);
    expect(await viewerPage.getByRole("option", { name: /table/ }).count()).toBe(0);
    await viewerPage.getByRole("combobox", { name: "A page, an action or a record" }).fill("scan");
    await viewerPage.getByRole("option", { name: "Discovery" }).waitFor();
    expect(await viewerPage.getByRole("option", { name: "Scan now" }).count()).toBe(0);
    await viewerPage.getByRole("combobox", { name: "A page, an action or a record" }).fill("go to");
    await viewerPage.getByRole("option", { name: "Hosts" }).waitFor();
    expect(await viewerPage.getByRole("option", { name: "Backups" }).count()).toBe(0);
  });
});
