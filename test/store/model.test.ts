// Store compared with a naive model that keeps every state: random transactions, then every kind of list at random
// timestamps.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { formatInstant } from "../../src/base/instant.ts";
import { SCHEMA_VERSION } from "../../src/db/files/migrate.ts";
import { type AnyKind, scopesOf } from "../../src/db/kind.ts";
import type { AsOf, Filter, ListQuery, OrderTerm } from "../../src/db/reading/list-query.ts";
import { addField, type Upcaster } from "../../src/db/shape.ts";
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
import { type JsonRecord, networkFields, parseItems, Store } from "../support/store/store.ts";

const TRANSACTIONS = 1_500;
const QUERIES = 4_000;
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
const SEARCHABLE: readonly AnyKind[] = LISTED.filter((kind) => kind !== fdbEntryKind);

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
const UPCASTERS = [...EARLIER, addField(SCHEMA_VERSION + 1, "asset_tag", null)];

const store = new Store();
const model = new Model(store, 7);
let midwayFindings: readonly unknown[];

beforeAll(() => {
  model.step((draft) => {
    for (let index = 0; index < 80; index += 1)
      draft.create(networkKind, networkFields(store.organizationId, model.newName()));
  });
  // Midway, all hosts get a new field.
  model.unknownFields.add("asset_tag");
  for (let index = 0; index < TRANSACTIONS / 2; index += 1) model.step();
  setUpcasters(hostKind, UPCASTERS);
  rebuildLiveWithin(store.db, [hostKind]);
  model.addField(hostKind, "asset_tag", null);
  midwayFindings = verifyLedger(store.readDb, KINDS).findings;
  for (let index = 0; index < TRANSACTIONS / 2; index += 1) model.step();
  // Every transaction is in the past now, even if the ledger's clock was ahead.
  store.clock.at = model.head.at + 60_000;
});
afterAll(() => {
  setUpcasters(hostKind, EARLIER);
  store.close();
});

/** Sets a kind to its state before or after the introduction of a field. */
function setUpcasters(kind: AnyKind, upcasters: readonly Upcaster[]): void {
  (kind as { upcasters: readonly Upcaster[] }).upcasters = upcasters;
}

interface ListCase {
  readonly query: ModelQuery;
  readonly limit: number;
  readonly offset: number;
}

/** Draws any list query: some with ids of another kind, of deleted records, or never used. */
function drawCase(): ListCase {
  const { random } = model;
  const kind = random.pick(LISTED);
  const anyId = () => random.pick(model.ids).id;
  const idOf = (targetKind: AnyKind) => random.pick(model.ids.filter((known) => known.kind === targetKind)).id;
  const networks = model.ids.filter((known) => known.kind === networkKind).map(({ id }) => id);
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
  const container = (targetKind: AnyKind) =>
    random.integer(12) === 0
      ? anyId()
      : targetKind === networkKind && random.integer(2) === 0
        ? (random.pick(networks.slice(0, 3)) as string)
        : idOf(targetKind);
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
      search: SEARCHABLE.includes(kind) && random.integer(3) === 0 ? model.newSearch(kind) : undefined,
      order: drawOrder(kind),
    },
    limit: random.pick([1, 2, 7, 50, 1_000]),
    offset: random.pick([0, 0, 0, 1, 10, 100]),
  };
}

/** Draws a search or filter with a wide scope, which usually has matches. */
function drawMatchingCase(): ListCase {
  const { random } = model;
  const kind = random.pick([...SEARCHABLE, hostKind, serviceKind, ipAddressKind]);
  const networks = model.ids.filter((known) => known.kind === networkKind).map(({ id }) => id);
  const search = SEARCHABLE.includes(kind) && random.integer(4) > 0 ? model.newSearch(kind) : undefined;
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
      () => random.pick(model.ids.filter((known) => known.kind === tagKind || random.integer(50) === 0)).id,
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
      names: random.pick(model.ids.filter((known) => known.kind === subnetKind || random.integer(50) === 0)).id,
    });
  return filters;
}

function drawOrder(kind: AnyKind): OrderTerm[] {
  const { random } = model;
  const fields = Object.entries(ORDERS.get(kind) ?? {});
  const picked = new Map(
    fields.length === 0 ? [] : Array.from({ length: random.pick([0, 0, 1, 1, 2]) }, () => random.pick(fields)),
  );
  return [...picked].map(([field, byKey]) => ({ field, byKey, direction: random.pick(["asc", "desc"]) }));
}

