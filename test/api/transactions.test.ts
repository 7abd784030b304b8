// GET /api/v1/transactions for callers limited to some networks, whose view has no precomputed positions.

import { beforeAll, expect, test } from "bun:test";
import type { Actor } from "../../src/access/actor.ts";
import { transactions } from "../../src/history/transactions.ts";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { invalid, type JsonRecord } from "../support/appliance/factories.ts";
import { PRESENT } from "../support/store/moments.ts";

const appliance = applianceForAll();
const { first, newHost, newNetwork, newSubnet, newTag, newUser, owner, tick, transactionCount } = appliance;
const callers = new Map<string, Client>();

beforeAll(async () => {
  const networks: string[] = [];
  for (let index = 0; index < 70; index += 1) networks.push((await newNetwork()).id);
  const member = async (networkIds: string[]) => (await newUser({ role: "Member", networkIds })).client;
  callers.set("all networks", owner);
  callers.set("one network", await member(networks.slice(0, 1)));
  callers.set("three networks", await member(networks.slice(0, 3)));
  callers.set("seventy networks", await member(networks));
  for (let index = 0; index < 30; index += 1) {
    tick();
    if (index % 5 === 0) await newTag({ name: `tag ${index}` });
    else
      await newSubnet({
        cidr: `10.${index}.0.0/16`,
        network_id: [networks[0], networks[2], networks[69], first.networkId][index % 4],
      });
  }
});

const sequencesOf = (data: JsonRecord[]) => data.map((transaction) => transaction.sequence as number);

test.each([["all networks"], ["one network"], ["three networks"], ["seventy networks"]])(
  "the pages for a caller with %s form the complete list, newest first, with its count",
  async (callerName) => {
    const caller = callers.get(callerName) as Client;
    const all = await caller.get("transactions?limit=0");
    const sequences = sequencesOf(all.data);
    expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => b - a));
    expect(sequences.length).toBeGreaterThan(10);
    expect(all.body.meta.pagination).toMatchObject({ total_count: sequences.length, has_more: false });
    for (const [limit, offset] of [
      [1, 0],
      [7, 0],
      [7, 5],
      [7, sequences.length - 3],
      [7, sequences.length],
      [1_000, 2],
    ] as const) {
      const page = await caller.get(`transactions?limit=${limit}&offset=${offset}`);
      expect(sequencesOf(page.data)).toEqual(sequences.slice(offset, offset + limit));
      expect(page.body.meta.pagination).toMatchObject({
        total_count: sequences.length,
        has_more: offset + limit < sequences.length,
      });
    }
  },
);

test("transactions out of reach are omitted, even as of a timestamp", async () => {
  const sequences = async (callerName: string, query = "") =>
    sequencesOf((await (callers.get(callerName) as Client).get(`transactions?limit=0${query}`)).data);
  const all = await sequences("all networks");
  const [one, three, seventy] = [
    await sequences("one network"),
    await sequences("three networks"),
    await sequences("seventy networks"),
  ];
  expect(all).toEqual(expect.arrayContaining(seventy));
  expect(seventy).toEqual(expect.arrayContaining(three));
  expect(three).toEqual(expect.arrayContaining(one));
  expect([...new Set([one.length, three.length, seventy.length, all.length])]).toHaveLength(4);
  const middle = all[15] as number;
  const { at } = (await owner.get(`transactions/${middle}`)).data;
  for (const callerName of callers.keys())
    expect(await sequences(callerName, `&at=${at}`)).toEqual(
      (await sequences(callerName)).filter((sequence) => sequence <= middle),
    );
});

test("a period includes its start and excludes its end, from either end of the list", async () => {
  const all = (await owner.get("transactions?limit=0")).data;
  const [later, earlier] = [all[4], all[12]];
  const within = sequencesOf(all).filter((sequence) => sequence >= earlier.sequence && sequence < later.sequence);
  const period = `from=${earlier.at}&to=${later.at}`;
  const newest = await owner.get(`transactions?limit=0&${period}`);
  expect(sequencesOf(newest.data)).toEqual(within);
  expect(newest.body.meta.pagination.total_count).toBe(8);
  const oldest = await owner.get(`transactions?limit=3&offset=2&order_direction=asc&${period}`);
  expect(sequencesOf(oldest.data)).toEqual(within.toReversed().slice(2, 5));
  expect(oldest.body.meta.pagination).toMatchObject({ total_count: 8, has_more: true });
  // A future timestamp means now, without later transactions.
  expect(sequencesOf((await owner.get("transactions?limit=0&to=2999-01-01T00:00:00Z")).data)).toEqual(sequencesOf(all));
  expect((await owner.get("transactions?from=2999-01-01T00:00:00Z")).data).toEqual([]);
  expect((await owner.get(`transactions?from=${later.at}&to=${later.at}`)).data).toEqual([]);
  // At a timestamp before the start of the period there were none.
  expect((await owner.get(`transactions?at=${earlier.at}&from=${later.at}`)).body).toMatchObject({
    data: [],
    meta: { pagination: { total_count: 0, has_more: false } },
  });
  expect(await owner.get(`transactions?from=${later.at}&to=${earlier.at}`)).toMatchObject(
    invalid({ path: "/from", message: "must not be later than to", value: later.at }),
  );
  // Both ends apply; the earlier one wins.
  for (const [at, to] of [
    [earlier.at, later.at],
    [later.at, earlier.at],
  ]) {
    const both = await owner.get(`transactions?limit=0&at=${at}&to=${to}`);
    expect(sequencesOf(both.data)).toEqual(
      sequencesOf(all.filter(({ at: time }: JsonRecord) => time <= at && time < to)),
    );
    expect(both.body.meta.at).toBe(at);
  }
});

