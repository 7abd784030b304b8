// GET /api/v1/summary over HTTP: now, at a timestamp and for one network, on an inventory with history.
// test/store/summary.test.ts compares the counts with plain code.

import { expect, test } from "bun:test";
import { openWritable } from "../../src/db/connection.ts";
import { NO_OUTCOME } from "../../src/discovery/scans/scan.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { invalid, made, type Wire } from "../support/appliance/factories.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

const appliance = applianceForEach();
const { clock, first, newHost, newIfEntry, newNetwork, newSchedule, newSubnet, newTag, newUser, owner, tick } =
  appliance;

const later = (seconds: number) => clock.advance(seconds * 1_000);
const now = () => new Date(clock.now()).toISOString();
const names = (records: Wire[]) => records.map(({ name }) => name);

async function flip(entry: Wire, times: number): Promise<void> {
  for (let each = 0; each < times; each += 1) {
    later(60);
    const { data } = await owner.get(`if-entries/${entry.id}`);
    const oper_status = data.oper_status === "Up" ? "Down" : "Up";
    expect((await owner.put(`if-entries/${entry.id}`, { ...data, oper_status })).status).toBe(200);
  }
}

test("additions, removals and flapping within a day are reported, at that time and a day later", async () => {
  later(86_400);
  const host = await newHost({ name: "access-1" });
  const gone = await newHost({ name: "old-1" });
  const [port, quiet] = [
    await newIfEntry(host.id, { if_index: 7, if_descr: "Gi1/0/7" }),
    await newIfEntry(host.id, { if_index: 8, if_descr: "Gi1/0/8" }),
  ];
  await flip(quiet, 5);
  await flip(port, 6);
  expect((await owner.delete(`hosts/${gone.id}`)).status).toBe(200);
  later(60);
  const then = now();
  const { data, body } = await owner.get("summary");
  expect(body.meta.at).toBeUndefined();
  expect(data).toMatchObject({
    to: then,
    counts: { network: 1, host: 1, if_entry: 2 },
    interfaces_by_oper_status: { Up: expect.any(Number), Down: expect.any(Number) },
    changes: { deleted: 1, types: { if_entry: { created: 2, updated: 11 }, host: { created: 2, deleted: 1 } } },
    flapping: {
      count: 1,
      ports: [{ id: port.id, name: "Gi1/0/7", host: { id: host.id, name: "access-1" }, changes: 6 }],
    },
    stale: { count: 0, hosts: [] },
    failed_scans: { count: 0, scans: [] },
  });
  expect(names(data.new)).toEqual(["old-1", "access-1"]);
  expect(names(data.vanished)).toEqual(["old-1"]);
  later(86_400);
  tick();
  const next = (await owner.get("summary")).data;
  expect(next).toMatchObject({ new: [], vanished: [], flapping: { count: 0 }, changes: { updated: 0 } });
  // Past answers do not change.
  const again = await owner.get(`summary?at=${then}`);
  expect(again.data).toEqual(data);
  expect(again.body.meta.at).toBe(then);
});

test("the summary of the first representable day starts at the first representable instant", async () => {
  const data = await made(owner.get("summary?at=0000-01-01T00:00:00.123Z"));
  expect([data.from, data.to]).toEqual(["0000-01-01T00:00:00.000Z", "0000-01-01T00:00:00.123Z"]);
});

test("a network's summary covers its records only, and is invisible out of reach", async () => {
  const network = await newNetwork({ name: "Branch" });
  await newHost({ name: "branch-1", network_id: network.id });
  await newHost({ name: "campus-1" });
  await newTag();
  tick();
  const ofOne = (await owner.get(`summary?network_id=${network.id}`)).data;
  expect(ofOne.counts).toMatchObject({ host: 1, if_entry: 0 });
  expect(ofOne.counts.tag).toBeUndefined();
  expect(names(ofOne.new)).toEqual(["branch-1", "Branch"]);
  const { client: viewer } = await newUser({ role: "Viewer", networkIds: [network.id] });
  const seen = (await viewer.get("summary")).data;
  expect(seen.counts).toMatchObject({ network: 1, host: 1, tag: 1 });
  expect(names(seen.new)).not.toContain("campus-1");
  const hidden = (await viewer.get(`summary?network_id=${first.networkId}`)).data;
  expect(hidden.counts.host).toBe(0);
  expect(hidden.changes).toEqual({ created: 0, updated: 0, deleted: 0, types: {} });
  expect(await viewer.get("summary?network_id=campus")).toMatchObject(
    invalid(expect.objectContaining({ path: "/network_id" })),
  );
});

