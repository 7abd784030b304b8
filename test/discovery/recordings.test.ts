// Decoded recordings of real devices and the lab's agents, compared with the raw lines by code that is independent of
// the MIB decoders.

import { describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deviceOf } from "../../src/discovery/mib/device.ts";
import { READING_PLAN } from "../../src/discovery/mib/plan.ts";
import { scratchParent } from "../support/measure/scratch-parent.ts";
import {
  fixtureNames,
  parseRecording,
  readsOf,
  recordingNames,
  recordingText,
} from "../support/reconcile/recorded-reads.ts";
import {
  canonicalOrder,
  expectedAddresses,
  expectedArp,
  expectedBridgePorts,
  expectedCdp,
  expectedForwarding,
  expectedInterfaces,
  expectedLldp,
  expectedMembership,
  expectedRows,
  expectedVlans,
  macOf,
  pairs,
  rawOf,
  sorted,
  text,
} from "../support/reconcile/recorded-truth.ts";

/**
 * Counted by hand, to detect mistakes common to both decoders: interfaces, LLDP, CDP, forwarding entries, VLANs, ARP
 * entries, addresses.
 */
const COUNTS: Readonly<Record<string, readonly number[]>> = {
  "arista-dcs-7150s-52-cl": [59, 2, 0, 26, 5, 30, 7],
  // Recordings of the lab.
  "cdp-box": [3, 0, 0, 0, 0, 1, 3],
  host: [3, 1, 0, 0, 0, 1, 3],
  "switch-a": [8, 4, 1, 4, 0, 1, 3],
  "switch-b": [8, 3, 0, 4, 3, 1, 3],
  // IPv6 link-local in addition to the address in ipAddrTable; VLAN 4091 of the current table is internal to the
  // switch.
  "brocade-icx6430-24": [29, 0, 0, 18, 1, 13, 2],
  // 15 ARP entries, 21 IPv6 neighbors; two IPv4 addresses, four IPv6 addresses; VLANs of CISCO-VTP-MIB.
  "cisco-c3560": [57, 0, 9, 0, 8, 36, 6],
  "cisco-c3750": [19, 0, 125, 15, 278, 9, 2],
  "cisco-n5000": [61, 9, 5, 0, 16, 513, 30],
  "cisco-unmarked-0": [28, 0, 1, 19, 124, 2, 1],
  // One of 29 rows is the switch's own address; two of four ARP entries are broadcast.
  "dlink-des3038": [32, 0, 0, 28, 3, 2, 1],
  // 306 of 569 entries are on ports that are neither listed nor interfaces; 203 ARP entries, the others are IPv6
  // neighbors, some in both of its tables.
  "h3c-comware-lsq1wcmd0-2509p61": [1317, 0, 0, 263, 13, 1955, 9],
  "h3c-e528-2": [31, 1, 0, 2, 2, 10, 1],
  // Eight of 285 rows are the switch's own address, and 259 of the other table are among the 277; ::1 is reported as
  // anycast.
  "hpe-procurve-516733-b21": [42, 5, 5, 277, 8, 0, 2],
  "huawei-s5720": [39, 0, 0, 48, 0, 49, 3],
  // 15 ARP entries, three without an interface, and two IPv6 neighbors; five IPv4 addresses, three IPv6 addresses.
  "huawei-unknown-001": [102, 0, 0, 0, 1, 17, 8],
  "ibm-x3550-m3": [6, 0, 0, 0, 0, 1, 6],
  // Four of seven rows are on bridge ports of interface 0.
  "juniper-mx960-13-3r9-13": [61, 6, 0, 3, 29, 0, 0],
  // Its ipAddrTable has five numbers in an index.
  netmanage: [31, 1, 0, 2, 2, 10, 0],
  // Two tables of 3,719 and 3,629 rows have most entries in common; all but ten are on tunnels that dot1dBasePortTable
  // does not list.
  "ruijie-m18000": [3271, 0, 0, 3846, 29, 10, 5],
  // Four of 385 rows are its own address; 410 ARP entries, one of them without an address, and 499 IPv6 neighbors.
  "ruijie-s5750-24gt12sfp": [27, 0, 0, 381, 2, 908, 6],
  // Of 851 entries 22 are broadcast addresses and six have no MAC address.
  "topsec-ngfw4000-uf": [108, 0, 0, 0, 0, 823, 87],
  // Rows of both tables are numbered consecutively.
  "venus-vsos-v0600r0705b20180507": [11, 0, 0, 0, 0, 6, 2],
};

const names = recordingNames();

test.skipIf(names.length === 0)(
  "recordings of real devices are checked as well (skipped without ../shared/snmp-recordings and snmp-recordings-lost)",
  () => expect(names.length).toBeGreaterThan(0),
);

