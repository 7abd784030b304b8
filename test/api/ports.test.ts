// Ports by themselves: their type, what goes with them, what their host and its bindings learn of it.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { newAppliance, type TestAppliance } from "../support/appliance.ts";
import { made, newHost, newUser, transactionCount, versionsOf, writtenIn, type Wire } from "../support/factories.ts";
import { describeRecords } from "../support/record-battery.ts";
import { problems, portShape } from "../support/shapes.ts";

const PATH = "/api/v1/ports";

let appliance: TestAppliance;
beforeEach(async () => {
  appliance = await newAppliance();
});
afterEach(() => appliance.close());

const get = (path: string) => made(appliance.owner.get(`/api/v1/${path}`));
const post = (body: Wire) => appliance.owner.post(PATH, body);
const put = (id: string, body: Wire) => appliance.owner.put(`${PATH}/${id}`, body);

describeRecords(
  {
    path: PATH,
    entity: "port",
    writeRole: "Member",
    roleBelow: "Viewer",
    place: "in a network",
    container: {
      field: "host_id",
      entity: "host",
      make: async (by, networkId) =>
        (await made(by.post("/api/v1/hosts", { network_id: networkId, name: "server" })))["id"],
    },
    body: (hostId, position) => ({ host_id: hostId, number: 1_000 + position, protocol: "Tcp" }),
    change: { field: "protocol", to: (body) => (body["protocol"] === "Tcp" ? "Udp" : "Tcp") },
    unique: "number",
    writes: { created: { "Updated host": 1 }, updated: { "Updated host": 1 }, deleted: { "Updated host": 1 } },
    invalid: {
      body: { id: "x", host_id: 5, number: 65_536, protocol: "TCP", name: "http" },
      paths: ["/id", "/number", "/protocol", "/name"],
    },
    references: [
      {
        field: "host_id",
        entity: "host",
        naming: (body, id) => ({ ...body, host_id: id }),
        make: async (by, networkId) =>
          (await made(by.post("/api/v1/hosts", { network_id: networkId, name: "Reference" })))["id"],
      },
    ],
  },
  () => appliance,
);

