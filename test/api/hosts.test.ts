// Hosts with their children: creation, the update's sync rule, full history, and versions per write.

import { beforeEach, describe, expect, test } from "bun:test";
import { writtenSql } from "../../src/db/packing.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, invalid, type JsonRecord, onPort, refusal, tcp, udp } from "../support/appliance/factories.ts";
import { csvRecords } from "../support/contract/csv.ts";
import {
  networkReference,
  reference,
  subnetReference,
  tagReference,
  UNKNOWN_ID,
} from "../support/contract/record-subject.ts";
import { describeRecords } from "../support/contract/record-suite.ts";

const appliance = applianceForEach();
const { first, owner, signedIn, instant, newCredential, newIfEntry, newNetwork, newOrganization, newTag } = appliance;
const { newUser, newVlan, tick, versionsOf, writtenIn, newMember } = appliance;
let networkId: string;

beforeEach(async () => {
  networkId = first.networkId;
  await owner.post("subnets", { network_id: networkId, cidr: "10.2.0.0/16" });
  await owner.post("subnets", { network_id: networkId, cidr: "10.2.3.0/24" });
  tick();
});

describeRecords(
  {
    path: "/api/v1/hosts",
    entity: "host",
    writeRole: "Member",
    scope: "in a network",
    container: {
      field: "network_id",
      entity: "network",
      create: async (caller, networkId) => {
        await expectOk(caller.post("subnets", { network_id: networkId, cidr: "10.77.0.0/16" }));
        return networkId;
      },
    },
    body: (networkId, position) => ({
      network_id: networkId,
      name: `host ${position}`,
      hostname: `host-${position}.example.net`,
      description: "rack 4",
      hidden: true,
      tags: [],
      virtualization: { type: "Kvm", details: { vm_name: "web", vm_id: "104" } },
      sys_name: "web",
      sys_descr: "Linux\n6.1",
      sys_object_id: "1.3.6.1.4.1.8072.3.2.10",
      sys_location: "basement",
      sys_contact: "noc@example.net",
      manufacturer: "Acme",
      model: "Anvil",
      serial_number: `A-${position}`,
      management_url: "https://10.77.0.1/",
      asset_tag: `NL-${position}`,
      credential_assignments: [],
      ip_addresses: [
        { ip_address: `10.77.${position}.1`, mac_address: "00:1b:21:aa:bb:cc", name: "eth0", position: 3 },
        { ip_address: `10.77.${position}.2`, mac_address: null, name: "", position: 0 },
      ],
      ports: [tcp(443), udp(53)],
      services: [
        {
          name: "Shop",
          service_definition: "nginx",
          position: 7,
          tags: [],
          virtualization: { type: "Podman", details: { container_name: "shop" } },
          bindings: [],
        },
      ],
      interfaces: [
        { if_index: 1, if_descr: "lo" },
        { if_index: 2, if_descr: "eth0", if_type: 6, oper_status: "Up" },
      ],
    }),
    change: { field: "description", to: (body) => (body.description === null ? "rack 4" : null) },
    unique: null,
    writes: {
      created: { "Created ip_address": 2, "Created port": 2, "Created service": 1, "Created if_entry": 2 },
      deleted: { "Deleted ip_address": 2, "Deleted port": 2, "Deleted service": 1, "Deleted if_entry": 2 },
    },
    invalid: {
      body: {
        id: 5,
        network_id: null,
        name: "",
        hostname: "a\nb",
        description: [],
        hidden: "no",
        tags: ["core"],
        virtualization: { type: "Docker", details: { vm_nmae: "x" } },
        sys_name: 1,
        asset_tag: "",
        credential_assignments: [{ ip_address_ids: [] }, { credential_id: UNKNOWN_ID, ip_address_ids: "all" }],
        ip_addresses: [{ ip_address: "10.77.0.256", mac_address: "00:1b", position: -1, host: "x" }, 5, null],
        ports: [{ number: 0, protocol: "tcp" }, null],
        services: [{ name: "x", bindings: [{ type: "Port" }], tags: [1] }, null],
        colour: null,
      },
      paths: [
        ..."/id /name /hostname /description /hidden /tags/0 /virtualization/type".split(" "),
        ..."/virtualization/details/vm_nmae /sys_name /asset_tag /colour".split(" "),
        ..."/credential_assignments/0/credential_id /credential_assignments/0/ip_address_ids".split(" "),
        ..."/credential_assignments/1/ip_address_ids /ip_addresses/2 /ports/1 /services/1".split(" "),
        ..."/ip_addresses/0/ip_address /ip_addresses/0/mac_address".split(" "),
        ..."/ip_addresses/0/position /ip_addresses/0/host /ip_addresses/1".split(" "),
        ..."/ports/0/number /ports/0/protocol /services/0/service_definition".split(" "),
        ..."/services/0/bindings/0/port_id /services/0/tags/0".split(" "),
      ],
    },
    references: [
      networkReference("network_id", (body, id) => ({ ...body, network_id: id, ip_addresses: [] })),
      tagReference(),
      tagReference("services/0/tags", (body, id) => ({ ...body, services: [{ ...body.services[0], tags: [id] }] })),
      subnetReference("ip_addresses/1/subnet_id", ({ ip_addresses, ...body }, id) => ({
        ...body,
        ip_addresses: [ip_addresses[0], { ...ip_addresses[1], subnet_id: id }],
      })),
      reference("virtualization/details/service_id", "service", newHypervisor, (body, id) => ({
        ...body,
        virtualization: { type: "Proxmox", details: { service_id: id } },
      })),
      reference("services/0/virtualization/details/service_id", "service", newHypervisor, (body, id) => ({
        ...body,
        services: [{ ...body.services[0], virtualization: { type: "Docker", details: { service_id: id } } }],
      })),
      {
        field: "credential_assignments/credential_id",
        entity: "credential",
        withReference: (body, id) => ({ ...body, credential_assignments: [{ credential_id: id }] }),
        create: async (caller) => {
          const organizationId = (await expectOk(caller.get("organizations"))).id;
          const credential_type = { type: "SnmpV1", community: { mode: "FilePath", path: "community" } };
          return (
            await expectOk(
              caller.post("credentials", {
                organization_id: organizationId,
                name: "Reference",
                credential_type,
                assigned_network_ids: [],
                host_assignments: [],
                tags: [],
              }),
            )
          ).id;
        },
      },
    ],
  },
  appliance,
);

/** A service on a separate host that virtualizes others. */
async function newHypervisor(caller: Client, networkId: string): Promise<string> {
  const host = await expectOk(
    caller.post("hosts", {
      network_id: networkId,
      name: "hypervisor",
      services: [{ name: "pve", service_definition: "Proxmox" }],
    }),
  );
  return host.services[0].id;
}

/** Number of transactions in the ledger. */
function transactions(): number {
  return appliance.reader.head().sequence;
}

const PORT_A = "0190a000-0000-4000-8000-00000000000a";
const PORT_B = "0190a000-0000-4000-8000-00000000000b";

async function newHost(extra: object = {}) {
  const response = await owner.post("hosts", { network_id: networkId, name: "web-1", ...extra });
  expect(response.status).toBe(200);
  tick();
  return response.data;
}

async function updateHost(host: { id: string }, changes: object, headers: Record<string, string> = {}) {
  const response = await owner.put(`hosts/${host.id}`, { ...host, ...changes }, headers);
  tick();
  return response;
}

test("a host is created with all its children in one transaction, bindings referring to ports of the same request", async () => {
  const before = transactions();
  const host = await newHost({
    ip_addresses: [{ ip_address: "10.2.3.4", mac_address: "00-1B-21-AA-BB-CC" }, { ip_address: "10.2.200.1" }],
    ports: [tcp(443, PORT_A), udp(53)],
    services: [{ name: "Shop", service_definition: "nginx", bindings: [onPort(PORT_A)] }],
    interfaces: [{ if_index: 1, if_descr: "eth0", mac_address: "001b.21aa.bbcc", fdb_macs: ["00:00:00:00:00:01"] }],
  });
  expect(transactions()).toBe(before + 1);
  expect(host.ip_addresses.map((item: { ip_address: string }) => item.ip_address)).toEqual(["10.2.3.4", "10.2.200.1"]);
  expect(host.ip_addresses[0].mac_address).toBe("00:1b:21:aa:bb:cc");
  const subnets = (await owner.get("subnets")).data as Array<{ id: string; cidr: string }>;
  const cidrOf = (id: string) => subnets.find((subnet) => subnet.id === id)?.cidr;
  expect(host.ip_addresses.map((address: { subnet_id: string }) => cidrOf(address.subnet_id))).toEqual([
    "10.2.3.0/24",
    "10.2.0.0/16",
  ]);
  expect(host.ports.map((port: { type: string }) => port.type).sort()).toEqual(["DnsUdp", "Https"]);
  expect(host.services[0].bindings[0]).toMatchObject({
    type: "Port",
    port_id: PORT_A,
    ip_address_id: null,
    service_id: host.services[0].id,
  });
  expect(host.interfaces[0]).toMatchObject({
    if_index: 1,
    mac_address: "00:1b:21:aa:bb:cc",
    neighbor: null,
    valid_to: null,
  });
  expect("fdb_macs" in host.interfaces[0]).toBe(false);
  const listed = await owner.get(`if-entries?host_id=${host.id}`);
  expect(listed.data[0].fdb_macs).toEqual(["00:00:00:00:00:01"]);
  expect("valid_to" in listed.data[0]).toBe(false);
});

