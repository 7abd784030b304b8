// The store against a naive model that keeps everything: random transactions, then every kind of list at random instants.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { formatInstant } from "../../src/base/instant.ts";
import type { AnyKind } from "../../src/db/kind.ts";
import type { ListQuery, OrderTerm } from "../../src/db/list-query.ts";
import { verifyLedger } from "../../src/history/verify.ts";
import { fdbEntryKind } from "../../src/resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { KINDS } from "../../src/resources/kinds.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { portKind } from "../../src/resources/ports/port.ts";
import { tagKind } from "../../src/resources/tags/tag.ts";
import { Model, type ModelQuery, type Snapshot } from "../support/model.ts";
import { networkFields, parseItems, Store, type Wire } from "../support/store.ts";

const TRANSACTIONS = 1_500;
const QUESTIONS = 4_000;
const LISTED: readonly AnyKind[] = [hostKind, portKind, ifEntryKind, tagKind, networkKind, fdbEntryKind];

const ORDERS: ReadonlyMap<AnyKind, readonly OrderTerm[][]> = new Map<AnyKind, OrderTerm[][]>([
  [
    tagKind,
    [
      [{ field: "name", direction: "asc", folded: true }],
      [{ field: "name", direction: "desc", folded: true }],
      [{ field: "created_at", direction: "desc", folded: false }],
      [
        { field: "color", direction: "asc", folded: false },
        { field: "name", direction: "desc", folded: true },
      ],
      [
        { field: "is_application", direction: "asc", folded: false },
        { field: "updated_at", direction: "desc", folded: false },
      ],
    ],
  ],
  [
    hostKind,
    [
      [{ field: "name", direction: "asc", folded: true }],
      [
        { field: "hidden", direction: "asc", folded: false },
        { field: "name", direction: "desc", folded: true },
      ],
    ],
  ],
  [networkKind, [[{ field: "name", direction: "asc", folded: true }]]],
]);

let store: Store;
let model: Model;

beforeAll(() => {
  store = new Store();
  // Nobody pulls a plug here.
  store.db.$client.run("PRAGMA synchronous = OFF");
  model = new Model(store, 7);
  model.step((draft) => {
    for (let each = 0; each < 80; each += 1) draft.create(networkKind, networkFields(store.organizationId, model.newName()));
  });
  for (let each = 0; each < TRANSACTIONS; each += 1) model.step();
  // Every transaction is in the past now, also where the ledger's clock led.
  store.clock.at = model.head.at + 60_000;
}, 60_000);
afterAll(() => store.close());

/** A question of any shape: some of it about ids that are of another kind, long gone, or were never used. */
function draw(): { query: ModelQuery; limit: number; offset: number } {
  const { random } = model;
  const kind = random.pick(LISTED);
  const anyId = () => random.pick(model.ids).id;
  const idOf = (of: AnyKind) => random.pick(model.ids.filter((each) => each.kind === of)).id;
  const networks = model.ids.filter((each) => each.kind === networkKind).map((each) => each.id);
  const reach = random.pick<string[] | null>([null, null, [], networks.slice(0, 1), [random.pick(networks), networks[3] as string], networks.slice(0, 70), networks]);
  const orders = ORDERS.get(kind) ?? [];
  const container = (of: AnyKind) => (random.integer(12) === 0 ? anyId() : idOf(of));
  return {
    query: {
      kind,
      reach: reach === null ? null : [...new Set(reach)],
      network: kind.scopes.network !== undefined && random.integer(3) === 0 ? container(networkKind) : undefined,
      host: kind.scopes.host !== undefined && random.integer(3) === 0 ? container(hostKind) : undefined,
      ids: random.integer(4) === 0 ? Array.from({ length: random.integer(30) }, () => (random.integer(2) === 0 ? anyId() : idOf(kind))) : undefined,
      order: orders.length > 0 && random.integer(2) === 0 ? random.pick(orders) : [],
    },
    limit: random.pick([1, 2, 7, 50, 1_000]),
    offset: random.pick([0, 0, 0, 1, 10, 100]),
  };
}

