// Self discovery of the machine: a full record first, then only differences.

import { beforeEach, expect, test } from "bun:test";
import type { MachineInterface, MachineSnapshot } from "../../src/discovery/self/machine.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { refusal, tcp, udp } from "../support/appliance/factories.ts";
import { machineInterface, machineWith } from "../support/reconcile/machine.ts";

const MACHINE = machineWith({
  hostname: "noc-1",
  interfaces: [
    machineInterface({ if_index: 1, if_name: "lo", if_descr: "lo", if_type: 24, oper_status: "Unknown" }),
    machineInterface({ if_index: 2, mac_address: "00:1b:21:aa:bb:cc", speed_bps: 1_000_000_000 }),
  ],
  addresses: [
    { ip_address: "10.2.3.4", prefix_length: 24, if_index: 2, cidr: "10.2.3.0/24" },
    { ip_address: "2001:db8::4", prefix_length: 64, if_index: 2, cidr: "2001:db8::/64" },
  ],
  ports: [
    { ...tcp(22), bound: [] },
    { ...tcp(5432), bound: ["127.0.0.1"] },
    { ...tcp(443), bound: ["10.2.3.4"] },
  ],
  sys_descr: "Linux 6.1.0 x86_64",
});

let machine: MachineSnapshot;
const appliance = applianceForEach({
  get machine() {
    return machine;
  },
});
const { clock, first, newOrganization, owner, tick } = appliance;
beforeEach(() => {
  machine = structuredClone(MACHINE);
});

async function discover() {
  clock.advance(60_000);
  const response = await owner.post("discovery/self", { network_id: first.networkId });
  expect(response.status).toBe(200);
  tick();
  return response.data;
}

test("the first run records interfaces, addresses with their subnets, ports and the well-known services on them", async () => {
  const report = await discover();
  expect(report.created).toEqual({
    hosts: 1,
    subnets: 2,
    ip_addresses: 2,
    if_entries: 2,
    ports: 3,
    services: 2,
    bindings: 2,
  });
  const host = (await owner.get(`hosts/${report.host_id}`)).data;
  expect(host).toMatchObject({
    name: "noc-1",
    hostname: "noc-1",
    source: { type: "Discovery" },
    sys_descr: "Linux 6.1.0 x86_64",
  });
  expect(host.last_seen_at).not.toBeNull();
  const addressId = host.ip_addresses.find((address: { ip_address: string }) => address.ip_address === "10.2.3.4").id;
  expect(host.interfaces[1]).toMatchObject({
    if_name: "eth0",
    speed_bps: 1_000_000_000,
    ip_address_id: addressId,
    first_discovery_id: report.discovery_id,
    last_discovery_id: report.discovery_id,
  });
  const bindings = host.services.flatMap(
    (service: { name: string; bindings: Array<{ ip_address_id: string | null }> }) =>
      service.bindings.map((binding) => [service.name, binding.ip_address_id]),
  );
  expect(bindings.sort()).toEqual([
    ["HTTPS", addressId],
    ["SSH", null],
  ]);
});

test("a second run on an unchanged machine writes no version, and refreshes observations", async () => {
  const first = await discover();
  const before = appliance.reader.head().sequence;
  const second = await discover();
  expect(second).toMatchObject({ sequence: null, host_id: first.host_id, created: {}, updated: {}, deleted: {} });
  expect(appliance.reader.head().sequence).toBe(before);
  const entries = (await owner.get(`if-entries?host_id=${first.host_id}`)).data;
  expect(entries[0].last_discovery_id).toBe(second.discovery_id);
  expect(entries[0].last_seen_at > entries[0].updated_at).toBe(true);
});

test("a run after a port was opened writes exactly that", async () => {
  const first = await discover();
  machine.ports.push({ number: 9999, protocol: "Tcp", bound: [] });
  const second = await discover();
  expect(second).toMatchObject({ created: { ports: 1 }, updated: {}, deleted: {} });
  const versions = appliance.reader.db
    .query("SELECT count(*) AS count FROM history_versions WHERE (key & 2147483647) = ?")
    .get(second.sequence) as { count: number };
  // The port, and its host.
  expect(versions.count).toBe(2);
  expect((await owner.get(`hosts/${first.host_id}`)).data.ports.length).toBe(4);
});

