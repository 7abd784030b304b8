// Merging two hosts, and splitting one: moved and remaining records, credential coverage, and undo.

import { beforeEach, describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { ApiResponse, Client } from "../support/appliance/client.ts";
import { expectOk, invalid, type JsonRecord, onPort, refusal, tcp } from "../support/appliance/factories.ts";
import { content } from "../support/appliance/past.ts";

const appliance = applianceForEach(undefined, () => expect(appliance.findingsOf()).toEqual([]));
const { owner } = appliance;
const { communityOf, instant, newHost, newMember, newNetwork, newSubnet } = appliance;
const { newTag, newUser, tick, watchWrites, writtenIn } = appliance;

const id = () => crypto.randomUUID();
const get = (path: string, caller: Client = owner): Promise<JsonRecord> => expectOk(caller.get(path));
const hostOf = (hostId: string, query = "") => get(`hosts/${hostId}${query}`);

async function consolidate(
  destination: JsonRecord,
  other: JsonRecord,
  query = "",
  caller: Client = owner,
): Promise<JsonRecord> {
  tick();
  return expectOk(caller.put(`hosts/${destination.id}/consolidate/${other.id}${query}`, {}));
}

async function split(host: JsonRecord, body: JsonRecord, caller: Client = owner): Promise<JsonRecord> {
  tick();
  return expectOk(caller.post(`hosts/${host.id}/split`, body));
}

async function revert(plan: JsonRecord, caller: Client = owner): Promise<JsonRecord> {
  tick();
  return expectOk(caller.post(`transactions/${plan.sequence}/revert`, {}));
}

const ofKind = (plan: JsonRecord, type: string): JsonRecord[] =>
  plan.actions.filter((action: JsonRecord) => action.entity_type === type);
const summaryOf = (plan: JsonRecord, type: string) =>
  ofKind(plan, type)
    .map(({ name, action }) => `${name ?? ""} ${action}`.trim())
    .sort();
const values = (host: JsonRecord, list: string, field: string) =>
  host[list].map((item: JsonRecord) => item[field]).sort();

/** Contents of hosts, without version fields. */
const states = async (...hosts: JsonRecord[]) => Promise.all(hosts.map(async (host) => content(await hostOf(host.id))));

beforeEach(async () => {
  await newSubnet({ cidr: "10.2.0.0/16" });
});

/** Two hosts with every kind of child, some of them in common. */
async function newPair() {
  const [red, blue] = [await newTag({ name: "red" }), await newTag({ name: "blue" })];
  const [webPort, ownWebPort, address, entry] = [id(), id(), id(), id()];
  const destination = await newHost({
    name: "core",
    tags: [red.id],
    ip_addresses: [{ ip_address: "10.2.0.1", name: "mine" }],
    ports: [tcp(443, ownWebPort)],
    services: [{ name: "web", service_definition: "nginx", bindings: [onPort(ownWebPort)] }],
    interfaces: [{ if_index: 1, if_descr: "core 1" }],
  });
  const otherHost = await newHost({
    name: "10.2.0.2",
    serial_number: "FOC1",
    description: "found",
    tags: [red.id, blue.id],
    ip_addresses: [
      { ip_address: "10.2.0.1", name: "theirs" },
      { id: address, ip_address: "10.2.0.2" },
    ],
    ports: [tcp(443, webPort), tcp(22)],
    services: [
      {
        name: "web",
        service_definition: "nginx",
        bindings: [onPort(webPort), { type: "Port", port_id: webPort, ip_address_id: address }],
      },
      { name: "shell", service_definition: "OpenSSH" },
    ],
    interfaces: [
      { id: entry, if_index: 1, if_descr: "other 1", fdb_macs: ["00:00:5e:00:53:01"] },
      { if_index: 2, if_descr: "other 2", ip_address_id: address, fdb_macs: ["00:00:5e:00:53:02"] },
    ],
  });
  const neighborHost = await newHost({
    name: "far",
    interfaces: [
      { if_index: 1, if_descr: "to the entry", neighbor: { type: "IfEntry", id: entry } },
      { if_index: 2, if_descr: "to the host", neighbor: { type: "Host", id: otherHost.id } },
    ],
  });
  return { red, blue, destination: await hostOf(destination.id), other: await hostOf(otherHost.id), far: neighborHost };
}

describe("consolidating", () => {
  test("moves children under their own ids, keeping the destination's where both have one", async () => {
    const { destination, other, red, blue } = await newPair();
    const plan = await consolidate(destination, other);
    const current = await hostOf(destination.id);
    expect(values(current, "ip_addresses", "ip_address")).toEqual(["10.2.0.1", "10.2.0.2"]);
    // A binding's name consists of its targets.
    const bindings = plan.actions.filter((action: JsonRecord) => action.entity_type === "binding");
    expect(bindings.map((binding: JsonRecord) => binding.name).sort()).toEqual([
      "web at 443/Tcp",
      "web at 443/Tcp at 10.2.0.2",
    ]);
    expect(values(current, "ip_addresses", "name")).toEqual(["", "mine"]);
    expect(values(current, "ports", "number")).toEqual([22, 443]);
    expect(values(current, "interfaces", "if_descr")).toEqual(["core 1", "other 2"]);
    expect(values(current, "services", "name")).toEqual(["shell", "web"]);
    const moved = (list: string, field: string, value: unknown) => {
      const itemOf = (host: JsonRecord) => host[list].find((item: JsonRecord) => item[field] === value);
      expect(itemOf(current).id).toBe(itemOf(other).id);
      expect(itemOf(current).lineage_id).toBe(itemOf(other).lineage_id);
    };
    moved("ip_addresses", "ip_address", "10.2.0.2");
    moved("ports", "number", 22);
    moved("services", "name", "shell");
    moved("interfaces", "if_descr", "other 2");
    // Bindings follow to the remaining service and port; duplicates are dropped.
    const web = current.services.find((service: JsonRecord) => service.name === "web");
    const own = destination.ports[0].id;
    expect(web.bindings.map((binding: JsonRecord) => [binding.port_id, binding.ip_address_id])).toEqual([
      [own, null],
      [own, other.ip_addresses.find((address: JsonRecord) => address.ip_address === "10.2.0.2").id],
    ]);
    expect(current).toMatchObject({
      name: "core",
      serial_number: "FOC1",
      description: "found",
      consolidated_into: null,
    });
    expect([...current.tags].sort()).toEqual([red.id, blue.id].sort());
    expect(await owner.get(`hosts/${other.id}`)).toMatchObject(refusal(404, "entity_not_found"));
    expect(plan).toMatchObject({ host_id: destination.id, applied: true, refused: [] });
    expect(summaryOf(plan, "ip_address")).toEqual(["10.2.0.1 Closed", "10.2.0.1 Kept", "10.2.0.2 Moved"]);
    expect(summaryOf(plan, "port")).toEqual(["22/Tcp Moved", "443/Tcp Closed", "443/Tcp Kept"]);
    expect(summaryOf(plan, "if_entry")).toEqual([
      "core 1 Kept",
      "other 1 Closed",
      "other 2 Moved",
      "to the entry Changed",
      "to the host Changed",
    ]);
    expect(summaryOf(plan, "host")).toEqual(["10.2.0.2 Closed", "core Changed"]);
  });

  test("redirects neighbors of the other host and its entries to the destination", async () => {
    const { destination, other, far: neighborHost } = await newPair();
    await consolidate(destination, other);
    const remaining = destination.interfaces[0].id;
    expect((await hostOf(neighborHost.id)).interfaces.map((entry: JsonRecord) => entry.neighbor)).toEqual([
      { type: "IfEntry", id: remaining },
      { type: "Host", id: destination.id },
    ]);
  });

  test("copies custom fields that the destination lacks", async () => {
    for (const key of ["room", "contract"])
      await expectOk(owner.post("custom-fields", { key, label: key, kinds: ["host"], type: "text" }));
    const destination = await newHost({ custom_fields: { room: "4" } });
    const otherHost = await newHost({ custom_fields: { room: "5", contract: "C-1" }, ports: [tcp(9)] });
    await consolidate(destination, otherHost);
    expect((await hostOf(destination.id)).custom_fields).toEqual({ contract: "C-1", room: "4" });
    const [port] = (await hostOf(destination.id)).ports;
    const plan = await split(destination, { name: "x", port_ids: [port.id], custom_fields: { room: "6" } });
    expect((await hostOf(plan.host_id)).custom_fields).toEqual({ room: "6" });
  });

  test("removes links between the two, so that no host runs on itself", async () => {
    const [entry, service] = [id(), id()];
    const otherHost = await newHost({
      services: [{ id: service, name: "kvm", service_definition: "KVM" }],
      interfaces: [{ id: entry, if_index: 7, if_descr: "7" }],
    });
    const destination = await newHost({
      virtualization: { type: "Kvm", details: { vm_name: "vm", service_id: service } },
      interfaces: [{ if_index: 1, if_descr: "1", neighbor: { type: "IfEntry", id: entry } }],
    });
    await consolidate(destination, otherHost);
    const current = await hostOf(destination.id);
    expect(current.interfaces.map((entry: JsonRecord) => entry.neighbor)).toEqual([null, null]);
    expect(current.virtualization).toEqual({ type: "Kvm", details: { vm_name: "vm" } });
  });

  test("reports the result in a dry run, and writes nothing", async () => {
    const { destination, other } = await newPair();
    const expectNothingWritten = watchWrites();
    const dryRun = await consolidate(destination, other, "?dry_run=true");
    expectNothingWritten();
    expect(dryRun).toMatchObject({ applied: false, sequence: null });
    const done = await consolidate(destination, other);
    expect(done.actions).toEqual(dryRun.actions);
  });

  test("follows the quoted plan exactly, or fails", async () => {
    const { destination, other } = await newPair();
    const path = `hosts/${destination.id}/consolidate/${other.id}`;
    const planned = await consolidate(destination, other, "?dry_run=true");
    tick();
    // Other fields of moved records may change: the plan stays the same.
    const movedAddress = other.ip_addresses.find((address: JsonRecord) => address.ip_address === "10.2.0.2");
    await expectOk(owner.put(`ip-addresses/${movedAddress.id}`, { ip_address: "10.2.0.2", name: "uplink" }));
    expect((await consolidate(destination, other, "?dry_run=true")).plan).toBe(planned.plan);
    tick();
    await expectOk(owner.post("ports", { host_id: other.id, ...tcp(8080) }));
    const expectNothingWritten = watchWrites();
    expect(await owner.put(`${path}?plan=${planned.plan}`, {})).toMatchObject(refusal(409, "entity_stale"));
    expectNothingWritten();
    const current = await consolidate(destination, other, "?dry_run=true");
    expect(current.plan).not.toBe(planned.plan);
    // The opposite direction is a different plan.
    expect(await owner.put(`hosts/${other.id}/consolidate/${destination.id}?plan=${current.plan}`, {})).toMatchObject(
      refusal(409, "entity_stale"),
    );
    expect(await consolidate(destination, other, `?plan=${current.plan}`)).toMatchObject({
      applied: true,
      plan: current.plan,
      actions: current.actions,
    });
  });

  test("is one transaction with its reason, checked against the destination's version", async () => {
    const { destination, other } = await newPair();
    const path = `hosts/${destination.id}/consolidate/${other.id}`;
    const stale = await owner.get(`hosts/${destination.id}`);
    tick();
    await expectOk(owner.put(`hosts/${destination.id}`, { ...bodyOf(destination), description: "newer" }));
    expect(await owner.put(path, {}, { "if-match": stale.headers.get("etag") as string })).toMatchObject(
      refusal(412, "precondition_failed"),
    );
    tick();
    const { data: plan } = await owner.put(path, {}, { "x-change-reason": "the same box" });
    const { data: transaction } = await owner.get(`transactions/${plan.sequence}`);
    expect(JSON.stringify(transaction)).toContain("the same box");
    expect(writtenIn(plan.sequence)).toMatchObject({ "Deleted host": 1, "Updated ip_address": 1 });
  });

  test("is refused for a single host, across networks, and for unknown hosts", async () => {
    const host = await newHost();
    const otherHost = await newHost({ network_id: (await newNetwork()).id });
    const expectNothingWritten = watchWrites();
    const merge = (to: string, from: string): Promise<ApiResponse> => owner.put(`hosts/${to}/consolidate/${from}`, {});
    expect(await merge(host.id, host.id)).toMatchObject(
      invalid(expect.objectContaining({ path: "/other_id", value: host.id })),
    );
    expect(await merge(host.id, otherHost.id)).toMatchObject(
      invalid(expect.objectContaining({ path: "/other_id", value: otherHost.id })),
    );
    expect(await merge(host.id, id())).toMatchObject(refusal(404, "entity_not_found"));
    expect(await merge(id(), host.id)).toMatchObject(refusal(404, "entity_not_found"));
    expectNothingWritten();
  });

  test("is refused, even in a dry run, if the result would exceed a limit", async () => {
    const full = await newHost({ ports: Array.from({ length: 10_000 }, (_, index) => tcp(index + 1)) });
    const other = await newHost({ ports: [tcp(10_000), tcp(10_001)] });
    const expectNothingWritten = watchWrites();
    const message = "would have 10001 ports, more than 10000";
    expect(await consolidate(full, other, "?dry_run=true")).toMatchObject({
      applied: false,
      refused: [{ entity_type: "host", id: full.id, name: full.name, message }],
    });
    expect(await owner.put(`hosts/${full.id}/consolidate/${other.id}`, {})).toMatchObject(
      invalid({ path: "/other_id", message, value: full.id }),
    );
    expectNothingWritten();
  });

  test("shows the past of both hosts under the destination, and links the closed host to it", async () => {
    const { destination, other } = await newPair();
    const before = instant();
    const plan = await consolidate(destination, other);
    tick();
    expect(await hostOf(other.id, `?at=${before}`)).toMatchObject({ consolidated_into: destination.id });
    expect(await hostOf(destination.id, `?at=${before}`)).toMatchObject({
      consolidated_into: null,
      ip_addresses: [{ ip_address: "10.2.0.1" }],
    });
    const history = await get(`hosts/${destination.id}/history?include_children=false`);
    const summary = history.map(({ operation, record, transaction }: JsonRecord) => [
      record.id === other.id ? "other" : "own",
      operation,
      transaction.sequence,
    ]);
    expect(summary.slice(0, 2).sort()).toEqual([
      ["other", "Deleted", plan.sequence],
      ["own", "Updated", plan.sequence],
    ]);
    expect(summary.filter(([origin]: string[]) => origin === "other")).toHaveLength(2);
    expect(summary.map(([, , sequence]: number[]) => sequence)).toEqual(
      summary.map(([, , sequence]: number[]) => sequence).sort((a: number, b: number) => b - a),
    );
    const idsOf = async (selves: string) => {
      const versions = await get(`hosts/${destination.id}/history?include_children=false&selves=${selves}`);
      return new Set(versions.map((version: JsonRecord) => version.record.id));
    };
    expect(await idsOf("own")).toEqual(new Set([destination.id]));
    expect(await idsOf("former")).toEqual(new Set([other.id]));
    expect(await idsOf("all")).toEqual(new Set([destination.id, other.id]));
    const { meta } = (await owner.get(`hosts/${destination.id}/history?limit=1&offset=1`)).body;
    expect(meta.pagination.total_count).toBe(summary.length);
    const [end] = (await get(`hosts/${other.id}/history?include_children=false`)) as JsonRecord[];
    expect(end).toMatchObject({ operation: "Deleted", record: { consolidated_into: destination.id } });
    // A merged host takes its earlier merges along.
    const third = await newHost({ name: "third" });
    await consolidate(third, destination);
    const ids = (await get(`hosts/${third.id}/history?include_children=false`)).map(
      (version: JsonRecord) => version.record.id,
    );
    expect(new Set(ids)).toEqual(new Set([third.id, destination.id, other.id]));
    const past = await get(`hosts/${destination.id}/history?include_children=false&at=${before}`);
    expect(new Set(past.map((version: JsonRecord) => version.record.id))).toEqual(new Set([destination.id]));
  });

  test("finds moved children under their new host, now and in the past", async () => {
    const destination = await newHost({ name: "core" });
    const otherHost = await newHost({ name: "found", ip_addresses: [{ ip_address: "10.2.0.9" }] });
    const before = instant();
    await consolidate(destination, otherHost);
    const search = async (query: string) =>
      (await get(`hosts?search=10.2.0.9${query}`)).map((host: JsonRecord) => host.id);
    expect(await search("")).toEqual([destination.id]);
    expect(await search(`&at=${before}`)).toEqual([otherHost.id]);
    expect((await get(`ip-addresses?host_id=${destination.id}`)).map((item: JsonRecord) => item.ip_address)).toEqual([
      "10.2.0.9",
    ]);
    expect(await get(`ip-addresses?host_id=${destination.id}&at=${before}`)).toEqual([]);
  });

  test("moves ignored entries, except for records that the destination has", async () => {
    const destination = await newHost({ ports: [tcp(80)] });
    const otherHost = await newHost();
    for (const number of [80, 81])
      appliance.newIgnored({
        entity: "port",
        host_id: otherHost.id,
        identity: `${otherHost.id}/${number}/Tcp`,
        label: `${number}/Tcp`,
      });
    await consolidate(destination, otherHost);
    const ignored = await get("discovery/ignored");
    expect(ignored.map((entry: JsonRecord) => [entry.host_id, entry.identity])).toEqual([
      [destination.id, `${destination.id}/81/Tcp`],
    ]);
  });
});

const bodyOf = ({ id, name, hidden, tags }: JsonRecord): JsonRecord => ({ id, name, hidden, tags });

describe("undoing a consolidation", () => {
  test("restores both hosts exactly by a revert", async () => {
    const { destination, other, far: neighborHost } = await newPair();
    const before = await states(destination, other, neighborHost);
    const plan = await consolidate(destination, other);
    await revert(plan);
    expect(await states(destination, other, neighborHost)).toEqual(before);
    const ids = (await get(`hosts/${destination.id}/history?include_children=false`)).map(
      (version: JsonRecord) => version.record.id,
    );
    expect(new Set(ids)).toEqual(new Set([destination.id]));
  });

  test("keeps later additions at the destination if done by a revert", async () => {
    const { destination, other } = await newPair();
    const plan = await consolidate(destination, other);
    tick();
    await expectOk(owner.post("ip-addresses", { host_id: destination.id, ip_address: "10.2.0.7" }));
    await revert(plan);
    expect(values(await hostOf(destination.id), "ip_addresses", "ip_address")).toEqual(["10.2.0.1", "10.2.0.7"]);
    expect(values(await hostOf(other.id), "ip_addresses", "ip_address")).toEqual(["10.2.0.1", "10.2.0.2"]);
  });

  test("takes back its parts if the closed host is restored; a restore of the destination keeps moved ones", async () => {
    const { destination, other } = await newPair();
    const before = instant();
    await consolidate(destination, other);
    tick();
    await expectOk(owner.post(`hosts/${destination.id}/restore`, { at: before }));
    expect(values(await hostOf(destination.id), "ip_addresses", "ip_address")).toEqual(["10.2.0.1", "10.2.0.2"]);
    tick();
    await expectOk(owner.post(`hosts/${other.id}/restore`, { at: before }));
    expect(values(await hostOf(destination.id), "ip_addresses", "ip_address")).toEqual(["10.2.0.1"]);
    expect(values(await hostOf(other.id), "ip_addresses", "ip_address")).toEqual(["10.2.0.1", "10.2.0.2"]);
    expect((await hostOf(other.id)).services.find((item: JsonRecord) => item.name === "web").bindings).toHaveLength(2);
  });

  test("restores a moved part at its current host", async () => {
    const { destination, other } = await newPair();
    const entry = other.interfaces.find((entry: JsonRecord) => entry.if_index === 2);
    const before = instant();
    await consolidate(destination, other);
    tick();
    await expectOk(owner.put(`if-entries/${entry.id}`, { host_id: destination.id, if_index: 2, if_descr: "renamed" }));
    tick();
    await expectOk(owner.post(`if-entries/${entry.id}/restore`, { at: before }));
    expect(await get(`if-entries/${entry.id}`)).toMatchObject({
      host_id: destination.id,
      if_descr: "other 2",
      fdb_macs: ["00:00:5e:00:53:02"],
    });
  });

  test("a restored and permanently deleted host no longer counts as consolidated", async () => {
    const { destination, other } = await newPair();
    const before = instant();
    await consolidate(destination, other);
    tick();
    await expectOk(owner.post(`hosts/${other.id}/restore`, { at: before }));
    tick();
    await expectOk(owner.delete(`hosts/${other.id}`));
    tick();
    const ids = (await get(`hosts/${destination.id}/history?include_children=false`)).map(
      (version: JsonRecord) => version.record.id,
    );
    expect(new Set(ids)).toEqual(new Set([destination.id]));
    const [end] = (await get(`hosts/${other.id}/history?include_children=false`)) as JsonRecord[];
    expect(end?.record.consolidated_into).toBeNull();
  });
});

describe("splitting", () => {
  test("moves the named children to a new host, and divides related records", async () => {
    const [web, shell, first, second] = [id(), id(), id(), id()];
    const host = await newHost({
      name: "two in one",
      ip_addresses: [
        { id: first, ip_address: "10.2.0.1" },
        { id: second, ip_address: "10.2.0.2" },
      ],
      ports: [tcp(443, web), tcp(22, shell)],
      services: [
        { name: "web", service_definition: "nginx", bindings: [onPort(web)] },
        { name: "shell", service_definition: "OpenSSH", bindings: [onPort(shell)] },
      ],
      interfaces: [
        { if_index: 1, if_descr: "1", ip_address_id: first },
        { if_index: 2, if_descr: "2", ip_address_id: first, fdb_macs: ["00:00:5e:00:53:01"] },
      ],
    });
    const complete = await hostOf(host.id);
    const body = {
      name: "the other",
      ip_address_ids: [second],
      if_entry_ids: [complete.interfaces[1].id],
      port_ids: [web],
      service_ids: complete.services.map((service: JsonRecord) => service.id),
    };
    const before = await states(host);
    const expectNothingWritten = watchWrites();
    const dryRun = await split(host, { ...body, dry_run: true });
    expectNothingWritten();
    expect(dryRun).toMatchObject({ host_id: null, applied: false });
    const plan = await split(host, body);
    expect(plan.actions.map(({ id: _id, ...action }: JsonRecord) => action)).toEqual(
      dryRun.actions.map(({ id: _id, ...action }: JsonRecord) => action),
    );
    const [remaining, created] = [await hostOf(host.id), await hostOf(plan.host_id)];
    expect(created).toMatchObject({ name: "the other", network_id: host.network_id, source: { type: "Manual" } });
    expect(values(remaining, "ip_addresses", "id")).toEqual([first]);
    expect(values(created, "ip_addresses", "id")).toEqual([second]);
    expect(values(created, "services", "name")).toEqual(["shell", "web"]);
    expect(created.services.map((service: JsonRecord) => service.bindings.length)).toEqual([1, 0]);
    expect(values(remaining, "ports", "number")).toEqual([22]);
    expect(created.interfaces).toMatchObject([{ if_descr: "2", ip_address_id: null }]);
    expect(remaining.interfaces).toMatchObject([{ if_descr: "1", ip_address_id: first }]);
    expect((await get(`if-entries/${created.interfaces[0].id}`)).fdb_macs).toEqual(["00:00:5e:00:53:01"]);
    await revert(plan);
    expect(await states(host)).toEqual(before);
    expect(await owner.get(`hosts/${plan.host_id}`)).toMatchObject(refusal(404, "entity_not_found"));
  });

  test("follows the quoted plan exactly, or fails", async () => {
    const [web, shell] = [id(), id()];
    const host = await newHost({ ports: [tcp(443, web), tcp(22, shell)] });
    const body = { name: "the other", port_ids: [web] };
    const { plan } = await split(host, { ...body, dry_run: true });
    expect((await split(host, { ...body, dry_run: true })).plan).toBe(plan);
    const expectNothingWritten = watchWrites();
    const refused = refusal(409, "entity_stale");
    expect(await owner.post(`hosts/${host.id}/split`, { ...body, name: "x", plan })).toMatchObject(refused);
    expect(await owner.post(`hosts/${host.id}/split`, { ...body, port_ids: [web, shell], plan })).toMatchObject(
      refused,
    );
    expectNothingWritten();
    // A service on the moved port moves too: from then on the plan differs.
    tick();
    await expectOk(
      owner.post("services", { host_id: host.id, name: "web", service_definition: "nginx", bindings: [onPort(web)] }),
    );
    expect(await owner.post(`hosts/${host.id}/split`, { ...body, plan })).toMatchObject(refused);
    const current = await split(host, { ...body, dry_run: true });
    expect(await split(host, { ...body, plan: current.plan })).toMatchObject({ applied: true, plan: current.plan });
  });

  test("is refused for an empty list, and for another host's children", async () => {
    const host = await newHost({ ports: [tcp(1)] });
    const otherHost = await newHost({ ports: [tcp(2)] });
    const foreignPort = (await hostOf(otherHost.id)).ports[0].id;
    const expectNothingWritten = watchWrites();
    expect(await owner.post(`hosts/${host.id}/split`, { name: "x" })).toMatchObject(refusal(400, "validation_failed"));
    expect(await owner.post(`hosts/${host.id}/split`, { name: "x", port_ids: [foreignPort] })).toMatchObject(
      refusal(400, "entity_reference_invalid", { field: "port_ids", ids: [foreignPort] }),
    );
    expectNothingWritten();
  });

  test("undoes a consolidation, and the consolidation can be repeated", async () => {
    const { destination, other } = await newPair();
    await consolidate(destination, other);
    const moved = (await hostOf(destination.id)).ip_addresses.find(
      (address: JsonRecord) => address.ip_address === "10.2.0.2",
    );
    const plan = await split(destination, { name: "again", ip_address_ids: [moved.id] });
    expect(values(await hostOf(plan.host_id), "ip_addresses", "ip_address")).toEqual(["10.2.0.2"]);
    await consolidate(destination, { id: plan.host_id });
    expect(values(await hostOf(destination.id), "ip_addresses", "ip_address")).toEqual(["10.2.0.1", "10.2.0.2"]);
  });
});

describe("credentials of consolidated hosts", () => {
  /** (secret, address) pairs that a scan would send for the assignments of hosts. */
  function pairs(): string[] {
    return appliance.reader.db
      .query<{ pair: string }, []>(
        `SELECT DISTINCT r.id || ' ' || i.ip_address AS pair FROM credential_coverage v
          JOIN credential_assignments a ON a.n = v.assignment_n JOIN history_records r ON r.n = a.credential_n
          JOIN ip_addresses i ON i.host_n = a.host_n AND i.ip_address = v.ip_address
          WHERE v.until IS NULL ORDER BY pair`,
      )
      .all()
      .map(({ pair }) => pair);
  }

  async function newAssignedHosts() {
    const [one, two] = [
      await newHost({ name: "one", ip_addresses: [{ ip_address: "10.2.0.1" }] }),
      await newHost({ name: "two", ip_addresses: [{ ip_address: "10.2.0.2" }, { ip_address: "10.2.0.3" }] }),
    ];
    const addressIds = (await hostOf(two.id)).ip_addresses.map((address: JsonRecord) => address.id);
    tick();
    const both = await communityOf("both", {
      assigned_network_ids: [],
      host_assignments: [{ host_id: one.id }, { host_id: two.id, ip_address_ids: [addressIds[0]] }],
    });
    const second = await communityOf("second", { assigned_network_ids: [], host_assignments: [{ host_id: two.id }] });
    tick();
    // An address that awaits confirmation.
    const { client: member } = await newMember();
    await expectOk(member.post("ip-addresses", { host_id: two.id, ip_address: "10.2.0.4" }));
    return { one, two, both, second, member, addressIds };
  }

  test("are sent only to the same addresses as before", async () => {
    const { one, two, both, second } = await newAssignedHosts();
    const before = pairs();
    expect(before).toHaveLength(4);
    const statesBefore = await states(one, two);
    const plan = await consolidate(one, two);
    expect(pairs()).toEqual(before);
    const current = await hostOf(one.id);
    expect(current.credential_assignments).toEqual([{ credential_id: both.id }, { credential_id: second.id }]);
    expect((await get(`credentials/${both.id}`)).host_assignments).toEqual([{ host_id: one.id }]);
    expect(summaryOf(plan, "credential_assignment")).toEqual(["Closed", "Kept", "Moved"]);
    // An Admin's confirmation sends both to the pending address.
    const pendingAddress = current.ip_addresses.find((address: JsonRecord) => address.ip_address === "10.2.0.4");
    tick();
    expect(
      new Set((await expectOk(owner.post(`ip-addresses/${pendingAddress.id}/confirm`, {}))).credential_ids),
    ).toEqual(new Set([both.id, second.id]));
    await revertLast();
    await revert(plan);
    expect(pairs()).toEqual(before);
    expect(await states(one, two)).toEqual(statesBefore);
  });

  async function revertLast(): Promise<void> {
    await revert({ sequence: appliance.transactionCount() });
  }

  test("follow split-off addresses, and no others", async () => {
    const { two, both, second, addressIds } = await newAssignedHosts();
    const before = pairs();
    const statesBefore = await states(two);
    const plan = await split(two, { name: "three", ip_address_ids: [addressIds[0]] });
    expect(pairs()).toEqual(before);
    expect((await hostOf(plan.host_id)).credential_assignments).toEqual([
      { credential_id: both.id, ip_address_ids: [addressIds[0]] },
      { credential_id: second.id },
    ]);
    expect((await hostOf(two.id)).credential_assignments).toEqual([{ credential_id: second.id }]);
    await revert(plan);
    expect(pairs()).toEqual(before);
    expect(await states(two)).toEqual(statesBefore);
  });

  test("require an Admin, whichever host they belong to", async () => {
    const { one, two, member, addressIds } = await newAssignedHosts();
    const unassigned = await newHost({ ip_addresses: [{ ip_address: "10.2.0.9" }] });
    const expectNothingWritten = watchWrites();
    for (const path of [
      `hosts/${one.id}/consolidate/${two.id}`,
      `hosts/${one.id}/consolidate/${unassigned.id}`,
      `hosts/${unassigned.id}/consolidate/${one.id}?dry_run=true`,
    ])
      expect(await member.put(path, {})).toMatchObject(refusal(403, "auth_permission_denied"));
    expect(await member.post(`hosts/${two.id}/split`, { name: "x", ip_address_ids: [addressIds[0]] })).toMatchObject(
      refusal(403, "auth_permission_denied"),
    );
    expectNothingWritten();
    const admin = (await newUser({ role: "Admin" })).client;
    await consolidate(one, two, "", admin);
    const other = await newHost();
    const plan = await consolidate(unassigned, other, "", member);
    await revert(plan, member);
  });
});
