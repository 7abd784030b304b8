// Reconciliation of scan sightings with the inventory: a full record first, then only differences; source of each
// value; and host identity.

import { describe, expect, test } from "bun:test";
import { digestOf } from "../../src/discovery/reconcile/reports.ts";
import { VLAN_CHANGES_PER_COMMAND } from "../../src/discovery/reconcile/scan-write.ts";
import { findUnseen } from "../../src/discovery/reconcile/staleness.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { addressesOf, inventoryOf } from "../support/reconcile/inventory.ts";
import { machineInterface, machineWith } from "../support/reconcile/machine.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { address, device, deviceAt, ethernet, mac, numbered, seenAt } from "../support/reconcile/sightings.ts";

const appliance = applianceForEach();
const { clock, first, owner, tick } = appliance;
const scan = new ScanWriter(appliance);

const { get, hosts, entries, holders } = inventoryOf(appliance);
const hostNamed = async (name: string): Promise<JsonRecord> => {
  const found = (await hosts()).filter((host) => host.name === name);
  expect(found).toHaveLength(1);
  return found[0] as JsonRecord;
};

const switchFields = {
  sys_name: "sw-1",
  sys_descr: "Switch OS 1.0",
  sys_object_id: "1.3.6.1.4.1.9.1.516",
  sys_location: "Rack 4",
  sys_contact: null,
  manufacturer: "Cisco",
  model: "WS-C3560",
  serial_number: "FOC1234X0AB",
  chassis_id: { subtype: "MacAddress", value: mac(1) } as const,
  interfaces: [
    ethernet(1),
    ethernet(2, {
      if_alias: "to core",
      vlans: [10, 20],
      native_vlan: 10,
      forwarding: [{ mac_address: mac(9, 9), vlan_number: 20 }],
    }),
  ],
  addresses: [address("10.0.0.2")],
  vlans: [
    { number: 10, name: "users" },
    { number: 20, name: null },
  ],
};
const switchSighting = (fields: object = {}) => deviceAt("10.0.0.2", { ...switchFields, ...fields });

