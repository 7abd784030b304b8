// Creating and deleting records in Chromium, on the executable: from lists and pages, with dependents, and the way
// back.

import { beforeEach, describe, expect, test } from "bun:test";
import { made, type Wire } from "../support/appliance/factories.ts";
import { accessibilityFindings, expectAccessibleInBoth, hasChromium, settles } from "../support/browser/browser.ts";
import { visitForAll } from "../support/browser/visit.ts";

describe.skipIf(!hasChromium)("creating and deleting records", () => {
  const { appliance, client, visitor, page } = visitForAll();

  beforeEach(() => void visitor.troubles());

  const open = (path: string) => page.goto(appliance.url + path);
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const list = (path: string) => made(client.get(path)) as unknown as Promise<Wire[]>;
  const newHost = (name: string) => made(client.post("hosts", { network_id: appliance.networkId, name }));

  test("creates a host from the list, shows missing fields, and opens it", async () => {
    await open("/hosts");
    await button("New host").click();
    await page.getByText("Still needed: Network, Name.").waitFor();
    await settles(() => button("Create").isDisabled(), true);
    await page.getByRole("form").getByLabel("Network", { exact: true }).selectOption({ index: 1 });
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("dist-1");
    await page.getByLabel("Why").fill("new in hall 3");
    await page.reload();
    await settles(() => page.getByRole("textbox", { name: "Name", exact: true }).inputValue(), "dist-1");
    await expectAccessibleInBoth(page);
    await button("Create").click();
    await page.getByText("Created.").waitFor();
    await page.getByRole("link", { name: "dist-1" }).waitFor();
    await page.getByRole("link", { name: "Show it" }).click();
    await page.getByRole("heading", { name: "dist-1" }).waitFor();
    const [host] = await list("hosts?search=dist-1");
    const [version] = (await list(`hosts/${host?.id}/history`)) as unknown as { transaction: { reason: string } }[];
    expect(version?.transaction.reason).toBe("new in hall 3");
    expect(visitor.troubles()).toEqual([]);
  });

  test("edits a list cell in place, or the focused row, by keyboard only", async () => {
    await made(client.post("tags", { name: "wireless", color: "Sky", description: "Access points" }));
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
    await settles(() => description.inputValue(), "Access points and bridges");
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
    await settles(async () => (await list("tags?search=wifi")).length, 1);
    // Cancel returns the focus to the row.
    await open("/settings/tags");
    await page.getByRole("row").filter({ hasText: "wifi" }).getByText("Cyan").dblclick();
    await form.getByLabel("Color").waitFor();
    await button("Cancel").click();
    await form.waitFor({ state: "detached" });
    await settles(() => page.evaluate("document.activeElement.getAttribute('aria-label')"), "Select wifi");
    expect(visitor.troubles()).toEqual([]);
  });

  test("binds a service to a port and an address, and deletes the binding", async () => {
    const host = await newHost("web-3");
    await made(client.post("subnets", { network_id: appliance.networkId, cidr: "10.6.0.0/24", name: "Web" }));
    await made(client.post("ip-addresses", { host_id: host.id, ip_address: "10.6.0.7" }));
    await made(client.post("ports", { host_id: host.id, number: 8443, protocol: "Tcp" }));
    await made(client.post("services", { host_id: host.id, name: "portal", service_definition: "Https" }));
    await open(`/hosts/${host.id}?tab=services`);
    await button("Bind portal").click();
    await page.getByRole("combobox", { name: "Port", exact: true }).selectOption({ label: "8443/Tcp" });
    await page.getByRole("combobox", { name: "Address", exact: true }).selectOption({ label: "10.6.0.7" });
    await button("Bind").click();
    await page.getByRole("listitem").filter({ hasText: "8443/Tcp at 10.6.0.7" }).waitFor();
    expect(await list(`bindings?host_id=${host.id}`)).toMatchObject([{ type: "Port" }]);
    expect(await accessibilityFindings(page)).toEqual([]);
    await button("End 8443/Tcp at 10.6.0.7").click();
    await page.getByRole("listitem").filter({ hasText: "8443/Tcp at" }).waitFor({ state: "detached" });
    expect(await list(`bindings?host_id=${host.id}`)).toEqual([]);
    expect(visitor.troubles()).toEqual([]);
  });

  test("accepts a conflict with a reason, and withdraws that", async () => {
    const two = [await newHost("twin-1"), await newHost("twin-2")];
    await made(client.post("subnets", { network_id: appliance.networkId, cidr: "10.7.0.0/24", name: "Twins" }));
    for (const { id } of two) await made(client.post("ip-addresses", { host_id: id, ip_address: "10.7.0.9" }));
    await open("/conflicts");
    await button("Accept: 10.7.0.9").click();
    await page.getByLabel("Reason to accept it").fill("a cluster");
    await page.keyboard.press("Enter");
    await page.getByText("There are no open conflicts.").waitFor();
    await open("/conflicts?show=accepted");
    await page.getByText("a cluster").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await button("Withdraw: 10.7.0.9").click();
    await page.getByText("No conflict has been accepted.").waitFor();
    expect(await list("conflicts?accepted=false")).toMatchObject([{ value: "10.7.0.9" }]);
    expect(visitor.troubles()).toEqual([]);
  });
});
