// Records without a page of their own, in Chromium, on the executable: current and past states, history, and the way
// back; accessibility if missing. Edits, links and rights are in plain-records-in-process.test.ts.

import { describe, expect, test } from "bun:test";
import { made, type Wire } from "../support/appliance/factories.ts";
import { accessibilityFindings, follow, hasChromium } from "../support/browser/browser.ts";
import { visitForAll } from "../support/browser/visit.ts";

describe.skipIf(!hasChromium)("a record without a page of its own", () => {
  const { appliance, client, visitor, page } = visitForAll();

  const open = (address: string) => follow(page, address);
  const fact = (name: string) => page.locator("dl.facts > div").filter({ has: page.getByText(name, { exact: true }) });

  test("shows its present and past fields, and is restored from the list of versions", async () => {
    const tag = await made(client.post("tags", { name: "core", color: "Red", description: "Do not touch" }));
    await made(client.put(`tags/${tag.id}`, { name: "core", color: "Blue", description: "" }));
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
      .getByRole("region", { name: "Restore it as it was" })
      .getByRole("button", { name: "Restore this" })
      .click();
    await page.getByText("Done.").waitFor();
    expect(await made(client.get(`tags/${tag.id}`))).toMatchObject({ color: "Red", description: "Do not touch" });
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.troubles()).toEqual([]);
  });

  test("is accessible when deleted, and when unknown", async () => {
    await made(client.post("subnets", { network_id: appliance.networkId, cidr: "10.7.0.0/24", subnet_type: "Lan" }));
    const host = await made(
      client.post("hosts", {
        network_id: appliance.networkId,
        name: "printer",
        ip_addresses: [{ ip_address: "10.7.0.9" }],
      }),
    );
    const [address] = host.ip_addresses as readonly Wire[];
    await made(client.delete(`ip-addresses/${address?.id}`));
    await open(`/records/ip_address/${address?.id}`);
    await page.getByText("This address is gone. It was removed").waitFor();
    await page.getByRole("button", { name: "Bring it back" }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.troubles()).toEqual([]);
    await open("/records/tag/00000000-0000-4000-8000-000000000000");
    await page.getByText("Tag not found").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  });
});
