// Creating and deleting records in the test process: from lists and pages, with dependents, and the way back.

import { beforeEach, describe, expect, test } from "bun:test";
import { made, type Wire } from "../support/appliance/factories.ts";
import { visitForAll } from "../support/page/visit.ts";
import { settles } from "../support/page/waiting.ts";

const VIEWER = "viewer@acme.example";

describe("creating and deleting records", () => {
  const { appliance, client, visitor, page } = visitForAll(({ addUser, networkId }) =>
    addUser(VIEWER, "Viewer", [networkId]),
  );

  beforeEach(() => void visitor.troubles());

  const open = (path: string) => page.goto(appliance.url + path);
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const list = (path: string) => made(client.get(path)) as unknown as Promise<Wire[]>;
  const newHost = (name: string) => made(client.post("hosts", { network_id: appliance.networkId, name }));

  test("gives a host an address, a port and a service, edits one and deletes one", async () => {
    const host = await newHost("web-1");
    await open(`/hosts/${host.id}?tab=addresses`);
    await button("New address").click();
    await page.getByLabel("Address", { exact: true }).fill("10.3.0.5");
    await button("Create").click();
    await page.getByText("is in no subnet of the host's network; create the subnet first").waitFor();
    expect(visitor.troubles()).toHaveLength(2);
    await made(client.post("subnets", { network_id: appliance.networkId, cidr: "10.3.0.0/24", name: "Servers" }));
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
    const now = await made(client.get(`hosts/${host.id}`));
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
    await button("Undo").click();
    await page.getByText("Done.").waitFor();
    expect(await list(`ports?host_id=${host.id}`)).toMatchObject([{ number: 443 }]);
    expect(visitor.troubles()).toEqual([]);
  });

  test("lists a network's dependants, and cancels, or deletes and restores all", async () => {
    const network = await made(client.post("networks", { name: "Branch" }));
    const vlan = await made(client.post("vlans", { network_id: network.id, number: 30, name: "Till" }));
    await made(client.post("subnets", { network_id: network.id, cidr: "10.30.0.0/24", vlan_id: vlan.id, name: "x" }));
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

  test("creates a network, a tag, a custom field and a marker in the settings, and a range among the subnets", async () => {
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
    await made(client.post("subnets", { network_id: appliance.networkId, cidr: "10.4.0.0/24", name: "DHCP" }));
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
    // For a record in a list: selected, then edited.
    await open("/settings/tags");
    await page.getByLabel("Select leased").check();
    await button("Edit").click();
    await name().fill("rented");
    await button("Save").click();
    await page.getByRole("cell", { name: "rented", exact: true }).waitFor();
    expect(visitor.troubles()).toEqual([]);
  });

  test("allocates the next free addresses of a subnet, to a host or as reservations, and undoes it", async () => {
    const subnet = await made(
      client.post("subnets", { network_id: appliance.networkId, cidr: "10.5.0.0/29", name: "Lab" }),
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
    // An unknown or ambiguous host name does not count as empty.
    await page.getByLabel("To the host").fill("lab-2");
    await page.getByText("No host is called that.").waitFor();
    await settles(() => button("Allocate them").isDisabled(), true);
    await page.getByLabel("To the host").fill("LAB-1");
    await settles(() => button("Allocate them").isEnabled(), true);
    await page.getByLabel("To the host").press("End");
    await page.getByLabel("To the host").press("Space");
    await settles(() => button("Allocate them").isEnabled(), true);
    // Nor does a name hidden by others with the same prefix, when more match than are offered.
    await made(
      client.post(
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
    await button("Undo").click();
    await page.getByText("Done.").waitFor();
    expect(await list(`ip-addresses?host_id=${host.id}`)).toEqual([]);
    expect(visitor.troubles()).toEqual([]);
  });

  test("is not offered without the right", async () => {
    const host = await newHost("web-2");
    const { page: seen } = await appliance.arrived(VIEWER, `/hosts/${host.id}?new=ip_address&tab=addresses`);
    await seen.getByRole("heading", { name: "web-2" }).waitFor();
    await seen.getByText("No addresses", { exact: false }).waitFor();
    expect(await seen.getByRole("button", { name: "New address" }).count()).toBe(0);
    expect(await seen.getByRole("button", { name: "Delete", exact: true }).count()).toBe(0);
    expect(await seen.getByRole("button", { name: "Create" }).count()).toBe(0);
  });
});