test("missing parts are deleted, manual and renamed ones are kept", async () => {
  const first = await discover();
  const host = (await owner.get(`hosts/${first.host_id}`)).data;
  const edited = await owner.put(`hosts/${host.id}`, {
    ...host,
    name: "Monitoring server",
    ports: [...host.ports, udp(12345)],
  });
  expect(edited.status).toBe(200);
  machine.ports = machine.ports.filter((port) => port.number !== 443);
  machine.addresses = machine.addresses.slice(0, 1);
  const second = await discover();
  expect(second.deleted).toEqual({ ports: 1, services: 1, bindings: 1, ip_addresses: 1 });
  const after = (await owner.get(`hosts/${first.host_id}`)).data;
  expect(after.name).toBe("Monitoring server");
  expect(after.ports.map((port: { number: number }) => port.number).sort((a: number, b: number) => a - b)).toEqual([
    22, 5432, 12345,
  ]);
  const past = (await owner.get(`hosts/${first.host_id}?at=${edited.data.updated_at}`)).data;
  expect(past.ports.length).toBe(4);
});

test("if not all addresses can be read, those of a disabled interface are kept, and no others", async () => {
  await discover();
  const [lo, eth0] = machine.interfaces as [MachineInterface, MachineInterface];
  const addresses = machine.addresses;
  machine = {
    ...machine,
    has_all_addresses: false,
    addresses: [],
    interfaces: [lo, { ...eth0, admin_status: "Down", oper_status: "Down" }],
  };
  const afterDisabling = await discover();
  expect(afterDisabling.deleted).toEqual({});
  expect(afterDisabling.updated).toEqual({ if_entries: 1 });
  machine = { ...machine, interfaces: [lo, eth0], addresses: addresses.slice(0, 1) };
  expect((await discover()).deleted).toEqual({ ip_addresses: 1 });
});

test("manual edits of a discovered record are kept: a renamed service, a narrowed binding, an undetectable serial number", async () => {
  const first = await discover();
  const host = (await owner.get(`hosts/${first.host_id}`)).data;
  const addressId = host.ip_addresses[0].id;
  const services = host.services.map((service: { name: string; bindings: object[] }) =>
    service.name === "SSH"
      ? {
          ...service,
          name: "Bastion SSH",
          bindings: service.bindings.map((binding) => ({ ...binding, ip_address_id: addressId })),
        }
      : service,
  );
  const edited = await owner.put(`hosts/${host.id}`, { ...host, serial_number: "SN-1", services });
  expect(edited.status).toBe(200);
  const second = await discover();
  expect(second).toMatchObject({ sequence: null, created: {}, updated: {}, deleted: {} });
  const after = (await owner.get(`hosts/${first.host_id}`)).data;
  expect(after.serial_number).toBe("SN-1");
  expect(after.services.map((service: { name: string }) => service.name).sort()).toEqual(["Bastion SSH", "HTTPS"]);
});

test("the machine is recorded again after its host was deleted, as the next incarnation", async () => {
  const first = await discover();
  await owner.delete(`hosts/${first.host_id}`);
  const second = await discover();
  expect(second.host_id).not.toBe(first.host_id);
  expect((await owner.get(`hosts/${second.host_id}`)).data.lineage_id).toBe(first.host_id);
});

test("the preview shows the records to be created, with the default route, and writes nothing", async () => {
  const head = (await owner.get("ledger")).data;
  expect((await owner.get("discovery/self")).data).toEqual({
    hostname: "noc-1",
    interfaces: [
      { if_name: "lo", mac_address: null, admin_status: "Up", oper_status: "Unknown", speed_bps: null },
      {
        ...{ if_name: "eth0", mac_address: "00:1b:21:aa:bb:cc", admin_status: "Up", oper_status: "Up" },
        speed_bps: 1_000_000_000,
      },
    ],
    addresses: [
      { ip_address: "10.2.3.4", cidr: "10.2.3.0/24", if_name: "eth0", is_default_route: true },
      { ip_address: "2001:db8::4", cidr: "2001:db8::/64", if_name: "eth0", is_default_route: true },
    ],
    port_count: 3,
  });
  expect((await owner.get("ledger")).data).toEqual(head);
  // With /sys of another network namespace, the kernel's addresses belong to interfaces that it does not list.
  machine = { ...machine, interfaces: [], default_interfaces: ["wan0"] };
  expect((await owner.get("discovery/self")).data.addresses[0]).toEqual({
    ...{ ip_address: "10.2.3.4", cidr: "10.2.3.0/24", if_name: null, is_default_route: false },
  });
});

