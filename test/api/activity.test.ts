// GET /api/v1/activity over HTTP: parameters, errors, periods, markers, and typical questions of a network engineer.
// test/store/activity.test.ts compares the counts with a model.

import { beforeAll, expect, test } from "bun:test";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import { invalid, type JsonRecord } from "../support/appliance/factories.ts";

const appliance = applianceForAll();
const { clock, first, newHost, newIfEntry, newNetwork, newTag, newUser, owner, tick } = appliance;
let started: string;
let host: JsonRecord;
let flapping: JsonRecord;

const advance = (seconds: number) => {
  clock.advance(seconds * 1_000);
};
const now = () => new Date(clock.now()).toISOString();
const fetchActivity = async (query: string, client = owner) => {
  const response = await client.get(`activity?${query}`);
  expect({ query, status: response.status }).toEqual({ query, status: 200 });
  return response.data;
};
const counts = ({ created, updated, deleted, total }: JsonRecord) => ({ created, updated, deleted, total });

beforeAll(async () => {
  advance(3_600);
  started = now();
  host = await newHost({ name: "access-1" });
  flapping = await newIfEntry(host.id, { if_index: 7, if_descr: "Gi1/0/7" });
  const quiet = await newIfEntry(host.id, { if_index: 8, if_descr: "Gi1/0/8" });
  for (let i = 0; i < 6; i += 1) {
    advance(60);
    await put("if-entries", flapping, { oper_status: i % 2 === 0 ? "Down" : "Up" });
  }
  advance(60);
  await put("if-entries", quiet, { if_alias: "printer" });
  expect((await owner.delete(`if-entries/${quiet.id}`)).status).toBe(200);
  tick();
});

async function put(path: string, record: JsonRecord, changes: JsonRecord): Promise<void> {
  const current = (await owner.get(`${path}/${record.id}`)).data;
  expect((await owner.put(`${path}/${record.id}`, { ...current, ...changes })).status).toBe(200);
}

test("a time bar has as many equal buckets as requested, empty ones included, up to now", async () => {
  const { data, body } = await owner.get(`activity?from=${started}&buckets=5`);
  expect(body.meta.thinned_until).toBeUndefined();
  expect(data).toMatchObject({ group_by: "time", from: started, to: now(), created: 3, updated: 7, deleted: 1 });
  expect(data.groups).toHaveLength(5);
  expect(data.groups[0]).toMatchObject({ from: started, types: { host: 1, if_entry: 3 } });
  expect(data.groups.map((group: JsonRecord) => group.total).reduce((a: number, b: number) => a + b)).toBe(11);
  const complete = await fetchActivity("");
  expect(complete.groups).toHaveLength(100);
  expect(complete.groups.filter((group: JsonRecord) => group.total === 0).length).toBeGreaterThan(50);
  // Starts at the first change in the queried scope.
  expect((await fetchActivity(`host_id=${host.id}`)).from).toBe(started);
  expect((await fetchActivity("to=1999-01-01T00:00:00Z")).groups).toEqual([]);
  const short = await fetchActivity(
    `from=${started}&to=${new Date(Date.parse(started) + 3).toISOString()}&buckets=500`,
  );
  // With a constant clock, the ledger's timestamps advance by a millisecond.
  expect(short.groups.map(counts)).toEqual(Array(3).fill({ created: 1, updated: 0, deleted: 0, total: 1 }));
});

