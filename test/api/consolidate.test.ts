// Merging two hosts, and splitting one: moved records, remaining records, credential coverage, and the undo of both.

import { beforeEach, describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Answer, Client } from "../support/appliance/client.ts";
import { invalid, made, onPort, refusal, tcp, type Wire } from "../support/appliance/factories.ts";
import { content } from "../support/appliance/past.ts";

const appliance = applianceForEach(undefined, () => expect(appliance.findingsOf()).toEqual([]));
const { owner } = appliance;
const { communityOf, instant, newHost, newMember, newNetwork, newSubnet } = appliance;
const { newTag, newUser, tick, writingWatched, writtenIn } = appliance;

const id = () => crypto.randomUUID();
const get = (path: string, by: Client = owner): Promise<Wire> => made(by.get(path));
const hostOf = (hostId: string, query = "") => get(`hosts/${hostId}${query}`);

async function consolidate(destination: Wire, other: Wire, query = "", by: Client = owner): Promise<Wire> {
  tick();
  return made(by.put(`hosts/${destination.id}/consolidate/${other.id}${query}`, {}));
}

async function split(host: Wire, body: Wire, by: Client = owner): Promise<Wire> {
  tick();
  return made(by.post(`hosts/${host.id}/split`, body));
}

async function revert(plan: Wire, by: Client = owner): Promise<Wire> {
  tick();
  return made(by.post(`transactions/${plan.sequence}/revert`, {}));
}

const ofKind = (plan: Wire, type: string): Wire[] => plan.actions.filter((each: Wire) => each.entity_type === type);
const told = (plan: Wire, type: string) =>
  ofKind(plan, type)
    .map(({ name, action }) => `${name ?? ""} ${action}`.trim())
    .sort();
const values = (host: Wire, list: string, field: string) => host[list].map((each: Wire) => each[field]).sort();

/** Without version fields. */
const states = async (...hosts: Wire[]) => Promise.all(hosts.map(async (host) => content(await hostOf(host.id))));

beforeEach(async () => {
  await newSubnet({ cidr: "10.2.0.0/16" });
});

