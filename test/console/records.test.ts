// Creation, editing and deletion of records in Chromium, on the executable, from lists and pages.

import { afterEach, describe, expect, test } from "bun:test";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import {
  accessibilityFindings,
  expectAccessibleInBoth,
  expectEventually,
  hasChromium,
} from "../support/browser/browser.ts";
import { visitForAll } from "../support/browser/visit.ts";

describe.skipIf(!hasChromium)("creating and deleting records", () => {
  const { appliance, client, visitor, page } = visitForAll();

  afterEach(() => expect(visitor.problems()).toEqual([]));

  const open = (path: string) => page.goto(appliance.url + path);
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const list = (path: string) => expectOk(client.get(path)) as unknown as Promise<JsonRecord[]>;
  const newHost = (name: string) => expectOk(client.post("hosts", { network_id: appliance.networkId, name }));

  test("creates a host from the list, shows missing fields, and opens it", async () => {
    await open("/hosts");
    await button("New host").click();
    await page.getByText("Required: Network, Name.").waitFor();
    await expectEventually(() => button("Create").isDisabled(), true);
    await page.getByRole("form").getByLabel("Network", { exact: true }).selectOption({ index: 1 });
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("dist-1");
    await page.getByLabel("Why").fill("new in hall 3");
    await page.reload();
    await expectEventually(() => page.getByRole("textbox", { name: "Name", exact: true }).inputValue(), "dist-1");
    await expectAccessibleInBoth(page);
    await button("Create").click();
    await page.getByText("Created.").waitFor();
    await page.getByRole("link", { name: "dist-1" }).waitFor();
    await page.getByRole("link", { name: "Show it" }).click();
    await page.getByRole("heading", { name: "dist-1" }).waitFor();
    const [host] = await list("hosts?search=dist-1");
    const [version] = (await list(`hosts/${host?.id}/history`)) as unknown as { transaction: { reason: string } }[];
    expect(version?.transaction.reason).toBe("new in hall 3");
  });

  test("edits a list cell in place, or the focused row, by keyboard only", async () => {
    await expectOk(client.post("tags", { name: "wireless", color: "Sky", description: "Access points" }));
    await open("/settings/tags");
    await page.getByRole("row").filter({ hasText: "wireless" }).getByText("Access points").dblclick();
    const form = page.getByRole("form", { name: "Edit tag" });
    await form.getByRole("heading", { name: "Edit tag wireless" }).waitFor();
    const description = form.getByLabel("Description");
    await description.fill("Access points and bridges");
    expect(await form.getByLabel("Name", { exact: true }).count()).toBe(0);
    expect(await accessibilityFindings(page)).toEqual([]);
    // Typed text is kept when all fields are shown.
    await form.getByRole("link", { name: "All fields" }).click();
    await form.getByLabel("Color").selectOption("Cyan");
    await expectEventually(() => description.inputValue(), "Access points and bridges");
    await button("Save").click();
    await page.getByText("Saved.").waitFor();
    await page.getByRole("row").filter({ hasText: "Access points and bridges" }).filter({ hasText: "Cyan" }).waitFor();
    expect((await list("tags?search=wireless"))[0]).toMatchObject({ color: "Cyan" });
    await open("/settings/tags?filter=name%20=%20%22wireless%22");
    await page.getByRole("row").filter({ hasText: "wireless" }).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("e");
    await form.getByLabel("Name", { exact: true }).waitFor();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("wifi");
    await page.keyboard.press("Enter");
    await page.getByText("Saved.").waitFor();
    await expectEventually(async () => (await list("tags?search=wifi")).length, 1);
    // Cancel returns the focus to the row.
    await open("/settings/tags");
    await page.getByRole("row").filter({ hasText: "wifi" }).getByText("Cyan").dblclick();
    await form.getByLabel("Color").waitFor();
    await button("Cancel").click();
    await form.waitFor({ state: "detached" });
    await expectEventually(() => page.evaluate("document.activeElement.getAttribute('aria-label')"), "Select wifi");
  });

  test("binds a service to a port and an address, and deletes the binding", async () => {
    const host = await newHost("web-3");
    await expectOk(client.post("subnets", { network_id: appliance.networkId, cidr: "10.6.0.0/24", name: "Web" }));
    await expectOk(client.post("ip-addresses", { host_id: host.id, ip_address: "10.6.0.7" }));
    await expectOk(client.post("ports", { host_id: host.id, number: 8443, protocol: "Tcp" }));
    await expectOk(client.post("services", { host_id: host.id, name: "portal", service_definition: "Https" }));
    await open(`/hosts/${host.id}?tab=services`);
    await button("Bind portal").click();
    await page.getByRole("combobox", { name: "Port", exact: true }).selectOption({ label: "8443/Tcp" });
    await page.getByRole("combobox", { name: "Address", exact: true }).selectOption({ label: "10.6.0.7" });
    await button("Bind").click();
    await page.getByRole("listitem").filter({ hasText: "8443/Tcp at 10.6.0.7" }).waitFor();
    expect(await list(`bindings?host_id=${host.id}`)).toMatchObject([{ type: "Port" }]);
    expect(await accessibilityFindings(page)).toEqual([]);
    await button("Remove 8443/Tcp at 10.6.0.7").click();
    await page.getByRole("listitem").filter({ hasText: "8443/Tcp at" }).waitFor({ state: "detached" });
    expect(await list(`bindings?host_id=${host.id}`)).toEqual([]);
  });

  test("accepts a conflict with a reason, and reopens it", async () => {
    const hosts = [await newHost("twin-1"), await newHost("twin-2")];
    await expectOk(client.post("subnets", { network_id: appliance.networkId, cidr: "10.7.0.0/24", name: "Twins" }));
    for (const { id } of hosts) await expectOk(client.post("ip-addresses", { host_id: id, ip_address: "10.7.0.9" }));
    await open("/conflicts");
    await button("Accept: 10.7.0.9").click();
    await page.getByLabel("Reason for accepting").fill("a cluster");
    await page.keyboard.press("Enter");
    await page.getByText("There are no open conflicts.").waitFor();
    await open("/conflicts?show=accepted");
    await page.getByText("a cluster").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await button("Reopen: 10.7.0.9").click();
    await page.getByText("No conflict has been accepted.").waitFor();
    expect(await list("conflicts?accepted=false")).toMatchObject([{ value: "10.7.0.9" }]);
  });
});
