// Expiry of records known only from neighbor tables and sweeps, whose addresses are not free until then.

import { beforeEach, describe, expect, test } from "bun:test";
import { desc } from "drizzle-orm";
import { openWritable } from "../../src/db/connection.ts";
import { withChecksum } from "../../src/db/row-checksum.ts";
import type { ArpEntry, Device } from "../../src/discovery/device.ts";
import { STORED_SCANS_MAX } from "../../src/discovery/scans/scan.ts";
import { discoveryScans } from "../../src/discovery/scans/tables.ts";
import { pruneHistory } from "../../src/history/prune.ts";
import { KINDS } from "../../src/records/resources.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { fakeDevice } from "../support/injected/fake-probes.ts";
import { address, ethernet, mac } from "../support/reconcile/sightings.ts";

// After any test, derived data matches the ledger, and all rows are counted.
const appliance = applianceForEach({}, () => expect(appliance.findingsOf()).toEqual([]));
const { newApiKey, newSubnet, communityOf, startScan, waitForScan } = appliance;

const HOUR_MS = 3_600_000;
/** A MAC address of a vendor, and a locally administered one. */
const LAPTOP = mac(7, 9);
const PHONE = "d2:11:22:33:44:55";

let owner: typeof appliance.owner;
let subnet: JsonRecord;
let last: JsonRecord;

beforeEach(async () => {
  // Otherwise the session would expire in the meantime.
  owner = appliance.anonymous.with({ authorization: `Bearer ${newApiKey({ permissions: "Owner" }).key}` });
  subnet = await newSubnet({ cidr: "10.0.0.0/28" });
  await communityOf("public");
});

/** Advances the clock by hours, and scans. @returns what ended, as `label: reason` */
async function scanAfter(hours: number, fields: JsonRecord = {}): Promise<string[]> {
  appliance.clock.advance(hours * HOUR_MS);
  last = await waitForScan((await startScan({ kind: "full", ...fields }, owner)).id, owner);
  expect(last.status).toBe("Completed");
  const closed = await expectOk(owner.get(`discovery/scans/${last.id}/findings?limit=1000&type=Closed`));
  return (closed as unknown as JsonRecord[]).map(({ label, reason }) => `${label}: ${reason}`);
}
const list = async (path: string) => (await expectOk(owner.get(path))) as unknown as JsonRecord[];
const addresses = async () => (await list("ip-addresses?limit=0")).map(({ ip_address }) => ip_address).sort();
const free = async (at = "") =>
  (await expectOk(owner.get(`subnets/${subnet.id}/free?count=20${at === "" ? "" : `&at=${at}`}`))).next as string[];
const settings = async (fields: JsonRecord) => {
  const { networkId } = appliance.first;
  const { name } = await expectOk(owner.get(`networks/${networkId}`));
  await expectOk(owner.put(`networks/${networkId}`, { name, ...fields }));
};
const answers = (ip: string, mac_address: string | null) => appliance.probes.alive.set(ip, { mac_address });
const arpEntry = (ip_address: string, mac_address: string): ArpEntry => ({ ip_address, mac_address, if_index: 1 });
const router = (arp: readonly ArpEntry[], fields: Partial<Device> = {}) => {
  answers("10.0.0.1", null);
  appliance.probes.devices.set("10.0.0.1", {
    community: "public",
    device: fakeDevice({
      sys_name: "router",
      interfaces: [ethernet(1)],
      addresses: [address("10.0.0.1")],
      arp,
      ...fields,
    }),
  });
};
/** Switches the router off. */
const silence = () => {
  appliance.probes.devices.clear();
  appliance.probes.alive.clear();
};

