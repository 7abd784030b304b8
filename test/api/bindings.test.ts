// Bindings by themselves: their two forms, what they may name, and that service and host know of every change.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { newAppliance, type TestAppliance } from "../support/appliance.ts";
import { made, newHost, newSubnet, transactionCount, versionsOf, writtenIn, type Wire } from "../support/factories.ts";
import { describeRecords } from "../support/record-battery.ts";
import { bindingShape, problems } from "../support/shapes.ts";

const PATH = "/api/v1/bindings";
const UNKNOWN_ID = "01936f2e-0d5c-7d3a-9a39-00000000dead";

let appliance: TestAppliance;
beforeEach(async () => {
  appliance = await newAppliance();
});
afterEach(() => appliance.close());

const get = (path: string) => made(appliance.owner.get(`/api/v1/${path}`));
const post = (body: Wire) => appliance.owner.post(PATH, body);
const put = (id: string, body: Wire) => appliance.owner.put(`${PATH}/${id}`, body);

/** Of the battery: what the host of each service has. */
const hostOf = new Map<string, Wire>();
const portId = (serviceId: string, position: number) => hostOf.get(serviceId)?.["ports"][position]?.id ?? UNKNOWN_ID;
const addressId = (serviceId: string, position: number) =>
  hostOf.get(serviceId)?.["ip_addresses"][position]?.id ?? UNKNOWN_ID;

