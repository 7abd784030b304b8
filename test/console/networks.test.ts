// Interfaces, subnets and VLANs in Chromium, on the executable: keys, accessibility and width of their pages; and their
// pure functions. Texts, links and filters are in networks-in-process.test.ts.

import { describe, expect, test } from "bun:test";
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
import { accessibilityFindings, follow, hasChromium, settles } from "../support/browser/browser.ts";
import { type FilledNetwork, fillNetwork } from "../support/browser/networks.ts";
import { visitForAll } from "../support/browser/visit.ts";

const DESK = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 740 };

describe.skipIf(!hasChromium)("network pages", () => {
  let filled: FilledNetwork;
  const { visitor, page } = visitForAll(async ({ client, networkId }) => {
    filled = await fillNetwork(client, networkId);
  });

  test("list the fullest subnets first, and lead by arrow keys from an address to its host", async () => {
    await page.setViewportSize(DESK);
    await follow(page, "/subnets");
    const order = page.locator(".subnet-tree tbody th");
    await order.first().getByText("10.2.0.0/16").waitFor();
    await page.getByRole("link", { name: "Fullest first" }).click();
    await order.first().getByText("10.2.3.0/28").waitFor();
    expect(new URL(page.url()).searchParams.get("order")).toBe("fullest");
    expect(await accessibilityFindings(page)).toEqual([]);
    await page
      .getByRole("row", { name: /10\.2\.3\.0\/28/ })
      .getByRole("link", { name: "10.2.3.0/28" })
      .click();
    await page.getByRole("heading", { name: "10.2.3.0/28" }).waitFor();
    const free = page.getByRole("list", { name: "Next free" });
    await settles(
      () => free.getByRole("listitem").allInnerTexts(),
      ["4", "6", "7", "12", "13", "14"].map((last) => `10.2.3.${last}`),
    );
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
    ["unknown stations", () => "/stations"],
    ["all stations in the past", ({ beforeFlap }) => `/stations?show=all&at=${beforeFlap}`],
    ["the conflicts", () => "/conflicts"],
    ["conflicts that a filter leaves", () => "/conflicts?filter=type%20%3D%20Address"],
    ["a subnet of IPv6", ({ subnet6 }) => `/subnets/${subnet6.id}`],
  ];

  test("are accessible, at present and in the past, in both color schemes, at phone width", async () => {
    await page.setViewportSize(PHONE);
    for (const [what, address] of PAGES) {
      await follow(page, address(filled));
      await page.locator("main table:visible, main .transactions").first().waitFor();
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        expect([what, colorScheme, await accessibilityFindings(page)]).toEqual([what, colorScheme, []]);
        const beside = await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
        expect([what, colorScheme, Math.max(0, beside)]).toEqual([what, colorScheme, 0]);
      }
    }
    expect(visitor.troubles()).toEqual([]);
  });
});

describe("the status history of an interface", () => {
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

  test("is clipped to the window, with equal states merged", () => {
    const versions = [at(0), at(300, { speedBps: 1e8 }), at(600, { operStatus: "Down" }), at(2_000)];
    expect(piecesOf(versions, window, lifeStateOf)).toEqual([
      { fromMs: 100, toMs: 600, value: "Up" },
      { fromMs: 600, toMs: 1_100, value: "Down" },
    ]);
  });

  test("distinguishes disabled, down and not present", () => {
    expect(lifeStateOf(at(0, { adminStatus: "Down", operStatus: "Down" }))).toBe("Disabled");
    expect(lifeStateOf(at(0, { operStatus: "LowerLayerDown" }))).toBe("LowerLayerDown");
    expect(lifeStateOf(at(0, { isThere: false }))).toBe("Absent");
  });

  test("has each station with its periods, most recent first", () => {
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

  test("shows changes only, newest first", () => {
    const versions = [at(200, { macs: ["a"] }), at(300, { macs: ["a"] }), at(400, { operStatus: "Down", macs: ["b"] })];
    expect(eventsOf(versions, window)).toEqual([
      { ms: 400, state: "Down", speedBps: null, came: ["b"], went: ["a"] },
      { ms: 200, state: "Up", speedBps: 1e9, came: ["a"], went: [] },
    ]);
  });

  test("shows a flap of any duration", () => {
    expect(piecesPath([{ fromMs: 600, toMs: 600.1, value: "Down" }], window, () => 0.5)).toBe("M500 100V50H501.5V100Z");
  });
});

describe("devices of a VLAN", () => {
  test("have their ports, untagged and tagged, in device order; those with the most first", () => {
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
  test("of two instants shows each address's change, regardless of its host", () => {
    const address = (name: string) => ({ entity_type: "ip_address", name });
    const changes = changesByAddress({
      added: [address("10.0.0.1"), address("10.0.0.2"), { entity_type: "host", name: "10.0.0.9" }],
      removed: [address("10.0.0.2"), address("10.0.0.3")],
      changed: [address("10.0.0.4")],
    });
    expect(Object.fromEntries(changes)).toEqual({
      "10.0.0.1": "added",
      // Another host has the address now.
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

  test("has a cell for each address of a child subnet, so that the others stay in place", () => {
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

  test("shows duplicates, and stale addresses at present only", () => {
    const stateNow = (facts: CellFacts, wasUsed = false) => cellStateOf(facts, { nowMs: now, wasUsed });
    expect(stateNow(row("Free", []))).toBe("Free");
    expect(stateNow(row("Free", []), true)).toBe("Gone");
    expect(stateNow(row("Dhcp", []), true)).toBe("Dhcp");
    expect(stateNow(row("Used", ["2026-02-20T00:00:00Z"]), true)).toBe("Used");
    expect(stateNow(row("Used", ["2026-01-01T00:00:00Z"]))).toBe("Unseen");
    expect(cellStateOf(row("Used", ["2026-01-01T00:00:00Z"]), { nowMs: null, wasUsed: false })).toBe("Used");
    expect(stateNow(row("Used", ["2026-02-20T00:00:00Z", "2026-01-01T00:00:00Z"]))).toBe("Twice");
  });

  test("has blocks if an IPv4 subnet is too large for cells", () => {
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
  ])("determines if %s has %s: %p", (cidr, other, expected) => {
    expect(isWithinPrefix(cidr, other)).toBe(expected);
  });

  test("is navigated by arrow keys, within its bounds", () => {
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

  test("labels a cell by the last part of its address", () => {
    expect(["10.2.3.44", "2001:db8::1f", "2001:db8::"].map(lastPartOf)).toEqual(["44", "1f", "0"]);
  });

  test("draws utilization in steps", () => {
    const points = [
      { ms: 0, percent: 10, used: 25 },
      { ms: 500, percent: 60, used: 152 },
      { ms: 1_000, percent: 60, used: 152 },
    ];
    expect(stepsPath(points, { from: 0, to: 1_000 })).toBe("M0 100H0V90H500V40H1000V40H1000V100Z");
    // Zero and low values are distinguishable for every metric.
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