describe("a responding device", () => {
  test("becomes a host with its addresses, interfaces, VLANs, forwarding entries and the responding port", async () => {
    expect((await scan.devices(switchSighting())).result.records).toMatchObject({
      hosts: { created: 1 },
      subnets: { created: 1 },
      vlans: { created: 2 },
      if_entries: { created: 2 },
      fdb_entries: { created: 1 },
      ip_addresses: { created: 1 },
      ports: { created: 1 },
      services: { created: 1 },
    });
    const host = await hostNamed("sw-1");
    expect(host).toMatchObject({
      source: { type: "Discovery" },
      sys_descr: "Switch OS 1.0",
      serial_number: "FOC1234X0AB",
      chassis_id: mac(1),
      manufacturer: "Cisco",
    });
    expect(host.stale_since).toBeUndefined();
    const vlans: JsonRecord[] = await get("vlans");
    expect(vlans.map(({ number, name, source }) => [number, name, source.type])).toEqual([
      [10, "users", "Discovery"],
      [20, "VLAN 20", "Discovery"],
    ]);
    const [first, second] = (await entries()) as [JsonRecord, JsonRecord];
    expect(first).toMatchObject({
      if_index: 1,
      if_name: "Gi0/1",
      mac_address: mac(1),
      ip_address_id: host.ip_addresses[0].id,
      first_discovery_id: scan.scanId,
      last_discovery_id: scan.scanId,
    });
    expect(second).toMatchObject({
      if_alias: "to core",
      native_vlan_id: vlans[0]?.id,
      vlan_ids: vlans.map(({ id }) => id),
      fdb_macs: [mac(9, 9)],
    });
    expect(host.ports).toMatchObject([{ number: 161, protocol: "Udp" }]);
    const transaction = ((await owner.get("transactions?limit=1")).data as JsonRecord[])[0];
    expect(transaction).toMatchObject({ actor: { type: "Discovery", id: scan.scanId, name: "full scan" } });
  });

  test("writes only last_seen_at when unchanged", async () => {
    await scan.devices(switchSighting());
    const before = await hostNamed("sw-1");
    const { sequence, result } = await scan.devices(switchSighting());
    expect(sequence).toBeNull();
    expect(result.records).toEqual({});
    const after = await hostNamed("sw-1");
    expect(after.updated_at).toBe(before.updated_at);
    expect(after.last_seen_at > before.last_seen_at).toBe(true);
    expect((await entries()).map(({ last_discovery_id }) => last_discovery_id)).toEqual([scan.scanId, scan.scanId]);
  });

  test("writes exactly a single change", async () => {
    await scan.devices(switchSighting());
    const from = clock.text();
    await scan.devices(
      switchSighting({ interfaces: [ethernet(1, { oper_status: "Down" }), switchFields.interfaces[1]] }),
    );
    const diff = await get(`diff?from=${from}&to=now`);
    expect([diff.added, diff.removed]).toEqual([[], []]);
    expect(diff.changed).toMatchObject([
      { entity_type: "if_entry", name: "Gi0/1", fields: [{ field: "oper_status", from: "Up", to: "Down" }] },
    ]);
    const history = (await get(`if-entries/${((await entries())[0] as JsonRecord).id}/history`)) as JsonRecord[];
    expect(history.map((version) => [version.operation, version.changed_fields])).toEqual([
      ["Updated", ["oper_status"]],
      ["Created", []],
    ]);
    const versions = appliance.reader.db
      .query(
        `SELECT count(*) AS count FROM history_versions v WHERE (v.key & 2147483647) = (SELECT max(sequence)
          FROM history_transactions)`,
      )
      .get() as { count: number };
    // The interface, and its host.
    expect(versions.count).toBe(2);
  });

  test("keeps a failed table's data, and a finding reports it", async () => {
    await scan.devices(switchSighting());
    const { interfaces, addresses, vlans, ...others } = switchFields;
    const failed = device().tables;
    const partial = {
      ...others,
      sys_location: "Rack 5",
      tables: { ...failed, interfaces: { state: "failed", problem: "no response within 5 s" } },
      interfaces: [{ if_index: 1, if_alias: "known by ifXTable alone" }],
    } as const;
    expect((await scan.devices(deviceAt("10.0.0.2", partial))).result.findings).toContainEqual({
      type: "Partial",
      entity: "host",
      id: (await hostNamed("sw-1")).id,
      label: "sw-1: interfaces",
      reason: "no response within 5 s",
    });
    const [first, second] = (await entries()) as [JsonRecord, JsonRecord];
    expect(first).toMatchObject({ if_name: "Gi0/1", if_alias: "known by ifXTable alone", speed_bps: 1_000_000_000 });
    expect(second).toMatchObject({ if_alias: "to core", fdb_macs: [mac(9, 9)] });
    expect((await hostNamed("sw-1")).sys_location).toBe("Rack 5");
  });

  test("is written in several commands if it trunks thousands of VLANs on many interfaces", async () => {
    const numbers = Array.from({ length: 4_094 }, (_, index) => index + 1);
    const trunks = (count: number, vlans: readonly number[]) => {
      const interfaces = Array.from({ length: count }, (_, index) => ethernet(index + 1, { vlans: [...vlans] }));
      return switchSighting({ interfaces, vlans: numbers.map((number) => ({ number, name: null })) });
    };
    const writeInBatches = async (deviceReport: ReturnType<typeof switchSighting>) => {
      const sizes: number[] = [];
      const links = "SELECT count(*) AS count FROM live_links WHERE relation = 'vlan_ids'";
      const size = () => (appliance.reader.db.query(links).get() as { count: number }).count;
      let before = size();
      for (let isContinued = false; ; isContinued = true) {
        const sighting = {
          ...deviceReport,
          digest: digestOf(deviceReport),
          ...(isContinued ? { is_continued: true } : {}),
        };
        const { result } = await scan.run("discovery.devices", { sightings: [sighting] });
        sizes.push(Math.abs(size() - before));
        before = size();
        if (result.unfinished === undefined) return sizes;
        expect(result.unfinished).toEqual([{ ip_address: "10.0.0.2", is_repeat: false }]);
      }
    };
    const first = await writeInBatches(trunks(60, numbers));
    expect(Math.max(...first)).toBeLessThanOrEqual(VLAN_CHANGES_PER_COMMAND);
    expect(first.reduce((sum, size) => sum + size, 0)).toBe(60 * 4_094);
    const lengths = async () =>
      ((await get("if-entries?limit=0")) as JsonRecord[]).map(({ vlan_ids }) => vlan_ids.length);
    expect(await lengths()).toEqual(Array(60).fill(4_094));
    // The whole report is stored: nothing needs comparison.
    const repeated = trunks(60, numbers);
    expect((await scan.devices(repeated)).sequence).toBeNull();
    // Removal of the VLANs is divided as well.
    expect(Math.max(...(await writeInBatches(trunks(60, [1]))))).toBeLessThanOrEqual(VLAN_CHANGES_PER_COMMAND);
    expect(await lengths()).toEqual(Array(60).fill(1));
  });

  test("does not overwrite manual MAC addresses: its table's are recorded separately", async () => {
    const learned = (...macs: string[]) => {
      const forwarding = macs.map((mac_address) => ({ mac_address, vlan_number: 20 }));
      return switchSighting({ interfaces: [ethernet(1), ethernet(2, { forwarding })] });
    };
    const uplink = async () => ((await entries())[1] ?? {}) as JsonRecord;
    const put = async (macs: readonly string[] | null) => {
      const { id, if_index, if_descr } = await uplink();
      expect((await owner.put(`if-entries/${id}`, { if_index, if_descr, fdb_macs: macs })).status).toBe(200);
    };
    await scan.devices(learned(mac(9, 1), mac(9, 2)));
    // Sent back unchanged, it does not become a manual value.
    await put([mac(9, 2), mac(9, 1)]);
    await scan.devices(learned(mac(9, 1), mac(9, 3)));
    expect(await uplink()).toMatchObject({ fdb_macs: [mac(9, 1), mac(9, 3)] });

    await put([mac(7, 7)]);
    await scan.devices(learned(mac(9, 1), mac(9, 4)));
    expect(await uplink()).toMatchObject({ fdb_macs: [mac(7, 7)], discovered: { fdb_macs: [mac(9, 1), mac(9, 4)] } });
    expect((await scan.devices(learned(mac(9, 1), mac(9, 4)))).sequence).toBeNull();
    await scan.devices(learned());
    expect((await uplink()).fdb_macs).toEqual([mac(7, 7)]);
    await scan.devices(learned(mac(7, 7)));
    expect(await uplink()).toMatchObject({ fdb_macs: [mac(7, 7)] });
    expect(await uplink()).not.toHaveProperty("discovered");

    // Null is a manual value as well.
    await put(null);
    await scan.devices(learned(mac(9, 5)));
    expect(await uplink()).not.toHaveProperty("fdb_macs");
    expect(await uplink()).toMatchObject({ discovered: { fdb_macs: [mac(9, 5)] } });
  });

  test("is updated from its own table again once manual values are cleared", async () => {
    const learned = (...macs: string[]) =>
      switchSighting({
        interfaces: [ethernet(1, { forwarding: macs.map((mac_address) => ({ mac_address, vlan_number: null })) })],
      });
    const first = async () => ((await entries())[0] ?? {}) as JsonRecord;
    await scan.devices(learned(mac(9, 1)));
    const { id, if_index, if_descr } = await first();
    expect((await owner.put(`if-entries/${id}`, { if_index, if_descr, fdb_macs: [mac(7, 7)] })).status).toBe(200);
    const { sequence } = ((await get("transactions?limit=1")) as JsonRecord[])[0] as JsonRecord;
    expect((await owner.post(`transactions/${sequence}/revert`, {})).status).toBe(200);
    expect((await first()).fdb_macs).toEqual([mac(9, 1)]);
    await scan.devices(learned(mac(9, 2)));
    expect(await first()).toMatchObject({ fdb_macs: [mac(9, 2)] });
  });

  test("accepts the more than ten thousand MAC addresses of an interface back unchanged", async () => {
    const forwarding = Array.from({ length: 12_000 }, (_, number) => ({
      mac_address: mac(number & 255, number >> 8),
      vlan_number: 1,
    }));
    await scan.devices(switchSighting({ interfaces: [ethernet(1, { forwarding })] }));
    const [interfaceEntry] = (await entries()) as [JsonRecord];
    expect(interfaceEntry.fdb_macs).toHaveLength(12_000);
    const response = await owner.put(`if-entries/${interfaceEntry.id}`, interfaceEntry);
    expect(response.status).toBe(200);
    expect(response.data.updated_at).toBe(interfaceEntry.updated_at);
  });

  test("loses a forwarding entry, an announcement and a VLAN membership missing from a complete table", async () => {
    const announced = {
      chassis_id: { subtype: "MacAddress", value: mac(1, 7) },
      port_id: { subtype: "InterfaceName", value: "Gi0/9" },
      sys_name: "core",
    } as const;
    const second = { ...announced, sys_name: "second" };
    const uplink = ethernet(1, { lldp: [announced, second] });
    await scan.devices(switchSighting({ interfaces: [uplink, switchFields.interfaces[1]] }));
    expect(((await entries())[0] as JsonRecord).more_neighbors).toEqual([{ protocol: "Lldp", ...second }]);
    await scan.devices(switchSighting({ interfaces: [ethernet(1), ethernet(2, { if_alias: "to core" })] }));
    const [without, other] = (await entries()) as [JsonRecord, JsonRecord];
    for (const field of ["lldp_chassis_id", "lldp_port_id", "lldp_sys_name", "more_neighbors"])
      expect(without).not.toHaveProperty(field);
    for (const field of ["fdb_macs", "vlan_ids", "native_vlan_id"]) expect(other).not.toHaveProperty(field);
  });

  test("gets its neighbors, and keeps known addresses, if its management address table is always cut off", async () => {
    const neighbor = (peer: number, address: string | null) => ({
      chassis_id: { subtype: "MacAddress", value: mac(1, peer) } as const,
      port_id: { subtype: "InterfaceName", value: "Gi0/9" } as const,
      sys_name: `far-${peer}`,
      mgmt_addr: address,
    });
    const announcing = (...lldp: Array<ReturnType<typeof neighbor>>) =>
      switchSighting({ interfaces: [ethernet(1, { lldp })] });
    await scan.devices(announcing(neighbor(5, "10.0.0.5"), neighbor(6, "10.0.0.6")));
    expect((await scan.devices(announcing(neighbor(5, null), neighbor(6, null)))).sequence).toBeNull();
    const [entry] = (await entries()) as [JsonRecord];
    expect(entry).toMatchObject({
      lldp_sys_name: "far-5",
      lldp_mgmt_addr: "10.0.0.5",
      more_neighbors: [{ sys_name: "far-6", mgmt_addr: "10.0.0.6" }],
    });
    await scan.devices(announcing(neighbor(7, null), neighbor(8, null)));
    const [other] = (await entries()) as [JsonRecord];
    expect(other).toMatchObject({ lldp_sys_name: "far-7", more_neighbors: [{ protocol: "Lldp", sys_name: "far-8" }] });
    expect(other.more_neighbors[0]).not.toHaveProperty("mgmt_addr");
    expect(other).not.toHaveProperty("lldp_mgmt_addr");
  });

  test("keeps the records of renumbered interfaces: names take precedence over numbers", async () => {
    await scan.devices(switchSighting());
    const before = await entries();
    await scan.devices(
      switchSighting({
        interfaces: [ethernet(1, { if_index: 101 }), ethernet(2, { if_index: 1 })],
        addresses: [address("10.0.0.2", 101)],
      }),
    );
    expect((await entries()).map((entry) => [entry.id, entry.if_index, entry.if_name])).toEqual([
      [before[1]?.id, 1, "Gi0/2"],
      [before[0]?.id, 101, "Gi0/1"],
    ]);
  });
});

