// Services as separate records: fields, listed bindings, and services that run others.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, invalid, type JsonRecord, onPort, refusal, tcp } from "../support/appliance/factories.ts";
import { hostReference, tagReference, UNKNOWN_ID } from "../support/contract/record-subject.ts";
import { describeRecords } from "../support/contract/record-suite.ts";
import { problems, serviceShape } from "../support/contract/shapes.ts";

const PATH = "/api/v1/services";

const appliance = applianceForEach();
const { clock, first, owner, newHost, newNetwork, newSubnet, newTag, tick, watchWrites } = appliance;
const { versionsOf, writtenIn, newMember } = appliance;

const get = (path: string) => expectOk(owner.get(path));
const post = (body: JsonRecord, caller = owner) =>
  caller.post(PATH, { name: "web", service_definition: "Nginx", ...body });
const put = (service: JsonRecord, changes: JsonRecord = {}, caller = owner) =>
  caller.put(`${PATH}/${service.id}`, {
    name: service.name,
    service_definition: service.service_definition,
    ...changes,
  });

/** For describeRecords: ids of ports, by host id. */
const portOf = new Map<string, string>();

describeRecords(
  {
    path: PATH,
    entity: "service",
    writeRole: "Member",
    scope: "in a network",
    container: {
      field: "host_id",
      entity: "host",
      create: async (caller, networkId) => {
        const { id, ports } = await expectOk(
          caller.post("hosts", { network_id: networkId, name: "server", ports: [tcp(80)] }),
        );
        portOf.set(id, ports[0].id);
        return id;
      },
    },
    body: (hostId, position) => ({
      host_id: hostId,
      name: `web ${position}`,
      service_definition: "Nginx",
      position: 7,
      tags: [],
      virtualization: { type: "Docker", details: { container_name: "web" } },
      bindings: [{ type: "Port", port_id: portOf.get(hostId) ?? UNKNOWN_ID, ip_address_id: null }],
    }),
    change: { field: "position", to: (body) => (body.position === 7 ? 8 : 7) },
    unique: "name",
    writes: {
      created: { "Created binding": 1, "Updated host": 1 },
      updated: { "Updated host": 1 },
      deleted: { "Deleted binding": 1, "Updated host": 1 },
    },
    invalid: {
      body: {
        id: "x",
        host_id: 5,
        name: "",
        service_definition: "d".repeat(101),
        position: 0.5,
        tags: ["a"],
        virtualization: { type: "Kvm", details: { vm_name: "x" } },
        bindings: [onPort(5), { type: "IpAddress", ip_address_id: UNKNOWN_ID, port_id: UNKNOWN_ID }],
        port: 80,
      },
      paths: [
        ..."/id /name /service_definition /position /tags/0 /virtualization/type".split(" "),
        ..."/virtualization/details/vm_name /bindings/0/port_id /bindings/1/port_id /port".split(" "),
      ],
    },
    references: [
      hostReference("host_id", ({ bindings: _bindings, ...body }, id) => ({ ...body, host_id: id })),
      tagReference(),
      {
        field: "virtualization/details/service_id",
        entity: "service",
        withReference: (body, id) => ({ ...body, virtualization: { type: "Podman", details: { service_id: id } } }),
        create: async (caller, _networkId, hostId) =>
          (await expectOk(caller.post(PATH, { host_id: hostId, name: "Reference", service_definition: "Podman" }))).id,
      },
      {
        field: "bindings/0/port_id",
        entity: "port",
        withReference: (body, id) => ({ ...body, bindings: [onPort(id)] }),
        create: async (_by, _networkId, hostId) => portOf.get(hostId) as string,
      },
    ],
  },
  appliance,
);

