// Interface, subnet and VLAN pages in Chromium, on the executable: keyboard, accessibility and width; and their pure
// functions. networks-in-process.test.ts covers text, links and filters.

import { describe, expect, test } from "bun:test";
import { gridStep } from "../../src/console/components/grid-keys.ts";
import {
  eventsOf,
  interfaceState,
  type StatusVersion,
  segmentsOf,
  segmentsPath,
  stationsOf,
} from "../../src/console/interfaces/status-segments.ts";
import {
  blockPartsOf,
  type CellData,
  cellStateOf,
  changesByAddress,
  expandRuns,
  hasBlocks,
  hasCells,
  instantsBetween,
  lastPartOf,
  stepsPath,
} from "../../src/console/networks/address-map.ts";
import { blockName, isWithinPrefix } from "../../src/console/networks/prefixes.ts";
import { vlanDevices } from "../../src/console/networks/vlan-devices.ts";
import { expectAccessibleWithinInBoth, follow, hasChromium } from "../support/browser/browser.ts";
import { type FilledNetwork, fillNetwork } from "../support/browser/networks.ts";
import { visitForAll } from "../support/browser/visit.ts";

const DESK = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 740 };

describe.skipIf(!hasChromium)("network pages", () => {
  let filled: FilledNetwork;
  const { visitor, page } = visitForAll(async ({ client, networkId }) => {
    filled = await fillNetwork(client, networkId);
  });

  test("navigate by arrow keys from an address to its host", async () => {
    await page.setViewportSize(DESK);
    await follow(page, `/subnets/${filled.subnet.id}`);
    await page.getByRole("list", { name: "Next free" }).waitFor();
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
    expect(visitor.problems()).toEqual([]);
  });

  const PAGES: readonly [title: string, pathOf: (network: FilledNetwork) => string][] = [
    ["an interface", ({ flapped }) => `/interfaces/${flapped.id}`],
    ["its full status history", ({ flapped }) => `/interfaces/${flapped.id}?life=all`],
    ["its change history", ({ flapped }) => `/interfaces/${flapped.id}?tab=history`],
    ["an interface in the past", ({ flapped, beforeFlap }) => `/interfaces/${flapped.id}?at=${beforeFlap}`],
    ["the subnets", () => "/subnets"],
    ["the fullest subnets first", () => "/subnets?order=fullest"],
    ["the subnets in the past", ({ beforeFlap }) => `/subnets?at=${beforeFlap}`],
    ["the subnets as a list", () => "/subnets/list"],
    ["the list in the past", ({ beforeFlap }) => `/subnets/list?at=${beforeFlap}`],
    ["a subnet", ({ subnet }) => `/subnets/${subnet.id}`],
    ["a subnet in the past", ({ subnet, beforeFlap }) => `/subnets/${subnet.id}?at=${beforeFlap}`],
    ["a large subnet", ({ parent }) => `/subnets/${parent.id}`],
    ["a block of a large subnet", ({ parent }) => `/subnets/${parent.id}?block=10.2.3.0/24`],
    ["a VLAN", ({ vlan }) => `/vlans/${vlan.id}`],
    ["unknown stations", () => "/stations"],
    ["all stations in the past", ({ beforeFlap }) => `/stations?show=all&at=${beforeFlap}`],
    ["the conflicts", () => "/conflicts"],
    ["filtered conflicts", () => "/conflicts?filter=type%20%3D%20Address"],
    ["an IPv6 subnet", ({ subnet6 }) => `/subnets/${subnet6.id}`],
  ];

  test("are accessible, now and in the past, in both color schemes, at phone width", async () => {
    await page.setViewportSize(PHONE);
    for (const [label, pathOf] of PAGES) {
      await follow(page, pathOf(filled));
      await page.locator("main table:visible, main .transactions").first().waitFor();
      await expectAccessibleWithinInBoth(page, label);
    }
    expect(visitor.problems()).toEqual([]);
  });
});