describe("value precedence", () => {
  test("a manual field is kept, with the scan's value next to it until they agree", async () => {
    await scan.devices(switchSighting());
    const host = await hostNamed("sw-1");
    const put = await owner.put(`hosts/${host.id}`, { ...host, name: "Core switch", sys_location: "Basement" });
    expect(put.status).toBe(200);
    await scan.devices(switchSighting());
    expect(await hostNamed("Core switch")).toMatchObject({
      sys_location: "Basement",
      discovered: { name: "sw-1", sys_location: "Rack 4" },
    });
    expect((await scan.devices(switchSighting())).sequence).toBeNull();
    await scan.devices(switchSighting({ sys_location: "Basement", sys_descr: "Switch OS 2.0" }));
    const current = await hostNamed("Core switch");
    expect(current.discovered).toEqual({ name: "sw-1" });
    expect(current.sys_descr).toBe("Switch OS 2.0");
  });

  test("a restored value keeps its previous source", async () => {
    await scan.devices(switchSighting());
    const host = await hostNamed("sw-1");
    const at = clock.text();
    tick();
    await scan.devices(switchSighting({ sys_location: "Rack 9" }));
    expect((await owner.post(`hosts/${host.id}/restore`, { at })).status).toBe(200);
    expect((await hostNamed("sw-1")).sys_location).toBe("Rack 4");
    await scan.devices(switchSighting({ sys_location: "Rack 9" }));
    expect((await hostNamed("sw-1")).sys_location).toBe("Rack 9");
  });

  test("scan values next to manual ones stay current after a restore", async () => {
    await scan.devices(switchSighting());
    const host = await hostNamed("sw-1");
    const at = clock.text();
    tick();
    await owner.put(`hosts/${host.id}`, { ...host, sys_location: "Basement", sys_contact: "noc" });
    await scan.devices(switchSighting());
    expect((await owner.post(`hosts/${host.id}/restore`, { at })).status).toBe(200);
    expect(await hostNamed("sw-1")).toMatchObject({
      sys_location: "Rack 4",
      sys_contact: null,
      discovered: { sys_location: "Rack 4" },
    });
    // Both agree: the next scan removes the note.
    await scan.devices(switchSighting());
    expect((await hostNamed("sw-1")).discovered).toBeUndefined();
  });

  test("an ignored record does not return, and returns with its lineage once it is no longer ignored", async () => {
    await scan.devices(switchSighting());
    const host = await hostNamed("sw-1");
    expect((await owner.delete(`hosts/${host.id}?ignore=true`)).status).toBe(200);
    tick();
    const { result } = await scan.devices(switchSighting());
    expect(result.findings).toMatchObject([{ type: "Ignored", label: "sw-1 (10.0.0.2)" }]);
    await scan.addresses(seenAt("10.0.0.2"), seenAt("10.0.0.77", { mac_address: mac(1) }));
    expect(await hosts()).toEqual([]);
    const [ignored] = (await get("discovery/ignored")) as [JsonRecord];
    expect(ignored).toMatchObject({ entity: "host", record_id: host.id, label: "sw-1" });
    expect((await owner.delete(`discovery/ignored/${ignored.id}`)).status).toBe(200);
    tick();
    await scan.devices(switchSighting());
    const restored = await hostNamed("sw-1");
    expect(restored.id).not.toBe(host.id);
    expect(restored.lineage_id).toBe(host.id);
  });

  test("an ignored interface entry and address stay deleted", async () => {
    await scan.devices(switchSighting({ addresses: [...switchFields.addresses, address("10.9.9.9", 2)] }));
    const [, second] = (await entries()) as [JsonRecord, JsonRecord];
    const addressRecord = (await hostNamed("sw-1")).ip_addresses.find(
      ({ ip_address }: JsonRecord) => ip_address === "10.9.9.9",
    );
    expect((await owner.delete(`if-entries/${second.id}?ignore=true`)).status).toBe(200);
    expect((await owner.delete(`ip-addresses/${addressRecord.id}?ignore=true`)).status).toBe(200);
    await scan.devices(switchSighting({ addresses: [...switchFields.addresses, address("10.9.9.9", 2)] }));
    expect((await entries()).map(({ if_index }) => if_index)).toEqual([1]);
    expect(addressesOf(await hostNamed("sw-1"))).toEqual(["10.0.0.2"]);
  });

  test("a deleted record of any kind returns with the next scan that finds it, with its lineage", async () => {
    const open = [{ number: 22, protocol: "Tcp", service: { name: "OpenSSH", service_definition: "ssh" } }] as const;
    const find = async () => {
      await scan.devices(
        switchSighting({
          interfaces: [ethernet(1, { vlans: [20] }), ethernet(2)],
          vlans: [
            { number: 20, name: "voice" },
            { number: 30, name: "unused" },
          ],
        }),
      );
      await scan.addresses(seenAt("10.0.0.2", { ports: { asked: [22], open } }));
    };
    await find();
    const before = await hostNamed("sw-1");
    const [unused] = (await get("vlans?search=unused")) as [JsonRecord];
    const [service] = before.services as [JsonRecord];
    const { id: portId } = before.ports.find(({ number }: JsonRecord) => number === 22);
    for (const path of [
      `if-entries/${before.interfaces[1].id}`,
      `bindings/${service.bindings[0].id}`,
      `services/${service.id}`,
      `ports/${portId}`,
      `vlans/${unused.id}`,
      `ip-addresses/${before.ip_addresses[0].id}`,
    ]) {
      const [list, id] = path.split("/");
      tick();
      expect((await owner.delete(`${path}?cascade=true`)).status).toBe(200);
      const count = (await get(`${list}?limit=1000`)).length;
      tick();
      await find();
      const found = await get(`${list}?limit=1000`);
      expect([list, found.length]).toEqual([list, count + 1]);
      expect(found.map(({ lineage_id }: JsonRecord) => lineage_id)).toContain(id);
    }
    tick();
    for (const subnet of await get("subnets")) await owner.delete(`subnets/${subnet.id}?cascade=true`);
    await find();
    expect((await get("subnets")).map(({ lineage_id }: JsonRecord) => lineage_id)).not.toContain(null);
    expect(addressesOf(await hostNamed("sw-1"))).toEqual(["10.0.0.2"]);
  });
});