describe("a service", () => {
  test("is identical to the one in its host, with its bindings", async () => {
    await newSubnet({ cidr: "10.2.3.0/24" });
    const host = await newHost({ ip_addresses: [{ ip_address: "10.2.3.1" }], ports: [tcp(443)] });
    const [port_id, ip_address_id] = [host.ports[0].id, host.ip_addresses[0].id];
    const bindings = [onPort(port_id), { type: "Port", port_id, ip_address_id }, { type: "IpAddress", ip_address_id }];
    const service = await expectOk(post({ host_id: host.id, network_id: host.network_id, bindings }));
    expect(problems(service, serviceShape)).toEqual([]);
    expect(service).toMatchObject({
      host_id: host.id,
      position: 0,
      source: { type: "Manual" },
      tags: [],
      virtualization: null,
      last_seen_at: service.created_at,
      bindings: [{ ip_address_id: null }, ...bindings.slice(1)],
    });
    expect((await get(`hosts/${host.id}`)).services).toEqual([service]);
    expect(writtenIn()).toEqual({ "Created service": 1, "Created binding": 3, "Updated host": 1 });
    expect(versionsOf(host.id).at(-1)).toMatchObject({ operation: "Updated", changed: ["services"] });
    for (const list of [`host_id=${host.id}`, `host_id=${host.id}&limit=0`, `at=${service.created_at}`, "limit=21"])
      expect((await owner.get(`${PATH}?${list}`)).data).toEqual([service]);
  });

  test("is appended after the host's last one, unless it has a position", async () => {
    const host = await newHost({
      services: [
        { name: "a", service_definition: "A", position: 9 },
        { name: "b", service_definition: "B" },
      ],
    });
    expect(await expectOk(post({ host_id: host.id }))).toMatchObject({ position: 10 });
    expect(await expectOk(post({ host_id: host.id, name: "other", position: 0 }))).toMatchObject({ position: 0 });
  });

  test("is unique by host, definition and name; its source is read-only", async () => {
    const [host, otherHost] = [await newHost(), await newHost()];
    const service = await expectOk(post({ host_id: host.id, source: { type: "Discovery" } }));
    expect(service.source).toEqual({ type: "Manual" });
    for (const body of [
      { host_id: host.id, name: "Web" },
      { host_id: host.id, service_definition: "nginx" },
      { host_id: otherHost.id },
    ])
      await expectOk(post(body));
    expect(await post({ host_id: host.id })).toMatchObject(
      refusal(409, "entity_already_exists", { entity: "service", field: "name", value: "web" }),
    );
  });

  test("keeps omitted position, tags, virtualization and bindings, and clears them by null or an empty list", async () => {
    const tag = await newTag();
    const host = await newHost({ ports: [tcp(80)] });
    const service = await expectOk(
      post({
        host_id: host.id,
        position: 3,
        tags: [tag.id],
        virtualization: { type: "Docker", details: {} },
        bindings: [onPort(host.ports[0].id)],
      }),
    );
    expect(await expectOk(put(service))).toEqual(service);
    expect(await expectOk(put(service, { bindings: null }))).toEqual(service);
    const cleared = await expectOk(put(service, { tags: [], virtualization: null, bindings: [] }));
    expect(cleared).toMatchObject({ position: 3, tags: [], virtualization: null, bindings: [] });
    expect(writtenIn()).toEqual({ "Updated service": 1, "Deleted binding": 1, "Updated host": 1 });
    expect(versionsOf(service.id).at(-1)).toMatchObject({ changed: ["bindings", "tags", "virtualization"] });
  });

  test("refers only to existing ports and addresses of its host", async () => {
    await newSubnet({ cidr: "10.2.3.0/24" });
    const children = { ip_addresses: [{ ip_address: "10.2.3.1" }], ports: [tcp(80)] };
    const [host, otherHost] = [await newHost(children), await newHost(children)];
    const service = await expectOk(post({ host_id: host.id }));
    const expectNothingWritten = watchWrites();
    const ownBinding = onPort(host.ports[0].id);
    for (const attempt of [
      (bindings: JsonRecord[]) => post({ host_id: host.id, name: "new", bindings }),
      (bindings: JsonRecord[]) => put(service, { bindings }),
    ]) {
      for (const id of [otherHost.ports[0].id, host.ip_addresses[0].id, UNKNOWN_ID]) {
        expect(await attempt([ownBinding, onPort(id)])).toMatchObject(
          refusal(400, "entity_reference_invalid", { entity: "port", field: "bindings/1/port_id", ids: [id] }),
        );
      }
      for (const id of [otherHost.ip_addresses[0].id, host.ports[0].id, UNKNOWN_ID]) {
        for (const binding of [
          { ...ownBinding, ip_address_id: id },
          { type: "IpAddress", ip_address_id: id },
        ]) {
          expect(await attempt([binding])).toMatchObject(
            refusal(400, "entity_reference_invalid", {
              entity: "ip_address",
              field: "bindings/0/ip_address_id",
              ids: [id],
            }),
          );
        }
      }
      expect(await attempt([ownBinding, { ...ownBinding, ip_address_id: null }])).toMatchObject(
        invalid({ path: "/bindings/1" }),
      );
      expect(
        await attempt([{ ...ownBinding, service_id: UNKNOWN_ID, host_id: otherHost.id, network_id: UNKNOWN_ID }]),
      ).toMatchObject(
        invalid(
          { path: "/bindings/0/host_id" },
          { path: "/bindings/0/network_id" },
          { path: "/bindings/0/service_id" },
        ),
      );
    }
    expectNothingWritten();
  });

  test("matches its bindings: existing ones are kept, others created and deleted, all in one version", async () => {
    const host = await newHost({ ports: [80, 443, 8_080].map((number) => tcp(number)) });
    const [http, https, proxy] = (host.ports as JsonRecord[]).map((port) => port.id as string) as [
      string,
      string,
      string,
    ];
    const service = await expectOk(post({ host_id: host.id, bindings: [onPort(http), onPort(https)] }));
    const [first, second] = service.bindings as [JsonRecord, JsonRecord];
    tick();
    // One is matched by its targets, one by its id and moves; both change places in the list.
    const changed = await expectOk(
      put(service, { bindings: [{ id: second.id, type: "Port", port_id: proxy }, onPort(http)] }),
    );
    expect(changed.bindings).toEqual([
      first,
      { ...second, port_id: proxy, updated_at: clock.text(), valid_from: clock.text() },
    ]);
    expect(writtenIn()).toEqual({ "Updated binding": 1, "Updated service": 1, "Updated host": 1 });
    const replaced = await expectOk(put(service, { bindings: [onPort(https)] }));
    expect(replaced.bindings).toMatchObject([{ port_id: https }]);
    expect([first.id, second.id]).not.toContain(replaced.bindings[0].id);
    expect(writtenIn()).toEqual({
      "Created binding": 1,
      "Deleted binding": 2,
      "Updated service": 1,
      "Updated host": 1,
    });
    expect(
      (await get(`services/${service.id}?at=${service.valid_from}`)).bindings.map(
        (binding: JsonRecord) => binding.port_id,
      ),
    ).toEqual([http, https]);
  });

  test("has at most 10,000 bindings", async () => {
    const host = await newHost({ ports: [tcp(80)] });
    const bindings = Array.from({ length: 10_001 }, () => onPort(host.ports[0].id));
    expect(await post({ host_id: host.id, bindings })).toMatchObject(invalid({ path: "/bindings" }));
  });
});