function listQuery({ reach, network, host, ...rest }: ModelQuery): Omit<ListQuery, "asOf" | "limit" | "offset"> {
  return { ...rest, reach: store.reach(reach), within: { network, host } };
}

/** @returns the number of matches */
function check(snapshot: Snapshot, asOf: ListQuery["asOf"], { query, limit, offset }: ListCase = drawCase()): number {
  const expected = model.page(snapshot, query, asOf === null, limit, offset);
  const page = store.reader.page({ ...listQuery(query), asOf, limit, offset });
  const found = { items: parseItems(page.items), total: page.total };
  if (!Bun.deepEquals(found, expected, true)) {
    // The slow comparison only on failure, to show the difference.
    const listCase = { query: describeQuery(query), limit, offset, at: formatInstant(snapshot.at) };
    expect({ ...listCase, ...found }).toEqual({ ...listCase, ...expected });
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
  expect(midwayFindings).toEqual([]);
  expect(
    [...model.head.records.values()].filter(({ fields }) => typeof fields.asset_tag === "string").length,
  ).toBeGreaterThan(1);
});

test("lists at random timestamps match the model: items, order, totals and ends of versions", () => {
  const { random } = model;
  for (let index = 0; index < QUERIES; index += 1) {
    const snapshot = random.pick(model.snapshots);
    // At the exact timestamp, a millisecond later, or a millisecond before the next one.
    const next = model.snapshots[model.snapshots.indexOf(snapshot) + 1];
    const instant = random.pick([snapshot.at, next === undefined ? snapshot.at + 1 : next.at - 1]);
    check(model.at(instant), store.reader.resolve(instant));
  }
});

test("live lists match the model", () => {
  for (let index = 0; index < QUERIES / 2; index += 1) check(model.head, null);
});

test("lists at the last timestamp equal the live ones, except for observations", () => {
  const asOf = store.reader.resolve(model.head.at);
  expect(asOf).toMatchObject({ sequence: model.head.sequence, present: false });
  for (let index = 0; index < QUERIES / 4; index += 1) check(model.head, asOf);
});

test("searches and filters match the model, in the present and in the past", () => {
  const { random } = model;
  let findings = 0;
  for (let index = 0; index < QUERIES / 4; index += 1) {
    const snapshot = random.pick(model.snapshots);
    if (check(snapshot, store.reader.resolve(snapshot.at), drawMatchingCase()) > 0) findings += 1;
    if (check(model.head, null, drawMatchingCase()) > 0) findings += 1;
  }
  expect(findings).toBeGreaterThan(QUERIES * 0.15);
});

test("the pages of a list form the list, with any search, filter and order", () => {
  const { random } = model;
  for (let index = 0; index < QUERIES / 40; index += 1) {
    const { query } = drawMatchingCase();
    const snapshot = random.pick(model.snapshots);
    const asOf = random.integer(3) === 0 ? null : store.reader.resolve(snapshot.at);
    const expected = model.list(asOf === null ? model.head : snapshot, query, asOf === null);
    const found: JsonRecord[] = [];
    for (let offset = 0; offset <= expected.length; offset += 3)
      found.push(...parseItems(store.reader.page({ ...listQuery(query), asOf, limit: 3, offset }).items));
    expect(Bun.deepEquals(found, expected, true) || describeQuery(query)).toBe(true);
  }
});

test("a pinned present matches the model, even after later writes", () => {
  for (const hasLaterWrites of [false, true]) {
    const asOf = store.reader.present();
    const snapshot = model.head;
    if (hasLaterWrites) while (model.head === snapshot) model.step();
    for (let index = 0; index < QUERIES / 40; index += 1) {
      const { query, limit, offset } = drawMatchingCase();
      // Observation values change over time, and so does an order by them.
      if (hasLaterWrites && query.order?.some((term) => term.field === "last_seen_at")) continue;
      const expected = model.page(snapshot, query, true, limit, offset);
      const { total, chunks } = store.reader.countedChunks({ ...listQuery(query), asOf, limit, offset }, null);
      const found = [...chunks].flatMap(parseItems);
      expect([describeQuery(query), total, found.map((item) => item.id)]).toEqual([
        describeQuery(query),
        expected.total,
        expected.items.map((item) => item.id),
      ]);
      if (!hasLaterWrites) expect(found).toEqual(expected.items);
    }
  }
  store.clock.at = Math.max(store.clock.at, model.head.at + 60_000);
});

