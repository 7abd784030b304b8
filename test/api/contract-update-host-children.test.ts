// Children in host updates (handbook: records, "A host and its children"): the sync rule, ip_addresses, ports,
// services and credential_assignments.

import { beforeAll, describe, expect, test } from "bun:test";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import { type JsonRecord, tcp, udp } from "../support/appliance/factories.ts";
import { hostBody } from "../support/appliance/inventory.ts";
import { expectRefusal, expectSuccess, hostShape, issuePaths, problems } from "../support/contract/shapes.ts";

const UNKNOWN = "0192f3a4-0000-7000-8000-000000000001";

const appliance = applianceForAll();
const { owner, live, newCredential, newHost, newNetwork, newSubnet } = appliance;
const { newTag, transactionCount, watchWrites, versionsOf } = appliance;

beforeAll(async () => {
  await newSubnet({ cidr: "192.0.2.0/24" });
  await newSubnet({ cidr: "192.0.2.128/25" });
  await newSubnet({ cidr: "2001:db8::/64" });
});

function put(host: JsonRecord, changes: JsonRecord) {
  return owner.put(`hosts/${host.id}`, hostBody(host, changes));
}

async function update(host: JsonRecord, changes: JsonRecord): Promise<JsonRecord> {
  const after = await expectSuccess(put(host, changes));
  expect(problems(after, hostShape)).toEqual([]);
  return after;
}

/** Asserts that an update is refused and writes nothing. */
async function expectRefused(host: JsonRecord, changes: JsonRecord, status: number, code: string) {
  const [before, stored] = [transactionCount(), await live("hosts", host.id)];
  const response = await expectRefusal(put(host, { name: "never", ...changes }), status, code);
  expect(transactionCount()).toBe(before);
  expect(await live("hosts", host.id)).toEqual(stored);
  return response;
}

/** An unused id. */
function unusedId(): string {
  return Buffer.from(appliance.random.bytes(16))
    .toString("hex")
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-4$3-8$4-$5");
}

function ids(items: JsonRecord[]): string[] {
  return items.map((item) => item.id);
}

/** Body of a service with the given fields. */
function service(fields: JsonRecord): JsonRecord {
  return { name: "s", service_definition: "S", ...fields };
}

/** An item of a list of children, distinct by number where its kind has that many values. */
function itemOf(list: string, number: number): JsonRecord {
  if (list === "ip_addresses") return { ip_address: `192.0.2.${number % 256}` };
  return list === "ports" ? tcp(1 + (number % 65_535)) : { name: `n${number}`, service_definition: "D" };
}

async function fullHost(): Promise<JsonRecord> {
  return newHost({
    ip_addresses: [
      { ip_address: "192.0.2.1", mac_address: "00:00:5e:00:53:01", name: "one", position: 1 },
      { ip_address: "192.0.2.2", position: 2 },
    ],
    ports: [tcp(80), udp(53)],
    services: [
      { name: "web", service_definition: "Nginx" },
      { name: "dns", service_definition: "Bind" },
    ],
  });
}