describe("the status history of an interface", () => {
  const version = (ms: number, changes: Partial<StatusVersion> = {}): StatusVersion => ({
    ms,
    isPresent: true,
    adminStatus: "Up",
    operStatus: "Up",
    speedBps: 1e9,
    macs: [],
    ...changes,
  });
  const window = { from: 100, to: 1_100, bucketMs: 1_000 };

  test("is clipped to the window, with equal states merged", () => {
    const versions = [
      version(0),
      version(300, { speedBps: 1e8 }),
      version(600, { operStatus: "Down" }),
      version(2_000),
    ];
    expect(segmentsOf(versions, window, interfaceState)).toEqual([
      { fromMs: 100, toMs: 600, value: "Up" },
      { fromMs: 600, toMs: 1_100, value: "Down" },
    ]);
  });

  test("distinguishes disabled, down and not present", () => {
    expect(interfaceState(version(0, { adminStatus: "Down", operStatus: "Down" }))).toBe("Disabled");
    expect(interfaceState(version(0, { operStatus: "LowerLayerDown" }))).toBe("LowerLayerDown");
    expect(interfaceState(version(0, { isPresent: false }))).toBe("Absent");
  });

  test("has each station with its periods, most recent first", () => {
    const versions = [
      version(0, { macs: ["a", "b"] }),
      version(400, { macs: ["b"] }),
      version(500, { macs: [] }),
      version(900, { macs: ["a"] }),
    ];
    expect(stationsOf(versions, window)).toEqual([
      {
        mac: "a",
        segments: [
          { fromMs: 100, toMs: 400, value: true },
          { fromMs: 900, toMs: 1_100, value: true },
        ],
        totalMs: 500,
      },
      { mac: "b", segments: [{ fromMs: 100, toMs: 500, value: true }], totalMs: 400 },
    ]);
    expect(
      stationsOf([...versions, version(1_000, { isPresent: false, macs: ["a"] })], window)[0]?.segments.at(-1)?.toMs,
    ).toBe(1_000);
  });

  test("shows changes only, newest first", () => {
    const versions = [
      version(200, { macs: ["a"] }),
      version(300, { macs: ["a"] }),
      version(400, { operStatus: "Down", macs: ["b"] }),
    ];
    expect(eventsOf(versions, window)).toEqual([
      { ms: 400, state: "Down", speedBps: null, appeared: ["b"], disappeared: ["a"] },
      { ms: 200, state: "Up", speedBps: 1e9, appeared: ["a"], disappeared: [] },
    ]);
  });

  test("shows a flap of any duration", () => {
    expect(segmentsPath([{ fromMs: 600, toMs: 600.1, value: "Down" }], window, () => 0.5)).toBe(
      "M500 100V50H501.5V100Z",
    );
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
  test("shows each address's change between two timestamps, regardless of its host", () => {
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

  const row = (state: string, lastSeen: readonly string[]): CellData => ({
    state,
    ip_addresses: lastSeen.map((last_seen_at) => ({ last_seen_at })),
    conflict: null,
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
    expect(expandRuns(rows).map(({ first, last, state }) => [first, last, state])).toEqual([
      ...["10.0.0.254", "10.0.0.255", "10.0.1.0", "10.0.1.1"].map((address) => [address, address, "Subnet"]),
      ["10.0.1.2", "10.0.1.2", "Free"],
      ["2001:db8::", "2001:db8::f", "Subnet"],
    ]);
  });

  test("shows conflicts, open or accepted, and stale addresses now only", () => {
    const stateNow = (facts: CellData, wasUsed = false) => cellStateOf(facts, { nowMs: now, wasUsed });
    expect(stateNow(row("Free", []))).toBe("Free");
    expect(stateNow(row("Free", []), true)).toBe("Gone");
    expect(stateNow(row("Dhcp", []), true)).toBe("Dhcp");
    expect(stateNow(row("Used", ["2026-02-20T00:00:00Z"]), true)).toBe("Used");
    expect(stateNow(row("Used", ["2026-01-01T00:00:00Z"]))).toBe("Unseen");
    expect(cellStateOf(row("Used", ["2026-01-01T00:00:00Z"]), { nowMs: null, wasUsed: false })).toBe("Used");
    const shared = row("Used", ["2026-02-20T00:00:00Z", "2026-01-01T00:00:00Z"]);
    expect(stateNow(shared)).toBe("Used");
    expect(stateNow({ ...shared, conflict: { acceptance: null } })).toBe("Twice");
    expect(stateNow({ ...shared, conflict: { acceptance: {} } })).toBe("Accepted");
  });

  test("has blocks if an IPv4 subnet is too large for cells", () => {
    const cidrs = ["10.0.0.0/20", "10.0.0.0/19", "10.0.0.0/8", "2001:db8:2:3::/64"];
    expect(cidrs.filter(hasBlocks)).toEqual(["10.0.0.0/19", "10.0.0.0/8"]);
    expect(blockPartsOf({ Used: 3, Gateway: 1, Dhcp: 10, Static: 2, Subnet: 8, Network: 1, Free: "7" })).toEqual({
      used: 4,
      inRanges: 12,
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
  ])("determines whether %s contains %s: %p", (cidr, other, expected) => {
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
    const lowValues = [
      { ms: 0, percent: 0, used: 0 },
      { ms: 500, percent: 0.4, used: 1 },
      { ms: 1_000, percent: 0, used: "12" },
    ];
    expect(stepsPath(lowValues, { from: 0, to: 1_000 })).toBe("M0 100H0V100H500V96H1000V96H1000V100Z");
    expect(instantsBetween(0, 100, 3)).toEqual([0, 50, 100]);
    expect(instantsBetween(100, 100, 3)).toEqual([100]);
  });
});
