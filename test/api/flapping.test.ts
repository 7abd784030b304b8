// Flapping interfaces: the summary counts and names exactly those that its request lists, for every caller, at any
// timestamp, including interfaces that were deleted or restored.

import { expect, test } from "bun:test";
import { formatInstant } from "../../src/base/instant.ts";
import type { IfEntryRecord } from "../../src/resources/if-entries/if-entry.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

const appliance = applianceForEach();
const { clock, first, inTransaction, newHost, newIfEntry, newNetwork, newUser, owner, prune } = appliance;

const DAY_MS = 86_400_000;
const FILTER = 'changes(oper_status, "-24h") >= 6';
const STATUSES = ["Up", "Down", "Dormant"] as const;

interface Answers {
  /** Number in the summary. */
  readonly count: number;
  /** Ids of the ports that the summary lists, with their number of changes, those with the most first. */
  readonly ports: ReadonlyArray<readonly [id: string, changes: number]>;
  /** Ids that the filter finds. */
  readonly listed: readonly string[];
}

/** The summary and the list that it names, of the same timestamp. */
async function answers(client: Client, query: { at?: string; network_id?: string }): Promise<Answers> {
  const { flapping, needs_attention } = (await client.get(`summary?${new URLSearchParams(query)}`)).data;
  const attention = needs_attention.find(({ kind }: JsonRecord) => kind === "Flapping");
  const search = new URLSearchParams({ filter: FILTER, ...query, limit: "0" });
  const listed = (await client.get(`if-entries?${search}`)).data.map(({ id }: JsonRecord) => id);
  expect(attention?.count ?? 0).toBe(flapping.count);
  if (attention !== undefined) expect(decodeURIComponent(attention.request.replaceAll("+", " "))).toContain(FILTER);
  return {
    count: flapping.count,
    ports: flapping.ports.map(({ id, changes }: JsonRecord) => [id, changes] as const),
    listed: listed.sort(),
  };
}

function expectSame({ count, ports, listed }: Answers, about: unknown): void {
  expect({ about, count }).toEqual({ about, count: listed.length });
  const ids = ports.map(([id]) => id).sort();
  expect({ about, ids: ids.filter((id) => !listed.includes(id)) }).toEqual({ about, ids: [] });
  expect({ about, ids: ids.length }).toEqual({ about, ids: Math.min(10, listed.length) });
}

/** Network of each existing interface. */
type Networks = ReadonlyMap<string, string>;

interface Step {
  readonly at: number;
  /** The interface whose status changed; null for another change. */
  readonly changed: string | null;
  readonly networks: Networks;
}

/** Ids of the flapping interfaces as of a timestamp. @param reached networks of the caller */
function expectedPorts(steps: readonly Step[], at: number, reached: readonly string[], networkId?: string): string[] {
  const existing: Networks = steps.findLast((step) => step.at <= at)?.networks ?? new Map();
  const counts = new Map<string, number>();
  for (const { at: changedAt, changed, networks } of steps)
    if (changed !== null && changedAt > at - DAY_MS && changedAt <= at && reached.includes(networks.get(changed) ?? ""))
      counts.set(changed, (counts.get(changed) ?? 0) + 1);
  return [...existing]
    .filter(([, network]) => reached.includes(network) && (networkId ?? network) === network)
    .filter(([id]) => (counts.get(id) ?? 0) >= 6)
    .map(([id]) => id)
    .sort();
}

/** A status that differs from the record's, written without a request. */
function flip(id: string): void {
  inTransaction((tx) => {
    const { oper_status } = tx.get(ifEntryKind, id);
    tx.update(ifEntryKind, id, { oper_status: oper_status === "Up" ? "Down" : "Up" });
  });
}

