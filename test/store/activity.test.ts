// Activity by every grouping, compared with a fold over all versions in plain code: random history, periods and
// filters, for callers of all networks and of some, and after a prune.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Actor } from "../../src/access/actor.ts";
import { formatInstant } from "../../src/base/instant.ts";
import { Reader } from "../../src/db/reading/reader.ts";
import type { Author } from "../../src/db/writing/ledger.ts";
import { CHANGE_TYPES, OPERATIONS } from "../../src/history/change-view.ts";
import { type NarrowingParameters, narrowingOf } from "../../src/history/narrowing.ts";
import { pruneHistory } from "../../src/history/prune.ts";
import { KINDS } from "../../src/records/resources.ts";
import { activity } from "../../src/reports/activity/activity.ts";
import { type ActivityInput, GROUPINGS, type Grouping } from "../../src/reports/activity/meant-changes.ts";
import { recordLabel } from "../../src/resources/record-label.ts";
import { Model } from "../support/model/model.ts";
import { changeRanges } from "../support/model/range-drafts.ts";
import { isTold, type ToldChange, type ToldQuery, toldChanges } from "../support/model/told-changes.ts";
import { Store, type Wire } from "../support/store/store.ts";

const store = new Store({ seed: 41 });
let reader: Reader;
let model: Model;
let told: ToldChange[];

