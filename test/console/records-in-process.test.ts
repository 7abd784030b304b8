// Creation, deletion and restoration of records in the test process: from lists and pages, with dependents.

import { afterEach, describe, expect, test } from "bun:test";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { visitForAll } from "../support/page/visit.ts";
import { expectEventually } from "../support/page/waiting.ts";

const VIEWER = "viewer@acme.example";

describe("creating and deleting records", () => {
  const { appliance, client, visitor, page } = visitForAll(({ addUser, networkId }) =>
    addUser(VIEWER, "Viewer", [networkId]),
  );

  afterEach(() => expect(visitor.problems()).toEqual([]));

  const open = (path: string) => page.goto(appliance.url + path);
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const list = (path: string) => expectOk(client.get(path)) as unknown as Promise<JsonRecord[]>;
  const newHost = (name: string) => expectOk(client.post("hosts", { network_id: appliance.networkId, name }));

  test("adds an address, a port and a service to a host, edits one and deletes one", async () => {
    const host = await newHost("web-1");
    await open(`/hosts/${host.id}?tab=addresses`);
    await button("New address").click();
    await page.getByLabel("Address", { exact: true }).fill("10.3.0.5");
    await button("Create").click();
    await page.getByText("is in no subnet of the host's network; create the subnet first").waitFor();
    expect(visitor.problems()).toHaveLength(2);
    await expectOk(client.post("subnets", { network_id: appliance.networkId, cidr: "10.3.0.0/24", name: "Servers" }));
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
    const updated = await expectOk(client.get(`hosts/${host.id}`));
    expect(updated).toMatchObject({
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
    await button("Undo").click();
    await page.getByText("Done.").waitFor();
    expect(await list(`ports?host_id=${host.id}`)).toMatchObject([{ number: 443 }]);
  });

  test("refuses to delete a VLAN in use, deletes it on confirmation, and restores it", async () => {
    const network = await expectOk(client.post("networks", { name: "Branch" }));
    const vlan = await expectOk(client.post("vlans", { network_id: network.id, number: 30, name: "Till" }));
    await expectOk(
      client.post("subnets", { network_id: network.id, cidr: "10.30.0.0/24", vlan_id: vlan.id, name: "x" }),
    );
    await open(`/vlans/${vlan.id}`);
    await button("Delete").click();
    await page.getByRole("heading", { name: "Delete VLAN 30 Till" }).waitFor();
    await page.getByLabel("Why").fill("branch closed");
    await button("Delete").click();
    await page.getByRole("alert").getByText("in use").waitFor();
    expect(await list(`vlans?network_id=${network.id}`)).toHaveLength(1);
    expect(visitor.problems().filter((problem) => !problem.includes("409"))).toEqual([]);
    await button("Delete anyway").click();
    await page.getByRole("heading", { name: "This VLAN no longer exists" }).waitFor();
    await page.getByText("branch closed").waitFor();
    expect(await list(`vlans?network_id=${network.id}`)).toEqual([]);
    await button("Restore").click();
    await page.locator(".plan").getByText("VLAN", { exact: true }).waitFor();
    await button("Restore").click();
    await page.getByText("Done.").waitFor();
    expect(await list(`vlans?network_id=${network.id}`)).toHaveLength(1);
  });

  test("creates a network, a tag, a custom field and a marker in the settings, and a range among the subnets", async () => {
    const name = () => page.getByRole("form").getByLabel("Name", { exact: true });
    await open("/settings/networks");
    await button("New network").click();
    await name().fill("Warehouse");
    await page.getByRole("form").getByLabel("Stale after (hours)").fill("48");
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
    await expectOk(client.post("subnets", { network_id: appliance.networkId, cidr: "10.4.0.0/24", name: "DHCP" }));
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
    // A record in a list is selected, then edited.
    await open("/settings/tags");
    await page.getByLabel("Select leased").check();
    await button("Edit").click();
    await name().fill("rented");
    await button("Save").click();
    await page.getByRole("cell", { name: "rented", exact: true }).waitFor();
  });

  test("allocates the next free addresses of a subnet, to a host or as reservations, and undoes it", async () => {
    const subnet = await expectOk(
      client.post("subnets", { network_id: appliance.networkId, cidr: "10.5.0.0/29", name: "Lab" }),
    );
    const host = await newHost("lab-1");
    await open(`/subnets/${subnet.id}`);
    await button("Allocate next free").click();
    await page.getByLabel("Number of addresses").fill("101");
    await page.getByText("A number from 1 to 100.").waitFor();
    await page.getByLabel("Number of addresses").fill("2");
    await page.getByLabel("Purpose").fill("the new printer");
    await button("Reserve").click();
    await page.getByText("Allocated: 10.5.0.1, 10.5.0.2").waitFor();
    expect(await list(`ip-ranges?subnet_id=${subnet.id}`)).toMatchObject([
      { first: "10.5.0.1", purpose: "Reserved", description: "the new printer" },
      { first: "10.5.0.2" },
    ]);
    await page.getByLabel("Number of addresses").fill("1");
    await page.getByLabel("Host", { exact: true }).pressSequentially("lab");
    const option = page.locator('datalist option[value^="lab-1"]');
    await option.waitFor({ state: "attached" });
    await page.getByLabel("Host", { exact: true }).fill((await option.getAttribute("value")) ?? "");
    await button("Allocate").click();
    await page.getByText("Allocated: 10.5.0.3").waitFor();
    // An unknown or ambiguous host name does not count as empty.
    await page.getByLabel("Host", { exact: true }).fill("lab-2");
    await page.getByText("No host has this name.").waitFor();
    await expectEventually(() => button("Allocate").isDisabled(), true);
    await page.getByLabel("Host", { exact: true }).fill("LAB-1");
    await expectEventually(() => button("Allocate").isEnabled(), true);
    await page.getByLabel("Host", { exact: true }).press("End");
    await page.getByLabel("Host", { exact: true }).press("Space");
    await expectEventually(() => button("Allocate").isEnabled(), true);
    // Nor does a name hidden by others with the same prefix, when more match than are offered.
    await expectOk(
      client.post(
        "hosts/bulk",
        [...Array.from({ length: 25 }, (_, index) => `shop-${index}`), "shop"].map((name) => ({
          network_id: appliance.networkId,
          name,
        })),
      ),
    );
    await page.getByLabel("Host", { exact: true }).fill("shop");
    await expectEventually(() => button("Allocate").isEnabled(), true);
    expect(await list(`ip-addresses?host_id=${host.id}`)).toMatchObject([{ ip_address: "10.5.0.3" }]);
    await button("Undo").click();
    await button("Undo").click();
    await page.getByText("Done.").waitFor();
    expect(await list(`ip-addresses?host_id=${host.id}`)).toEqual([]);
  });

  test("is not offered without permission", async () => {
    const host = await newHost("web-2");
    const { page: viewerPage } = await appliance.openAs(VIEWER, `/hosts/${host.id}?new=ip_address&tab=addresses`);
    await viewerPage.getByRole("heading", { name: "web-2" }).waitFor();
    await viewerPage.getByText("No addresses", { exact: false }).waitFor();
    expect(await viewerPage.getByRole("button", { name: "New address" }).count()).toBe(0);
    expect(await viewerPage.getByRole("button", { name: "Delete", exact: true }).count()).toBe(0);
    expect(await viewerPage.getByRole("button", { name: "Create" }).count()).toBe(0);
  });
});
