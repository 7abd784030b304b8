// Contract of children in host updates (handbook: records, "A host and its children"): the sync rule, ip_addresses,
// ports, services and credential_assignments.

import { beforeAll, describe, expect, test } from "bun:test";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import { onPort, tcp, udp, type Wire } from "../support/appliance/factories.ts";
import { hostBody } from "../support/appliance/inventory.ts";
import { hostShape, issuePaths, problems, refused, succeeded } from "../support/contract/shapes.ts";

const UNKNOWN = "0192f3a4-0000-7000-8000-000000000001";

const appliance = applianceForAll();
const { first, owner, signedIn } = appliance;
const { live, newCredential, newHost, newNetwork, newOrganization, newSubnet } = appliance;
const { newTag, transactionCount, writingWatched, versionsOf } = appliance;
let subnet: Wire;
let inner: Wire;

beforeAll(async () => {
  subnet = await newSubnet({ cidr: "192.0.2.0/24" });
  inner = await newSubnet({ cidr: "192.0.2.128/25" });
  await newSubnet({ cidr: "2001:db8::/64" });
});

function put(host: Wire, changes: Wire) {
  return owner.put(`hosts/${host.id}`, hostBody(host, changes));
}

async function update(host: Wire, changes: Wire): Promise<Wire> {
  const after = await succeeded(put(host, changes));
  expect(problems(after, hostShape)).toEqual([]);
  return after;
}

/** Asserts that an update is refused without any effect. */
async function refusedWhole(host: Wire, changes: Wire, status: number, code: string) {
  const [before, stored] = [transactionCount(), await live("hosts", host.id)];
  const answer = await refused(put(host, { name: "never", ...changes }), status, code);
  expect(transactionCount()).toBe(before);
  expect(await live("hosts", host.id)).toEqual(stored);
  return answer;
}

/** An unused id. */
function freshId(): string {
  return Buffer.from(appliance.random.bytes(16))
    .toString("hex")
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-4$3-8$4-$5");
}

function ids(items: Wire[]): string[] {
  return items.map((item) => item.id);
}

/** A service, with these fields. */
function service(fields: Wire): Wire {
  return { name: "s", service_definition: "S", ...fields };
}

/** An item of a list of children, distinct by number where its kind has that many values. */
function itemOf(list: string, number: number): Wire {
  if (list === "ip_addresses") return { ip_address: `192.0.2.${number % 256}` };
  return list === "ports" ? tcp(1 + (number % 65_535)) : { name: `n${number}`, service_definition: "D" };
}