describe("a list of children", () => {
  for (const list of ["ip_addresses", "ports", "services"]) {
    test(`${list}: null and omitted preserve, an empty array deletes all`, async () => {
      const host = await fullHost();
      const before = transactionCount();
      expect((await update(host, { [list]: null }))[list]).toEqual(host[list]);
      expect((await update(host, {}))[list]).toEqual(host[list]);
      expect(transactionCount()).toBe(before);
      expect((await update(host, { [list]: [] }))[list]).toEqual([]);
      expect(transactionCount()).toBe(before + 1);
      for (const id of ids(host[list])) {
        expect(versionsOf(id).at(-1)?.operation.toLowerCase()).toContain("delete");
      }
    });

    test(`${list}: an omitted item is deleted, the others keep their records`, async () => {
      const host = await fullHost();
      const [retained, deleted] = host[list];
      const after = await update(host, { [list]: [retained] });
      expect(ids(after[list])).toEqual([retained.id]);
      expect(versionsOf(retained.id)).toHaveLength(1);
      expect(versionsOf(deleted.id)).toHaveLength(2);
    });

    test(`${list}: read-only fields of an item are ignored, but its ids must be the host's own`, async () => {
      const host = await fullHost();
      const items = host[list].map((item: JsonRecord) => ({
        ...item,
        created_at: "2001-01-01T00:00:00Z",
        lineage_id: UNKNOWN,
        last_seen_at: "2001-01-01T00:00:00Z",
        first_discovery_id: UNKNOWN,
      }));
      expect((await update(host, { [list]: items }))[list]).toEqual(host[list]);
      for (const field of ["host_id", "network_id"])
        expect((await put(host, { name: "never", [list]: [{ ...host[list][0], [field]: UNKNOWN }] })).status).toBe(400);
      expect((await live("hosts", host.id)).name).toBe(host.name);
    });

    test(`${list}: an item with an unused id is created with it`, async () => {
      const host = await newHost();
      const id = unusedId();
      const item = itemOf(list, 77);
      expect(ids((await update(host, { [list]: [{ ...item, id: id.toUpperCase() }] }))[list])).toEqual([id]);
    });

    test(`${list}: a deleted id is not reused`, async () => {
      const host = await fullHost();
      const [first] = host[list];
      await update(host, { [list]: [] });
      const item = itemOf(list, 79);
      await expectRefused(host, { [list]: [{ ...item, id: first.id }] }, 409, "entity_already_exists");
    });

    test(`${list}: a new id on an existing item resolves to the same record`, async () => {
      const host = await fullHost();
      const items = host[list].map((item: JsonRecord) => ({ ...item, id: unusedId() }));
      expect(ids((await update(host, { [list]: items }))[list])).toEqual(ids(host[list]));
    });

    test(`${list}: a re-created item has a new id and the lineage of the first one`, async () => {
      const host = await fullHost();
      const [first] = host[list];
      const { id: _, ...resent } = first;
      for (let round = 0; round < 2; round++) {
        await update(host, { [list]: [] });
        const [recreated] = (await update(host, { [list]: [resent] }))[list];
        expect(recreated.id).not.toBe(first.id);
        expect(recreated.lineage_id).toBe(first.id);
      }
    });

    test(`${list}: at most 10,000`, async () => {
      const host = await newHost();
      const items = Array.from({ length: 10_001 }, (_, n) => itemOf(list, n));
      expect(await issuePaths(put(host, { [list]: items }))).toEqual([`/${list}`]);
    });
  }
});

describe("an address", () => {
  test("keeps the optional fields that its item omits", async () => {
    const host = await fullHost();
    const [address] = host.ip_addresses;
    expect(
      (await update(host, { ip_addresses: [{ id: address.id, ip_address: address.ip_address }] })).ip_addresses,
    ).toEqual([address]);
    const [renamed] = (await update(host, { ip_addresses: [{ ip_address: address.ip_address, name: "renamed" }] }))
      .ip_addresses;
    expect(renamed).toMatchObject({
      id: address.id,
      name: "renamed",
      mac_address: address.mac_address,
      position: 1,
      subnet_id: address.subnet_id,
    });
  });

  test("has its MAC address cleared by null", async () => {
    const host = await fullHost();
    const [address] = host.ip_addresses;
    expect(
      (await update(host, { ip_addresses: [{ id: address.id, ip_address: address.ip_address, mac_address: null }] }))
        .ip_addresses[0].mac_address,
    ).toBeNull();
  });

  test("moves to another address by its id, and stays the same record", async () => {
    const host = await fullHost();
    const [address] = host.ip_addresses;
    const [moved] = (await update(host, { ip_addresses: [{ id: address.id, ip_address: "192.0.2.200" }] }))
      .ip_addresses;
    expect([moved.id, moved.ip_address, moved.created_at]).toEqual([address.id, "192.0.2.200", address.created_at]);
    expect(versionsOf(address.id)).toHaveLength(2);
  });

  test("is refused with 400 in another network's or an unknown subnet", async () => {
    const host = await newHost();
    const network = await newNetwork();
    const foreignSubnet = await newSubnet({ network_id: network.id, cidr: "192.0.2.0/24" });
    for (const subnet_id of [foreignSubnet.id, UNKNOWN])
      await expectRefused(
        host,
        { ip_addresses: [{ ip_address: "192.0.2.5", subnet_id }] },
        400,
        "entity_reference_invalid",
      );
  });

  test("is returned in canonical form, including its MAC address", async () => {
    const host = await newHost();
    const after = await update(host, {
      ip_addresses: [
        { ip_address: "2001:DB8:0:0:0:0:0:A", mac_address: "0000.5E00.53AA" },
        { ip_address: "192.0.2.6", mac_address: "00-00-5E-00-53-AB" },
      ],
    });
    const canonical = after.ip_addresses.map((item: JsonRecord) => [item.ip_address, item.mac_address]).sort();
    expect(canonical).toEqual([
      ["192.0.2.6", "00:00:5e:00:53:ab"],
      ["2001:db8::a", "00:00:5e:00:53:aa"],
    ]);
    const same = await update(host, { ip_addresses: [{ ip_address: "2001:db8:0::a" }, { ip_address: "192.0.2.6" }] });
    expect(ids(same.ip_addresses).sort()).toEqual(ids(after.ip_addresses).sort());
  });

  test("is refused in an ambiguous notation", async () => {
    const host = await newHost();
    for (const ip_address of [
      "",
      "010.0.2.1",
      "192.0.2.01",
      "192.0.2",
      "1",
      "0xC0000201",
      "192.0.2.1/24",
      "fe80::1%eth0",
      "[2001:db8::1]",
      "::1::",
      " 192.0.2.1",
      "192.0.2.1 ",
      "192.0.2.256",
      "１９２.0.2.1",
    ]) {
      expect(await issuePaths(put(host, { ip_addresses: [{ ip_address }] }))).toEqual(["/ip_addresses/0/ip_address"]);
    }
    for (const mac_address of ["", "00:00:5e:00:53", "00:00:5e:00:53:0g", "00005e005301xx", "0:0:5e:0:53:1", 5]) {
      expect(await issuePaths(put(host, { ip_addresses: [{ ip_address: "192.0.2.7", mac_address }] }))).toEqual([
        "/ip_addresses/0/mac_address",
      ]);
    }
  });
});