describe("a machine known only from sweeps", () => {
  test("ends after its time limit and two scans that did not find it, with its address and the reason", async () => {
    answers("10.0.0.7", LAPTOP);
    expect(await scanAfter(0)).toEqual([]);
    const seenAt = (await list("hosts"))[0]?.last_seen_at;
    appliance.probes.alive.clear();
    expect(await scanAfter(300)).toEqual([]);
    expect(await scanAfter(300)).toEqual([]);
    expect(await scanAfter(100)).toEqual([]);
    expect(await scanAfter(21)).toEqual([
      `Intel ${LAPTOP}: not seen since ${seenAt}: expired after 720 hours and 2 scans that did not find it`,
    ]);
    expect([await list("hosts"), await addresses()]).toEqual([[], []]);
  });

  test("ends neither at the first scan after two months of downtime, nor by scans of other addresses", async () => {
    answers("10.0.0.5", LAPTOP);
    await scanAfter(0);
    appliance.probes.alive.clear();
    expect(await scanAfter(1_500)).toEqual([]);
    expect(await scanAfter(1, { targets: ["10.0.0.8/29"] })).toEqual([]);
    expect(await scanAfter(1, { targets: ["10.0.0.0/29"] })).toHaveLength(1);
  });

  test("with only locally administered MAC addresses ends after 72 hours", async () => {
    for (let day = 0; day < 10; day += 1) {
      appliance.probes.alive.clear();
      answers("10.0.0.7", LAPTOP);
      for (const guest of [1, 2]) answers(`10.0.0.${8 + guest}`, `d2:00:00:00:0${day % 10}:0${guest}`);
      await scanAfter(24);
    }
    // Guests of the last four days, and the laptop.
    expect((await list("hosts?limit=0")).length).toBeLessThanOrEqual(9);
    await settings({ expire_random_macs_after_hours: null });
    appliance.probes.alive.clear();
    for (let day = 0; day < 5; day += 1) expect(await scanAfter(24)).toEqual([]);
  });

  test("never ends if the network is configured so, and counts from the last change of the setting", async () => {
    await settings({ expire_hosts_after_hours: null, expire_addresses_after_hours: null });
    answers("10.0.0.7", LAPTOP);
    await scanAfter(0);
    appliance.probes.alive.clear();
    for (const hours of [800, 800, 800]) expect(await scanAfter(hours)).toEqual([]);
    await settings({ expire_hosts_after_hours: 24 });
    expect(await scanAfter(1)).toHaveLength(1);
  });

  test("becomes stale instead if a user wrote it, one of its parts, or its position on the map", async () => {
    for (const number of [7, 8, 9, 10]) answers(`10.0.0.${number}`, mac(number, 9));
    await scanAfter(0);
    const host = async (ip: string) => {
      const [{ host_id } = {}] = await list(`ip-addresses?filter=ip_address = "${ip}"`);
      return expectOk(owner.get(`hosts/${host_id}`));
    };
    const [described, part, placed] = [await host("10.0.0.7"), await host("10.0.0.8"), await host("10.0.0.9")];
    await expectOk(owner.put(`hosts/${described?.id}`, { ...described, description: "Loading dock" }));
    await expectOk(owner.post("ports", { host_id: part?.id, number: 8_080, protocol: "Tcp" }));
    await expectOk(
      owner.put(`networks/${appliance.first.networkId}/map-positions`, { nodes: { [placed?.id]: { x: 1, y: 2 } } }),
    );
    appliance.probes.alive.clear();
    await scanAfter(720);
    const ended = await scanAfter(1);
    expect(ended.filter((each) => each.startsWith("Intel"))).toEqual([expect.stringContaining(mac(10, 9))]);
    expect((await list("hosts")).map(({ stale_since }) => typeof stale_since)).toEqual(["string", "string", "string"]);
    expect(await scanAfter(1)).toEqual([]);
  });
});

