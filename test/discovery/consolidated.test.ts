// Scans of hosts merged or split by a user: they stay merged or split in any order of responses, and an undo leaves no
// trace.

import { describe, expect, test } from "bun:test";
import type { Device } from "../../src/discovery/device.ts";
import type { DeviceSighting } from "../../src/discovery/sightings.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt, ethernet, mac, seenAt } from "../support/reconcile/sightings.ts";

const appliance = applianceForEach(undefined, () => expect(appliance.findingsOf()).toEqual([]));
const { newHost, newSubnet, owner, tick } = appliance;

const [A, B] = ["10.0.0.1", "10.0.0.2"];
const DAY_MS = 24 * 3_600_000;

/** Two agents with only their interface numbers in common. */
function agentReport(number: number, address: string, fields: Partial<Device> = {}): DeviceSighting {
  return deviceAt(address, {
    sys_name: `agent-${number}`,
    serial_number: `SERIAL-${number}`,
    chassis_id: { subtype: "MacAddress", value: mac(0, number) },
    sys_descr: `system ${number}`,
    interfaces: (number === 1 ? [1, 2] : [1, 2, 3]).map((index) =>
      ethernet(index, {
        if_name: `p${number}.${index}`,
        if_descr: `p${number}.${index}`,
        mac_address: mac(index, number),
      }),
    ),
    addresses: [{ ip_address: address, prefix_length: 24, if_index: 1 }],
    ...fields,
  });
}

const hosts = async (): Promise<JsonRecord[]> => (await expectOk(owner.get("hosts?limit=100"))) as JsonRecord[];
async function hostAt(address: string): Promise<JsonRecord> {
  const found = (await hosts()).filter((host) =>
    host.ip_addresses.some(({ ip_address }: JsonRecord) => ip_address === address),
  );
  expect(found).toHaveLength(1);
  return found[0] as JsonRecord;
}
const interfaceNamed = (host: JsonRecord, name: string): JsonRecord =>
  host.interfaces.find(({ if_name }: JsonRecord) => if_name === name);

const bothOrders = <T>(first: T, second: T) => [
  [first, second],
  [second, first],
];

/** Splits the second address off a host, with other parts. */
async function splitOff(host: JsonRecord, name: string, parts: object = {}): Promise<JsonRecord> {
  tick();
  const { id } = host.ip_addresses.find(({ ip_address }: JsonRecord) => ip_address === B);
  return expectOk(owner.post(`hosts/${host.id}/split`, { name, ip_address_ids: [id], ...parts }));
}

async function consolidate(destination: JsonRecord, other: JsonRecord): Promise<JsonRecord> {
  tick();
  return expectOk(owner.put(`hosts/${destination.id}/consolidate/${other.id}`, {}));
}

async function revert({ sequence }: JsonRecord): Promise<void> {
  tick();
  await expectOk(owner.post(`transactions/${sequence}/revert`, {}));
}

/** Expects a scan to write nothing new. */
async function expectNothingNew(scan: () => Promise<unknown>): Promise<void> {
  const before = appliance.transactionCount();
  await scan();
  expect(appliance.transactionCount()).toBe(before);
}