describe("a port", () => {
  test("derives its type from number and protocol", async () => {
    const host = await newHost();
    const expected: Array<[number, string, string]> = [
      [22, "Tcp", "Ssh"],
      [53, "Udp", "DnsUdp"],
      [53, "Tcp", "DnsTcp"],
      [80, "Tcp", "Http"],
      [443, "Tcp", "Https"],
      [51_820, "Udp", "Wireguard"],
      [12_345, "Tcp", "Custom"],
      [161, "Udp", "Snmp"],
    ];
    const after = await update(host, { ports: expected.map(([number, protocol]) => ({ number, protocol })) });
    expect(after.ports.map((port: JsonRecord) => [port.number, port.protocol, port.type]).sort()).toEqual(
      expected.toSorted(),
    );
  });

  test("can change number and type by its id, and stays the same record", async () => {
    const host = await fullHost();
    const [http, dns] = host.ports;
    const after = await update(host, { ports: [tcp(8080, http.id), dns] });
    expect(after.ports.find((port: JsonRecord) => port.id === http.id)).toMatchObject({
      number: 8080,
      type: "Http8080",
      created_at: http.created_at,
    });
  });

  test("is typed by its number, regardless of the type sent", async () => {
    const host = await newHost();
    expect((await update(host, { ports: [{ ...tcp(22), type: "Http" }] })).ports[0].type).toBe("Ssh");
  });

  test("has a number from 1 to 65535 and a known protocol", async () => {
    const host = await newHost();
    expect((await update(host, { ports: [tcp(1), udp(65_535)] })).ports).toHaveLength(2);
    for (const number of [-1, 65_536, 1.5, "80", null, 1e300])
      expect(await issuePaths(put(host, { ports: [tcp(number)] }))).toEqual(["/ports/0/number"]);
    for (const protocol of ["tcp", "TCP", "Sctp", "", null, 6])
      expect(await issuePaths(put(host, { ports: [{ number: 80, protocol }] }))).toEqual(["/ports/0/protocol"]);
    expect(await issuePaths(put(host, { ports: [{}] }))).toEqual(["/ports/0/number", "/ports/0/protocol"]);
  });
});

describe("a service", () => {
  test("can change its name by its id, and keeps the optional fields that its item omits", async () => {
    const [tag, port_id] = [await newTag(), unusedId()];
    const kept = { position: 4, tags: [tag.id], virtualization: { type: "Podman", details: { container_id: "c" } } };
    const host = await newHost({
      ports: [tcp(80, port_id)],
      services: [service({ ...kept, bindings: [{ type: "Port", port_id, ip_address_id: null }] })],
    });
    const [{ id, bindings }] = host.services;
    const after = await update(host, { services: [{ id, name: "renamed", service_definition: "S" }] });
    expect(after.services).toMatchObject([{ ...kept, id, name: "renamed", bindings }]);
    expect(bindings).toHaveLength(1);
  });

  test("has a definition of 1 to 100 characters of free text", async () => {
    const host = await newHost();
    expect(
      (await update(host, { services: [service({ service_definition: "ü".repeat(100) })] })).services,
    ).toHaveLength(1);
    for (const service_definition of ["", "d".repeat(101), null, 5])
      expect(await issuePaths(put(host, { services: [service({ service_definition })] }))).toEqual([
        "/services/0/service_definition",
      ]);
  });

  test("is a different service if it has the same name and another definition", async () => {
    const host = await newHost({ services: [service({ service_definition: "A" })] });
    const after = await update(host, {
      services: [service({ service_definition: "A" }), service({ service_definition: "B" })],
    });
    expect(after.services).toHaveLength(2);
    expect(ids(after.services)).toContain(host.services[0].id);
  });

  test("accepts Docker and Podman, but not a host's virtualization", async () => {
    const host = await newHost();
    for (const type of ["Docker", "Podman"])
      expect(
        (await update(host, { services: [service({ virtualization: { type, details: {} } })] })).services[0]
          .virtualization,
      ).toEqual({ type, details: {} });
    await expectRefusal(
      put(host, { services: [service({ virtualization: { type: "Kvm", details: {} } })] }),
      400,
      "validation_failed",
    );
  });
});

