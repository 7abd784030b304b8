// POST /api/v1/hosts/bulk: created, updated and unchanged hosts in one transaction; errors by index, without writes.

import { beforeEach, describe, expect, test } from "bun:test";
import { BODY_MAX_CONTAINERS, BULK_BODY_LIMIT_BYTES } from "../../src/http/body.ts";
import { BULK_MAX } from "../../src/schemas/schemas.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { ApiResponse, Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord, onPort, refusal, tcp } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { anonymous, clock, first, owner } = appliance;
const { holdWrites, newCredential, newHost, newNetwork, newTag, newVlan, tick, transactionCount } = appliance;
const { watchWrites, versionsOf, writtenIn, newMember, newViewer } = appliance;
let networkId: string;

const UNKNOWN_ID = "01936f2e-0d5c-7d3a-9a39-00000000dead";
const NEW_ID = "01936f2e-0d5c-7d3a-9a39-00000000beef";

beforeEach(async () => {
  networkId = first.networkId;
  await expectOk(owner.post("subnets", { network_id: networkId, cidr: "10.2.0.0/16" }));
  tick();
});

function bulk(items: unknown, caller: Client = owner): Promise<ApiResponse> {
  return caller.post("hosts/bulk", items);
}

function host(id: string): Promise<JsonRecord> {
  return expectOk(owner.get(`hosts/${id}`));
}

function minimalHost(fields: JsonRecord = {}): JsonRecord {
  return { network_id: networkId, name: "switch", ...fields };
}

/** A host with one child of each kind. */
function hostWithParts(number: number, fields: JsonRecord = {}): JsonRecord {
  return minimalHost({
    name: `switch ${number}`,
    ip_addresses: [{ ip_address: `10.2.${number}.1` }],
    ports: [{ id: id(number, 1), ...tcp(22) }],
    services: [{ name: "ssh", service_definition: "OpenSSH", bindings: [onPort(id(number, 1))] }],
    interfaces: [
      { if_index: 1, if_descr: "Gi1/0/1", fdb_macs: ["00:1b:21:00:00:01"] },
      { if_index: 2, if_descr: "Gi1/0/2" },
    ],
    ...fields,
  });
}

function id(number: number, part: number): string {
  return `01936f2e-0d5c-7d3a-9a39-${String(number).padStart(6, "0")}${String(part).padStart(6, "0")}`;
}

/** Issues of a refusal, by pointer. */
function issuesOf(response: ApiResponse): Array<[string, string]> {
  return response.body.params.issues.map((issue: JsonRecord) => [issue.path, issue.code]);
}

