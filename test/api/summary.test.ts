// GET /api/v1/summary over HTTP: now, at a timestamp and for one network, on an inventory with history.
// test/store/summary.test.ts compares the counts with a naive model.

import { expect, test } from "bun:test";
import { openWritable } from "../../src/db/connection.ts";
import { NO_OUTCOME } from "../../src/discovery/scans/scan.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, invalid, type JsonRecord } from "../support/appliance/factories.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

const appliance = applianceForEach();
const { clock, first, newHost, newIfEntry, newNetwork, newSchedule, newSubnet, newTag, newUser, owner, tick } =
  appliance;

const advanceSeconds = (seconds: number) => clock.advance(seconds * 1_000);
const currentTime = () => new Date(clock.now()).toISOString();
const names = (records: JsonRecord[]) => records.map(({ name }) => name);

async function toggle(entry: JsonRecord, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    advanceSeconds(60);
    const { data } = await owner.get(`if-entries/${entry.id}`);
    const oper_status = data.oper_status === "Up" ? "Down" : "Up";
    expect((await owner.put(`if-entries/${entry.id}`, { ...data, oper_status })).status).toBe(200);
  }
}

test("additions, removals and flapping within a day are reported, at that time and a day later", async () => {
  advanceSeconds(86_400);
  const host = await newHost({ name: "access-1" });
  const deleted = await newHost({ name: "old-1" });
  const [port, quiet] = [
    await newIfEntry(host.id, { if_index: 7, if_descr: "Gi1/0/7" }),
    await newIfEntry(host.id, { if_index: 8, if_descr: "Gi1/0/8" }),
  ];
  await toggle(quiet, 5);
  await toggle(port, 6);
  expect((await owner.delete(`hosts/${deleted.id}`)).status).toBe(200);
  advanceSeconds(60);
  const instant = currentTime();
  const { data, body } = await owner.get("summary");
  expect(body.meta.at).toBeUndefined();
  expect(data).toMatchObject({
    to: instant,
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
  advanceSeconds(86_400);
  tick();
  const next = (await owner.get("summary")).data;
  expect(next).toMatchObject({ new: [], vanished: [], flapping: { count: 0 }, changes: { updated: 0 } });
  // Past responses do not change.
  const pastSummary = await owner.get(`summary?at=${instant}`);
  expect(pastSummary.data).toEqual(data);
  expect(pastSummary.body.meta.at).toBe(instant);
});

test("the summary of the first representable day starts at the first representable timestamp", async () => {
  const data = await expectOk(owner.get("summary?at=0000-01-01T00:00:00.123Z"));
  expect([data.from, data.to]).toEqual(["0000-01-01T00:00:00.000Z", "0000-01-01T00:00:00.123Z"]);
});

test("a network's summary covers its records only, and is invisible out of reach", async () => {
  const network = await newNetwork({ name: "Branch" });
  await newHost({ name: "branch-1", network_id: network.id });
  await newHost({ name: "campus-1" });
  await newTag();
  tick();
  const networkSummary = (await owner.get(`summary?network_id=${network.id}`)).data;
  expect(networkSummary.counts).toMatchObject({ host: 1, if_entry: 0 });
  expect(networkSummary.counts.tag).toBeUndefined();
  expect(names(networkSummary.new)).toEqual(["branch-1", "Branch"]);
  const { client: viewer } = await newUser({ role: "Viewer", networkIds: [network.id] });
  const visible = (await viewer.get("summary")).data;
  expect(visible.counts).toMatchObject({ network: 1, host: 1, tag: 1 });
  expect(names(visible.new)).not.toContain("campus-1");
  const hidden = (await viewer.get(`summary?network_id=${first.networkId}`)).data;
  expect(hidden.counts.host).toBe(0);
  expect(hidden.changes).toEqual({ created: 0, updated: 0, deleted: 0, types: {} });
  expect(await viewer.get("summary?network_id=campus")).toMatchObject(
    invalid(expect.objectContaining({ path: "/network_id" })),
  );
});

/** Inserts a scan that ended now. @returns its id */
function insertEndedScan(
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
  advanceSeconds(2 * 86_400);
  const subnet = await newSubnet({ cidr: "10.99.0.0/29" });
  const roomy = await newSubnet({ cidr: "10.99.1.0/28" });
  await newSubnet({ cidr: "10.99.2.0/30" });
  const addresses = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => ({ ip_address: `${prefix}.${index + 1}` }));
  const host = await newHost({ name: "full", ip_addresses: addresses("10.99.0", 6) });
  await newHost({ name: "roomy", ip_addresses: addresses("10.99.1", 12) });
  await newHost({ name: "link", ip_addresses: addresses("10.99.2", 2) });
  await newHost({ name: "twin", ip_addresses: [{ ip_address: "10.99.1.1" }] });
  const port = await newIfEntry(host.id, { if_index: 7, if_descr: "Gi1/0/7" });
  const schedule = await newSchedule();
  const deleted = await newSchedule();
  await expectOk(owner.delete(`discovery/schedules/${deleted.id}`));
  await toggle(port, 6);
  insertEndedScan("Failed", first.networkId, { scheduleId: schedule.id });
  insertEndedScan("Failed", first.networkId, { scheduleId: schedule.id });
  insertEndedScan("Failed", first.networkId, { scheduleId: deleted.id });
  insertEndedScan("Completed", first.networkId, { unreached: 9 });
  tick();
  const last = insertEndedScan("Completed", first.networkId, { unreached: 3 });
  tick();
  const attentionItems = async (caller: Client, query = "") =>
    ((await caller.get(`summary?${query}`)).data.needs_attention as JsonRecord[]).map(({ kind, count, request }) => ({
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
  expect(await attentionItems(owner)).toEqual(all);
  const { data } = await owner.get("summary");
  expect(data.conflicts).toMatchObject({ count: 1, accepted_count: 0, conflicts: [{ value: "10.99.1.1" }] });
  for (const { kind, count, request } of data.needs_attention as JsonRecord[]) {
    const response = await owner.get(request);
    expect([kind, response.status]).toEqual([kind, 200]);
    if (kind !== "Unreached") expect([kind, response.data.length]).toEqual([kind, count]);
  }
  const instant = currentTime();
  tick();
  const [conflict] = data.conflicts.conflicts;
  const { type, value, fingerprint } = conflict;
  await expectOk(owner.post("conflicts/acceptances", { type, value, fingerprint }));
  await expectOk(owner.delete(`ip-addresses/${host.ip_addresses[0].id}`));
  await expectOk(owner.put(`subnets/${roomy.id}`, { cidr: "10.99.1.0/28", name: "roomy" }));
  const kinds = async (caller: Client, query = "") => (await attentionItems(caller, query)).map(({ kind }) => kind);
  expect(await kinds(owner)).toEqual(["FailedScan", "FailedSchedule", "Unreached", "Flapping"]);
  expect((await owner.get("summary")).data.conflicts).toEqual({ count: 0, accepted_count: 1, conflicts: [] });
  expect(await attentionItems(owner, `at=${instant}`)).toEqual(all);
  // Nothing belongs to another network, nor is visible to a caller limited to that one.
  const network = await newNetwork();
  const { client: viewer } = await newUser({ role: "Viewer", networkIds: [network.id] });
  expect(await kinds(owner, `network_id=${network.id}`)).toEqual([]);
  for (const query of ["", `at=${instant}`, `network_id=${first.networkId}`])
    expect(await kinds(viewer, query)).toEqual([]);
  advanceSeconds(86_400);
  expect(await kinds(owner)).toEqual([]);
});

test("full subnets and missed scans match a naive model at random, at any timestamp and for every caller", async () => {
  const random = seededRandom(29);
  advanceSeconds(2 * 86_400);
  const networks = [first.networkId, (await newNetwork()).id, (await newNetwork()).id];
  const subnets: Array<{ id: string; network: string; prefix: string }> = [];
  for (const [index, network] of networks.entries())
    for (const half of [0, 1]) {
      const prefix = `10.${80 + index}.${half}`;
      const { id } = await newSubnet({ network_id: network, cidr: `${prefix}.0/29` });
      subnets.push({ id, network, prefix });
      // Reserved addresses are not assigned: they count in `percent` only.
      if (half === 1)
        await expectOk(
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
  const addressIds = new Map<string, string>();
  const missed = new Map<string, number>();
  const states: Array<{ at: string; full: string[]; missed: Map<string, number> }> = [];
  for (let step = 0; step < 150; step += 1) {
    advanceSeconds(1);
    const { network, prefix } = random.pick(subnets);
    const ip_address = `${prefix}.${1 + random.integer(6)}`;
    const existingId = addressIds.get(ip_address);
    if (step % 10 === 0) {
      missed.set(network, random.integer(4));
      insertEndedScan("Completed", network, { unreached: missed.get(network) as number });
    } else if (existingId === undefined) {
      const host_id = hosts[networks.indexOf(network)]?.id;
      addressIds.set(ip_address, (await expectOk(owner.post("ip-addresses", { host_id, ip_address }))).id);
    } else if (random.integer(4) === 0) {
      await expectOk(owner.delete(`ip-addresses/${existingId}`));
      addressIds.delete(ip_address);
    }
    advanceSeconds(1);
    const full = subnets.filter((item) => [1, 2, 3, 4, 5, 6].every((host) => addressIds.has(`${item.prefix}.${host}`)));
    states.push({ at: currentTime(), full: full.map(({ id }) => id), missed: new Map(missed) });
  }
  const found = { full: 0, missed: 0, reservedOnly: 0 };
  for (let time = 0; time < 60; time += 1) {
    const { at, full, missed: unreachedByNetwork } = random.pick(states);
    const { reached, client } = random.pick(callers);
    const network = random.pick([null, ...networks]);
    const visibleNetworks = reached.filter((id) => network === null || id === network);
    const { data } = await client.get(`summary?at=${at}${network === null ? "" : `&network_id=${network}`}`);
    const itemOf = (kind: string) => (data.needs_attention as JsonRecord[]).find((item) => item.kind === kind);
    const expectedIds = full.filter((id) =>
      subnets.some((subnet) => subnet.id === id && visibleNetworks.includes(subnet.network)),
    );
    const ids = new URL(itemOf("FullSubnet")?.request ?? "x:/", "http://x").searchParams.get("ids")?.split(",") ?? [];
    expect(ids.sort()).toEqual(expectedIds.sort());
    const networkQuery = network === null ? "" : `&network_id=${network}`;
    const listed = (await client.get(`subnets?include=utilization&limit=0&at=${at}${networkQuery}`))
      .data as JsonRecord[];
    const fullIds = listed.filter(({ utilization: { used, usable } }) => used * 100 >= usable * 90).map(({ id }) => id);
    expect(ids).toEqual(fullIds.filter((id) => subnets.some((subnet) => subnet.id === id)).sort());
    found.reservedOnly += listed.filter(({ id, utilization }) => utilization.percent >= 90 && !ids.includes(id)).length;
    const unreached = visibleNetworks.reduce((sum, id) => sum + (unreachedByNetwork.get(id) ?? 0), 0);
    expect(itemOf("Unreached")?.count ?? 0).toBe(unreached);
    found.full += expectedIds.length;
    found.missed += unreached;
  }
  expect(found.full).toBeGreaterThan(10);
  expect(found.missed).toBeGreaterThan(10);
  expect(found.reservedOnly).toBeGreaterThan(10);
});
