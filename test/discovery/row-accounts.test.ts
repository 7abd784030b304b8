// Row accounts of a scan: one finding per table of a device, with the numbers of rows kept and set aside, and the
// reasons.

import { beforeEach, describe, expect, test } from "bun:test";
import { ANNOUNCEMENTS_MAX } from "../../src/discovery/reconcile/record-interfaces.ts";
import { SCANS_WITH_READS } from "../../src/discovery/scans/scan.ts";
import { FDB_MACS_BESIDE_MAX } from "../../src/resources/if-entries/if-entry.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Wire } from "../support/appliance/factories.ts";
import { deviceWith, dotted, type HandMadeStep, hex, tableOf, utf8 } from "../support/reconcile/hand-made-reads.ts";

const { communityOf, findings, owner, probes, scanned } = applianceForEach();

beforeEach(async () => {
  await communityOf("public");
});

const OWN = "001b21000001";
const SYSTEM = (name: string): HandMadeStep => ({
  scalars: { sysName: utf8(name), sysObjectID: "1.3.6.1.4.1.9.1.516" },
});
const INTERFACES: HandMadeStep = tableOf({
  "1": { ifDescr: utf8("one"), ifType: 6, ifPhysAddress: hex(OWN) },
  "2": { ifDescr: utf8("two"), ifType: 6 },
});
const addressOf = (address: string): HandMadeStep =>
  tableOf({ [address]: { ipAdEntIfIndex: 1, ipAdEntNetMask: "255.255.255.0" } });

function answers(address: string, name: string, steps: Readonly<Record<string, HandMadeStep>>): void {
  const all = { system: SYSTEM(name), if_table: INTERFACES, ip_addr_table: addressOf(address), ...steps };
  probes.devices.set(address, { device: deviceWith(all), community: "public" });
}

const colons = (mac: string): string => mac.replace(/..(?!$)/g, "$&:");
const scan = (targets: readonly string[], more: Wire = {}): Promise<Wire> =>
  scanned({ kind: "snmp", targets, ...more });
const scannedTwice = async (): Promise<Wire[]> => [await scan(["10.0.0.2"]), await scan(["10.0.0.2"])];
const reads = async (asked: Wire): Promise<Wire[]> => (await findings(asked)).filter(({ type }) => type === "Read");
const byLabel = async (asked: Wire): Promise<Record<string, Wire>> =>
  Object.fromEntries((await reads(asked)).map(({ label, rows: count }) => [label, count]));

describe("a device's ARP and neighbor entries", () => {
  const arp = (entries: Readonly<Record<string, string>>): HandMadeStep =>
    tableOf(
      Object.fromEntries(Object.entries(entries).map(([index, mac]) => [index, { ipNetToMediaPhysAddress: hex(mac) }])),
    );
  const LINK_LOCAL = "254.128.0.0.0.0.0.0.2.27.33.255.254.170.187.204";

  test("are counted, and those outside the network's subnets are named", async () => {
    answers("10.0.0.1", "fw-1", {
      ip_net_to_media_table: arp({
        "1.10.0.0.7": "001b21000007",
        "0.10.0.0.8": "001b21000008",
        "2.10.0.0.7": "001b21000007",
        "1.10.0.0.1": OWN,
        "1.10.0.0.255": "ffffffffffff",
        "1.10.9.0.1": "001b21000091",
        "1.10.9.0.2": "001b21000092",
        "0.10.9.0.3": "001b21000093",
      }),
      ipv6_net_to_media_table: tableOf({ [`1.${LINK_LOCAL}`]: { ipv6NetToMediaPhysAddress: hex("001b21aabbcc") } }),
    });
    const [finding] = (await reads(await scan(["10.0.0.1"]))).filter(({ label }) => label === "fw-1: arp");
    expect(finding).toEqual({
      type: "Read",
      entity: "host",
      id: expect.any(String),
      label: "fw-1: arp",
      reason:
        "9 rows read, 2 kept, 7 set aside: 1 repeating another row, 1 of the device itself, 1 multicast or broadcast, " +
        "1 link-local, 3 outside the network's subnets; outside: 10.9.0.1, 10.9.0.2, 10.9.0.3",
      rows: { read: 9, kept: 2, set_aside: { duplicate: 1, own: 1, group: 1, link_local: 1, outside: 3 } },
      addresses: ["10.9.0.1", "10.9.0.2", "10.9.0.3"],
    });
  });

  test("are accounted per device, with those of other responding devices and those already reported set aside", async () => {
    const entries = { "1.10.0.0.7": "001b21000007", "1.10.9.0.1": "001b21000091", "1.10.0.0.2": "001b21000002" };
    answers("10.0.0.1", "a", { ip_net_to_media_table: arp(entries) });
    answers("10.0.0.2", "b", {
      if_table: tableOf({ "1": { ifDescr: utf8("one"), ifPhysAddress: hex("001b21000002") } }),
      ip_net_to_media_table: arp(entries),
    });
    const told = await reads(await scan(["10.0.0.1", "10.0.0.2"]));
    const of = (label: string) =>
      told.filter((each) => each.label === label).map(({ rows: count, addresses }) => [count, addresses]);
    expect(of("a: arp")).toEqual([[{ read: 3, kept: 1, set_aside: { answered: 1, outside: 1 } }, ["10.9.0.1"]]]);
    expect(of("b: arp")).toEqual([
      [{ read: 3, kept: 0, set_aside: { elsewhere: 1, own: 1, outside: 1 } }, ["10.9.0.1"]],
    ]);
  });

  test("are counted if deleted manually", async () => {
    answers("10.0.0.1", "a", { ip_net_to_media_table: arp({ "1.10.0.0.7": "001b21000007" }) });
    await scan(["10.0.0.1"]);
    const [heard] = (await owner.get("hosts?search=10.0.0.7")).data;
    await owner.delete(`hosts/${heard.id}?cascade=true`);
    expect((await byLabel(await scan(["10.0.0.1"])))["a: arp"]).toEqual({
      read: 1,
      kept: 0,
      set_aside: { deleted: 1 },
    });
  });
});