async function fullHost(): Promise<Wire> {
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

    test(`${list}: the same list sent back with or without ids keeps its records, and makes no version`, async () => {
      const host = await fullHost();
      const expectNothingWritten = writingWatched();
      expect((await update(host, { [list]: host[list] }))[list]).toEqual(host[list]);
      const anonymous = host[list].map(({ ip_address, number, protocol, name, service_definition }: Wire) =>
        list === "ip_addresses"
          ? { ip_address }
          : list === "ports"
            ? { number, protocol }
            : { name, service_definition },
      );
      expect((await update(host, { [list]: anonymous }))[list]).toEqual(host[list]);
      expectNothingWritten();
    });

    test(`${list}: an omitted item is deleted, the others keep their records`, async () => {
      const host = await fullHost();
      const [kept, gone] = host[list];
      const after = await update(host, { [list]: [kept] });
      expect(ids(after[list])).toEqual([kept.id]);
      expect(versionsOf(kept.id)).toHaveLength(1);
      expect(versionsOf(gone.id)).toHaveLength(2);
    });

    test(`${list}: anything but an array of objects is refused by name`, async () => {
      const host = await fullHost();
      for (const value of ["", 5, true, {}])
        expect(await issuePaths(put(host, { [list]: value }))).toEqual([`/${list}`]);
      for (const value of [null, "a", 5, []])
        expect(await issuePaths(put(host, { [list]: [value] }))).toEqual([`/${list}/0`]);
    });

    test(`${list}: an unknown field of an item is refused by name`, async () => {
      const host = await fullHost();
      expect(await issuePaths(put(host, { [list]: [host[list][0], { ...host[list][1], tpyo: 1 }] }))).toEqual([
        `/${list}/1/tpyo`,
      ]);
    });

    test(`${list}: read-only fields of an item are ignored, but its ids must be the host's own`, async () => {
      const host = await fullHost();
      const items = host[list].map((item: Wire) => ({
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
      const id = freshId();
      const item = itemOf(list, 77);
      expect(ids((await update(host, { [list]: [{ ...item, id: id.toUpperCase() }] }))[list])).toEqual([id]);
    });

    test(`${list}: an id of another record is refused, and nothing is written`, async () => {
      const [host, other] = [await fullHost(), await fullHost()];
      const item = itemOf(list, 78);
      for (const id of [other[list][0].id, other.id, host.id, first.userId]) {
        const expectNothingWritten = writingWatched();
        const answer = await put(host, { name: "never", [list]: [{ ...item, id }] });
        expect([id, [400, 409].includes(answer.status)]).toEqual([id, true]);
        expectNothingWritten();
      }
    });

    test(`${list}: a deleted id is not reused`, async () => {
      const host = await fullHost();
      const [first] = host[list];
      await update(host, { [list]: [] });
      const item = itemOf(list, 79);
      await refusedWhole(host, { [list]: [{ ...item, id: first.id }] }, 409, "entity_already_exists");
    });

    test(`${list}: a new id on an existing item resolves to the same record`, async () => {
      const host = await fullHost();
      const items = host[list].map((item: Wire) => ({ ...item, id: freshId() }));
      expect(ids((await update(host, { [list]: items }))[list])).toEqual(ids(host[list]));
    });

    test(`${list}: a re-created item has a new id and the first one's lineage`, async () => {
      const host = await fullHost();
      const [first] = host[list];
      const { id: _, ...again } = first;
      for (let round = 0; round < 2; round++) {
        await update(host, { [list]: [] });
        const [back] = (await update(host, { [list]: [again] }))[list];
        expect(back.id).not.toBe(first.id);
        expect(back.lineage_id).toBe(first.id);
      }
    });

    test(`${list}: the order of the items is irrelevant`, async () => {
      const host = await fullHost();
      await update(host, { [list]: host[list].toReversed() });
      expect((await live("hosts", host.id))[list].map((item: Wire) => item.id).toSorted()).toEqual(
        ids(host[list]).toSorted(),
      );
    });

    test(`${list}: at most 10,000`, async () => {
      const host = await newHost();
      const items = Array.from({ length: 10_001 }, (_, n) => itemOf(list, n));
      expect(await issuePaths(put(host, { [list]: items }))).toEqual([`/${list}`]);
    });
  }

  test("of several kinds is one transaction and one version of the host, naming the kinds", async () => {
    const host = await fullHost();
    const before = transactionCount();
    const after = await update(host, { name: "all", ip_addresses: [], ports: [tcp(22)], services: [host.services[0]] });
    expect(transactionCount()).toBe(before + 1);
    const version = versionsOf(host.id).at(-1);
    expect(version?.changed?.toSorted()).toEqual(["ip_addresses", "name", "ports", "services"]);
    expect(after.ports[0].created_at).toBe(after.updated_at);
  });

  test("with one invalid item changes nothing", async () => {
    const host = await fullHost();
    await refusedWhole(host, { ip_addresses: [], ports: [tcp(0)] }, 400, "validation_failed");
    await refusedWhole(
      host,
      { ip_addresses: [], ports: [], services: [{ name: "x", service_definition: "X", tags: [UNKNOWN] }] },
      400,
      "entity_reference_invalid",
    );
  });

  test("reports all issues of all lists at once", async () => {
    const host = await fullHost();
    const paths = await issuePaths(
      put(host, {
        name: "",
        ip_addresses: [{ ip_address: "192.0.2.300" }],
        ports: [{ number: 80, protocol: "tcp" }, udp(65_536)],
        services: [{ name: "n" }],
      }),
    );
    expect(paths).toEqual(
      "/ip_addresses/0/ip_address /name /ports/0/protocol /ports/1/number /services/0/service_definition".split(" "),
    );
  });
});

describe("an address", () => {
  test("keeps the optional fields that its item omits", async () => {
    const host = await fullHost();
    const [one] = host.ip_addresses;
    expect((await update(host, { ip_addresses: [{ id: one.id, ip_address: one.ip_address }] })).ip_addresses).toEqual([
      one,
    ]);
    const [named] = (await update(host, { ip_addresses: [{ ip_address: one.ip_address, name: "renamed" }] }))
      .ip_addresses;
    expect(named).toMatchObject({
      id: one.id,
      name: "renamed",
      mac_address: one.mac_address,
      position: 1,
      subnet_id: one.subnet_id,
    });
  });

  test("loses its MAC address by null", async () => {
    const host = await fullHost();
    const [one] = host.ip_addresses;
    expect(
      (await update(host, { ip_addresses: [{ id: one.id, ip_address: one.ip_address, mac_address: null }] }))
        .ip_addresses[0].mac_address,
    ).toBeNull();
  });

  test("with a known id moves to another address and stays the same record", async () => {
    const host = await fullHost();
    const [one] = host.ip_addresses;
    const [moved] = (await update(host, { ip_addresses: [{ id: one.id, ip_address: "192.0.2.200" }] })).ip_addresses;
    expect([moved.id, moved.ip_address, moved.created_at]).toEqual([one.id, "192.0.2.200", one.created_at]);
    expect(versionsOf(one.id)).toHaveLength(2);
  });

  test("is placed in the most specific subnet that contains it", async () => {
    const host = await newHost();
    const after = await update(host, { ip_addresses: [{ ip_address: "192.0.2.127" }, { ip_address: "192.0.2.129" }] });
    const bySubnet = Object.fromEntries(after.ip_addresses.map((item: Wire) => [item.ip_address, item.subnet_id]));
    expect(bySubnet).toEqual({ "192.0.2.127": subnet.id, "192.0.2.129": inner.id });
  });

  test("outside every subnet of the network is 400", async () => {
    const host = await newHost();
    const answer = await put(host, { name: "never", ip_addresses: [{ ip_address: "203.0.113.1" }] });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain("203.0.113.1");
  });

  test("in another network's or an unknown subnet is 400", async () => {
    const host = await newHost();
    const network = await newNetwork();
    const elsewhere = await newSubnet({ network_id: network.id, cidr: "192.0.2.0/24" });
    for (const subnet_id of [elsewhere.id, UNKNOWN])
      await refusedWhole(
        host,
        { ip_addresses: [{ ip_address: "192.0.2.5", subnet_id }] },
        400,
        "entity_reference_invalid",
      );
  });

  test("is returned in canonical form, MAC address too", async () => {
    const host = await newHost();
    const after = await update(host, {
      ip_addresses: [
        { ip_address: "2001:DB8:0:0:0:0:0:A", mac_address: "0000.5E00.53AA" },
        { ip_address: "192.0.2.6", mac_address: "00-00-5E-00-53-AB" },
      ],
    });
    const shown = after.ip_addresses.map((item: Wire) => [item.ip_address, item.mac_address]).sort();
    expect(shown).toEqual([
      ["192.0.2.6", "00:00:5e:00:53:ab"],
      ["2001:db8::a", "00:00:5e:00:53:aa"],
    ]);
    const same = await update(host, { ip_addresses: [{ ip_address: "2001:db8:0::a" }, { ip_address: "192.0.2.6" }] });
    expect(ids(same.ip_addresses).sort()).toEqual(ids(after.ip_addresses).sort());
  });

  test("in an ambiguous notation is refused", async () => {
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

  test("given twice does not become two records", async () => {
    const host = await newHost();
    const answer = await put(host, { ip_addresses: [{ ip_address: "192.0.2.8" }, { ip_address: "192.0.2.8" }] });
    if (answer.status === 200) expect(answer.data.ip_addresses).toHaveLength(1);
    else expect(answer.status).toBeOneOf([400, 409]);
  });
});

describe("a port", () => {
  test("derives its type from number and protocol", async () => {
    const host = await newHost();
    const wanted: Array<[number, string, string]> = [
      [22, "Tcp", "Ssh"],
      [53, "Udp", "DnsUdp"],
      [53, "Tcp", "DnsTcp"],
      [80, "Tcp", "Http"],
      [443, "Tcp", "Https"],
      [51_820, "Udp", "Wireguard"],
      [12_345, "Tcp", "Custom"],
      [161, "Udp", "Snmp"],
    ];
    const after = await update(host, { ports: wanted.map(([number, protocol]) => ({ number, protocol })) });
    expect(after.ports.map((port: Wire) => [port.number, port.protocol, port.type]).sort()).toEqual(wanted.toSorted());
  });

  test("with a known id takes another number and its type, and stays the same record", async () => {
    const host = await fullHost();
    const [http, dns] = host.ports;
    const after = await update(host, { ports: [tcp(8080, http.id), dns] });
    expect(after.ports.find((port: Wire) => port.id === http.id)).toMatchObject({
      number: 8080,
      type: "Http8080",
      created_at: http.created_at,
    });
  });

  test("is typed by its number, whatever type is sent", async () => {
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

  test("swaps numbers with another in one update", async () => {
    const host = await newHost({ ports: [tcp(81), tcp(82)] });
    const [first, second] = host.ports;
    const after = await update(host, {
      ports: [
        { id: first.id, number: second.number, protocol: "Tcp" },
        { id: second.id, number: first.number, protocol: "Tcp" },
      ],
    });
    const numbers = Object.fromEntries(after.ports.map((port: Wire) => [port.id, port.number]));
    expect(numbers).toEqual({ [first.id]: second.number, [second.id]: first.number });
  });
});

describe("a service", () => {
  test("keeps the optional fields that its item omits", async () => {
    const tag = await newTag();
    const host = await newHost({
      ports: [tcp(80)],
      services: [
        {
          name: "web",
          service_definition: "Nginx",
          position: 4,
          tags: [tag.id],
          virtualization: { type: "Podman", details: { container_id: "c" } },
          bindings: [],
        },
      ],
    });
    const bound = await update(host, {
      services: [
        {
          name: "web",
          service_definition: "Nginx",
          bindings: [{ type: "Port", port_id: host.ports[0].id, ip_address_id: null }],
        },
      ],
    });
    const [service] = bound.services;
    expect(service).toMatchObject({
      id: host.services[0].id,
      position: 4,
      tags: [tag.id],
      virtualization: { type: "Podman", details: { container_id: "c" } },
    });
    expect(service.bindings).toHaveLength(1);
    const again = await update(host, { services: [{ id: service.id, name: "renamed", service_definition: "Nginx" }] });
    expect(again.services[0]).toMatchObject({
      id: service.id,
      name: "renamed",
      position: 4,
      tags: [tag.id],
      bindings: service.bindings,
    });
    const cleared = await update(host, {
      services: [
        { id: service.id, name: "renamed", service_definition: "Nginx", virtualization: null, tags: [], bindings: [] },
      ],
    });
    expect(cleared.services[0]).toMatchObject({ id: service.id, virtualization: null, tags: [], bindings: [] });
  });

  test("validates its tags like the host", async () => {
    const tag = await newTag();
    const host = await newHost();
    const after = await update(host, { services: [service({ tags: [tag.id, tag.id] })] });
    expect(after.services[0].tags).toEqual([tag.id]);
    const { body } = await refusedWhole(
      host,
      { services: [service({ tags: [UNKNOWN] })] },
      400,
      "entity_reference_invalid",
    );
    expect(body.params.ids).toEqual([UNKNOWN]);
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

  test("of the same name with another definition is a different service", async () => {
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
    await refused(
      put(host, { services: [service({ virtualization: { type: "Kvm", details: {} } })] }),
      400,
      "validation_failed",
    );
  });
});

describe("a binding", () => {
  test("may name a port and an address of the same request, and of no other", async () => {
    const host = await newHost();
    const [port_id, ip_address_id] = [freshId(), freshId()];
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
      bindings.map(({ type, port_id: port, ip_address_id: address }: Wire) => [type, port, address]).sort(),
    ).toEqual([
      ["IpAddress", null, ip_address_id],
      ["Port", port_id, ip_address_id],
    ]);
    for (const binding of bindings) expect(binding.service_id).toBe(after.services[0].id);
  });

  test("may name an id that resolved to an existing record", async () => {
    const host = await newHost({ ports: [tcp(80)] });
    const port_id = freshId();
    const after = await update(host, {
      ports: [tcp(80, port_id)],
      services: [service({ bindings: [{ type: "Port", port_id, ip_address_id: null }] })],
    });
    expect(after.services[0].bindings[0].port_id).toBe(host.ports[0].id);
  });

  test("is the same record when sent again, with or without its id", async () => {
    const host = await newHost({ ports: [tcp(80)] });
    const bindings = [{ type: "Port", port_id: host.ports[0].id, ip_address_id: null }];
    const after = await update(host, { services: [service({ bindings })] });
    const expectNothingWritten = writingWatched();
    expect((await update(host, { services: [service({ bindings })] })).services).toEqual(after.services);
    expect((await update(host, { services: after.services })).services).toEqual(after.services);
    expectNothingWritten();
  });

  test("without ip_address_id binds all addresses", async () => {
    const host = await newHost({ ports: [tcp(80)] });
    const after = await put(host, { services: [service({ bindings: [onPort(host.ports[0].id)] })] });
    if (after.status === 200) expect(after.data.services[0].bindings[0].ip_address_id).toBeNull();
    else expect(after.body.code).toBe("validation_failed");
  });

  test("is deleted with its port, and the service stays", async () => {
    const host = await newHost({ ports: [tcp(80), tcp(81)], ip_addresses: [{ ip_address: "192.0.2.31" }] });
    const [first, second] = host.ports;
    const bindings = [
      { type: "Port", port_id: first.id, ip_address_id: null },
      { type: "Port", port_id: second.id, ip_address_id: null },
      { type: "IpAddress", ip_address_id: host.ip_addresses[0].id },
    ];
    const bound = await update(host, { services: [service({ bindings })] });
    expect(bound.services[0].bindings).toHaveLength(3);
    const after = await update(host, { ports: [second] });
    expect(ids(after.services)).toEqual(ids(bound.services));
    expect(after.services[0].bindings.map((binding: Wire) => binding.port_id).sort()).toEqual([second.id, null].sort());
    const gone = bound.services[0].bindings.find((binding: Wire) => binding.port_id === first.id);
    expect(versionsOf(gone.id)).toHaveLength(2);
  });

  test("is deleted with its address, whether or not it named a port", async () => {
    const host = await newHost({ ports: [tcp(80)], ip_addresses: [{ ip_address: "192.0.2.32" }] });
    const [port_id, ip_address_id] = [host.ports[0].id, host.ip_addresses[0].id];
    const bindings = [
      { type: "Port", port_id, ip_address_id: null },
      { type: "Port", port_id, ip_address_id },
      { type: "IpAddress", ip_address_id },
    ];
    await update(host, { services: [service({ bindings })] });
    const after = await update(host, { ip_addresses: [] });
    expect(after.services[0].bindings).toHaveLength(1);
    expect(after.services[0].bindings[0]).toMatchObject({ port_id, ip_address_id: null });
  });

  test("to a port or address of another host, an unknown one, or one deleted by this update, is 400", async () => {
    const host = await newHost({ ports: [tcp(80)], ip_addresses: [{ ip_address: "192.0.2.33" }] });
    const other = await newHost({ ports: [tcp(80)], ip_addresses: [{ ip_address: "192.0.2.34" }] });
    const bound = (binding: Wire) => ({ services: [service({ bindings: [binding] })] });
    const notFound = (changes: Wire) => refusedWhole(host, changes, 400, "entity_reference_invalid");
    for (const port_id of [other.ports[0].id, UNKNOWN, host.ip_addresses[0].id])
      await notFound(bound({ type: "Port", port_id, ip_address_id: null }));
    for (const ip_address_id of [other.ip_addresses[0].id, UNKNOWN, host.ports[0].id]) {
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
      await refused(put(host, { services: [service({ bindings: [binding] })] }), 400, "validation_failed");
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
    const expectNothingWritten = writingWatched();
    expect((await update(host, { credential_assignments: null })).credential_assignments).toEqual([scoped]);
    expect((await update(host, {})).credential_assignments).toEqual([scoped]);
    expectNothingWritten();
    expect((await update(host, { credential_assignments: [] })).credential_assignments).toEqual([]);
  });

  test("appear as the credential's host_assignments", async () => {
    const credential = await newCredential();
    const host = await newHost({ ip_addresses: [{ ip_address: "192.0.2.41" }] });
    const ip_address_ids = [host.ip_addresses[0].id];
    await update(host, { credential_assignments: [{ credential_id: credential.id, ip_address_ids }] });
    expect((await live("credentials", credential.id)).host_assignments).toEqual([{ host_id: host.id, ip_address_ids }]);
    await update(host, { credential_assignments: [] });
    expect((await live("credentials", credential.id)).host_assignments).toEqual([]);
  });

  test("end when the last address they name is deleted: they never widen", async () => {
    const [scoped, wide] = [await newCredential(), await newCredential()];
    const host = await newHost({ ip_addresses: [{ ip_address: "192.0.2.42" }, { ip_address: "192.0.2.43" }] });
    const [first, second] = host.ip_addresses;
    await update(host, {
      credential_assignments: [
        { credential_id: scoped.id, ip_address_ids: [first.id, second.id] },
        { credential_id: wide.id },
      ],
    });
    const narrowed = await update(host, { ip_addresses: [second] });
    expect(narrowed.credential_assignments).toContainEqual({ credential_id: scoped.id, ip_address_ids: [second.id] });
    const none = await update(host, { ip_addresses: [] });
    expect(none.credential_assignments).toEqual([{ credential_id: wide.id }]);
    expect((await live("credentials", scoped.id)).host_assignments).toEqual([]);
  });

  test("may name an address of the same request", async () => {
    const credential = await newCredential();
    const host = await newHost();
    const id = freshId();
    const after = await update(host, {
      ip_addresses: [{ id, ip_address: "192.0.2.44" }],
      credential_assignments: [{ credential_id: credential.id, ip_address_ids: [id] }],
    });
    expect(after.credential_assignments).toEqual([{ credential_id: credential.id, ip_address_ids: [id] }]);
  });

  test("to an unknown or foreign credential, or to another host's address, are 400", async () => {
    const other = await newOrganization("Foreign");
    const theirs = await signedIn(other.userId);
    const foreign = await newCredential({ organization_id: other.organizationId }, theirs);
    const credential = await newCredential();
    const [host, neighbour] = [await newHost(), await newHost({ ip_addresses: [{ ip_address: "192.0.2.45" }] })];
    for (const credential_id of [UNKNOWN, foreign.id, host.id])
      await refusedWhole(host, { credential_assignments: [{ credential_id }] }, 400, "entity_reference_invalid");
    for (const id of [UNKNOWN, neighbour.ip_addresses[0].id]) {
      await refusedWhole(
        host,
        { credential_assignments: [{ credential_id: credential.id, ip_address_ids: [id] }] },
        400,
        "entity_reference_invalid",
      );
    }
  });

  test("in a wrong shape are reported by name", async () => {
    const host = await newHost();
    expect(await issuePaths(put(host, { credential_assignments: {} }))).toEqual(["/credential_assignments"]);
    expect(await issuePaths(put(host, { credential_assignments: [{}] }))).toEqual([
      "/credential_assignments/0/credential_id",
    ]);
    expect(await issuePaths(put(host, { credential_assignments: ["x"] }))).toEqual(["/credential_assignments/0"]);
    expect(
      await issuePaths(put(host, { credential_assignments: [{ credential_id: UNKNOWN, ip_address_ids: "all" }] })),
    ).toEqual(["/credential_assignments/0/ip_address_ids"]);
  });
});
