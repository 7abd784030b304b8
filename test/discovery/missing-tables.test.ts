// Device that stops serving a table: its other tables are still tracked, and so is that table once it returns.

import { beforeEach, describe, expect, test } from "bun:test";
import { openWritable } from "../../src/db/connection.ts";
import type { Device, ForwardingEntry } from "../../src/discovery/device.ts";
import { deviceOf } from "../../src/discovery/mib/device.ts";
import { forwardingRetention } from "../../src/discovery/reconcile/record-interfaces.ts";
import { servedBefore } from "../../src/discovery/reconcile/served-data.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { fakeDevice } from "../support/injected/fake-probes.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt, ethernet, mac, seenAt } from "../support/reconcile/sightings.ts";
import { dotted, hex, readsWith, type SyntheticStep, tableOf, utf8 } from "../support/reconcile/synthetic-reads.ts";

const appliance = applianceForEach();
const { communityOf, first, owner, probes, runScan } = appliance;
const scan = new ScanWriter(appliance);

const all = async (kind: string): Promise<JsonRecord[]> => (await owner.get(kind)).data;
const entries = () => all("if-entries?order_by=if_index");
const learned = async (): Promise<string[][]> =>
  (await entries()).map((entry) => (entry.fdb_macs ?? []).map((address: string) => address.slice(-2)));

describe("a partially read forwarding table", () => {
  const entry = (number: number, vlan_number: number | null) => ({ mac_address: mac(number), vlan_number });
  const deviceWith = (first: ForwardingEntry[], second: ForwardingEntry[], more: Partial<Device> = {}) => {
    const interfaces = [ethernet(101, { forwarding: first }), ethernet(102, { forwarding: second })];
    return deviceAt("10.0.0.2", { sys_name: "sw", interfaces, ...more });
  };
  const partial = { is_forwarding_partial: true } as const;

  test("is applied as far as read: moved entries move, unread ones are kept", async () => {
    await scan.devices(deviceWith([entry(0x11, 10), entry(0x12, null), entry(0x13, null)], [entry(0x14, null)]));
    await scan.devices(deviceWith([entry(0x15, 10), entry(0x13, 10)], [entry(0x11, 10)], partial));
    expect(await learned()).toEqual([
      ["12", "13", "15"],
      ["11", "14"],
    ]);
    const vlans = "SELECT json_extract('{' || members || '}', '$.vlan_number') FROM fdb_entries WHERE mac_address = ?";
    expect(appliance.reader.db.query(vlans).values(mac(0x13))).toEqual([[10]]);
  });

  test("removes a missing entry with a VLAN, since the table with VLANs was read completely", async () => {
    await scan.devices(deviceWith([entry(0x11, 10), entry(0x12, 10)], [entry(0x13, 20)]));
    await scan.devices(deviceWith([entry(0x11, 10)], [], partial));
    expect(await learned()).toEqual([["11"], []]);
  });

  test("is cleaned up once read completely again", async () => {
    await scan.devices(deviceWith([entry(0x11, null)], []));
    await scan.devices(deviceWith([], [], partial));
    expect(await learned()).toEqual([["11"], []]);
    await scan.devices(deviceWith([], []));
    expect(await learned()).toEqual([[], []]);
  });

  test("retains unread entries up to the limit, and counts the rest", () => {
    const omitted = { forwarding: 0 };
    const isRetained = forwardingRetention(2, omitted);
    const stored = [entry(0x11, null), entry(0x12, 10), entry(0x13, null), entry(0x14, null), entry(0x15, null)];
    expect(stored.map((record) => isRetained(record, [entry(0x11, 20)]))).toEqual([false, false, true, true, false]);
    expect(omitted).toEqual({ forwarding: 1 });
  });

  test("leaves a manual list and its scanned counterpart unchanged", async () => {
    await scan.devices(deviceWith([entry(0x11, 10)], []));
    const [first] = (await entries()) as [JsonRecord];
    expect((await owner.put(`if-entries/${first.id}`, { ...first, fdb_macs: [mac(0x77)] })).status).toBe(200);
    await scan.devices(deviceWith([entry(0x11, 10), entry(0x12, 10)], []));
    const lists = { fdb_macs: [mac(0x77)], discovered: { fdb_macs: [mac(0x11), mac(0x12)] } };
    expect((await entries())[0]).toMatchObject(lists);
    expect((await scan.devices(deviceWith([entry(0x77, 10)], [], partial))).result.records).toEqual({});
    expect((await entries())[0]).toMatchObject(lists);
  });
});

