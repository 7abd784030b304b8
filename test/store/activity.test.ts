// Activity in every grouping, compared with a reference implementation that folds all versions: random history, periods
// and filters, for callers with access to all or some networks, including after a prune.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Actor } from "../../src/access/actor.ts";
import { formatInstant } from "../../src/base/instant.ts";
import { Reader } from "../../src/db/reading/reader.ts";
import type { Author } from "../../src/db/writing/ledger.ts";
import { CHANGE_TYPES, OPERATIONS } from "../../src/history/change-view.ts";
import { type NarrowingParameters, resolveNarrowing } from "../../src/history/narrowing.ts";
import { pruneHistory } from "../../src/history/prune.ts";
import { KINDS } from "../../src/records/resources.ts";
import { activity } from "../../src/reports/activity/activity.ts";
import { type ActivityInput, GROUPINGS, type Grouping } from "../../src/reports/activity/matching-changes.ts";
import { recordLabel } from "../../src/resources/record-label.ts";
import {
  type ChangeQuery,
  type ExpectedChange,
  expectedChanges,
  matchesQuery,
} from "../support/model/expected-changes.ts";
import { Model } from "../support/model/model.ts";
import { changeRanges } from "../support/model/range-drafts.ts";
import { type JsonRecord, Store } from "../support/store/store.ts";

const store = new Store({ seed: 41 });
let reader: Reader;
let model: Model;
let allChanges: ExpectedChange[];