/** Two hosts with every kind of child, some of them in common. */
async function pair() {
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
  const other = await newHost({
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
  const far = await newHost({
    name: "far",
    interfaces: [
      { if_index: 1, if_descr: "to the entry", neighbor: { type: "IfEntry", id: entry } },
      { if_index: 2, if_descr: "to the host", neighbor: { type: "Host", id: other.id } },
    ],
  });
  return { red, blue, destination: await hostOf(destination.id), other: await hostOf(other.id), far };
}

describe("consolidating", () => {
  test("moves children under their own ids, keeping the destination's where both have one", async () => {
    const { destination, other, red, blue } = await pair();
    const plan = await consolidate(destination, other);
    const now = await hostOf(destination.id);
    expect(values(now, "ip_addresses", "ip_address")).toEqual(["10.2.0.1", "10.2.0.2"]);
    // A binding's name consists of its targets.
    const bindings = plan.actions.filter((each: Wire) => each.entity_type === "binding");
    expect(bindings.map((each: Wire) => each.name).sort()).toEqual(["web at 443/Tcp", "web at 443/Tcp at 10.2.0.2"]);
    expect(values(now, "ip_addresses", "name")).toEqual(["", "mine"]);
    expect(values(now, "ports", "number")).toEqual([22, 443]);
    expect(values(now, "interfaces", "if_descr")).toEqual(["core 1", "other 2"]);
    expect(values(now, "services", "name")).toEqual(["shell", "web"]);
    const moved = (list: string, field: string, value: unknown) => {
      const of = (host: Wire) => host[list].find((each: Wire) => each[field] === value);
      expect(of(now).id).toBe(of(other).id);
      expect(of(now).lineage_id).toBe(of(other).lineage_id);
    };
    moved("ip_addresses", "ip_address", "10.2.0.2");
    moved("ports", "number", 22);
    moved("services", "name", "shell");
    moved("interfaces", "if_descr", "other 2");
    // Bindings follow to the remaining service and port; duplicates are dropped.
    const web = now.services.find((each: Wire) => each.name === "web");
    const own = destination.ports[0].id;
    expect(web.bindings.map((each: Wire) => [each.port_id, each.ip_address_id])).toEqual([
      [own, null],
      [own, other.ip_addresses.find((each: Wire) => each.ip_address === "10.2.0.2").id],
    ]);
    expect(now).toMatchObject({ name: "core", serial_number: "FOC1", description: "found", consolidated_into: null });
    expect([...now.tags].sort()).toEqual([red.id, blue.id].sort());
    expect(await owner.get(`hosts/${other.id}`)).toMatchObject(refusal(404, "entity_not_found"));
    expect(plan).toMatchObject({ host_id: destination.id, applied: true, refused: [] });
    expect(told(plan, "ip_address")).toEqual(["10.2.0.1 Closed", "10.2.0.1 Kept", "10.2.0.2 Moved"]);
    expect(told(plan, "port")).toEqual(["22/Tcp Moved", "443/Tcp Closed", "443/Tcp Kept"]);
    expect(told(plan, "if_entry")).toEqual([
      "core 1 Kept",
      "other 1 Closed",
      "other 2 Moved",
      "to the entry Changed",
      "to the host Changed",
    ]);
    expect(told(plan, "host")).toEqual(["10.2.0.2 Closed", "core Changed"]);
  });

  test("redirects neighbors of the other host and its entries to the destination", async () => {
    const { destination, other, far } = await pair();
    await consolidate(destination, other);
    const kept = destination.interfaces[0].id;
    expect((await hostOf(far.id)).interfaces.map((each: Wire) => each.neighbor)).toEqual([
      { type: "IfEntry", id: kept },
      { type: "Host", id: destination.id },
    ]);
  });

  test("takes over custom fields that the destination lacks", async () => {
    for (const key of ["room", "contract"])
      await made(owner.post("custom-fields", { key, label: key, kinds: ["host"], type: "text" }));
    const destination = await newHost({ custom_fields: { room: "4" } });
    const other = await newHost({ custom_fields: { room: "5", contract: "C-1" }, ports: [tcp(9)] });
    await consolidate(destination, other);
    expect((await hostOf(destination.id)).custom_fields).toEqual({ contract: "C-1", room: "4" });
    const [port] = (await hostOf(destination.id)).ports;
    const plan = await split(destination, { name: "x", port_ids: [port.id], custom_fields: { room: "6" } });
    expect((await hostOf(plan.host_id)).custom_fields).toEqual({ room: "6" });
  });

  test("removes links between the two, so that no host runs on itself", async () => {
    const [entry, service] = [id(), id()];
    const other = await newHost({
      services: [{ id: service, name: "kvm", service_definition: "KVM" }],
      interfaces: [{ id: entry, if_index: 7, if_descr: "7" }],
    });
    const destination = await newHost({
      virtualization: { type: "Kvm", details: { vm_name: "vm", service_id: service } },
      interfaces: [{ if_index: 1, if_descr: "1", neighbor: { type: "IfEntry", id: entry } }],
    });
    await consolidate(destination, other);
    const now = await hostOf(destination.id);
    expect(now.interfaces.map((each: Wire) => each.neighbor)).toEqual([null, null]);
    expect(now.virtualization).toEqual({ type: "Kvm", details: { vm_name: "vm" } });
  });

  test("as a dry run reports the result, and writes nothing", async () => {
    const { destination, other } = await pair();
    const isUnwritten = writingWatched();
    const dry = await consolidate(destination, other, "?dry_run=true");
    isUnwritten();
    expect(dry).toMatchObject({ applied: false, sequence: null });
    const done = await consolidate(destination, other);
    expect(done.actions).toEqual(dry.actions);
  });

  test("follows the quoted plan exactly, or fails", async () => {
    const { destination, other } = await pair();
    const path = `hosts/${destination.id}/consolidate/${other.id}`;
    const read = await consolidate(destination, other, "?dry_run=true");
    tick();
    // Other fields of moved records may change: the plan stays the same.
    const moving = other.ip_addresses.find((each: Wire) => each.ip_address === "10.2.0.2");
    await made(owner.put(`ip-addresses/${moving.id}`, { ip_address: "10.2.0.2", name: "uplink" }));
    expect((await consolidate(destination, other, "?dry_run=true")).plan).toBe(read.plan);
    tick();
    await made(owner.post("ports", { host_id: other.id, ...tcp(8080) }));
    const isUnwritten = writingWatched();
    expect(await owner.put(`${path}?plan=${read.plan}`, {})).toMatchObject(refusal(409, "entity_stale"));
    isUnwritten();
    const now = await consolidate(destination, other, "?dry_run=true");
    expect(now.plan).not.toBe(read.plan);
    // The opposite direction is a different plan.
    expect(await owner.put(`hosts/${other.id}/consolidate/${destination.id}?plan=${now.plan}`, {})).toMatchObject(
      refusal(409, "entity_stale"),
    );
    expect(await consolidate(destination, other, `?plan=${now.plan}`)).toMatchObject({
      applied: true,
      plan: now.plan,
      actions: now.actions,
    });
  });

  test("is one transaction with its reason, checked against the destination's version", async () => {
    const { destination, other } = await pair();
    const path = `hosts/${destination.id}/consolidate/${other.id}`;
    const stale = await owner.get(`hosts/${destination.id}`);
    tick();
    await made(owner.put(`hosts/${destination.id}`, { ...bodyOf(destination), description: "newer" }));
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
    const here = await newHost();
    const elsewhere = await newHost({ network_id: (await newNetwork()).id });
    const isUnwritten = writingWatched();
    const of = (one: string, other: string): Promise<Answer> => owner.put(`hosts/${one}/consolidate/${other}`, {});
    expect(await of(here.id, here.id)).toMatchObject(
      invalid(expect.objectContaining({ path: "/other_id", value: here.id })),
    );
    expect(await of(here.id, elsewhere.id)).toMatchObject(
      invalid(expect.objectContaining({ path: "/other_id", value: elsewhere.id })),
    );
    expect(await of(here.id, id())).toMatchObject(refusal(404, "entity_not_found"));
    expect(await of(id(), here.id)).toMatchObject(refusal(404, "entity_not_found"));
    isUnwritten();
  });

  test("is refused, in a dry run too, if the result would exceed a limit", async () => {
    const full = await newHost({ ports: Array.from({ length: 10_000 }, (_, index) => tcp(index + 1)) });
    const other = await newHost({ ports: [tcp(10_000), tcp(10_001)] });
    const isUnwritten = writingWatched();
    const message = "would have 10001 ports, more than 10000";
    expect(await consolidate(full, other, "?dry_run=true")).toMatchObject({
      applied: false,
      refused: [{ entity_type: "host", id: full.id, name: full.name, message }],
    });
    expect(await owner.put(`hosts/${full.id}/consolidate/${other.id}`, {})).toMatchObject(
      invalid({ path: "/other_id", message, value: full.id }),
    );
    isUnwritten();
  });

  test("shows the past of both under the destination, and its destination at the end of the closed one", async () => {
    const { destination, other } = await pair();
    const before = instant();
    const plan = await consolidate(destination, other);
    tick();
    expect(await hostOf(other.id, `?at=${before}`)).toMatchObject({ consolidated_into: destination.id });
    expect(await hostOf(destination.id, `?at=${before}`)).toMatchObject({
      consolidated_into: null,
      ip_addresses: [{ ip_address: "10.2.0.1" }],
    });
    const history = await get(`hosts/${destination.id}/history?include_children=false`);
    const seen = history.map(({ operation, record, transaction }: Wire) => [
      record.id === other.id ? "other" : "own",
      operation,
      transaction.sequence,
    ]);
    expect(seen.slice(0, 2).sort()).toEqual([
      ["other", "Deleted", plan.sequence],
      ["own", "Updated", plan.sequence],
    ]);
    expect(seen.filter(([whose]: string[]) => whose === "other")).toHaveLength(2);
    expect(seen.map(([, , sequence]: number[]) => sequence)).toEqual(
      seen.map(([, , sequence]: number[]) => sequence).sort((a: number, b: number) => b - a),
    );
    const idsOf = async (selves: string) => {
      const versions = await get(`hosts/${destination.id}/history?include_children=false&selves=${selves}`);
      return new Set(versions.map((each: Wire) => each.record.id));
    };
    expect(await idsOf("own")).toEqual(new Set([destination.id]));
    expect(await idsOf("former")).toEqual(new Set([other.id]));
    expect(await idsOf("all")).toEqual(new Set([destination.id, other.id]));
    const { meta } = (await owner.get(`hosts/${destination.id}/history?limit=1&offset=1`)).body;
    expect(meta.pagination.total_count).toBe(seen.length);
    const [end] = (await get(`hosts/${other.id}/history?include_children=false`)) as Wire[];
    expect(end).toMatchObject({ operation: "Deleted", record: { consolidated_into: destination.id } });
    // A merged host takes its earlier merges along.
    const third = await newHost({ name: "third" });
    await consolidate(third, destination);
    const ids = (await get(`hosts/${third.id}/history?include_children=false`)).map((each: Wire) => each.record.id);
    expect(new Set(ids)).toEqual(new Set([third.id, destination.id, other.id]));
    const then = await get(`hosts/${destination.id}/history?include_children=false&at=${before}`);
    expect(new Set(then.map((each: Wire) => each.record.id))).toEqual(new Set([destination.id]));
  });

  test("finds moved children under their new host, at present and in the past", async () => {
    const destination = await newHost({ name: "core" });
    const other = await newHost({ name: "found", ip_addresses: [{ ip_address: "10.2.0.9" }] });
    const before = instant();
    await consolidate(destination, other);
    const found = async (query: string) => (await get(`hosts?search=10.2.0.9${query}`)).map((each: Wire) => each.id);
    expect(await found("")).toEqual([destination.id]);
    expect(await found(`&at=${before}`)).toEqual([other.id]);
    expect((await get(`ip-addresses?host_id=${destination.id}`)).map((each: Wire) => each.ip_address)).toEqual([
      "10.2.0.9",
    ]);
    expect(await get(`ip-addresses?host_id=${destination.id}&at=${before}`)).toEqual([]);
  });

  test("takes over ignored entries, except for what the destination has", async () => {
    const destination = await newHost({ ports: [tcp(80)] });
    const other = await newHost();
    for (const number of [80, 81])
      appliance.newIgnored({
        entity: "port",
        host_id: other.id,
        identity: `${other.id}/${number}/Tcp`,
        label: `${number}/Tcp`,
      });
    await consolidate(destination, other);
    const ignored = await get("discovery/ignored");
    expect(ignored.map((each: Wire) => [each.host_id, each.identity])).toEqual([
      [destination.id, `${destination.id}/81/Tcp`],
    ]);
  });
});

const bodyOf = ({ id, name, hidden, tags }: Wire): Wire => ({ id, name, hidden, tags });

describe("undoing a consolidation", () => {
  test("by a revert restores both hosts exactly", async () => {
    const { destination, other, far } = await pair();
    const before = await states(destination, other, far);
    const plan = await consolidate(destination, other);
    await revert(plan);
    expect(await states(destination, other, far)).toEqual(before);
    const ids = (await get(`hosts/${destination.id}/history?include_children=false`)).map(
      (each: Wire) => each.record.id,
    );
    expect(new Set(ids)).toEqual(new Set([destination.id]));
  });

  test("by a revert keeps later additions at the destination", async () => {
    const { destination, other } = await pair();
    const plan = await consolidate(destination, other);
    tick();
    await made(owner.post("ip-addresses", { host_id: destination.id, ip_address: "10.2.0.7" }));
    await revert(plan);
    expect(values(await hostOf(destination.id), "ip_addresses", "ip_address")).toEqual(["10.2.0.1", "10.2.0.7"]);
    expect(values(await hostOf(other.id), "ip_addresses", "ip_address")).toEqual(["10.2.0.1", "10.2.0.2"]);
  });

  test("by a restore of the closed host takes its parts back; a restore of the destination keeps moved ones", async () => {
    const { destination, other } = await pair();
    const before = instant();
    await consolidate(destination, other);
    tick();
    await made(owner.post(`hosts/${destination.id}/restore`, { at: before }));
    expect(values(await hostOf(destination.id), "ip_addresses", "ip_address")).toEqual(["10.2.0.1", "10.2.0.2"]);
    tick();
    await made(owner.post(`hosts/${other.id}/restore`, { at: before }));
    expect(values(await hostOf(destination.id), "ip_addresses", "ip_address")).toEqual(["10.2.0.1"]);
    expect(values(await hostOf(other.id), "ip_addresses", "ip_address")).toEqual(["10.2.0.1", "10.2.0.2"]);
    expect((await hostOf(other.id)).services.find((each: Wire) => each.name === "web").bindings).toHaveLength(2);
  });

  test("restores a moved part at its present host", async () => {
    const { destination, other } = await pair();
    const entry = other.interfaces.find((each: Wire) => each.if_index === 2);
    const before = instant();
    await consolidate(destination, other);
    tick();
    await made(owner.put(`if-entries/${entry.id}`, { host_id: destination.id, if_index: 2, if_descr: "renamed" }));
    tick();
    await made(owner.post(`if-entries/${entry.id}/restore`, { at: before }));
    expect(await get(`if-entries/${entry.id}`)).toMatchObject({
      host_id: destination.id,
      if_descr: "other 2",
      fdb_macs: ["00:00:5e:00:53:02"],
    });
  });

  test("a restored and permanently deleted host is no longer a former self", async () => {
    const { destination, other } = await pair();
    const before = instant();
    await consolidate(destination, other);
    tick();
    await made(owner.post(`hosts/${other.id}/restore`, { at: before }));
    tick();
    await made(owner.delete(`hosts/${other.id}`));
    tick();
    const ids = (await get(`hosts/${destination.id}/history?include_children=false`)).map(
      (each: Wire) => each.record.id,
    );
    expect(new Set(ids)).toEqual(new Set([destination.id]));
    const [end] = (await get(`hosts/${other.id}/history?include_children=false`)) as Wire[];
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
    const whole = await hostOf(host.id);
    const body = {
      name: "the other",
      ip_address_ids: [second],
      if_entry_ids: [whole.interfaces[1].id],
      port_ids: [web],
      service_ids: whole.services.map((each: Wire) => each.id),
    };
    const before = await states(host);
    const isUnwritten = writingWatched();
    const dry = await split(host, { ...body, dry_run: true });
    isUnwritten();
    expect(dry).toMatchObject({ host_id: null, applied: false });
    const plan = await split(host, body);
    expect(plan.actions.map(({ id: _id, ...each }: Wire) => each)).toEqual(
      dry.actions.map(({ id: _id, ...each }: Wire) => each),
    );
    const [left, made] = [await hostOf(host.id), await hostOf(plan.host_id)];
    expect(made).toMatchObject({ name: "the other", network_id: host.network_id, source: { type: "Manual" } });
    expect(values(left, "ip_addresses", "id")).toEqual([first]);
    expect(values(made, "ip_addresses", "id")).toEqual([second]);
    expect(values(made, "services", "name")).toEqual(["shell", "web"]);
    expect(made.services.map((each: Wire) => each.bindings.length)).toEqual([1, 0]);
    expect(values(left, "ports", "number")).toEqual([22]);
    expect(made.interfaces).toMatchObject([{ if_descr: "2", ip_address_id: null }]);
    expect(left.interfaces).toMatchObject([{ if_descr: "1", ip_address_id: first }]);
    expect((await get(`if-entries/${made.interfaces[0].id}`)).fdb_macs).toEqual(["00:00:5e:00:53:01"]);
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
    const isUnwritten = writingWatched();
    const refused = refusal(409, "entity_stale");
    expect(await owner.post(`hosts/${host.id}/split`, { ...body, name: "x", plan })).toMatchObject(refused);
    expect(await owner.post(`hosts/${host.id}/split`, { ...body, port_ids: [web, shell], plan })).toMatchObject(
      refused,
    );
    isUnwritten();
    // A service on the moved port moves too: from then on the plan differs.
    tick();
    await made(
      owner.post("services", { host_id: host.id, name: "web", service_definition: "nginx", bindings: [onPort(web)] }),
    );
    expect(await owner.post(`hosts/${host.id}/split`, { ...body, plan })).toMatchObject(refused);
    const now = await split(host, { ...body, dry_run: true });
    expect(await split(host, { ...body, plan: now.plan })).toMatchObject({ applied: true, plan: now.plan });
  });

  test("is refused for an empty list, and for another host's children", async () => {
    const host = await newHost({ ports: [tcp(1)] });
    const other = await newHost({ ports: [tcp(2)] });
    const strange = (await hostOf(other.id)).ports[0].id;
    const isUnwritten = writingWatched();
    expect(await owner.post(`hosts/${host.id}/split`, { name: "x" })).toMatchObject(refusal(400, "validation_failed"));
    expect(await owner.post(`hosts/${host.id}/split`, { name: "x", port_ids: [strange] })).toMatchObject(
      refusal(400, "entity_reference_invalid", { field: "port_ids", ids: [strange] }),
    );
    isUnwritten();
  });

  test("undoes a consolidation, which can be repeated", async () => {
    const { destination, other } = await pair();
    await consolidate(destination, other);
    const moved = (await hostOf(destination.id)).ip_addresses.find((each: Wire) => each.ip_address === "10.2.0.2");
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

  async function assigned() {
    const [one, two] = [
      await newHost({ name: "one", ip_addresses: [{ ip_address: "10.2.0.1" }] }),
      await newHost({ name: "two", ip_addresses: [{ ip_address: "10.2.0.2" }, { ip_address: "10.2.0.3" }] }),
    ];
    const addressIds = (await hostOf(two.id)).ip_addresses.map((each: Wire) => each.id);
    tick();
    const both = await communityOf("both", {
      assigned_network_ids: [],
      host_assignments: [{ host_id: one.id }, { host_id: two.id, ip_address_ids: [addressIds[0]] }],
    });
    const second = await communityOf("second", { assigned_network_ids: [], host_assignments: [{ host_id: two.id }] });
    tick();
    // One that awaits confirmation.
    const { client: member } = await newMember();
    await made(member.post("ip-addresses", { host_id: two.id, ip_address: "10.2.0.4" }));
    return { one, two, both, second, member, addressIds };
  }

  test("are sent only to the same addresses as before", async () => {
    const { one, two, both, second } = await assigned();
    const before = pairs();
    expect(before).toHaveLength(4);
    const states0 = await states(one, two);
    const plan = await consolidate(one, two);
    expect(pairs()).toEqual(before);
    const now = await hostOf(one.id);
    expect(now.credential_assignments).toEqual([{ credential_id: both.id }, { credential_id: second.id }]);
    expect((await get(`credentials/${both.id}`)).host_assignments).toEqual([{ host_id: one.id }]);
    expect(told(plan, "credential_assignment")).toEqual(["Closed", "Kept", "Moved"]);
    // An Admin's confirmation sends both to the pending address.
    const waiting = now.ip_addresses.find((each: Wire) => each.ip_address === "10.2.0.4");
    tick();
    expect(new Set((await made(owner.post(`ip-addresses/${waiting.id}/confirm`, {}))).credential_ids)).toEqual(
      new Set([both.id, second.id]),
    );
    await revertLast();
    await revert(plan);
    expect(pairs()).toEqual(before);
    expect(await states(one, two)).toEqual(states0);
  });

  async function revertLast(): Promise<void> {
    await revert({ sequence: appliance.transactionCount() });
  }

  test("follow split-off addresses, and no others", async () => {
    const { two, both, second, addressIds } = await assigned();
    const before = pairs();
    const states0 = await states(two);
    const plan = await split(two, { name: "three", ip_address_ids: [addressIds[0]] });
    expect(pairs()).toEqual(before);
    expect((await hostOf(plan.host_id)).credential_assignments).toEqual([
      { credential_id: both.id, ip_address_ids: [addressIds[0]] },
      { credential_id: second.id },
    ]);
    expect((await hostOf(two.id)).credential_assignments).toEqual([{ credential_id: second.id }]);
    await revert(plan);
    expect(pairs()).toEqual(before);
    expect(await states(two)).toEqual(states0);
  });

  test("require an Admin, whichever host they belong to", async () => {
    const { one, two, member, addressIds } = await assigned();
    const free = await newHost({ ip_addresses: [{ ip_address: "10.2.0.9" }] });
    const isUnwritten = writingWatched();
    for (const path of [
      `hosts/${one.id}/consolidate/${two.id}`,
      `hosts/${one.id}/consolidate/${free.id}`,
      `hosts/${free.id}/consolidate/${one.id}?dry_run=true`,
    ])
      expect(await member.put(path, {})).toMatchObject(refusal(403, "auth_permission_denied"));
    expect(await member.post(`hosts/${two.id}/split`, { name: "x", ip_address_ids: [addressIds[0]] })).toMatchObject(
      refusal(403, "auth_permission_denied"),
    );
    isUnwritten();
    const admin = (await newUser({ role: "Admin" })).client;
    await consolidate(one, two, "", admin);
    const other = await newHost();
    const plan = await consolidate(free, other, "", member);
    await revert(plan, member);
  });
});