describe("a refused service", () => {
  test("reports all issues, on creation and on update", async () => {
    const host = await newHost({ ports: [tcp(443)] });
    const service = await expectOk(post({ host_id: host.id }));
    const expectNothingWritten = watchWrites();
    const portBinding = onPort(host.ports[0].id);
    const wrong = {
      tags: [UNKNOWN_ID],
      virtualization: { type: "Docker", details: { service_id: UNKNOWN_ID } },
      bindings: [portBinding, { ...portBinding, port_id: UNKNOWN_ID, ip_address_id: UNKNOWN_ID }, portBinding],
    };
    for (const response of [await post({ host_id: host.id, name: "other", ...wrong }), await put(service, wrong)]) {
      expect(response).toMatchObject(refusal(400, "validation_failed"));
      expect(response.body.params.issues.map((issue: JsonRecord) => [issue.path, issue.value, issue.code])).toEqual([
        ["/virtualization/details/service_id", UNKNOWN_ID, "entity_reference_invalid"],
        ["/tags/0", UNKNOWN_ID, "entity_reference_invalid"],
        ["/bindings/2", { ...portBinding, ip_address_id: null }, "validation_failed"],
        ["/bindings/1/port_id", UNKNOWN_ID, "entity_reference_invalid"],
        ["/bindings/1/ip_address_id", UNKNOWN_ID, "entity_reference_invalid"],
      ]);
    }
    expectNothingWritten();
  });
});

