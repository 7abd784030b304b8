// Bindings as separate records: both forms, valid references, and new versions of the service and the host on every
// change.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, invalid, type JsonRecord, onPort, refusal, tcp, udp } from "../support/appliance/factories.ts";
import { reference, UNKNOWN_ID } from "../support/contract/record-subject.ts";
import { describeRecords } from "../support/contract/record-suite.ts";
import { bindingShape, problems } from "../support/contract/shapes.ts";

const PATH = "/api/v1/bindings";

const appliance = applianceForEach();
const { clock, first, newHost, newSubnet, owner, tick, watchWrites, versionsOf, writtenIn } = appliance;

const get = (path: string) => expectOk(owner.get(path));
const post = (body: JsonRecord) => owner.post(PATH, body);
const put = (id: string, body: JsonRecord) => owner.put(`${PATH}/${id}`, body);

/** For describeRecords: hosts by the ids of their services. */
const hostOf = new Map<string, JsonRecord>();
const portId = (serviceId: string, position: number) => hostOf.get(serviceId)?.ports[position]?.id ?? UNKNOWN_ID;
const addressId = (serviceId: string, position: number) =>
  hostOf.get(serviceId)?.ip_addresses[position]?.id ?? UNKNOWN_ID;

describeRecords(
  {
    path: PATH,
    entity: "binding",
    writeRole: "Member",
    scope: "in a network",
    container: {
      field: "service_id",
      entity: "service",
      create: async (caller, networkId) => {
        // In later calls the network already has the prefix.
        await caller.post("subnets", { network_id: networkId, cidr: "10.2.3.0/24" });
        const host = await expectOk(
          caller.post("hosts", {
            network_id: networkId,
            name: "server",
            ip_addresses: [{ ip_address: "10.2.3.1" }, { ip_address: "10.2.3.2" }],
            ports: Array.from({ length: 8 }, (_, position) => tcp(8_000 + position)),
            services: [{ name: "web", service_definition: "Nginx" }],
          }),
        );
        hostOf.set(host.services[0].id, host);
        return host.services[0].id;
      },
    },
    body: (serviceId, position) => ({
      service_id: serviceId,
      type: "Port",
      port_id: portId(serviceId, position),
      ip_address_id: addressId(serviceId, 0),
    }),
    change: {
      field: "ip_address_id",
      to: (body) => (body.ip_address_id === null ? addressId(body.service_id, 0) : null),
    },
    unique: "port_id",
    writes: {
      created: { "Updated service": 1, "Updated host": 1 },
      updated: { "Updated service": 1, "Updated host": 1 },
      deleted: { "Updated service": 1, "Updated host": 1 },
    },
    invalid: {
      body: { id: "x", service_id: 5, type: "Port", port_id: 80, ip_address_id: "10.2.3.1", protocol: "Tcp" },
      paths: ["/id", "/port_id", "/ip_address_id", "/protocol"],
    },
    references: [
      reference("service_id", "service", async (caller, _networkId, serviceId) => {
        const body = { host_id: hostOf.get(serviceId)?.id, name: "Reference", service_definition: "R" };
        return (await expectOk(caller.post("services", body))).id;
      }),
      {
        field: "port_id",
        entity: "port",
        // On a separate address each: on the same one they would be duplicates.
        withReference: (body, id) => ({
          ...body,
          port_id: id,
          ip_address_id: body.port_id === portId(body.service_id, 1) ? null : body.ip_address_id,
        }),
        create: async (_by, _networkId, serviceId) => portId(serviceId, 7),
      },
      reference("ip_address_id", "ip_address", async (_by, _networkId, serviceId) => addressId(serviceId, 1)),
    ],
  },
  appliance,
);

/** A host with two addresses, two ports and two services. */
async function newServer(): Promise<JsonRecord> {
  await owner.post("subnets", { network_id: first.networkId, cidr: "10.9.0.0/16" });
  return newHost({
    ip_addresses: [{ ip_address: "10.9.0.1" }, { ip_address: "10.9.0.2" }],
    ports: [tcp(80), tcp(443)],
    services: [
      { name: "a", service_definition: "A" },
      { name: "b", service_definition: "B" },
    ],
  });
}