describe("host matching", () => {
  test("a device at another address is the same host, by its serial number", async () => {
    await scan.devices(switchSighting());
    await scan.devices(deviceAt("10.0.0.99", { ...switchFields, addresses: [address("10.0.0.99")] }));
    expect(await hosts()).toHaveLength(1);
    expect(addressesOf(await hostNamed("sw-1"))).toEqual(["10.0.0.2", "10.0.0.99"]);
  });

  test("a renamed device is the same host under its new name", async () => {
    const { serial_number, chassis_id, ...bare } = switchFields;
    await scan.devices(deviceAt("10.0.0.2", bare));
    await scan.devices(deviceAt("10.0.0.2", { ...bare, sys_name: "access-17" }));
    expect((await hosts()).map(({ name }) => name)).toEqual(["access-17"]);
  });

  test("a replacement switch with the same name and address is another host, and takes over the address", async () => {
    await scan.devices(switchSighting());
    const replacement = {
      ...switchFields,
      serial_number: "FOC9999X0ZZ",
      chassis_id: { subtype: "MacAddress", value: mac(1, 5) } as const,
      interfaces: [ethernet(1, { mac_address: mac(1, 5) })],
    };
    const closed = { type: "Closed", entity: "ip_address", label: "10.0.0.2", reason: "moved from sw-1 to sw-1" };
    const { findings } = (await scan.devices(deviceAt("10.0.0.2", replacement))).result;
    expect(findings).toContainEqual(expect.objectContaining(closed));
    expect(await holders("serial_number")).toEqual(["FOC1234X0AB", "FOC9999X0ZZ 10.0.0.2"]);
  });

  test("devices with a cloned chassis id and name, but nothing else in common, stay distinct", async () => {
    const clone = (number: number) =>
      numbered(number, { sys_name: `vm-${number}`, chassis_id: { subtype: "LocallyAssigned", value: "cloned" } });
    await scan.devices(clone(11), clone(12), clone(13));
    expect((await hosts()).map(({ name }) => name)).toEqual(["vm-11", "vm-12", "vm-13"]);
    await scan.devices(clone(12), clone(13), clone(11));
    expect(await hosts()).toHaveLength(3);
  });

  test("two routers sharing a virtual address are two hosts, whichever responds there", async () => {
    const virtual = "00:00:5e:00:01:0a";
    const router = (number: number) => ({
      sys_name: `r-${number}`,
      interfaces: [ethernet(1, { mac_address: mac(1, number) }), ethernet(2, { mac_address: virtual })],
      addresses: [address(`10.0.0.${number}`), address("10.0.0.1", 2)],
    });
    await scan.devices(deviceAt("10.0.0.2", router(2)), deviceAt("10.0.0.3", router(3)));
    expect(await holders()).toEqual(["r-2 10.0.0.1 10.0.0.2", "r-3 10.0.0.1 10.0.0.3"]);
    await scan.addresses(seenAt("10.0.0.1", { mac_address: virtual }));
    expect(await hosts()).toHaveLength(2);
  });

  test("a host from a sweep becomes the device that responds there, with its swept addresses", async () => {
    const ports = {
      asked: [22],
      open: [{ number: 22, protocol: "Tcp", service: { name: "OpenSSH", service_definition: "ssh" } }],
    } as const;
    await scan.addresses(seenAt("10.0.0.2", { ports }), seenAt("10.0.1.2", { ports }));
    expect((await hosts()).map(({ name }) => name)).toEqual(["10.0.0.2", "10.0.1.2"]);
    const twoAddresses = switchSighting({ addresses: [...switchFields.addresses, address("10.0.1.2", 2)] });
    const closed = { type: "Closed", entity: "host", label: "10.0.1.2", reason: "is the same device as sw-1" };
    expect((await scan.devices(twoAddresses)).result.findings).toContainEqual(expect.objectContaining(closed));
    const host = await hostNamed("sw-1");
    expect(await hosts()).toHaveLength(1);
    expect(addressesOf(host)).toEqual(["10.0.0.2", "10.0.1.2"]);
    expect(host.ports.map(({ number }: JsonRecord) => number).sort()).toEqual([161, 22]);
    // A rescan writes nothing.
    expect((await scan.addresses(seenAt("10.0.0.2", { ports }), seenAt("10.0.1.2", { ports }))).sequence).toBeNull();
    expect((await scan.devices(twoAddresses)).sequence).toBeNull();
  });

  test("a machine with a new DHCP address is the same host, and the next holder of the old one is another", async () => {
    await scan.addresses(seenAt("10.0.0.5", { mac_address: mac(1, 1), hostname: "laptop-1" }));
    await scan.addresses(
      seenAt("10.0.0.9", { mac_address: mac(1, 1), hostname: "laptop-1" }),
      seenAt("10.0.0.5", { mac_address: mac(1, 2), hostname: "laptop-2" }),
    );
    expect(await holders()).toEqual(["laptop-1 10.0.0.9", "laptop-2 10.0.0.5"]);
    // Even after losing all of its addresses.
    await scan.addresses(seenAt("10.0.0.9", { mac_address: mac(1, 3), hostname: "laptop-3" }));
    await scan.addresses(seenAt("10.0.0.7", { mac_address: mac(1, 1), hostname: "laptop-1" }));
    expect(addressesOf(await hostNamed("laptop-1"))).toEqual(["10.0.0.7"]);
    expect(await hosts()).toHaveLength(3);
  });

  test("a NATed device has its probed address in addition to its own", async () => {
    await scan.devices(deviceAt("10.50.0.1", { ...switchFields, addresses: [address("192.168.1.1")] }));
    expect(addressesOf(await hostNamed("sw-1"))).toEqual(["10.50.0.1", "192.168.1.1"]);
  });

  test("neighbors of a router are inferred hosts until they respond themselves", async () => {
    const arp = [
      { ip_address: "10.0.0.40", mac_address: mac(40, 40), if_index: 1 },
      { ip_address: "10.0.0.2", mac_address: mac(1), if_index: 1 },
      { ip_address: "172.31.0.1", mac_address: mac(41, 40), if_index: 1 },
    ];
    await scan.devices(switchSighting({ arp }));
    await scan.neighborsOf(switchSighting({ arp }));
    const inferred = await hostNamed(`Intel ${mac(40, 40)}`);
    expect(inferred).toMatchObject({ source: { type: "Inferred" }, manufacturer: "Intel Corporate" });
    expect(inferred.ip_addresses).toMatchObject([{ mac_address: mac(40, 40) }]);
    // Addresses outside the network's subnets are ignored.
    expect(await hosts()).toHaveLength(2);
    expect((await scan.devices(switchSighting({ arp }))).sequence).toBeNull();
    expect((await scan.neighborsOf(switchSighting({ arp }))).sequence).toBeNull();
    await scan.addresses(seenAt("10.0.0.40", { mac_address: mac(40, 40) }));
    expect((await hostNamed(`Intel ${mac(40, 40)}`)).source).toEqual({ type: "Discovery" });
  });

  describe("a MAC address that responds for a whole subnet", () => {
    const SHARED = mac(1, 77);
    const proxiedAt = (from: number, count: number) =>
      Array.from({ length: count }, (_, number) => ({
        ip_address: `10.0.0.${from + number}`,
        mac_address: SHARED,
        if_index: 1,
      }));
    const proxied = proxiedAt(100, 40);
    const scanWithArp = async (arp: typeof proxied) => {
      await scan.devices(switchSighting({ arp }));
      return scan.neighborsOf(switchSighting({ arp }));
    };
    const macsAt = async () =>
      (await hosts())
        .filter((host) => host.name !== "sw-1")
        .map((host) => host.ip_addresses.map(({ mac_address }: JsonRecord) => mac_address));

    test("is recorded at every address, and identifies no host", async () => {
      await scanWithArp(proxied);
      expect(await hosts()).toHaveLength(41);
      expect(new Set((await macsAt()).flat())).toEqual(new Set([SHARED]));
      // The manufacturer of its network interface is not a host's either.
      expect((await hosts()).filter((host) => host.name !== "sw-1").map((host) => host.manufacturer)).toEqual(
        proxied.map(() => null),
      );
      expect((await scanWithArp(proxied)).sequence).toBeNull();
    });

    test("still identifies no host when later seen at fewer addresses: new ones are new hosts", async () => {
      await scanWithArp(proxied);
      await scanWithArp([...proxiedAt(100, 5), ...proxiedAt(200, 2)]);
      expect(await hosts()).toHaveLength(43);
    });

    test("stops identifying a host only beyond the limit: existing hosts stay as they are", async () => {
      await scanWithArp(proxiedAt(100, 3));
      expect(await hosts()).toHaveLength(2);
      await scanWithArp(proxied);
      expect(await hosts()).toHaveLength(39);
      expect(new Set((await macsAt()).flat())).toEqual(new Set([SHARED]));
    });

    test("does not merge hosts with their router, in either order", async () => {
      await scanWithArp(proxied);
      const router = deviceAt("10.0.0.1", {
        sys_name: "router",
        interfaces: [ethernet(1, { mac_address: SHARED })],
        addresses: [address("10.0.0.1")],
      });
      await scan.devices(router);
      expect(addressesOf(await hostNamed("router"))).toEqual(["10.0.0.1"]);
      expect(await hosts()).toHaveLength(42);
      await scanWithArp(proxied);
      expect(await hosts()).toHaveLength(42);
    });

    test("does not suppress the router when one of its hosts is deleted manually", async () => {
      await scanWithArp(proxied);
      const deletedHost = await hostNamed("10.0.0.100");
      expect((await owner.delete(`hosts/${deletedHost.id}?cascade=true`)).status).toBe(200);
      await scan.devices(
        deviceAt("10.0.0.1", { sys_name: "router", interfaces: [ethernet(1, { mac_address: SHARED })] }),
      );
      expect(await hostNamed("router")).toMatchObject({ sys_name: "router" });
    });

    test("neither replaces an address's MAC address nor blocks a later one", async () => {
      await scan.devices(switchSighting());
      await scan.addresses(seenAt("10.0.0.100", { mac_address: mac(1, 78) }));
      await scanWithArp(proxied);
      const macOf = async (address: string) =>
        (await get("ip-addresses?limit=0")).find(({ ip_address }: JsonRecord) => ip_address === address)?.mac_address;
      expect(await macOf("10.0.0.100")).toBe(mac(1, 78));
      await scan.addresses(seenAt("10.0.0.101", { mac_address: mac(1, 79) }));
      expect(await macOf("10.0.0.101")).toBe(mac(1, 79));
      expect(await hosts()).toHaveLength(41);
    });
  });

  test("a response that contradicts a device's own report takes over its address only after a day without a report", async () => {
    await scan.devices(switchSighting());
    await scan.addresses(seenAt("10.0.0.2", { mac_address: mac(66, 66) }));
    expect(await holders()).toEqual([`Intel ${mac(66, 66)} 10.0.0.2`, "sw-1 10.0.0.2"]);
    clock.advance(25 * 3_600_000);
    await scan.addresses(seenAt("10.0.0.2", { mac_address: mac(66, 66) }));
    expect(await holders()).toEqual([`Intel ${mac(66, 66)} 10.0.0.2`, "sw-1"]);
  });

  test("a device that claims all addresses takes over none of the hosts seen there", async () => {
    const claimant = () =>
      deviceAt("10.0.0.1", {
        sys_name: "liar",
        addresses: [1, 2, 3, 4, 5].map((last) => ({ ip_address: `10.0.0.${last}`, prefix_length: 24, if_index: null })),
      });
    const honest = (last: number) => numbered(last, { sys_name: `real-${last}`, serial_number: `SERIAL${last}` });
    const fullScan = async () => {
      const printers = await scan.addresses(
        seenAt("10.0.0.4", { mac_address: mac(1, 4) }),
        seenAt("10.0.0.5", { mac_address: mac(1, 5) }),
      );
      const devices = await scan.devices(claimant());
      const others = await scan.devices(honest(2), honest(3));
      return [printers, devices, others].map(({ sequence }) => sequence);
    };
    await fullScan();
    const holders = async (last: number) =>
      (await hosts()).filter((host) => addressesOf(host).includes(`10.0.0.${last}`)).map(({ name }) => name);
    const honestHolders = async (last: number) => (await holders(last)).filter((name) => name !== "liar").join();
    const swept = [4, 5].map((number) => `Intel ${mac(1, number)}`);
    expect(await Promise.all([2, 3, 4, 5].map(honestHolders))).toEqual(["real-2", "real-3", ...swept]);
    expect(await fullScan()).toEqual([null, null, null]);
  });

  test("a host entered manually by address becomes the device that responds there, and keeps its name", async () => {
    expect((await owner.post("subnets", { network_id: first.networkId, cidr: "10.0.0.0/24" })).status).toBe(200);
    const created = await owner.post("hosts", {
      network_id: first.networkId,
      name: "Etagenswitch",
      asset_tag: "NL-0042",
      ip_addresses: [{ ip_address: "10.0.0.2" }],
    });
    await scan.devices(switchSighting());
    const host = await hostNamed("Etagenswitch");
    expect(host.id).toBe(created.data.id);
    expect(host).toMatchObject({
      asset_tag: "NL-0042",
      sys_name: "sw-1",
      serial_number: "FOC1234X0AB",
      discovered: { name: "sw-1" },
      source: { type: "Manual" },
    });
  });
});