function asked(query: ModelQuery): Pick<ListQuery, "kind" | "reach" | "within" | "ids" | "order"> {
  const { kind, reach, network, host, ids, order } = query;
  return { kind, reach: store.reach(reach), within: { network, host }, ids, order: order ?? [] };
}

function check(snapshot: Snapshot, asOf: ListQuery["asOf"]): void {
  const { query, limit, offset } = draw();
  const expected = model.list(snapshot, query, asOf === null);
  const page = store.reader.page({ ...asked(query), asOf, limit, offset });
  const found = { items: parseItems(page.items), total: page.total };
  if (Bun.deepEquals(found, { items: expected.slice(offset, offset + limit), total: expected.length }, true)) return;
  // Only now the slow comparison, which shows the difference.
  expect({ query: describeQuery(query), limit, offset, at: formatInstant(snapshot.at), ...found }).toEqual({
    query: describeQuery(query),
    limit,
    offset,
    at: formatInstant(snapshot.at),
    items: expected.slice(offset, offset + limit),
    total: expected.length,
  });
}

function describeQuery(query: ModelQuery): string {
  return JSON.stringify({ ...query, kind: query.kind.name, reach: query.reach?.length });
}

test("the model has seen what matters", () => {
  expect(model.snapshots.length).toBeGreaterThan(TRANSACTIONS * 0.8);
  for (const kind of LISTED) expect([kind.name, model.list(model.head, { kind, reach: null }).length > 3]).toEqual([kind.name, true]);
  const ended = model.ids.filter(({ id }) => !model.head.records.has(id));
  expect(ended.length).toBeGreaterThan(100);
  expect([...model.head.records.values()].some((record) => record.lineage_id !== null)).toBe(true);
});

test("lists at random instants are what the model says: items, order, totals and true ends", () => {
  const { random } = model;
  for (let each = 0; each < QUESTIONS; each += 1) {
    const snapshot = random.pick(model.snapshots);
    // At the very instant, a millisecond later, or a millisecond before the next one.
    const next = model.snapshots[model.snapshots.indexOf(snapshot) + 1];
    const instant = random.pick([snapshot.at, next === undefined ? snapshot.at + 1 : next.at - 1]);
    check(model.at(instant), store.reader.resolve(instant));
  }
}, 60_000);

test("live lists are what the model says", () => {
  for (let each = 0; each < QUESTIONS / 2; each += 1) check(model.head, null);
}, 60_000);

test("at the last instant lists are the live ones, but for observation values", () => {
  const asOf = store.reader.resolve(model.head.at);
  expect(asOf).toMatchObject({ sequence: model.head.sequence, present: false });
  for (let each = 0; each < QUESTIONS / 4; each += 1) check(model.head, asOf);
}, 60_000);

test("a single record is what the model says, at every instant and within reach only", () => {
  const { random } = model;
  for (let each = 0; each < QUESTIONS; each += 1) {
    const { id, kind } = random.pick(model.ids);
    const { query } = draw();
    const snapshot = random.pick(model.snapshots);
    const isLive = random.integer(4) === 0;
    const of = isLive ? model.head : snapshot;
    const [expected] = model.list(of, { kind, reach: query.reach, ids: [id] }, isLive);
    const found = store.reader.find(kind, id, store.reach(query.reach), isLive ? null : store.reader.resolve(snapshot.at));
    expect(found === null ? undefined : (JSON.parse(found.text) as Wire)).toEqual(expected as Wire);
    if (found === null || expected === undefined) continue;
    const written = model.snapshots.find((other) => formatInstant(other.at) === expected["valid_from"]);
    expect(found).toMatchObject({ n: store.n(id), sequence: written?.sequence as number, ended: (expected["valid_to"] ?? null) !== null });
  }
}, 60_000);