describe("a binding", () => {
  test("is identical in its service and its host; the service determines the host", async () => {
    const host = await newServer();
    const [service_id, port_id, ip_address_id] = [host.services[0].id, host.ports[0].id, host.ip_addresses[0].id];
    const written = [
      await expectOk(post({ service_id, host_id: host.id, network_id: host.network_id, type: "Port", port_id })),
      await expectOk(post({ service_id, type: "Port", port_id, ip_address_id })),
      await expectOk(post({ service_id, type: "IpAddress", port_id: null, ip_address_id })),
    ];
    for (const binding of written) expect(problems(binding, bindingShape)).toEqual([]);
    expect(written).toMatchObject([
      { port_id, ip_address_id: null },
      { port_id, ip_address_id },
      { port_id: null, ip_address_id },
    ]);
    expect((await get(`services/${service_id}`)).bindings).toEqual(written);
    expect((await get(`hosts/${host.id}`)).services[0].bindings).toEqual(written);
    for (const query of [
      "",
      "limit=0",
      `host_id=${host.id}`,
      `service_id=${service_id}&limit=0`,
      `at=${written[2]?.created_at}`,
      `at=${written[2]?.created_at}&limit=0`,
    ])
      expect((await owner.get(`${PATH}?${query}`)).data).toEqual(written);
  });

  test("creates a version of its service and its host, each naming the changed field", async () => {
    const host = await newServer();
    const [service_id, port_id] = [host.services[0].id, host.ports[0].id];
    tick();
    const binding = await expectOk(post({ service_id, type: "Port", port_id }));
    for (const path of [`services/${service_id}`, `hosts/${host.id}`])
      expect((await get(path)).updated_at).toBe(binding.created_at);
    expect(versionsOf(service_id).at(-1)).toMatchObject({ operation: "Updated", changed: ["bindings"] });
    expect(versionsOf(host.id).at(-1)).toMatchObject({ operation: "Updated", changed: ["services"] });
    tick();
    await expectOk(owner.delete(`${PATH}/${binding.id}`));
    expect(writtenIn()).toEqual({ "Deleted binding": 1, "Updated service": 1, "Updated host": 1 });
    expect((await get(`services/${service_id}?at=${binding.created_at}`)).bindings).toMatchObject([{ id: binding.id }]);
  });

  test("changes type, keeps an omitted address, and is on all addresses with null", async () => {
    const host = await newServer();
    const [service_id, port_id, ip_address_id] = [host.services[0].id, host.ports[0].id, host.ip_addresses[0].id];
    const binding = await expectOk(post({ service_id, type: "Port", port_id, ip_address_id }));
    const states: Array<[JsonRecord, JsonRecord]> = [
      [onPort(port_id), { type: "Port", port_id, ip_address_id }],
      [onPort(host.ports[1].id), { type: "Port", port_id: host.ports[1].id, ip_address_id }],
      [
        { type: "Port", port_id, ip_address_id: null },
        { type: "Port", port_id, ip_address_id: null },
      ],
      [
        { type: "IpAddress", ip_address_id },
        { type: "IpAddress", port_id: null, ip_address_id },
      ],
      [onPort(port_id), { type: "Port", port_id, ip_address_id }],
    ];
    for (const [sent, expected] of states)
      expect(await expectOk(put(binding.id, sent))).toMatchObject({ id: binding.id, service_id, ...expected });
  });

  test("keeps the address of an item that omits it but has an id, even in updates of its service and its host", async () => {
    const host = await newServer();
    const [service, port_id, ip_address_id] = [
      host.services[0] as JsonRecord,
      host.ports[0].id,
      host.ip_addresses[0].id,
    ];
    const binding = await expectOk(post({ service_id: service.id, type: "Port", port_id, ip_address_id }));
    const expectNothingWritten = watchWrites();
    const item = {
      name: service.name,
      service_definition: service.service_definition,
      bindings: [{ id: binding.id, type: "Port", port_id }],
    };
    await expectOk(owner.put(`services/${service.id}`, item));
    await expectOk(
      owner.put(`hosts/${host.id}`, {
        id: host.id,
        name: host.name,
        hidden: false,
        tags: [],
        services: [item, host.services[1]],
      }),
    );
    expectNothingWritten();
    // Without its id it is a new binding: on all addresses.
    expect(
      (await expectOk(owner.put(`services/${service.id}`, { ...item, bindings: [onPort(port_id)] }))).bindings,
    ).toMatchObject([{ port_id, ip_address_id: null }]);
  });

  test.each<[string, (host: JsonRecord) => JsonRecord, string[]]>([
    ["no type", (host) => ({ port_id: host.ports[0].id }), ["/type"]],
    ["an unknown type", (host) => ({ type: "port", port_id: host.ports[0].id }), ["/type"]],
    ["no port", () => ({ type: "Port" }), ["/port_id"]],
    ["a null port", () => onPort(null), ["/port_id"]],
    ["no address", () => ({ type: "IpAddress" }), ["/ip_address_id"]],
    ["a null address as the only target", () => ({ type: "IpAddress", ip_address_id: null }), ["/ip_address_id"]],
    [
      "a port together with an address target",
      (host) => ({ type: "IpAddress", ip_address_id: host.ip_addresses[0].id, port_id: host.ports[0].id }),
      ["/port_id"],
    ],
  ])("rejects %s, in a create and in an update", async (_case, body, paths) => {
    const host = await newServer();
    const binding = await expectOk(
      post({ service_id: host.services[0].id, type: "IpAddress", ip_address_id: host.ip_addresses[0].id }),
    );
    const expectNothingWritten = watchWrites();
    for (const response of [
      await post({ service_id: host.services[1].id, ...body(host) }),
      await put(binding.id, body(host)),
    ]) {
      expect(response).toMatchObject(refusal(400, "validation_failed"));
      expect(response.body.params.issues.map((issue: JsonRecord) => issue.path)).toEqual(paths);
    }
    expectNothingWritten();
  });

  test("accepts only ports and addresses of its service's host", async () => {
    const [host, otherServer] = [await newServer(), await newServer()];
    const service_id = host.services[0].id;
    const binding = await expectOk(post({ service_id, type: "Port", port_id: host.ports[0].id }));
    const expectNothingWritten = watchWrites();
    for (const attempt of [
      (body: JsonRecord) => post({ service_id, ...body }),
      (body: JsonRecord) => put(binding.id, body),
    ]) {
      for (const id of [otherServer.ports[1].id, host.ip_addresses[0].id, UNKNOWN_ID]) {
        expect(await attempt(onPort(id))).toMatchObject(
          refusal(400, "entity_reference_invalid", { entity: "port", field: "port_id", ids: [id] }),
        );
      }
      for (const id of [otherServer.ip_addresses[1].id, host.ports[0].id, UNKNOWN_ID]) {
        for (const body of [
          { type: "Port", port_id: host.ports[1].id, ip_address_id: id },
          { type: "IpAddress", ip_address_id: id },
        ]) {
          expect(await attempt(body)).toMatchObject(
            refusal(400, "entity_reference_invalid", { entity: "ip_address", field: "ip_address_id", ids: [id] }),
          );
        }
      }
    }
    for (const [field, id] of [
      ["host_id", otherServer.id],
      ["network_id", UNKNOWN_ID],
      ["service_id", otherServer.services[0].id],
    ] as const) {
      const body = { service_id, type: "Port", port_id: host.ports[1].id, [field]: id };
      if (field !== "service_id") expect(await post(body)).toMatchObject(invalid({ path: `/${field}`, value: id }));
      expect(await put(binding.id, body)).toMatchObject(invalid({ path: `/${field}`, value: id }));
    }
    expectNothingWritten();
  });

  test("is unique by service, type, port and address; the error names the duplicate", async () => {
    const host = await newServer();
    const [service_id, otherServiceId] = host.services.map((service: JsonRecord) => service.id) as [string, string];
    const [port_id, ip_address_id] = [host.ports[0].id, host.ip_addresses[0].id];
    const bodies: JsonRecord[] = [
      onPort(port_id),
      { type: "Port", port_id, ip_address_id },
      { type: "IpAddress", ip_address_id },
    ];
    const bindings: JsonRecord[] = [];
    for (const body of bodies) bindings.push(await expectOk(post({ service_id, ...body })));
    for (const body of bodies) await expectOk(post({ service_id: otherServiceId, ...body }));
    const expectNothingWritten = watchWrites();
    for (const [position, body] of bodies.entries()) {
      const field = body.type === "Port" ? "port_id" : "ip_address_id";
      const conflict = refusal(409, "entity_already_exists", { entity: "binding", field, value: body[field] });
      expect(await post({ service_id, ip_address_id: null, ...body })).toMatchObject(conflict);
      const neighbor = bindings[(position + 1) % 3] as JsonRecord;
      expect(await put(neighbor.id, { ip_address_id: null, ...body })).toMatchObject(conflict);
    }
    expectNothingWritten();
  });
});

