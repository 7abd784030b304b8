// Making and removing records in Chromium, on the executable: from lists and from pages, with what depends on them, and the
// way back.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { made, type Wire } from "../support/appliance/factories.ts";
import { accessibilityFindings, closeBrowser, hasChromium, settles, Visitor } from "../support/browser/browser.ts";
import { ensureExecutable, PASSWORD, type Running, type SetUp, Workplace } from "../support/executable/executable.ts";

const OWNER = "owner@acme.example";
const VIEWER = "viewer@acme.example";

describe.skipIf(!hasChromium)("whoever makes and removes records", () => {
  let workplace: Workplace;
  let appliance: SetUp & { readonly running: Running; readonly client: ReturnType<Running["withKey"]> };
  let visitor: Visitor;
  let page: Page;

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    appliance = await workplace.serveSetUp();
    await workplace.command(
      ...["user", "create", "--email", VIEWER, "--role", "Viewer", "--networks", appliance.networkId],
      ...["--password-file", await workplace.passwordFile()],
    );
    visitor = await Visitor.arrive(appliance.running.url);
    page = await visitor.signIn(OWNER, PASSWORD);
  });

  beforeEach(() => {
    visitor.troubles();
  });

  afterAll(async () => {
    await visitor.leave();
    await closeBrowser();
    await workplace.close();
  });

  const open = (path: string) => page.goto(appliance.running.url + path);
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const list = (path: string) => made(appliance.client.get(path)) as unknown as Promise<Wire[]>;
  const newHost = (name: string) => made(appliance.client.post("hosts", { network_id: appliance.networkId, name }));

  test("makes a host from the list, is told what is still needed, and is led to it", async () => {
    await open("/hosts");
    await button("New host").click();
    await page.getByText("Still needed: Network, Name.").waitFor();
    await settles(() => button("Create").isDisabled(), true);
    await page.getByRole("form").getByLabel("Network", { exact: true }).selectOption({ index: 1 });
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("dist-1");
    await page.getByLabel("Why").fill("new in hall 3");
    await page.reload();
    await settles(() => page.getByRole("textbox", { name: "Name", exact: true }).inputValue(), "dist-1");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect([colorScheme, await accessibilityFindings(page)]).toEqual([colorScheme, []]);
    }
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

  test("gives a host an address, a port and a service, mends one and takes one away again", async () => {
    const host = await newHost("web-1");
    await open(`/hosts/${host.id}?tab=addresses`);
    await button("New address").click();
    await page.getByLabel("Address", { exact: true }).fill("10.3.0.5");
    await button("Create").click();
    await page.getByText("is in no subnet of the host's network; create the subnet first").waitFor();
    expect(visitor.troubles()).toHaveLength(2);
    await made(
      appliance.client.post("subnets", { network_id: appliance.networkId, cidr: "10.3.0.0/24", name: "Servers" }),
    );
    await button("Create").click();
    await page.getByText("Created.").waitFor();
    await page.getByRole("cell", { name: "10.3.0.5", exact: true }).waitFor();
    await page.getByRole("link", { name: "Edit 10.3.0.5" }).click();
    await page.getByLabel("MAC address").fill("00-1B-21-AA-BB-CC");
    await button("Save").click();
    await page.getByText("Saved.").waitFor();
    await open(`/hosts/${host.id}?tab=services`);
    await button("New port").click();
    await page.getByLabel("Number").fill("70000");
    await page.getByText("A number from 1 to 65535.").waitFor();
    await page.getByLabel("Number").fill("443");
    await button("Create").click();
    await page.getByText("Created.").waitFor();
    await button("New service").click();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("shop");
    await page.getByRole("textbox", { name: "Service", exact: true }).fill("Https");
    await button("Create").click();
    await page.getByRole("cell", { name: "shop", exact: true }).waitFor();
    const now = await made(appliance.client.get(`hosts/${host.id}`));
    expect(now).toMatchObject({
      ip_addresses: [{ ip_address: "10.3.0.5", mac_address: "00:1b:21:aa:bb:cc" }],
      ports: [{ number: 443, protocol: "Tcp" }],
      services: [{ name: "shop", service_definition: "Https" }],
    });
    await page.getByRole("link", { name: "Edit 443/Tcp" }).click();
    await page.getByRole("link", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "Delete port 443/Tcp" }).waitFor();
    await button("Delete").click();
    await page.getByText("Deleted.").waitFor();
    expect(await list(`ports?host_id=${host.id}`)).toEqual([]);
    await button("Undo").click();
    await button("Undo it").click();
    await page.getByText("Done.").waitFor();
    expect(await list(`ports?host_id=${host.id}`)).toMatchObject([{ number: 443 }]);
    expect(visitor.troubles()).toEqual([]);
  });

  test("is told what depends on a network, keeps it, or removes all of it and brings it back", async () => {
    const network = await made(appliance.client.post("networks", { name: "Branch" }));
    const vlan = await made(appliance.client.post("vlans", { network_id: network.id, number: 30, name: "Till" }));
    await made(
      appliance.client.post("subnets", { network_id: network.id, cidr: "10.30.0.0/24", vlan_id: vlan.id, name: "x" }),
    );
    await open(`/vlans/${vlan.id}`);
    await button("Delete").click();
    await page.getByRole("heading", { name: "Delete VLAN 30 Till" }).waitFor();
    await page.getByLabel("Why").fill("branch closed");
    await button("Delete").click();
    await page.getByRole("alert").getByText("in use").waitFor();
    expect(await list(`vlans?network_id=${network.id}`)).toHaveLength(1);
    expect(visitor.troubles().filter((each) => !each.includes("409"))).toEqual([]);
    await button("Delete all the same").click();
    await page.getByRole("heading", { name: "This VLAN is gone" }).waitFor();
    await page.getByText("branch closed").waitFor();
    expect(await list(`vlans?network_id=${network.id}`)).toEqual([]);
    await button("Bring it back").click();
    await page.locator(".plan").getByText("VLAN", { exact: true }).waitFor();
    await button("Bring it back").click();
    await page.getByText("Done.").waitFor();
    expect(await list(`vlans?network_id=${network.id}`)).toHaveLength(1);
    expect(visitor.troubles()).toEqual([]);
  });

  test("sets up a network, a tag, a custom field and a marker in the settings, and a range among the subnets", async () => {
    const name = () => page.getByRole("form").getByLabel("Name", { exact: true });
    await open("/settings/networks");
    await button("New network").click();
    await name().fill("Warehouse");
    await page.getByRole("form").getByLabel("Stale after, hours").fill("48");
    await button("Create").click();
    await page.getByRole("cell", { name: "Warehouse", exact: true }).waitFor();
    await open("/settings/tags");
    await button("New tag").click();
    await name().fill("leased");
    await page.getByRole("form").getByLabel("Color").selectOption("Amber");
    await button("Create").click();
    await page.getByRole("cell", { name: "leased", exact: true }).waitFor();
    await open("/settings/custom-fields");
    await button("New custom field").click();
    await page.getByRole("form").getByLabel("Key").fill("rack_unit");
    await page.getByRole("form").getByLabel("hosts").check();
    await page.getByRole("form").getByLabel("Type").selectOption("number");
    await page.getByRole("form").getByLabel("Default").fill("12");
    await button("Create").click();
    await page.getByRole("cell", { name: "rack_unit" }).first().waitFor();
    await open("/settings/markers");
    await button("New marker").click();
    await name().fill("before the move");
    await page.getByRole("form").getByLabel("Instant").fill("2026-03-01 03:12");
    await button("Create").click();
    await page.getByRole("cell", { name: "before the move", exact: true }).waitFor();
    await made(
      appliance.client.post("subnets", { network_id: appliance.networkId, cidr: "10.4.0.0/24", name: "DHCP" }),
    );
    await open("/subnets/ranges");
    await button("New range").click();
    await page.getByRole("form").getByLabel("Network", { exact: true }).selectOption(appliance.networkId);
    await page.getByRole("form").getByLabel("First").fill("10.4.0.100");
    await page.getByRole("form").getByLabel("Last").fill("10.4.0.200");
    await page.getByRole("form").getByLabel("Purpose").selectOption("Dhcp");
    await button("Create").click();
    await page.getByRole("cell", { name: "10.4.0.100", exact: true }).waitFor();
    expect(await list("networks?search=Warehouse")).toMatchObject([{ stale_after_hours: 48 }]);
    expect(await list("tags")).toMatchObject([{ name: "leased", color: "Amber" }]);
    expect(await list("custom-fields")).toMatchObject([
      { key: "rack_unit", type: "number", kinds: ["host"], default: 12 },
    ]);
    const [marker] = await list("markers");
    expect([marker?.name, String(marker?.at).slice(0, 4)]).toEqual(["before the move", "2026"]);
    expect(await list("ip-ranges")).toMatchObject([{ first: "10.4.0.100", purpose: "Dhcp" }]);
    // Of a record on a list: marked, then edited.
    await open("/settings/tags");
    await page.getByLabel("Select leased").check();
    await button("Edit").click();
    await name().fill("rented");
    await button("Save").click();
    await page.getByRole("cell", { name: "rented", exact: true }).waitFor();
    expect(visitor.troubles()).toEqual([]);
  });

  test("edits one cell of a list where it stands, or the row that was walked to, with the keyboard alone", async () => {
    const { client } = appliance;
    await made(client.post("tags", { name: "wireless", color: "Sky", description: "Access points" }));
    await open("/settings/tags");
    await page.getByRole("row").filter({ hasText: "wireless" }).getByText("Access points").dblclick();
    const form = page.getByRole("form", { name: "Edit tag" });
    await form.getByRole("heading", { name: "Edit tag wireless" }).waitFor();
    const description = form.getByLabel("Description");
    await description.fill("Access points and bridges");
    expect(await form.getByLabel("Name", { exact: true }).count()).toBe(0);
    expect(await accessibilityFindings(page)).toEqual([]);
    // What was typed stays where all fields are shown.
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
    // Given up, the row has the focus again.
    await open("/settings/tags");
    await page.getByRole("row").filter({ hasText: "wifi" }).getByText("Cyan").dblclick();
    await form.getByLabel("Color").waitFor();
    await button("Cancel").click();
    await form.waitFor({ state: "detached" });
    await settles(() => page.evaluate("document.activeElement.getAttribute('aria-label')"), "Select wifi");
    expect(visitor.troubles()).toEqual([]);
  });

  test("binds a service to a port and an address, and ends the binding", async () => {
    const host = await newHost("web-3");
    await made(appliance.client.post("subnets", { network_id: appliance.networkId, cidr: "10.6.0.0/24", name: "Web" }));
    await made(appliance.client.post("ip-addresses", { host_id: host.id, ip_address: "10.6.0.7" }));
    await made(appliance.client.post("ports", { host_id: host.id, number: 8443, protocol: "Tcp" }));
    await made(appliance.client.post("services", { host_id: host.id, name: "portal", service_definition: "Https" }));
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

  test("gives the next free addresses of a subnet away, to a host or as reservations, and takes them back", async () => {
    const subnet = await made(
      appliance.client.post("subnets", { network_id: appliance.networkId, cidr: "10.5.0.0/29", name: "Lab" }),
    );
    const host = await newHost("lab-1");
    await open(`/subnets/${subnet.id}`);
    await button("Allocate next free").click();
    await page.getByLabel("How many").fill("101");
    await page.getByText("A number from 1 to 100.").waitFor();
    await page.getByLabel("How many").fill("2");
    await page.getByLabel("What for").fill("the new printer");
    await button("Reserve them").click();
    await page.getByText("Allocated: 10.5.0.1, 10.5.0.2").waitFor();
    expect(await list(`ip-ranges?subnet_id=${subnet.id}`)).toMatchObject([
      { first: "10.5.0.1", purpose: "Reserved", description: "the new printer" },
      { first: "10.5.0.2" },
    ]);
    await page.getByLabel("How many").fill("1");
    await page.getByLabel("To the host").pressSequentially("lab");
    const option = page.locator('datalist option[value^="lab-1"]');
    await option.waitFor({ state: "attached" });
    await page.getByLabel("To the host").fill((await option.getAttribute("value")) ?? "");
    await button("Allocate them").click();
    await page.getByText("Allocated: 10.5.0.3").waitFor();
    // A host that was typed and is none, or one of several, is not nobody.
    await page.getByLabel("To the host").fill("lab-2");
    await page.getByText("No host is called that.").waitFor();
    await settles(() => button("Allocate them").isDisabled(), true);
    await page.getByLabel("To the host").fill("LAB-1");
    await settles(() => button("Allocate them").isEnabled(), true);
    await page.getByLabel("To the host").press("End");
    await page.getByLabel("To the host").press("Space");
    await settles(() => button("Allocate them").isEnabled(), true);
    // Nor is one that others of the same beginning hide, of whom more are found than offered.
    await made(
      appliance.client.post(
        "hosts/bulk",
        [...Array.from({ length: 25 }, (_, index) => `shop-${index}`), "shop"].map((name) => ({
          network_id: appliance.networkId,
          name,
        })),
      ),
    );
    await page.getByLabel("To the host").fill("shop");
    await settles(() => button("Allocate them").isEnabled(), true);
    expect(await list(`ip-addresses?host_id=${host.id}`)).toMatchObject([{ ip_address: "10.5.0.3" }]);
    await button("Undo").click();
    await button("Undo it").click();
    await page.getByText("Done.").waitFor();
    expect(await list(`ip-addresses?host_id=${host.id}`)).toEqual([]);
    expect(visitor.troubles()).toEqual([]);
  });

  test("accepts a conflict with a reason, and takes that back", async () => {
    const two = [await newHost("twin-1"), await newHost("twin-2")];
    await made(
      appliance.client.post("subnets", { network_id: appliance.networkId, cidr: "10.7.0.0/24", name: "Twins" }),
    );
    for (const { id } of two)
      await made(appliance.client.post("ip-addresses", { host_id: id, ip_address: "10.7.0.9" }));
    await open("/conflicts");
    await button("Accept: 10.7.0.9").click();
    await page.getByLabel("Why it may stay").fill("a cluster");
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

  test("is not offered it without the right", async () => {
    const host = await newHost("web-2");
    const looker = await Visitor.arrive(appliance.running.url);
    const seen = await looker.signIn(VIEWER, PASSWORD, `/hosts/${host.id}?new=ip_address&tab=addresses`);
    await seen.getByRole("heading", { name: "web-2" }).waitFor();
    await seen.getByText("No addresses", { exact: false }).waitFor();
    expect(await seen.getByRole("button", { name: "New address" }).count()).toBe(0);
    expect(await seen.getByRole("button", { name: "Delete", exact: true }).count()).toBe(0);
    expect(await seen.getByRole("button", { name: "Create" }).count()).toBe(0);
    await looker.leave();
  });
});