describe("a virtualizing service", () => {
  test("is in the same network, even if another is in reach", async () => {
    const otherNetwork = await newNetwork();
    const [host, far] = [await newHost(), await newHost({ network_id: otherNetwork.id })];
    const docker = await expectOk(post({ host_id: far.id, name: "docker", service_definition: "Docker" }));
    const service = await expectOk(post({ host_id: host.id }));
    const { client } = await newMember();
    const expectNothingWritten = watchWrites();
    const virtualization = { type: "Docker", details: { service_id: docker.id } };
    for (const caller of [owner, client]) {
      const refused = refusal(400, "entity_reference_invalid", {
        entity: "service",
        field: "virtualization/details/service_id",
        ids: [docker.id],
      });
      expect(await post({ host_id: host.id, name: "new", virtualization }, caller)).toMatchObject(refused);
      expect(await put(service, { virtualization }, caller)).toMatchObject(refused);
    }
    expectNothingWritten();
  });

  test("is deleted with its bindings and the references to it, including its own", async () => {
    const host = await newHost({ ports: [tcp(2_375)] });
    const docker = await expectOk(
      post({ host_id: host.id, name: "docker", service_definition: "Docker", bindings: [onPort(host.ports[0].id)] }),
    );
    const virtualization = { type: "Docker", details: { container_name: "web", service_id: docker.id } };
    const web = await expectOk(post({ host_id: host.id, virtualization }));
    const guest = await newHost({ virtualization: { type: "Kvm", details: { service_id: docker.id } } });
    await expectOk(put(docker, { virtualization }));
    tick();
    const closed = await expectOk(owner.delete(`${PATH}/${docker.id}`));
    expect(closed).toMatchObject({
      id: docker.id,
      virtualization,
      valid_to: clock.text(),
      bindings: [{ ...docker.bindings[0], valid_to: clock.text() }],
    });
    expect(writtenIn()).toEqual({
      "Deleted service": 1,
      "Deleted binding": 1,
      "Updated service": 1,
      "Updated host": 2,
    });
    expect((await get(`services/${web.id}`)).virtualization).toEqual({
      type: "Docker",
      details: { container_name: "web" },
    });
    expect((await get(`hosts/${guest.id}`)).virtualization).toEqual({ type: "Kvm", details: {} });
  });

  test("can be deleted together with what it runs", async () => {
    const host = await newHost();
    const docker = await expectOk(post({ host_id: host.id, name: "docker", service_definition: "Docker" }));
    const web = await expectOk(
      post({ host_id: host.id, virtualization: { type: "Docker", details: { service_id: docker.id } } }),
    );
    const response = await owner.post(`${PATH}/bulk-delete`, [docker.id, web.id]);
    expect(response.data).toMatchObject([
      { id: docker.id },
      { id: web.id, virtualization: { details: { service_id: docker.id } } },
    ]);
    expect(writtenIn()).toEqual({ "Deleted service": 2, "Updated host": 1 });
    expect((await get(`hosts/${host.id}`)).services).toEqual([]);
  });
});

describe("the services of a host", () => {
  test("are at most 10,000, even when added one by one", async () => {
    const host = await newHost({
      services: Array.from({ length: 10_000 }, (_, n) => ({ name: `s${n}`, service_definition: "S" })),
    });
    const expectNothingWritten = watchWrites();
    expect(await post({ host_id: host.id })).toMatchObject(invalid({ path: "/host_id", value: host.id }));
    expectNothingWritten();
  });

  test("are listed with their bindings at that time, in pages and as a stream", async () => {
    const hosts = [await newHost({ ports: [tcp(80)] }), await newHost({ ports: [tcp(80)] })];
    const services: JsonRecord[] = [];
    for (let n = 0; n < 30; n += 1) {
      const host = hosts[n % 2] as JsonRecord;
      services.push(
        await expectOk(
          post({ host_id: host.id, name: `s${n}`, bindings: n % 3 === 0 ? [] : [onPort(host.ports[0].id)] }),
        ),
      );
    }
    tick();
    const at = clock.text();
    tick();
    await expectOk(owner.delete(`ports/${hosts[0]?.ports[0].id}`));
    const bindingsIn = async (query: string) =>
      (await owner.get(`${PATH}?${query}`)).data.map((service: JsonRecord) => service.bindings.length);
    for (const page of ["limit=0", "limit=50", "limit=10&offset=3", "limit=20"]) {
      const [limit, offset = 0] = (page.match(/\d+/g) ?? []).map(Number) as [number, number?];
      const part = (counts: number[]) => counts.slice(offset, limit === 0 ? undefined : offset + limit);
      const past = services.map((service) => service.bindings.length as number);
      expect([page, await bindingsIn(`${page}&at=${at}`)]).toEqual([page, part(past)]);
      expect([page, await bindingsIn(page)]).toEqual([page, part(past.map((count, n) => (n % 2 === 0 ? 0 : count)))]);
    }
    expect(await bindingsIn(`host_id=${hosts[1]?.id}&network_id=${first.networkId}&limit=2`)).toEqual([1, 0]);
  });
});
