// Restores as seen in Chromium, on the executable: forms, plans and refusals under axe-core, and the focus. Writes,
// refusals and undos are in bring-back-in-process.test.ts.

import { beforeEach, describe, expect, test } from "bun:test";
import { changedHost, newTag } from "../support/appliance/changed-host.ts";
import { made, type Wire } from "../support/appliance/factories.ts";
import { accessibilityFindings, follow, hasChromium, settles } from "../support/browser/browser.ts";
import { visitForAll } from "../support/browser/visit.ts";

const PORTS = 48;
const WIDE = { width: 1280, height: 800 };

describe.skipIf(!hasChromium)("restoring", () => {
  const { appliance, client, visitor, page } = visitForAll(({ client, networkId }) =>
    made(client.post("subnets", { network_id: networkId, cidr: "10.2.3.0/24", name: "Offices", tags: [] })),
  );

  // All tests share one window.
  beforeEach(async () => {
    visitor.troubles();
    await look("light", WIDE);
  });

  async function look(colorScheme: "light" | "dark", size: { readonly width: number; readonly height: number }) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(size);
  }

  const bodyOf = ({ id, name, hidden, tags }: Wire) => ({ id, name, hidden, tags });
  const offer = (name: string) => page.getByRole("button", { name: `Restore fields of ${name}` });

  test("has an accessible field form in both color schemes, at any width", async () => {
    const { host } = await changedHost(client, appliance.networkId, "core-3");
    await look("dark", { width: 360, height: 740 });
    await follow(page, `/hosts/${host.id}?at=${host.updated_at}`);
    await page.getByRole("link", { name: "Restore…" }).click();
    await offer("core-3-new").click();
    const form = page.getByRole("form", { name: "Restore fields of core-3-new" });
    await form.getByText("without what is gone since").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await look("light", WIDE);
    await form.getByLabel("Description").check();
    await settles(() => form.getByRole("checkbox").count(), 5);
    await form.getByText("in the attic").waitFor();
    await form.getByLabel("Tags").check();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.troubles()).toEqual([]);
  });

  test("shows remaining differences at once in place, and offers concurrent changes", async () => {
    const { host } = await changedHost(client, appliance.networkId, "core-7");
    await changedHost(client, appliance.networkId, "core-8");
    await page.goto(`${appliance.url}/compare?vs=${host.updated_at}&types=host`);
    const lines = page.locator(".difference > li");
    const line = lines.filter({ hasText: "core-7" });
    await settles(
      () => line.locator("dt").allTextContents(),
      ["Asset tag", "Description", "Host name", "Name", "Tags"],
    );
    const order = async () => (await lines.allTextContents()).map((text) => /core-\d/.exec(text)?.[0]);
    await settles(order, ["core-8", "core-7"]);
    const bringBack = async (labels: readonly string[]) => {
      await offer("core-7").click();
      const form = page.getByRole("form", { name: /^Restore fields of core-7/ });
      for (const label of labels) await form.getByRole("checkbox", { name: new RegExp(`^${label}:`) }).check();
      await form.getByRole("button", { name: /^Restore (this|these)/ }).click();
      await line.getByText("Saved.").waitFor();
    };
    await bringBack(["Description", "Asset tag"]);
    await settles(() => line.locator("dt").allTextContents(), ["Host name", "Name", "Tags"]);
    const focused = () => page.evaluate("document.activeElement?.className");
    await settles(focused, "note edit-saved");
    await line.getByRole("button", { name: "Close" }).click();
    await settles(focused, "back");
    // A restored field is no longer offered.
    await offer("core-7").click();
    await settles(() => page.getByRole("form").getByRole("checkbox").count(), 3);
    await page.getByRole("form").getByRole("button", { name: "Cancel" }).click();
    await settles(focused, "back");
    await bringBack(["Host name", "Name", "Tags"]);
    // The deleted tag stays deleted, so tags still differ.
    await settles(() => line.locator("dt").allTextContents(), ["Tags"]);
    expect(await order()).toEqual(["core-8", "core-7"]);
    expect(await accessibilityFindings(page)).toEqual([]);
    const changed: Wire = await made(client.get(`hosts/${host.id}`));
    // Changes by others do not move content until accepted.
    await made(client.put(`hosts/${host.id}`, { ...bodyOf(changed), description: "by others" }));
    const offered = page.locator(".live-note");
    await offered.getByText(/^1 change since/).waitFor();
    expect(await line.locator("dt").allTextContents()).toEqual(["Tags"]);
    await offered.getByRole("button").click();
    await line.getByText("by others").waitFor();
    expect(visitor.troubles()).toEqual([]);
  });

  test("a record completely reports equality, and stays on the page", async () => {
    const host = await made(
      client.post("hosts", { network_id: appliance.networkId, name: "core-9", description: "in the cellar" }),
    );
    await made(client.put(`hosts/${host.id}`, { ...bodyOf(host), description: "in the attic" }));
    await page.goto(`${appliance.url}/compare?vs=${host.updated_at}&types=host`);
    await offer("core-9").click();
    await page.getByRole("form").getByLabel("Description").check();
    await page.getByRole("button", { name: "Restore this field" }).click();
    const line = page.locator(".difference > li").filter({ hasText: "core-9" });
    await line.getByText("back to its old value").waitFor();
    await line.getByText("Saved.").waitFor();
    const isFocusWithin = () => page.evaluate("document.activeElement.closest('.difference > li') !== null");
    await settles(isFocusWithin, true);
    expect(await accessibilityFindings(page)).toEqual([]);
    await line.getByRole("button", { name: "Close" }).click();
    await settles(isFocusWithin, true);
    expect(await offer("core-9").count()).toBe(0);
    expect(visitor.troubles()).toEqual([]);
  });

  test("a record or reverting a transaction first shows present and future values, by name", async () => {
    const { host } = await changedHost(client, appliance.networkId, "core-4");
    const tag = await newTag(client, "labelled");
    const put = (fields: object) =>
      made(client.put(`hosts/${host.id}`, { id: host.id, hidden: false, tags: [tag.id], ...fields }));
    const [old, other] = await Promise.all(
      [20, 30].map((number) =>
        made(client.post("vlans", { network_id: appliance.networkId, number, name: `vlan-${number}` })),
      ),
    );
    const named = { host_id: host.id, if_index: 1, if_descr: "Gi1/0/1", if_name: "Gi1/0/1" };
    const entry = await made(client.post("if-entries", { ...named, native_vlan_id: old?.id }));
    const { updated_at: then } = await put({ name: "core-4-new" });
    await made(client.put(`if-entries/${entry.id}`, { ...named, native_vlan_id: other?.id }));
    await put({ name: "core-5", hidden: true });
    await made(client.delete(`tags/${tag.id}`));
    const { sequence: deletion } = await made(client.get("ledger"));
    const looks = [
      { colorScheme: "light", width: 1280 },
      { colorScheme: "dark", width: 360 },
    ] as const;
    await follow(page, `/hosts/${host.id}?at=${then}`);
    for (const { colorScheme, width } of looks) {
      await look(colorScheme, { width, height: 800 });
      await page.getByRole("button", { name: "Restore this" }).click();
      const plan = page.getByRole("region", { name: "Restore it as it was" });
      const line = plan.getByRole("listitem").filter({ hasText: "Changes host core-4-new" });
      await settles(() => line.locator("dt").allTextContents(), ["Hidden", "Name"]);
      await settles(() => line.locator("del").allTextContents(), ["yes", "core-5"]);
      await settles(() => line.locator("ins").allTextContents(), ["no", "core-4-new"]);
      const part = plan.getByRole("listitem").filter({ hasText: "Changes interface Gi1/0/1" });
      await settles(() => part.locator("del").allTextContents(), ["30 vlan-30"]);
      await settles(() => part.locator("ins").allTextContents(), ["20 vlan-20"]);
      // A deleted record appears under its former name.
      await line.getByText("the tag labelled in tags is gone, so it is left out").waitFor();
      expect(await accessibilityFindings(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      // Cancel restores the focus.
      await plan.getByRole("button", { name: "Cancel" }).click();
      await plan.waitFor({ state: "detached" });
      await settles(() => page.evaluate("document.activeElement?.textContent"), "Restore this");
    }
    await look("light", WIDE);
    // Records restored along with it are listed under that heading.
    await follow(page, `/changes/${deletion}`);
    await page.getByRole("button", { name: "Undo" }).click();
    const plan = page.getByRole("region", { name: "Undo this transaction" });
    await plan.getByText("Brings back tag labelled").waitFor();
    await plan.locator("ins").getByText("labelled").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.troubles()).toEqual([]);
  });

  test("shows an accessible refusal if records changed since the plan", async () => {
    const { host, changed } = await changedHost(client, appliance.networkId, "core-6");
    await made(client.put(`hosts/${host.id}`, { ...bodyOf(changed), asset_tag: "A-3" }));
    await follow(page, `/hosts/${host.id}?at=${changed.updated_at}`);
    await page.getByRole("button", { name: "Restore this" }).click();
    const plan = page.getByRole("region", { name: "Restore it as it was" });
    await plan.locator("del").getByText("A-3").waitFor();
    await made(client.put(`hosts/${host.id}`, { ...bodyOf(changed), asset_tag: "A-4", hidden: true }));
    await plan.getByLabel("Why").fill("CHG-15");
    await plan.getByRole("button", { name: "Restore this" }).click();
    await plan.getByRole("alert").getByText("Records changed since you read this").waitFor();
    await plan.locator("del").getByText("A-4").waitFor();
    await settles(() => plan.locator("dt").allTextContents(), ["Asset tag", "Hidden"]);
    expect(await accessibilityFindings(page)).toEqual([]);
    // The browser reports the expected refusal.
    expect(visitor.troubles().filter((trouble) => !/409/.test(trouble))).toEqual([]);
  });

  test("a deleted switch includes its 48 ports, as its plan says", async () => {
    const access = await made(
      client.post("hosts", {
        network_id: appliance.networkId,
        name: "access-1",
        ip_addresses: [{ ip_address: "10.2.3.41" }, { ip_address: "10.2.3.42" }],
        interfaces: Array.from({ length: PORTS }, (_, port) => ({
          if_index: port + 1,
          if_descr: `GigabitEthernet1/0/${port + 1}`,
          if_name: `Gi1/0/${port + 1}`,
        })),
      }),
    );
    await made(client.delete(`hosts/${access.id}`));
    await follow(page, `/hosts/${access.id}`);
    await page.getByRole("heading", { name: "This host is gone" }).waitFor();
    await page.getByRole("link", { name: "Show it as it was last" }).click();
    await page.getByRole("button", { name: "Restore this" }).click();
    const plan = page.getByRole("region", { name: "Restore it as it was" });
    await plan.getByText("Brings back address 10.2.3.41").waitFor();
    // Children are counted, with a list on demand.
    await plan.getByText(`Brings back ${PORTS} interfaces`).click();
    await plan.getByText("Brings back interface Gi1/0/48").waitFor();
    await settles(() => plan.getByText(/^Brings back interface/).count(), PORTS);
    expect(await accessibilityFindings(page)).toEqual([]);
    await plan.getByLabel("Why").fill("CHG-14: deleted by mistake");
    await plan.getByRole("button", { name: "Restore this" }).click();
    await plan.getByText("Done.").waitFor();
    expect((await made(client.get(`hosts/${access.id}`))).interfaces).toHaveLength(PORTS);
    // The page requests the record while it is deleted, and expects the 404.
    expect(visitor.troubles().filter((trouble) => !/404/.test(trouble))).toEqual([]);
  });
});