test("null and absent lists preserve the children, an empty list deletes them with their bindings", async () => {
  const host = await newHost({
    ip_addresses: [{ ip_address: "10.2.3.4" }],
    ports: [tcp(443, PORT_A)],
    services: [{ name: "Shop", service_definition: "nginx", bindings: [onPort(PORT_A)] }],
  });
  const preserved = await updateHost({ id: host.id }, { name: "web-2", hidden: true, tags: [], ip_addresses: null });
  expect(preserved.data.ip_addresses.length).toBe(1);
  expect(preserved.data.ports.length).toBe(1);
  expect(preserved.data.hidden).toBe(true);
  const emptied = await updateHost({ id: host.id }, { name: "web-2", hidden: true, tags: [], ports: [] });
  expect(emptied.status).toBe(200);
  expect(emptied.data.ports).toEqual([]);
  expect(emptied.data.services[0].bindings).toEqual([]);
  expect(emptied.data.ip_addresses.length).toBe(1);
  const past = await owner.get(`hosts/${host.id}?at=${preserved.data.updated_at}`);
  expect(past.data.ports.length).toBe(1);
  expect(past.data.services[0].bindings.length).toBe(1);
  expect(past.data.ports[0].valid_to).toBe(emptied.data.updated_at);
});

test("a binding can move to another port while its old port is deleted", async () => {
  const host = await newHost({
    ports: [tcp(80, PORT_A)],
    services: [{ name: "Shop", service_definition: "nginx", bindings: [onPort(PORT_A)] }],
  });
  const binding = host.services[0].bindings[0];
  const response = await updateHost(host, {
    ports: [tcp(443, PORT_B)],
    services: [{ ...host.services[0], bindings: [{ ...binding, port_id: PORT_B }] }],
  });
  expect(response.status).toBe(200);
  expect(response.data.ports.map((port: { id: string }) => port.id)).toEqual([PORT_B]);
  expect(response.data.services[0].bindings).toMatchObject([{ id: binding.id, port_id: PORT_B }]);
});

test("two ports can swap numbers, and an item without an id matches the record of the same number", async () => {
  const host = await newHost({ ports: [tcp(80, PORT_A), tcp(443, PORT_B)] });
  const swapped = await updateHost(host, { ports: [tcp(443, PORT_A), tcp(80, PORT_B)] });
  expect(swapped.status).toBe(200);
  expect(swapped.data.ports.map((port: { id: string; number: number }) => [port.id, port.number])).toEqual([
    [PORT_A, 443],
    [PORT_B, 80],
  ]);
  const same = await updateHost(host, { ports: [tcp(443), tcp(80, "0190a000-0000-4000-8000-00000000000c")] });
  expect(same.data.ports).toEqual(swapped.data.ports);
});

test("one error rejects the whole request, and all errors are reported", async () => {
  const host = await newHost();
  const before = transactions();
  const response = await updateHost(host, {
    name: "renamed",
    ip_addresses: [{ ip_address: "10.2.3.4" }, { ip_address: "192.0.2.1" }, { ip_address: "10.2.3.4" }],
    ports: [tcp(80), tcp(80)],
  });
  expect(response.status).toBe(400);
  expect(response.body.params.issues.map((issue: { path: string }) => issue.path).sort()).toEqual([
    "/ip_addresses/1/ip_address",
    "/ip_addresses/2",
    "/ports/1",
  ]);
  expect(transactions()).toBe(before);
  expect((await owner.get(`hosts/${host.id}`)).data.name).toBe("web-1");
});

test("a change to a child creates a version of the host, and the optimistic lock covers both", async () => {
  const host = await newHost({ ports: [tcp(22)] });
  const changed = await updateHost(host, { ports: [] });
  expect(changed.data.updated_at > host.updated_at).toBe(true);
  const stale = await updateHost(host, { name: "late", expected_updated_at: host.updated_at });
  expect(stale).toMatchObject(
    refusal(409, "entity_stale", { expected: host.updated_at, actual: changed.data.updated_at }),
  );
  const offset = changed.data.updated_at.replace("Z", "000+00:00");
  expect((await updateHost(host, { name: "in time", ports: null, expected_updated_at: offset })).status).toBe(200);
});

test("the second of two concurrent writers with the same lock is refused", async () => {
  const host = await newHost();
  const [firstWrite, secondWrite] = await Promise.all([
    owner.put(`hosts/${host.id}`, { ...host, name: "one", expected_updated_at: host.updated_at }),
    owner.put(`hosts/${host.id}`, { ...host, name: "other", expected_updated_at: host.updated_at }),
  ]);
  expect([firstWrite?.status, secondWrite?.status].sort()).toEqual([200, 409]);
});

test("a deleted host's children are deleted with it, and it remains visible at past timestamps", async () => {
  const host = await newHost({
    ip_addresses: [{ ip_address: "10.2.3.4" }],
    interfaces: [{ if_index: 1, if_descr: "eth0" }],
  });
  const deleted = await owner.delete(`hosts/${host.id}`);
  expect(deleted.status).toBe(200);
  expect(deleted.data.valid_to).not.toBeNull();
  expect(deleted.data.ip_addresses.length).toBe(1);
  tick();
  expect((await owner.get(`hosts/${host.id}`)).status).toBe(404);
  expect((await owner.get(`if-entries?host_id=${host.id}`)).body.meta.pagination.total_count).toBe(0);
  const past = await owner.get(`hosts?at=${host.updated_at}`);
  expect(past.data).toEqual([deleted.data]);
});

test("a re-created record carries the lineage of its identity", async () => {
  const host = await newHost({ interfaces: [{ if_index: 7, if_descr: "eth7" }], ports: [tcp(22)] });
  const entry = host.interfaces[0];
  await owner.delete(`if-entries/${entry.id}`);
  await updateHost(host, { ports: [] });
  const recreated = await owner.post("if-entries", { host_id: host.id, if_index: 7, if_descr: "eth7" });
  expect(recreated.data.id).not.toBe(entry.id);
  expect(recreated.data.lineage_id).toBe(entry.id);
  await updateHost(host, { ports: [tcp(22)] });
  const third = await owner.get(`hosts/${host.id}`);
  expect(third.data.ports[0].lineage_id).toBe(host.ports[0].id);
});

test("forwarding entries are separate records: an interface at a timestamp shows those at that time", async () => {
  const host = await newHost({ interfaces: [{ if_index: 1, if_descr: "eth0" }] });
  const entry = (await owner.get("if-entries")).data[0];
  const body = { if_index: 1, if_descr: "eth0" };
  const learned = await owner.put(`if-entries/${entry.id}`, {
    ...body,
    fdb_macs: ["00:00:00:00:00:02", "00:00:00:00:00:01"],
  });
  expect(learned.data.fdb_macs).toEqual(["00:00:00:00:00:01", "00:00:00:00:00:02"]);
  tick();
  const relearned = await owner.put(`if-entries/${entry.id}`, { ...body, fdb_macs: ["00:00:00:00:00:03"] });
  expect(relearned.data.fdb_macs).toEqual(["00:00:00:00:00:03"]);
  tick();
  const past = await owner.get(`if-entries?host_id=${host.id}&at=${learned.data.updated_at}`);
  expect(past.data[0].fdb_macs).toEqual(["00:00:00:00:00:01", "00:00:00:00:00:02"]);
  expect(past.data[0].valid_to).toBe(relearned.data.updated_at);
  const versions = appliance.reader.db
    .query(`SELECT v.key FROM history_versions v WHERE ${writtenSql("v", "members")} LIKE '%fdb%'`)
    .all();
  expect(versions).toEqual([]);
  const cleared = await owner.put(`if-entries/${entry.id}`, { ...body, fdb_macs: null });
  expect("fdb_macs" in cleared.data).toBe(false);
});

/** Selected fields of each item of a list. */
function pick(items: JsonRecord[], ...fields: string[]): JsonRecord[] {
  return items.map((item) => Object.fromEntries(fields.map((field) => [field, item[field]])));
}

async function readHost(id: string, at = ""): Promise<JsonRecord> {
  return expectOk(owner.get(`hosts/${id}${at === "" ? "" : `?at=${at}`}`));
}

async function subnetId(cidr: string): Promise<string> {
  const subnets = (await owner.get(`subnets?network_id=${networkId}&limit=0`)).data as JsonRecord[];
  return subnets.find((subnet) => subnet.cidr === cidr)?.id;
}

