// Sightings: MAC and IP address, reporter, and first and last time seen.

import { describe, expect, test } from "bun:test";
import type { ArpEntry, Device } from "../../src/discovery/device.ts";
import { SIGHTINGS_PER_REPORTER_MAX, SIGHTINGS_PER_TABLE_MAX } from "../../src/discovery/reconcile/record-sightings.ts";
import { addressOfKey, type SightingRow } from "../../src/resources/sightings.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk } from "../support/appliance/factories.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { address, deviceAt, ethernet, mac, seenAt } from "../support/reconcile/sightings.ts";

// After each test, derived data must match the ledger, and row counts must be correct.
const appliance = applianceForEach({}, () => expect(appliance.findingsOf()).toEqual([]));
const { owner, inTransaction, communityOf, runScan, newSubnet } = appliance;
const scan = new ScanWriter(appliance);

interface SeenRow {
  readonly ip: string;
  readonly mac: string | null;
  readonly kind: string;
  readonly reporter: string | null;
  readonly port: string | null;
  readonly first: number;
  readonly last: number;
  readonly isCurrent: boolean;
}

const SIGHTINGS = `SELECT s.*, r.kind, r.read_at,
  (SELECT ('{' || members || '}') ->> '$.if_name' FROM if_entries WHERE n = s.if_entry_n) AS port,
  (SELECT ('{' || members || '}') ->> '$.name' FROM hosts WHERE n = r.host_n) AS reporter
  FROM discovery_sightings s JOIN discovery_reporters r ON r.n = s.reporter_n ORDER BY s.n`;

type StoredRow = SightingRow & { kind: string; read_at: number; port: string | null; reporter: string | null };

function seen(kind?: string): SeenRow[] {
  const rows = inTransaction((tx) => tx.db.$client.query(SIGHTINGS).all() as StoredRow[]);
  return rows
    .filter((row) => kind === undefined || row.kind === kind)
    .map(({ address_key, mac_address, kind, reporter, port, first_seen, last_seen, gone_at, read_at }) => ({
      ip: addressOfKey(address_key),
      mac: mac_address,
      kind,
      reporter,
      port,
      first: first_seen,
      last: gone_at === null ? Math.max(last_seen, read_at) : last_seen,
      isCurrent: gone_at === null,
    }));
}

/** All stored sightings with their row numbers, as JSON. */
const stored = () =>
  inTransaction((tx) => JSON.stringify(tx.db.$client.query("SELECT * FROM discovery_sightings ORDER BY n").all()));

const arpEntry = (ip_address: string, mac_address: string, if_index: number | null = 1): ArpEntry => ({
  ip_address,
  mac_address,
  if_index,
});
const router = (arp: readonly ArpEntry[], fields: Partial<Device> = {}, ip = "10.0.0.1") =>
  deviceAt(ip, {
    sys_name: `router at ${ip}`,
    serial_number: `SER ${ip}`,
    interfaces: [
      ethernet(1, { mac_address: mac(1, Number(ip.at(-1))) }),
      ethernet(2, { mac_address: mac(2, Number(ip.at(-1))) }),
    ],
    addresses: [address(ip)],
    arp,
    ...fields,
  });
const PARTIAL = { arp: { state: "partial", problem: "cut off" } } as const;
const partial = (arp: readonly ArpEntry[]) => {
  const sighting = router(arp);
  const { device } = sighting;
  return { ...sighting, device: { ...device, tables: { ...device.tables, ...PARTIAL }, broken: ["arp" as const] } };
};
const now = () => appliance.clock.now();