describe("a machine in a neighbor table", () => {
  test("ends after two complete reads without it, and stays while the table is cut off", async () => {
    router([arpEntry("10.0.0.7", LAPTOP)]);
    await scanAfter(0, { kind: "snmp", targets: ["10.0.0.1"] });
    router([], { tables: fakeDevice({ partial: { arp: "cut off" } as never }).tables, broken: ["arp"] });
    const snmp = (hours: number) => scanAfter(hours, { kind: "snmp", targets: ["10.0.0.1"] });
    for (const hours of [800, 1, 1]) expect(await snmp(hours)).toEqual([]);
    router([]);
    expect(await snmp(1)).toEqual([]);
    expect(await snmp(1)).toEqual([expect.stringContaining(`${LAPTOP}: not seen since`)]);
  });

  test("stays at its current address when the record of an earlier one ends", async () => {
    router([arpEntry("10.0.0.7", LAPTOP)]);
    await scanAfter(0);
    router([arpEntry("10.0.0.8", LAPTOP)]);
    for (const hours of [400, 320, 1]) await scanAfter(hours);
    expect(await addresses()).toEqual(["10.0.0.1", "10.0.0.8"]);
    expect(await list("hosts")).toHaveLength(2);
  });

  test("stays while a forwarding table has its MAC address", async () => {
    router([arpEntry("10.0.0.7", LAPTOP)]);
    await scanAfter(0);
    const learned = { interfaces: [ethernet(1, { forwarding: [{ mac_address: LAPTOP, vlan_number: 1 }] })] };
    router([], learned);
    for (const hours of [400, 400]) await scanAfter(hours);
    expect((await list("hosts?limit=0")).map(({ name }) => name)).toContain(`Intel ${LAPTOP}`);
  });
});

describe("a machine that only the neighbor table of a removed router had", () => {
  const snmp = (hours: number, fields: JsonRecord = {}) => scanAfter(hours, { kind: "snmp", ...fields });
  const LAPTOP_ENDED = expect.stringContaining(`${LAPTOP}: not seen since`);
  const removals: Array<[string, () => Promise<unknown>]> = [
    ["is silent", async () => {}],
    [
      "was deleted",
      async () => {
        const found = (await list("hosts")).find(({ name }) => name === "router");
        await expectOk(owner.delete(`hosts/${found?.id}`));
      },
    ],
  ];

  test.each(removals)("ends after two SNMP scans while the router %s", async (_how, remove) => {
    router([arpEntry("10.0.0.7", LAPTOP)]);
    await snmp(0, { targets: ["10.0.0.1"] });
    silence();
    await remove();
    expect(await snmp(719)).toEqual([]);
    // Scans that poll other addresses or none, and dry runs, do not count.
    expect(await snmp(1, { targets: ["10.0.0.8/29"] })).toEqual([]);
    expect(await scanAfter(1, { kind: "sweep", targets: ["10.0.0.1"] })).toEqual([]);
    expect(await snmp(1, { commit: false })).toContainEqual(LAPTOP_ENDED);
    expect(await snmp(1, { targets: ["10.0.0.0/29"] })).toEqual([LAPTOP_ENDED]);
    expect(await addresses()).not.toContain("10.0.0.7");
    expect(await free()).toContain("10.0.0.7");
  });

  test("stays after a pause until two scans have polled the router in vain", async () => {
    router([arpEntry("10.0.0.7", LAPTOP)]);
    await snmp(0, { targets: ["10.0.0.1"] });
    silence();
    expect(await snmp(1_500)).toEqual([]);
    expect(await snmp(1)).toEqual([LAPTOP_ENDED]);
  });

  test("stays while no scan polls the router, which is in no scanned subnet", async () => {
    router([arpEntry("10.0.0.7", LAPTOP)]);
    const { community, device } = appliance.probes.devices.get("10.0.0.1") as { community: string; device: Device };
    silence();
    await newSubnet({ cidr: "192.0.2.0/28", subnet_type: "Remote" });
    const wan = { ...device, addresses: [address("192.0.2.1")] };
    appliance.probes.devices.set("192.0.2.1", { community, device: wan });
    const targets = ["192.0.2.1"];
    await snmp(0, { targets });
    expect(await addresses()).toEqual(["10.0.0.7", "192.0.2.1"]);
    silence();
    for (const hours of [800, 1, 1]) expect(await snmp(hours)).toEqual([]);
    expect(await snmp(1, { targets })).toEqual([]);
    expect(await snmp(1, { targets })).toEqual([LAPTOP_ENDED]);
  });

  test("stays while the router responds, but not to SNMP, and while no credential is assigned", async () => {
    router([arpEntry("10.0.0.7", LAPTOP)]);
    await snmp(0, { targets: ["10.0.0.1"] });
    appliance.probes.devices.clear();
    const pinged = { targets: ["10.0.0.1"] };
    for (const hours of [800, 1, 1]) expect(await scanAfter(hours, pinged)).toEqual([]);
    silence();
    const [credential] = await list("credentials");
    await expectOk(owner.put(`credentials/${credential?.id}`, { ...credential, assigned_network_ids: [] }));
    for (const hours of [800, 1, 1]) expect(await snmp(hours)).toEqual([]);
  });
});