describe("an address of a host", () => {
  test("is in the most specific subnet of its own network, regardless of other networks", async () => {
    const otherNetwork = await newNetwork();
    for (const [within, cidr] of [
      [networkId, "0.0.0.0/0"],
      [networkId, "10.2.3.128/25"],
      [networkId, "::/0"],
      [networkId, "2001:db8::/32"],
      [networkId, "2001:db8::/128"],
      [otherNetwork.id, "10.2.3.4/32"],
      [otherNetwork.id, "2001:db8::1/128"],
    ]) {
      await expectOk(owner.post("subnets", { network_id: within, cidr }));
    }
    const expected: Array<[string, string]> = [
      ["10.2.3.4", "10.2.3.0/24"],
      ["10.2.3.127", "10.2.3.0/24"],
      ["10.2.3.128", "10.2.3.128/25"],
      ["10.2.4.0", "10.2.0.0/16"],
      ["192.0.2.1", "0.0.0.0/0"],
      ["2001:db8::", "2001:db8::/128"],
      ["2001:db8::1", "2001:db8::/32"],
      ["::ffff:10.2.3.4", "::/0"],
    ];
    const host = await newHost({ ip_addresses: expected.map(([ip_address]) => ({ ip_address })) });
    expect(host.ip_addresses.map((address: JsonRecord) => address.subnet_id)).toEqual(
      await Promise.all(expected.map(([, cidr]) => subnetId(cidr))),
    );
  });

  test("stays in its subnet when a more specific one is created, until its value changes", async () => {
    const host = await newHost({ ip_addresses: [{ ip_address: "10.2.3.4" }] });
    const [address] = host.ip_addresses;
    await expectOk(owner.post("subnets", { network_id: networkId, cidr: "10.2.3.0/28" }));
    const before = transactions();
    for (const item of [
      { ip_address: "10.2.3.4" },
      { id: address.id, ip_address: "10.2.3.4" },
      { ip_address: "10.2.3.4", subnet_id: null },
      address,
    ]) {
      expect((await updateHost(host, { ip_addresses: [item] })).data.ip_addresses).toEqual([address]);
    }
    expect(transactions()).toBe(before);
    const moved = await updateHost(host, { ip_addresses: [{ id: address.id, ip_address: "10.2.3.5" }] });
    expect(moved.data.ip_addresses).toMatchObject([{ id: address.id, subnet_id: await subnetId("10.2.3.0/28") }]);
  });

  test("is placed in the named subnet, even a less specific one, and stays there", async () => {
    const wide = await subnetId("10.2.0.0/16");
    const host = await newHost({ ip_addresses: [{ ip_address: "10.2.3.4", subnet_id: wide.toUpperCase() }] });
    expect(host.ip_addresses[0].subnet_id).toBe(wide);
    const preserved = await updateHost(host, { ip_addresses: [{ ip_address: "10.2.3.4", name: "kept" }] });
    expect(preserved.data.ip_addresses).toMatchObject([{ subnet_id: wide, name: "kept" }]);
    const moved = await updateHost(host, {
      ip_addresses: [{ ip_address: "10.2.3.4", subnet_id: await subnetId("10.2.3.0/24") }],
    });
    expect(moved.data.ip_addresses).toMatchObject([
      { id: host.ip_addresses[0].id, subnet_id: await subnetId("10.2.3.0/24"), name: "kept" },
    ]);
  });

  test("is refused in a named subnet that does not contain it, on creation and on update", async () => {
    const narrow = await subnetId("10.2.3.0/24");
    const host = await newHost({ ip_addresses: [{ ip_address: "10.2.3.4" }] });
    const before = transactions();
    const issue = { path: "/ip_addresses/1/subnet_id", value: narrow, message: expect.stringContaining("10.2.3.0/24") };
    const items = [{ ip_address: "10.2.3.4" }, { ip_address: "10.2.4.4", subnet_id: narrow }];
    const refused = invalid(issue);
    expect(await updateHost(host, { name: "never", ip_addresses: items })).toMatchObject(refused);
    expect(await owner.post("hosts", { network_id: networkId, name: "never", ip_addresses: items })).toMatchObject(
      refused,
    );
    // The returned subnet_id belongs to the returned address.
    const [address] = host.ip_addresses;
    expect(await updateHost(host, { ip_addresses: [{ ...address, ip_address: "10.2.9.9" }] })).toMatchObject(
      invalid({ path: "/ip_addresses/0/subnet_id" }),
    );
    expect(transactions()).toBe(before);
  });

  test("has its list index as default position, and an empty name; positions survive reordering", async () => {
    const host = await newHost({
      ip_addresses: [
        { ip_address: "10.2.0.1" },
        { ip_address: "10.2.0.2", position: 9, name: "lan" },
        { ip_address: "10.2.0.3", name: null },
      ],
    });
    expect(pick(host.ip_addresses, "ip_address", "position", "name", "mac_address")).toEqual([
      { ip_address: "10.2.0.1", position: 0, name: "", mac_address: null },
      { ip_address: "10.2.0.2", position: 9, name: "lan", mac_address: null },
      { ip_address: "10.2.0.3", position: 2, name: "", mac_address: null },
    ]);
    const before = transactions();
    const bare = host.ip_addresses.map((address: JsonRecord) => ({ ip_address: address.ip_address })).reverse();
    expect((await updateHost(host, { ip_addresses: bare })).data.ip_addresses).toEqual(host.ip_addresses);
    expect(transactions()).toBe(before);
    const more = await updateHost(host, {
      ip_addresses: [
        { ip_address: "10.2.0.4" },
        ...bare.slice(0, 2),
        { ip_address: "10.2.0.5" },
        { ip_address: "10.2.0.1", name: "", position: 4 },
      ],
    });
    expect(pick(more.data.ip_addresses, "ip_address", "position", "name")).toEqual([
      { ip_address: "10.2.0.1", position: 4, name: "" },
      { ip_address: "10.2.0.2", position: 9, name: "lan" },
      { ip_address: "10.2.0.3", position: 2, name: "" },
      { ip_address: "10.2.0.4", position: 0, name: "" },
      { ip_address: "10.2.0.5", position: 3, name: "" },
    ]);
    const cleared = await updateHost(more.data, { ip_addresses: [{ ip_address: "10.2.0.2", name: null }] });
    expect(pick(cleared.data.ip_addresses, "position", "name")).toEqual([{ position: 9, name: "" }]);
  });
});

describe("a service of a host", () => {
  test("has its list index as default position and keeps it, like its tags, virtualization and bindings", async () => {
    const tag = await newTag();
    const first = {
      name: "Shop",
      service_definition: "nginx",
      tags: [tag.id, tag.id],
      virtualization: { type: "Docker", details: { container_name: "shop" } },
      bindings: [onPort(PORT_A)],
    };
    const host = await newHost({
      ports: [tcp(443, PORT_A)],
      services: [first, { name: "DNS", service_definition: "bind" }],
    });
    expect(host.services).toMatchObject([
      { position: 0, tags: [tag.id], source: { type: "Manual" } },
      { position: 1, tags: [], virtualization: null, bindings: [] },
    ]);
    const before = transactions();
    const bare = host.services
      .map(({ name, service_definition }: JsonRecord) => ({ name, service_definition }))
      .reverse();
    expect((await updateHost(host, { services: bare })).data).toEqual(host);
    expect(
      (await updateHost(host, { services: bare.map((item: JsonRecord) => ({ ...item, bindings: null })) })).data,
    ).toEqual(host);
    expect(transactions()).toBe(before);
    const changed = await updateHost(host, {
      services: [{ ...bare[1], position: 5, tags: [], virtualization: null, bindings: [] }, bare[0]],
    });
    expect(changed.data.services).toMatchObject([
      { id: host.services[0].id, position: 5, tags: [], virtualization: null, bindings: [] },
      host.services[1],
    ]);
    expect(writtenIn()).toEqual({ "Updated host": 1, "Updated service": 1, "Deleted binding": 1 });
  });

  test("loses a deleted tag, like its host, in one version of each", async () => {
    const [tag, preserved] = [await newTag(), await newTag()];
    const host = await newHost({
      tags: [preserved.id, tag.id],
      services: [
        { name: "Shop", service_definition: "nginx", tags: [tag.id] },
        { name: "DNS", service_definition: "bind", tags: [preserved.id] },
      ],
    });
    await expectOk(owner.delete(`tags/${tag.id}`));
    expect(writtenIn()).toEqual({ "Deleted tag": 1, "Updated host": 1, "Updated service": 1 });
    expect(versionsOf(host.id).at(-1)).toMatchObject({ changed: ["services", "tags"] });
    expect(await readHost(host.id)).toMatchObject({
      tags: [preserved.id],
      services: [{ tags: [] }, { tags: [preserved.id] }],
    });
    expect(await readHost(host.id, host.updated_at)).toMatchObject({
      tags: [preserved.id, tag.id],
      services: [{ tags: [tag.id] }, { tags: [preserved.id] }],
    });
  });
});

describe("a binding", () => {
  test("is on a port, on a port at one address, or on an address, each unique", async () => {
    const host = await newHost({ ip_addresses: [{ ip_address: "10.2.3.4" }], ports: [tcp(443)] });
    const [port_id, ip_address_id] = [host.ports[0].id, host.ip_addresses[0].id];
    const bindings = [
      { type: "Port", port_id, ip_address_id: null },
      { type: "Port", port_id, ip_address_id },
      { type: "IpAddress", port_id: null, ip_address_id },
    ];
    const bound = await updateHost(host, { services: [{ name: "Shop", service_definition: "nginx", bindings }] });
    expect(bound.data.services[0].bindings).toMatchObject(bindings);
    expect(writtenIn()).toEqual({ "Created service": 1, "Created binding": 3, "Updated host": 1 });
    const before = transactions();
    for (const items of [
      bindings,
      bound.data.services[0].bindings,
      [...bindings].reverse(),
      [onPort(port_id), ...bindings.slice(1)],
    ]) {
      expect(
        (await updateHost(bound.data, { services: [{ name: "Shop", service_definition: "nginx", bindings: items }] }))
          .data,
      ).toEqual(bound.data);
    }
    const twice = await updateHost(bound.data, {
      services: [{ name: "Shop", service_definition: "nginx", bindings: [...bindings, onPort(port_id)] }],
    });
    expect(twice).toMatchObject({ status: 400, body: { params: { issues: [{ path: "/services/0/bindings/3" }] } } });
    expect(transactions()).toBe(before);
  });

  test("is refused if it targets another service or has that service's id", async () => {
    const binding = onPort(PORT_A);
    const host = await newHost({
      ports: [tcp(443, PORT_A)],
      services: [
        { name: "a", service_definition: "A", bindings: [binding] },
        { name: "b", service_definition: "B" },
      ],
    });
    const [first, second] = host.services;
    const before = transactions();
    const services = (items: JsonRecord[]) => ({ services: [first, { ...second, bindings: items }] });
    expect(await updateHost(host, services([{ ...binding, id: first.bindings[0].id }]))).toMatchObject(
      refusal(409, "entity_already_exists", { entity: "binding", field: "id" }),
    );
    expect(await updateHost(host, services([{ ...binding, service_id: first.id }]))).toMatchObject(
      invalid({ path: "/services/1/bindings/0/service_id", value: first.id }),
    );
    expect(
      await updateHost(host, services([{ ...binding, host_id: UNKNOWN_ID, network_id: UNKNOWN_ID }])),
    ).toMatchObject(invalid({ path: "/services/1/bindings/0/host_id" }, { path: "/services/1/bindings/0/network_id" }));
    expect(transactions()).toBe(before);
  });
});