/** A scan that ended now. */
function endedScan(
  status: "Failed" | "Completed",
  networkId: string,
  { scheduleId = null, unreached = 0 }: { scheduleId?: string | null; unreached?: number },
): string {
  const id = crypto.randomUUID();
  const outcome = { ...NO_OUTCOME, hosts: { found: 9, devices: 9, unreached } };
  const request = {
    kind: "full",
    targets: null,
    commit: true,
    allow_large: false,
    are_targets_permitted: false,
    schedule_id: scheduleId,
    requested_by: { type: "System", id: null, name: "a test" },
    reason: null,
  };
  const db = openWritable(appliance.databasePath);
  db.$client
    .prepare(
      `INSERT INTO discovery_scans (id, organization_n, network_n, status, requested_at, started_at, ended_at, request,
          outcome, checksum)
        SELECT ?1, o.n, w.n, ?2, ?3, ?3, ?3, ?4, ?5, 0 FROM history_records o, history_records w
        WHERE o.id = ?6 AND w.id = ?7`,
    )
    .run(id, status, clock.now(), JSON.stringify(request), JSON.stringify(outcome), first.organizationId, networkId);
  db.$client.close();
  return id;
}

test("attention items are in order of urgency, each with a request that lists it", async () => {
  later(2 * 86_400);
  const subnet = await newSubnet({ cidr: "10.99.0.0/29" });
  const roomy = await newSubnet({ cidr: "10.99.1.0/28" });
  await newSubnet({ cidr: "10.99.2.0/30" });
  const addresses = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, place) => ({ ip_address: `${prefix}.${place + 1}` }));
  const host = await newHost({ name: "full", ip_addresses: addresses("10.99.0", 6) });
  await newHost({ name: "roomy", ip_addresses: addresses("10.99.1", 12) });
  await newHost({ name: "link", ip_addresses: addresses("10.99.2", 2) });
  await newHost({ name: "twin", ip_addresses: [{ ip_address: "10.99.1.1" }] });
  const port = await newIfEntry(host.id, { if_index: 7, if_descr: "Gi1/0/7" });
  const schedule = await newSchedule();
  const gone = await newSchedule();
  await made(owner.delete(`discovery/schedules/${gone.id}`));
  await flip(port, 6);
  endedScan("Failed", first.networkId, { scheduleId: schedule.id });
  endedScan("Failed", first.networkId, { scheduleId: schedule.id });
  endedScan("Failed", first.networkId, { scheduleId: gone.id });
  endedScan("Completed", first.networkId, { unreached: 9 });
  tick();
  const last = endedScan("Completed", first.networkId, { unreached: 3 });
  tick();
  const told = async (by: Client, query = "") =>
    ((await by.get(`summary?${query}`)).data.needs_attention as Wire[]).map(({ kind, count, request }) => ({
      kind,
      count,
      request: decodeURIComponent(request.replaceAll("+", " ")),
    }));
  const all = [
    { kind: "FailedScan", count: 3, request: "/api/v1/discovery/scans?status=Failed" },
    { kind: "FailedSchedule", count: 1, request: `/api/v1/discovery/schedules?ids=${schedule.id}` },
    { kind: "Conflict", count: 1, request: "/api/v1/conflicts?accepted=false&type=Address,Subnet" },
    { kind: "Unreached", count: 3, request: `/api/v1/discovery/scans/${last}/findings?type=Unreached` },
    { kind: "Flapping", count: 1, request: '/api/v1/if-entries?filter=changes(oper_status, "-24h") >= 6' },
    { kind: "FullSubnet", count: 1, request: `/api/v1/subnets?ids=${subnet.id}&include=utilization` },
  ];
  expect(await told(owner)).toEqual(all);
  const { data } = await owner.get("summary");
  expect(data.conflicts).toMatchObject({ count: 1, accepted_count: 0, conflicts: [{ value: "10.99.1.1" }] });
  for (const { kind, count, request } of data.needs_attention as Wire[]) {
    const answer = await owner.get(request);
    expect([kind, answer.status]).toEqual([kind, 200]);
    if (kind !== "Unreached") expect([kind, answer.data.length]).toEqual([kind, count]);
  }
  const then = now();
  tick();
  const [conflict] = data.conflicts.conflicts;
  const { type, value, fingerprint } = conflict;
  await made(owner.post("conflicts/acceptances", { type, value, fingerprint }));
  await made(owner.delete(`ip-addresses/${host.ip_addresses[0].id}`));
  await made(owner.put(`subnets/${roomy.id}`, { cidr: "10.99.1.0/28", name: "roomy" }));
  const kinds = async (by: Client, query = "") => (await told(by, query)).map(({ kind }) => kind);
  expect(await kinds(owner)).toEqual(["FailedScan", "FailedSchedule", "Unreached", "Flapping"]);
  expect((await owner.get("summary")).data.conflicts).toEqual({ count: 0, accepted_count: 1, conflicts: [] });
  expect(await told(owner, `at=${then}`)).toEqual(all);
  // Nothing belongs to another network, nor is visible to a caller limited to that one.
  const network = await newNetwork();
  const { client: viewer } = await newUser({ role: "Viewer", networkIds: [network.id] });
  expect(await kinds(owner, `network_id=${network.id}`)).toEqual([]);
  for (const query of ["", `at=${then}`, `network_id=${first.networkId}`])
    expect(await kinds(viewer, query)).toEqual([]);
  later(86_400);
  expect(await kinds(owner)).toEqual([]);
});

