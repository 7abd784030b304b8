// Kind with three shapes, one of them with a renamed field: queries at any timestamp, and the upcasters, compared with
// plain code over the versions as written.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { textSortKey } from "../../src/base/text.ts";
import { type AnyKind, type Kind, liveColumns, type RecordBase } from "../../src/db/kind.ts";
import { writtenSql } from "../../src/db/packing.ts";
import { ChangeLog } from "../../src/db/reading/change-log.ts";
import type { AsOf, ListQuery } from "../../src/db/reading/list-query.ts";
import {
  addsField,
  membersSql,
  ofKindSql,
  renamesField,
  rewritesRecord,
  shapeOf,
  sortKeysSql,
} from "../../src/db/shape.ts";
import { RecordsAt } from "../../src/history/records-at.ts";
import { Past } from "../../src/history/restore/past.ts";
import { rebuildDerived, rebuildLiveWithin } from "../../src/history/verify/rebuild.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/records/resources.ts";
import { networks } from "../../src/resources/networks/network.ts";
import { tagKind } from "../../src/resources/tags/tag.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { parseItems, Store, tagFields, type Wire } from "../support/store/store.ts";
import { unguarded } from "../support/store/unguarded.ts";

interface Gadget extends RecordBase {
  readonly network_id: string;
  readonly size: number;
  readonly tags: readonly string[];
}

const gadgets = sqliteTable("gadgets", {
  ...liveColumns,
  network_n: integer()
    .notNull()
    .references(() => networks.n),
  color: text(),
  /** Column of the record's name in every shape. */
  called: text().notNull(),
});

const TABLE = `CREATE TABLE gadgets (n INTEGER PRIMARY KEY REFERENCES history_records (n), organization_n INTEGER NOT NULL, network_n INTEGER NOT NULL, sequence INTEGER NOT NULL,
  identity TEXT UNIQUE, composed INTEGER NOT NULL, sort_keys TEXT, members TEXT NOT NULL, color TEXT, called TEXT NOT NULL) STRICT`;

/**
 * The first shape has a `title`; the second adds a `color`, Red for earlier records; the third renames `title` to
 * `name`.
 */
const UPCASTERS = [addsField(1, "color", "Red", textSortKey("Red")), renamesField(2, "title", "name")];
const PLAIN: ReadonlyArray<(record: Wire) => Wire> = [
  (record) => ({ ...record, color: "Red" }),
  ({ title, ...record }) => ({ ...record, name: title }),
];

/** The kind at a shape. */
function gadgetOf(shape: number): Kind<Gadget> {
  const nameOf = (record: Gadget) => (record as unknown as Wire)[shape < 3 ? "title" : "name"] as string;
  return {
    name: "gadget",
    plural: "gadgets",
    code: 60,
    upcasters: UPCASTERS.slice(0, shape - 1),
    table: gadgets,
    columns: (record) => ({ color: (record as unknown as Wire).color ?? null, called: nameOf(record) }),
    scopes: { network: "network_id" },
    links: (record) => [{ relation: "tags", ids: record.tags }],
    observed: [],
    absent: "null",
    identity: (record) => `${record.network_id}/${record.size}`,
    unique: { field: "size", value: (record) => record.size },
    search: { texts: (record) => ({ words: [nameOf(record)] }), finds: (record) => record.id, findsItself: true },
    sortKeys: Object.fromEntries([shape < 3 ? "title" : "name", "color"].map((field) => [field, textSortKey])),
  };
}

const GADGET = gadgetOf(3) as AnyKind;
const NAMES = ["Ärger", "alpha", "Beta", 'a "b" \\ c', "\u0000\u2028😀", "title", '{"title":1}', "10", "beta"];

interface Written {
  readonly sequence: number;
  readonly shape: number;
  readonly id: string;
  /** Null for an end. */
  readonly record: Wire | null;
  readonly changed: readonly string[] | null;
}

const store = new Store({ kinds: [...KINDS, GADGET], migration: TABLE });
let tagIds: string[];
const written: Written[] = [];
const fileFindings: unknown[] = [];

const soundness = () =>
  verifyLedger(store.readDb, [...KINDS, GADGET]).findings.filter(
    ({ where, check }) => !(check === "file" && where.includes("gadgets")),
  );

