// GET /api/v1/transactions for callers of some of the networks: what they see has places in no table of its own.

import { beforeAll, expect, test } from "bun:test";
import type { Actor } from "../../src/access/actor.ts";
import { transactions } from "../../src/history/transactions.ts";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import type { Wire } from "../support/appliance/factories.ts";

const appliance = applianceForAll();
const { first, newNetwork, newSubnet, newTag, newUser, owner, tick, transactionCount } = appliance;
const callers = new Map<string, Client>();

beforeAll(async () => {
  const networks: string[] = [];
  for (let each = 0; each < 70; each += 1) networks.push((await newNetwork()).id);
  const member = async (networkIds: string[]) => (await newUser({ role: "Member", networkIds })).client;
  callers.set("all networks", owner);
  callers.set("one network", await member(networks.slice(0, 1)));
  callers.set("three networks", await member(networks.slice(0, 3)));
  callers.set("seventy networks", await member(networks));
  for (let each = 0; each < 30; each += 1) {
    tick();
    if (each % 5 === 0) await newTag({ name: `tag ${each}` });
    else
      await newSubnet({
        cidr: `10.${each}.0.0/16`,
        network_id: [networks[0], networks[2], networks[69], first.networkId][each % 4],
      });
  }
});

const sequencesOf = (data: Wire[]) => data.map((transaction) => transaction.sequence as number);

test.each([["all networks"], ["one network"], ["three networks"], ["seventy networks"]])(
  "the pages for a caller of %s make up the whole list, newest first, and count it",
  async (whose) => {
    const caller = callers.get(whose) as Client;
    const whole = await caller.get("transactions?limit=0");
    const sequences = sequencesOf(whole.data);
    expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => b - a));
    expect(sequences.length).toBeGreaterThan(10);
    expect(whole.body.meta.pagination).toMatchObject({ total_count: sequences.length, has_more: false });
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

test("what is not the caller's is left out, also as of an instant", async () => {
  const sequences = async (whose: string, query = "") =>
    sequencesOf((await (callers.get(whose) as Client).get(`transactions?limit=0${query}`)).data);
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
  for (const whose of callers.keys())
    expect(await sequences(whose, `&at=${at}`)).toEqual(
      (await sequences(whose)).filter((sequence) => sequence <= middle),
    );
});

test("a long list is gone through in steps: it is counted, and what it skips is passed over, a bounded number at a time", () => {
  const organizationN = 700_000;
  const actor: Actor = {
    type: "User",
    n: 1,
    userN: 1,
    role: "Viewer",
    organizationN,
    networkNs: [organizationN + 1],
  };
  // Of another organization; what its transactions wrote does not matter here.
  const { db } = (appliance.writes as unknown as { writer: { db: { $client: import("bun:sqlite").Database } } }).writer;
  const insert = db.$client.prepare("INSERT INTO history_activity (scope, sequence, ordinal) VALUES (?, ?, ?)");
  const head = transactionCount();
  db.$client.transaction(() => {
    for (let each = 1; each <= 9_000; each += 1) {
      insert.run(organizationN, head + each, each);
      insert.run(
        each % 9 === 0 ? -organizationN : organizationN + 1,
        head + each,
        each % 9 === 0 ? each / 9 : each - Math.floor(each / 9),
      );
    }
  })();
  const page = (offset: number) => [
    ...transactions(appliance.reader, {
      actor,
      until: head + 9_000,
      limit: 5,
      offset,
      asked: null,
      reason: null,
    }),
  ];
  const steps = page(8_999 + 1);
  expect(steps.filter((bytes) => bytes.length === 0).length).toBeGreaterThan(6);
  expect(JSON.parse(new TextDecoder().decode(Buffer.concat(steps)))).toMatchObject({
    data: [],
    meta: { pagination: { total_count: 9_000 } },
  });
});