const AUTHORS: readonly Author[] = [
  { type: "User", id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0003", name: "Ada", organizationId: null, requestId: null },
  { type: "User", id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0003", name: "Ada L.", organizationId: null, requestId: null },
  { type: "ApiKey", id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0005", name: "ada", organizationId: null, requestId: null },
  { type: "Discovery", id: null, name: "netledger", organizationId: null, requestId: null },
];

beforeAll(() => {
  reader = store.reader;
  model = new Model(store, 41);
  // No command moves a record between networks, which would count in both.
  model.movesHosts = false;
  for (let step = 0; step < 400; step += 1) {
    model.author = model.random.pick(AUTHORS);
    if (model.random.integer(4) === 0) model.step((draft) => changeRanges(draft, model.random));
    else model.step();
    if (step % 40 === 0) store.clock.at += 86_400_000;
  }
  store.clock.at += 60_000;
  allChanges = expectedChanges(store);
});
afterAll(() => store.close());

const idsOf = (type: string) => [...new Set(allChanges.filter((change) => change.type === type).map(({ id }) => id))];

function actorOf(reach: readonly string[] | null): Actor {
  return { ...store.reach(reach), type: "User", n: 1, userN: 1, role: "Viewer" };
}

type ActivityQuery = Pick<ActivityInput, "groupBy" | "operation" | "fields" | "buckets" | "limit" | "from" | "to"> & {
  readonly reach: readonly string[] | null;
  readonly narrowing: NarrowingParameters;
};

/** Runs a query. @returns its response */
function runActivity({ reach, narrowing, ...query }: ActivityQuery): { data: JsonRecord; meta: JsonRecord } {
  const actor = actorOf(reach);
  const past = reader.thinnedHistory;
  const chunks = [
    ...activity(reader, {
      ...query,
      actor,
      narrowing: resolveNarrowing(reader, actor, narrowing),
      after: query.from === null ? 0 : past.lastBefore(query.from),
      until: past.lastBefore(query.to),
    }),
  ];
  return JSON.parse(new TextDecoder().decode(Buffer.concat(chunks)));
}

/** Changes that match the query. */
function matchingChanges({ reach, narrowing, operation, fields, groupBy, from, to }: ActivityQuery): ExpectedChange[] {
  const scopeIds = [narrowing.network_id, narrowing.host_id, narrowing.subnet_id, narrowing.id].filter(
    (id) => id !== undefined,
  );
  const isVisible = (id: string) => allChanges.some((change) => change.id === id && matchesQuery(change, { reach }));
  if (!scopeIds.every(isVisible)) return [];
  return allChanges.filter(
    (change) =>
      change.isCounted &&
      matchesQuery(change, { ...narrowing, reach } as ChangeQuery) &&
      change.at >= (from ?? 0) &&
      change.at < to &&
      (operation === null || change.operation === operation) &&
      (groupBy !== "field" || ownFields(change).length > 0) &&
      (fields === null || ownFields(change).some((field) => fields.includes(field))),
  );
}

function ownFields({ type, fields }: ExpectedChange): string[] {
  const parts = type === "host" ? ["interfaces", "ip_addresses", "ports", "services"] : [];
  return fields.filter((field) => !parts.includes(field));
}

function countsOf(changes: readonly ExpectedChange[]): JsonRecord {
  const [created, updated, deleted] = ["Created", "Updated", "Deleted"].map(
    (operation) => changes.filter((change) => change.operation === operation).length,
  );
  return { created, updated, deleted, total: changes.length };
}

/** Keys under which a change counts, as in the API; several if counted more than once. */
function keysOf(change: ExpectedChange, query: ActivityQuery): JsonRecord[] {
  const { groupBy, fields, reach, narrowing } = query;
  if (groupBy === "type") return [{ entity_type: change.type }];
  if (groupBy === "actor") {
    const { type, id } = change.actor;
    return [{ actor: { type, id } }];
  }
  if (groupBy === "field")
    return ownFields(change)
      .filter((field) => fields?.includes(field) ?? true)
      .map((field) => ({ entity_type: change.type, field }));
  if (groupBy === "record") return [{ entity_type: change.type, id: change.id }];
  const networks = change.states
    .map((state) => (change.type === "network" ? state.id : (state.network_id ?? null)) as string | null)
    .filter((id) => id === null || ((reach?.includes(id) ?? true) && (narrowing.network_id ?? id) === id));
  return [...new Set(networks)].map((id) => ({ network: id }));
}

/** Groups in any order: key, counts, first and last time. */
function groupsOf(query: ActivityQuery): Map<string, JsonRecord> {
  const found = new Map<string, ExpectedChange[]>();
  for (const change of matchingChanges(query))
    for (const key of keysOf(change, query).map((parts) => JSON.stringify(parts)))
      found.set(key, [...(found.get(key) ?? []), change]);
  return new Map(
    [...found].map(([key, changes]) => {
      const [first, last] = [changes[0], changes.at(-1)].map((change) => formatInstant(change?.at as number));
      return [key, { ...countsOf(changes), first, last }];
    }),
  );
}

/** Groups of a response, in the form of groupsOf. */
function groupsOfResponse(data: JsonRecord, groupBy: Grouping): Map<string, JsonRecord> {
  const keyOf = (group: JsonRecord) => {
    if (groupBy === "actor") return { actor: { type: group.actor.type, id: group.actor.id } };
    if (groupBy === "network") return { network: group.network?.id ?? null };
    return groupBy === "record" ? { entity_type: group.entity_type, id: group.id } : group;
  };
  return new Map(
    data.groups.map(({ created, updated, deleted, total, first, last, ...rest }: JsonRecord) => [
      JSON.stringify(keyOf(rest)),
      { created, updated, deleted, total, first, last },
    ]),
  );
}

function randomQuery(): ActivityQuery {
  const { random } = model;
  const networks = idsOf("network");
  const sometimes = <T>(value: () => T): T | undefined => (random.integer(5) === 0 ? value() : undefined);
  const narrowing = Object.fromEntries(
    Object.entries({
      types: sometimes(() => CHANGE_TYPES.filter(() => random.integer(4) === 0)),
      network_id: sometimes(() => random.pick(networks)),
      host_id: sometimes(() => random.pick(idsOf("host"))),
      subnet_id: random.integer(8) === 0 ? random.pick(idsOf("subnet")) : undefined,
      id: random.integer(10) === 0 ? random.pick(allChanges).id : undefined,
    }).filter(([, value]) => value !== undefined),
  ) as NarrowingParameters;
  const start = allChanges[0]?.at as number;
  const instant = () => start - 10_000 + random.integer(store.clock.at - start + 20_000);
  const nearChange = () => random.pick(allChanges).at + random.integer(2);
  const ends = random.integer(2) === 0 ? [instant(), instant()] : [nearChange(), nearChange()];
  const [from, to] = ends.sort((a, b) => a - b) as [number, number];
  return {
    reach: random.pick([null, null, networks.filter(() => random.integer(2) === 0), []]),
    narrowing,
    groupBy: random.pick(GROUPINGS),
    operation: sometimes(() => random.pick(OPERATIONS)) ?? null,
    fields: sometimes(() => random.pick([["oper_status"], ["name", "tags"], ["fdb_macs", "ports"]])) ?? null,
    buckets: 1 + random.integer(12),
    limit: 1_000,
    from: random.integer(3) === 0 ? null : from,
    to,
  };
}

function compareQueries(rounds: number): Map<Grouping, number> {
  const changes = new Map<Grouping, number>(GROUPINGS.map((grouping) => [grouping, 0]));
  for (let round = 0; round < rounds; round += 1) {
    const query = randomQuery();
    const { data } = runActivity(query);
    const all = matchingChanges(query);
    expect({ query, data }).toMatchObject({ query, data: { group_by: query.groupBy, to: formatInstant(query.to) } });
    changes.set(query.groupBy, (changes.get(query.groupBy) as number) + all.length);
    if (query.groupBy === "time") compareBuckets(query, data, all);
    else {
      const expected = groupsOf(query);
      expect({ query, groups: groupsOfResponse(data, query.groupBy) }).toEqual({ query, groups: expected });
      const totals = data.groups.map((group: JsonRecord) => group.total);
      expect(totals).toEqual(totals.toSorted((a: number, b: number) => b - a));
      expect(data.group_count).toBe(expected.size);
      expect({ query, data }).toMatchObject({ data: countsOf(all) });
      const limit = 1 + model.random.integer(3);
      expect(runActivity({ ...query, limit }).data).toEqual({ ...data, groups: data.groups.slice(0, limit) });
    }
  }
  return changes;
}

function compareBuckets(query: ActivityQuery, data: JsonRecord, all: readonly ExpectedChange[]): void {
  const { to, buckets } = query;
  const from = Date.parse(data.from);
  if (query.from !== null) expect(from).toBe(query.from);
  else {
    // The first change in the queried scope, without regard to the filters on changes.
    const first = matchingChanges({ ...query, operation: null, fields: null })[0]?.at;
    expect({ query, from }).toEqual({ query, from: first ?? to });
  }
  const count = Math.min(buckets, to - from);
  expect(data.groups).toHaveLength(count);
  expect(data).toMatchObject({ group_count: count, ...countsOf(all) });
  for (const [index, group] of data.groups.entries()) {
    const [start, end] = [Date.parse(group.from), Date.parse(group.to)];
    expect(start).toBe(index === 0 ? from : Date.parse(data.groups[index - 1].to));
    expect(Math.abs(end - start - (to - from) / count)).toBeLessThanOrEqual(1);
    const within = all.filter((change) => change.at >= start && change.at < end);
    expect({ query, group }).toMatchObject({ group: countsOf(within) });
    const types = [...Map.groupBy(within, ({ type }) => type)].map(([type, { length }]) => [type, length]);
    expect(group.types).toEqual(Object.fromEntries(types));
  }
  if (count > 0) expect(Date.parse(data.groups.at(-1).to)).toBe(to);
}

const ALL: ActivityQuery = {
  reach: null,
  narrowing: {},
  groupBy: "time",
  operation: null,
  fields: null,
  buckets: 100,
  limit: 1_000,
  from: null,
  to: Number.MAX_SAFE_INTEGER,
};

describe("activity", () => {
  test("equals a naive count over all versions, in every grouping", () => {
    for (const [grouping, changes] of compareQueries(600))
      expect([grouping, changes > 1_000]).toEqual([grouping, true]);
  });

  test("names records, their hosts and networks as of the end of the period, or their deletion", () => {
    const { data } = runActivity({ ...ALL, groupBy: "record", to: store.clock.at });
    const lastOf = (id: string) => allChanges.findLast((change) => change.id === id)?.states.at(-1) as JsonRecord;
    expect(data.groups.some((group: JsonRecord) => lastOf(group.id) === undefined)).toBe(false);
    let [deleted, inHosts] = [0, 0];
    for (const { entity_type, id, name, network_id, host } of data.groups as JsonRecord[]) {
      const kind = KINDS.find((candidate) => candidate.name === entity_type) as (typeof KINDS)[number];
      const record = lastOf(id);
      const networkId = record.network_id ?? null;
      expect({ id, name, network_id }).toEqual({ id, name: recordLabel(kind, record), network_id: networkId });
      const hostId = record.host_id as string | undefined;
      expect(host).toEqual(hostId === undefined ? null : { id: hostId, name: lastOf(hostId).name });
      if (hostId !== undefined) inHosts += 1;
      if (allChanges.findLast((change) => change.id === id)?.operation === "Deleted") deleted += 1;
    }
    expect(Math.min(deleted, inHosts)).toBeGreaterThan(20);
  });

  test("uses an actor's latest name", () => {
    const { data } = runActivity({ ...ALL, groupBy: "actor", to: store.clock.at });
    const id = AUTHORS[0]?.id;
    const last = allChanges.findLast(({ actor, isCounted }) => isCounted && actor.id === id);
    const group = data.groups.find(({ actor }: JsonRecord) => actor.id === id && actor.type === "User");
    expect(group.actor).toEqual(last?.actor);
  });

  test("counts remaining versions after a prune, with a notice", () => {
    const before = allChanges[Math.floor(allChanges.length / 2)]?.at as number;
    expect(pruneHistory(store.db, KINDS, { before, keep: "daily" }, store.clock.now()).dropped).toBeGreaterThan(100);
    reader = new Reader(store.readDb, store.clock);
    allChanges = expectedChanges(store);
    for (const [grouping, changes] of compareQueries(300)) expect([grouping, changes > 300]).toEqual([grouping, true]);
    expect(runActivity({ ...ALL, to: store.clock.at }).meta.thinned_until).toBeString();
    expect(runActivity({ ...ALL, from: before + 1, to: store.clock.at }).meta.thinned_until).toBeUndefined();
  });
});
