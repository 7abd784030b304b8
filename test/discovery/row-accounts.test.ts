// Row accounting of a scan: one finding per table of a device, with the number of rows kept, and of rows dropped by
// reason.

import { beforeEach, describe, expect, test } from "bun:test";
import { ANNOUNCEMENTS_MAX } from "../../src/discovery/reconcile/record-interfaces.ts";
import { SCANS_WITH_READS } from "../../src/discovery/scans/scan.ts";
import { FDB_MACS_DISCOVERED_MAX } from "../../src/resources/if-entries/if-entry.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { deviceWith, dotted, hex, type SyntheticStep, tableOf, utf8 } from "../support/reconcile/synthetic-reads.ts";

const { communityOf, findings, owner, probes, runScan } = applianceForEach();

beforeEach(async () => {
  await communityOf("public");
});

const OWN = "001b21000001";
const SYSTEM = (name: string): SyntheticStep => ({
  scalars: { sysName: utf8(name), sysObjectID: "1.3.6.1.4.1.9.1.516" },
});
const INTERFACES: SyntheticStep = tableOf({
  "1": { ifDescr: utf8("one"), ifType: 6, ifPhysAddress: hex(OWN) },
  "2": { ifDescr: utf8("two"), ifType: 6 },
});
const addressOf = (address: string): SyntheticStep =>
  tableOf({ [address]: { ipAdEntIfIndex: 1, ipAdEntNetMask: "255.255.255.0" } });

function serveDevice(address: string, name: string, steps: Readonly<Record<string, SyntheticStep>>): void {
  const all = { system: SYSTEM(name), if_table: INTERFACES, ip_addr_table: addressOf(address), ...steps };
  probes.devices.set(address, { device: deviceWith(all), community: "public" });
}

const colons = (mac: string): string => mac.replace(/..(?!$)/g, "$&:");
const scan = (targets: readonly string[], options: JsonRecord = {}): Promise<JsonRecord> =>
  runScan({ kind: "snmp", targets, ...options });
const scanTwice = async (): Promise<JsonRecord[]> => [await scan(["10.0.0.2"]), await scan(["10.0.0.2"])];
const reads = async (scanRecord: JsonRecord): Promise<JsonRecord[]> =>
  (await findings(scanRecord)).filter(({ type }) => type === "Read");
const account = (read: number, kept: number, set_aside: JsonRecord = {}) => ({ read, kept, set_aside });
const byLabel = async (scanRecord: JsonRecord): Promise<Record<string, JsonRecord>> =>
  Object.fromEntries((await reads(scanRecord)).map(({ label, rows: count }) => [label, count]));

/** Expects an account of the switch's table in this scan and the next. */
const expectEachTime = async (table: string, expected: JsonRecord): Promise<void> => {
  for (const scanRecord of await scanTwice()) expect((await byLabel(scanRecord))[`sw-1: ${table}`]).toEqual(expected);
};

