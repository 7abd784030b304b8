// Records without a dedicated page, in Chromium, on the executable: current and past states, history, restoration, and
// accessibility of not-found pages. plain-records-in-process.test.ts covers edits, links and permissions.

import { describe, expect, test } from "bun:test";
import { expectOk } from "../support/appliance/factories.ts";
import { accessibilityFindings, follow, hasChromium } from "../support/browser/browser.ts";
import { visitForAll } from "../support/browser/visit.ts";

describe.skipIf(!hasChromium)("a record without a page of its own", () => {
  const { client, visitor, page } = visitForAll();

  const open = (path: string) => follow(page, path);
  const fact = (name: string) => page.locator("dl.facts > div").filter({ has: page.getByText(name, { exact: true }) });

  test("shows its current and past fields, and is restored from the list of versions", async () => {
    const tag = await expectOk(client.post("tags", { name: "core", color: "Red", description: "Do not touch" }));
    await expectOk(client.put(`tags/${tag.id}`, { name: "core", color: "Blue", description: "" }));
    await open("/settings/tags");
    await page.getByRole("checkbox", { name: "core" }).check();
    await page.getByRole("link", { name: "History", exact: true }).click();
    await page.waitForURL(`**/records/tag/${tag.id}`);
    await page.getByRole("heading", { name: "core", level: 1 }).waitFor();
    await fact("Color").getByText("Blue").waitFor();
    await page.locator("ol.transactions > li").nth(1).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    // In the past nothing can be edited, but earlier states can be restored.
    await open(`/records/tag/${tag.id}?at=${tag.updated_at}`);
    await fact("Color").getByText("Red").waitFor();
    await fact("Description").getByText("Do not touch").waitFor();
    expect(await page.getByRole("button", { name: "Edit", exact: true }).count()).toBe(0);
    await page.getByRole("button", { name: "Restore this" }).click();
    await page.getByText("Changes tag core").waitFor();
    await page.getByLabel("Why").fill("It was right");
    await page
      .getByRole("region", { name: "Restore this state" })
      .getByRole("button", { name: "Restore this" })
      .click();
    await page.getByText("Done.").waitFor();
    expect(await expectOk(client.get(`tags/${tag.id}`))).toMatchObject({ color: "Red", description: "Do not touch" });
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.problems()).toEqual([]);
  });

  test("is accessible when deleted, and when unknown", async () => {
    const tag = await expectOk(client.post("tags", { name: "spare", color: "Gray" }));
    await expectOk(client.delete(`tags/${tag.id}`));
    await open(`/records/tag/${tag.id}`);
    await page.getByText("This tag no longer exists.").waitFor();
    await page.getByRole("button", { name: "Restore" }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.problems()).toEqual([]);
    await open("/records/tag/00000000-0000-4000-8000-000000000000");
    await page.getByText("Tag not found").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  });
});