describe("every table with rows", () => {
  const BRIDGE: HandMadeStep = { columns: { dot1dBasePortIfIndex: { "11": 1, "12": 2 } } };
  const learned = (ports: Readonly<Record<string, number>>): HandMadeStep =>
    tableOf(
      Object.fromEntries(
        Object.entries(ports).map(([mac, port]) => [dotted(mac), { dot1dTpFdbPort: port, dot1dTpFdbStatus: 3 }]),
      ),
    );

  test("has one finding, repeated for an unchanged device, and also if nothing is written", async () => {
    answers("10.0.0.2", "sw-1", {
      bridge: BRIDGE,
      if_x_table: tableOf({ "1": { ifName: utf8("1") }, "3": { ifName: utf8("3") } }),
      dot1d_tp_fdb_table: learned({ "001b21000007": 11, "001b21000008": 99, "01005e000001": 11 }),
    });
    const expected = {
      "sw-1: interfaces": { read: 2, kept: 2, set_aside: {} },
      "sw-1: interface_extensions": { read: 2, kept: 1, set_aside: { no_interface: 1 } },
      "sw-1: addresses": { read: 1, kept: 1, set_aside: {} },
      "sw-1: forwarding": { read: 5, kept: 3, set_aside: { group: 1, no_interface: 1 } },
    };
    expect(await byLabel(await scan(["10.0.0.2"], { commit: false }))).toEqual(expected);
    const first = await scan(["10.0.0.2"]);
    expect(await byLabel(first)).toEqual(expected);
    expect(first.outcome.findings).toMatchObject({ Read: 4 });
    const second = await scan(["10.0.0.2"]);
    expect(second.outcome.transactions).toBeNull();
    expect(await byLabel(second)).toEqual(expected);
    expect((await owner.get(`discovery/scans/${second.id}/findings?type=Read`)).data).toHaveLength(4);
  });

  test("reports conclusions drawn from it", async () => {
    answers("10.0.0.2", "sw-1", {
      bridge: { columns: { dot1dBasePortIfIndex: { "1": 1 } } },
      dot1d_tp_fdb_table: learned({ "001b21000007": 2 }),
    });
    const [finding] = (await reads(await scan(["10.0.0.2"]))).filter(({ label }) => label === "sw-1: forwarding");
    expect(finding?.reason).toBe(
      "2 rows read, 2 kept; every port in dot1dBasePortTable is the interface with the same number; the missing ports are assumed to be as well",
    );
  });

  test("counts rows unusable because a table they depend on is no longer served", async () => {
    answers("10.0.0.2", "sw-1", { bridge: BRIDGE, dot1d_tp_fdb_table: learned({ "001b21000007": 12 }) });
    await scan(["10.0.0.2"]);
    answers("10.0.0.2", "sw-1", { dot1d_tp_fdb_table: learned({ "001b21000007": 2 }) });
    expect((await byLabel(await scan(["10.0.0.2"])))["sw-1: forwarding"]).toEqual({
      read: 1,
      kept: 0,
      set_aside: { withheld: 1 },
    });
  });

  test("counts manually deleted records with their parts, each time", async () => {
    answers("10.0.0.2", "sw-1", {
      bridge: BRIDGE,
      if_x_table: tableOf({ "1": { ifName: utf8("1") }, "2": { ifName: utf8("2") } }),
      dot1q_port_vlan_table: { columns: { dot1qPvid: { "11": 10, "12": 10 } } },
      dot1d_tp_fdb_table: learned({ "001b21000007": 11, "001b21000008": 12 }),
    });
    await scan(["10.0.0.2"]);
    const [entry] = (await owner.get("if-entries?order_by=if_index")).data;
    await owner.delete(`if-entries/${entry.id}?cascade=true`);
    for (const asked of await scannedTwice())
      expect(await byLabel(asked)).toMatchObject({
        "sw-1: interfaces": { read: 2, kept: 1, set_aside: { deleted: 1 } },
        "sw-1: interface_extensions": { read: 2, kept: 1, set_aside: { deleted: 1 } },
        "sw-1: vlans": { read: 2, kept: 1, set_aside: { deleted: 1 } },
        "sw-1: forwarding": { read: 4, kept: 3, set_aside: { deleted: 1 } },
      });
  });

  test("counts the row with only the speed of a manually deleted interface", async () => {
    answers("10.0.0.2", "sw-1", {
      if_x_table: tableOf({ "1": { ifHighSpeed: 10_000 }, "2": { ifName: utf8(""), ifHighSpeed: 10_000 } }),
    });
    await scan(["10.0.0.2"]);
    for (const entry of (await owner.get("if-entries")).data as Wire[])
      await owner.delete(`if-entries/${entry.id}?cascade=true`);
    for (const asked of await scannedTwice()) {
      const count = (await byLabel(asked))["sw-1: interface_extensions"];
      expect(count).toEqual({ read: 2, kept: 0, set_aside: { deleted: 2 } });
    }
  });

  test("counts the row with only a speed that is unknown, since ifSpeed was not read", async () => {
    answers("10.0.0.2", "sw-1", {
      if_table: { ...INTERFACES, broken: ["ifSpeed"] },
      if_x_table: tableOf({ "1": { ifHighSpeed: 10 }, "2": { ifName: utf8("two"), ifHighSpeed: 10 } }),
    });
    const asked = await scan(["10.0.0.2"]);
    const [first] = (await owner.get("if-entries?order_by=if_index")).data;
    expect(first).not.toHaveProperty("speed_bps");
    const count = (await byLabel(asked))["sw-1: interface_extensions"];
    expect(count).toEqual({ read: 2, kept: 1, set_aside: { withheld: 1 } });
  });

  test("counts native VLANs of ports in a manually deleted VLAN", async () => {
    const natives = { columns: { dot1qPvid: { "11": 10, "12": 20 } } };
    answers("10.0.0.2", "sw-1", { bridge: BRIDGE, dot1q_port_vlan_table: natives });
    await scan(["10.0.0.2"]);
    const [vlan] = ((await owner.get("vlans")).data as Wire[]).filter(({ number }) => number === 10);
    expect((await owner.delete(`vlans/${vlan?.id}?cascade=true`)).status).toBe(200);
    for (const asked of await scannedTwice())
      expect((await byLabel(asked))["sw-1: vlans"]).toEqual({ read: 2, kept: 1, set_aside: { deleted: 1 } });
  });

  test("counts rows beyond the limits, each time", async () => {
    const neighbors = Array.from({ length: ANNOUNCEMENTS_MAX + 5 }, (_, number) => [
      `1.${number + 1}`,
      { cdpCacheDeviceId: utf8(`n${number}`) },
    ]);
    answers("10.0.0.2", "sw-1", { cdp_cache_table: tableOf(Object.fromEntries(neighbors)) });
    for (const asked of await scannedTwice())
      expect((await byLabel(asked))["sw-1: cdp"]).toEqual({
        read: ANNOUNCEMENTS_MAX + 5,
        kept: ANNOUNCEMENTS_MAX,
        set_aside: { limit: 5 },
      });
  });

  const put = async (macs: readonly string[]): Promise<void> => {
    const [{ id, if_index, if_descr }] = (await owner.get("if-entries?order_by=if_index")).data;
    expect((await owner.put(`if-entries/${id}`, { if_index, if_descr, fdb_macs: macs })).status).toBe(200);
  };
  const stationOf = (number: number): string => `001b22${number.toString(16).padStart(6, "0")}`;
  /** Rows of two VLANs with their stations, all on the first port. */
  const learnedIn = (vlans: Readonly<Record<number, readonly string[]>>): HandMadeStep => {
    const indexes = Object.entries(vlans).flatMap(([vlan, macs]) => macs.map((mac) => `${vlan}.${dotted(mac)}`));
    const row = { dot1qTpFdbPort: 11, dot1qTpFdbStatus: 3 };
    return tableOf(Object.fromEntries(indexes.map((index) => [index, row])));
  };
  const BRIDGE_PORTS = 2;

  test("counts rows excluded by a manual list of MAC addresses, each time", async () => {
    const stations = Array.from({ length: FDB_MACS_BESIDE_MAX + 3 }, (_, number) => stationOf(number));
    const again = [stationOf(0), stationOf(1)];
    answers("10.0.0.2", "sw-1", { bridge: BRIDGE, dot1q_tp_fdb_table: learnedIn({ 10: stations, 20: again }) });
    const read = BRIDGE_PORTS + stations.length + again.length;
    expect((await byLabel(await scan(["10.0.0.2"])))["sw-1: forwarding"]).toEqual({ read, kept: read, set_aside: {} });
    // The last reported one is in the list itself.
    await put(["00:1b:22:ff:ff:ff", colons(stations.at(-1) as string)]);
    for (const asked of await scannedTwice())
      expect((await byLabel(asked))["sw-1: forwarding"]).toEqual({
        read,
        kept: BRIDGE_PORTS + FDB_MACS_BESIDE_MAX + 1,
        set_aside: { duplicate: 2, limit: 2 },
      });
  });

  test("counts as stored the rows also in a manual list, and their further VLANs as duplicates", async () => {
    answers("10.0.0.2", "sw-1", { bridge: BRIDGE, dot1q_tp_fdb_table: learnedIn({ 10: [stationOf(1)] }) });
    await scan(["10.0.0.2"]);
    await put(["00:1b:22:00:00:01", "00:1b:22:00:00:02"]);
    const told = { 10: [stationOf(1), stationOf(2)], 20: [stationOf(1), stationOf(2)] };
    answers("10.0.0.2", "sw-1", { bridge: BRIDGE, dot1q_tp_fdb_table: learnedIn(told) });
    for (const asked of await scannedTwice())
      expect((await byLabel(asked))["sw-1: forwarding"]).toEqual({ read: 6, kept: 4, set_aside: { duplicate: 2 } });
  });

  test("counts a partial table's rows for an interface with manual MAC addresses", async () => {
    answers("10.0.0.2", "sw-1", { bridge: BRIDGE, dot1q_tp_fdb_table: learnedIn({ 10: [stationOf(1)] }) });
    await scan(["10.0.0.2"]);
    await put(["00:1b:22:00:00:09"]);
    await scan(["10.0.0.2"]);
    answers("10.0.0.2", "sw-1", {
      bridge: BRIDGE,
      dot1q_tp_fdb_table: learnedIn({ 10: [stationOf(1), stationOf(2), stationOf(9)], 20: [stationOf(3)] }),
      dot1d_tp_fdb_table: { broken: ["*"] },
    });
    for (const asked of await scannedTwice())
      expect((await byLabel(asked))["sw-1: forwarding"]).toEqual({ read: 6, kept: 4, set_aside: { withheld: 2 } });
    const [entry] = (await owner.get("if-entries?order_by=if_index")).data;
    expect(entry).toMatchObject({ fdb_macs: ["00:1b:22:00:00:09"], discovered: { fdb_macs: ["00:1b:22:00:00:01"] } });
  });

  test("is deleted with old scans, whose outcome stays", async () => {
    answers("10.0.0.2", "sw-1", {});
    const first = await scan(["10.0.0.2"]);
    expect(await reads(first)).toHaveLength(2);
    for (let count = 1; count <= SCANS_WITH_READS; count += 1) await scan(["10.0.0.2"]);
    const left = await findings(first);
    expect(left.map(({ type }) => type)).toContain("Created");
    expect(left.map(({ type }) => type)).not.toContain("Read");
    expect((await owner.get(`discovery/scans/${first.id}`)).data.outcome.findings).toMatchObject({ Read: 2 });
  });
});