test("actors are filtered by type, id and name, changes by kind, host, subnet and record", async () => {
  const host = await newHost({ name: "switch" });
  const subnet = await newSubnet({ cidr: "172.16.0.0/12" });
  tick();
  const put = async (body: JsonRecord) => {
    tick();
    const updated = { ...host, ip_addresses: null, ports: null, services: null, ...body };
    expect((await owner.put(`hosts/${host.id}`, updated)).status).toBe(200);
    return transactionCount();
  };
  const addressed = await put({ ip_addresses: [{ ip_address: "172.16.0.9", subnet_id: subnet.id }] });
  const renamed = await put({ name: "core" });
  const port = await put({ name: "core", ports: [{ number: 22, protocol: "Tcp" }] });
  const fetchSequences = async (query: string) => sequencesOf((await owner.get(`transactions?limit=0&${query}`)).data);
  const created = (await fetchSequences(`id=${host.id}`)).at(-1) as number;
  expect(await fetchSequences(`host_id=${host.id}`)).toEqual([port, renamed, addressed, created]);
  // Changes to children count for their host.
  expect(await fetchSequences(`id=${host.id}`)).toEqual([renamed, created]);
  expect(await fetchSequences(`host_id=${host.id}&types=host`)).toEqual([renamed, created]);
  expect(await fetchSequences(`host_id=${host.id}&types=ip_address,port`)).toEqual([port, addressed]);
  expect((await fetchSequences(`subnet_id=${subnet.id}`))[0]).toBe(addressed);
  expect(await fetchSequences(`subnet_id=${subnet.id}&host_id=${host.id}`)).toEqual([addressed]);
  expect(await fetchSequences(`subnet_id=${subnet.id}&id=${host.id}`)).toEqual([]);
  expect(await fetchSequences(`host_id=${host.id}&network_id=${first.networkId}`)).toHaveLength(4);
  const { data } = await owner.get(`transactions/${port}`);
  expect(await fetchSequences(`host_id=${host.id}&actor_id=${data.actor.id}&actor_type=User&from=${data.at}`)).toEqual([
    port,
  ]);
  expect(await fetchSequences(`host_id=${host.id}&actor_name=${data.actor.name.toUpperCase()}`)).toHaveLength(4);
  expect(await fetchSequences(`host_id=${host.id}&actor_type=ApiKey,System`)).toEqual([]);
  const limited = callers.get("one network") as Client;
  expect((await limited.get(`transactions?host_id=${host.id}`)).data).toEqual([]);
  expect((await limited.get(`transactions?id=${host.id}`)).body.meta.pagination.total_count).toBe(0);
});

test("a long list is read in bounded steps, for counting and for skipping", () => {
  const organizationN = 700_000;
  const actor: Actor = { type: "User", n: 1, userN: 1, role: "Viewer", organizationN, networkNs: [organizationN + 1] };
  // Of another organization; the content of its transactions does not matter here.
  const { db } = (appliance.writes as unknown as { writer: { db: { $client: import("bun:sqlite").Database } } }).writer;
  const insert = db.$client.prepare("INSERT INTO history_activity (scope, sequence, ordinal) VALUES (?, ?, ?)");
  const head = transactionCount();
  db.$client.transaction(() => {
    for (let index = 1; index <= 9_000; index += 1) {
      insert.run(organizationN, head + index, index);
      insert.run(
        index % 9 === 0 ? -organizationN : organizationN + 1,
        head + index,
        index % 9 === 0 ? index / 9 : index - Math.floor(index / 9),
      );
    }
  })();
  const page = (offset: number) => [
    ...transactions(appliance.reader, { actor, until: head + 9_000, limit: 5, offset, moment: PRESENT }),
  ];
  const steps = page(8_999 + 1);
  expect(steps.filter((bytes) => bytes.length === 0).length).toBeGreaterThan(6);
  expect(JSON.parse(new TextDecoder().decode(Buffer.concat(steps)))).toMatchObject({
    data: [],
    meta: { pagination: { total_count: 9_000 } },
  });
});