describe("a port", () => {
  test("is the one that stands in its host, to the letter", async () => {
    const host = await newHost(appliance);
    const port = await made(
      post({ host_id: host["id"], network_id: host["network_id"], number: 443, protocol: "Tcp" }),
    );
    expect(problems(port, portShape)).toEqual([]);
    expect(port).toMatchObject({
      host_id: host["id"],
      network_id: host["network_id"],
      number: 443,
      protocol: "Tcp",
      type: "Https",
      last_seen_at: port["created_at"],
      first_discovery_id: null,
      last_discovery_id: null,
    });
    expect((await get(`hosts/${host["id"]}`))["ports"]).toEqual([port]);
  });

  test("has the type of its number and protocol, whatever is sent", async () => {
    const host = await newHost(appliance);
    const port = await made(post({ host_id: host["id"], number: 22, protocol: "Tcp", type: "Telnet" }));
    expect(port["type"]).toBe("Ssh");
    for (const [number, protocol, type] of [
      [53, "Udp", "DnsUdp"],
      [53, "Tcp", "DnsTcp"],
      [22, "Udp", "Custom"],
      [65_535, "Tcp", "Custom"],
    ] as const) {
      expect(await made(put(port["id"], { ...port, number, protocol }))).toMatchObject({
        id: port["id"],
        number,
        protocol,
        type,
      });
    }
    expect(versionsOf(appliance, port["id"]).at(1)).toMatchObject({ changed: ["number", "protocol", "type"] });
  });

  test.each([[0], [-1], [65_536], [1.5], ["443"], [null]])("has no number %p", async (number) => {
    const host = await newHost(appliance);
    const before = transactionCount(appliance);
    expect(await post({ host_id: host["id"], number, protocol: "Tcp" })).toMatchObject({
      status: 400,
      body: { code: "validation_failed", params: { issues: [{ path: "/number", value: number }] } },
    });
    expect(transactionCount(appliance)).toBe(before);
  });

  test("is one of its host, number and protocol: of another host or protocol it is another", async () => {
    const [host, other] = [await newHost(appliance), await newHost(appliance)];
    await made(post({ host_id: host["id"], number: 53, protocol: "Tcp" }));
    await made(post({ host_id: host["id"], number: 53, protocol: "Udp" }));
    await made(post({ host_id: other["id"], number: 53, protocol: "Tcp" }));
    expect(await post({ host_id: host["id"], number: 53, protocol: "Udp" })).toMatchObject({
      status: 409,
      body: { code: "entity_already_exists", params: { entity: "port", field: "number", value: 53 } },
    });
  });

  test("is a change of its host, which says so, and the host's lock and ETag notice", async () => {
    const host = await newHost(appliance);
    const etag = (await appliance.owner.get(`/api/v1/hosts/${host["id"]}`)).headers.get("etag") as string;
    appliance.clock.advance(1_000);
    const port = await made(post({ host_id: host["id"], number: 80, protocol: "Tcp" }));
    expect((await get(`hosts/${host["id"]}`))["updated_at"]).toBe(port["created_at"]);
    expect(versionsOf(appliance, host["id"]).at(-1)).toMatchObject({ operation: "Updated", changed: ["ports"] });
    const stale = { id: host["id"], name: "lost", hidden: false, tags: [] };
    expect(await appliance.owner.put(`/api/v1/hosts/${host["id"]}`, stale, { "if-match": etag })).toMatchObject({
      status: 412,
    });
    expect(
      await appliance.owner.put(`/api/v1/hosts/${host["id"]}`, { ...stale, expected_updated_at: host["updated_at"] }),
    ).toMatchObject({ status: 409, body: { code: "entity_stale" } });
    appliance.clock.advance(1_000);
    await made(appliance.owner.delete(`${PATH}/${port["id"]}`));
    expect(versionsOf(appliance, host["id"])).toMatchObject([
      { changed: null },
      { changed: ["ports"] },
      { changed: ["ports"] },
    ]);
    expect((await get(`hosts/${host["id"]}?at=${port["created_at"]}`))["ports"]).toMatchObject([{ id: port["id"] }]);
  });

  test("takes the bindings to it along, in one transaction, and its services and their host have one version each", async () => {
    const host = await newHost(appliance, {
      ports: [
        { number: 80, protocol: "Tcp" },
        { number: 443, protocol: "Tcp" },
      ],
    });
    const [http, https] = host["ports"] as [Wire, Wire];
    const web = await made(
      appliance.owner.post("/api/v1/services", {
        host_id: host["id"],
        name: "web",
        service_definition: "Nginx",
        bindings: [
          { type: "Port", port_id: http["id"] },
          { type: "Port", port_id: https["id"] },
        ],
      }),
    );
    const other = await made(
      appliance.owner.post("/api/v1/services", {
        host_id: host["id"],
        name: "other",
        service_definition: "Nginx",
        bindings: [{ type: "Port", port_id: https["id"] }],
      }),
    );
    appliance.clock.advance(1_000);
    const before = transactionCount(appliance);
    const closed = await made(appliance.owner.delete(`${PATH}/${http["id"]}`));
    expect(closed).toEqual({ ...http, valid_to: appliance.clock.text() });
    expect(transactionCount(appliance)).toBe(before + 1);
    expect(writtenIn(appliance)).toEqual({
      "Deleted port": 1,
      "Deleted binding": 1,
      "Updated service": 1,
      "Updated host": 1,
    });
    expect((await get(`services/${web["id"]}`))["bindings"]).toEqual([web["bindings"][1]]);
    expect(await get(`services/${other["id"]}`)).toEqual(other);
    expect((await get(`services/${web["id"]}?at=${web["valid_from"]}`))["bindings"]).toEqual([
      { ...web["bindings"][0], valid_to: closed["valid_to"] },
      web["bindings"][1],
    ]);
    expect(versionsOf(appliance, host["id"]).at(-1)).toMatchObject({ changed: ["ports", "services"] });
    expect(versionsOf(appliance, web["id"]).at(-1)).toMatchObject({ changed: ["bindings"] });
  });

  test("that is renumbered keeps the bindings to it", async () => {
    const host = await newHost(appliance, { ports: [{ number: 80, protocol: "Tcp" }] });
    const port = host["ports"][0] as Wire;
    const service = await made(
      appliance.owner.post("/api/v1/services", {
        host_id: host["id"],
        name: "web",
        service_definition: "Nginx",
        bindings: [{ type: "Port", port_id: port["id"] }],
      }),
    );
    await made(put(port["id"], { number: 8_080, protocol: "Tcp" }));
    expect(writtenIn(appliance)).toEqual({ "Updated port": 1, "Updated host": 1 });
    expect(await get(`services/${service["id"]}`)).toEqual(service);
  });

  test("of many deleted at once makes one version of each host that they were of", async () => {
    const ports = [80, 443, 8_080].map((number) => ({ number, protocol: "Tcp" }));
    const [host, other] = [await newHost(appliance, { ports }), await newHost(appliance, { ports })];
    const ids = [...(host["ports"] as Wire[]), ...(other["ports"] as Wire[]).slice(1)].map((port) => port["id"]);
    const answer = await appliance.owner.post(`${PATH}/bulk-delete`, ids);
    expect(answer.data.map((port: Wire) => port["id"])).toEqual(ids);
    expect(writtenIn(appliance)).toEqual({ "Deleted port": 5, "Updated host": 2 });
    expect((await get(`hosts/${other["id"]}`))["ports"]).toEqual([other["ports"][0]]);
  });
});

