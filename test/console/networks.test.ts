// Interfaces, subnets and VLANs in Chromium, on the executable; and the life of an interface as plain functions.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  eventsOf,
  type LifeVersion,
  lifeStateOf,
  piecesOf,
  piecesPath,
  stationsOf,
} from "../../src/console/interfaces/life.ts";
import {
  blockPartsOf,
  type CellFacts,
  cellStateOf,
  changesByAddress,
  hasBlocks,
  hasCells,
  instantsBetween,
  lastPartOf,
  oneByOne,
  stepsPath,
} from "../../src/console/networks/address-map.ts";
import { blockName, isWithinPrefix } from "../../src/console/networks/prefixes.ts";
import { vlanDevices } from "../../src/console/networks/vlan-devices.ts";
import { gridStep } from "../../src/console/parts/grid-keys.ts";
import { accessibilityFindings, closeBrowser, hasChromium, settles, Visitor } from "../support/browser/browser.ts";
import { type FilledNetwork, fillNetwork, UNKNOWN_MAC } from "../support/browser/networks.ts";
import { ensureExecutable, PASSWORD, type Running, type SetUp, Workplace } from "../support/executable/executable.ts";

const OWNER = "owner@acme.example";

describe.skipIf(!hasChromium)("the pages of a network", () => {
  let workplace: Workplace;
  let appliance: SetUp & { readonly running: Running };
  let visitor: Visitor;
  let filled: FilledNetwork;

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    const made = await workplace.serveSetUp();
    appliance = made;
    filled = await fillNetwork(made.client, made.networkId);
    visitor = await Visitor.arrive(made.running.url);
  });

  afterAll(async () => {
    await visitor.leave();
    await closeBrowser();
    await workplace.close();
  });

  test("show when a port flapped and who hung on it, and lead to how it was then", async () => {
    const page = await visitor.signIn(OWNER, PASSWORD, `/interfaces/${filled.flapped.id}?life=all`);
    await page.getByRole("heading", { name: "Gi1/0/7" }).waitFor();
    const table = page.getByRole("table", { name: "What happened" });
    await table.waitFor();
    const states = table.locator("tbody tr td:nth-child(2)");
    await settles(() => states.allTextContents(), ["Up", "Down", "Up", "Down", "Up"]);
    const last = table.getByRole("row").nth(1);
    await settles(() => last.getByText("100M").count(), 1);
    await table.getByRole("link", { name: "printer-2" }).first().waitFor();
    await settles(() => page.locator("path.life-up").getAttribute("d"), expect.stringMatching(/M.*M.*M/));
    // The second-newest change is a going down.
    await table.getByRole("row").nth(2).getByRole("link").first().click();
    await page.getByText("Operational status").waitFor();
    await page.locator(".facts .state-down").waitFor();
    expect(page.url()).toContain("at=");
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("tell which addresses of a subnet are free, which are taken twice, and what is set aside", async () => {
    const page = await visitor.open("/subnets");
    await page
      .getByRole("row", { name: /10\.2\.3\.0\/28/ })
      .getByRole("link", { name: "10.2.3.0/28" })
      .click();
    await page.getByRole("heading", { name: "10.2.3.0/28" }).waitFor();
    const free = page.getByRole("list", { name: "Next free" });
    await free.waitFor();
    // .1 to .3 and .5 are taken, .8 to .11 are of DHCP, .15 is the broadcast address.
    await settles(
      () => free.getByRole("listitem").allInnerTexts(),
      ["4", "6", "7", "12", "13", "14"].map((last) => `10.2.3.${last}`),
    );
    await page.locator(".cells").waitFor();
    await settles(() => page.locator(".cells .cell").count(), 16);
    await settles(() => page.locator(".cells .cell-Dhcp").count(), 4);
    await settles(() => page.locator(".cells .cell-Twice").getAttribute("title"), expect.stringContaining("twin-a"));
    await page.locator(".utilization path").waitFor();
    // The one that two hosts have is told with who they are.
    await page.locator(".subnet-conflicts").getByText("10.2.3.5").waitFor();
    await page.locator(".subnet-conflicts").getByRole("link", { name: "twin-b" }).waitFor();
    await page.getByText("5 of 5 addresses in the last 30 days").waitFor();
    await page.getByRole("gridcell", { name: "10.2.3.0 network" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page
      .locator("a:focus")
      .and(page.getByRole("link", { name: /10\.2\.3\.2 in use printer-2/ }))
      .waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "printer-2" }).waitFor();
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("name what hangs on the network that no host has, and who hung there before", async () => {
    const page = await visitor.open("/");
    await page.getByRole("navigation").getByRole("link", { name: "Stations" }).click();
    const table = page.getByRole("table");
    const unknown = table.getByRole("row", { name: new RegExp(UNKNOWN_MAC) });
    await unknown.getByText(/Raspberry/).waitFor();
    await unknown.getByRole("link", { name: "Gi1/0/8" }).waitFor();
    await settles(() => table.locator("tbody tr").count(), 1);
    await page.getByRole("link", { name: "All", exact: true }).click();
    await table.getByRole("link", { name: "Gi1/0/7" }).waitFor();
    await settles(() => table.locator("tbody tr").count(), 2);
    // Where there is none at all, it is not said that all belong to hosts.
    await page.goto(`${appliance.running.url}/stations?at=2020-01-01T00:00:00Z`);
    await page.getByText("No MAC address is known at an edge port.").waitFor();
    await page.goto(`${appliance.running.url}/stations?show=all&at=${filled.beforeFlap}`);
    await table.getByRole("link", { name: "printer-2" }).waitFor();
    await settles(() => table.locator("tbody tr").count(), 1);
    await table.getByRole("link", { name: "locate 00:1b:21:00:00:02" }).click();
    await page.getByRole("link", { name: "printer-2" }).first().waitFor();
    expect(page.url()).toContain("at=");
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("show a large subnet as blocks, which open and lead to the subnets within", async () => {
    const page = await visitor.open(`/subnets/${filled.parent.id}`);
    const grid = page.getByRole("grid", { name: "Blocks of addresses" });
    await grid.waitFor();
    await settles(() => grid.getByRole("gridcell").count(), 256);
    await grid.getByRole("link", { name: "10.2.3.0/24: 0 in use, 16 in subnets within, 240 free" }).click();
    await page.getByRole("grid", { name: "Addresses" }).waitFor();
    expect(page.url()).toContain("block=10.2.3.0/24");
    const within = page.getByRole("link", { name: /^10\.2\.3\.\d+ in the subnet 10\.2\.3\.0\/28/ });
    await within.first().waitFor();
    await settles(
      () => within.allTextContents(),
      Array.from({ length: 16 }, (_, octet) => String(octet)),
    );
    await settles(() => page.getByRole("gridcell").count(), 256);
    await page.getByRole("link", { name: "10.2.0.0/16", exact: true }).click();
    await grid.getByRole("link", { name: /^10\.2\.4\.0\/24: in the subnet 10\.2\.4\.0\/24/ }).click();
    await page.getByRole("heading", { name: "10.2.4.0/24" }).waitFor();
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("show a subnet of IPv6 by what is in it, and next what is free", async () => {
    const page = await visitor.open(`/subnets/${filled.subnet6.id}`);
    await page.getByRole("list", { name: "Next free" }).waitFor();
    const runs = page.getByRole("table", { name: "What its addresses are" });
    await runs.getByRole("row", { name: /2001:db8:2:3::10.*in use.*server-6/ }).waitFor();
    await runs.getByRole("row", { name: /free/ }).nth(1).waitFor();
    expect(await page.locator(".cells").count()).toBe(0);
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("say of a subnet that was removed why it is gone, and show it as it was last", async () => {
    const page = await visitor.open(`/subnets/${filled.goneSubnet.id}`);
    await page.getByRole("heading", { name: "This subnet is gone" }).waitFor();
    await page.getByText("moved out").waitFor();
    await page.getByRole("link", { name: "Show it as it was last" }).click();
    await page.getByRole("heading", { name: "10.9.9.0/24" }).waitFor();
    await page.getByText("Old lab").waitFor();
    // Its parts are asked for where it is there, and nowhere else.
    await page.locator("main:not(:has(.waiting))").waitFor();
    await page.keyboard.press("t");
    await page.getByRole("heading", { name: "This subnet is gone" }).waitFor();
    for (const [path, word] of [
      [`/subnets/${filled.goneSubnet.id}`, "subnet"],
      [`/interfaces/${filled.flapped.id}`, "interface"],
      [`/vlans/${filled.vlan.id}`, "VLAN"],
    ]) {
      await page.goto(`${appliance.running.url}${path}?at=2020-01-01T00:00:00Z`);
      await page.getByRole("heading", { name: `This ${word} did not exist yet` }).waitFor();
    }
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("show where a VLAN is, and who claims one address", async () => {
    const page = await visitor.open(`/vlans/${filled.vlan.id}`);
    await page.getByRole("heading", { name: "VLAN 20" }).waitFor();
    await page.getByRole("row", { name: "access-1 Gi1/0/7 Gi1/0/8 2 of 2" }).waitFor();
    await page.getByRole("row", { name: /access-1 Gi1\/0\/7 .*native/ }).waitFor();
    await page.getByRole("row", { name: /access-1 Gi1\/0\/8 .*tagged/ }).waitFor();
    await page.getByRole("main").getByRole("link", { name: "10.2.3.0/28" }).waitFor();
    await page.getByRole("link", { name: "Conflicts" }).click();
    const twice = page.getByRole("row", { name: /10\.2\.3\.5/ });
    await twice.getByRole("link", { name: "twin-a" }).waitFor();
    await page.getByRole("link", { name: "Accepted" }).click();
    await page.getByText("No conflict has been accepted.").waitFor();
    await page.getByRole("link", { name: "All", exact: true }).click();
    await twice.getByRole("link", { name: "twin-b" }).click();
    await page.getByRole("heading", { name: "twin-b" }).waitFor();
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("stand the fullest subnets first where that is asked for, in the address", async () => {
    const page = await visitor.open("/subnets");
    const order = page.locator(".subnet-tree tbody th");
    await order.first().getByText("10.2.0.0/16").waitFor();
    await page.getByRole("link", { name: "Fullest first" }).click();
    await order.first().getByText("10.2.3.0/28").waitFor();
    expect(new URL(page.url()).searchParams.get("order")).toBe("fullest");
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("link", { name: "Fullest first" }).click();
    await order.first().getByText("10.2.0.0/16").waitFor();
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("list all subnets by a filter and how full they are, and conflicts by a filter", async () => {
    const page = await visitor.open("/subnets");
    await page.getByRole("navigation", { name: "Ways to look at subnets" }).getByRole("link", { name: "List" }).click();
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
    await page.goto(`${appliance.running.url}/conflicts?show=all`);
    await page.getByRole("row", { name: /10\.2\.3\.5/ }).waitFor();
    const csv = await page.getByRole("link", { name: "CSV" }).getAttribute("href");
    const table = await (await page.request.get(appliance.running.url + csv)).text();
    expect(table.split("\r\n").filter((line) => line.startsWith("Address,10.2.3.5,"))).toHaveLength(2);
    await field.fill("type = Subnet");
    await field.press("Enter");
    await page.getByText("No conflict matches the filter.").waitFor();
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  const PAGES: readonly [what: string, address: (network: FilledNetwork) => string][] = [
    ["an interface", ({ flapped }) => `/interfaces/${flapped.id}`],
    ["its whole life", ({ flapped }) => `/interfaces/${flapped.id}?life=all`],
    ["its history", ({ flapped }) => `/interfaces/${flapped.id}?tab=history`],
    ["it in the past", ({ flapped, beforeFlap }) => `/interfaces/${flapped.id}?at=${beforeFlap}`],
    ["the subnets", () => "/subnets"],
    ["the subnets in the past", ({ beforeFlap }) => `/subnets?at=${beforeFlap}`],
    ["the subnets as a list", () => "/subnets/list"],
    ["the list in the past", ({ beforeFlap }) => `/subnets/list?at=${beforeFlap}`],
    ["a subnet", ({ subnet }) => `/subnets/${subnet.id}`],
    ["it in the past", ({ subnet, beforeFlap }) => `/subnets/${subnet.id}?at=${beforeFlap}`],
    ["a large one", ({ parent }) => `/subnets/${parent.id}`],
    ["a block of it", ({ parent }) => `/subnets/${parent.id}?block=10.2.3.0/24`],
    ["a VLAN", ({ vlan }) => `/vlans/${vlan.id}`],
    ["the stations that nobody knows", () => "/stations"],
    ["all stations in the past", ({ beforeFlap }) => `/stations?show=all&at=${beforeFlap}`],
    ["the conflicts", () => "/conflicts"],
    ["conflicts that a filter leaves", () => "/conflicts?filter=type%20%3D%20Address"],
    ["a subnet of IPv6", ({ subnet6 }) => `/subnets/${subnet6.id}`],
  ];

  test.each(["light", "dark"] as const)(
    "have nothing that axe-core finds, now and in the past, and no wider than a phone: %s",
    async (colorScheme) => {
      const own = await Visitor.arrive(appliance.running.url, { colorScheme, viewport: { width: 360, height: 740 } });
      const page = await own.signIn(OWNER, PASSWORD);
      for (const [what, address] of PAGES) {
        await page.goto(appliance.running.url + address(filled));
        await page.locator("main table:visible, main .transactions").first().waitFor();
        expect([what, await accessibilityFindings(page)]).toEqual([what, []]);
        const beside = await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
        expect([what, Math.max(0, beside)]).toEqual([what, 0]);
      }
      expect(own.troubles()).toEqual([]);
      await own.leave();
    },
  );
});

describe("the life of an interface", () => {
  const at = (ms: number, changes: Partial<LifeVersion> = {}): LifeVersion => ({
    ms,
    isThere: true,
    adminStatus: "Up",
    operStatus: "Up",
    speedBps: 1e9,
    macs: [],
    ...changes,
  });
  const window = { from: 100, to: 1_100, bucketMs: 1_000 };

  test("is cut to the window, and what stays the same is one piece", () => {
    const versions = [at(0), at(300, { speedBps: 1e8 }), at(600, { operStatus: "Down" }), at(2_000)];
    expect(piecesOf(versions, window, lifeStateOf)).toEqual([
      { fromMs: 100, toMs: 600, value: "Up" },
      { fromMs: 600, toMs: 1_100, value: "Down" },
    ]);
  });

  test("tells disabled from down, and down from not there", () => {
    expect(lifeStateOf(at(0, { adminStatus: "Down", operStatus: "Down" }))).toBe("Disabled");
    expect(lifeStateOf(at(0, { operStatus: "LowerLayerDown" }))).toBe("LowerLayerDown");
    expect(lifeStateOf(at(0, { isThere: false }))).toBe("Absent");
  });

  test("has each station with the times at which it was there, who was there last first", () => {
    const versions = [
      at(0, { macs: ["a", "b"] }),
      at(400, { macs: ["b"] }),
      at(500, { macs: [] }),
      at(900, { macs: ["a"] }),
    ];
    expect(stationsOf(versions, window)).toEqual([
      {
        mac: "a",
        pieces: [
          { fromMs: 100, toMs: 400, value: true },
          { fromMs: 900, toMs: 1_100, value: true },
        ],
        totalMs: 500,
      },
      { mac: "b", pieces: [{ fromMs: 100, toMs: 500, value: true }], totalMs: 400 },
    ]);
    expect(stationsOf([...versions, at(1_000, { isThere: false, macs: ["a"] })], window)[0]?.pieces.at(-1)?.toMs).toBe(
      1_000,
    );
  });

  test("tells what became different, the newest first, and nothing of what did not", () => {
    const versions = [at(200, { macs: ["a"] }), at(300, { macs: ["a"] }), at(400, { operStatus: "Down", macs: ["b"] })];
    expect(eventsOf(versions, window)).toEqual([
      { ms: 400, state: "Down", speedBps: null, came: ["b"], went: ["a"] },
      { ms: 200, state: "Up", speedBps: 1e9, came: ["a"], went: [] },
    ]);
  });

  test("shows a flap however short it was", () => {
    expect(piecesPath([{ fromMs: 600, toMs: 600.1, value: "Down" }], window, () => 0.5)).toBe("M500 100V50H501.5V100Z");
  });
});

describe("the devices of a VLAN", () => {
  test("come with their ports, untagged and tagged, in the order of the device; those with the most first", () => {
    const port = (host_id: string, if_index: number, native_vlan_id: string | null, oper_status = "Up") => ({
      id: `${host_id}-${if_index}`,
      host_id,
      if_index,
      native_vlan_id,
      oper_status,
    });
    const ports = [port("small", 1, "v"), port("core", 9, "other"), port("core", 3, "v", "Down"), port("core", 1, "v")];
    const devices = vlanDevices("v", ports);
    expect(devices.map(({ hostId, up }) => [hostId, up])).toEqual([
      ["core", 2],
      ["small", 1],
    ]);
    expect(devices[0]?.untagged.map(({ if_index }) => if_index)).toEqual([1, 3]);
    expect(devices[0]?.tagged.map(({ if_index }) => if_index)).toEqual([9]);
  });
});

describe("the address map", () => {
  test("of two instants says of each address what became of it, whoever has it", () => {
    const address = (name: string) => ({ entity_type: "ip_address", name });
    const changes = changesByAddress({
      added: [address("10.0.0.1"), address("10.0.0.2"), { entity_type: "host", name: "10.0.0.9" }],
      removed: [address("10.0.0.2"), address("10.0.0.3")],
      changed: [address("10.0.0.4")],
    });
    expect(Object.fromEntries(changes)).toEqual({
      "10.0.0.1": "added",
      // Another host has it now.
      "10.0.0.2": "changed",
      "10.0.0.3": "removed",
      "10.0.0.4": "changed",
    });
  });

  const row = (state: string, lastSeen: readonly string[]): CellFacts => ({
    state,
    ip_addresses: lastSeen.map((last_seen_at, index) => ({ host: { id: `host-${index}` }, last_seen_at })),
  });
  const now = Date.parse("2026-03-01T00:00:00Z");

  test.each([
    ["10.0.0.0/20", true],
    ["10.0.0.0/19", false],
    ["2001:db8::/116", true],
    ["2001:db8:2:3::/64", false],
    ["10.0.0.1/32", true],
  ])("has a cell for each address of %s: %p", (cidr, expected) => {
    expect(hasCells(cidr)).toBe(expected);
  });

  test("has a cell for each address of a subnet within, so that the others stand in their places", () => {
    const rows = [
      { first: "10.0.0.254", last: "10.0.1.1", state: "Subnet" },
      { first: "10.0.1.2", last: "10.0.1.2", state: "Free" },
      { first: "2001:db8::", last: "2001:db8::f", state: "Subnet" },
    ];
    expect(oneByOne(rows).map(({ first, last, state }) => [first, last, state])).toEqual([
      ...["10.0.0.254", "10.0.0.255", "10.0.1.0", "10.0.1.1"].map((address) => [address, address, "Subnet"]),
      ["10.0.1.2", "10.0.1.2", "Free"],
      ["2001:db8::", "2001:db8::f", "Subnet"],
    ]);
  });

  test("says of an address that it is taken twice, or not seen for long; of the past not the latter", () => {
    const stateNow = (facts: CellFacts, wasUsed = false) => cellStateOf(facts, { nowMs: now, wasUsed });
    expect(stateNow(row("Free", []))).toBe("Free");
    expect(stateNow(row("Free", []), true)).toBe("Gone");
    expect(stateNow(row("Dhcp", []), true)).toBe("Dhcp");
    expect(stateNow(row("Used", ["2026-02-20T00:00:00Z"]), true)).toBe("Used");
    expect(stateNow(row("Used", ["2026-01-01T00:00:00Z"]))).toBe("Unseen");
    expect(cellStateOf(row("Used", ["2026-01-01T00:00:00Z"]), { nowMs: null, wasUsed: false })).toBe("Used");
    expect(stateNow(row("Used", ["2026-02-20T00:00:00Z", "2026-01-01T00:00:00Z"]))).toBe("Twice");
  });

  test("is in blocks where a subnet of IPv4 is too large for cells", () => {
    expect(["10.0.0.0/20", "10.0.0.0/19", "10.0.0.0/8", "2001:db8:2:3::/64"].map(hasBlocks)).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect(blockPartsOf({ Used: 3, Gateway: 1, Dhcp: 10, Static: 2, Subnet: 8, Network: 1, Free: "7" })).toEqual({
      used: 4,
      aside: 12,
      inSubnets: 8,
      free: 7,
    });
    expect(blockName("10.0.0.0/16", "10.0.5.0/24")).toBe("5");
    expect(blockName("10.0.0.0/12", "10.3.16.0/20")).toBe("3.16");
    expect(blockName("10.0.0.0/8", "10.255.0.0/16")).toBe("255");
  });

  test.each([
    ["10.2.0.0/16", "10.2.255.255", true],
    ["10.2.0.0/16", "10.3.0.0", false],
    ["10.2.0.0/16", "10.2.4.0/24", true],
    ["10.2.0.0/16", "10.0.0.0/8", false],
    ["0.0.0.0/0", "255.255.255.255", true],
    ["10.2.0.0/16", "::a02:0", false],
    ["2001:db8:2:3::/64", "2001:db8:2:3::10", true],
    ["2001:db8:2:3::/64", "2001:db8:2:4::", false],
    ["::/0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true],
    ["2001:db8::/32", "2001:db8:1:2:3:4:5:6", true],
  ])("says whether %s has %s: %p", (cidr, other, expected) => {
    expect(isWithinPrefix(cidr, other)).toBe(expected);
  });

  test("is walked by the arrow keys, and nobody walks out of it", () => {
    const from = (index: number, key: string, isToEnd = false) =>
      gridStep(key, { index, columns: 16, count: 40, isToEnd });
    expect(["ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp"].map((key) => from(17, key))).toEqual([18, 16, 33, 1]);
    expect([from(0, "ArrowLeft"), from(39, "ArrowRight"), from(30, "ArrowDown"), from(3, "ArrowUp")]).toEqual([
      0, 39, 30, 3,
    ]);
    expect([from(18, "Home"), from(18, "End"), from(35, "End"), from(18, "Home", true), from(3, "End", true)]).toEqual([
      16, 31, 39, 0, 39,
    ]);
    expect([from(1, "PageDown"), from(10, "PageDown"), from(37, "PageUp"), from(1, "x")]).toEqual([33, 26, 5, null]);
  });

  test("labels a cell by the end of its address", () => {
    expect(["10.2.3.44", "2001:db8::1f", "2001:db8::"].map(lastPartOf)).toEqual(["44", "1f", "0"]);
  });

  test("draws how full it was in steps", () => {
    const points = [
      { ms: 0, percent: 10, used: 25 },
      { ms: 500, percent: 60, used: 152 },
      { ms: 1_000, percent: 60, used: 152 },
    ];
    expect(stepsPath(points, { from: 0, to: 1_000 })).toBe("M0 100H0V90H500V40H1000V40H1000V100Z");
    // None and few can be told apart, whatever the few are of.
    const few = [
      { ms: 0, percent: 0, used: 0 },
      { ms: 500, percent: 0.4, used: 1 },
      { ms: 1_000, percent: 0, used: "12" },
    ];
    expect(stepsPath(few, { from: 0, to: 1_000 })).toBe("M0 100H0V100H500V96H1000V96H1000V100Z");
    expect(instantsBetween(0, 100, 3)).toEqual([0, 50, 100]);
    expect(instantsBetween(100, 100, 3)).toEqual([100]);
  });
});
