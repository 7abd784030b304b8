// The store compared with a naive model that keeps everything: random transactions, then every kind of list at random
// timestamps.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { formatInstant } from "../../src/base/instant.ts";
import { SCHEMA_VERSION } from "../../src/db/files/migrate.ts";
import { type AnyKind, scopesOf } from "../../src/db/kind.ts";
import type { Filter, ListQuery, OrderTerm } from "../../src/db/reading/list-query.ts";
import { addsField, type Upcaster } from "../../src/db/shape.ts";
import { rebuildLiveWithin } from "../../src/history/verify/rebuild.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/records/resources.ts";
import { fdbEntryKind } from "../../src/resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { ipAddressKind } from "../../src/resources/ip-addresses/ip-address.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { portKind } from "../../src/resources/ports/port.ts";
import { serviceKind } from "../../src/resources/services/service.ts";
import { subnetKind } from "../../src/resources/subnets/subnet.ts";
import { tagKind } from "../../src/resources/tags/tag.ts";
import { TEST_HANG_MS } from "../support/measure/limits.ts";
import { TEXTS } from "../support/model/draft.ts";
import { Model, type ModelQuery, type Snapshot } from "../support/model/model.ts";
import { networkFields, parseItems, Store, type Wire } from "../support/store/store.ts";

const TRANSACTIONS = 1_500;
const QUESTIONS = 4_000;
const LISTED: readonly AnyKind[] = [
  hostKind,
  portKind,
  ifEntryKind,
  tagKind,
  networkKind,
  fdbEntryKind,
  ipAddressKind,
  serviceKind,
  subnetKind,
];

/** Searchable kinds. */
const FOUND: readonly AnyKind[] = LISTED.filter((kind) => kind !== fdbEntryKind);

/** Order fields of lists by kind, and whether they use a sort key. */
const ORDERS: ReadonlyMap<AnyKind, Readonly<Record<string, boolean>>> = new Map<AnyKind, Record<string, boolean>>([
  [tagKind, { name: true, created_at: false, color: false, is_application: false, updated_at: false }],
  [
    hostKind,
    {
      name: true,
      hostname: true,
      manufacturer: true,
      model: true,
      asset_tag: false,
      "custom_fields.rack": true,
      "custom_fields.height": true,
      "custom_fields.spare": true,
      hidden: false,
      network_id: false,
      last_seen_at: false,
      created_at: false,
      updated_at: false,
    },
  ],
  [networkKind, { name: true, stale_after_hours: false, updated_at: false }],
  [
    serviceKind,
    { name: true, service_definition: true, position: false, host_id: false, last_seen_at: false, updated_at: false },
  ],
  // By keys computed at query time, among plain values.
  [
    ipAddressKind,
    { ip_address: true, name: true, mac_address: false, subnet_id: false, created_at: false, updated_at: false },
  ],
  [ifEntryKind, { if_descr: true, if_alias: true, if_index: false, oper_status: false, updated_at: false }],
  [portKind, { number: false, protocol: false, type: false, updated_at: false }],
  [subnetKind, { name: true, cidr: true, subnet_type: false, network_id: false, created_at: false }],
]);

/** Adds `asset_tag` midway. */
const { upcasters: EARLIER = [] } = hostKind;
const UPCASTERS = [...EARLIER, addsField(SCHEMA_VERSION + 1, "asset_tag", null)];

const store = new Store();
const model = new Model(store, 7);
let findingsInTheMiddle: readonly unknown[];

beforeAll(() => {
  model.step((draft) => {
    for (let each = 0; each < 80; each += 1)
      draft.create(networkKind, networkFields(store.organizationId, model.newName()));
  });
  // Midway, all hosts get a new field.
  model.unknownFields.add("asset_tag");
  for (let each = 0; each < TRANSACTIONS / 2; each += 1) model.step();
  setUpcasters(hostKind, UPCASTERS);
  rebuildLiveWithin(store.db, [hostKind]);
  model.gain(hostKind, "asset_tag", null);
  findingsInTheMiddle = verifyLedger(store.readDb, KINDS).findings;
  for (let each = 0; each < TRANSACTIONS / 2; each += 1) model.step();
  // Every transaction is in the past now, even if the ledger's clock was ahead.
  store.clock.at = model.head.at + 60_000;
});
afterAll(() => {
  setUpcasters(hostKind, EARLIER);
  store.close();
});