describe("a binding that is sent back", () => {
  test("is deleted with its port or address, if only that was removed from its list", async () => {
    const bindings = [onPort(PORT_A), onPort(PORT_B)];
    const host = await newHost({
      ports: [tcp(80, PORT_A), tcp(443, PORT_B)],
      services: [{ name: "a", service_definition: "A", bindings }],
    });
    const moved = [
      host.services[0].bindings[0],
      { ...host.services[0].bindings[1], port_id: PORT_A, ip_address_id: null },
    ];
    for (const items of [moved.slice(1), [...moved].reverse()]) {
      expect(
        (await updateHost(host, { ports: [host.ports[1]], services: [{ ...host.services[0], bindings: items }] }))
          .status,
      ).toBe(400);
    }
    const response = await updateHost(host, { ports: [host.ports[1]] });
    expect(response.data.services[0].bindings).toEqual([host.services[0].bindings[1]]);
    expect(writtenIn()).toEqual({ "Deleted port": 1, "Deleted binding": 1, "Updated service": 1, "Updated host": 1 });
    // A binding moved to a deleted port, or created for one, is refused instead.
    const before = transactions();
    for (const binding of [{ ...response.data.services[0].bindings[0], port_id: PORT_A }, onPort(PORT_A)]) {
      expect(
        await updateHost(response.data, { services: [{ ...host.services[0], bindings: [binding] }] }),
      ).toMatchObject(refusal(400, "entity_reference_invalid", { entity: "port", ids: [PORT_A] }));
    }
    const fresh = await updateHost(response.data, {
      ports: [],
      services: [{ name: "new", service_definition: "N", bindings: [onPort(PORT_B)] }],
    });
    expect(fresh).toMatchObject(refusal(400, "entity_reference_invalid", { entity: "port", ids: [PORT_B] }));
    expect(transactions()).toBe(before);
  });
});

describe("the id of an item", () => {
  test.each([
    ["ip_addresses", "ip_address", { ip_address: "10.2.3.9" }],
    ["ports", "port", udp(99)],
    ["services", "service", { name: "Other", service_definition: "other" }],
  ])(
    "is refused in %s if it is or was the id of another record: ids are unique permanently",
    async (list, entity, item) => {
      const children = {
        ip_addresses: [{ ip_address: "10.2.3.4" }],
        ports: [tcp(443)],
        services: [{ name: "Shop", service_definition: "nginx" }],
      };
      const [host, otherHost] = [await newHost(), await newHost(children)];
      const deletedHost = await newHost(children);
      await expectOk(owner.delete(`hosts/${deletedHost.id}`));
      const second = await newOrganization("Second");
      const foreign = await expectOk(
        (await signedIn(second.userId)).post("hosts", {
          network_id: second.networkId,
          name: "theirs",
          ports: [tcp(1)],
        }),
      );
      const before = transactions();
      for (const id of [
        otherHost[list][0].id,
        otherHost.id,
        host.id,
        deletedHost[list][0].id,
        deletedHost.id,
        foreign.ports[0].id,
        networkId,
      ]) {
        expect(await updateHost(host, { name: "never", [list]: [{ ...item, id }] })).toMatchObject(
          refusal(409, "entity_already_exists", { entity, field: "id", value: id }),
        );
        expect(
          await owner.post("hosts", { network_id: networkId, name: "never", [list]: [{ ...item, id }] }),
        ).toMatchObject({ status: 409 });
      }
      expect(transactions()).toBe(before);
      expect(await readHost(otherHost.id)).toEqual(otherHost);
    },
  );

  test("is refused if repeated in a list, whether existing or new", async () => {
    const host = await newHost({ ports: [tcp(80, PORT_A), tcp(443, PORT_B)] });
    const before = transactions();
    for (const id of [PORT_A, UNKNOWN_ID]) {
      // With all other errors of the lists.
      const ports = [tcp(8080, id), tcp(8081, id), tcp(8080)];
      const response = await updateHost(host, { name: "never", ports, ip_addresses: [{ ip_address: "192.0.2.1" }] });
      expect(response).toMatchObject(refusal(400, "validation_failed"));
      expect(response.body.params.issues).toMatchObject([
        { path: "/ip_addresses/0/ip_address" },
        { path: "/ports/1/id", value: id },
        { path: "/ports/2" },
      ]);
    }
    expect(transactions()).toBe(before);
  });

  test("takes precedence over matching by value, leaving the matched record to another item", async () => {
    const host = await newHost({ ports: [tcp(80, PORT_A), tcp(443, PORT_B)] });
    const moved = await updateHost(host, { ports: [tcp(80), tcp(22, PORT_A)] });
    expect(moved.data.ports).toMatchObject([
      { id: PORT_A, number: 22, type: "Ssh" },
      { number: 80, type: "Http" },
    ]);
    expect(writtenIn()).toEqual({ "Created port": 1, "Updated port": 1, "Deleted port": 1, "Updated host": 1 });
  });
});

describe("the virtualizing service", () => {
  test("must be in the same network, whether or not another network is in reach", async () => {
    const otherNetwork = await newNetwork();
    const foreignServiceId = await newHypervisor(owner, otherNetwork.id);
    const host = await newHost({ services: [{ name: "Shop", service_definition: "nginx" }] });
    const { client: member } = await newMember();
    const before = transactions();
    for (const caller of [owner, member]) {
      for (const id of [foreignServiceId, UNKNOWN_ID, host.id]) {
        const refused = (field: string) =>
          refusal(400, "entity_reference_invalid", { entity: "service", field, ids: [id] });
        const details = { details: { service_id: id } };
        expect(
          await caller.put(`hosts/${host.id}`, { ...host, name: "never", virtualization: { type: "Kvm", ...details } }),
        ).toMatchObject(refused("virtualization/details/service_id"));
        expect(
          await caller.put(`hosts/${host.id}`, {
            ...host,
            name: "never",
            services: [{ ...host.services[0], virtualization: { type: "Docker", ...details } }],
          }),
        ).toMatchObject(refused("services/0/virtualization/details/service_id"));
      }
    }
    expect(transactions()).toBe(before);
  });

  test("is removed from everything it virtualizes when deleted, and other details are kept", async () => {
    const hypervisor = await newHost({ services: [{ name: "pve", service_definition: "Proxmox" }] });
    const serviceId = hypervisor.services[0].id;
    const guest = await newHost({
      virtualization: { type: "Proxmox", details: { vm_id: "104", service_id: serviceId } },
      services: [
        {
          name: "Shop",
          service_definition: "nginx",
          virtualization: { type: "Docker", details: { container_name: "shop", service_id: serviceId } },
        },
      ],
    });
    await updateHost(hypervisor, { services: [] });
    expect(writtenIn()).toEqual({ "Deleted service": 1, "Updated host": 2, "Updated service": 1 });
    expect(versionsOf(guest.id).at(-1)).toMatchObject({ changed: ["services", "virtualization"] });
    const current = await readHost(guest.id);
    expect(current.virtualization).toEqual({ type: "Proxmox", details: { vm_id: "104" } });
    expect(current.services[0].virtualization).toEqual({ type: "Docker", details: { container_name: "shop" } });
    const past = await readHost(guest.id, guest.updated_at);
    expect(past).toMatchObject({
      virtualization: guest.virtualization,
      services: [{ virtualization: guest.services[0].virtualization }],
    });
  });

  test("is also removed when the update that deletes it names it", async () => {
    const docker = { name: "docker", service_definition: "Docker" };
    const host = await newHost({ services: [docker, { name: "Shop", service_definition: "nginx" }] });
    const [engine, shop] = host.services;
    const details = { container_name: "shop", service_id: engine.id };
    const response = await updateHost(host, {
      virtualization: { type: "Kvm", details: { service_id: engine.id } },
      services: [
        { ...shop, virtualization: { type: "Docker", details } },
        { name: "New", service_definition: "new", virtualization: { type: "Docker", details } },
      ],
    });
    expect(response.status).toBe(200);
    expect(response.data.virtualization).toEqual({ type: "Kvm", details: {} });
    expect(response.data.services.map((service: JsonRecord) => service.virtualization)).toEqual([
      { type: "Docker", details: { container_name: "shop" } },
      { type: "Docker", details: { container_name: "shop" } },
    ]);
    expect(writtenIn()).toEqual({
      "Updated host": 1,
      "Updated service": 1,
      "Created service": 1,
      "Deleted service": 1,
    });
  });

  test("may belong to the host itself, and is deleted with it", async () => {
    const host = await newHost({
      services: [
        { name: "docker", service_definition: "Docker" },
        { name: "Shop", service_definition: "nginx" },
      ],
    });
    const [engine, shop] = host.services;
    const named = { virtualization: { type: "Docker", details: { service_id: engine.id } } };
    const response = await updateHost(host, {
      virtualization: { type: "Kvm", details: { service_id: shop.id } },
      services: [
        { ...engine, ...named },
        { ...shop, ...named },
      ],
    });
    expect(response.data.services).toMatchObject([named, named]);
    await expectOk(owner.delete(`hosts/${host.id}`));
    expect(writtenIn()).toEqual({ "Deleted host": 1, "Deleted service": 2 });
  });
});

