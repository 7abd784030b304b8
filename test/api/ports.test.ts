// Ports as separate records: type, dependents, and versions of host and bindings.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, invalid, type JsonRecord, onPort, refusal, tcp } from "../support/appliance/factories.ts";
import { hostReference } from "../support/contract/record-subject.ts";
import { describeRecords } from "../support/contract/record-suite.ts";
import { portShape, problems } from "../support/contract/shapes.ts";

const PATH = "/api/v1/ports";

const appliance = applianceForEach();
const { clock, first, newHost, newViewer, owner, tick, transactionCount, watchWrites, versionsOf, writtenIn } =
  appliance;

const get = (path: string) => expectOk(owner.get(path));
const post = (body: JsonRecord) => owner.post(PATH, body);
const put = (id: string, body: JsonRecord) => owner.put(`${PATH}/${id}`, body);

describeRecords(
  {
    path: PATH,
    entity: "port",
    writeRole: "Member",
    scope: "in a network",
    container: {
      field: "host_id",
      entity: "host",
      create: async (caller, networkId) =>
        (await expectOk(caller.post("hosts", { network_id: networkId, name: "server" }))).id,
    },
    body: (hostId, position) => ({ host_id: hostId, number: 1_000 + position, protocol: "Tcp" }),
    change: { field: "protocol", to: (body) => (body.protocol === "Tcp" ? "Udp" : "Tcp") },
    unique: "number",
    writes: { created: { "Updated host": 1 }, updated: { "Updated host": 1 }, deleted: { "Updated host": 1 } },
    invalid: {
      body: { id: "x", host_id: 5, number: 65_536, protocol: "TCP", name: "http" },
      paths: ["/id", "/number", "/protocol", "/name"],
    },
    references: [hostReference()],
  },
  appliance,
);

describe("a port", () => {
  test("is identical to the one in its host", async () => {
    const host = await newHost();
    const port = await expectOk(post({ host_id: host.id, network_id: host.network_id, ...tcp(443) }));
    expect(problems(port, portShape)).toEqual([]);
    expect(port).toMatchObject({
      host_id: host.id,
      network_id: host.network_id,
      number: 443,
      protocol: "Tcp",
      type: "Https",
      last_seen_at: port.created_at,
      first_discovery_id: null,
      last_discovery_id: null,
    });
    expect((await get(`hosts/${host.id}`)).ports).toEqual([port]);
  });

  test("has the type of its number and protocol, regardless of the type sent", async () => {
    const host = await newHost();
    const port = await expectOk(post({ host_id: host.id, ...tcp(22), type: "Telnet" }));
    expect(port.type).toBe("Ssh");
    for (const [number, protocol, type] of [
      [53, "Udp", "DnsUdp"],
      [53, "Tcp", "DnsTcp"],
      [22, "Udp", "Custom"],
      [65_535, "Tcp", "Custom"],
    ] as const) {
      expect(await expectOk(put(port.id, { ...port, number, protocol }))).toMatchObject({
        id: port.id,
        number,
        protocol,
        type,
      });
    }
    expect(versionsOf(port.id).at(1)).toMatchObject({ changed: ["number", "protocol", "type"] });
  });

  test.each([[0], [-1], [65_536], [1.5], ["443"], [null]])("rejects the number %p", async (number) => {
    const host = await newHost();
    const expectNothingWritten = watchWrites();
    expect(await post({ host_id: host.id, number, protocol: "Tcp" })).toMatchObject(
      invalid({ path: "/number", value: number }),
    );
    expectNothingWritten();
  });

  test("is unique by host, number and protocol", async () => {
    const [host, otherHost] = [await newHost(), await newHost()];
    await expectOk(post({ host_id: host.id, ...tcp(53) }));
    await expectOk(post({ host_id: host.id, number: 53, protocol: "Udp" }));
    await expectOk(post({ host_id: otherHost.id, ...tcp(53) }));
    expect(await post({ host_id: host.id, number: 53, protocol: "Udp" })).toMatchObject(
      refusal(409, "entity_already_exists", { entity: "port", field: "number", value: 53 }),
    );
  });

  test("creates a version of its host and changes the host's lock and ETag", async () => {
    const host = await newHost();
    const etag = (await owner.get(`hosts/${host.id}`)).headers.get("etag") as string;
    tick();
    const port = await expectOk(post({ host_id: host.id, ...tcp(80) }));
    expect((await get(`hosts/${host.id}`)).updated_at).toBe(port.created_at);
    expect(versionsOf(host.id).at(-1)).toMatchObject({ operation: "Updated", changed: ["ports"] });
    const stale = { id: host.id, name: "lost", hidden: false, tags: [] };
    expect(await owner.put(`hosts/${host.id}`, stale, { "if-match": etag })).toMatchObject({ status: 412 });
    expect(await owner.put(`hosts/${host.id}`, { ...stale, expected_updated_at: host.updated_at })).toMatchObject(
      refusal(409, "entity_stale"),
    );
    tick();
    await expectOk(owner.delete(`${PATH}/${port.id}`));
    expect(versionsOf(host.id)).toMatchObject([{ changed: null }, { changed: ["ports"] }, { changed: ["ports"] }]);
    expect((await get(`hosts/${host.id}?at=${port.created_at}`)).ports).toMatchObject([{ id: port.id }]);
  });

  test("deletes its bindings with it, in one transaction, with one version each of its services and host", async () => {
    const host = await newHost({ ports: [tcp(80), tcp(443)] });
    const [http, https] = host.ports as [JsonRecord, JsonRecord];
    const web = await expectOk(
      owner.post("services", {
        host_id: host.id,
        name: "web",
        service_definition: "Nginx",
        bindings: [onPort(http.id), onPort(https.id)],
      }),
    );
    const otherService = await expectOk(
      owner.post("services", {
        host_id: host.id,
        name: "other",
        service_definition: "Nginx",
        bindings: [onPort(https.id)],
      }),
    );
    tick();
    const before = transactionCount();
    const closed = await expectOk(owner.delete(`${PATH}/${http.id}`));
    expect(closed).toEqual({ ...http, valid_to: clock.text() });
    expect(transactionCount()).toBe(before + 1);
    expect(writtenIn()).toEqual({ "Deleted port": 1, "Deleted binding": 1, "Updated service": 1, "Updated host": 1 });
    expect((await get(`services/${web.id}`)).bindings).toEqual([web.bindings[1]]);
    expect(await get(`services/${otherService.id}`)).toEqual(otherService);
    expect((await get(`services/${web.id}?at=${web.valid_from}`)).bindings).toEqual([
      { ...web.bindings[0], valid_to: closed.valid_to },
      web.bindings[1],
    ]);
    expect(versionsOf(host.id).at(-1)).toMatchObject({ changed: ["ports", "services"] });
    expect(versionsOf(web.id).at(-1)).toMatchObject({ changed: ["bindings"] });
  });

  test("keeps its bindings when renumbered", async () => {
    const host = await newHost({ ports: [tcp(80)] });
    const port = host.ports[0] as JsonRecord;
    const service = await expectOk(
      owner.post("services", {
        host_id: host.id,
        name: "web",
        service_definition: "Nginx",
        bindings: [onPort(port.id)],
      }),
    );
    await expectOk(put(port.id, tcp(8_080)));
    expect(writtenIn()).toEqual({ "Updated port": 1, "Updated host": 1 });
    expect(await get(`services/${service.id}`)).toEqual(service);
  });

  test("creates one version of each host when deleted in bulk", async () => {
    const ports = [80, 443, 8_080].map((number) => tcp(number));
    const [host, otherHost] = [await newHost({ ports }), await newHost({ ports })];
    const ids = [...(host.ports as JsonRecord[]), ...(otherHost.ports as JsonRecord[]).slice(1)].map((port) => port.id);
    const response = await owner.post(`${PATH}/bulk-delete`, ids);
    expect(response.data.map((port: JsonRecord) => port.id)).toEqual(ids);
    expect(writtenIn()).toEqual({ "Deleted port": 5, "Updated host": 2 });
    expect((await get(`hosts/${otherHost.id}`)).ports).toEqual([otherHost.ports[0]]);
  });
});