describe("subnets of discovered addresses", () => {
  const subnets = async () =>
    ((await get("subnets?order_by=cidr")) as JsonRecord[]).map(
      (subnet) => `${subnet.cidr} ${subnet.source.type} ${subnet.subnet_type}`,
    );

  test("are existing ones, else the scanned block, else a host prefix", async () => {
    expect((await owner.post("subnets", { network_id: first.networkId, cidr: "10.0.0.0/24" })).status).toBe(200);
    await scan.run("discovery.addresses", {
      blocks: ["10.0.0.0/16", "10.1.0.0/24"],
      sightings: [seenAt("10.0.0.7"), seenAt("10.1.0.7"), seenAt("10.0.9.9"), seenAt("10.2.0.7")],
    });
    expect(await subnets()).toEqual([
      "10.0.0.0/16 Inferred Unknown",
      "10.0.0.0/24 Manual Unknown",
      "10.1.0.0/24 Inferred Unknown",
      "10.2.0.7/32 Discovery Unknown",
    ]);
  });

  test("are derived from reported interfaces; public and loopback ones are typed as such", async () => {
    const reported = ["10.0.0.2/24", "203.0.113.9/30", "127.0.0.1/8", "10.255.0.1/32", "fe80::1/64", "10.9.0.1"];
    const addresses = reported.map((text) => {
      const [ip_address = "", length] = text.split("/");
      return { ip_address, prefix_length: length === undefined ? null : Number(length), if_index: 1 };
    });
    await scan.devices(switchSighting({ addresses }));
    expect(await subnets()).toEqual([
      "10.0.0.0/24 Discovery Unknown",
      "10.9.0.1/32 Discovery Unknown",
      "10.255.0.1/32 Discovery Unknown",
      "127.0.0.0/8 Discovery Loopback",
      "203.0.113.8/30 Discovery Internet",
      "fe80::/64 Discovery Unknown",
    ]);
  });
});