describe("the interfaces of a new host", () => {
  test("may refer to an address and another interface of the same request", async () => {
    const vlan = await newVlan();
    const addressId = "0190a000-0000-4000-8000-0000000000a1";
    const host = await newHost({
      ip_addresses: [{ id: addressId, ip_address: "10.2.3.4" }],
      interfaces: [
        {
          id: PORT_A,
          if_index: 1,
          if_descr: "eth0",
          ip_address_id: addressId,
          native_vlan_id: vlan.id,
          fdb_macs: ["00:00:00:00:00:02", "00:00:00:00:00:01"],
        },
        { if_index: 2, if_descr: "eth1", neighbor: { type: "IfEntry", id: PORT_A }, vlan_ids: [vlan.id, vlan.id] },
      ],
    });
    expect(host.interfaces).toMatchObject([
      { id: PORT_A, ip_address_id: addressId },
      { neighbor: { type: "IfEntry", id: PORT_A } },
    ]);
    expect(writtenIn()).toEqual({
      "Created host": 1,
      "Created ip_address": 1,
      "Created if_entry": 2,
      "Created fdb_entry": 2,
    });
    const listed = (await owner.get(`if-entries?host_id=${host.id}`)).data;
    expect(listed).toMatchObject([
      { native_vlan_id: vlan.id, fdb_macs: ["00:00:00:00:00:01", "00:00:00:00:00:02"] },
      { vlan_ids: [vlan.id] },
    ]);
  });

  test("have distinct if_index values, and errors name the index in the list", async () => {
    const otherHost = await newHost({ ip_addresses: [{ ip_address: "10.2.3.4" }] });
    const before = transactions();
    const post = (interfaces: JsonRecord[]) =>
      owner.post("hosts", { network_id: networkId, name: "never", interfaces });
    const duplicates = await post([
      { if_index: 7, if_descr: "a" },
      { if_index: 8, if_descr: "b" },
      { if_index: 7, if_descr: "c" },
      { if_index: 8, if_descr: "d", host_id: otherHost.id, network_id: UNKNOWN_ID },
    ]);
    expect(duplicates.body.params.issues.map((issue: JsonRecord) => issue.path)).toEqual(
      "/interfaces/2 /interfaces/3 /interfaces/3/host_id /interfaces/3/network_id".split(" "),
    );
    for (const [field, value, entity] of [
      ["ip_address_id", otherHost.ip_addresses[0].id, "ip_address"],
      ["native_vlan_id", UNKNOWN_ID, "vlan"],
    ] as const) {
      expect(
        await post([
          { if_index: 1, if_descr: "a" },
          { if_index: 2, if_descr: "b", [field]: value },
        ]),
      ).toMatchObject(
        refusal(400, "entity_reference_invalid", { entity, field: `interfaces/1/${field}`, ids: [value] }),
      );
    }
    expect(transactions()).toBe(before);
  });
});

describe("a refused host", () => {
  const create = (body: object, caller: Client = owner) =>
    caller.post("hosts", { network_id: networkId, name: "never", ...body });
  const issues = (response: { body: JsonRecord }) =>
    response.body.params.issues.map((issue: JsonRecord) => [issue.path, issue.value, issue.code]);
  const unknown = (...paths: string[]) => paths.map((path) => [path, UNKNOWN_ID, "entity_reference_invalid"]);
  const wrongReferences = {
    tags: [UNKNOWN_ID],
    virtualization: { type: "Kvm", details: { service_id: UNKNOWN_ID } },
    ports: [tcp(80)],
    ip_addresses: [{ ip_address: "10.2.3.4", subnet_id: UNKNOWN_ID }, { ip_address: "10.2.3.5" }],
    services: [
      {
        name: "a",
        service_definition: "A",
        tags: [UNKNOWN_ID],
        virtualization: { type: "Docker", details: { service_id: UNKNOWN_ID } },
        bindings: [{ type: "Port", port_id: UNKNOWN_ID, ip_address_id: UNKNOWN_ID }],
      },
      { name: "b", service_definition: "B", tags: [UNKNOWN_ID] },
    ],
    credential_assignments: [{ credential_id: UNKNOWN_ID, ip_address_ids: [UNKNOWN_ID] }],
  };
  const REFERENCES = [
    ..."/ip_addresses/0/subnet_id /services/0/virtualization/details/service_id".split(" "),
    ..."/services/0/tags/0 /services/0/bindings/0/port_id".split(" "),
    ..."/services/0/bindings/0/ip_address_id /services/1/tags/0".split(" "),
    ..."/credential_assignments/0/credential_id /credential_assignments/0/ip_address_ids/0".split(" "),
  ];

  test("reports errors of its lists and interfaces together, like the schema", async () => {
    const before = transactions();
    const response = await create({
      ip_addresses: [{ ip_address: "192.0.2.1" }, { ip_address: "10.2.3.4" }, { ip_address: "10.2.3.4" }],
      ports: [tcp(80), tcp(80)],
      services: [
        { name: "a", service_definition: "A", position: 1 },
        { name: "a", service_definition: "A", position: 2 },
      ],
      interfaces: [
        { if_index: 7, if_descr: "a" },
        { if_index: 7, if_descr: "b" },
      ],
    });
    expect(response).toMatchObject(refusal(400, "validation_failed"));
    expect(issues(response)).toEqual([
      ["/ip_addresses/2", { ip_address: "10.2.3.4" }, undefined],
      ["/ip_addresses/0/ip_address", "192.0.2.1", undefined],
      ["/ports/1", tcp(80), undefined],
      ["/services/1", { name: "a", service_definition: "A" }, undefined],
      ["/interfaces/1", { if_index: 7 }, undefined],
    ]);
    expect(transactions()).toBe(before);
  });

  test("reports every invalid reference, with the common code and the parameters of the first", async () => {
    const host = await newHost({ ports: wrongReferences.ports });
    const before = transactions();
    const interfaces = [
      { if_index: 1, if_descr: "a", ip_address_id: UNKNOWN_ID, native_vlan_id: UNKNOWN_ID },
      { if_index: 2, if_descr: "b", vlan_ids: [UNKNOWN_ID], neighbor: { type: "Host", id: UNKNOWN_ID } },
    ];
    const created = await create({ ...wrongReferences, interfaces });
    expect(created).toMatchObject(
      refusal(400, "entity_reference_invalid", { entity: "tag", field: "tags", ids: [UNKNOWN_ID] }),
    );
    expect(issues(created)).toEqual(
      unknown(
        "/tags/0",
        "/virtualization/details/service_id",
        ...REFERENCES,
        "/interfaces/0/ip_address_id",
        "/interfaces/0/native_vlan_id",
        "/interfaces/1/vlan_ids/0",
        "/interfaces/1/neighbor/id",
      ),
    );
    const updated = await updateHost(host, wrongReferences);
    expect(updated).toMatchObject(
      refusal(400, "entity_reference_invalid", {
        entity: "service",
        field: "virtualization/details/service_id",
        ids: [UNKNOWN_ID],
      }),
    );
    expect(issues(updated)).toEqual(unknown("/virtualization/details/service_id", "/tags/0", ...REFERENCES));
    expect(transactions()).toBe(before);
  });

  test("reports issues of several kinds as validation_failed, each with its own code", async () => {
    const host = await newHost();
    const before = transactions();
    const wrong = {
      organization_id: UNKNOWN_ID,
      tags: [UNKNOWN_ID],
      ports: [tcp(80, host.id), { ...tcp(81), host_id: UNKNOWN_ID }],
    };
    for (const response of [await create(wrong), await updateHost(host, wrong)]) {
      expect(response).toMatchObject(refusal(400, "validation_failed"));
      expect(response.body.params).toEqual({ issues: expect.any(Array) });
      expect(issues(response).toSorted()).toEqual([
        ["/organization_id", UNKNOWN_ID, "entity_access_denied"],
        ["/ports/0/id", host.id, "entity_already_exists"],
        ["/ports/1/host_id", UNKNOWN_ID, "validation_failed"],
        ["/tags/0", UNKNOWN_ID, "entity_reference_invalid"],
      ]);
    }
    expect(transactions()).toBe(before);
  });

  test("reports a single issue with its own code and parameters", async () => {
    const otherHost = await newHost();
    expect(await create({ organization_id: UNKNOWN_ID })).toMatchObject(
      refusal(403, "entity_access_denied", { field: "organization_id", value: UNKNOWN_ID }),
    );
    expect(await create({ interfaces: [{ if_index: 1, if_descr: "a", organization_id: UNKNOWN_ID }] })).toMatchObject(
      refusal(403, "entity_access_denied"),
    );
    for (const response of [
      await create({ tags: [UNKNOWN_ID] }),
      await create({ interfaces: [{ id: otherHost.id, if_index: 1, if_descr: "a" }] }),
    ])
      expect(response.body.params).not.toHaveProperty("issues");
    const { client: member } = await newMember();
    expect(
      await create({ credential_assignments: [{ credential_id: UNKNOWN_ID, ip_address_ids: [UNKNOWN_ID] }] }, member),
    ).toMatchObject(refusal(403, "auth_permission_denied", { required: "Admin" }));
  });

  test.each<[string, JsonRecord, JsonRecord]>([
    ["outside every subnet", { ip_address: "192.0.2.1" }, { path: "/ip_addresses/0/ip_address" }],
    [
      "in a subnet that does not contain it",
      { ip_address: "10.2.4.4", subnet_id: "narrow" },
      { path: "/ip_addresses/0/subnet_id" },
    ],
  ])("omits errors that follow from an address %s", async (_case, address, issue) => {
    const credential = await newCredential();
    const id = "0190a000-0000-4000-8000-0000000000a1";
    const subnet_id = address.subnet_id === undefined ? null : await subnetId("10.2.3.0/24");
    const response = await create({
      ip_addresses: [{ id, ...address, subnet_id }],
      services: [{ name: "a", service_definition: "A", bindings: [{ type: "IpAddress", ip_address_id: id }] }],
      interfaces: [{ if_index: 1, if_descr: "a", ip_address_id: id }],
      credential_assignments: [{ credential_id: credential.id, ip_address_ids: [id] }],
    });
    expect(response).toMatchObject(invalid(issue));
    expect(response.body.params.issues).toHaveLength(1);
  });

  test("omits errors that follow from a child's reused id, or from a service's invalid tags", async () => {
    const [credential, otherHost] = [await newCredential(), await newHost()];
    const hypervisor = "0190a000-0000-4000-8000-0000000000b1";
    const response = await create({
      ip_addresses: [{ id: otherHost.id, ip_address: "10.2.3.4" }],
      ports: [tcp(80, networkId)],
      services: [
        {
          id: hypervisor,
          name: "a",
          service_definition: "A",
          tags: [UNKNOWN_ID],
          bindings: [{ type: "Port", port_id: networkId, ip_address_id: otherHost.id }],
        },
        { name: "b", service_definition: "B", virtualization: { type: "Docker", details: { service_id: hypervisor } } },
      ],
      interfaces: [{ if_index: 1, if_descr: "a", ip_address_id: otherHost.id }],
      credential_assignments: [{ credential_id: credential.id, ip_address_ids: [otherHost.id] }],
    });
    expect(issues(response)).toEqual([
      ["/ip_addresses/0/id", otherHost.id, "entity_already_exists"],
      ["/ports/0/id", networkId, "entity_already_exists"],
      ["/services/0/tags/0", UNKNOWN_ID, "entity_reference_invalid"],
    ]);
  });
});