test("a network out of reach is refused like an unknown one", async () => {
  const other = await newOrganization("Other");
  const response = await owner.post("discovery/self", { network_id: other.networkId });
  expect(response).toMatchObject(
    refusal(400, "entity_reference_invalid", { entity: "network", field: "network_id", ids: [other.networkId] }),
  );
});

test("a machine whose host was consolidated continues as the destination, and as itself once that is undone", async () => {
  const ownId = (await discover()).host_id;
  const rackId = (await owner.post("hosts", { network_id: first.networkId, name: "noc, rack 4" })).data.id;
  tick();
  const { sequence } = (await owner.put(`hosts/${rackId}/consolidate/${ownId}`, {})).data;
  const report = await discover();
  expect(report).toMatchObject({ host_id: rackId, created: {}, deleted: {} });
  expect((await owner.get("hosts")).data).toHaveLength(1);
  expect((await owner.post(`transactions/${sequence}/revert`, {})).status).toBe(200);
  expect(await discover()).toMatchObject({ host_id: ownId, created: {}, deleted: {} });
  expect((await owner.get(`hosts/${rackId}`)).data.ip_addresses).toEqual([]);
});

test("records that users wrote or refer to stay as stale, and are current again once they return", async () => {
  const { host_id } = await discover();
  const host = (await owner.get(`hosts/${host_id}`)).data;
  const [address] = host.ip_addresses;
  const named = await owner.put(`ip-addresses/${address.id}`, { ...address, name: "management" });
  expect(named.status).toBe(200);
  const eth0 = host.interfaces.find(({ if_index }: MachineInterface) => if_index === 2);
  expect((await owner.put(`if-entries/${eth0.id}`, { ...eth0, if_alias: "to the core" })).status).toBe(200);
  tick();
  const whole = machine;
  machine = { ...machine, interfaces: machine.interfaces.slice(0, 1), addresses: [] };
  expect((await discover()).deleted).toMatchObject({ ip_addresses: 1 });
  const without = (await owner.get(`hosts/${host_id}`)).data;
  expect(without.ip_addresses).toMatchObject([{ id: address.id, stale_since: expect.any(String) }]);
  expect(without.interfaces[1]).toMatchObject({ oper_status: "NotPresent", stale_since: expect.any(String) });
  expect(await discover()).toMatchObject({ sequence: null });
  machine = whole;
  await discover();
  const again = (await owner.get(`hosts/${host_id}`)).data;
  expect(again.ip_addresses[0]).toMatchObject({ id: address.id, name: "management" });
  for (const record of [...again.ip_addresses, ...again.interfaces]) expect(record.stale_since).toBeUndefined();
  expect(again.interfaces[1]).toMatchObject({ id: eth0.id, oper_status: "Up", if_alias: "to the core" });
});

test("members of a bond and VLANs are those of the aggregate and of their interface, unless a user set another", async () => {
  const port = (if_index: number, if_name: string, fields: Partial<MachineInterface> = {}) =>
    machineInterface({ if_index, if_name, if_descr: if_name, ...fields });
  machine.interfaces = [
    port(2, "eth0", { lag_if_index: 5 }),
    port(3, "eth1", { lag_if_index: 5 }),
    port(4, "storage", { if_type: 135, parent_if_index: 5 }),
    port(5, "bond0", { if_type: 161 }),
  ];
  const { host_id } = await discover();
  const stacking = async () => {
    const { interfaces } = (await owner.get(`hosts/${host_id}`)).data;
    const nameOf = (id: string | undefined) => interfaces.find((each: { id: string }) => each.id === id)?.if_name;
    return interfaces.map((each: { if_name: string; lag_id?: string; parent_id?: string }) =>
      [each.if_name, nameOf(each.lag_id), nameOf(each.parent_id)].join(" "),
    );
  };
  expect(await stacking()).toEqual(["eth0 bond0 ", "eth1 bond0 ", "storage  bond0", "bond0  "]);
  expect(await discover()).toMatchObject({ sequence: null });
  // The bond is taken apart.
  machine.interfaces = [port(2, "eth0"), port(3, "eth1"), port(4, "storage", { if_type: 135, parent_if_index: 2 })];
  await discover();
  expect(await stacking()).toEqual(["eth0  ", "eth1  ", "storage  eth0"]);
});