test("grouping by record finds flapping ports, and new and removed records", async () => {
  const flaps = await fetchActivity(`group_by=record&types=if_entry&fields=oper_status&from=${started}`);
  expect(flaps.groups).toHaveLength(1);
  expect(flaps.groups[0]).toMatchObject({
    entity_type: "if_entry",
    id: flapping.id,
    name: "Gi1/0/7",
    network_id: first.networkId,
    host: { id: host.id, name: "access-1" },
    updated: 6,
    total: 6,
  });
  const added = await fetchActivity(`group_by=record&operation=Created&from=${started}`);
  expect(added.groups.map((group: JsonRecord) => group.name).sort()).toEqual(["Gi1/0/7", "Gi1/0/8", "access-1"]);
  const removed = await fetchActivity(`group_by=record&operation=Deleted&from=${started}`);
  expect(removed.groups).toMatchObject([{ name: "Gi1/0/8", host: { name: "access-1" }, deleted: 1, total: 1 }]);
  expect(removed.group_count).toBe(1);
  const fields = await fetchActivity(`group_by=field&from=${started}`);
  expect(fields.groups.map(({ field, total }: JsonRecord) => [field, total])).toEqual([
    ["oper_status", 6],
    ["if_alias", 1],
  ]);
});

test("changes to its children count as changes to a host", async () => {
  const byType = await fetchActivity(`group_by=type&host_id=${host.id}`);
  expect(byType.groups.map((group: JsonRecord) => [group.entity_type, group.total])).toEqual([
    ["if_entry", 10],
    ["host", 1],
  ]);
  expect((await fetchActivity(`group_by=record&id=${host.id}`)).total).toBe(1);
});

test("a caller limited to one network sees that network and organization-wide records", async () => {
  const network = await newNetwork();
  await newHost({ network_id: network.id });
  await newTag();
  const { client } = await newUser({ role: "Viewer", networkIds: [network.id] });
  const [ofAll, ofOne] = [await fetchActivity("group_by=network"), await fetchActivity("group_by=network", client)];
  expect(ofAll.groups.map((group: JsonRecord) => group.network?.id ?? null)).toContain(first.networkId);
  expect(ofOne.groups.map((group: JsonRecord) => group.network?.id ?? null).sort()).toEqual([network.id, null].sort());
  expect((await fetchActivity(`host_id=${host.id}`, client)).total).toBe(0);
  expect((await fetchActivity(`network_id=${first.networkId}`, client)).total).toBe(0);
});

test("the end of a period may be a marker or an age", async () => {
  advance(60);
  const at = now();
  expect((await owner.post("markers", { name: "before the move", at })).status).toBe(200);
  advance(10);
  await newTag();
  tick();
  const { from, total } = await fetchActivity("from=marker:before the move&types=tag");
  expect({ from, total }).toEqual({ from: at, total: 1 });
  expect((await fetchActivity("from=-5s&types=tag")).total).toBe(1);
});

test("parameters that do not apply are refused, and misspelled fields get a suggestion", async () => {
  const refused = async (query: string) => owner.get(`activity?${query}`);
  expect(await refused("group_by=type&buckets=3")).toMatchObject(
    invalid({ path: "/buckets", message: "requires group_by=time", value: 3 }),
  );
  expect(await refused("limit=3")).toMatchObject(
    invalid({ path: "/limit", message: "does not apply to group_by=time: use buckets", value: 3 }),
  );
  expect(await refused("types=if_entry&fields=oper_status,oper_stat")).toMatchObject(
    invalid({
      path: "/fields/1",
      message: "is not a versioned field of these kinds; oper_status?",
      value: "oper_stat",
    }),
  );
  // Ports are reported separately from their host.
  expect((await refused("types=host&fields=ports")).status).toBe(400);
  for (const query of ["buckets=501", "buckets=0", "group_by=record&limit=0", "group_by=host", "operation=Moved"])
    expect([query, (await refused(query)).status]).toEqual([query, 400]);
});

test("a binding is named after its target", async () => {
  advance(60);
  const from = now();
  const [port] = (await newHost({ name: "web-1", ports: [{ number: 443, protocol: "Tcp" }] })).ports;
  const bindings = [{ type: "Port", port_id: port.id }];
  const body = { host_id: port.host_id, name: "shop", service_definition: "nginx", tags: [], bindings };
  expect((await owner.post("services", body)).status).toBe(200);
  tick();
  const { groups } = await fetchActivity(`group_by=record&types=binding&from=${from}`);
  expect(groups).toMatchObject([{ name: "shop at 443/Tcp", host: { name: "web-1" } }]);
});