describe("a neighbor table", () => {
  test("creates an interval per IP address, MAC address and interface, from the first to the last read with that entry", async () => {
    await scan.devices(router([arpEntry("10.0.0.7", mac(7, 9)), arpEntry("10.0.0.8", mac(8, 9), 2)]));
    const first = now();
    await scan.devices(router([arpEntry("10.0.0.7", mac(7, 9)), arpEntry("10.0.0.8", mac(8, 9), 2)]));
    const last = now();
    await scan.devices(router([arpEntry("10.0.0.8", mac(8, 9), 2)]));
    const readTime = (instant: number) => instant - 1_000;
    expect(seen("Neighbor")).toEqual([
      {
        ip: "10.0.0.7",
        mac: mac(7, 9),
        kind: "Neighbor",
        reporter: "router at 10.0.0.1",
        port: "Gi0/1",
        first: readTime(first),
        last: readTime(last),
        isCurrent: false,
      },
      {
        ip: "10.0.0.8",
        mac: mac(8, 9),
        kind: "Neighbor",
        reporter: "router at 10.0.0.1",
        port: "Gi0/2",
        first: readTime(first),
        last: readTime(now()),
        isCurrent: true,
      },
    ]);
  });

  test("starts a new interval when an address returns, or appears with another MAC address or on another interface", async () => {
    await scan.devices(router([arpEntry("10.0.0.7", mac(7, 9))]));
    await scan.devices(router([]));
    await scan.devices(router([arpEntry("10.0.0.7", mac(7, 9))]));
    await scan.devices(router([arpEntry("10.0.0.7", mac(8, 9))]));
    await scan.devices(router([arpEntry("10.0.0.7", mac(8, 9), 2)]));
    expect(seen("Neighbor").map(({ mac, port, isCurrent }) => [mac, port, isCurrent])).toEqual([
      [mac(7, 9), "Gi0/1", false],
      [mac(7, 9), "Gi0/1", false],
      [mac(8, 9), "Gi0/1", false],
      [mac(8, 9), "Gi0/2", true],
    ]);
  });

  test("keeps several MAC addresses for one IP address, from one router and from several", async () => {
    await scan.devices(
      router([arpEntry("10.0.0.7", mac(7, 9)), arpEntry("10.0.0.7", mac(8, 9))]),
      router([arpEntry("10.0.0.7", mac(9, 9))], {}, "10.0.0.2"),
    );
    expect(seen("Neighbor").map(({ mac, reporter }) => [mac, reporter])).toEqual([
      [mac(7, 9), "router at 10.0.0.1"],
      [mac(8, 9), "router at 10.0.0.1"],
      [mac(9, 9), "router at 10.0.0.2"],
    ]);
  });

  test("ends no interval if it was truncated, and adds the entries that were read", async () => {
    await scan.devices(router([arpEntry("10.0.0.7", mac(7, 9))]));
    const read = now() - 1_000;
    await scan.devices(partial([arpEntry("10.0.0.8", mac(8, 9))]));
    expect(seen("Neighbor").map(({ ip, last, isCurrent }) => [ip, last === read, isCurrent])).toEqual([
      ["10.0.0.7", true, true],
      ["10.0.0.8", false, true],
    ]);
    await scan.devices(router([arpEntry("10.0.0.8", mac(8, 9))]));
    expect(seen("Neighbor").map(({ ip, isCurrent }) => [ip, isCurrent])).toEqual([
      ["10.0.0.7", false],
      ["10.0.0.8", true],
    ]);
  });

  test("writes no sighting if unchanged, even when the router responds at another address", async () => {
    const both = { addresses: [address("10.0.0.1"), address("10.0.0.3")] };
    await scan.devices(router([arpEntry("10.0.0.7", mac(7, 9))], both));
    const before = stored();
    await scan.devices(router([arpEntry("10.0.0.7", mac(7, 9))], both));
    await scan.devices({ ...router([arpEntry("10.0.0.7", mac(7, 9))], both), ip_address: "10.0.0.3" });
    expect(stored()).toBe(before);
    expect(seen("Neighbor").map(({ last }) => last)).toEqual([now() - 1_000]);
  });

  test("follows an interface to another ifIndex", async () => {
    await scan.devices(router([arpEntry("10.0.0.7", mac(7, 9))]));
    const before = stored();
    const interfaces = [ethernet(1, { if_index: 11, mac_address: mac(1, 1) }), ethernet(2, { mac_address: mac(2, 1) })];
    await scan.devices(
      router([arpEntry("10.0.0.7", mac(7, 9), 11)], { interfaces, addresses: [address("10.0.0.1", 11)] }),
    );
    expect(stored()).toBe(before);
  });

  test("creates sightings for addresses outside all subnets and for ignored hosts, too", async () => {
    await newSubnet({ cidr: "10.0.0.0/24" });
    const sighting = router([arpEntry("10.0.0.7", mac(7, 9)), arpEntry("172.31.0.9", mac(8, 9))]);
    await scan.devices(sighting);
    const [host] = (await expectOk(owner.get("hosts"))) as unknown as Array<{ id: string }>;
    await expectOk(owner.delete(`hosts/${host?.id}?ignore=true`));
    await scan.devices(sighting);
    expect(seen().map(({ ip, kind }) => `${ip} ${kind}`)).toEqual([
      "10.0.0.1 Own",
      "10.0.0.7 Neighbor",
      "172.31.0.9 Neighbor",
      "10.0.0.1 Own",
      "10.0.0.7 Neighbor",
      "172.31.0.9 Neighbor",
    ]);
  });

  test("cannot exceed the limits, even on a hostile device", async () => {
    const rows = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) =>
        arpEntry(`10.${(from + n) >> 16}.${((from + n) >> 8) & 255}.${(from + n) & 255}`, mac(n & 255, 16 + (n >> 8))),
      );
    for (const from of [0, 200_000, 400_000]) await scan.devices(router(rows(from, 0.7 * SIGHTINGS_PER_TABLE_MAX)));
    const counts = () =>
      inTransaction((tx) =>
        tx.db.$client
          .query("SELECT count(*), coalesce(sum(gone_at IS NULL), 0) FROM discovery_sightings WHERE reporter_n = 2")
          .values(),
      );
    expect(counts()).toEqual([[SIGHTINGS_PER_REPORTER_MAX, 0.7 * SIGHTINGS_PER_TABLE_MAX]]);
    for (const from of [800_000, 1_000_000]) await scan.devices(partial(rows(from, SIGHTINGS_PER_TABLE_MAX)));
    expect(counts()).toEqual([[SIGHTINGS_PER_REPORTER_MAX, SIGHTINGS_PER_TABLE_MAX]]);
  });
});

