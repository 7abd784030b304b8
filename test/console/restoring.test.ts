// Restoring in Chromium, on the executable: forms, plans and errors under axe-core, and the focus.
// restoring-in-process.test.ts covers writes, rejections and undos.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { changedHost, newTag } from "../support/appliance/changed-host.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { accessibilityFindings, expectEventually, follow, hasChromium } from "../support/browser/browser.ts";
import { visitForAll } from "../support/browser/visit.ts";

const PORTS = 48;
const WIDE = { width: 1280, height: 800 };

describe.skipIf(!hasChromium)("restoring", () => {
  const { appliance, client, visitor, page } = visitForAll(({ client, networkId }) =>
    expectOk(client.post("subnets", { network_id: networkId, cidr: "10.2.3.0/24", name: "Offices", tags: [] })),
  );

  // All tests share one window.
  beforeEach(() => setAppearance("light", WIDE));
  afterEach(() => expect(visitor.problems()).toEqual([]));

  async function setAppearance(
    colorScheme: "light" | "dark",
    size: { readonly width: number; readonly height: number },
  ) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(size);
  }

  const bodyOf = ({ id, name, hidden, tags }: JsonRecord) => ({ id, name, hidden, tags });
  const offer = (name: string) => page.getByRole("button", { name: `Restore fields of ${name}` });

  test("has an accessible field form in both color schemes, at any width", async () => {
    const { host } = await changedHost(client, appliance.networkId, "core-3");
    await setAppearance("dark", { width: 360, height: 740 });
    await follow(page, `/hosts/${host.id}?at=${host.updated_at}`);
    await page.getByRole("link", { name: "Restore…" }).click();
    await offer("core-3-new").click();
    const form = page.getByRole("form", { name: "Restore fields of core-3-new" });
    await form.getByText("without records deleted since").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await setAppearance("light", WIDE);
    await form.getByLabel("Description").check();
    await expectEventually(() => form.getByRole("checkbox").count(), 5);
    await form.getByText("in the attic").waitFor();
    await form.getByLabel("Tags").check();
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  test("focuses the notice once saved, and the line once that is closed or the form canceled", async () => {
    const { host } = await changedHost(client, appliance.networkId, "core-7");
    await page.goto(`${appliance.url}/compare?vs=${host.updated_at}&types=host`);
    const line = page.locator(".difference > li").filter({ hasText: "core-7" });
    const focused = () => page.evaluate("document.activeElement?.className");
    await offer("core-7").click();
    const form = page.getByRole("form", { name: /^Restore fields of core-7/ });
    await form.getByRole("checkbox", { name: /^Description:/ }).check();
    await form.getByRole("button", { name: "Restore this field" }).click();
    await line.getByText("Saved.").waitFor();
    await expectEventually(() => line.locator("dt").allTextContents(), ["Asset tag", "Host name", "Name", "Tags"]);
    await expectEventually(focused, "note edit-saved");
    expect(await accessibilityFindings(page)).toEqual([]);
    await line.getByRole("button", { name: "Close" }).click();
    await expectEventually(focused, "restore-open");
    await offer("core-7").click();
    await page.getByRole("form").getByRole("button", { name: "Cancel" }).click();
    await expectEventually(focused, "restore-open");
  });

  test("a record completely reports equality, and stays on the page", async () => {
    const host = await expectOk(
      client.post("hosts", { network_id: appliance.networkId, name: "core-9", description: "in the cellar" }),
    );
    await expectOk(client.put(`hosts/${host.id}`, { ...bodyOf(host), description: "in the attic" }));
    await page.goto(`${appliance.url}/compare?vs=${host.updated_at}&types=host`);
    await offer("core-9").click();
    await page.getByRole("form").getByLabel("Description").check();
    await page.getByRole("button", { name: "Restore this field" }).click();
    const line = page.locator(".difference > li").filter({ hasText: "core-9" });
    await line.getByText("restored to its old value").waitFor();
    await line.getByText("Saved.").waitFor();
    const isFocusWithin = () => page.evaluate("document.activeElement.closest('.difference > li') !== null");
    await expectEventually(isFocusWithin, true);
    expect(await accessibilityFindings(page)).toEqual([]);
    await line.getByRole("button", { name: "Close" }).click();
    await expectEventually(isFocusWithin, true);
    expect(await offer("core-9").count()).toBe(0);
  });

  test("a record or reverting a transaction first shows current and new values, by name", async () => {
    const { host } = await changedHost(client, appliance.networkId, "core-4");
    const tag = await newTag(client, "labelled");
    const put = (fields: object) =>
      expectOk(client.put(`hosts/${host.id}`, { id: host.id, hidden: false, tags: [tag.id], ...fields }));
    const [old, other] = await Promise.all(
      [20, 30].map((number) =>
        expectOk(client.post("vlans", { network_id: appliance.networkId, number, name: `vlan-${number}` })),
      ),
    );
    const interfaceBody = { host_id: host.id, if_index: 1, if_descr: "Gi1/0/1", if_name: "Gi1/0/1" };
    const entry = await expectOk(client.post("if-entries", { ...interfaceBody, native_vlan_id: old?.id }));
    const { updated_at: restorePoint } = await put({ name: "core-4-new" });
    await expectOk(client.put(`if-entries/${entry.id}`, { ...interfaceBody, native_vlan_id: other?.id }));
    await put({ name: "core-5", hidden: true });
    await expectOk(client.delete(`tags/${tag.id}`));
    const { sequence: deletion } = await expectOk(client.get("ledger"));
    const appearances = [
      { colorScheme: "light", width: 1280 },
      { colorScheme: "dark", width: 360 },
    ] as const;
    await follow(page, `/hosts/${host.id}?at=${restorePoint}`);
    for (const { colorScheme, width } of appearances) {
      await setAppearance(colorScheme, { width, height: 800 });
      await page.getByRole("button", { name: "Restore this" }).click();
      const plan = page.getByRole("region", { name: "Restore this state" });
      const line = plan.getByRole("listitem").filter({ hasText: "Changes host core-4-new" });
      await expectEventually(() => line.locator("dt").allTextContents(), ["Hidden", "Name"]);
      await expectEventually(() => line.locator("del").allTextContents(), ["yes", "core-5"]);
      await expectEventually(() => line.locator("ins").allTextContents(), ["no", "core-4-new"]);
      const part = plan.getByRole("listitem").filter({ hasText: "Changes interface Gi1/0/1" });
      await expectEventually(() => part.locator("del").allTextContents(), ["30 vlan-30"]);
      await expectEventually(() => part.locator("ins").allTextContents(), ["20 vlan-20"]);
      // A deleted record appears under its former name.
      await line.getByText("the tag labelled in tags no longer exists, so it is omitted").waitFor();
      expect(await accessibilityFindings(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      // Cancel restores the focus.
      await plan.getByRole("button", { name: "Cancel" }).click();
      await plan.waitFor({ state: "detached" });
      await expectEventually(() => page.evaluate("document.activeElement?.textContent"), "Restore this");
    }
    await setAppearance("light", WIDE);
    // Records restored along with it are listed under that heading.
    await follow(page, `/changes/${deletion}`);
    await page.getByRole("button", { name: "Undo" }).click();
    const plan = page.getByRole("region", { name: "Undo this transaction" });
    await plan.getByText("Restores tag labelled").waitFor();
    await plan.locator("ins").getByText("labelled").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  test("shows an accessible error if records changed since the plan", async () => {
    const { host, changed } = await changedHost(client, appliance.networkId, "core-6");
    await expectOk(client.put(`hosts/${host.id}`, { ...bodyOf(changed), asset_tag: "A-3" }));
    await follow(page, `/hosts/${host.id}?at=${changed.updated_at}`);
    await page.getByRole("button", { name: "Restore this" }).click();
    const plan = page.getByRole("region", { name: "Restore this state" });
    await plan.locator("del").getByText("A-3").waitFor();
    await expectOk(client.put(`hosts/${host.id}`, { ...bodyOf(changed), asset_tag: "A-4", hidden: true }));
    await plan.getByLabel("Why").fill("CHG-15");
    await plan.getByRole("button", { name: "Restore this" }).click();
    await plan.getByRole("alert").getByText("Records have changed in the meantime").waitFor();
    await plan.locator("del").getByText("A-4").waitFor();
    await expectEventually(() => plan.locator("dt").allTextContents(), ["Asset tag", "Hidden"]);
    expect(await accessibilityFindings(page)).toEqual([]);
    // The browser reports the expected refusal.
    expect(visitor.problems().filter((problem) => !/409/.test(problem))).toEqual([]);
  });

  test("a deleted switch has an accessible plan with its 48 ports", async () => {
    const access = await expectOk(
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
    await expectOk(client.delete(`hosts/${access.id}`));
    await follow(page, `/hosts/${access.id}`);
    await page.getByRole("heading", { name: "This host no longer exists" }).waitFor();
    await page.getByRole("link", { name: "Show last state" }).click();
    await page.getByRole("button", { name: "Restore this" }).click();
    const plan = page.getByRole("region", { name: "Restore this state" });
    await plan.getByText(`Restores ${PORTS} interfaces`).click();
    await expectEventually(() => plan.getByText(/^Restores interface/).count(), PORTS);
    expect(await accessibilityFindings(page)).toEqual([]);
    // The page requests the record while it is deleted, and expects the 404.
    expect(visitor.problems().filter((problem) => !/404/.test(problem))).toEqual([]);
  });
});