describe("a bulk write of hosts", () => {
  test("creates hosts with all their parts, in request order, in one transaction with one timestamp", async () => {
    const before = transactionCount();
    const response = await bulk([
      hostWithParts(1),
      hostWithParts(2, { id: NEW_ID }),
      minimalHost({ name: "bare", hidden: true }),
    ]);
    expect(response.status).toBe(200);
    expect(response.data.map((host: JsonRecord) => [host.name, host.operation, host.updated_at])).toEqual([
      ["switch 1", "Created", clock.text()],
      ["switch 2", "Created", clock.text()],
      ["bare", "Created", clock.text()],
    ]);
    expect(response.data[1].id).toBe(NEW_ID);
    expect(transactionCount()).toBe(before + 1);
    expect(writtenIn()).toEqual({
      "Created host": 3,
      "Created ip_address": 2,
      "Created port": 2,
      "Created service": 2,
      "Created binding": 2,
      "Created if_entry": 4,
      "Created fdb_entry": 2,
    });
    const stored = await host(response.data[0].id);
    expect(stored).toMatchObject({
      name: "switch 1",
      hidden: false,
      tags: [],
      created_at: response.data[0].updated_at,
    });
    expect(stored.services[0].bindings[0].port_id).toBe(id(1, 1));
    expect(stored.interfaces.map((item: JsonRecord) => [item.if_index, item.admin_status, item.oper_status])).toEqual([
      [1, "Up", "Unknown"],
      [2, "Up", "Unknown"],
    ]);
  });

  test("updates existing hosts by id, and preserves omitted fields and lists", async () => {
    const tag = await newTag();
    const [created] = (
      await bulk([hostWithParts(1, { tags: [tag.id], hidden: true, hostname: "one.example.net", sys_name: "one" })])
    ).data;
    const old = await host(created.id);
    tick();
    const response = await bulk([{ id: created.id, name: "renamed", sys_name: null, services: null }]);
    expect(response.data).toEqual([
      { id: created.id, name: "renamed", operation: "Updated", updated_at: clock.text() },
    ]);
    expect(writtenIn()).toEqual({ "Updated host": 1 });
    expect(versionsOf(created.id).map(({ operation, changed }) => [operation, changed])).toEqual([
      ["Created", null],
      ["Updated", ["name", "sys_name"]],
    ]);
    const { name, sys_name, updated_at, valid_from, ...rest } = await host(created.id);
    expect([name, sys_name]).toEqual(["renamed", null]);
    expect(old).toMatchObject(rest);
  });

  test("makes child lists match the given ones, like the update of one host", async () => {
    const [created] = (await bulk([hostWithParts(1)])).data;
    const old = await host(created.id);
    tick();
    const response = await bulk([
      {
        id: created.id,
        network_id: networkId,
        name: "switch 1",
        ip_addresses: [{ ip_address: "10.2.9.9" }],
        ports: [],
      },
    ]);
    expect(response.data[0].operation).toBe("Updated");
    const updated = await host(created.id);
    expect(updated.ip_addresses.map((address: JsonRecord) => address.ip_address)).toEqual(["10.2.9.9"]);
    expect(updated.ports).toEqual([]);
    // The binding was deleted with its port.
    expect(updated.services.map((item: JsonRecord) => [item.id, item.bindings])).toEqual([[old.services[0].id, []]]);
  });

  test("matches interface entries by id, else by if_index: omitted fields are preserved, new entries created, missing ones deleted", async () => {
    const [created] = (
      await bulk([
        minimalHost({
          interfaces: [
            { if_index: 1, if_descr: "one", if_alias: "kept", fdb_macs: ["00:1b:21:00:00:01"] },
            { if_index: 2, if_descr: "two", if_alias: "moved" },
            { if_index: 3, if_descr: "three" },
          ],
        }),
      ])
    ).data;
    const [one, two, three] = (await host(created.id)).interfaces;
    tick();
    const response = await bulk([
      {
        id: created.id,
        name: "switch",
        interfaces: [
          { if_index: 1, if_descr: "one again" },
          { id: two.id, if_index: 9, if_descr: "two" },
          { if_index: 4, if_descr: "four" },
        ],
      },
    ]);
    expect(response.data[0].operation).toBe("Updated");
    expect(writtenIn()).toEqual({
      "Updated host": 1,
      "Created if_entry": 1,
      "Updated if_entry": 2,
      "Deleted if_entry": 1,
    });
    expect(versionsOf(created.id).at(-1)?.changed).toEqual(["interfaces"]);
    const updated = (await expectOk(owner.get(`if-entries?host_id=${created.id}`))) as unknown as JsonRecord[];
    expect(updated.map((entry) => [entry.id, entry.if_index, entry.if_descr, entry.if_alias, entry.fdb_macs])).toEqual([
      [one.id, 1, "one again", "kept", ["00:1b:21:00:00:01"]],
      [two.id, 9, "two", "moved", undefined],
      [expect.any(String), 4, "four", undefined, undefined],
    ]);
    expect((await owner.get(`if-entries/${three.id}`)).status).toBe(404);
  });

  test("leaves interface entries alone if the list is null or omitted, and deletes all for an empty one", async () => {
    const [created] = (await bulk([hostWithParts(1)])).data;
    for (const interfaces of [undefined, null]) {
      expect((await bulk([{ id: created.id, name: "switch 1", interfaces }])).data[0].operation).toBe("Unchanged");
    }
    expect((await bulk([{ id: created.id, name: "switch 1", interfaces: [] }])).data[0].operation).toBe("Updated");
    expect((await host(created.id)).interfaces).toEqual([]);
  });

  test("swaps the if_index of two entries", async () => {
    const [created] = (await bulk([hostWithParts(1)])).data;
    const [one, two] = (await host(created.id)).interfaces;
    await expectOk(
      bulk([
        {
          id: created.id,
          name: "switch 1",
          interfaces: [
            { id: one.id, if_index: 2, if_descr: "Gi1/0/1" },
            { id: two.id, if_index: 1, if_descr: "Gi1/0/2" },
          ],
        },
      ]),
    );
    expect((await host(created.id)).interfaces.map((entry: JsonRecord) => [entry.id, entry.if_index])).toEqual([
      [one.id, 2],
      [two.id, 1],
    ]);
  });

  test("accepts a mixture, reports the outcome of each, and creates no version of an unchanged host", async () => {
    const [first, second] = (await bulk([hostWithParts(1), hostWithParts(2)])).data;
    tick();
    const sent = await host(first.id);
    const response = await bulk([
      { ...sent, valid_to: null },
      {
        id: second.id,
        name: "switch 2",
        interfaces: [
          { if_index: 1, if_descr: "Gi1/0/1" },
          { if_index: 2, if_descr: "other" },
        ],
      },
      minimalHost(),
    ]);
    expect(response.data.map((outcome: JsonRecord) => [outcome.id, outcome.operation, outcome.updated_at])).toEqual([
      [first.id, "Unchanged", first.updated_at],
      [second.id, "Updated", clock.text()],
      [expect.any(String), "Created", clock.text()],
    ]);
    expect(versionsOf(first.id)).toHaveLength(1);
    expect(writtenIn()).toEqual({ "Updated host": 1, "Updated if_entry": 1, "Created host": 1 });
  });

  test("writes nothing if nothing changes, for whole hosts sent back as returned", async () => {
    const { data } = await bulk([hostWithParts(1), hostWithParts(2)]);
    const hosts = await Promise.all(data.map((item: JsonRecord) => host(item.id)));
    const expectNothingWritten = watchWrites();
    tick();
    const response = await bulk(hosts);
    expect(response.data.map((outcome: JsonRecord) => outcome.operation)).toEqual(["Unchanged", "Unchanged"]);
    expectNothingWritten();
  });

  test("links mutual neighbor interfaces, and a host to the service that runs it, in any item order", async () => {
    const link = (near: number, far: number) => [
      { id: id(near, 7), if_index: 1, if_descr: "uplink", neighbor: { type: "IfEntry", id: id(far, 7) } },
    ];
    const response = await bulk([
      minimalHost({
        name: "guest",
        virtualization: { type: "Kvm", details: { service_id: id(2, 8) } },
        interfaces: link(1, 2),
      }),
      minimalHost({
        name: "hypervisor",
        services: [{ id: id(2, 8), name: "libvirt", service_definition: "KVM" }],
        interfaces: link(2, 1),
      }),
    ]);
    expect(response.status).toBe(200);
    expect((await host(response.data[0].id)).interfaces[0].neighbor).toEqual({ type: "IfEntry", id: id(2, 7) });
    expect((await host(response.data[1].id)).interfaces[0].neighbor).toEqual({ type: "IfEntry", id: id(1, 7) });
    expect(versionsOf(id(1, 7))).toHaveLength(1);
    await expectOk(
      bulk([
        { id: response.data[0].id, name: "guest", interfaces: [{ if_index: 1, if_descr: "uplink", neighbor: null }] },
      ]),
    );
    expect((await host(response.data[0].id)).interfaces[0].neighbor).toBeNull();
  });

  test("honors expected_updated_at; null does not lock", async () => {
    const [created] = (await bulk([minimalHost()])).data;
    tick();
    await expectOk(bulk([{ id: created.id, name: "second", expected_updated_at: created.updated_at }]));
    const stale = await bulk([
      { id: created.id, name: "third", expected_updated_at: created.updated_at },
      minimalHost(),
    ]);
    expect(stale.status).toBe(409);
    expect(stale.body).toMatchObject({
      code: "entity_stale",
      params: { issues: [{ path: "/0/expected_updated_at", code: "entity_stale", value: created.updated_at }] },
    });
    expect((await bulk([{ id: created.id, name: "third", expected_updated_at: null }])).data[0].operation).toBe(
      "Updated",
    );
  });

  test("gives a re-created host its lineage", async () => {
    const [created] = (await bulk([minimalHost({ interfaces: [{ if_index: 1, if_descr: "one" }] })])).data;
    await expectOk(owner.delete(`hosts/${created.id}`));
    const [retried] = (await bulk([minimalHost()])).data;
    expect((await host(retried.id)).lineage_id).toBe(created.id);
  });

  test("returns the original response when repeated with its Idempotency-Key", async () => {
    const items = [hostWithParts(1), minimalHost()];
    const first = await owner.post("hosts/bulk", items, { "idempotency-key": "once" });
    const expectNothingWritten = watchWrites();
    const second = await owner.post("hosts/bulk", items, { "idempotency-key": "once" });
    expect(second.data).toEqual(first.data);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expectNothingWritten();
    const reused = await owner.post("hosts/bulk", [minimalHost()], { "idempotency-key": "once" });
    expect(reused.body.code).toBe("idempotency_key_reused");
  });
});