/** Sets a kind to before or after the introduction of a field. */
function setUpcasters(kind: AnyKind, upcasters: readonly Upcaster[]): void {
  (kind as { upcasters: readonly Upcaster[] }).upcasters = upcasters;
}

interface Question {
  readonly query: ModelQuery;
  readonly limit: number;
  readonly offset: number;
}

/** A question of any shape: some with ids of another kind, long deleted, or never used. */
function draw(): Question {
  const { random } = model;
  const kind = random.pick(LISTED);
  const anyId = () => random.pick(model.ids).id;
  const idOf = (of: AnyKind) => random.pick(model.ids.filter((each) => each.kind === of)).id;
  const networks = model.ids.filter((each) => each.kind === networkKind).map((each) => each.id);
  const reach = random.pick<string[] | null>([
    null,
    null,
    null,
    [],
    networks.slice(0, 1),
    [random.pick(networks), networks[3] as string],
    networks.slice(0, 70),
    networks,
  ]);
  const container = (of: AnyKind) =>
    random.integer(12) === 0
      ? anyId()
      : of === networkKind && random.integer(2) === 0
        ? (random.pick(networks.slice(0, 3)) as string)
        : idOf(of);
  return {
    query: {
      kind,
      reach: reach === null ? null : [...new Set(reach)],
      network: kind.scopes.network !== undefined && random.integer(3) === 0 ? container(networkKind) : undefined,
      host: kind.scopes.host !== undefined && random.integer(3) === 0 ? container(hostKind) : undefined,
      ids:
        random.integer(4) === 0
          ? Array.from({ length: random.integer(30) }, () => (random.integer(2) === 0 ? anyId() : idOf(kind)))
          : undefined,
      filters: drawFilters(kind),
      search: FOUND.includes(kind) && random.integer(3) === 0 ? model.newSearch(kind) : undefined,
      order: drawOrder(kind),
    },
    limit: random.pick([1, 2, 7, 50, 1_000]),
    offset: random.pick([0, 0, 0, 1, 10, 100]),
  };
}

/** A search or a filter over nearly everything: it usually has matches. */
function drawMatch(): Question {
  const { random } = model;
  const kind = random.pick([...FOUND, hostKind, serviceKind, ipAddressKind]);
  const networks = model.ids.filter((each) => each.kind === networkKind).map((each) => each.id);
  const search = FOUND.includes(kind) && random.integer(4) > 0 ? model.newSearch(kind) : undefined;
  const query = {
    kind,
    reach: random.pick([null, null, networks.slice(0, 3), networks.slice(0, 70), networks]),
    network:
      kind.scopes.network !== undefined && random.integer(5) === 0 ? random.pick(networks.slice(0, 3)) : undefined,
    filters: search === undefined || random.integer(4) === 0 ? drawFilters(kind) : [],
    search,
    order: drawOrder(kind),
  };
  return { query, limit: random.pick([1, 7, 50]), offset: random.pick([0, 0, 1, 5]) };
}

function drawFilters(kind: AnyKind): Filter[] {
  const { random } = model;
  const filters: Filter[] = [];
  const tags = () =>
    Array.from(
      { length: random.integer(4) },
      () => random.pick(model.ids.filter((each) => each.kind === tagKind || random.integer(50) === 0)).id,
    );
  if (kind === hostKind && random.integer(4) === 0) filters.push({ field: "hidden", equals: random.integer(2) === 0 });
  if (kind === hostKind && random.integer(8) === 0) filters.push({ field: "asset_tag", equals: random.pick(TEXTS) });
  if ((kind === hostKind || kind === serviceKind) && random.integer(4) === 0)
    filters.push({ field: "tags", namesAny: tags() });
  if (kind === serviceKind && random.integer(3) === 0)
    filters.push({ field: "service_definition", equals: random.pick(["ssh", "SSH", "nginx", "none"]) });
  if (kind === ipAddressKind && random.integer(3) === 0)
    filters.push({
      field: "subnet_id",
      names: random.pick(model.ids.filter((each) => each.kind === subnetKind || random.integer(50) === 0)).id,
    });
  return filters;
}