beforeAll(() => {
  const random = seededRandom(11);
  tagIds = store.write((tx) =>
    ["one", "two"].map((name) => tx.create(tagKind, store.organizationId, tagFields(store.organizationId, name)).id),
  );
  for (let shape = 1; shape <= 3; shape += 1) {
    const kind = gadgetOf(shape) as AnyKind;
    if (shape > 1) store.db.$client.transaction(() => rebuildLiveWithin(store.db, [kind]))();
    const name = shape < 3 ? "title" : "name";
    const alive = () =>
      store.rows<{ id: string; members: string }>(
        "SELECT r.id, g.members FROM gadgets g JOIN history_records r ON r.n = g.n ORDER BY g.n",
      );
    for (let each = 0; each < 60; each += 1) {
      const dice = random.integer(10);
      const known = alive();
      const one = known.length === 0 ? undefined : random.pick(known);
      const { sequence } = store.run((tx) => {
        if (dice < 4 || one === undefined) {
          tx.create(kind, store.organizationId, {
            network_id: store.networkId,
            size: each + 100 * shape,
            tags: random.integer(2) === 0 ? [] : [random.pick(tagIds)],
            [name]: random.pick(NAMES),
            ...(shape > 1 ? { color: random.pick(["Red", "blue"]) } : {}),
          } as never);
        } else if (dice < 8)
          tx.update(
            kind,
            one.id,
            (random.integer(2) === 0
              ? { [name]: random.pick(NAMES) }
              : shape > 1
                ? { color: random.pick(["Red", "blue", "Green"]) }
                : { size: each + 100 * shape }) as never,
          );
        else if (dice < 9) tx.remove(kind, one.id);
        // A write equal to the previous one, also if that has an earlier shape.
        else tx.update(kind, one.id, JSON.parse(`{${one.members}}`));
      });
      if (dice === 9 && one !== undefined) expect(sequence).toBeNull();
      if (sequence === null) continue;
      const [row] = store.rows<{ id: string; members: string | null; changed: string | null; shape: number }>(
        `SELECT r.id, ${writtenSql("v", "members")} AS members, v.changed, v.shape FROM history_versions v
          JOIN history_records r ON r.n = v.key >> 31 WHERE v.key & 2147483647 = ?`,
        sequence,
      ) as [{ id: string; members: string | null; changed: string | null; shape: number }];
      expect(row.shape).toBe(shape);
      written.push({
        sequence,
        shape,
        id: row.id,
        record: row.members === null ? null : JSON.parse(`{${row.members}}`),
        changed: row.changed === null ? null : JSON.parse(row.changed),
      });
    }
    if (shape === 3) fileFindings.push(...soundness());
  }
  store.clock.at += 60_000;
});
afterAll(() => store.close());

/** A version as written, upgraded to the current shape by plain code. */
function today({ shape, record }: Written): Wire | null {
  return record === null ? null : PLAIN.slice(shape - 1).reduce((each, step) => step(each), record);
}

/** Live records as of a sequence, in page order. */
function aliveAt(sequence: number): Wire[] {
  const newest = new Map<string, Wire | null>();
  for (const version of written) if (version.sequence <= sequence) newest.set(version.id, today(version));
  return [...newest.values()]
    .filter((record) => record !== null)
    .sort((a, b) => (a.created_at === b.created_at ? (a.id < b.id ? -1 : 1) : a.created_at < b.created_at ? -1 : 1));
}

const withoutEnd = ({ valid_to: _, ...record }: Wire) => record;
const asOf = (sequence: number): AsOf => store.reader.atSequence(sequence);
const list = (query: Partial<ListQuery>) => store.list(GADGET, query).items.map(withoutEnd);

test("the versions have three shapes, with all changes, removals and equal writes in between", () => {
  for (const shape of [1, 2, 3]) {
    const own = written.filter((version) => version.shape === shape);
    for (const isThere of [own.some(({ changed }) => changed !== null), own.some(({ record }) => record === null)])
      expect(isThere).toBe(true);
  }
  // Some of each shape are packed, so reads unpack before they upgrade.
  expect(
    store.rows(
      "SELECT DISTINCT shape FROM history_versions WHERE patch IS NOT NULL AND key >> 31 IN (SELECT n FROM history_records WHERE kind = ?)",
      GADGET.code,
    ),
  ).toHaveLength(3);
  expect(
    written
      .filter(({ changed }) => changed !== null)
      .every(({ changed }) => (changed as readonly string[]).length === 1),
  ).toBe(true);
  expect(
    aliveAt(Number.POSITIVE_INFINITY).some(({ id }) => written.findLast((version) => version.id === id)?.shape === 1),
  ).toBe(true);
});

