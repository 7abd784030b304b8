// Hosts with their children: creation, the sync rule of the update, history of the whole.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { newAppliance, type TestAppliance } from "../support/appliance.ts";

let appliance: TestAppliance;
let networkId: string;

beforeEach(async () => {
  appliance = await newAppliance();
  networkId = appliance.first.networkId;
  await appliance.owner.post("/api/v1/subnets", { network_id: networkId, cidr: "10.2.0.0/16" });
  await appliance.owner.post("/api/v1/subnets", { network_id: networkId, cidr: "10.2.3.0/24" });
  appliance.clock.advance(1_000);
});
afterEach(() => appliance.close());

/** Transactions that the ledger has. */
function transactions(): number {
  return appliance.reader.head().sequence;
}

const PORT_A = "0190a000-0000-4000-8000-00000000000a";
const PORT_B = "0190a000-0000-4000-8000-00000000000b";

async function newHost(extra: object = {}) {
  const answer = await appliance.owner.post("/api/v1/hosts", { network_id: networkId, name: "web-1", ...extra });
  expect(answer.status).toBe(200);
  appliance.clock.advance(1_000);
  return answer.data;
}

async function updateHost(host: { id: string }, changes: object, headers: Record<string, string> = {}) {
  const answer = await appliance.owner.put(`/api/v1/hosts/${host.id}`, { ...host, ...changes }, headers);
  appliance.clock.advance(1_000);
  return answer;
}

test("a host is created with all its children in one transaction, bindings naming ports of the same request", async () => {
  const before = transactions();
  const host = await newHost({
    ip_addresses: [{ ip_address: "10.2.3.4", mac_address: "00-1B-21-AA-BB-CC" }, { ip_address: "10.2.200.1" }],
    ports: [{ id: PORT_A, number: 443, protocol: "Tcp" }, { number: 53, protocol: "Udp" }],
    services: [{ name: "Shop", service_definition: "nginx", bindings: [{ type: "Port", port_id: PORT_A }] }],
    interfaces: [{ if_index: 1, if_descr: "eth0", mac_address: "001b.21aa.bbcc", fdb_macs: ["00:00:00:00:00:01"] }],
  });
  expect(transactions()).toBe(before + 1);
  expect(host.ip_addresses.map((each: { ip_address: string }) => each.ip_address)).toEqual(["10.2.3.4", "10.2.200.1"]);
  expect(host.ip_addresses[0].mac_address).toBe("00:1b:21:aa:bb:cc");
  const subnets = (await appliance.owner.get("/api/v1/subnets")).data as Array<{ id: string; cidr: string }>;
  const cidrOf = (id: string) => subnets.find((each) => each.id === id)?.cidr;
  expect(host.ip_addresses.map((each: { subnet_id: string }) => cidrOf(each.subnet_id))).toEqual(["10.2.3.0/24", "10.2.0.0/16"]);
  expect(host.ports.map((each: { type: string }) => each.type).sort()).toEqual(["DnsUdp", "Https"]);
  expect(host.services[0].bindings[0]).toMatchObject({ type: "Port", port_id: PORT_A, ip_address_id: null, service_id: host.services[0].id });
  expect(host.interfaces[0]).toMatchObject({ if_index: 1, mac_address: "00:1b:21:aa:bb:cc", neighbor: null, valid_to: null });
  expect("fdb_macs" in host.interfaces[0]).toBe(false);
  const listed = await appliance.owner.get(`/api/v1/if-entries?host_id=${host.id}`);
  expect(listed.data[0].fdb_macs).toEqual(["00:00:00:00:00:01"]);
  expect("valid_to" in listed.data[0]).toBe(false);
});

test("sending a host back as it was read changes nothing and writes no version", async () => {
  const host = await newHost({ ip_addresses: [{ ip_address: "10.2.3.4" }], ports: [{ number: 22, protocol: "Tcp" }], interfaces: [{ if_index: 1, if_descr: "eth0" }] });
  const before = transactions();
  const answer = await updateHost(host, {});
  expect(answer.status).toBe(200);
  expect(answer.data).toEqual(host);
  expect(transactions()).toBe(before);
});