describe("a device's ARP and neighbor entries", () => {
  const arp = (entries: Readonly<Record<string, string>>): SyntheticStep =>
    tableOf(
      Object.fromEntries(Object.entries(entries).map(([index, mac]) => [index, { ipNetToMediaPhysAddress: hex(mac) }])),
    );
  const LINK_LOCAL = "254.128.0.0.0.0.0.0.2.27.33.255.254.170.187.204";

  test("are counted, and those outside the network's subnets are named", async () => {
    serveDevice("10.0.0.1", "fw-1", {
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
        "9 rows read, 2 kept, 7 discarded: 1 repeating another row, 1 of the device itself, 1 multicast or broadcast, " +
        "1 link-local, 3 outside the network's subnets; outside: 10.9.0.1, 10.9.0.2, 10.9.0.3",
      rows: { read: 9, kept: 2, set_aside: { duplicate: 1, own: 1, group: 1, link_local: 1, outside: 3 } },
      addresses: ["10.9.0.1", "10.9.0.2", "10.9.0.3"],
    });
  });

  test("are counted per device, excluding those of other responding devices and those already reported", async () => {
    const entries = { "1.10.0.0.7": "001b21000007", "1.10.9.0.1": "001b21000091", "1.10.0.0.2": "001b21000002" };
    serveDevice("10.0.0.1", "a", { ip_net_to_media_table: arp(entries) });
    serveDevice("10.0.0.2", "b", {
      if_table: tableOf({ "1": { ifDescr: utf8("one"), ifPhysAddress: hex("001b21000002") } }),
      ip_net_to_media_table: arp(entries),
    });
    const readFindings = await reads(await scan(["10.0.0.1", "10.0.0.2"]));
    const accountsOf = (label: string) =>
      readFindings.filter((finding) => finding.label === label).map(({ rows: count, addresses }) => [count, addresses]);
    expect(accountsOf("a: arp")).toEqual([[account(3, 1, { answered: 1, outside: 1 }), ["10.9.0.1"]]]);
    expect(accountsOf("b: arp")).toEqual([[account(3, 0, { elsewhere: 1, own: 1, outside: 1 }), ["10.9.0.1"]]]);
  });

  test("are counted if deleted manually", async () => {
    serveDevice("10.0.0.1", "a", { ip_net_to_media_table: arp({ "1.10.0.0.7": "001b21000007" }) });
    await scan(["10.0.0.1"]);
    const [host] = (await owner.get("hosts?search=10.0.0.7")).data;
    await owner.delete(`hosts/${host.id}?cascade=true&ignore=true`);
    expect((await byLabel(await scan(["10.0.0.1"])))["a: arp"]).toEqual(account(1, 0, { deleted: 1 }));
  });
});