describe("as of every transaction", () => {
  test("lists, single records, long reads and exports have the present shape", () => {
    for (const { sequence } of written) {
      const expected = aliveAt(sequence);
      expect(list({ asOf: asOf(sequence) })).toEqual(expected);
      expect(
        [
          ...store.reader.chunks(
            { kind: GADGET, reach: store.reach(), asOf: asOf(sequence), limit: 0, offset: 0 },
            null,
          ),
        ]
          .flatMap(parseItems)
          .map(withoutEnd),
      ).toEqual(expected);
      expect(
        store.reader
          .itemsOf(
            GADGET,
            expected.map(({ id }) => store.n(id)),
            asOf(sequence),
            store.reach(),
          )
          .map(({ text }) => withoutEnd(JSON.parse(text))),
      ).toEqual(expected);
      for (const record of expected)
        expect(
          withoutEnd(JSON.parse(store.reader.find(GADGET, record.id, store.reach(), asOf(sequence))?.text ?? "{}")),
        ).toEqual(record);
      expect(
        store.reader
          .ownFields({ kind: GADGET, reach: store.reach(), asOf: asOf(sequence), limit: 0, offset: 0 }, [
            "name",
            "color",
            "title",
          ])
          .map((values) => JSON.parse(values)),
      ).toEqual(expected.map(({ name, color }) => [name, color, null]));
    }
  });

  test("lists are filtered and ordered by present fields", () => {
    const compare = (of: (record: Wire) => string) => (a: Wire, b: Wire) =>
      Buffer.compare(Buffer.from(of(a)), Buffer.from(of(b)));
    for (const { sequence } of written) {
      const expected = aliveAt(sequence);
      for (const value of ["Red", "blue", "Green"])
        expect(list({ asOf: asOf(sequence), filters: [{ field: "color", equals: value }] })).toEqual(
          expected.filter(({ color }) => color === value),
        );
      for (const value of NAMES)
        expect(list({ asOf: asOf(sequence), filters: [{ field: "name", equals: value }] })).toEqual(
          expected.filter(({ name }) => name === value),
        );
      expect(list({ asOf: asOf(sequence), filters: [{ field: "title", equals: "alpha" }] })).toEqual([]);
      expect(list({ asOf: asOf(sequence), filters: [{ field: "tags", namesAny: [tagIds[0] as string] }] })).toEqual(
        expected.filter(({ tags }) => tags.includes(tagIds[0])),
      );
      for (const field of ["name", "color"]) {
        expect(list({ asOf: asOf(sequence), order: [{ field, byKey: false, direction: "asc" }] })).toEqual(
          expected.toSorted(compare((record) => record[field])),
        );
        expect(list({ asOf: asOf(sequence), order: [{ field, byKey: true, direction: "asc" }] })).toEqual(
          expected.toSorted(compare((record) => textSortKey(record[field]))),
        );
      }
      expect(list({ asOf: asOf(sequence), search: "bet" })).toEqual(
        expected.filter(({ name }) => /^beta$/i.test(name)),
      );
    }
  });

  test("lookups for locate, restores and reverts have the present shape too", () => {
    const past = new Past(store.db, [...KINDS, GADGET]);
    const sight = { organizationN: store.n(store.organizationId), networkIds: [store.networkId] };
    for (const version of written) {
      const { sequence, id } = version;
      const expected = aliveAt(sequence);
      const records = new RecordsAt(store.reader, sequence, sight);
      expect(
        records.livingIn(GADGET, store.n(store.networkId), 1_000).map(({ record }) => record as unknown as Wire),
      ).toEqual(expected);
      expect(records.livingWith(GADGET, store.n(store.networkId), "color" as never, ["blue"]).length).toBe(
        expected.filter(({ color }) => color === "blue").slice(0, 1).length,
      );
      expect(
        [
          ...new RecordsAt(store.reader, sequence, sight)
            .byIds(
              GADGET,
              expected.map((each) => each.id),
            )
            .values(),
        ]
          .map(({ record }) => record as unknown as Wire)
          .sort((a, b) => (a.id < b.id ? -1 : 1)),
      ).toEqual(expected.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
      expect(
        new RecordsAt(store.reader, sequence, sight)
          .matching([GADGET], "alpha*", 1_000)
          .map(({ record }) => (record as unknown as Wire).name),
      ).toEqual(expected.filter(({ name }) => name === "alpha").map(({ name }) => name));
      expect(past.at(store.n(id), sequence)?.record ?? null).toEqual(today(version) as never);
      expect(
        past.livedIn(store.n(store.networkId), GADGET, sequence).map(({ record }) => record as unknown as Wire),
      ).toEqual(expected);
      const before = written.findLast((each) => each.id === id && each.sequence < sequence);
      expect(past.writtenIn(sequence)).toMatchObject([
        {
          id,
          before: before === undefined || before.record === null ? null : { record: today(before) },
          after: version.record === null ? null : { record: today(version) },
        },
      ]);
    }
  });

  test("a version names changed fields by their present names", () => {
    const log = new ChangeLog(store.reader);
    const query = { reach: store.reach(), kinds: [GADGET] };
    const head = store.reader.head().sequence;
    const expected = written.map(
      ({ sequence, changed }) =>
        [sequence, changed === null ? null : changed.map((field) => (field === "title" ? "name" : field))] as const,
    );
    expect(
      [...log.changes(query, 0, head)].flatMap(({ changes }) =>
        changes.map(({ sequence, changedFields }) => [sequence, changedFields] as const),
      ),
    ).toEqual(expected);
    for (const id of new Set(written.map((version) => version.id))) {
      const own = expected.filter(([sequence]) => written.find((version) => version.sequence === sequence)?.id === id);
      expect(
        log
          .versions(GADGET, [store.n(id)], head, 1_000, 0)
          .map(({ sequence, changedFields }) => [sequence, changedFields] as const),
      ).toEqual(own.toReversed());
      expect(
        [...log.versionsBetween(GADGET, [store.n(id)], 0, head)]
          .flat()
          .map(({ sequence, changedFields }) => [sequence, changedFields] as const),
      ).toEqual(own);
    }
  });
});

test("live rows match the ledger, before and after a rebuild; no version was rewritten", () => {
  const expected = aliveAt(Number.POSITIVE_INFINITY);
  expect(list({})).toEqual(expected);
  expect(list({ filters: [{ field: "color", equals: "Red" }] })).toEqual(
    expected.filter(({ color }) => color === "Red"),
  );
  expect(store.rows<{ called: string }>("SELECT called FROM gadgets ORDER BY n").map(({ called }) => called)).toEqual(
    expected.map(({ name }) => name),
  );
  expect(fileFindings).toEqual([]);
  const tables = [
    "gadgets",
    "live_links",
    "history_spans",
    "history_census",
    "history_lineages",
    "history_search_texts",
    "history_word_places",
    "history_activity",
    "history_change_counts",
    "history_versions",
  ];
  const rows = () => tables.map((table) => store.rows(`SELECT * FROM ${table}`));
  const before = rows();
  rebuildDerived(store.db, [...KINDS, GADGET]);
  expect(rows()).toEqual(before);
  expect(soundness()).toEqual([]);
});

test("a live row of an earlier shape, and a version with a changed text or shape, are found", () => {
  const isWhole = (id: string) =>
    store.rows<{ patch: unknown }>(
      "SELECT patch FROM history_versions WHERE key >> 31 = ? ORDER BY key DESC LIMIT 1",
      store.n(id),
    )[0]?.patch === null;
  const { id } = aliveAt(Number.POSITIVE_INFINITY).find(
    (record) => written.findLast((version) => version.id === record.id)?.shape === 1 && isWhole(record.id),
  ) as Wire;
  const n = store.n(id);
  const [kept] = store.rows<{ members: string }>("SELECT members FROM gadgets WHERE n = ?", n) as [{ members: string }];
  const newest = `(SELECT max(key) FROM history_versions WHERE key < (${n + 1} << 31))`;
  const damaged = (statement: string, restored: string) => {
    unguarded(store.db, [statement]);
    const found = soundness().map(({ check, message }) => [check, message]);
    unguarded(store.db, [restored]);
    expect(soundness()).toEqual([]);
    return found;
  };
  const written1 = `UPDATE gadgets SET members = (SELECT members FROM history_versions WHERE key = ${newest})
    WHERE n = ${n}`;
  expect(
    damaged(written1, `UPDATE gadgets SET members = '${kept.members.replaceAll("'", "''")}' WHERE n = ${n}`),
  ).toEqual([["live", "its live document is not its newest version"]]);
  expect(
    damaged(
      `UPDATE history_versions SET shape = 2 WHERE key = ${newest}`,
      `UPDATE history_versions SET shape = 1 WHERE key = ${newest}`,
    ),
  ).toContainEqual(["version", "its content does not match its hash"]);
  expect(
    damaged(
      `UPDATE history_versions SET shape = 4 WHERE key = ${newest}`,
      `UPDATE history_versions SET shape = 1 WHERE key = ${newest}`,
    ),
  ).toContainEqual(["version", "its shape 4 is not known to this version of netledger"]);
  expect(
    damaged(
      `UPDATE history_versions SET members = substr(members, 2) WHERE key = ${newest}`,
      `UPDATE history_versions SET members = '"' || members WHERE key = ${newest}`,
    ),
  ).toContainEqual(["version", "its document is not JSON"]);
});

describe("an upcaster", () => {
  const value = (sql: string, members: string | null, shape = 1) => {
    const row = store.db.$client
      .query(`SELECT ${sql} FROM (SELECT 1 AS key, NULL AS patch, NULL AS valid_from, ?1 AS members, ?2 AS shape, '{"a":"x"}' AS sort_keys,
          7 AS kind) v`)
      .values(members, shape)[0] as [string | null];
    return row[0];
  };
  const random = seededRandom(5);
  const texts = [...NAMES, "", "'", '\\"', "\ud83d\ude00", "1e3", "null", "}", ","];
  const some = (depth = 0): unknown => {
    const dice = random.integer(depth > 2 ? 5 : 7);
    if (dice === 5) return Array.from({ length: random.integer(3) }, () => some(depth + 1));
    if (dice === 6)
      return Object.fromEntries(
        Array.from({ length: random.integer(3) }, () => [random.pick([...texts, "a", "b", "id"]), some(depth + 1)]),
      );
    return [null, true, random.pick(texts), random.integer(1_000) - 500, random.integer(1_000) / 7][dice];
  };
  const record = (): Wire => ({
    id: some(),
    ...(Object.fromEntries(
      Array.from({ length: random.integer(5) }, () => [random.pick(["a", "b", "c", "Ä", "a b"]), some()]),
    ) as Wire),
  });

  test("matches a naive conversion for every record, and skips tombstones", () => {
    const cases: Array<[NonNullable<AnyKind["upcasters"]>[number], (of: Wire) => Wire]> = [
      [addsField(1, "new", { it: "'s", list: [1, null] }), (of) => ({ ...of, new: { it: "'s", list: [1, null] } })],
      [renamesField(1, "id", "key"), ({ id, ...rest }) => ({ ...rest, key: id })],
      [renamesField(1, "id", "no"), ({ id, ...rest }) => ({ ...rest, no: id })],
      [rewritesRecord(1, (of) => `json_remove(${of}, '$.c')`), ({ c: _, ...rest }) => rest],
    ];
    for (const [upcaster, plain] of cases) {
      const kind = { upcasters: [upcaster] };
      for (let each = 0; each < 300; each += 1) {
        const of = record();
        const members = JSON.stringify(of).slice(1, -1);
        const found = value(membersSql(kind, "v"), members) as string;
        expect(JSON.parse(`{${found}}`)).toEqual(plain(of));
        // As written today: the text of unchanged fields is preserved.
        expect([...JSON.stringify(JSON.parse(`{${found}}`))].sort()).toEqual([...`{${found}}`].sort());
        expect(value(membersSql(kind, "v"), members, 2)).toBe(members);
      }
      expect(value(membersSql(kind, "v"), null)).toBeNull();
    }
  });

  test("runs after earlier ones, and skips the present shape", () => {
    const upcasters = Array.from({ length: 12 }, (_, place) =>
      place % 2 === 0 ? addsField(1, `f${place}`, place) : renamesField(1, `f${place - 1}`, `g${place}`),
    );
    const kind = { upcasters };
    expect(shapeOf(kind)).toBe(13);
    const sql = membersSql(kind, "v");
    // Its length grows with the square of the number of shapes, not exponentially.
    expect(sql.length).toBeLessThan(40_000);
    expect(JSON.parse(`{${value(sql, '"id":"x"')}}`)).toEqual({
      id: "x",
      ...Object.fromEntries([1, 3, 5, 7, 9, 11].map((place) => [`g${place}`, place - 1])),
    });
    expect(JSON.parse(`{${value(sql, '"id":"x"', 10)}}`)).toEqual({ id: "x", g11: 10 });
    expect(value(sql, '"id":"x"', 13)).toBe('"id":"x"');
    expect(membersSql({}, "v")).toBe(writtenSql("v", "members"));
  });

  test("applies to its version's kind, and preserves unnamed fields", () => {
    const [host, tag] = [
      { code: 7, upcasters: [addsField(1, "h", 1)] },
      { code: 8, upcasters: [renamesField(1, "a", "b")] },
    ] as unknown as AnyKind[];
    expect(value(ofKindSql([host, tag] as AnyKind[], "v.kind", "v", membersSql), '"a":1')).toBe('"a":1,"h":1');
    expect(ofKindSql([host] as AnyKind[], "v.kind", "v", sortKeysSql)).toBe(writtenSql("v", "sort_keys"));
    expect(value(ofKindSql([host, tag] as AnyKind[], "8", "v", sortKeysSql), null)).toBe('{"b":"x"}');
  });
});