describe("two agents of one device", () => {
  test("stay one host, each with its own data, in any order of responses", async () => {
    const scans = new ScanWriter(appliance);
    await scans.devices(agentReport(1, A), agentReport(2, B));
    await consolidate(await hostAt(A), await hostAt(B));
    const firstHost = await hostAt(A);
    expect(firstHost.interfaces.map(({ if_name }: JsonRecord) => if_name)).toEqual(["p1.1", "p1.2", "p2.3"]);
    for (const order of bothOrders(agentReport(2, B), agentReport(1, A))) {
      await expectNothingNew(() => scans.devices(...order));
      // As two commands of one scan, and as separate scans.
      for (const sighting of order) await expectNothingNew(() => scans.devices(sighting));
    }
    expect(await hosts()).toHaveLength(1);
    // Each agent's report counts for its own interfaces.
    const withPortDown = (sighting: DeviceSighting, index: number): DeviceSighting => ({
      ...sighting,
      device: {
        ...sighting.device,
        interfaces: (sighting.device.interfaces ?? []).map((entry) =>
          entry.if_index === index ? { ...entry, oper_status: "Down" } : entry,
        ),
      },
    });
    await scans.devices(withPortDown(agentReport(2, B), 3), withPortDown(agentReport(1, A), 2));
    const current = await hostAt(A);
    expect(current.id).toBe(firstHost.id);
    expect(current).toMatchObject({ sys_name: "agent-1", serial_number: "SERIAL-1", sys_descr: "system 1" });
    const statusOf = (name: string) => interfaceNamed(current, name).oper_status;
    expect(["p1.1", "p1.2", "p2.3"].map(statusOf)).toEqual(["Up", "Down", "Down"]);
    expect(current.interfaces).toHaveLength(3);
  });

  test("are matched by either one's MAC and IP addresses", async () => {
    const scans = new ScanWriter(appliance);
    await scans.addresses(seenAt(A, { mac_address: mac(1, 1) }), seenAt(B, { mac_address: mac(1, 2) }));
    const [firstHost, secondHost] = [await hostAt(A), await hostAt(B)];
    await consolidate(firstHost, secondHost);
    await expectNothingNew(() =>
      scans.addresses(seenAt(B, { mac_address: mac(1, 2) }), seenAt(A, { mac_address: mac(1, 1) })),
    );
    // The network interface has a new address.
    await scans.addresses(seenAt("10.0.0.7", { mac_address: mac(1, 2) }));
    expect((await hostAt("10.0.0.7")).id).toBe(firstHost.id);
    expect(await hosts()).toHaveLength(1);
  });

  test("are two hosts again after a revert, regardless of scans since", async () => {
    const scans = new ScanWriter(appliance);
    await scans.devices(agentReport(1, A), agentReport(2, B));
    const [firstHost, secondHost] = [await hostAt(A), await hostAt(B)];
    const plan = await consolidate(firstHost, secondHost);
    await scans.devices(agentReport(2, B), agentReport(1, A));
    await scans.addresses(seenAt(B, { mac_address: mac(1, 2) }));
    await revert(plan);
    expect((await hostAt(A)).id).toBe(firstHost.id);
    expect((await hostAt(B)).id).toBe(secondHost.id);
    for (const order of bothOrders(agentReport(2, B), agentReport(1, A)))
      await expectNothingNew(() => scans.devices(...order));
    expect(await hosts()).toHaveLength(2);
    expect((await hostAt(B)).interfaces.map(({ if_name }: JsonRecord) => if_name)).toEqual(["p2.1", "p2.2", "p2.3"]);
    expect(
      appliance.reader.db
        .query(
          "SELECT count(*) AS count FROM discovery_tellings t JOIN history_records r ON r.n = t.host_n WHERE r.id = ? AND t.ip_address = ?",
        )
        .get(firstHost.id, B),
    ).toEqual({ count: 0 });
  });
});

test("a replacement device has its own data", async () => {
  const scans = new ScanWriter(appliance);
  await scans.devices(agentReport(1, A));
  appliance.clock.advance(3 * DAY_MS);
  await scans.devices(agentReport(2, B));
  const [old, replacement] = [await hostAt(A), await hostAt(B)];
  const plan = await consolidate(old, replacement);
  await scans.devices(agentReport(2, B));
  expect(await hostAt(B)).toMatchObject({ id: old.id, sys_name: "agent-2", serial_number: "SERIAL-2" });
  await expectNothingNew(() => scans.devices(agentReport(2, B)));
  expect(await hosts()).toHaveLength(1);
  await revert(plan);
  expect(await expectOk(owner.get(`hosts/${old.id}`))).toMatchObject({
    sys_name: "agent-1",
    serial_number: "SERIAL-1",
  });
  await expectNothingNew(() => scans.devices(agentReport(2, B)));
  expect((await hostAt(B)).id).toBe(replacement.id);
});