test("a single record matches the model, at every timestamp and within reach only", () => {
  const { random } = model;
  for (let index = 0; index < QUERIES; index += 1) {
    const { id, kind } = random.pick(model.ids);
    const { query } = drawCase();
    const snapshot = random.pick(model.snapshots);
    const isLive = random.integer(4) === 0;
    const state = isLive ? model.head : snapshot;
    const [expected] = model.list(state, { kind, reach: query.reach, ids: [id] }, isLive);
    const asOf = isLive ? null : store.reader.resolve(snapshot.at);
    const found = store.reader.find(kind, id, store.reach(query.reach), asOf);
    expect(found === null ? undefined : (JSON.parse(found.text) as JsonRecord)).toEqual(expected as JsonRecord);
    if (found === null || expected === undefined) continue;
    const written = model.snapshots.find((candidate) => formatInstant(candidate.at) === expected.valid_from);
    expect(found).toMatchObject({
      n: store.n(id),
      sequence: written?.sequence as number,
      ended: (expected.valid_to ?? null) !== null,
    });
  }
});

describe("a full read in chunks", () => {
  const COMPOSED = (items: Array<{ text: string }>) => items.map(({ text }) => text);
  type Compose = typeof COMPOSED | null;

  test.each<[string, Compose]>([
    ["plain", null],
    ["composed", COMPOSED],
  ])(
    "matches the model at random timestamps (%s)",
    (_title, compose) => {
      for (let index = 0; index < QUERIES / 10; index += 1) {
        const snapshot = model.random.pick(model.snapshots);
        const { query, limit, offset } = index % 2 === 0 ? drawCase() : drawMatchingCase();
        const all = model.list(snapshot, query);
        const page = { ...listQuery(query), asOf: store.reader.resolve(snapshot.at) as AsOf, limit, offset };
        const rest = [...store.reader.chunks({ ...page, limit: 0 }, compose)].flatMap(parseItems);
        const { total, chunks } = store.reader.countedChunks(page, compose);
        const found = [rest, total, [...chunks].flatMap(parseItems)];
        const expected = [all.slice(offset), all.length, all.slice(offset, offset + limit)];
        expect(Bun.deepEquals(found, expected, true) || describeQuery(query)).toBe(true);
      }
    },
    TEST_HANG_MS,
  );

  test("contains each record once, even for more ids than a chunk holds", () => {
    for (const kind of LISTED) {
      const ids = model.ids.filter((known) => known.kind === kind).map(({ id }) => id);
      const snapshot = model.snapshots[Math.floor(model.snapshots.length * 0.9)] as Snapshot;
      const query = listQuery({ kind, reach: null, ids });
      const page = { ...query, asOf: store.reader.resolve(snapshot.at) as AsOf, limit: 0, offset: 0 };
      const expected = model.list(snapshot, { kind, reach: null }).map((item) => item.id);
      for (const compose of [null, COMPOSED]) {
        const found: unknown[] = [];
        for (const chunk of store.reader.chunks(page, compose)) {
          found.push(...parseItems(chunk).map((item) => item.id));
          if (found.length > expected.length) break;
        }
        expect(found).toEqual(expected);
      }
    }
  });

  test("pins the present during writes: no duplicates, no gaps, nothing later", () => {
    // Small chunks, with writes in between.
    for (const kind of LISTED) {
      const asOf = store.reader.present();
      const snapshot = model.head;
      expect(asOf).toMatchObject({ sequence: snapshot.sequence, present: true });
      const query = { ...listQuery({ kind, reach: null }), asOf, limit: 0, offset: 0 };
      const found: JsonRecord[] = [];
      for (const chunk of store.reader.chunks(query, COMPOSED)) {
        found.push(...parseItems(chunk));
        model.step();
      }
      const expected = model.list(snapshot, { kind, reach: null });
      const identify = ({ id, valid_from }: JsonRecord) => ({ id, valid_from });
      expect(found.map(identify)).toEqual(expected.map(identify));
      // As of the pinned present, none of the versions has ended.
      expect(found.filter((item) => (item.valid_to ?? null) !== null)).toEqual([]);
      expect(store.reader.total(query)).toBe(expected.length);
    }
    store.clock.at = Math.max(store.clock.at, model.head.at + 60_000);
  });
});

test("the census equals a full count for every scope at every sequence", () => {
  const expected: string[] = [];
  const last = new Map<string, number>();
  const ns = new Map([store.organizationId, ...model.ids.map(({ id }) => id)].map((id) => [id, store.n(id)]));
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