test("null and absent lists keep the children, an empty list removes them with the bindings to them", async () => {
  const host = await newHost({
    ip_addresses: [{ ip_address: "10.2.3.4" }],
    ports: [{ id: PORT_A, number: 443, protocol: "Tcp" }],
    services: [{ name: "Shop", service_definition: "nginx", bindings: [{ type: "Port", port_id: PORT_A }] }],
  });
  const kept = await updateHost({ id: host.id }, { name: "web-2", hidden: true, tags: [], ip_addresses: null });
  expect(kept.data.ip_addresses.length).toBe(1);
  expect(kept.data.ports.length).toBe(1);
  expect(kept.data.hidden).toBe(true);
  const emptied = await updateHost({ id: host.id }, { name: "web-2", hidden: true, tags: [], ports: [] });
  expect(emptied.status).toBe(200);
  expect(emptied.data.ports).toEqual([]);
  expect(emptied.data.services[0].bindings).toEqual([]);
  expect(emptied.data.ip_addresses.length).toBe(1);
  const then = await appliance.owner.get(`/api/v1/hosts/${host.id}?at=${kept.data.updated_at}`);
  expect(then.data.ports.length).toBe(1);
  expect(then.data.services[0].bindings.length).toBe(1);
  expect(then.data.ports[0].valid_to).toBe(emptied.data.updated_at);
});

test("a binding may move to another port while its old port is deleted", async () => {
  const host = await newHost({
    ports: [{ id: PORT_A, number: 80, protocol: "Tcp" }],
    services: [{ name: "Shop", service_definition: "nginx", bindings: [{ type: "Port", port_id: PORT_A }] }],
  });
  const binding = host.services[0].bindings[0];
  const answer = await updateHost(host, {
    ports: [{ id: PORT_B, number: 443, protocol: "Tcp" }],
    services: [{ ...host.services[0], bindings: [{ ...binding, port_id: PORT_B }] }],
  });
  expect(answer.status).toBe(200);
  expect(answer.data.ports.map((each: { id: string }) => each.id)).toEqual([PORT_B]);
  expect(answer.data.services[0].bindings).toMatchObject([{ id: binding.id, port_id: PORT_B }]);
});

test("two ports may swap their numbers, and an item without an id takes the record of the same number", async () => {
  const host = await newHost({ ports: [{ id: PORT_A, number: 80, protocol: "Tcp" }, { id: PORT_B, number: 443, protocol: "Tcp" }] });
  const swapped = await updateHost(host, { ports: [{ id: PORT_A, number: 443, protocol: "Tcp" }, { id: PORT_B, number: 80, protocol: "Tcp" }] });
  expect(swapped.status).toBe(200);
  expect(swapped.data.ports.map((each: { id: string; number: number }) => [each.id, each.number])).toEqual([[PORT_A, 443], [PORT_B, 80]]);
  const same = await updateHost(host, { ports: [{ number: 443, protocol: "Tcp" }, { id: "0190a000-0000-4000-8000-00000000000c", number: 80, protocol: "Tcp" }] });
  expect(same.data.ports).toEqual(swapped.data.ports);
});

test("one offender refuses the whole and all offenders are named", async () => {
  const host = await newHost();
  const before = transactions();
  const answer = await updateHost(host, {
    name: "renamed",
    ip_addresses: [{ ip_address: "10.2.3.4" }, { ip_address: "192.0.2.1" }, { ip_address: "10.2.3.4" }],
    ports: [{ number: 80, protocol: "Tcp" }, { number: 80, protocol: "Tcp" }],
  });
  expect(answer.status).toBe(400);
  expect(answer.body.params.issues.map((each: { path: string }) => each.path).sort()).toEqual(["/ip_addresses/1/ip_address", "/ip_addresses/2", "/ports/1"]);
  expect(transactions()).toBe(before);
  expect((await appliance.owner.get(`/api/v1/hosts/${host.id}`)).data.name).toBe("web-1");
});

test("a change of a child is one new version of the host, and the optimistic lock protects the whole", async () => {
  const host = await newHost({ ports: [{ number: 22, protocol: "Tcp" }] });
  const changed = await updateHost(host, { ports: [] });
  expect(changed.data.updated_at > host.updated_at).toBe(true);
  const stale = await updateHost(host, { name: "late", expected_updated_at: host.updated_at });
  expect(stale.status).toBe(409);
  expect(stale.body).toMatchObject({ code: "entity_stale", params: { expected: host.updated_at, actual: changed.data.updated_at } });
  const offset = changed.data.updated_at.replace("Z", "000+00:00");
  expect((await updateHost(host, { name: "in time", ports: null, expected_updated_at: offset })).status).toBe(200);
});