describe("the ports of a host", () => {
  test("are 10,000 at most, also when they come one by one", async () => {
    const ports = Array.from({ length: 10_000 }, (_, position) => ({ number: position + 1, protocol: "Tcp" }));
    const host = await newHost(appliance, { ports });
    const before = transactionCount(appliance);
    expect(await post({ host_id: host["id"], number: 1, protocol: "Udp" })).toMatchObject({
      status: 400,
      body: { code: "validation_failed", params: { issues: [{ path: "/host_id", value: host["id"] }] } },
    });
    expect(transactionCount(appliance)).toBe(before);
    await made(appliance.owner.delete(`${PATH}/${host["ports"][0].id}`));
    await made(post({ host_id: host["id"], number: 1, protocol: "Udp" }));
  }, 30_000);

  test("are listed by host and by network, now and then, within the caller's reach", async () => {
    const hidden = await made(appliance.owner.post("/api/v1/networks", { name: "Hidden" }));
    const [host, other, unseen] = [
      await newHost(appliance),
      await newHost(appliance),
      await newHost(appliance, { network_id: hidden["id"] }),
    ];
    const ports: Wire[] = [];
    for (const { id } of [host, other, unseen] as Wire[])
      ports.push(await made(post({ host_id: id, number: 80, protocol: "Tcp" })));
    appliance.clock.advance(1_000);
    const at = appliance.clock.text();
    appliance.clock.advance(1_000);
    await made(appliance.owner.delete(`${PATH}/${ports[0]?.["id"]}`));
    const { client } = await newUser(appliance, { role: "Viewer", networkIds: [appliance.first.networkId] });
    const ids = async (by: typeof client, query: string) =>
      (await by.get(`${PATH}?${query}`)).data.map((port: Wire) => ports.findIndex((each) => each["id"] === port["id"]));
    for (const [query, now, then] of [
      ["", [1, 2], [0, 1, 2]],
      [`host_id=${host["id"]}`, [], [0]],
      [`host_id=${unseen["id"]}`, [2], [2]],
      [`network_id=${appliance.first.networkId}`, [1], [0, 1]],
      [`network_id=${hidden["id"]}&host_id=${host["id"]}`, [], []],
    ] as const) {
      expect([query, await ids(appliance.owner, query), await ids(appliance.owner, `${query}&at=${at}`)]).toEqual([
        query,
        now as unknown as number[],
        then as unknown as number[],
      ]);
      expect([query, await ids(client, query), await ids(client, `${query}&at=${at}`)]).toEqual([
        query,
        now.filter((each) => each !== 2),
        then.filter((each) => each !== 2),
      ]);
    }
  });
});