describe("everything at once, in chunks", () => {
  const whole = (query: ModelQuery, asOf: NonNullable<ListQuery["asOf"]>, between: () => void, offset = 0, compose: "composed" | "plain" = "plain"): Wire[] => {
    const items: Wire[] = [];
    const parts = compose === "plain" ? null : (each: Array<{ text: string }>) => each.map((item) => item.text);
    for (const chunk of store.reader.chunks({ ...asked(query), asOf, limit: 0, offset }, parts)) {
      items.push(...parseItems(chunk));
      between();
    }
    return items;
  };

  test.each([["plain"], ["composed"]] as const)("is what the model says, at random instants (%s)", (compose) => {
    for (let each = 0; each < QUESTIONS / 10; each += 1) {
      const snapshot = model.random.pick(model.snapshots);
      const { query, offset } = draw();
      const expected = model.list(snapshot, query).slice(offset);
      const found = whole(query, store.reader.resolve(snapshot.at) as NonNullable<ListQuery["asOf"]>, () => {}, offset, compose);
      expect(Bun.deepEquals(found, expected, true) || describeQuery(query)).toBe(true);
    }
  }, 60_000);

  test("is each record once, also by more ids than a chunk holds", () => {
    for (const kind of LISTED) {
      const ids = model.ids.filter((each) => each.kind === kind).map((each) => each.id);
      const snapshot = model.snapshots[Math.floor(model.snapshots.length * 0.9)] as Snapshot;
      const asOf = store.reader.resolve(snapshot.at) as NonNullable<ListQuery["asOf"]>;
      const expected = model.list(snapshot, { kind, reach: null }).map((item) => item["id"]);
      for (const compose of ["plain", "composed"] as const) {
        const found: unknown[] = [];
        for (const chunk of store.reader.chunks({ ...asked({ kind, reach: null, ids }), asOf, limit: 0, offset: 0 }, compose === "plain" ? null : (items) => items.map((item) => item.text))) {
          found.push(...parseItems(chunk).map((item) => item["id"]));
          if (found.length > expected.length) break;
        }
        expect(found).toEqual(expected);
      }
    }
  });

  test("holds the present still while a writer goes on: none twice, none missing, none from later", () => {
    // Small chunks, so that there is much in between.
    for (const kind of LISTED) {
      const asOf = store.reader.present();
      const snapshot = model.head;
      expect(asOf).toMatchObject({ sequence: snapshot.sequence, present: true });
      const found = whole({ kind, reach: null }, asOf, () => model.step(), 0, "composed");
      const expected = model.list(snapshot, { kind, reach: null }).map((item) => item["id"]);
      expect(found.map((item) => item["id"])).toEqual(expected);
      // No version of it has ended, as far as this answer knows.
      expect(found.filter((item) => (item["valid_to"] ?? null) !== null)).toEqual([]);
      expect(found.map((item) => item["valid_from"])).toEqual(model.list(snapshot, { kind, reach: null }).map((item) => item["valid_from"]));
      expect(store.reader.total({ ...asked({ kind, reach: null }), asOf, limit: 0, offset: 0 })).toBe(expected.length);
    }
    store.clock.at = Math.max(store.clock.at, model.head.at + 60_000);
  });
});

test("the census counts every scope at every sequence as looking at everything does", () => {
  const expected: string[] = [];
  const last = new Map<string, number>();
  const ns = new Map([store.organizationId, ...model.ids.map((each) => each.id)].map((id) => [id, store.n(id)]));
  for (const snapshot of model.snapshots) {
    const counts = new Map<string, number>();
    for (const record of snapshot.records.values()) {
      const containers = [store.organizationId, ...Object.values(record.kind.scopeIds({ id: record.id, ...record.fields }) as Record<string, string>)];
      for (const container of containers) {
        const scope = `${(ns.get(container) as number) * 64 + record.kind.code}`;
        counts.set(scope, (counts.get(scope) ?? 0) + 1);
      }
    }
    for (const scope of new Set([...counts.keys(), ...last.keys()])) {
      const count = counts.get(scope) ?? 0;
      if (count !== (last.get(scope) ?? 0)) expected.push(`${scope} ${snapshot.sequence} ${count}`);
      last.set(scope, count);
    }
  }
  const found = store
    .rows<{ scope: number; sequence: number; count: number }>("SELECT scope, sequence, count FROM history_census WHERE scope & 63 NOT IN (1)")
    .map((row) => `${row.scope} ${row.sequence} ${row.count}`);
  expect(found.sort()).toEqual(expected.sort());
});

test("the store is sound", () => {
  expect(verifyLedger(store.readDb, KINDS).findings).toEqual([]);
}, 60_000);