describe("a device's own addresses", () => {
  test("are seen with the MAC address of their interface; the address that responded, even without one", async () => {
    await scan.devices(router([], {}, "10.0.0.1"), { ...router([], {}, "10.0.0.2"), ip_address: "192.0.2.9" });
    expect(seen("Own").map(({ ip, mac, port }) => [ip, mac, port])).toEqual([
      ["10.0.0.1", mac(1, 1), "Gi0/1"],
      ["10.0.0.2", mac(1, 2), "Gi0/1"],
      ["192.0.2.9", null, null],
    ]);
  });
});

describe("a sweep", () => {
  test("creates an interval, which ends when a completed sweep gets no response", async () => {
    await newSubnet({ cidr: "10.0.0.0/29" });
    const { probes } = appliance;
    const sweep = async (fields = {}) => {
      appliance.clock.advance(60_000);
      await runScan({ kind: "sweep", ...fields });
    };
    for (const last of [1, 2]) probes.alive.set(`10.0.0.${last}`, { mac_address: mac(last, 5) });
    await sweep();
    probes.alive.delete("10.0.0.2");
    await sweep({ targets: ["10.0.0.1"] });
    const isCurrent = () => seen("Sweep").map((row) => [row.ip, row.isCurrent]);
    expect(isCurrent()).toEqual([
      ["10.0.0.1", true],
      ["10.0.0.2", true],
    ]);
    await sweep();
    expect(isCurrent()).toEqual([
      ["10.0.0.1", true],
      ["10.0.0.2", false],
    ]);
    probes.alive.set("10.0.0.2", { mac_address: mac(2, 5) });
    await sweep();
    expect(isCurrent().slice(2)).toEqual([["10.0.0.2", true]]);
  });

  test("creates another interval for another MAC address, and none for a response without one", async () => {
    for (const mac_address of [mac(1), mac(2), null, mac(2)]) await scan.addresses(seenAt("10.0.0.9", { mac_address }));
    expect(seen("Sweep").map((row) => [row.mac, row.isCurrent])).toEqual([
      [mac(1), false],
      [mac(2), true],
    ]);
  });

  test("records nothing in a dry run", async () => {
    await newSubnet({ cidr: "10.0.0.0/29" });
    await communityOf("public");
    appliance.probes.alive.set("10.0.0.1", {});
    await runScan({ kind: "full", commit: false });
    expect(seen()).toEqual([]);
  });
});