describe("a host that disappears", () => {
  const unseen = (hours: number) => {
    const { db } = appliance.reader;
    return [...findUnseen(db, appliance.reader.recordN(first.networkId) as number, clock.now() - hours * 3_600_000)];
  };
  const setStaleAfter = async (hours: number) => {
    const network = await get(`networks/${first.networkId}`);
    expect((await owner.put(`networks/${network.id}`, { ...network, stale_after_hours: hours })).status).toBe(200);
  };

  test("is stale after the network's limit, not deleted, and fresh again when seen", async () => {
    await setStaleAfter(2);
    await scan.devices(switchSighting());
    const seenAtFirst = (await hostNamed("sw-1")).last_seen_at;
    clock.advance(2 * 3_600_000 + 1);
    // The table was cut off: what it lacks does not end.
    const interfaces = { state: "partial", problem: "no response within 5 s" } as const;
    const cutOff = { tables: { ...device().tables, interfaces }, broken: ["interfaces"] };
    await scan.devices(switchSighting({ interfaces: [ethernet(1)], ...cutOff }));
    const records = unseen(2);
    expect(records.map(({ entity }) => entity)).toEqual(["if_entry"]);
    await scan.stale(records);
    const [first, second] = (await entries()) as [JsonRecord, JsonRecord];
    expect(first.stale_since).toBeUndefined();
    expect(Date.parse(second.stale_since)).toBe(Date.parse(seenAtFirst) + 2 * 3_600_000);
    expect(unseen(2)).toEqual([]);
    await scan.devices(switchSighting());
    expect(((await entries())[1] as JsonRecord).stale_since).toBeUndefined();
  });

  test("is not stale without a network limit, within the limit, or if only entered manually", async () => {
    await owner.post("hosts", { network_id: first.networkId, name: "entered" });
    await scan.devices(switchSighting());
    const records = unseen(0);
    await scan.stale(records);
    await setStaleAfter(30);
    await scan.stale(records);
    expect((await hosts()).map(({ stale_since }) => stale_since)).toEqual([undefined, undefined]);
    expect(records.some(({ entity }) => entity === "host")).toBe(true);
    clock.advance(40 * 3_600_000);
    await scan.stale(unseen(30));
    expect((await hosts()).map((host) => [host.name, host.stale_since !== undefined])).toEqual([
      ["entered", false],
      ["sw-1", true],
    ]);
  });
});