describe("a binding", () => {
  test("may reference a port and an address of the same request", async () => {
    const host = await newHost();
    const [port_id, ip_address_id] = [unusedId(), unusedId()];
    const after = await update(host, {
      ip_addresses: [{ id: ip_address_id, ip_address: "192.0.2.30" }],
      ports: [tcp(80, port_id)],
      services: [
        service({
          bindings: [
            { type: "Port", port_id, ip_address_id },
            { type: "IpAddress", ip_address_id },
          ],
        }),
      ],
    });
    const bindings = after.services[0].bindings;
    expect(
      bindings.map(({ type, port_id: port, ip_address_id: address }: JsonRecord) => [type, port, address]).sort(),
    ).toEqual([
      ["IpAddress", null, ip_address_id],
      ["Port", port_id, ip_address_id],
    ]);
    for (const binding of bindings) expect(binding.service_id).toBe(after.services[0].id);
  });

  test("may reference an id that resolved to an existing record", async () => {
    const host = await newHost({ ports: [tcp(80)] });
    const port_id = unusedId();
    const after = await update(host, {
      ports: [tcp(80, port_id)],
      services: [service({ bindings: [{ type: "Port", port_id, ip_address_id: null }] })],
    });
    expect(after.services[0].bindings[0].port_id).toBe(host.ports[0].id);
  });

  test("is rejected with 400 for a port or address that belongs to another host, is unknown, or is deleted by this update", async () => {
    const host = await newHost({ ports: [tcp(80)], ip_addresses: [{ ip_address: "192.0.2.33" }] });
    const otherHost = await newHost({ ports: [tcp(80)], ip_addresses: [{ ip_address: "192.0.2.34" }] });
    const bound = (binding: JsonRecord) => ({ services: [service({ bindings: [binding] })] });
    const notFound = (changes: JsonRecord) => expectRefused(host, changes, 400, "entity_reference_invalid");
    for (const port_id of [otherHost.ports[0].id, UNKNOWN, host.ip_addresses[0].id])
      await notFound(bound({ type: "Port", port_id, ip_address_id: null }));
    for (const ip_address_id of [otherHost.ip_addresses[0].id, UNKNOWN, host.ports[0].id]) {
      await notFound(bound({ type: "IpAddress", ip_address_id }));
      await notFound(bound({ type: "Port", port_id: host.ports[0].id, ip_address_id }));
    }
    await notFound({ ports: [], ...bound({ type: "Port", port_id: host.ports[0].id, ip_address_id: null }) });
  });

  test("has the fields of its type, and no others", async () => {
    const host = await newHost({ ports: [tcp(80)], ip_addresses: [{ ip_address: "192.0.2.35" }] });
    const [port_id, ip_address_id] = [host.ports[0].id, host.ip_addresses[0].id];
    for (const binding of [
      {},
      { type: "port", port_id, ip_address_id },
      { type: "Port", ip_address_id },
      { type: "IpAddress" },
      { type: "IpAddress", ip_address_id: null },
      { type: "Port", port_id, ip_address_id, typo: 1 },
      { port_id },
      "Port",
      null,
    ]) {
      await expectRefusal(put(host, { services: [service({ bindings: [binding] })] }), 400, "validation_failed");
    }
  });
});

describe("credential_assignments", () => {
  test("replace all when provided; null and omitted preserve; an empty array removes all", async () => {
    const [first, second] = [await newCredential(), await newCredential()];
    const host = await newHost({ ip_addresses: [{ ip_address: "192.0.2.40" }] });
    const scoped = { credential_id: second.id, ip_address_ids: [host.ip_addresses[0].id] };
    expect(
      (await update(host, { credential_assignments: [{ credential_id: first.id }] })).credential_assignments,
    ).toEqual([{ credential_id: first.id }]);
    expect((await update(host, { credential_assignments: [scoped] })).credential_assignments).toEqual([scoped]);
    const expectNothingWritten = watchWrites();
    expect((await update(host, { credential_assignments: null })).credential_assignments).toEqual([scoped]);
    expect((await update(host, {})).credential_assignments).toEqual([scoped]);
    expectNothingWritten();
    expect((await update(host, { credential_assignments: [] })).credential_assignments).toEqual([]);
  });
});