describe("the bindings of a service", () => {
  test("are at most 10,000, even when added one by one", async () => {
    const host = await newHost({ ports: Array.from({ length: 10_000 }, (_, position) => udp(position + 1)) });
    const bindings = (host.ports as JsonRecord[]).map((port) => onPort(port.id));
    const service = await expectOk(
      owner.post("services", { host_id: host.id, name: "s", service_definition: "S", bindings }),
    );
    await newSubnet({ cidr: "10.9.0.0/16" });
    const address = await expectOk(owner.post("ip-addresses", { host_id: host.id, ip_address: "10.9.0.1" }));
    const expectNothingWritten = watchWrites();
    expect(await post({ service_id: service.id, type: "IpAddress", ip_address_id: address.id })).toMatchObject(
      invalid({ path: "/service_id", value: service.id }),
    );
    expectNothingWritten();
  });

  test("are filtered by service, host and network, now and in the past, but not by an id of another kind", async () => {
    const [host, otherServer] = [await newServer(), await newServer()];
    const bindings: JsonRecord[] = [];
    for (const server of [host, otherServer])
      for (const service of server.services as JsonRecord[])
        bindings.push(await expectOk(post({ service_id: service.id, type: "Port", port_id: server.ports[0].id })));
    tick();
    const at = clock.text();
    tick();
    await expectOk(owner.delete(`services/${host.services[0].id}`));
    const indexesOf = async (query: string) =>
      (await owner.get(`${PATH}?${query}`)).data.map((binding: JsonRecord) =>
        bindings.findIndex((listed) => listed.id === binding.id),
      );
    for (const [query, present, past] of [
      ["", [1, 2, 3], [0, 1, 2, 3]],
      [`host_id=${host.id}`, [1], [0, 1]],
      [`service_id=${host.services[0].id}`, [], [0]],
      [`service_id=${otherServer.services[1].id}&host_id=${otherServer.id}`, [3], [3]],
      [`service_id=${otherServer.services[1].id}&host_id=${host.id}`, [], []],
      [`network_id=${first.networkId}&limit=0&offset=1`, [2, 3], [1, 2, 3]],
      [`service_id=${host.id}`, [], []],
      [`host_id=${host.services[1].id}`, [], []],
      [`service_id=${UNKNOWN_ID}`, [], []],
    ] as Array<[string, number[], number[]]>) {
      expect([query, await indexesOf(query), await indexesOf(`${query}&at=${at}`)]).toEqual([query, present, past]);
    }
    expect(await owner.get(`${PATH}?port_id=${host.ports[0].id}`)).toMatchObject(invalid({ path: "/port_id" }));
  });
});