describe("every table with rows", () => {
  const BRIDGE: SyntheticStep = { columns: { dot1dBasePortIfIndex: { "11": 1, "12": 2 } } };
  const learned = (ports: Readonly<Record<string, number>>): SyntheticStep =>
    tableOf(
      Object.fromEntries(
        Object.entries(ports).map(([mac, port]) => [dotted(mac), { dot1dTpFdbPort: port, dot1dTpFdbStatus: 3 }]),
      ),
    );

  test("has one finding, repeated for an unchanged device, even if nothing is written", async () => {
    serveDevice("10.0.0.2", "sw-1", {
      bridge: BRIDGE,
      if_x_table: tableOf({ "1": { ifName: utf8("1") }, "3": { ifName: utf8("3") } }),
      dot1d_tp_fdb_table: learned({ "001b21000007": 11, "001b21000008": 99, "01005e000001": 11 }),
    });
    const expected = {
      "sw-1: interfaces": account(2, 2),
      "sw-1: interface_extensions": account(2, 1, { no_interface: 1 }),
      "sw-1: addresses": account(1, 1),
      "sw-1: forwarding": account(5, 3, { group: 1, no_interface: 1 }),
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
    serveDevice("10.0.0.2", "sw-1", {
      bridge: { columns: { dot1dBasePortIfIndex: { "1": 1 } } },
      dot1d_tp_fdb_table: learned({ "001b21000007": 2 }),
    });
    const [finding] = (await reads(await scan(["10.0.0.2"]))).filter(({ label }) => label === "sw-1: forwarding");
    expect(finding?.reason).toBe(
      "2 rows read, 2 kept; every port in dot1dBasePortTable is the interface with the same number; the missing ports are assumed to be as well",
    );
  });

  test("counts rows unusable because a table they depend on is no longer served", async () => {
    serveDevice("10.0.0.2", "sw-1", { bridge: BRIDGE, dot1d_tp_fdb_table: learned({ "001b21000007": 12 }) });
    await scan(["10.0.0.2"]);
    serveDevice("10.0.0.2", "sw-1", { dot1d_tp_fdb_table: learned({ "001b21000007": 2 }) });
    expect((await byLabel(await scan(["10.0.0.2"])))["sw-1: forwarding"]).toEqual(account(1, 0, { withheld: 1 }));
  });

  test("counts manually deleted records with their parts, each time", async () => {
    serveDevice("10.0.0.2", "sw-1", {
      bridge: BRIDGE,
      if_x_table: tableOf({ "1": { ifName: utf8("1") }, "2": { ifName: utf8("2") } }),
      dot1q_port_vlan_table: { columns: { dot1qPvid: { "11": 10, "12": 10 } } },
      dot1d_tp_fdb_table: learned({ "001b21000007": 11, "001b21000008": 12 }),
    });
    await scan(["10.0.0.2"]);
    const [entry] = (await owner.get("if-entries?order_by=if_index")).data;
    await owner.delete(`if-entries/${entry.id}?cascade=true&ignore=true`);
    for (const scanRecord of await scanTwice())
      expect(await byLabel(scanRecord)).toMatchObject({
        "sw-1: interfaces": account(2, 1, { deleted: 1 }),
        "sw-1: interface_extensions": account(2, 1, { deleted: 1 }),
        "sw-1: vlans": account(2, 1, { deleted: 1 }),
        "sw-1: forwarding": account(4, 3, { deleted: 1 }),
      });
  });

  test("counts the row with only the speed of a manually deleted interface", async () => {
    serveDevice("10.0.0.2", "sw-1", {
      if_x_table: tableOf({ "1": { ifHighSpeed: 10_000 }, "2": { ifName: utf8(""), ifHighSpeed: 10_000 } }),
    });
    await scan(["10.0.0.2"]);
    for (const entry of (await owner.get("if-entries")).data as JsonRecord[])
      await owner.delete(`if-entries/${entry.id}?cascade=true&ignore=true`);
    await expectEachTime("interface_extensions", account(2, 0, { deleted: 2 }));
  });

  test("counts the row with only a speed that is unknown, since ifSpeed was not read", async () => {
    serveDevice("10.0.0.2", "sw-1", {
      if_table: { ...INTERFACES, broken: ["ifSpeed"] },
      if_x_table: tableOf({ "1": { ifHighSpeed: 10 }, "2": { ifName: utf8("two"), ifHighSpeed: 10 } }),
    });
    const scanRecord = await scan(["10.0.0.2"]);
    const [first] = (await owner.get("if-entries?order_by=if_index")).data;
    expect(first).not.toHaveProperty("speed_bps");
    expect((await byLabel(scanRecord))["sw-1: interface_extensions"]).toEqual(account(2, 1, { withheld: 1 }));
  });

  test("counts native VLANs of ports in a manually deleted VLAN", async () => {
    const natives = { columns: { dot1qPvid: { "11": 10, "12": 20 } } };
    serveDevice("10.0.0.2", "sw-1", { bridge: BRIDGE, dot1q_port_vlan_table: natives });
    await scan(["10.0.0.2"]);
    const [vlan] = ((await owner.get("vlans")).data as JsonRecord[]).filter(({ number }) => number === 10);
    expect((await owner.delete(`vlans/${vlan?.id}?cascade=true&ignore=true`)).status).toBe(200);
    await expectEachTime("vlans", account(2, 1, { deleted: 1 }));
  });

  test("counts rows beyond the limits, each time", async () => {
    const neighbors = Array.from({ length: ANNOUNCEMENTS_MAX + 5 }, (_, number) => [
      `1.${number + 1}`,
      { cdpCacheDeviceId: utf8(`n${number}`) },
    ]);
    serveDevice("10.0.0.2", "sw-1", { cdp_cache_table: tableOf(Object.fromEntries(neighbors)) });
    await expectEachTime("cdp", account(ANNOUNCEMENTS_MAX + 5, ANNOUNCEMENTS_MAX, { limit: 5 }));
  });

  const put = async (macs: readonly string[]): Promise<void> => {
    const [{ id, if_index, if_descr }] = (await owner.get("if-entries?order_by=if_index")).data;
    expect((await owner.put(`if-entries/${id}`, { if_index, if_descr, fdb_macs: macs })).status).toBe(200);
  };
  const stationOf = (number: number): string => `001b22${number.toString(16).padStart(6, "0")}`;
  /** Rows of two VLANs with their stations, all on the first port. */
  const learnedIn = (vlans: Readonly<Record<number, readonly string[]>>): SyntheticStep => {
    const indexes = Object.entries(vlans).flatMap(([vlan, macs]) => macs.map((mac) => `${vlan}.${dotted(mac)}`));
    const row = { dot1qTpFdbPort: 11, dot1qTpFdbStatus: 3 };
    return tableOf(Object.fromEntries(indexes.map((index) => [index, row])));
  };
  const BRIDGE_PORTS = 2;

  test("counts rows excluded by a manual list of MAC addresses, each time", async () => {
    const stations = Array.from({ length: FDB_MACS_DISCOVERED_MAX + 3 }, (_, number) => stationOf(number));
    const repeatedStations = [stationOf(0), stationOf(1)];
    serveDevice("10.0.0.2", "sw-1", {
      bridge: BRIDGE,
      dot1q_tp_fdb_table: learnedIn({ 10: stations, 20: repeatedStations }),
    });
    const read = BRIDGE_PORTS + stations.length + repeatedStations.length;
    expect((await byLabel(await scan(["10.0.0.2"])))["sw-1: forwarding"]).toEqual({ read, kept: read, set_aside: {} });
    // The manual list includes the last reported station.
    await put(["00:1b:22:ff:ff:ff", colons(stations.at(-1) as string)]);
    const kept = BRIDGE_PORTS + FDB_MACS_DISCOVERED_MAX + 1;
    await expectEachTime("forwarding", account(read, kept, { duplicate: 2, limit: 2 }));
  });

  test("counts rows that are also in a manual list as stored, and their additional VLANs as duplicates", async () => {
    serveDevice("10.0.0.2", "sw-1", { bridge: BRIDGE, dot1q_tp_fdb_table: learnedIn({ 10: [stationOf(1)] }) });
    await scan(["10.0.0.2"]);
    await put(["00:1b:22:00:00:01", "00:1b:22:00:00:02"]);
    const stations = { 10: [stationOf(1), stationOf(2)], 20: [stationOf(1), stationOf(2)] };
    serveDevice("10.0.0.2", "sw-1", { bridge: BRIDGE, dot1q_tp_fdb_table: learnedIn(stations) });
    await expectEachTime("forwarding", account(6, 4, { duplicate: 2 }));
  });

  test("counts a partial table's rows for an interface with manual MAC addresses", async () => {
    serveDevice("10.0.0.2", "sw-1", { bridge: BRIDGE, dot1q_tp_fdb_table: learnedIn({ 10: [stationOf(1)] }) });
    await scan(["10.0.0.2"]);
    await put(["00:1b:22:00:00:09"]);
    await scan(["10.0.0.2"]);
    serveDevice("10.0.0.2", "sw-1", {
      bridge: BRIDGE,
      dot1q_tp_fdb_table: learnedIn({ 10: [stationOf(1), stationOf(2), stationOf(9)], 20: [stationOf(3)] }),
      dot1d_tp_fdb_table: { broken: ["*"] },
    });
    await expectEachTime("forwarding", account(6, 4, { withheld: 2 }));
    const [entry] = (await owner.get("if-entries?order_by=if_index")).data;
    expect(entry).toMatchObject({ fdb_macs: ["00:1b:22:00:00:09"], discovered: { fdb_macs: ["00:1b:22:00:00:01"] } });
  });

  test("is deleted with old scans, whose outcome is kept", async () => {
    serveDevice("10.0.0.2", "sw-1", {});
    const first = await scan(["10.0.0.2"]);
    expect(await reads(first)).toHaveLength(2);
    for (let count = 1; count <= SCANS_WITH_READS; count += 1) await scan(["10.0.0.2"]);
    const remaining = await findings(first);
    expect(remaining.map(({ type }) => type)).toContain("Created");
    expect(remaining.map(({ type }) => type)).not.toContain("Read");
    expect((await owner.get(`discovery/scans/${first.id}`)).data.outcome.findings).toMatchObject({ Read: 2 });
  });
});
