// Interfaces, subnets, VLANs and stations in the test process: text, links and filters, now and in the past.

import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { type FilledNetwork, fillNetwork, UNKNOWN_MAC } from "../support/browser/networks.ts";
import { visitForAll } from "../support/page/visit.ts";
import { expectEventually } from "../support/page/waiting.ts";

describe("network pages", () => {
  let filled: FilledNetwork;
  const { appliance, visitor, page } = visitForAll(async ({ client, networkId }) => {
    filled = await fillNetwork(client, networkId);
  });
  beforeAll(() => page.close());
  afterEach(() => expect(visitor.problems()).toEqual([]));

  test("show when a port flapped and its stations, with links to the state at that time", async () => {
    const page = await visitor.open(`/interfaces/${filled.flapped.id}?life=all`);
    await page.getByRole("heading", { name: "Gi1/0/7" }).waitFor();
    const table = page.getByRole("table", { name: "Events" });
    await table.waitFor();
    const states = table.locator("tbody tr td:nth-child(2)");
    await expectEventually(() => states.allTextContents(), ["Up", "Down", "Up", "Down", "Up"]);
    const last = table.getByRole("row").nth(1);
    await expectEventually(() => last.getByText("100M").count(), 1);
    await table.getByRole("link", { name: "printer-2" }).first().waitFor();
    await expectEventually(() => page.locator("path.life-up").getAttribute("d"), expect.stringMatching(/M.*M.*M/));
    // The second-newest change is a link-down.
    await table.getByRole("row").nth(2).getByRole("link").first().click();
    await page.getByText("Operational status").waitFor();
    await page.locator(".facts .state-down").waitFor();
    expect(page.url()).toContain("at=");
  });

  test("show a subnet's free addresses, duplicates and reservations", async () => {
    const page = await visitor.open("/subnets");
    await page
      .getByRole("row", { name: /10\.2\.3\.0\/28/ })
      .getByRole("link", { name: "10.2.3.0/28" })
      .click();
    await page.getByRole("heading", { name: "10.2.3.0/28" }).waitFor();
    const free = page.getByRole("list", { name: "Next free" });
    await free.waitFor();
    // .1 to .3 and .5 are in use, .8 to .11 are in the DHCP range, .15 is the broadcast address.
    await expectEventually(
      () => free.getByRole("listitem").allTextContents(),
      ["4", "6", "7", "12", "13", "14"].map((last) => `10.2.3.${last}`),
    );
    await page.locator(".cells").waitFor();
    await expectEventually(() => page.locator(".cells .cell").count(), 16);
    await expectEventually(() => page.locator(".cells .cell-Dhcp").count(), 4);
    await expectEventually(
      () => page.locator(".cells .cell-Twice").getAttribute("title"),
      expect.stringContaining("twin-a"),
    );
    await page.locator(".utilization path").waitFor();
    // An address of two hosts is listed with both.
    await page.locator(".subnet-conflicts").getByText("10.2.3.5").waitFor();
    await page.locator(".subnet-conflicts").getByRole("link", { name: "twin-b" }).waitFor();
    await page.getByText("5 of 5 addresses in the last 30 days").waitFor();
  });

  test("show stations without a host, now and at an earlier time", async () => {
    const page = await visitor.open("/");
    await page.getByRole("navigation").getByRole("link", { name: "Stations" }).click();
    const table = page.getByRole("table");
    const unknown = table.getByRole("row", { name: new RegExp(UNKNOWN_MAC) });
    await unknown.getByText(/Raspberry/).waitFor();
    await unknown.getByRole("link", { name: "Gi1/0/8" }).waitFor();
    await expectEventually(() => table.locator("tbody tr").count(), 1);
    await page.getByRole("link", { name: "All", exact: true }).click();
    await table.getByRole("link", { name: "Gi1/0/7" }).waitFor();
    await expectEventually(() => table.locator("tbody tr").count(), 2);
    // An empty list does not claim that all belong to hosts.
    await page.goto(`${appliance.url}/stations?at=2020-01-01T00:00:00Z`);
    await page.getByText("No MAC addresses at edge ports.").waitFor();
    await page.goto(`${appliance.url}/stations?show=all&at=${filled.beforeFlap}`);
    await table.getByRole("link", { name: "printer-2" }).waitFor();
    await expectEventually(() => table.locator("tbody tr").count(), 1);
    await table.getByRole("link", { name: "locate 00:1b:21:00:00:02" }).click();
    await page.getByRole("link", { name: "printer-2" }).first().waitFor();
    expect(page.url()).toContain("at=");
  });

  test("show a large subnet as blocks, which expand and link to child subnets", async () => {
    const page = await visitor.open(`/subnets/${filled.parent.id}`);
    const grid = page.getByRole("grid", { name: "Address blocks" });
    await grid.waitFor();
    await expectEventually(() => grid.getByRole("gridcell").count(), 256);
    await grid.getByRole("link", { name: "10.2.3.0/24: 0 in use, 16 in child subnets, 240 free" }).click();
    await page.getByRole("grid", { name: "Addresses" }).waitFor();
    expect(page.url()).toContain("block=10.2.3.0/24");
    const nestedAddresses = page.getByRole("link", { name: /^10\.2\.3\.\d+ in the subnet 10\.2\.3\.0\/28/ });
    await nestedAddresses.first().waitFor();
    await expectEventually(
      () => nestedAddresses.allTextContents(),
      Array.from({ length: 16 }, (_, octet) => String(octet)),
    );
    await expectEventually(() => page.getByRole("gridcell").count(), 256);
    await page.getByRole("link", { name: "10.2.0.0/16", exact: true }).click();
    await grid.getByRole("link", { name: /^10\.2\.4\.0\/24: in the subnet 10\.2\.4\.0\/24/ }).click();
    await page.getByRole("heading", { name: "10.2.4.0/24" }).waitFor();
  });

  test("show an IPv6 subnet by its contents, and the next free addresses", async () => {
    const page = await visitor.open(`/subnets/${filled.subnet6.id}`);
    await page.getByRole("list", { name: "Next free" }).waitFor();
    const runs = page.getByRole("table", { name: "Address ranges" });
    await runs.getByRole("row", { name: /2001:db8:2:3::10.*in use.*server-6/ }).waitFor();
    await runs.getByRole("row", { name: /free/ }).nth(1).waitFor();
    expect(await page.locator(".cells").count()).toBe(0);
  });

  test("show a deleted subnet's last state with the reason", async () => {
    const page = await visitor.open(`/subnets/${filled.deletedSubnet.id}`);
    await page.getByRole("heading", { name: "This subnet no longer exists" }).waitFor();
    await page.getByText("moved out").waitFor();
    await page.getByRole("link", { name: "Show last state" }).click();
    await page.getByRole("heading", { name: "10.9.9.0/24" }).waitFor();
    await page.getByText("Old lab").waitFor();
    // A deleted record's children are requested as of a time when it existed, and at no other.
    await page.locator("main:not(:has(.waiting))").waitFor();
    await page.keyboard.press("t");
    await page.getByRole("heading", { name: "This subnet no longer exists" }).waitFor();
    for (const [path, word] of [
      [`/subnets/${filled.deletedSubnet.id}`, "subnet"],
      [`/interfaces/${filled.flapped.id}`, "interface"],
      [`/vlans/${filled.vlan.id}`, "VLAN"],
    ]) {
      await page.goto(`${appliance.url}${path}?at=2020-01-01T00:00:00Z`);
      await page.getByRole("heading", { name: `This ${word} did not exist yet` }).waitFor();
    }
  });

  test("show a VLAN's ports, and the claimants of one address", async () => {
    const page = await visitor.open(`/vlans/${filled.vlan.id}`);
    await page.getByRole("heading", { name: "VLAN 20" }).waitFor();
    await page.getByRole("row", { name: "access-1 Gi1/0/7 Gi1/0/8 2 of 2" }).waitFor();
    await page.getByRole("row", { name: /access-1 Gi1\/0\/7 .*native/ }).waitFor();
    await page.getByRole("row", { name: /access-1 Gi1\/0\/8 .*tagged/ }).waitFor();
    await page.getByRole("main").getByRole("link", { name: "10.2.3.0/28" }).waitFor();
    await page.getByRole("link", { name: "Conflicts" }).click();
    const duplicateRow = page.getByRole("row", { name: /10\.2\.3\.5/ });
    await duplicateRow.getByRole("link", { name: "twin-a" }).waitFor();
    await page.getByRole("link", { name: "Accepted" }).click();
    await page.getByText("No conflict has been accepted.").waitFor();
    await page.getByRole("link", { name: "All", exact: true }).click();
    await duplicateRow.getByRole("link", { name: "twin-b" }).click();
    await page.getByRole("heading", { name: "twin-b" }).waitFor();
  });

  test("toggle sorting by utilization, kept in the URL", async () => {
    const page = await visitor.open("/subnets");
    const order = page.locator(".subnet-tree tbody th");
    await order.first().getByText("10.2.0.0/16").waitFor();
    await page.getByRole("link", { name: "Fullest first" }).click();
    await order.first().getByText("10.2.3.0/28").waitFor();
    expect(new URL(page.url()).searchParams.get("order")).toBe("fullest");
    await page.getByRole("link", { name: "Fullest first" }).click();
    await order.first().getByText("10.2.0.0/16").waitFor();
  });

  test("filter subnets by utilization and other fields, and conflicts", async () => {
    const page = await visitor.open("/subnets");
    await page.getByRole("navigation", { name: "Subnet views" }).getByRole("link", { name: "List" }).click();
    const row = page.getByRole("row", { name: /10\.2\.3\.0\/28/ });
    await row.waitFor();
    // Five addresses and a range of four, of fourteen.
    await row.getByText("57.1 %").waitFor();
    const field = page.getByRole("combobox", { name: "Filter" });
    await field.fill('cidr = "2001:db8:2:3::/64"');
    await field.press("Enter");
    await page.getByText("1 subnet", { exact: true }).waitFor();
    expect(await row.count()).toBe(0);
    expect(new URL(page.url()).searchParams.get("filter")).toBe('cidr = "2001:db8:2:3::/64"');
    await page.goto(`${appliance.url}/conflicts?show=all`);
    await page.getByRole("row", { name: /10\.2\.3\.5/ }).waitFor();
    const csv = await page.getByRole("link", { name: "CSV" }).getAttribute("href");
    const table = await (await page.request.get(appliance.url + csv)).text();
    expect(table.split("\r\n").filter((line) => line.startsWith("Address,10.2.3.5,"))).toHaveLength(2);
    await field.fill("type = Subnet");
    await field.press("Enter");
    await page.getByText("No conflict matches the filter.").waitFor();
  });
});