describe("a refused bulk write", () => {
  /** Expects a refusal without writes. */
  async function expectRefused(items: unknown, caller?: Client): Promise<ApiResponse> {
    const expectNothingWritten = watchWrites();
    const response = await bulk(items, caller);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expectNothingWritten();
    expect((await owner.get("hosts?limit=1")).body.meta.pagination.total_count).toBe(hostsBefore);
    return response;
  }
  let hostsBefore = 0;

  async function existingHost(fields: JsonRecord = {}): Promise<JsonRecord> {
    hostsBefore += 1;
    return newHost(fields);
  }

  beforeEach(() => {
    hostsBefore = 0;
  });

  test("reports every issue of every item, with their common code", async () => {
    const response = await expectRefused([
      minimalHost({ tags: [UNKNOWN_ID] }),
      minimalHost(),
      minimalHost({ network_id: UNKNOWN_ID }),
      minimalHost({
        virtualization: { type: "Kvm", details: { service_id: UNKNOWN_ID } },
        interfaces: [
          { if_index: 1, if_descr: "a", native_vlan_id: UNKNOWN_ID },
          {
            if_index: 2,
            if_descr: "b",
            ip_address_id: UNKNOWN_ID,
            vlan_ids: [UNKNOWN_ID],
            neighbor: { type: "Host", id: UNKNOWN_ID },
          },
          { if_index: 3, if_descr: "c", neighbor: { type: "Host", id: UNKNOWN_ID } },
        ],
      }),
      minimalHost({ services: [{ name: "web", service_definition: "nginx", tags: [UNKNOWN_ID] }] }),
      minimalHost({ credential_assignments: [{ credential_id: UNKNOWN_ID }] }),
    ]);
    expect(response).toMatchObject(refusal(400, "entity_reference_invalid"));
    expect(issuesOf(response).toSorted()).toEqual(
      [
        ..."/0/tags/0 /2/network_id /3/interfaces/0/native_vlan_id /3/interfaces/1/ip_address_id".split(" "),
        ..."/3/interfaces/1/neighbor/id /3/interfaces/1/vlan_ids/0 /3/interfaces/2/neighbor/id".split(" "),
        ..."/3/virtualization/details/service_id /4/services/0/tags/0".split(" "),
        "/5/credential_assignments/0/credential_id",
      ].map((path) => [path, "entity_reference_invalid"]),
    );
    expect(response.body.error).toContain("9 more issues are listed in params.issues.");
  });

  test("reports every issue of one item together: of its services, bindings and interfaces, of any kind", async () => {
    const known = await existingHost({ interfaces: [{ if_index: 1, if_descr: "a" }] });
    const wrong = {
      tags: [UNKNOWN_ID],
      ip_addresses: [{ ip_address: "10.2.3.4" }, { ip_address: "10.2.3.4" }, { ip_address: "192.0.2.1" }],
      ports: [tcp(1, networkId)],
      services: [
        { name: "a", service_definition: "A", tags: [UNKNOWN_ID], bindings: [onPort(UNKNOWN_ID)] },
        { name: "b", service_definition: "B", tags: [UNKNOWN_ID] },
      ],
      credential_assignments: [{ credential_id: UNKNOWN_ID }],
      interfaces: [
        { if_index: 1, if_descr: "a", native_vlan_id: UNKNOWN_ID },
        { if_index: 1, if_descr: "b", organization_id: UNKNOWN_ID },
      ],
    };
    const response = await expectRefused([minimalHost(wrong), { id: known.id, name: "x", ...wrong }]);
    expect([response.status, response.body.code]).toEqual([400, "validation_failed"]);
    const expected: Array<[string, string, unknown]> = [
      ["/credential_assignments/0/credential_id", "entity_reference_invalid", UNKNOWN_ID],
      ["/interfaces/0/native_vlan_id", "entity_reference_invalid", UNKNOWN_ID],
      ["/interfaces/1", "validation_failed", { if_index: 1 }],
      ["/interfaces/1/organization_id", "entity_access_denied", UNKNOWN_ID],
      ["/ip_addresses/1", "validation_failed", { ip_address: "10.2.3.4" }],
      ["/ip_addresses/2/ip_address", "validation_failed", "192.0.2.1"],
      ["/ports/0/id", "entity_already_exists", networkId],
      ["/services/0/bindings/0/port_id", "entity_reference_invalid", UNKNOWN_ID],
      ["/services/0/tags/0", "entity_reference_invalid", UNKNOWN_ID],
      ["/services/1/tags/0", "entity_reference_invalid", UNKNOWN_ID],
      ["/tags/0", "entity_reference_invalid", UNKNOWN_ID],
    ];
    const reported = response.body.params.issues.map((issue: JsonRecord) => [issue.path, issue.code, issue.value]);
    expect(reported.toSorted()).toEqual(
      [0, 1].flatMap((item) => expected.map(([path, ...rest]) => [`/${item}${path}`, ...rest])),
    );
  });

  test("is 400 validation_failed where the codes differ", async () => {
    const stale = await existingHost();
    const response = await expectRefused([
      { id: stale.id, name: "x", expected_updated_at: "2020-01-01T00:00:00Z" },
      minimalHost({ tags: [UNKNOWN_ID] }),
      minimalHost({ organization_id: UNKNOWN_ID }),
    ]);
    expect([response.status, response.body.code]).toEqual([400, "validation_failed"]);
    expect(issuesOf(response)).toEqual([
      ["/0/expected_updated_at", "entity_stale"],
      ["/1/tags/0", "entity_reference_invalid"],
      ["/2/organization_id", "entity_access_denied"],
    ]);
  });

  test("omits errors that only follow from a refused item", async () => {
    const stale = await existingHost();
    const [service, entry, address] = [id(200, 1), id(200, 2), id(200, 3)];
    const response = await expectRefused([
      {
        id: stale.id,
        name: "x",
        expected_updated_at: "2020-01-01T00:00:00Z",
        services: [{ id: service, name: "hypervisor", service_definition: "Proxmox" }],
        interfaces: [{ id: entry, if_index: 1, if_descr: "a" }],
      },
      minimalHost({
        virtualization: { type: "Proxmox", details: { service_id: service } },
        interfaces: [
          { if_index: 1, if_descr: "b", neighbor: { type: "IfEntry", id: entry } },
          { if_index: 2, if_descr: "c", neighbor: { type: "Host", id: stale.id } },
        ],
      }),
    ]);
    expect([response.status, issuesOf(response)]).toEqual([409, [["/0/expected_updated_at", "entity_stale"]]]);
    const retried = await expectRefused([
      minimalHost({
        ip_addresses: [{ id: address, ip_address: "192.0.2.1" }],
        services: [{ id: service, name: "hypervisor", service_definition: "Proxmox", tags: [UNKNOWN_ID] }],
        interfaces: [{ id: entry, if_index: 1, if_descr: "a", native_vlan_id: UNKNOWN_ID, ip_address_id: address }],
      }),
      minimalHost({
        virtualization: { type: "Proxmox", details: { service_id: service } },
        interfaces: [{ if_index: 1, if_descr: "b", neighbor: { type: "IfEntry", id: entry } }],
      }),
    ]);
    expect(issuesOf(retried)).toEqual([
      ["/0/ip_addresses/0/ip_address", "validation_failed"],
      ["/0/services/0/tags/0", "entity_reference_invalid"],
      ["/0/interfaces/0/native_vlan_id", "entity_reference_invalid"],
    ]);
  });

  test("never reaches the writer when the schema refuses it", async () => {
    const held = holdWrites((_author, command) => command === "host.bulk");
    const response = await owner.post("hosts/bulk", [{ name: 5 }]);
    expect(response).toMatchObject(refusal(400, "validation_failed"));
    held.release();
  });

  test("reports all schema errors by pointer", async () => {
    const response = await expectRefused([
      minimalHost({ nmae: "x" }),
      minimalHost({ ports: [tcp(0)] }),
      ...Array.from({ length: 300 }, () => minimalHost({ name: "" })),
      { name: 5 },
    ]);
    expect([response.status, response.body.code]).toEqual([400, "validation_failed"]);
    const paths = response.body.params.issues.map((issue: JsonRecord) => issue.path);
    expect(paths).toHaveLength(303);
    expect(paths).toContain("/0/nmae");
    expect(paths).toContain("/1/ports/0/number");
    expect(paths).toContain("/302/name");
  });

  test("reports fields missing from a new host, and fields only for an existing one", async () => {
    const response = await expectRefused([
      { name: "a" },
      { id: UNKNOWN_ID, name: "b" },
      minimalHost({ expected_updated_at: clock.text() }),
    ]);
    expect(response.body.code).toBe("validation_failed");
    expect(issuesOf(response).map(([path]) => path)).toEqual([
      "/0/network_id",
      "/1/network_id",
      "/2/expected_updated_at",
    ]);
    expect(response.body.params.issues[0]).toEqual({
      path: "/0/network_id",
      message: "is required when creating a host",
      code: "validation_failed",
    });
  });

  test("reports reused ids, on hosts and children, including repetitions within the request", async () => {
    const deletedHost = await existingHost();
    await expectOk(owner.delete(`hosts/${deletedHost.id}`));
    hostsBefore -= 1;
    const otherHost = await existingHost({ ports: [tcp(1)] });
    const response = await expectRefused([
      minimalHost({ id: deletedHost.id }),
      minimalHost({ id: otherHost.ports[0].id }),
      minimalHost({ ports: [tcp(2), tcp(3, otherHost.ports[0].id)] }),
      minimalHost({ interfaces: [{ id: NEW_ID, if_index: 1, if_descr: "a" }] }),
      minimalHost({
        interfaces: [
          { if_index: 1, if_descr: "a" },
          { id: NEW_ID, if_index: 2, if_descr: "b" },
        ],
      }),
    ]);
    expect([response.status, response.body.code]).toEqual([409, "entity_already_exists"]);
    expect(issuesOf(response).map(([path]) => path)).toEqual(["/0/id", "/1/id", "/2/ports/1/id", "/4/interfaces/1/id"]);
  });

  test("reports duplicates: a host, an address, a port, a service, an interface", async () => {
    const known = await existingHost();
    const twice = (item: JsonRecord) => [item, item];
    const response = await expectRefused([
      { id: known.id, name: "a" },
      { id: known.id, name: "b" },
      minimalHost({
        ip_addresses: twice({ ip_address: "10.2.3.4" }),
        ports: twice(tcp(1)),
        services: twice({ name: "a", service_definition: "b" }),
        interfaces: twice({ if_index: 1, if_descr: "a" }),
      }),
    ]);
    expect([response.status, response.body.code]).toEqual([400, "validation_failed"]);
    expect(issuesOf(response).map(([path]) => path)).toEqual(
      "/1/id /2/ip_addresses/1 /2/ports/1 /2/services/1 /2/interfaces/1".split(" "),
    );
  });

  test("reports addresses outside every subnet, and ids of other hosts", async () => {
    const known = await existingHost();
    const response = await expectRefused([
      minimalHost({ ip_addresses: [{ ip_address: "192.0.2.1" }] }),
      {
        id: known.id,
        name: "a",
        network_id: UNKNOWN_ID,
        interfaces: [{ if_index: 1, if_descr: "a", host_id: UNKNOWN_ID, network_id: UNKNOWN_ID }],
      },
    ]);
    expect(
      issuesOf(response)
        .map(([path]) => path)
        .toSorted(),
    ).toEqual(
      "/0/ip_addresses/0/ip_address /1/interfaces/0/host_id /1/interfaces/0/network_id /1/network_id".split(" "),
    );
  });

  test("is limited to the caller's reach: a network is unknown, a host's id is already used", async () => {
    const otherNetwork = await newNetwork();
    hostsBefore += 1;
    const foreign = await newHost({ network_id: otherNetwork.id });
    const vlan = await newVlan({ network_id: otherNetwork.id });
    const member = await newMember();
    const networks = await expectRefused(
      [
        minimalHost({ network_id: otherNetwork.id }),
        minimalHost({ interfaces: [{ if_index: 1, if_descr: "a", native_vlan_id: vlan.id }] }),
      ],
      member.client,
    );
    expect([networks.status, networks.body.code]).toEqual([400, "entity_reference_invalid"]);
    expect(issuesOf(networks).map(([path]) => path)).toEqual(["/0/network_id", "/1/interfaces/0/native_vlan_id"]);
    const taken = await expectRefused([{ id: foreign.id, network_id: networkId, name: "mine" }], member.client);
    expect([taken.status, taken.body.code]).toEqual([409, "entity_already_exists"]);
    expect(JSON.stringify(taken.body)).not.toContain(foreign.name);
  });

  test("changes credential assignments for an Admin only; they are accepted when sent back unchanged", async () => {
    const credential = await newCredential();
    const member = await newMember();
    const assignments = [{ credential_id: credential.id }];
    const response = await expectRefused(
      [
        minimalHost({ credential_assignments: assignments }),
        minimalHost(),
        minimalHost({ credential_assignments: assignments }),
      ],
      member.client,
    );
    expect([response.status, response.body.code]).toEqual([403, "auth_permission_denied"]);
    expect(response.body.params.issues.map((issue: JsonRecord) => issue.path)).toEqual(["/0", "/2"]);
    const [created] = (await bulk([minimalHost({ credential_assignments: assignments })])).data;
    expect((await host(created.id)).credential_assignments).toEqual(assignments);
    expect(
      (await bulk([{ id: created.id, name: "switch", credential_assignments: assignments }], member.client)).data[0]
        .operation,
    ).toBe("Unchanged");
  });

  test("accepts 1 to 1,000 hosts", async () => {
    expect((await expectRefused([])).body.params.issues[0]).toMatchObject({
      path: "",
      message: `must have 1 to ${BULK_MAX} items`,
    });
    expect((await expectRefused(Array.from({ length: BULK_MAX + 1 }, () => minimalHost()))).body.code).toBe(
      "validation_failed",
    );
    expect((await expectRefused(minimalHost())).body.params.issues[0]).toMatchObject({
      path: "",
      message: "must be an array",
    });
    expect((await bulk(Array.from({ length: BULK_MAX }, () => minimalHost()))).data).toHaveLength(BULK_MAX);
  });

  test("authenticates the caller before the body, and reports body errors as such", async () => {
    expect((await expectRefused("[{", anonymous)).body.code).toBe("auth_not_authenticated");
    const viewer = await newViewer();
    expect((await expectRefused("[{", viewer.client)).body.code).toBe("auth_permission_denied");
    expect((await expectRefused("[{")).body.code).toBe("malformed_json");
    expect((await expectRefused("")).body.code).toBe("malformed_json");
    expect((await expectRefused(`[${"{},".repeat(BODY_MAX_CONTAINERS)}{}]`)).body).toMatchObject({
      code: "malformed_json",
      params: { max_containers: BODY_MAX_CONTAINERS },
    });
    expect((await expectRefused(`[${"[".repeat(64)}${"]".repeat(64)}]`)).body.code).toBe("malformed_json");
    expect((await owner.post("hosts/bulk", "[]", { "content-type": "text/plain" })).body.code).toBe(
      "unsupported_media_type",
    );
    const large = await owner.post("hosts/bulk", "[]", { "content-length": String(BULK_BODY_LIMIT_BYTES + 1) });
    expect(large.body).toMatchObject({ code: "payload_too_large", params: { limit_bytes: BULK_BODY_LIMIT_BYTES } });
    expect((await owner.post("hosts/bulk?x=1", "[]")).body.params.issues[0].path).toBe("/x");
  });
});