test("full subnets and missed scans match a naive model at random, at any instant and for every caller", async () => {
  const random = seededRandom(29);
  later(2 * 86_400);
  const networks = [first.networkId, (await newNetwork()).id, (await newNetwork()).id];
  const subnets: Array<{ id: string; network: string; prefix: string }> = [];
  for (const [place, network] of networks.entries())
    for (const each of [0, 1]) {
      const prefix = `10.${80 + place}.${each}`;
      const { id } = await newSubnet({ network_id: network, cidr: `${prefix}.0/29` });
      subnets.push({ id, network, prefix });
      // Reserved addresses are not assigned: they count in `percent` only.
      if (each === 1)
        await made(
          owner.post("ip-ranges", {
            network_id: network,
            subnet_id: id,
            first: `${prefix}.1`,
            last: `${prefix}.6`,
            purpose: "Dhcp",
          }),
        );
    }
  const hosts = await Promise.all(networks.map((network_id) => newHost({ network_id })));
  const callers = await Promise.all(
    [networks.slice(0, 1), networks.slice(1), networks].map(async (reached) => ({
      reached,
      client: (await newUser({ role: "Viewer", networkIds: reached })).client,
    })),
  );
  const given = new Map<string, string>();
  const missed = new Map<string, number>();
  const states: Array<{ at: string; full: string[]; missed: Map<string, number> }> = [];
  for (let step = 0; step < 150; step += 1) {
    later(1);
    const { network, prefix } = random.pick(subnets);
    const ip_address = `${prefix}.${1 + random.integer(6)}`;
    const known = given.get(ip_address);
    if (step % 10 === 0) {
      missed.set(network, random.integer(4));
      endedScan("Completed", network, { unreached: missed.get(network) as number });
    } else if (known === undefined) {
      const host_id = hosts[networks.indexOf(network)]?.id;
      given.set(ip_address, (await made(owner.post("ip-addresses", { host_id, ip_address }))).id);
    } else if (random.integer(4) === 0) {
      await made(owner.delete(`ip-addresses/${known}`));
      given.delete(ip_address);
    }
    later(1);
    const full = subnets.filter((each) => [1, 2, 3, 4, 5, 6].every((host) => given.has(`${each.prefix}.${host}`)));
    states.push({ at: now(), full: full.map(({ id }) => id), missed: new Map(missed) });
  }
  const found = { full: 0, missed: 0, setAside: 0 };
  for (let time = 0; time < 60; time += 1) {
    const { at, full, missed: then } = random.pick(states);
    const { reached, client } = random.pick(callers);
    const network = random.pick([null, ...networks]);
    const meant = reached.filter((each) => network === null || each === network);
    const { data } = await client.get(`summary?at=${at}${network === null ? "" : `&network_id=${network}`}`);
    const of = (kind: string) => (data.needs_attention as Wire[]).find((each) => each.kind === kind);
    const wanted = full.filter((id) => subnets.some((each) => each.id === id && meant.includes(each.network)));
    const ids = new URL(of("FullSubnet")?.request ?? "x:/", "http://x").searchParams.get("ids")?.split(",") ?? [];
    expect(ids.sort()).toEqual(wanted.sort());
    const within = network === null ? "" : `&network_id=${network}`;
    const told = (await client.get(`subnets?include=utilization&limit=0&at=${at}${within}`)).data as Wire[];
    const told90 = told.filter(({ utilization: { used, usable } }) => used * 100 >= usable * 90).map(({ id }) => id);
    expect(ids).toEqual(told90.filter((id) => subnets.some((each) => each.id === id)).sort());
    found.setAside += told.filter(({ id, utilization }) => utilization.percent >= 90 && !ids.includes(id)).length;
    const unreached = meant.reduce((sum, each) => sum + (then.get(each) ?? 0), 0);
    expect(of("Unreached")?.count ?? 0).toBe(unreached);
    found.full += wanted.length;
    found.missed += unreached;
  }
  expect(found.full).toBeGreaterThan(10);
  expect(found.missed).toBeGreaterThan(10);
  expect(found.setAside).toBeGreaterThan(10);
});