const AUTHORS: readonly Author[] = [
  { type: "User", id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0003", name: "Ada", organizationId: null, requestId: null },
  { type: "User", id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0003", name: "Ada L.", organizationId: null, requestId: null },
  { type: "ApiKey", id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0005", name: "ada", organizationId: null, requestId: null },
  { type: "Discovery", id: null, name: "netledger", organizationId: null, requestId: null },
];

beforeAll(() => {
  reader = store.reader;
  model = new Model(store, 41);
  // A record moved between networks counts in both: no command does that.
  model.movesHosts = false;
  for (let each = 0; each < 400; each += 1) {
    model.author = model.random.pick(AUTHORS);
    if (model.random.integer(4) === 0) model.step((draft) => changeRanges(draft, model.random));
    else model.step();
    if (each % 40 === 0) store.clock.at += 86_400_000;
  }
  store.clock.at += 60_000;
  told = toldChanges(store);
});
afterAll(() => store.close());

const idsOf = (type: string) => [...new Set(told.filter((change) => change.type === type).map(({ id }) => id))];

function actorOf(reach: readonly string[] | null): Actor {
  return { ...store.reach(reach), type: "User", n: 1, userN: 1, role: "Viewer" };
}

type Asked = Pick<ActivityInput, "groupBy" | "operation" | "fields" | "buckets" | "limit" | "from" | "to"> & {
  readonly reach: readonly string[] | null;
  readonly narrowing: NarrowingParameters;
};

/** The answer, and its number of steps. */
function answer({ reach, narrowing, ...asked }: Asked): { data: Wire; meta: Wire; steps: number } {
  const actor = actorOf(reach);
  const past = reader.thinnedPast;
  const chunks = [
    ...activity(reader, {
      ...asked,
      actor,
      narrowing: narrowingOf(reader, actor, narrowing),
      after: asked.from === null ? 0 : past.lastBefore(asked.from),
      until: past.lastBefore(asked.to),
    }),
  ];
  const { data, meta } = JSON.parse(new TextDecoder().decode(Buffer.concat(chunks)));
  return { data, meta, steps: chunks.length };
}

/** Changes that match the query. */
function meant({ reach, narrowing, operation, fields, groupBy, from, to }: Asked): ToldChange[] {
  const named = [narrowing.network_id, narrowing.host_id, narrowing.subnet_id, narrowing.id].filter(
    (id) => id !== undefined,
  );
  const isSeen = (id: string) => told.some((change) => change.id === id && isTold(change, { reach }));
  if (!named.every(isSeen)) return [];
  return told.filter(
    (change) =>
      change.isCounted &&
      isTold(change, { ...narrowing, reach } as ToldQuery) &&
      change.at >= (from ?? 0) &&
      change.at < to &&
      (operation === null || change.operation === operation) &&
      (groupBy !== "field" || ownFields(change).length > 0) &&
      (fields === null || ownFields(change).some((field) => fields.includes(field))),
  );
}

function ownFields({ type, fields }: ToldChange): string[] {
  const parts = type === "host" ? ["interfaces", "ip_addresses", "ports", "services"] : [];
  return fields.filter((field) => !parts.includes(field));
}

function countsOf(changes: readonly ToldChange[]): Wire {
  const of = (operation: string) => changes.filter((change) => change.operation === operation).length;
  return { created: of("Created"), updated: of("Updated"), deleted: of("Deleted"), total: changes.length };
}

/** Keys under which a change counts, as in the API; several if counted more than once. */
function keysOf(change: ToldChange, asked: Asked): Wire[] {
  const { groupBy, fields, reach, narrowing } = asked;
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
function groupsOf(asked: Asked): Map<string, Wire> {
  const found = new Map<string, ToldChange[]>();
  for (const change of meant(asked))
    for (const key of keysOf(change, asked).map((each) => JSON.stringify(each)))
      found.set(key, [...(found.get(key) ?? []), change]);
  return new Map(
    [...found].map(([key, changes]) => [
      key,
      {
        ...countsOf(changes),
        first: formatInstant(changes[0]?.at as number),
        last: formatInstant(changes.at(-1)?.at as number),
      },
    ]),
  );
}

/** As groupsOf, from an answer. */
function toldGroups(data: Wire, groupBy: Grouping): Map<string, Wire> {
  return new Map(
    data.groups.map(({ created, updated, deleted, total, first, last, ...rest }: Wire) => {
      const key =
        groupBy === "actor"
          ? { actor: { type: rest.actor.type, id: rest.actor.id } }
          : groupBy === "network"
            ? { network: rest.network?.id ?? null }
            : groupBy === "record"
              ? { entity_type: rest.entity_type, id: rest.id }
              : rest;
      return [JSON.stringify(key), { created, updated, deleted, total, first, last }];
    }),
  );
}

function random(): Asked {
  const { random } = model;
  const networks = idsOf("network");
  const maybe = <T>(value: () => T): T | undefined => (random.integer(5) === 0 ? value() : undefined);
  const narrowing = Object.fromEntries(
    Object.entries({
      types: maybe(() => CHANGE_TYPES.filter(() => random.integer(4) === 0)),
      network_id: maybe(() => random.pick(networks)),
      host_id: maybe(() => random.pick(idsOf("host"))),
      subnet_id: random.integer(8) === 0 ? random.pick(idsOf("subnet")) : undefined,
      id: random.integer(10) === 0 ? random.pick(told).id : undefined,
    }).filter(([, value]) => value !== undefined),
  ) as NarrowingParameters;
  const start = told[0]?.at as number;
  const instant = () => start - 10_000 + random.integer(store.clock.at - start + 20_000);
  const atChange = () => random.pick(told).at + random.integer(2);
  const [from, to] = (random.integer(2) === 0 ? [instant(), instant()] : [atChange(), atChange()]).sort(
    (a, b) => a - b,
  ) as [number, number];
  return {
    reach: random.pick([null, null, networks.filter(() => random.integer(2) === 0), []]),
    narrowing,
    groupBy: random.pick(GROUPINGS),
    operation: maybe(() => random.pick(OPERATIONS)) ?? null,
    fields: maybe(() => random.pick([["oper_status"], ["name", "tags"], ["fdb_macs", "ports"]])) ?? null,
    buckets: 1 + random.integer(12),
    limit: 1_000,
    from: random.integer(3) === 0 ? null : from,
    to,
  };
}

function compare(times: number): Map<Grouping, number> {
  const changes = new Map<Grouping, number>(GROUPINGS.map((grouping) => [grouping, 0]));
  for (let time = 0; time < times; time += 1) {
    const asked = random();
    const { data } = answer(asked);
    const all = meant(asked);
    expect({ asked, data }).toMatchObject({ asked, data: { group_by: asked.groupBy, to: formatInstant(asked.to) } });
    changes.set(asked.groupBy, (changes.get(asked.groupBy) as number) + all.length);
    if (asked.groupBy === "time") compareBuckets(asked, data, all);
    else {
      const expected = groupsOf(asked);
      expect({ asked, groups: toldGroups(data, asked.groupBy) }).toEqual({ asked, groups: expected });
      const totals = data.groups.map((group: Wire) => group.total);
      expect(totals).toEqual(totals.toSorted((a: number, b: number) => b - a));
      expect(data.group_count).toBe(expected.size);
      expect({ asked, data }).toMatchObject({ data: countsOf(all) });
      const limit = 1 + model.random.integer(3);
      expect(answer({ ...asked, limit }).data).toEqual({ ...data, groups: data.groups.slice(0, limit) });
    }
  }
  return changes;
}

function compareBuckets(asked: Asked, data: Wire, all: readonly ToldChange[]): void {
  const { to, buckets } = asked;
  const from = Date.parse(data.from);
  if (asked.from !== null) expect(from).toBe(asked.from);
  else {
    // The first change in the queried scope, without regard to the filters on changes.
    const first = meant({ ...asked, operation: null, fields: null })[0]?.at;
    expect({ asked, from }).toEqual({ asked, from: first ?? to });
  }
  const count = Math.min(buckets, to - from);
  expect(data.groups).toHaveLength(count);
  expect(data).toMatchObject({ group_count: count, ...countsOf(all) });
  for (const [place, group] of data.groups.entries()) {
    const [start, end] = [Date.parse(group.from), Date.parse(group.to)];
    expect(start).toBe(place === 0 ? from : Date.parse(data.groups[place - 1].to));
    expect(Math.abs(end - start - (to - from) / count)).toBeLessThanOrEqual(1);
    const within = all.filter((change) => change.at >= start && change.at < end);
    expect({ asked, group }).toMatchObject({ group: countsOf(within) });
    const types = Object.fromEntries(
      [...new Set(within.map(({ type }) => type))].map((type) => [
        type,
        within.filter((change) => change.type === type).length,
      ]),
    );
    expect(group.types).toEqual(types);
  }
  if (count > 0) expect(Date.parse(data.groups.at(-1).to)).toBe(to);
}

const ALL: Asked = {
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
    for (const [grouping, changes] of compare(600)) expect([grouping, changes > 1_000]).toEqual([grouping, true]);
  });

  test("names records, their hosts and networks as of the end of the period, or their deletion", () => {
    const { data } = answer({ ...ALL, groupBy: "record", to: store.clock.at });
    const lastOf = (id: string) => told.findLast((change) => change.id === id)?.states.at(-1) as Wire;
    expect(data.groups.some((group: Wire) => lastOf(group.id) === undefined)).toBe(false);
    let [ended, inHosts] = [0, 0];
    for (const { entity_type, id, name, network_id, host } of data.groups as Wire[]) {
      const kind = KINDS.find((each) => each.name === entity_type) as (typeof KINDS)[number];
      const record = lastOf(id);
      expect({ id, name, network_id }).toEqual({
        id,
        name: recordLabel(kind, record),
        network_id: record.network_id ?? null,
      });
      const hostId = record.host_id as string | undefined;
      expect(host).toEqual(hostId === undefined ? null : { id: hostId, name: lastOf(hostId).name });
      if (hostId !== undefined) inHosts += 1;
      if (told.findLast((change) => change.id === id)?.operation === "Deleted") ended += 1;
    }
    expect(Math.min(ended, inHosts)).toBeGreaterThan(20);
  });

  test("uses an actor's latest name", () => {
    const { data } = answer({ ...ALL, groupBy: "actor", to: store.clock.at });
    const last = told.findLast(({ actor, isCounted }) => isCounted && actor.id === AUTHORS[0]?.id) as ToldChange;
    const group = data.groups.find((each: Wire) => each.actor.id === AUTHORS[0]?.id && each.actor.type === "User");
    expect(group.actor).toEqual(last.actor);
  });

  test("counts remaining versions after a prune, with a notice", () => {
    const before = told[Math.floor(told.length / 2)]?.at as number;
    expect(pruneHistory(store.db, KINDS, { before, keep: "daily" }, store.clock.now()).dropped).toBeGreaterThan(100);
    reader = new Reader(store.readDb, store.clock);
    told = toldChanges(store);
    for (const [grouping, changes] of compare(300)) expect([grouping, changes > 300]).toEqual([grouping, true]);
    expect(answer({ ...ALL, to: store.clock.at }).meta.thinned_until).toBeString();
    expect(answer({ ...ALL, from: before + 1, to: store.clock.at }).meta.thinned_until).toBeUndefined();
  });
});