test("a manually entered host absorbs a discovered one, and scans continue with it", async () => {
  const scans = new ScanWriter(appliance);
  await newSubnet({ cidr: "10.0.0.0/24" });
  const manualHost = await newHost({ name: "Core switch, room 4", asset_tag: "A-17", sys_location: "room 4" });
  await scans.devices(agentReport(2, B));
  await consolidate(manualHost, await hostAt(B));
  expect(await hostAt(B)).toMatchObject({ id: manualHost.id, name: "Core switch, room 4", serial_number: "SERIAL-2" });
  // The device's different name is noted once.
  await scans.devices(agentReport(2, B));
  await expectNothingNew(() => scans.devices(agentReport(2, B)));
  await scans.devices(agentReport(2, B, { sys_descr: "upgraded", sys_location: "room 5" }));
  // Scans may change discovered values, but not manual ones.
  expect(await hostAt(B)).toMatchObject({
    id: manualHost.id,
    sys_descr: "upgraded",
    sys_location: "room 4",
    discovered: { sys_location: "room 5" },
    asset_tag: "A-17",
  });
  expect(await hosts()).toHaveLength(1);
});

test("manual values of the other host stay manual", async () => {
  const scans = new ScanWriter(appliance);
  await scans.devices(agentReport(2, B));
  const other = await hostAt(B);
  tick();
  const { id, name, hidden, tags } = other;
  await expectOk(owner.put(`hosts/${id}`, { id, name, hidden, tags, sys_contact: "Ada" }));
  const manualHost = await newHost();
  await consolidate(manualHost, other);
  await scans.devices(agentReport(2, B, { sys_contact: "nobody" }));
  expect(await hostAt(B)).toMatchObject({
    id: manualHost.id,
    sys_contact: "Ada",
    discovered: { sys_contact: "nobody" },
  });
});

describe("a split host", () => {
  /** Clones: both report identical data. */
  const clone = (address: string, others: readonly string[] = []) =>
    agentReport(1, address, {
      addresses: [address, ...others].map((ip_address) => ({ ip_address, prefix_length: 24, if_index: 1 })),
    });

  test("stays two hosts, whichever responds first", async () => {
    const scans = new ScanWriter(appliance);
    await scans.devices(clone(A));
    await scans.devices(clone(B));
    const firstHost = await hostAt(A);
    expect((await hostAt(B)).id).toBe(firstHost.id);
    const plan = await splitOff(firstHost, "clone");
    await scans.devices(clone(B), clone(A));
    expect([(await hostAt(A)).id, (await hostAt(B)).id]).toEqual([firstHost.id, plan.host_id]);
    for (const order of bothOrders(clone(A), clone(B))) {
      await scans.devices(...order);
      expect([(await hostAt(A)).id, (await hostAt(B)).id]).toEqual([firstHost.id, plan.host_id]);
    }
    expect(await hosts()).toHaveLength(2);
  });

  test("does not regain an address from its device's reports or a sweep", async () => {
    const scans = new ScanWriter(appliance);
    await scans.devices(clone(A, [B]));
    const firstHost = await hostAt(A);
    const plan = await splitOff(firstHost, "apart");
    await scans.devices(clone(A, [B]));
    await scans.addresses(seenAt(B, { mac_address: mac(1, 1) }));
    expect([(await hostAt(A)).id, (await hostAt(B)).id]).toEqual([firstHost.id, plan.host_id]);
    expect(await hosts()).toHaveLength(2);
    // After the undo, the device's report counts again.
    await revert(plan);
    await scans.devices(clone(A, [B]));
    expect((await hostAt(B)).id).toBe(firstHost.id);
    expect(await expectOk(owner.get("discovery/ignored"))).toEqual([] as unknown as JsonRecord);
  });

  test("separates consolidated devices, and each continues with its own device's data", async () => {
    const scans = new ScanWriter(appliance);
    await scans.devices(agentReport(1, A), agentReport(2, B));
    const firstHost = await hostAt(A);
    await consolidate(firstHost, await hostAt(B));
    const current = await hostAt(A);
    const plan = await splitOff(current, "again", { if_entry_ids: [interfaceNamed(current, "p2.3").id] });
    for (const order of bothOrders(agentReport(2, B), agentReport(1, A))) await scans.devices(...order);
    expect(await hostAt(A)).toMatchObject({ id: firstHost.id, serial_number: "SERIAL-1" });
    expect(await hostAt(B)).toMatchObject({ id: plan.host_id, serial_number: "SERIAL-2", name: "again" });
    expect(await hosts()).toHaveLength(2);
  });
});