describeRecords(
  {
    path: PATH,
    entity: "binding",
    writeRole: "Member",
    roleBelow: "Viewer",
    place: "in a network",
    container: {
      field: "service_id",
      entity: "service",
      make: async (by, networkId) => {
        // The second one of a network finds the prefix there.
        await by.post("/api/v1/subnets", { network_id: networkId, cidr: "10.2.3.0/24" });
        const host = await made(
          by.post("/api/v1/hosts", {
            network_id: networkId,
            name: "server",
            ip_addresses: [{ ip_address: "10.2.3.1" }, { ip_address: "10.2.3.2" }],
            ports: Array.from({ length: 8 }, (_, position) => ({ number: 8_000 + position, protocol: "Tcp" })),
            services: [{ name: "web", service_definition: "Nginx" }],
          }),
        );
        hostOf.set(host["services"][0].id, host);
        return host["services"][0].id;
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
      to: (body) => (body["ip_address_id"] === null ? addressId(body["service_id"], 0) : null),
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
      {
        field: "service_id",
        entity: "service",
        naming: (body, id) => ({ ...body, service_id: id }),
        make: async (by, _networkId, serviceId) =>
          (
            await made(
              by.post("/api/v1/services", {
                host_id: hostOf.get(serviceId)?.["id"],
                name: "Reference",
                service_definition: "R",
              }),
            )
          )["id"],
      },
      {
        field: "port_id",
        entity: "port",
        // On an address of its own for each: on one they would be the same.
        naming: (body, id) => ({
          ...body,
          port_id: id,
          ip_address_id: body["port_id"] === portId(body["service_id"], 1) ? null : body["ip_address_id"],
        }),
        make: async (_by, _networkId, serviceId) => portId(serviceId, 7),
      },
      {
        field: "ip_address_id",
        entity: "ip_address",
        naming: (body, id) => ({ ...body, ip_address_id: id }),
        make: async (_by, _networkId, serviceId) => addressId(serviceId, 1),
      },
    ],
  },
  () => appliance,
);

/** A host with two addresses, two ports and two services. */
async function server(): Promise<Wire> {
  await appliance.owner.post("/api/v1/subnets", { network_id: appliance.first.networkId, cidr: "10.9.0.0/16" });
  return newHost(appliance, {
    ip_addresses: [{ ip_address: "10.9.0.1" }, { ip_address: "10.9.0.2" }],
    ports: [
      { number: 80, protocol: "Tcp" },
      { number: 443, protocol: "Tcp" },
    ],
    services: [
      { name: "a", service_definition: "A" },
      { name: "b", service_definition: "B" },
    ],
  });
}

describe("a binding", () => {
  test("is the one that stands in its service and its host, to the letter: which host it is, the service knows", async () => {
    const host = await server();
    const [service_id, port_id, ip_address_id] = [
      host["services"][0].id,
      host["ports"][0].id,
      host["ip_addresses"][0].id,
    ];
    const written = [
      await made(post({ service_id, host_id: host["id"], network_id: host["network_id"], type: "Port", port_id })),
      await made(post({ service_id, type: "Port", port_id, ip_address_id })),
      await made(post({ service_id, type: "IpAddress", port_id: null, ip_address_id })),
    ];
    for (const binding of written) expect(problems(binding, bindingShape)).toEqual([]);
    expect(written).toMatchObject([
      { port_id, ip_address_id: null },
      { port_id, ip_address_id },
      { port_id: null, ip_address_id },
    ]);
    expect((await get(`services/${service_id}`))["bindings"]).toEqual(written);
    expect((await get(`hosts/${host["id"]}`))["services"][0].bindings).toEqual(written);
    for (const query of [
      "",
      "limit=0",
      `host_id=${host["id"]}`,
      `service_id=${service_id}&limit=0`,
      `at=${written[2]?.["created_at"]}`,
      `at=${written[2]?.["created_at"]}&limit=0`,
    ])
      expect((await appliance.owner.get(`${PATH}?${query}`)).data).toEqual(written);
  });

  test("is a change of its service and of its host, which both say so", async () => {
    const host = await server();
    const [service_id, port_id] = [host["services"][0].id, host["ports"][0].id];
    appliance.clock.advance(1_000);
    const binding = await made(post({ service_id, type: "Port", port_id }));
    for (const path of [`services/${service_id}`, `hosts/${host["id"]}`])
      expect((await get(path))["updated_at"]).toBe(binding["created_at"]);
    expect(versionsOf(appliance, service_id).at(-1)).toMatchObject({ operation: "Updated", changed: ["bindings"] });
    expect(versionsOf(appliance, host["id"]).at(-1)).toMatchObject({ operation: "Updated", changed: ["services"] });
    appliance.clock.advance(1_000);
    await made(appliance.owner.delete(`${PATH}/${binding["id"]}`));
    expect(writtenIn(appliance)).toEqual({ "Deleted binding": 1, "Updated service": 1, "Updated host": 1 });
    expect((await get(`services/${service_id}?at=${binding["created_at"]}`))["bindings"]).toMatchObject([
      { id: binding["id"] },
    ]);
  });

  test("changes its form, keeps an address that is left out, and is on all addresses by null", async () => {
    const host = await server();
    const [service_id, port_id, ip_address_id] = [
      host["services"][0].id,
      host["ports"][0].id,
      host["ip_addresses"][0].id,
    ];
    const binding = await made(post({ service_id, type: "Port", port_id, ip_address_id }));
    const states: Array<[Wire, Wire]> = [
      [
        { type: "Port", port_id },
        { type: "Port", port_id, ip_address_id },
      ],
      [
        { type: "Port", port_id: host["ports"][1].id },
        { type: "Port", port_id: host["ports"][1].id, ip_address_id },
      ],
      [
        { type: "Port", port_id, ip_address_id: null },
        { type: "Port", port_id, ip_address_id: null },
      ],
      [
        { type: "IpAddress", ip_address_id },
        { type: "IpAddress", port_id: null, ip_address_id },
      ],
      [
        { type: "Port", port_id },
        { type: "Port", port_id, ip_address_id },
      ],
    ];
    for (const [sent, wanted] of states)
      expect(await made(put(binding["id"], sent))).toMatchObject({ id: binding["id"], service_id, ...wanted });
  });

  test("keeps the address that an item with its id leaves out, in its service's and its host's update too", async () => {
    const host = await server();
    const [service, port_id, ip_address_id] = [
      host["services"][0] as Wire,
      host["ports"][0].id,
      host["ip_addresses"][0].id,
    ];
    const binding = await made(post({ service_id: service["id"], type: "Port", port_id, ip_address_id }));
    const before = transactionCount(appliance);
    const item = {
      name: service["name"],
      service_definition: service["service_definition"],
      bindings: [{ id: binding["id"], type: "Port", port_id }],
    };
    await made(appliance.owner.put(`/api/v1/services/${service["id"]}`, item));
    await made(
      appliance.owner.put(`/api/v1/hosts/${host["id"]}`, {
        id: host["id"],
        name: host["name"],
        hidden: false,
        tags: [],
        services: [item, host["services"][1]],
      }),
    );
    expect(transactionCount(appliance)).toBe(before);
    // Without its id, it is another one: on all addresses.
    expect(
      (
        await made(
          appliance.owner.put(`/api/v1/services/${service["id"]}`, { ...item, bindings: [{ type: "Port", port_id }] }),
        )
      )["bindings"],
    ).toMatchObject([{ port_id, ip_address_id: null }]);
  });

  test.each<[string, (host: Wire) => Wire, string[]]>([
    ["no type", (host) => ({ port_id: host["ports"][0].id }), ["/type"]],
    ["a type that there is not", (host) => ({ type: "port", port_id: host["ports"][0].id }), ["/type"]],
    ["no port", () => ({ type: "Port" }), ["/port_id"]],
    ["null as its port", () => ({ type: "Port", port_id: null }), ["/port_id"]],
    ["no address", () => ({ type: "IpAddress" }), ["/ip_address_id"]],
    ["null as its address alone", () => ({ type: "IpAddress", ip_address_id: null }), ["/ip_address_id"]],
    [
      "a port beside its address alone",
      (host) => ({ type: "IpAddress", ip_address_id: host["ip_addresses"][0].id, port_id: host["ports"][0].id }),
      ["/port_id"],
    ],
  ])("is refused with %s, in a create and in an update", async (_what, body, paths) => {
    const host = await server();
    const binding = await made(
      post({ service_id: host["services"][0].id, type: "IpAddress", ip_address_id: host["ip_addresses"][0].id }),
    );
    const before = transactionCount(appliance);
    for (const answer of [
      await post({ service_id: host["services"][1].id, ...body(host) }),
      await put(binding["id"], body(host)),
    ]) {
      expect(answer).toMatchObject({ status: 400, body: { code: "validation_failed" } });
      expect(answer.body.params.issues.map((issue: Wire) => issue["path"])).toEqual(paths);
    }
    expect(transactionCount(appliance)).toBe(before);
  });

  test("names a port and an address of its service's host alone, as if no other host had any", async () => {
    const [host, other] = [await server(), await server()];
    const service_id = host["services"][0].id;
    const binding = await made(post({ service_id, type: "Port", port_id: host["ports"][0].id }));
    const before = transactionCount(appliance);
    for (const attempt of [(body: Wire) => post({ service_id, ...body }), (body: Wire) => put(binding["id"], body)]) {
      for (const id of [other["ports"][1].id, host["ip_addresses"][0].id, UNKNOWN_ID]) {
        expect(await attempt({ type: "Port", port_id: id })).toMatchObject({
          status: 400,
          body: { code: "entity_reference_invalid", params: { entity: "port", field: "port_id", ids: [id] } },
        });
      }
      for (const id of [other["ip_addresses"][1].id, host["ports"][0].id, UNKNOWN_ID]) {
        for (const body of [
          { type: "Port", port_id: host["ports"][1].id, ip_address_id: id },
          { type: "IpAddress", ip_address_id: id },
        ]) {
          expect(await attempt(body)).toMatchObject({
            status: 400,
            body: {
              code: "entity_reference_invalid",
              params: { entity: "ip_address", field: "ip_address_id", ids: [id] },
            },
          });
        }
      }
    }
    for (const [field, id] of [
      ["host_id", other["id"]],
      ["network_id", UNKNOWN_ID],
      ["service_id", other["services"][0].id],
    ] as const) {
      const body = { service_id, type: "Port", port_id: host["ports"][1].id, [field]: id };
      if (field !== "service_id")
        expect(await post(body)).toMatchObject({
          status: 400,
          body: { code: "validation_failed", params: { issues: [{ path: `/${field}`, value: id }] } },
        });
      expect(await put(binding["id"], body)).toMatchObject({
        status: 400,
        body: { code: "validation_failed", params: { issues: [{ path: `/${field}`, value: id }] } },
      });
    }
    expect(transactionCount(appliance)).toBe(before);
  });

  test("is one of its service, form, port and address: the refusal names what it leads to", async () => {
    const host = await server();
    const [service_id, other] = host["services"].map((service: Wire) => service["id"]) as [string, string];
    const [port_id, ip_address_id] = [host["ports"][0].id, host["ip_addresses"][0].id];
    const bodies = [
      { type: "Port", port_id },
      { type: "Port", port_id, ip_address_id },
      { type: "IpAddress", ip_address_id },
    ];
    const bindings: Wire[] = [];
    for (const body of bodies) bindings.push(await made(post({ service_id, ...body })));
    for (const body of bodies) await made(post({ service_id: other, ...body }));
    const before = transactionCount(appliance);
    for (const [position, body] of bodies.entries()) {
      const field = body.type === "Port" ? "port_id" : "ip_address_id";
      const clash = {
        status: 409,
        body: { code: "entity_already_exists", params: { entity: "binding", field, value: body[field] } },
      };
      expect(await post({ service_id, ip_address_id: null, ...body })).toMatchObject(clash);
      const neighbour = bindings[(position + 1) % 3] as Wire;
      expect(await put(neighbour["id"], { ip_address_id: null, ...body })).toMatchObject(clash);
    }
    expect(transactionCount(appliance)).toBe(before);
  });
});

describe("the bindings of a service", () => {
  test("are 10,000 at most, also when they come one by one", async () => {
    const host = await newHost(appliance, {
      ports: Array.from({ length: 10_000 }, (_, position) => ({ number: position + 1, protocol: "Udp" })),
    });
    const bindings = (host["ports"] as Wire[]).map((port) => ({ type: "Port", port_id: port["id"] }));
    const service = await made(
      appliance.owner.post("/api/v1/services", { host_id: host["id"], name: "s", service_definition: "S", bindings }),
    );
    await newSubnet(appliance, { cidr: "10.9.0.0/16" });
    const address = await made(
      appliance.owner.post("/api/v1/ip-addresses", { host_id: host["id"], ip_address: "10.9.0.1" }),
    );
    const before = transactionCount(appliance);
    expect(await post({ service_id: service["id"], type: "IpAddress", ip_address_id: address["id"] })).toMatchObject({
      status: 400,
      body: { code: "validation_failed", params: { issues: [{ path: "/service_id", value: service["id"] }] } },
    });
    expect(transactionCount(appliance)).toBe(before);
  }, 60_000);

  test("are found by service, host and network, now and then, and by an id of another kind not at all", async () => {
    const [host, other] = [await server(), await server()];
    const bindings: Wire[] = [];
    for (const each of [host, other])
      for (const service of each["services"] as Wire[])
        bindings.push(await made(post({ service_id: service["id"], type: "Port", port_id: each["ports"][0].id })));
    appliance.clock.advance(1_000);
    const at = appliance.clock.text();
    appliance.clock.advance(1_000);
    await made(appliance.owner.delete(`/api/v1/services/${host["services"][0].id}`));
    const found = async (query: string) =>
      (await appliance.owner.get(`${PATH}?${query}`)).data.map((binding: Wire) =>
        bindings.findIndex((each) => each["id"] === binding["id"]),
      );
    for (const [query, now, then] of [
      ["", [1, 2, 3], [0, 1, 2, 3]],
      [`host_id=${host["id"]}`, [1], [0, 1]],
      [`service_id=${host["services"][0].id}`, [], [0]],
      [`service_id=${other["services"][1].id}&host_id=${other["id"]}`, [3], [3]],
      [`service_id=${other["services"][1].id}&host_id=${host["id"]}`, [], []],
      [`network_id=${appliance.first.networkId}&limit=0&offset=1`, [2, 3], [1, 2, 3]],
      [`service_id=${host["id"]}`, [], []],
      [`host_id=${host["services"][1].id}`, [], []],
      [`service_id=${UNKNOWN_ID}`, [], []],
    ] as Array<[string, number[], number[]]>) {
      expect([query, await found(query), await found(`${query}&at=${at}`)]).toEqual([query, now, then]);
    }
    expect(await appliance.owner.get(`${PATH}?port_id=${host["ports"][0].id}`)).toMatchObject({
      status: 400,
      body: { params: { issues: [{ path: "/port_id" }] } },
    });
  });
});