describe("deleting a host", () => {
  test.each([[""], ["?cascade=true"], ["?cascade=false"]])(
    "removes owned records and clears references to it, in one transaction%s",
    async (query) => {
      const credential = await newCredential({ assigned_network_ids: [networkId] });
      const deletedHost = await newHost({
        credential_assignments: [{ credential_id: credential.id }],
        ip_addresses: [{ ip_address: "10.2.3.4" }, { ip_address: "10.2.3.5" }],
        ports: [tcp(443, PORT_A)],
        services: [{ name: "pve", service_definition: "Proxmox", bindings: [onPort(PORT_A)] }],
        interfaces: [
          {
            id: PORT_B,
            if_index: 1,
            if_descr: "eth0",
            fdb_macs: ["00:00:00:00:00:01", "00:00:00:00:00:02", "00:00:00:00:00:03"],
          },
        ],
      });
      const guest = await newHost({
        virtualization: { type: "Proxmox", details: { service_id: deletedHost.services[0].id } },
      });
      const far = await newHost({
        interfaces: [
          { if_index: 1, if_descr: "to the host", neighbor: { type: "Host", id: deletedHost.id } },
          { if_index: 2, if_descr: "to its port", neighbor: { type: "IfEntry", id: PORT_B } },
          { if_index: 3, if_descr: "elsewhere", neighbor: { type: "Host", id: guest.id } },
        ],
      });
      const before = transactions();
      const closed = await expectOk(owner.delete(`hosts/${deletedHost.id}${query}`));
      expect(transactions()).toBe(before + 1);
      expect(writtenIn()).toEqual({
        "Deleted host": 1,
        "Deleted ip_address": 2,
        "Deleted port": 1,
        "Deleted service": 1,
        "Deleted binding": 1,
        "Deleted if_entry": 1,
        "Deleted fdb_entry": 3,
        "Deleted credential_assignment": 1,
        "Updated credential": 1,
        "Updated host": 2,
        "Updated if_entry": 2,
      });
      expect(closed).toMatchObject({
        ...pick([deletedHost], "name", "updated_at", "credential_assignments")[0],
        valid_to: closed.valid_to,
      });
      for (const list of ["ip_addresses", "ports", "services", "interfaces"])
        expect(closed[list].map((item: JsonRecord) => item.valid_to)).toEqual(
          deletedHost[list].map(() => closed.valid_to),
        );
      expect((await readHost(far.id)).interfaces.map((entry: JsonRecord) => entry.neighbor)).toEqual([
        null,
        null,
        { type: "Host", id: guest.id },
      ]);
      expect((await readHost(guest.id)).virtualization).toEqual({ type: "Proxmox", details: {} });
      // Its past state, and the references to it, remain readable as of then.
      expect((await readHost(far.id, far.updated_at)).interfaces).toMatchObject(
        far.interfaces.map((entry: JsonRecord) => ({ id: entry.id, neighbor: entry.neighbor })),
      );
      expect(await readHost(deletedHost.id, deletedHost.updated_at)).toEqual(closed);
    },
  );

  test("deletes all hosts that refer to each other, each returned in its last state", async () => {
    const [host, otherHost] = [
      await newHost({ services: [{ name: "pve", service_definition: "Proxmox" }] }),
      await newHost(),
    ];
    const guest = await newHost({
      virtualization: { type: "Proxmox", details: { service_id: host.services[0].id } },
      interfaces: [{ if_index: 1, if_descr: "eth0", neighbor: { type: "Host", id: host.id } }],
    });
    await newIfEntry(host.id, { neighbor: { type: "IfEntry", id: guest.interfaces[0].id } });
    const named = await newIfEntry(otherHost.id, { neighbor: { type: "Host", id: guest.id } });
    const open = [await readHost(host.id), await readHost(guest.id)];
    const before = transactions();
    const closed = await expectOk(owner.post("hosts/bulk-delete", [guest.id, host.id]));
    expect(transactions()).toBe(before + 1);
    expect(writtenIn()).toEqual({
      "Deleted host": 2,
      "Deleted service": 1,
      "Deleted if_entry": 2,
      "Updated if_entry": 1,
      "Updated host": 1,
    });
    const end = closed[0].valid_to;
    const withEnd = (parts: JsonRecord[]) => parts.map((part) => ({ ...part, valid_to: end }));
    expect(closed).toEqual(
      open.map((host) => ({
        ...host,
        valid_to: end,
        services: withEnd(host.services),
        interfaces: withEnd(host.interfaces),
      })),
    );
    expect((await readHost(otherHost.id)).interfaces).toMatchObject([{ id: named.id, neighbor: null }]);
  });

  test("gives a re-created host its lineage, but not its former children", async () => {
    const body = { name: "web-9", ports: [tcp(22)], interfaces: [{ if_index: 1, if_descr: "eth0" }] };
    const first = await newHost(body);
    await expectOk(owner.delete(`hosts/${first.id}`));
    const recreated = await newHost(body);
    expect(recreated).toMatchObject({
      lineage_id: first.id,
      ports: [{ lineage_id: null }],
      interfaces: [{ lineage_id: null }],
    });
  });

  test("accepts cascade=true or false and nothing else", async () => {
    const host = await newHost();
    expect(await owner.delete(`hosts/${host.id}?cascade=1`)).toMatchObject(invalid({ path: "/cascade", value: "1" }));
    expect(await readHost(host.id)).toEqual(host);
  });
});

describe("a host with many parts", () => {
  const many = <T>(count: number, item: (number: number) => T): T[] =>
    Array.from({ length: count }, (_, position) => item(position));

  test.each<[string, (number: number) => unknown]>([
    ["ip_addresses", (n) => ({ ip_address: `10.2.${n >> 8}.${n & 255}` })],
    ["ports", (n) => tcp(n + 1)],
    ["services", (n) => ({ name: `s${n}`, service_definition: "s" })],
    ["interfaces", (n) => ({ if_index: n + 1, if_descr: "port" })],
    ["credential_assignments", () => ({ credential_id: UNKNOWN_ID })],
  ])("has at most 10,000 %s", async (list, item) => {
    const before = transactions();
    expect(
      await owner.post("hosts", { network_id: networkId, name: "never", [list]: many(10_001, item) }),
    ).toMatchObject(invalid({ path: `/${list}`, message: expect.stringContaining("10000") }));
    expect(transactions()).toBe(before);
  });

  test("has at most 10,000 bindings per service", async () => {
    const services = [{ name: "s", service_definition: "s", bindings: many(10_001, () => onPort(PORT_A)) }];
    expect(await owner.post("hosts", { network_id: networkId, name: "never", services })).toMatchObject(
      invalid({ path: "/services/0/bindings" }),
    );
  });

  test("accepts 10,000 ports, of which an update writes only the changed ones", async () => {
    const ports = many(10_000, (n) => tcp(n + 1));
    const host = await newHost({ ports });
    expect(writtenIn()).toEqual({ "Created host": 1, "Created port": 10_000 });
    expect(host.ports.map((port: JsonRecord) => port.number)).toEqual(ports.map((port) => port.number));
    const response = await updateHost(host, { ports: [...ports.slice(3), udp(60_000)] });
    expect(writtenIn()).toEqual({ "Deleted port": 3, "Created port": 1, "Updated host": 1 });
    expect(response.data.ports).toHaveLength(9_998);
    await expectOk(owner.delete(`hosts/${host.id}`));
    expect(writtenIn()).toEqual({ "Deleted host": 1, "Deleted port": 9_998 });
  });
});