test("two writers on one host: the second with the lock of the first is refused", async () => {
  const host = await newHost();
  const [one, other] = await Promise.all([
    appliance.owner.put(`/api/v1/hosts/${host.id}`, { ...host, name: "one", expected_updated_at: host.updated_at }),
    appliance.owner.put(`/api/v1/hosts/${host.id}`, { ...host, name: "other", expected_updated_at: host.updated_at }),
  ]);
  expect([one?.status, other?.status].sort()).toEqual([200, 409]);
});

test("a deleted host takes its children along and stays visible to at", async () => {
  const host = await newHost({ ip_addresses: [{ ip_address: "10.2.3.4" }], interfaces: [{ if_index: 1, if_descr: "eth0" }] });
  const deleted = await appliance.owner.delete(`/api/v1/hosts/${host.id}`);
  expect(deleted.status).toBe(200);
  expect(deleted.data.valid_to).not.toBeNull();
  expect(deleted.data.ip_addresses.length).toBe(1);
  appliance.clock.advance(1_000);
  expect((await appliance.owner.get(`/api/v1/hosts/${host.id}`)).status).toBe(404);
  expect((await appliance.owner.get(`/api/v1/if-entries?host_id=${host.id}`)).body.meta.pagination.total_count).toBe(0);
  const then = await appliance.owner.get(`/api/v1/hosts?at=${host.updated_at}`);
  expect(then.data).toEqual([deleted.data]);
});

test("a record created again for the same real thing carries its lineage", async () => {
  const host = await newHost({ interfaces: [{ if_index: 7, if_descr: "eth7" }], ports: [{ number: 22, protocol: "Tcp" }] });
  const entry = host.interfaces[0];
  await appliance.owner.delete(`/api/v1/if-entries/${entry.id}`);
  await updateHost(host, { ports: [] });
  const again = await appliance.owner.post("/api/v1/if-entries", { host_id: host.id, if_index: 7, if_descr: "eth7" });
  expect(again.data.id).not.toBe(entry.id);
  expect(again.data.lineage_id).toBe(entry.id);
  await updateHost(host, { ports: [{ number: 22, protocol: "Tcp" }] });
  const third = await appliance.owner.get(`/api/v1/hosts/${host.id}`);
  expect(third.data.ports[0].lineage_id).toBe(host.ports[0].id);
});

test("forwarding entries are records of their own: the interface as of an instant shows those of then", async () => {
  const host = await newHost({ interfaces: [{ if_index: 1, if_descr: "eth0" }] });
  const entry = (await appliance.owner.get("/api/v1/if-entries")).data[0];
  const body = { if_index: 1, if_descr: "eth0" };
  const one = await appliance.owner.put(`/api/v1/if-entries/${entry.id}`, { ...body, fdb_macs: ["00:00:00:00:00:02", "00:00:00:00:00:01"] });
  expect(one.data.fdb_macs).toEqual(["00:00:00:00:00:01", "00:00:00:00:00:02"]);
  appliance.clock.advance(1_000);
  const two = await appliance.owner.put(`/api/v1/if-entries/${entry.id}`, { ...body, fdb_macs: ["00:00:00:00:00:03"] });
  expect(two.data.fdb_macs).toEqual(["00:00:00:00:00:03"]);
  appliance.clock.advance(1_000);
  const then = await appliance.owner.get(`/api/v1/if-entries?host_id=${host.id}&at=${one.data.updated_at}`);
  expect(then.data[0].fdb_macs).toEqual(["00:00:00:00:00:01", "00:00:00:00:00:02"]);
  expect(then.data[0].valid_to).toBe(two.data.updated_at);
  const versions = appliance.reader.db.query("SELECT length(members) AS size FROM history_versions WHERE members LIKE '%fdb%'").all();
  expect(versions).toEqual([]);
  const cleared = await appliance.owner.put(`/api/v1/if-entries/${entry.id}`, { ...body, fdb_macs: null });
  expect("fdb_macs" in cleared.data).toBe(false);
});