function drawOrder(kind: AnyKind): OrderTerm[] {
  const { random } = model;
  const fields = Object.entries(ORDERS.get(kind) ?? {});
  const drawn = new Map(
    fields.length === 0 ? [] : Array.from({ length: random.pick([0, 0, 1, 1, 2]) }, () => random.pick(fields)),
  );
  return [...drawn].map(([field, byKey]) => ({ field, byKey, direction: random.pick(["asc", "desc"]) }));
}

function asked(
  query: ModelQuery,
): Pick<ListQuery, "kind" | "reach" | "within" | "ids" | "filters" | "search" | "order"> {
  const { kind, reach, network, host, ids, filters, search, order } = query;
  return {
    kind,
    reach: store.reach(reach),
    within: { network, host },
    ids,
    filters: filters ?? [],
    search,
    order: order ?? [],
  };
}

/** @returns the number of matches */
function check(snapshot: Snapshot, asOf: ListQuery["asOf"], { query, limit, offset }: Question = draw()): number {
  const expected = model.page(snapshot, query, asOf === null, limit, offset);
  const page = store.reader.page({ ...asked(query), asOf, limit, offset });
  const found = { items: parseItems(page.items), total: page.total };
  if (!Bun.deepEquals(found, expected, true)) {
    // The slow comparison only on failure, to show the difference.
    const question = { query: describeQuery(query), limit, offset, at: formatInstant(snapshot.at) };
    expect({ ...question, ...found }).toEqual({ ...question, ...expected });
  }
  return expected.total;
}

function describeQuery(query: ModelQuery): string {
  return JSON.stringify({ ...query, kind: query.kind.name, reach: query.reach?.length });
}

test("the model covers the relevant cases", () => {
  expect(model.snapshots.length).toBeGreaterThan(TRANSACTIONS * 0.8);
  for (const kind of LISTED)
    expect([kind.name, model.list(model.head, { kind, reach: null }).length > 3]).toEqual([kind.name, true]);
  expect(model.ids.filter(({ id }) => !model.head.records.has(id)).length).toBeGreaterThan(100);
  expect([...model.head.records.values()].some((record) => record.lineage_id !== null)).toBe(true);
  const lives = store.rows<{ kind: number; lives: number }>(
    `SELECT r.kind, max(v.lives) AS lives FROM (SELECT key >> 31 AS n, sum(operation = 1) AS lives
      FROM history_versions GROUP BY 1) v JOIN history_records r ON r.n = v.n GROUP BY 1`,
  );
  for (const kind of [hostKind, tagKind, portKind, ifEntryKind, ipAddressKind, serviceKind])
    expect([kind.name, (lives.find((row) => row.kind === kind.code)?.lives ?? 0) > 1]).toEqual([kind.name, true]);
});

test("hosts were written with and without the added field, and the store verified right after", () => {
  const shapes = store.rows<{ shape: number; versions: number }>(
    `SELECT v.shape, count(*) AS versions FROM history_versions v JOIN history_records r ON r.n = v.key >> 31
      WHERE r.kind = 7 GROUP BY 1`,
  );
  expect(shapes.map(({ shape, versions }) => [shape, versions > 100])).toEqual([
    [1, true],
    [2, true],
  ]);
  expect(findingsInTheMiddle).toEqual([]);
  expect(
    [...model.head.records.values()].filter(({ fields }) => typeof fields.asset_tag === "string").length,
  ).toBeGreaterThan(1);
});

test("lists at random instants match the model: items, order, totals and true ends", () => {
  const { random } = model;
  for (let each = 0; each < QUESTIONS; each += 1) {
    const snapshot = random.pick(model.snapshots);
    // At the exact timestamp, a millisecond later, or a millisecond before the next one.
    const next = model.snapshots[model.snapshots.indexOf(snapshot) + 1];
    const instant = random.pick([snapshot.at, next === undefined ? snapshot.at + 1 : next.at - 1]);
    check(model.at(instant), store.reader.resolve(instant));
  }
});

test("live lists match the model", () => {
  for (let each = 0; each < QUESTIONS / 2; each += 1) check(model.head, null);
});

test("lists at the last instant equal the live ones, except for observations", () => {
  const asOf = store.reader.resolve(model.head.at);
  expect(asOf).toMatchObject({ sequence: model.head.sequence, present: false });
  for (let each = 0; each < QUESTIONS / 4; each += 1) check(model.head, asOf);
});