describe("the locks of an update", () => {
  test("all apply, If-Match first", async () => {
    const host = await newHost();
    const stale = {
      expected: host.updated_at,
      tag: (await owner.get(`hosts/${host.id}`)).headers.get("etag") as string,
    };
    // By a path other than the host's: a change to a child also changes the host.
    await newIfEntry(host.id);
    const read = await owner.get(`hosts/${host.id}`);
    const fresh = { expected: read.data.updated_at, tag: read.headers.get("etag") as string };
    expect(fresh.tag).not.toBe(stale.tag);
    const before = transactions();
    const attempt = (expected: string | null, tag: string, changes: object = { name: "never" }) =>
      updateHost(host, { ...changes, expected_updated_at: expected }, { "if-match": tag });
    expect(await attempt(fresh.expected, stale.tag)).toMatchObject(refusal(412, "precondition_failed"));
    expect(await attempt(stale.expected, stale.tag)).toMatchObject(refusal(412, "precondition_failed"));
    expect(await attempt(stale.expected, fresh.tag)).toMatchObject(
      refusal(409, "entity_stale", { entity: "host", expected: stale.expected, actual: fresh.expected }),
    );
    expect(await attempt(stale.expected, "*")).toMatchObject(refusal(409, "entity_stale"));
    expect(await attempt(null, stale.tag)).toMatchObject({ status: 412 });
    // Even without an effective change.
    expect(await attempt(stale.expected, fresh.tag, {})).toMatchObject({ status: 409 });
    expect(transactions()).toBe(before);
    expect(await attempt(fresh.expected, fresh.tag, { name: "both" })).toMatchObject({
      status: 200,
      data: { name: "both" },
    });
    expect(await attempt(null, "*", { name: "neither" })).toMatchObject({ status: 200, data: { name: "neither" } });
  });

  test("are not checked for a host the caller cannot see", async () => {
    const host = await newHost();
    const { client } = await newUser({ role: "Member" });
    expect(
      await client.put(
        `hosts/${host.id}`,
        { ...host, expected_updated_at: "2001-01-01T00:00:00Z" },
        { "if-match": '"1"' },
      ),
    ).toMatchObject(refusal(404, "entity_not_found"));
  });

  test("accept the same lock again after a write that changes nothing", async () => {
    const host = await newHost();
    for (let round = 0; round < 2; round += 1)
      expect((await updateHost(host, { expected_updated_at: host.updated_at })).status).toBe(200);
  });
});

describe("an update of a host", () => {
  let host: JsonRecord;
  let credential: JsonRecord;
  let tag: JsonRecord;

  beforeEach(async () => {
    [credential, tag] = [await newCredential(), await newTag()];
    const addressId = "0190a000-0000-4000-8000-0000000000a1";
    host = await newHost({
      credential_assignments: [{ credential_id: credential.id, ip_address_ids: [addressId] }],
      ip_addresses: [{ id: addressId, ip_address: "10.2.3.4" }, { ip_address: "10.2.3.5" }],
      ports: [tcp(80, PORT_A), tcp(443, PORT_B)],
      services: [
        {
          name: "a",
          service_definition: "A",
          bindings: [onPort(PORT_A), { type: "Port", port_id: PORT_A, ip_address_id: addressId }, onPort(PORT_B)],
        },
        { name: "b", service_definition: "B", bindings: [{ type: "IpAddress", ip_address_id: addressId }] },
      ],
      interfaces: [{ if_index: 1, if_descr: "eth0", ip_address_id: addressId }],
    });
  });

  const withChanged = (list: string, position: number, changes: JsonRecord) => ({
    [list]: host[list].map((item: JsonRecord, index: number) => (index === position ? { ...item, ...changes } : item)),
  });
  const without = (list: string, position: number) => ({
    [list]: host[list].filter((_: JsonRecord, index: number) => index !== position),
  });

  test.each<[string, () => JsonRecord, Record<string, number>, string[]]>([
    ["a name", () => ({ name: "renamed" }), {}, ["name"]],
    ["tags", () => ({ tags: [tag.id] }), {}, ["tags"]],
    ["several fields", () => ({ name: "renamed", hidden: true, sys_name: "s" }), {}, ["hidden", "name", "sys_name"]],
    [
      "an address's name",
      () => withChanged("ip_addresses", 1, { name: "lan" }),
      { "Updated ip_address": 1 },
      ["ip_addresses"],
    ],
    ["a new port", () => ({ ports: [...host.ports, tcp(22)] }), { "Created port": 1 }, ["ports"]],
    [
      "two ports that swap numbers",
      () => ({ ports: [tcp(443, PORT_A), tcp(80, PORT_B)] }),
      { "Updated port": 2 },
      ["ports"],
    ],
    [
      "a removed port, with its bindings",
      () => without("ports", 0),
      { "Deleted port": 1, "Deleted binding": 2, "Updated service": 1 },
      ["ports", "services"],
    ],
    [
      "a service's definition",
      () => withChanged("services", 1, { service_definition: "C" }),
      { "Updated service": 1 },
      ["services"],
    ],
    [
      "a removed service, with its bindings",
      () => without("services", 0),
      { "Deleted service": 1, "Deleted binding": 3 },
      ["services"],
    ],
    [
      "an added binding",
      () => withChanged("services", 1, { bindings: [...host.services[1].bindings, onPort(PORT_B)] }),
      { "Created binding": 1, "Updated service": 1 },
      ["services"],
    ],
    [
      "a moved binding",
      () =>
        withChanged("services", 1, {
          bindings: [{ ...host.services[1].bindings[0], ip_address_id: host.ip_addresses[1].id }],
        }),
      { "Updated binding": 1, "Updated service": 1 },
      ["services"],
    ],
    [
      "changed addresses of an assignment",
      () => ({ credential_assignments: [{ credential_id: credential.id }] }),
      { "Updated credential_assignment": 1, "Updated credential": 1 },
      ["credential_assignments"],
    ],
    [
      "a removed assignment",
      () => ({ credential_assignments: [] }),
      { "Deleted credential_assignment": 1, "Updated credential": 1 },
      ["credential_assignments"],
    ],
    [
      "a removed address, with everything that refers to it",
      () => without("ip_addresses", 0),
      {
        "Deleted ip_address": 1,
        "Deleted binding": 2,
        "Updated service": 2,
        "Updated if_entry": 1,
        "Deleted credential_assignment": 1,
        "Updated credential": 1,
      },
      ["credential_assignments", "interfaces", "ip_addresses", "services"],
    ],
    [
      "everything at once",
      () => ({
        name: "renamed",
        ip_addresses: [{ ip_address: "10.2.3.6" }],
        ports: [],
        services: [],
        credential_assignments: [],
      }),
      {
        "Created ip_address": 1,
        "Deleted ip_address": 2,
        "Deleted port": 2,
        "Deleted service": 2,
        "Deleted binding": 4,
        "Updated if_entry": 1,
        "Deleted credential_assignment": 1,
        "Updated credential": 1,
      },
      ["credential_assignments", "interfaces", "ip_addresses", "name", "ports", "services"],
    ],
  ])(
    "writes exactly the necessary versions for %s, and one of the host with the changed fields",
    async (_case, changes, written, changed) => {
      const before = transactions();
      const response = await updateHost(host as { id: string }, { ...host, ...changes() });
      expect(response.status).toBe(200);
      expect(transactions()).toBe(before + 1);
      expect(writtenIn()).toEqual({ "Updated host": 1, ...written });
      expect(versionsOf(host.id).at(-1)).toMatchObject({ operation: "Updated", sequence: before + 1, changed });
      expect(response.data.updated_at).toBe(versionsOf(host.id).at(-1)?.valid_from as string);
      // Unchanged children keep their version, and the past state remains readable.
      const allRecords = (host: JsonRecord) => [
        host,
        ...["ip_addresses", "ports", "services", "interfaces"].flatMap((list) => host[list] as JsonRecord[]),
        ...host.services.flatMap((service: JsonRecord) => service.bindings),
      ];
      const newVersions = allRecords(response.data).filter((record) => record.valid_from === response.data.updated_at);
      const [updates, creations] = ["Updated", "Created"].map((operation) =>
        Object.entries(written)
          .filter(([name]) => name.startsWith(operation) && !name.includes("credential"))
          .reduce((sum, [, count]) => sum + count, 0),
      ) as [number, number];
      expect(newVersions).toHaveLength(1 + updates + creations);
      const past = await readHost(host.id, host.updated_at);
      expect(allRecords(past).map((record) => record.id)).toEqual(allRecords(host).map((record) => record.id));
      expect(past.credential_assignments).toEqual(host.credential_assignments);
    },
  );

  test.each<[string, () => JsonRecord]>([
    [
      "the same in another order",
      () => Object.fromEntries(["ip_addresses", "ports", "services"].map((list) => [list, host[list].toReversed()])),
    ],
    [
      "bare items",
      () => ({
        ip_addresses: host.ip_addresses.map(({ ip_address }: JsonRecord) => ({ ip_address })),
        ports: host.ports.map(({ number, protocol }: JsonRecord) => ({ number, protocol })),
      }),
    ],
    [
      "nulls",
      () => ({
        ip_addresses: null,
        ports: null,
        services: null,
        credential_assignments: null,
        expected_updated_at: null,
      }),
    ],
    [
      "other notations of its addresses and ids",
      () => ({
        id: host.id.toUpperCase(),
        ...withChanged("ip_addresses", 0, { ip_address: "10.2.3.4", id: host.ip_addresses[0].id.toUpperCase() }),
      }),
    ],
    [
      "different interfaces and read-only fields",
      () => ({
        interfaces: [],
        created_at: null,
        source: { type: "System" },
        last_seen_at: 7,
        chassis_id: "x",
        lineage_id: "y",
      }),
    ],
  ])("writes nothing for %s", async (_case, changes) => {
    const before = transactions();
    const response = await updateHost(host as { id: string }, { ...host, ...changes() });
    expect(response.status).toBe(200);
    expect(response.data).toEqual(host);
    expect(transactions()).toBe(before);
  });

  test("writes nothing if any part is refused, whatever else would have changed", async () => {
    const rest = { name: "never", ports: [], services: [], ip_addresses: [] };
    const before = transactions();
    for (const [changes, status] of [
      [{ tags: [UNKNOWN_ID] }, 400],
      [{ ports: [tcp(1), tcp(1)] }, 400],
      [{ ip_addresses: [{ ip_address: "192.0.2.1" }] }, 400],
      [{ credential_assignments: [{ credential_id: UNKNOWN_ID }] }, 400],
      [{ services: [{ id: networkId, name: "s", service_definition: "s" }] }, 409],
      [{ expected_updated_at: "2001-01-01T00:00:00Z" }, 409],
    ] as const) {
      expect((await updateHost(host as { id: string }, { ...host, ...rest, ...changes })).status).toBe(status);
    }
    const { client: member } = await newMember();
    const forbidden = await member.put(`hosts/${host.id}`, {
      ...host,
      ...rest,
      ip_addresses: null,
      credential_assignments: [],
    });
    expect(forbidden).toMatchObject(refusal(403, "auth_permission_denied", { required: "Admin", actual: "Member" }));
    expect(transactions()).toBe(before + 1);
    expect(await readHost(host.id)).toEqual(host);
  });

  test("writes a Member's change if the assignments are sent back unchanged, and an Admin's changes to them", async () => {
    const { client: member } = await newMember();
    const { client: admin } = await newUser({ role: "Admin" });
    await expectOk(member.put(`hosts/${host.id}`, { ...host, name: "renamed" }));
    expect(writtenIn()).toEqual({ "Updated host": 1 });
    await expectOk(admin.put(`hosts/${host.id}`, { ...host, name: "renamed", credential_assignments: [] }));
    expect(writtenIn()).toEqual({ "Updated host": 1, "Deleted credential_assignment": 1, "Updated credential": 1 });
  });
});