test("a changed VLAN name is followed even after a scan with incomplete names", async () => {
  const named = (name: string | null, more: Partial<Device> = {}) =>
    deviceAt("10.0.0.2", { sys_name: "sw", vlans: [{ number: 10, name }], ...more });
  await scan.devices(named("users"));
  await scan.devices(named(null, { broken: ["vlans"] }));
  expect((await all("vlans"))[0]).toMatchObject({ name: "users" });
  await scan.devices(named("guests"));
  expect((await all("vlans"))[0]).toMatchObject({ name: "guests" });
});

describe("a device with missing tables", () => {
  const ownAddresses = { addresses: [{ ip_address: "10.0.0.2", prefix_length: 24, if_index: 1 }] };
  const sightingFields = { mac_address: mac(9, 9) };
  const complete = deviceAt(
    "10.0.0.2",
    { sys_name: "sw-1", interfaces: [ethernet(1)], ...ownAddresses },
    sightingFields,
  );
  const withoutTables = (fields: Partial<Device>) =>
    deviceAt("10.0.0.2", { broken: ["system", "interfaces"], ...fields }, sightingFields);

  test("matches the host that last responded at its address", async () => {
    await scan.devices(complete);
    expect((await scan.devices(withoutTables({}))).result.records).toEqual({});
    expect((await all("hosts")).map((host) => host.name)).toEqual(["sw-1"]);
  });

  test("counts as another host if a reported value differs or another MAC address was seen", async () => {
    await scan.devices(complete);
    await scan.devices(withoutTables({ sys_name: "sw-2", broken: ["interfaces"] }));
    expect((await all("hosts")).map((host) => host.name).sort()).toEqual(["sw-1", "sw-2"]);
    await scan.addresses(seenAt("10.0.0.3", { mac_address: mac(8, 8) }));
    await scan.devices(deviceAt("10.0.0.2", { broken: ["system", "interfaces"] }, { mac_address: mac(8, 8) }));
    const addresses = (await all("hosts")).map((host) =>
      host.ip_addresses.map(({ ip_address }: JsonRecord) => ip_address).sort(),
    );
    expect(addresses).toContainEqual(["10.0.0.2", "10.0.0.3"]);
  });

  test("keeps the MAC address of the probed address, or sets it if missing", async () => {
    await scan.devices(complete);
    const currentMacs = async () => (await all("ip-addresses")).map(({ mac_address }) => mac_address);
    await scan.devices(withoutTables({ sys_name: "sw-1", broken: ["interfaces"], ...ownAddresses }));
    expect(await currentMacs()).toEqual([mac(1)]);
    await scan.devices(deviceAt("10.0.0.5", { sys_name: "sw-5", broken: ["interfaces"] }, { mac_address: mac(5, 5) }));
    expect(await currentMacs()).toEqual([mac(1), mac(5, 5)]);
  });
});