test.skipIf(Bun.which("bzip2") === null)("a truncated recording is refused, not read up to the cut", () => {
  const folder = mkdtempSync(join(scratchParent(), "netledger-recordings-"));
  try {
    mkdirSync(join(folder, "x-lost"));
    const path = join(folder, "x-lost/device.bz2");
    const { stdout } = Bun.spawnSync(["bzip2", "-c"], {
      stdin: Buffer.from("1.3.6.1.2.1.1.5.0|4|device\n".repeat(100)),
    });
    writeFileSync(path, stdout);
    expect(recordingText(path)).toContain("device");
    const truncated = join(folder, "x-lost/truncated.bz2");
    writeFileSync(truncated, stdout.subarray(0, -10));
    expect(() => recordingText(truncated)).toThrow("bunzip2 cannot read");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

for (const name of [...fixtureNames(), ...names]) {
  describe(`the recording of ${name}`, () => {
    const recorded = recordingText(name);
    const raw = rawOf(recorded);
    const device = deviceOf(readsOf(parseRecording(recorded), READING_PLAN));

    test("has the hand-counted number of rows", () => {
      const interfaces = device.interfaces ?? [];
      const sum = (count: (entry: (typeof interfaces)[number]) => number): number =>
        interfaces.reduce((total, entry) => total + count(entry), 0);
      const counts = [
        interfaces.length,
        sum(({ lldp }) => lldp?.length ?? 0),
        sum(({ cdp }) => cdp?.length ?? 0),
        sum(({ forwarding }) => forwarding?.length ?? 0),
        device.vlans?.length ?? 0,
        device.arp?.length ?? 0,
        device.addresses?.length ?? 0,
      ];
      if (COUNTS[name] !== undefined) expect(counts).toEqual([...COUNTS[name]]);
    });

    test("accounts for every row: stored, or excluded for a reason", () => {
      const { system, ...rows } = device.rows;
      expect(system.read).toBe(0);
      const read = Object.fromEntries(Object.entries(rows).map(([table, count]) => [table, count.read]));
      expect(read).toEqual(expectedRows(raw));
      for (const { read, kept, set_aside } of Object.values(rows))
        expect(kept + Object.values(set_aside).reduce((sum, count) => sum + count, 0)).toBe(read);
      expect(Object.fromEntries(Object.entries(rows).map(([table, count]) => [table, count.kept]))).toMatchObject({
        interfaces: expectedInterfaces(raw).length,
        addresses: Object.keys(expectedAddresses(raw)).length,
        arp: expectedArp(raw).length,
        forwarding: expectedForwarding(raw, name).located.length + expectedBridgePorts(raw),
        cdp: expectedCdp(raw).length,
      });
    });

    test("yields the system group", () => {
      const scalar = (oid: string): string | null | undefined => (raw.has(oid) ? text(raw, oid) || null : undefined);
      expect([device.sys_descr, device.sys_contact, device.sys_name, device.sys_location]).toEqual(
        ["1.3.6.1.2.1.1.1.0", "1.3.6.1.2.1.1.4.0", "1.3.6.1.2.1.1.5.0", "1.3.6.1.2.1.1.6.0"].map(scalar),
      );
      expect(device.sys_object_id).toBe(raw.get("1.3.6.1.2.1.1.2.0")?.value as string);
    });

    test("has every interface, with name, alias, type, speed, MAC address and statuses", () => {
      const decoded = (device.interfaces ?? []).map(
        ({ vlans, native_vlan, forwarding, lldp, cdp, ...fields }) => fields,
      );
      expect(decoded).toEqual(expectedInterfaces(raw) as never);
    });

    test("has every address, with its prefix length and interface", () => {
      expect(
        Object.fromEntries(
          (device.addresses ?? []).map((address) => [address.ip_address, [address.prefix_length, address.if_index]]),
        ),
      ).toEqual(expectedAddresses(raw));
    });

    test("has every ARP entry and IPv6 neighbor", () => {
      expect(
        sorted(
          (device.arp ?? []).map((neighbor) => `${neighbor.if_index} ${neighbor.ip_address} ${neighbor.mac_address}`),
        ),
      ).toEqual(expectedArp(raw));
    });

    test("has every VLAN with its name", () => {
      expect(new Map(device.vlans?.map((vlan) => [vlan.number, vlan.name ?? ""]))).toEqual(expectedVlans(raw));
    });

    test("has every VLAN's ports, and every port's native VLAN", () => {
      const { members, natives } = expectedMembership(raw, name);
      const interfaces = device.interfaces ?? [];
      expect(pairs(interfaces.flatMap((entry) => (entry.vlans ?? []).map((vlan) => [entry.if_index, vlan])))).toEqual(
        pairs(members),
      );
      expect(
        pairs(interfaces.flatMap((entry) => (entry.native_vlan == null ? [] : [[entry.if_index, entry.native_vlan]]))),
      ).toEqual(pairs(natives));
    });

    test("has every forwarding entry on its interface", () => {
      const { located, unlocated } = expectedForwarding(raw, name);
      const decoded = (device.interfaces ?? []).flatMap((entry) =>
        (entry.forwarding ?? []).map(
          ({ mac_address, vlan_number }) => `${entry.if_index} ${mac_address} ${vlan_number}`,
        ),
      );
      expect(sorted(decoded)).toEqual(sorted(located));
      expect(device.tables.forwarding.problem).toBe(
        unlocated === 0
          ? null
          : `${unlocated} of ${located.length + unlocated} forwarding entries are on bridge ports that belong to no interface`,
      );
    });

    for (const [protocol, expected] of [
      ["lldp", expectedLldp],
      ["cdp", expectedCdp],
    ] as const)
      test(`has every ${protocol.toUpperCase()} neighbor on its interface`, () => {
        const decoded = (device.interfaces ?? []).flatMap((entry) =>
          (entry[protocol] ?? []).map((announced) => ({ if_index: entry.if_index, ...announced })),
        );
        expect(canonicalOrder(decoded)).toEqual(canonicalOrder(expected(raw)) as never);
        expect(device.tables[protocol].problem).toBeNull();
      });

    test("has the device's LLDP chassis id", () => {
      const chassis = raw.get("1.0.8802.1.1.2.1.3.2.0");
      expect(device.chassis_id).toEqual(
        chassis === undefined ? undefined : { subtype: "MacAddress", value: macOf(chassis.bytes) },
      );
    });
  });
}