describe("a host's asset tag", () => {
  const put = (host: JsonRecord, fields: object) =>
    expectOk(owner.put(`hosts/${host.id}`, { id: host.id, name: host.name, hidden: false, tags: [], ...fields }));

  test("has 1 to 255 characters or is null; it is preserved when omitted, and has history", async () => {
    const host = await newHost();
    expect(host).toMatchObject({ asset_tag: null });
    for (const [value, status] of [
      ["x".repeat(255), 200],
      ["x".repeat(256), 400],
      ["", 400],
      [" ", 400],
      ["a\nb", 400],
      [7, 400],
      [null, 200],
      ["NL-0042", 200],
    ] as const) {
      expect(
        (
          await owner.put(`hosts/${host.id}`, {
            id: host.id,
            name: host.name,
            hidden: false,
            tags: [],
            asset_tag: value,
          })
        ).status,
      ).toBe(status);
    }
    expect(await put(host, { name: "renamed" })).toMatchObject({ asset_tag: "NL-0042" });
    expect(versionsOf(host.id).map(({ changed }) => changed)).toEqual([
      null,
      ["asset_tag"],
      ["asset_tag"],
      ["asset_tag"],
      ["name"],
    ]);
    await expectOk(owner.post("hosts/bulk", [{ id: host.id, name: "renamed", asset_tag: "NL-0043" }]));
    expect(await expectOk(owner.get(`hosts/${host.id}`))).toMatchObject({ asset_tag: "NL-0043" });
  });

  test("is searchable and a table column, even at past timestamps", async () => {
    const host = await newHost({ asset_tag: "INV-2026/0042" });
    const at = instant();
    await put(host, { asset_tag: "INV-2026/0099" });
    const found = async (query: string) =>
      ((await owner.get(`hosts?include_children=false&${query}`)).data as JsonRecord[]).map(({ id }) => id);
    for (const word of ["inv-2026/0042", "0042"]) {
      expect(await found(`search=${word}&at=${at}`)).toEqual([host.id]);
      expect(await found(`search=${word}`)).toEqual([]);
    }
    expect(await found("search=0099")).toEqual([host.id]);
    const { text } = await owner.get(`hosts/export/csv?at=${at}`);
    expect(csvRecords(text)).toMatchObject([{ id: host.id, asset_tag: "INV-2026/0042" }]);
  });
});

describe("a single host", () => {
  const PARTS = ["interfaces", "ip_addresses", "ports", "services"];

  test("has the version and ETag of the complete host even without its children, usable as a lock", async () => {
    const host = await newHost({ ip_addresses: [{ ip_address: "10.2.3.4" }], ports: [tcp(22)] });
    const full = await owner.get(`hosts/${host.id}`);
    const withoutChildren = await owner.get(`hosts/${host.id}?include_children=false`);
    const { interfaces, ip_addresses, ports, services, ...hostFields } = full.data;
    expect(withoutChildren.data).toEqual(hostFields);
    expect([ip_addresses, ports].map((list) => list.length)).toEqual([1, 1]);
    const tag = withoutChildren.headers.get("etag") as string;
    expect(tag).toBe(full.headers.get("etag") as string);
    const head = await owner.send("HEAD", `hosts/${host.id}?include_children=false`);
    expect(head.headers.get("etag")).toBe(tag);
    const conditional = { "if-none-match": tag };
    expect((await owner.get(`hosts/${host.id}?include_children=false`, conditional)).status).toBe(304);
    await expectOk(owner.put(`hosts/${host.id}`, { ...hostFields, name: "renamed" }, { "if-match": tag }));
    expect((await owner.get(`hosts/${host.id}?include_children=false`, conditional)).status).toBe(200);
  });

  test("has child counts as of the timestamp, alone or in a list", async () => {
    const empty = await newHost();
    const host = await newHost({
      ip_addresses: [{ ip_address: "10.2.3.4" }, { ip_address: "10.2.3.5" }],
      ports: [tcp(22), tcp(80), udp(161)],
      services: [{ name: "shell", service_definition: "Ssh" }],
    });
    await newIfEntry(host.id);
    const at = instant();
    const readCounts = async (id: string, query = "") => {
      const { data } = await owner.get(`hosts/${id}?include=counts${query}`);
      for (const list of PARTS) expect(data).not.toHaveProperty(list);
      expect(await owner.get(`hosts?ids=${id}&include=counts${query}`)).toMatchObject({ data: [data] });
      const full = await owner.get(`hosts/${id}?${query}`);
      for (const list of PARTS) expect(full.data[list]).toHaveLength(data.counts[list]);
      return data.counts;
    };
    const before = { interfaces: 1, ip_addresses: 2, ports: 3, services: 1, components: 0 };
    expect(await readCounts(host.id)).toEqual(before);
    expect(await readCounts(empty.id)).toEqual({
      interfaces: 0,
      ip_addresses: 0,
      ports: 0,
      services: 0,
      components: 0,
    });
    const [preserved] = (await owner.get(`ip-addresses?host_id=${host.id}`)).data;
    await expectOk(owner.delete(`ip-addresses/${preserved.id}`));
    await newIfEntry(host.id, { if_index: 7 });
    expect(await readCounts(host.id)).toEqual({ ...before, interfaces: 2, ip_addresses: 1 });
    expect(await readCounts(host.id, `&at=${at}`)).toEqual(before);
  });

  test("has an overview: its counts, first 50 addresses and management ports, as of the timestamp", async () => {
    const host = await newHost({
      ip_addresses: Array.from({ length: 51 }, (_, index) => ({ ip_address: `10.2.3.${200 - index}` })),
      ports: [tcp(22), tcp(8080), tcp(443), udp(443)],
    });
    const at = instant();
    const readOverview = async (query = "") => {
      const { data } = await owner.get(`hosts/${host.id}?include=overview${query}`);
      expect([data]).toMatchObject((await owner.get(`hosts?ids=${host.id}&include=overview${query}`)).data);
      expect(data.ip_addresses).toEqual((await owner.get(`ip-addresses?host_id=${host.id}&limit=50${query}`)).data);
      expect([data.interfaces, data.services]).toEqual([undefined, undefined]);
      return [data.counts.ip_addresses, data.counts.ports, data.ports.map(({ number }: JsonRecord) => number)];
    };
    expect(await readOverview()).toEqual([51, 4, [22, 443]]);
    for (const { id, number } of (await owner.get(`ports?host_id=${host.id}`)).data)
      if (number === 22) await expectOk(owner.delete(`ports/${id}`));
    expect(await readOverview()).toEqual([51, 3, [443]]);
    expect(await readOverview(`&at=${at}`)).toEqual([51, 4, [22, 443]]);
  });

  test("counts only the children visible to the caller", async () => {
    const host = await newHost({ network_id: (await newNetwork()).id });
    const { client } = await newMember();
    expect((await client.get(`hosts/${host.id}?include=counts&include_children=false`)).status).toBe(404);
    expect((await owner.get(`hosts/${host.id}?include=children`)).status).toBe(400);
  });
});