test("searches and filters match the model, at present and in the past", () => {
  const { random } = model;
  let findings = 0;
  for (let each = 0; each < QUESTIONS / 4; each += 1) {
    const snapshot = random.pick(model.snapshots);
    if (check(snapshot, store.reader.resolve(snapshot.at), drawMatch()) > 0) findings += 1;
    if (check(model.head, null, drawMatch()) > 0) findings += 1;
  }
  expect(findings).toBeGreaterThan(QUESTIONS * 0.15);
});

test("the pages of a list form the list, however searched, filtered and ordered", () => {
  const { random } = model;
  for (let each = 0; each < QUESTIONS / 40; each += 1) {
    const { query } = drawMatch();
    const snapshot = random.pick(model.snapshots);
    const asOf = random.integer(3) === 0 ? null : store.reader.resolve(snapshot.at);
    const expected = model.list(asOf === null ? model.head : snapshot, query, asOf === null);
    const found: Wire[] = [];
    for (let offset = 0; offset <= expected.length; offset += 3)
      found.push(...parseItems(store.reader.page({ ...asked(query), asOf, limit: 3, offset }).items));
    expect(Bun.deepEquals(found, expected, true) || describeQuery(query)).toBe(true);
  }
});

test("a pinned present matches the model, even after later writes", () => {
  for (const comesLater of [false, true]) {
    const asOf = store.reader.present();
    const snapshot = model.head;
    if (comesLater) while (model.head === snapshot) model.step();
    for (let each = 0; each < QUESTIONS / 40; each += 1) {
      const { query, limit, offset } = drawMatch();
      // Observation values change over time, and so does an order by them.
      if (comesLater && query.order?.some((term) => term.field === "last_seen_at")) continue;
      const expected = model.page(snapshot, query, true, limit, offset);
      const { total, chunks } = store.reader.countedChunks({ ...asked(query), asOf, limit, offset }, null);
      const found = [...chunks].flatMap(parseItems);
      expect([describeQuery(query), total, found.map((item) => item.id)]).toEqual([
        describeQuery(query),
        expected.total,
        expected.items.map((item) => item.id),
      ]);
      if (!comesLater) expect(found).toEqual(expected.items);
    }
  }
  store.clock.at = Math.max(store.clock.at, model.head.at + 60_000);
});

test("a single record matches the model, at every instant and within reach only", () => {
  const { random } = model;
  for (let each = 0; each < QUESTIONS; each += 1) {
    const { id, kind } = random.pick(model.ids);
    const { query } = draw();
    const snapshot = random.pick(model.snapshots);
    const isLive = random.integer(4) === 0;
    const of = isLive ? model.head : snapshot;
    const [expected] = model.list(of, { kind, reach: query.reach, ids: [id] }, isLive);
    const found = store.reader.find(
      kind,
      id,
      store.reach(query.reach),
      isLive ? null : store.reader.resolve(snapshot.at),
    );
    expect(found === null ? undefined : (JSON.parse(found.text) as Wire)).toEqual(expected as Wire);
    if (found === null || expected === undefined) continue;
    const written = model.snapshots.find((other) => formatInstant(other.at) === expected.valid_from);
    expect(found).toMatchObject({
      n: store.n(id),
      sequence: written?.sequence as number,
      ended: (expected.valid_to ?? null) !== null,
    });
  }
});