describe("a switch whose table has become empty", () => {
  const port = (n: number) => ({ ifDescr: utf8(`Gi0/${n}`), ifType: 6, ifPhysAddress: hex(mac(n)), ifOperStatus: 1 });
  const switched = {
    system: { scalars: { sysName: utf8("sw-1"), sysObjectID: "1.3.6.1.4.1.9.1.516" } },
    if_table: tableOf({ 1: port(1), 2: port(2) }),
    bridge: { columns: { dot1dBasePortIfIndex: { 11: 1, 12: 2 } } },
  };
  const learnedAt = (indexes: readonly string[]): SyntheticStep =>
    tableOf(Object.fromEntries(indexes.map((index) => [index, { dot1dTpFdbPort: 11, dot1dTpFdbStatus: 3 }])));
  const inVlan = (vlan: number, macs: readonly number[]) => macs.map((address) => `${vlan}.${dotted(mac(address))}`);
  async function scanDevice(steps: Readonly<Record<string, SyntheticStep>>): Promise<void> {
    const { reader } = appliance;
    const before = servedBefore(reader, reader.recordN(first.networkId) as number, "10.0.0.2", null);
    const { arp: _heard, ...device } = deviceOf(readsWith({ ...switched, ...steps }), before);
    await scan.devices(deviceAt("10.0.0.2", device));
  }

  test("forgets stations of other VLANs once they disappear, if dot1dTpFdbTable covered VLAN 1 only", async () => {
    const vlan = (name: string) => ({ vtpVlanState: 1, vtpVlanType: 1, vtpVlanName: utf8(name) });
    const vtp = {
      vtp_vlan_table: tableOf({ "1.1": vlan("default"), "1.10": vlan("users") }),
      vlan_bridge: { columns: { dot1dBasePortIfIndex: { "1.11": 1, "10.11": 1, "10.12": 2 } } },
    };
    const vlan10 = (...macs: number[]) => ({ vlan_dot1d_tp_fdb_table: learnedAt(inVlan(10, macs)) });
    await scanDevice({ ...vtp, dot1d_tp_fdb_table: learnedAt([dotted(mac(0x01))]), ...vlan10(0x11, 0x12) });
    expect(await learned()).toEqual([["01", "11", "12"], []]);
    await scanDevice({ ...vtp, ...vlan10(0x11, 0x13) });
    await scanDevice({ ...vtp, ...vlan10(0x11) });
    // For the entry of VLAN 1 it is unknown whether it left or is no longer reported.
    expect(await learned()).toEqual([["01", "11"], []]);
  });

  test("forgets neighbors on a port without link, even if reported by both versions of LLDP-MIB", async () => {
    const phone = { chassisIdSubtype: 4, chassisId: hex("001b21998877"), portIdSubtype: 5, portId: utf8("p1") };
    const name = async () => (await entries())[0]?.lldp_sys_name;
    const announced = { ...phone, sysName: utf8("phone") };
    await scanDevice({ lldp_rem_table: tableOf({ "0.1.1": announced }) });
    await scanDevice({ lldp_v2_rem_table: tableOf({ "0.1.1.1": announced }) });
    await scanDevice({});
    expect(await name()).toBe("phone");
    await scanDevice({ if_table: tableOf({ 1: { ...port(1), ifOperStatus: 2 }, 2: port(2) }) });
    expect(await name()).toBeUndefined();
  });
});

describe("the stored history of an agent's tables", () => {
  const served = (...columns: string[]) =>
    fakeDevice({ sys_name: "sw", sys_object_id: "1.3.6.1.4.1.9.1.516", served: columns });
  const serve = (device: Device) => probes.devices.set("10.0.0.2", { community: "public", device });

  beforeEach(async () => {
    await communityOf("public");
    serve(served("if_table.ifDescr", "if_x_table.ifName"));
  });
  const scanDevice = async () => {
    await runScan({ kind: "snmp", targets: ["10.0.0.2"] });
    return probes.served.at(-1);
  };

  test("is available at the next read, and grows", async () => {
    expect(await scanDevice()).toBeNull();
    serve(served("if_table.ifDescr", "system.sysName"));
    const first = ["if_table.ifDescr", "if_x_table.ifName"];
    expect(await scanDevice()).toEqual({ sys_object_id: "1.3.6.1.4.1.9.1.516", columns: first });
    expect((await scanDevice())?.columns).toEqual(["if_table.ifDescr", "if_x_table.ifName", "system.sysName"]);
  });

  test("restarts with a different agent", async () => {
    await scanDevice();
    serve({ ...served("if_table.ifDescr"), sys_object_id: "1.3.6.1.4.1.11.2.3" });
    await scanDevice();
    expect(await scanDevice()).toEqual({ sys_object_id: "1.3.6.1.4.1.11.2.3", columns: ["if_table.ifDescr"] });
  });

  test("is ignored if damaged, and the scan continues", async () => {
    await scanDevice();
    const db = openWritable(appliance.databasePath);
    db.$client.run("UPDATE discovery_served SET columns = '[if_'");
    db.$client.close();
    expect(await scanDevice()).toBeNull();
    expect((await scanDevice())?.columns).toEqual(["if_table.ifDescr", "if_x_table.ifName"]);
  });
});