describe("the ports of a host", () => {
  test("are at most 10,000, even when added one by one", async () => {
    const ports = Array.from({ length: 10_000 }, (_, position) => tcp(position + 1));
    const host = await newHost({ ports });
    const expectNothingWritten = watchWrites();
    expect(await post({ host_id: host.id, number: 1, protocol: "Udp" })).toMatchObject(
      invalid({ path: "/host_id", value: host.id }),
    );
    expectNothingWritten();
    await expectOk(owner.delete(`${PATH}/${host.ports[0].id}`));
    await expectOk(post({ host_id: host.id, number: 1, protocol: "Udp" }));
  });

  test("are listed by host and by network, now and in the past, within the caller's reach", async () => {
    const hidden = await expectOk(owner.post("networks", { name: "Hidden" }));
    const [host, other, unseen] = [await newHost(), await newHost(), await newHost({ network_id: hidden.id })];
    const ports: JsonRecord[] = [];
    for (const { id } of [host, other, unseen] as JsonRecord[])
      ports.push(await expectOk(post({ host_id: id, ...tcp(80) })));
    tick();
    const at = clock.text();
    tick();
    await expectOk(owner.delete(`${PATH}/${ports[0]?.id}`));
    const { client } = await newViewer();
    const ids = async (caller: typeof client, query: string) =>
      (await caller.get(`${PATH}?${query}`)).data.map((port: JsonRecord) =>
        ports.findIndex((listed) => listed.id === port.id),
      );
    for (const [query, present, past] of [
      ["", [1, 2], [0, 1, 2]],
      [`host_id=${host.id}`, [], [0]],
      [`host_id=${unseen.id}`, [2], [2]],
      [`network_id=${first.networkId}`, [1], [0, 1]],
      [`network_id=${hidden.id}&host_id=${host.id}`, [], []],
    ] as const) {
      expect([query, await ids(owner, query), await ids(owner, `${query}&at=${at}`)]).toEqual([
        query,
        present as unknown as number[],
        past as unknown as number[],
      ]);
      expect([query, await ids(client, query), await ids(client, `${query}&at=${at}`)]).toEqual([
        query,
        present.filter((index) => index !== 2),
        past.filter((index) => index !== 2),
      ]);
    }
  });
});