describe("the appliance's host", () => {
  const machine = machineWith({
    hostname: "noc-1",
    interfaces: [machineInterface({ if_index: 2, mac_address: mac(2, 200) })],
    addresses: [{ ip_address: "10.0.0.200", prefix_length: 24, if_index: 2, cidr: "10.0.0.0/24" }],
    sys_descr: "Linux 6.1.0 x86_64",
  });
  const deviceReport = deviceAt("127.0.0.1", {
    sys_name: "noc-1",
    sys_descr: "Linux noc-1 6.1.0",
    sys_object_id: "1.3.6.1.4.1.8072.3.2.10",
    interfaces: [
      ethernet(1, { if_name: "lo", if_descr: "lo", if_type: 24, mac_address: null }),
      ethernet(2, { if_name: "eth0", if_descr: "Network card", mac_address: mac(2, 200) }),
    ],
    addresses: [{ ip_address: "127.0.0.1", prefix_length: 8, if_index: 1 }, address("10.0.0.200", 2)],
  });

  test("is identified by loopback addresses, unlike another machine's agent with the same ones", async () => {
    await appliance.renew({ machine });
    await owner.post("discovery/self", { network_id: first.networkId });
    const loopback = { ip_address: "127.0.0.1", prefix_length: 8, if_index: 1 };
    await scan.devices(
      deviceAt("10.0.0.7", {
        sys_name: "linux-7",
        interfaces: [ethernet(1, { mac_address: mac(1, 7) })],
        addresses: [loopback, address("10.0.0.7", 2)],
      }),
    );
    await scan.addresses(seenAt("127.0.0.1", { hostname: "localhost" }));
    expect(await holders()).toEqual(["linux-7 10.0.0.7 127.0.0.1", "noc-1 10.0.0.200 127.0.0.1"]);
    expect((await scan.addresses(seenAt("127.0.0.1", { hostname: "localhost" }))).sequence).toBeNull();
  });

  test("may have any number of agents on its loopback addresses, each a separate device", async () => {
    const agent = (number: number) =>
      deviceAt(`127.16.0.${number}`, { sys_name: `agent-${number}`, serial_number: `SERIAL${number}` });
    await scan.devices(agent(1), agent(2));
    await scan.addresses(seenAt("127.16.0.1"), seenAt("127.16.0.2"));
    expect(await holders()).toEqual(["agent-1 127.16.0.1", "agent-2 127.16.0.2"]);
    expect((await scan.devices(agent(2), agent(1))).sequence).toBeNull();
    expect((await scan.addresses(seenAt("127.16.0.2"), seenAt("127.16.0.1"))).sequence).toBeNull();
  });

  for (const first of ["by itself", "by a scan"]) {
    test(`is one host when first recorded ${first}, and neither source removes the other's data`, async () => {
      await appliance.renew({ machine });
      const self = async () =>
        (await owner.post("discovery/self", { network_id: appliance.first.networkId })).data as JsonRecord;
      if (first === "by itself") await self();
      await scan.devices(deviceReport);
      const sequence = async () => ((await owner.get("ledger")).data as JsonRecord).sequence;
      await self();
      await scan.devices(deviceReport);
      const settled = await sequence();
      await self();
      await scan.devices(deviceReport);
      await self();
      expect(await sequence()).toBe(settled);
      const host = await hostNamed("noc-1");
      expect(addressesOf(host)).toEqual(["10.0.0.200", "127.0.0.1"]);
      expect(host.ports.map((port: JsonRecord) => `${port.number}/${port.protocol}`).sort()).toEqual([
        "161/Udp",
        "22/Tcp",
      ]);
    });
  }
});
