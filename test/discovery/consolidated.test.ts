// Scans of hosts that a user merged or split: they stay so, whichever agent answers first, and an undo leaves no trace.

import { describe, expect, test } from "bun:test";
import type { Device } from "../../src/discovery/device.ts";
import type { DeviceSighting } from "../../src/discovery/sightings.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { made, type Wire } from "../support/appliance/factories.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt, ethernet, mac, seenAt } from "../support/reconcile/sightings.ts";

const appliance = applianceForEach(undefined, () => expect(appliance.findingsOf()).toEqual([]));
const { newHost, newSubnet, owner, tick } = appliance;

const [A, B] = ["10.0.0.1", "10.0.0.2"];
const DAY_MS = 24 * 3_600_000;

/** Two agents with only their interface numbers in common. */
function told(number: number, address: string, fields: Partial<Device> = {}): DeviceSighting {
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

const hosts = async (): Promise<Wire[]> => (await made(owner.get("hosts?limit=100"))) as Wire[];
async function at(address: string): Promise<Wire> {
  const found = (await hosts()).filter((host) => host.ip_addresses.some((each: Wire) => each.ip_address === address));
  expect(found).toHaveLength(1);
  return found[0] as Wire;
}
const entry = (host: Wire, name: string): Wire => host.interfaces.find((each: Wire) => each.if_name === name);

async function consolidate(destination: Wire, other: Wire): Promise<Wire> {
  tick();
  return made(owner.put(`hosts/${destination.id}/consolidate/${other.id}`, {}));
}

async function revert({ sequence }: Wire): Promise<void> {
  tick();
  await made(owner.post(`transactions/${sequence}/revert`, {}));
}

/** Expects a scan to write nothing new. */
async function expectNothingNew(scanned: () => Promise<unknown>): Promise<void> {
  const before = appliance.transactionCount();
  await scanned();
  expect(appliance.transactionCount()).toBe(before);
}

describe("two agents of one device", () => {
  test("stay one host, each with its own data, in any order of answers", async () => {
    const scans = new ScanWriter(appliance);
    await scans.devices(told(1, A), told(2, B));
    await consolidate(await at(A), await at(B));
    const one = await at(A);
    expect(one.interfaces.map((each: Wire) => each.if_name)).toEqual(["p1.1", "p1.2", "p2.3"]);
    for (const order of [
      [told(2, B), told(1, A)],
      [told(1, A), told(2, B)],
    ] as const) {
      await expectNothingNew(() => scans.devices(...order));
      // As two commands of one scan, and as separate scans.
      for (const each of order) await expectNothingNew(() => scans.devices(each));
    }
    expect(await hosts()).toHaveLength(1);
    // Each agent's report counts for its own interfaces.
    const down = (sighting: DeviceSighting, index: number): DeviceSighting => ({
      ...sighting,
      device: {
        ...sighting.device,
        interfaces: (sighting.device.interfaces ?? []).map((each) =>
          each.if_index === index ? { ...each, oper_status: "Down" } : each,
        ),
      },
    });
    await scans.devices(down(told(2, B), 3), down(told(1, A), 2));
    const now = await at(A);
    expect(now.id).toBe(one.id);
    expect(now).toMatchObject({ sys_name: "agent-1", serial_number: "SERIAL-1", sys_descr: "system 1" });
    expect([entry(now, "p1.1"), entry(now, "p1.2"), entry(now, "p2.3")].map((each) => each.oper_status)).toEqual([
      "Up",
      "Down",
      "Down",
    ]);
    expect(now.interfaces).toHaveLength(3);
  });

  test("are matched by identifiers of either: names, MAC addresses, IP addresses", async () => {
    const scans = new ScanWriter(appliance);
    await scans.addresses(seenAt(A, { mac_address: mac(1, 1) }), seenAt(B, { mac_address: mac(1, 2) }));
    const [one, two] = [await at(A), await at(B)];
    await consolidate(one, two);
    await expectNothingNew(() =>
      scans.addresses(seenAt(B, { mac_address: mac(1, 2) }), seenAt(A, { mac_address: mac(1, 1) })),
    );
    // The network interface has a new address.
    await scans.addresses(seenAt("10.0.0.7", { mac_address: mac(1, 2) }));
    expect((await at("10.0.0.7")).id).toBe(one.id);
    expect(await hosts()).toHaveLength(1);
  });

  test("are two again after a revert, whatever scans have reported since", async () => {
    const scans = new ScanWriter(appliance);
    await scans.devices(told(1, A), told(2, B));
    const [one, two] = [await at(A), await at(B)];
    const plan = await consolidate(one, two);
    await scans.devices(told(2, B), told(1, A));
    await scans.addresses(seenAt(B, { mac_address: mac(1, 2) }));
    await revert(plan);
    expect((await at(A)).id).toBe(one.id);
    expect((await at(B)).id).toBe(two.id);
    for (const order of [
      [told(2, B), told(1, A)],
      [told(1, A), told(2, B)],
    ] as const)
      await expectNothingNew(() => scans.devices(...order));
    expect(await hosts()).toHaveLength(2);
    expect((await at(B)).interfaces.map((each: Wire) => each.if_name)).toEqual(["p2.1", "p2.2", "p2.3"]);
    expect(
      appliance.reader.db
        .query(
          "SELECT count(*) AS count FROM discovery_tellings t JOIN history_records r ON r.n = t.host_n WHERE r.id = ? AND t.ip_address = ?",
        )
        .get(one.id, B),
    ).toEqual({ count: 0 });
  });
});

test("a device that replaced another has its own data", async () => {
  const scans = new ScanWriter(appliance);
  await scans.devices(told(1, A));
  appliance.clock.advance(3 * DAY_MS);
  await scans.devices(told(2, B));
  const [old, replaced] = [await at(A), await at(B)];
  const plan = await consolidate(old, replaced);
  await scans.devices(told(2, B));
  expect(await at(B)).toMatchObject({ id: old.id, sys_name: "agent-2", serial_number: "SERIAL-2" });
  await expectNothingNew(() => scans.devices(told(2, B)));
  expect(await hosts()).toHaveLength(1);
  await revert(plan);
  expect(await made(owner.get(`hosts/${old.id}`))).toMatchObject({ sys_name: "agent-1", serial_number: "SERIAL-1" });
  await expectNothingNew(() => scans.devices(told(2, B)));
  expect((await at(B)).id).toBe(replaced.id);
});

test("a manually entered host absorbs a discovered one, and scans continue with it", async () => {
  const scans = new ScanWriter(appliance);
  await newSubnet({ cidr: "10.0.0.0/24" });
  const entered = await newHost({ name: "Core switch, room 4", asset_tag: "A-17", sys_location: "room 4" });
  await scans.devices(told(2, B));
  await consolidate(entered, await at(B));
  expect(await at(B)).toMatchObject({ id: entered.id, name: "Core switch, room 4", serial_number: "SERIAL-2" });
  // The device's different name is noted once.
  await scans.devices(told(2, B));
  await expectNothingNew(() => scans.devices(told(2, B)));
  await scans.devices(told(2, B, { sys_descr: "upgraded", sys_location: "room 5" }));
  // Scans may change discovered values, but not manual ones.
  expect(await at(B)).toMatchObject({
    id: entered.id,
    sys_descr: "upgraded",
    sys_location: "room 4",
    discovered: { sys_location: "room 5" },
    asset_tag: "A-17",
  });
  expect(await hosts()).toHaveLength(1);
});

test("manual values of the other host stay manual", async () => {
  const scans = new ScanWriter(appliance);
  await scans.devices(told(2, B));
  const other = await at(B);
  tick();
  const { id, name, hidden, tags } = other;
  await made(owner.put(`hosts/${id}`, { id, name, hidden, tags, sys_contact: "Ada" }));
  const entered = await newHost();
  await consolidate(entered, other);
  await scans.devices(told(2, B, { sys_contact: "nobody" }));
  expect(await at(B)).toMatchObject({ id: entered.id, sys_contact: "Ada", discovered: { sys_contact: "nobody" } });
});

describe("a split host", () => {
  /** Clones: both report identical data. */
  const clone = (address: string, others: readonly string[] = []) =>
    told(1, address, {
      addresses: [address, ...others].map((ip_address) => ({ ip_address, prefix_length: 24, if_index: 1 })),
    });

  test("stays two, whichever answers first", async () => {
    const scans = new ScanWriter(appliance);
    await scans.devices(clone(A));
    await scans.devices(clone(B));
    const one = await at(A);
    expect((await at(B)).id).toBe(one.id);
    const moved = one.ip_addresses.find((each: Wire) => each.ip_address === B);
    tick();
    const plan = await made(owner.post(`hosts/${one.id}/split`, { name: "clone", ip_address_ids: [moved.id] }));
    await scans.devices(clone(B), clone(A));
    expect([(await at(A)).id, (await at(B)).id]).toEqual([one.id, plan.host_id]);
    for (const order of [
      [clone(A), clone(B)],
      [clone(B), clone(A)],
    ]) {
      await scans.devices(...order);
      expect([(await at(A)).id, (await at(B)).id]).toEqual([one.id, plan.host_id]);
    }
    expect(await hosts()).toHaveLength(2);
  });

  test("does not regain an address that its device still reports, nor by a sweep", async () => {
    const scans = new ScanWriter(appliance);
    await scans.devices(clone(A, [B]));
    const one = await at(A);
    const moved = one.ip_addresses.find((each: Wire) => each.ip_address === B);
    tick();
    const plan = await made(owner.post(`hosts/${one.id}/split`, { name: "apart", ip_address_ids: [moved.id] }));
    await scans.devices(clone(A, [B]));
    await scans.addresses(seenAt(B, { mac_address: mac(1, 1) }));
    expect([(await at(A)).id, (await at(B)).id]).toEqual([one.id, plan.host_id]);
    expect(await hosts()).toHaveLength(2);
    // After the undo, the device's report counts again.
    await revert(plan);
    await scans.devices(clone(A, [B]));
    expect((await at(B)).id).toBe(one.id);
    expect(await made(owner.get("discovery/ignored"))).toEqual([] as unknown as Wire);
  });

  test("separates consolidated devices, and each continues with its own device's data", async () => {
    const scans = new ScanWriter(appliance);
    await scans.devices(told(1, A), told(2, B));
    const one = await at(A);
    await consolidate(one, await at(B));
    const now = await at(A);
    tick();
    const plan = await made(
      owner.post(`hosts/${one.id}/split`, {
        name: "again",
        ip_address_ids: [now.ip_addresses.find((each: Wire) => each.ip_address === B).id],
        if_entry_ids: [entry(now, "p2.3").id],
      }),
    );
    for (const order of [
      [told(2, B), told(1, A)],
      [told(1, A), told(2, B)],
    ])
      await scans.devices(...order);
    expect(await at(A)).toMatchObject({ id: one.id, serial_number: "SERIAL-1" });
    expect(await at(B)).toMatchObject({ id: plan.host_id, serial_number: "SERIAL-2", name: "again" });
    expect(await hosts()).toHaveLength(2);
  });
});