describe("a full read in chunks", () => {
  const whole = (
    query: ModelQuery,
    asOf: NonNullable<ListQuery["asOf"]>,
    between: () => void,
    offset = 0,
    compose: "composed" | "plain" = "plain",
  ): Wire[] => {
    const items: Wire[] = [];
    const parts = compose === "plain" ? null : (each: Array<{ text: string }>) => each.map((item) => item.text);
    for (const chunk of store.reader.chunks({ ...asked(query), asOf, limit: 0, offset }, parts)) {
      items.push(...parseItems(chunk));
      between();
    }
    return items;
  };

  test.each([["plain"], ["composed"]] as const)(
    "matches the model at random instants (%s)",
    (compose) => {
      for (let each = 0; each < QUESTIONS / 10; each += 1) {
        const snapshot = model.random.pick(model.snapshots);
        const { query, limit, offset } = each % 2 === 0 ? draw() : drawMatch();
        const all = model.list(snapshot, query);
        const asOf = store.reader.resolve(snapshot.at) as NonNullable<ListQuery["asOf"]>;
        const found = whole(query, asOf, () => {}, offset, compose);
        expect(Bun.deepEquals(found, all.slice(offset), true) || describeQuery(query)).toBe(true);
        const counted = store.reader.countedChunks(
          { ...asked(query), asOf, limit, offset },
          compose === "plain" ? null : (items) => items.map((item) => item.text),
        );
        expect(
          Bun.deepEquals(
            [counted.total, [...counted.chunks].flatMap(parseItems)],
            [all.length, all.slice(offset, offset + limit)],
            true,
          ) || describeQuery(query),
        ).toBe(true);
      }
    },
    TEST_HANG_MS,
  );

  test("contains each record once, also for more ids than a chunk holds", () => {
    for (const kind of LISTED) {
      const ids = model.ids.filter((each) => each.kind === kind).map((each) => each.id);
      const snapshot = model.snapshots[Math.floor(model.snapshots.length * 0.9)] as Snapshot;
      const asOf = store.reader.resolve(snapshot.at) as NonNullable<ListQuery["asOf"]>;
      const expected = model.list(snapshot, { kind, reach: null }).map((item) => item.id);
      for (const compose of ["plain", "composed"] as const) {
        const found: unknown[] = [];
        for (const chunk of store.reader.chunks(
          { ...asked({ kind, reach: null, ids }), asOf, limit: 0, offset: 0 },
          compose === "plain" ? null : (items) => items.map((item) => item.text),
        )) {
          found.push(...parseItems(chunk).map((item) => item.id));
          if (found.length > expected.length) break;
        }
        expect(found).toEqual(expected);
      }
    }
  });

  test("pins the present during writes: no duplicates, no gaps, nothing later", () => {
    // Small chunks, so that much happens in between.
    for (const kind of LISTED) {
      const asOf = store.reader.present();
      const snapshot = model.head;
      expect(asOf).toMatchObject({ sequence: snapshot.sequence, present: true });
      const found = whole({ kind, reach: null }, asOf, () => model.step(), 0, "composed");
      const expected = model.list(snapshot, { kind, reach: null }).map((item) => item.id);
      expect(found.map((item) => item.id)).toEqual(expected);
      // As far as this answer knows, none of its versions has ended.
      expect(found.filter((item) => (item.valid_to ?? null) !== null)).toEqual([]);
      expect(found.map((item) => item.valid_from)).toEqual(
        model.list(snapshot, { kind, reach: null }).map((item) => item.valid_from),
      );
      expect(store.reader.total({ ...asked({ kind, reach: null }), asOf, limit: 0, offset: 0 })).toBe(expected.length);
    }
    store.clock.at = Math.max(store.clock.at, model.head.at + 60_000);
  });
});

test("the census equals a full count for every scope at every sequence", () => {
  const expected: string[] = [];
  const last = new Map<string, number>();
  const ns = new Map([store.organizationId, ...model.ids.map((each) => each.id)].map((id) => [id, store.n(id)]));
  for (const snapshot of model.snapshots) {
    const counts = new Map<string, number>();
    for (const record of snapshot.records.values()) {
      const fields = { id: record.id, ...record.fields } as never;
      const scopes = scopesOf(record.kind, fields, store.n(store.organizationId), (id) => ns.get(id) as number);
      for (const scope of scopes) counts.set(String(scope), (counts.get(String(scope)) ?? 0) + 1);
    }
    for (const scope of new Set([...counts.keys(), ...last.keys()])) {
      const count = counts.get(scope) ?? 0;
      if (count !== (last.get(scope) ?? 0)) expected.push(`${scope} ${snapshot.sequence} ${count}`);
      last.set(scope, count);
    }
  }
  const found = store
    .rows<{ scope: number; sequence: number; count: number }>(
      "SELECT scope, sequence, count FROM history_census WHERE scope & 63 NOT IN (1)",
    )
    .map((row) => `${row.scope} ${row.sequence} ${row.count}`);
  expect(found.sort()).toEqual(expected.sort());
});

test("the store verifies", () => expect(verifyLedger(store.readDb, KINDS).findings).toEqual([]));