test("over a random history, the summary's flapping ports are those that its filter lists", async () => {
  const random = seededRandom(8);
  const second = await newNetwork({ name: "second" });
  const hosts = [await newHost({}), await newHost({}), await newHost({ network_id: second.id })];
  const [here, there] = [
    await newUser({ role: "Member", networkIds: [first.networkId] }),
    await newUser({ role: "Viewer", networkIds: [second.id] }),
  ];
  const entries: JsonRecord[] = [];
  for (const host of hosts)
    for (let index = 1; index <= 5; index += 1) entries.push(await newIfEntry(host.id, { if_index: index }));
  const networks = new Map(entries.map(({ id, network_id }) => [id as string, network_id as string]));
  const deleted = new Map<string, IfEntryRecord>();
  const steps: Step[] = [];
  for (let step = 0; step < 400; step += 1) {
    clock.advance(random.pick([1, 60_000, 600_000, 1_800_000]));
    const id = random.pick(entries.slice(0, 4 + random.integer(entries.length - 4))).id as string;
    const changed = inTransaction((tx) => {
      const former = deleted.get(id);
      if (former !== undefined) {
        if (random.integer(3) > 0) return null;
        networks.set(id, tx.revive(ifEntryKind, first.organizationId, former).network_id);
        deleted.delete(id);
        return null;
      }
      const record = tx.get(ifEntryKind, id);
      const choice = random.integer(30);
      if (choice === 0) {
        tx.remove(ifEntryKind, id);
        deleted.set(id, record);
        networks.delete(id);
      } else if (choice === 1) tx.update(ifEntryKind, id, { if_alias: `port ${step}` });
      else {
        const oper_status = random.pick(STATUSES);
        tx.update(ifEntryKind, id, { oper_status });
        return oper_status === record.oper_status ? null : id;
      }
      return null;
    });
    steps.push({ at: clock.now(), changed, networks: new Map(networks) });
  }
  clock.advance(1);
  const callers = [
    { name: "owner", client: owner, reached: [first.networkId, second.id] },
    { name: "of one network", client: here.client, reached: [first.networkId] },
    { name: "of the other", client: there.client, reached: [second.id] },
  ];
  const moments = Array.from({ length: 20 }, () => {
    // At a change, a day after one, and just before and after both.
    return random.pick(steps).at + random.pick([0, DAY_MS]) + random.pick([-1, 0, 1]);
  });
  const within = [{}, { network_id: first.networkId }, { network_id: second.id }];
  let found = 0;
  for (const ms of [null, ...moments, clock.now() + DAY_MS])
    for (const network of within)
      for (const { name, client, reached } of callers) {
        const query = { ...network, ...(ms === null ? {} : { at: formatInstant(ms) }) };
        const both = await answers(client, query);
        expectSame(both, { name, ...query });
        const expected = expectedPorts(steps, Math.min(ms ?? clock.now(), clock.now()), reached, query.network_id);
        expect({ name, query, listed: both.listed }).toEqual({ name, query, listed: expected });
        found += both.count;
      }
  expect(found).toBeGreaterThan(100);
  prune(steps[150]?.at as number, "daily");
  for (const ms of moments)
    for (const network of within) {
      const query = { ...network, at: formatInstant(ms) };
      expectSame(await answers(owner, query), query);
    }
});

test("the day of a flapping port begins after the timestamp 24 hours before, and ends with the timestamp", async () => {
  const { id } = await newIfEntry((await newHost({})).id, { if_index: 1 });
  clock.advance(60_000);
  const firstChange = clock.now();
  for (let change = 0; change < 6; change += 1) {
    if (change > 0) clock.advance(60_000);
    flip(id);
  }
  const lastChange = clock.now();
  clock.advance(2 * DAY_MS);
  const countAt = async (at: number) => {
    const both = await answers(owner, { at: formatInstant(at) });
    expectSame(both, at);
    return both.count;
  };
  expect([await countAt(lastChange - 1), await countAt(lastChange)]).toEqual([0, 1]);
  expect([await countAt(firstChange + DAY_MS - 1), await countAt(firstChange + DAY_MS)]).toEqual([1, 0]);
});