describe("an incomplete scan does not count", () => {
  /** Stops a scan as soon as it reaches a write, which still completes. */
  const stoppedScan = async (hours: number, fields: JsonRecord, write: string, stop: (id: string) => Promise<void>) => {
    appliance.clock.advance(hours * HOUR_MS);
    const held = appliance.holdWrites((_author, command) => command === write);
    const { id } = await startScan({ kind: "full", ...fields }, owner);
    let hasArrived = false;
    void held.arrived.then(() => {
      hasArrived = true;
    });
    while (!hasArrived) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      appliance.timers.pass(10);
    }
    const stopped = stop(id);
    held.release();
    await stopped;
    return (await waitForScan(id, owner)).status;
  };

  /** Stores completed scans of nothing that follow the last one. */
  const storeLater = (count: number) =>
    appliance.inTransaction((tx) =>
      tx.runAfterWrite(() => {
        const [last] = tx.db.select().from(discoveryScans).orderBy(desc(discoveryScans.id)).limit(1).all();
        if (last === undefined) throw new Error("no scan");
        const { checksum: _checksum, ...row } = last;
        const prefix = (Number.parseInt(row.id.replace("-", "").slice(0, 12), 16) + 1).toString(16).padStart(12, "0");
        for (let index = 0; index < count; index += 1) {
          const id = `${prefix.slice(0, 8)}-${prefix.slice(8)}-7000-8000-${`${index}`.padStart(12, "0")}`;
          const later = { ...row, id, status: "Completed" as const, started_at: null, outcome: null };
          tx.db.insert(discoveryScans).values(withChecksum(discoveryScans, later)).run();
        }
      }),
    );

  test.each([
    ["canceled", 0],
    ["canceled, although it is no longer among the last ones of the network", STORED_SCANS_MAX],
  ])("but is %s", async (_case, laterScans) => {
    router([arpEntry("10.0.0.5", LAPTOP)]);
    const targets = { kind: "snmp", targets: ["10.0.0.1", "10.0.0.14"] };
    await scanAfter(0, targets);
    router([]);
    const { hold } = appliance.probes;
    const aborted = (signal: AbortSignal) =>
      new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    appliance.probes.hold = (address, signal) => (address === "10.0.0.14" ? aborted(signal) : Promise.resolve());
    for (const hours of [800, 1, 1])
      expect(await stoppedScan(hours, targets, "discovery.devices", (id) => appliance.scans.cancel(id))).toBe(
        "Cancelled",
      );
    appliance.probes.hold = hold;
    storeLater(laterScans);
    expect(await addresses()).toEqual(["10.0.0.1", "10.0.0.5"]);
    expect(await scanAfter(1, targets)).toEqual([]);
    expect(await scanAfter(1, targets)).toEqual([expect.stringContaining(LAPTOP)]);
  });

  test("but is interrupted, by a crash after its last write", async () => {
    answers("10.0.0.5", LAPTOP);
    router([arpEntry("192.0.2.7", mac(2, 9))]);
    await newSubnet({ cidr: "192.0.2.0/28", subnet_type: "Loopback" });
    await scanAfter(0);
    router([]);
    appliance.probes.alive.delete("10.0.0.5");
    // The next start ends it.
    const crash = () => appliance.scans.start();
    for (const hours of [800, 1, 1]) expect(await stoppedScan(hours, {}, "discovery.vlans", crash)).toBe("Interrupted");
    expect(await addresses()).toEqual(["10.0.0.1", "10.0.0.5", "192.0.2.7"]);
    expect(await scanAfter(1)).toEqual([]);
    expect(await scanAfter(1)).toHaveLength(2);
    expect(await addresses()).toEqual(["10.0.0.1"]);
  });
});

test("a device that ever responded to SNMP becomes stale, with its own addresses", async () => {
  router([]);
  await scanAfter(0);
  silence();
  for (const hours of [720, 1, 1]) expect(await scanAfter(hours)).toEqual([]);
  expect(await addresses()).toEqual(["10.0.0.1"]);
  expect((await list("hosts"))[0]).toMatchObject({ name: "router", stale_since: expect.any(String) });
});

test("a record of an earlier version expires from the upgrade on", async () => {
  answers("10.0.0.7", LAPTOP);
  await scanAfter(0);
  appliance.inTransaction((tx) =>
    tx.runAfterWrite(() => {
      for (const table of ["sightings", "reporters", "sweeps"]) tx.db.$client.run(`DELETE FROM discovery_${table}`);
    }),
  );
  appliance.probes.alive.clear();
  answers("10.0.0.9", mac(9, 9));
  for (const hours of [1_000, 100, 600]) expect(await scanAfter(hours)).toEqual([]);
  expect(await scanAfter(20)).toEqual([expect.stringContaining(LAPTOP)]);
});

describe("an address that was seen is not free", () => {
  test("although its host was deleted or is ignored, until it expires, at every timestamp", async () => {
    for (const number of [2, 3]) answers(`10.0.0.${number}`, mac(number, 9));
    router([]);
    appliance.clock.advance(HOUR_MS);
    const before = appliance.clock.text();
    await scanAfter(1);
    for (const { id, name } of await list("hosts"))
      await expectOk(owner.delete(`hosts/${id}${name.includes(mac(3, 9)) ? "?ignore=true" : ""}`));
    expect(await addresses()).toEqual([]);
    expect((await free()).slice(0, 2)).toEqual(["10.0.0.4", "10.0.0.5"]);
    expect((await free(before)).slice(0, 3)).toEqual(["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
    appliance.clock.advance(HOUR_MS);
    const seen = appliance.clock.text();
    appliance.clock.advance(HOUR_MS);
    const { allocated } = await expectOk(owner.post(`subnets/${subnet.id}/allocate`, { count: 2 }));
    expect(allocated).toEqual(["10.0.0.4", "10.0.0.5"]);
    silence();
    for (const hours of [800, 1]) await scanAfter(hours);
    expect((await free()).slice(0, 3)).toEqual(["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
    expect((await free(seen))[0]).toBe("10.0.0.4");
  });

  test("although a router's table is its only sign, also in a subnet that is created later", async () => {
    router([arpEntry("10.9.9.1", LAPTOP), arpEntry("10.0.0.2", mac(1, 77))]);
    await scanAfter(0);
    const later = await newSubnet({ cidr: "10.9.9.0/30" });
    expect((await expectOk(owner.get(`subnets/${later.id}/free?count=9`))).next).toEqual(["10.9.9.2"]);
    const rows = await list(`subnets/${later.id}/addresses?limit=0`);
    expect(rows.map(({ state }) => state)).toEqual(["Network", "Seen", "Free", "Broadcast"]);
    expect((await expectOk(owner.get(`subnets/${later.id}/free?prefix_length=31`))).next).toEqual(["10.9.9.2/31"]);
  });

  test("although another device contradicts it, and a phone's is free after 72 hours", async () => {
    answers("10.0.0.7", PHONE);
    await scanAfter(0);
    const [host] = await list("hosts");
    await expectOk(owner.delete(`hosts/${host?.id}`));
    expect(await free()).not.toContain("10.0.0.7");
    appliance.probes.alive.clear();
    for (const hours of [71, 2]) await scanAfter(hours);
    expect(await free()).toContain("10.0.0.7");
  });

  test("again, if it is seen after it expired", async () => {
    router([arpEntry("10.0.0.7", LAPTOP)]);
    await scanAfter(0);
    silence();
    for (const hours of [800, 1]) await scanAfter(hours);
    expect(await free()).toContain("10.0.0.7");
    router([arpEntry("10.0.0.7", LAPTOP)]);
    await scanAfter(1);
    expect(await free()).not.toContain("10.0.0.7");
  });
});

test("a prune drops expired sightings that no kept state needs", async () => {
  await settings({ expire_random_macs_after_hours: 1 });
  const guest = async (ip: string) => {
    answers(ip, PHONE);
    await scanAfter(1);
    silence();
  };
  // Within one day.
  await guest("10.0.0.7");
  for (const hours of [1, 1]) await scanAfter(hours);
  // Over two ends of a day.
  await guest("10.0.0.8");
  for (const hours of [40, 1]) await scanAfter(hours);
  await scanAfter(24);
  const count = () =>
    appliance.inTransaction((tx) => tx.db.$client.query("SELECT count(*) FROM discovery_sightings").values());
  const states = async () =>
    (await Promise.all([20, 30].map((hours) => free(`-${hours}h`)))).map((next) => next.length);
  const before = await states();
  expect([count(), before]).toEqual([[[2]], [14, 13]]);
  const db = openWritable(appliance.databasePath);
  pruneHistory(db, KINDS, { before: appliance.clock.now(), keep: "daily" }, appliance.clock.now());
  db.$client.close();
  expect([count(), await states()]).toEqual([[[1]], before]);
});

test("the list of expiring records is ordered by time, and excludes manual records and devices", async () => {
  const path = `networks/${appliance.first.networkId}/expiring`;
  expect(await expectOk(owner.get(path))).toEqual({ next: [] });
  for (const [ip, mac_address] of [
    ["10.0.0.7", LAPTOP],
    ["10.0.0.8", PHONE],
    ["10.0.0.9", mac(9, 9)],
  ] as const)
    answers(ip, mac_address);
  router([]);
  await scanAfter(1);
  const written = (await list("hosts")).find(({ name }) => name.includes(mac(9, 9)));
  await expectOk(owner.put(`hosts/${written?.id}`, { ...written, description: "Camera" }));
  const { next } = (await expectOk(owner.get(path))) as unknown as { next: JsonRecord[] };
  expect(next.map(({ type, name }) => `${type} ${name}`)).toEqual([
    `host ${PHONE}`,
    "ip_address 10.0.0.8",
    `host Intel ${LAPTOP}`,
    "ip_address 10.0.0.7",
    "ip_address 10.0.0.9",
  ]);
  const hours = ({ expires_at, last_seen_at }: JsonRecord) =>
    Math.round((Date.parse(expires_at) - Date.parse(last_seen_at)) / HOUR_MS);
  expect(next.map(hours)).toEqual([72, 72, 720, 720, 720]);
  expect((await owner.get("networks/01936f2e-0000-7000-8000-000000000000/expiring")).status).toBe(404);
  await settings({ expire_hosts_after_hours: null, expire_addresses_after_hours: null });
  expect(((await expectOk(owner.get(path))).next as JsonRecord[]).map(({ name }) => name)).toEqual([PHONE, "10.0.0.8"]);
});
