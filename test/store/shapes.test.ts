// Kind with three shapes, one with a renamed field: queries at any timestamp, and the upcasters, compared with a
// reference implementation over the versions as written.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { textSortKey } from "../../src/base/text.ts";
import { type AnyKind, type Kind, liveColumns, type RecordBase } from "../../src/db/kind.ts";
import { writtenSql } from "../../src/db/packing.ts";
import { ChangeLog } from "../../src/db/reading/change-log.ts";
import type { AsOf, Filter, ListQuery } from "../../src/db/reading/list-query.ts";
import {
  addField,
  byKindSql,
  membersSql,
  renameField,
  rewriteRecord,
  shapeOf,
  sortKeysSql,
  type Upcaster,
} from "../../src/db/shape.ts";
import { Past } from "../../src/db/writing/past.ts";
import { RecordsAt } from "../../src/history/records-at.ts";
import { rebuildDerived, rebuildLiveWithin } from "../../src/history/verify/rebuild.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/records/resources.ts";
import { networks } from "../../src/resources/networks/network.ts";
import { tagKind } from "../../src/resources/tags/tag.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { type JsonRecord, parseItems, Store, tagFields } from "../support/store/store.ts";
import { runUnguarded } from "../support/store/tampering.ts";

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
const UPCASTERS = [addField(1, "color", "Red", textSortKey("Red")), renameField(2, "title", "name")];
const NAIVE_UPCASTERS: ReadonlyArray<(record: JsonRecord) => JsonRecord> = [
  (record) => ({ ...record, color: "Red" }),
  ({ title, ...record }) => ({ ...record, name: title }),
];

/** The test kind at a shape. */
function gadgetOf(shape: number): Kind<Gadget> {
  const nameOf = (record: Gadget) => (record as unknown as JsonRecord)[shape < 3 ? "title" : "name"] as string;
  return {
    name: "gadget",
    plural: "gadgets",
    code: 60,
    upcasters: UPCASTERS.slice(0, shape - 1),
    table: gadgets,
    columns: (record) => ({ color: (record as unknown as JsonRecord).color ?? null, called: nameOf(record) }),
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

interface WrittenVersion {
  readonly sequence: number;
  readonly shape: number;
  readonly id: string;
  /** Null for a deletion. */
  readonly record: JsonRecord | null;
  readonly changed: readonly string[] | null;
}

const store = new Store({ kinds: [...KINDS, GADGET], migration: TABLE });
let tagIds: string[];
const written: WrittenVersion[] = [];
const fileFindings: unknown[] = [];

const ledgerFindings = () =>
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
    for (let step = 0; step < 60; step += 1) {
      const choice = random.integer(10);
      const liveRows = alive();
      const existing = liveRows.length === 0 ? undefined : random.pick(liveRows);
      const { sequence } = store.run((tx) => {
        if (choice < 4 || existing === undefined) {
          tx.create(kind, store.organizationId, {
            network_id: store.networkId,
            size: step + 100 * shape,
            tags: random.integer(2) === 0 ? [] : [random.pick(tagIds)],
            [name]: random.pick(NAMES),
            ...(shape > 1 ? { color: random.pick(["Red", "blue"]) } : {}),
          } as never);
        } else if (choice < 8)
          tx.update(
            kind,
            existing.id,
            (random.integer(2) === 0
              ? { [name]: random.pick(NAMES) }
              : shape > 1
                ? { color: random.pick(["Red", "blue", "Green"]) }
                : { size: step + 100 * shape }) as never,
          );
        else if (choice < 9) tx.remove(kind, existing.id);
        // A write equal to the previous version, even if that has an earlier shape.
        else tx.update(kind, existing.id, JSON.parse(`{${existing.members}}`));
      });
      if (choice === 9 && existing !== undefined) expect(sequence).toBeNull();
      if (sequence === null) continue;
      const [{ members, changed, ...row }] = store.rows(
        `SELECT r.id, ${writtenSql("v", "members")} AS members, v.changed, v.shape FROM history_versions v
          JOIN history_records r ON r.n = v.key >> 31 WHERE v.key & 2147483647 = ?`,
        sequence,
      ) as [{ id: string; members: string | null; changed: string | null; shape: number }];
      expect(row.shape).toBe(shape);
      const record = members === null ? null : JSON.parse(`{${members}}`);
      written.push({ sequence, ...row, record, changed: changed === null ? null : JSON.parse(changed) });
    }
    if (shape === 3) fileFindings.push(...ledgerFindings());
  }
  store.clock.at += 60_000;
});
afterAll(() => store.close());

/** A version as written, upgraded to the current shape by the reference implementation. */
function upgraded({ shape, record }: WrittenVersion): JsonRecord | null {
  return record === null ? null : NAIVE_UPCASTERS.slice(shape - 1).reduce((current, upcast) => upcast(current), record);
}

/** Live records as of a sequence, in page order. */
function aliveAt(sequence: number): JsonRecord[] {
  const newest = new Map<string, JsonRecord | null>();
  for (const version of written) if (version.sequence <= sequence) newest.set(version.id, upgraded(version));
  return [...newest.values()]
    .filter((record) => record !== null)
    .sort((a, b) => (a.created_at === b.created_at ? (a.id < b.id ? -1 : 1) : a.created_at < b.created_at ? -1 : 1));
}

const withoutEnd = ({ valid_to: _, ...record }: JsonRecord) => record;
const asOf = (sequence: number): AsOf => store.reader.atSequence(sequence);
const list = (query: Partial<ListQuery>) => store.list(GADGET, query).items.map(withoutEnd);

test("the versions have three shapes, with all changes, removals and equal writes in between", () => {
  for (const shape of [1, 2, 3]) {
    const matching = written.filter((version) => version.shape === shape);
    expect(matching.some(({ changed }) => changed !== null)).toBe(true);
    expect(matching.some(({ record }) => record === null)).toBe(true);
  }
  // Some of each shape are packed, so reads unpack before they upgrade.
  const packed = store.rows(
    `SELECT DISTINCT shape FROM history_versions WHERE patch IS NOT NULL
      AND key >> 31 IN (SELECT n FROM history_records WHERE kind = ?)`,
    GADGET.code,
  );
  expect(packed).toHaveLength(3);
  expect(written.every(({ changed }) => changed === null || changed.length === 1)).toBe(true);
  const shapes = aliveAt(Number.POSITIVE_INFINITY).map(
    ({ id }) => written.findLast((version) => version.id === id)?.shape,
  );
  expect(shapes).toContain(1);
});

describe("as of every transaction", () => {
  test("lists, single records, long reads and exports have the current shape", () => {
    for (const { sequence } of written) {
      const expected = aliveAt(sequence);
      const query = { kind: GADGET, reach: store.reach(), asOf: asOf(sequence), limit: 0, offset: 0 };
      const parse = (item: { text: string } | null) => withoutEnd(JSON.parse(item?.text ?? "{}"));
      expect(list({ asOf: query.asOf })).toEqual(expected);
      expect([...store.reader.chunks(query, null)].flatMap(parseItems).map(withoutEnd)).toEqual(expected);
      const ns = expected.map(({ id }) => store.n(id));
      expect(store.reader.itemsOf(GADGET, ns, query.asOf, query.reach).map(parse)).toEqual(expected);
      expect(expected.map(({ id }) => parse(store.reader.find(GADGET, id, query.reach, query.asOf)))).toEqual(expected);
      const values = store.reader.ownFields(query, ["name", "color", "title"]).map((text) => JSON.parse(text));
      expect(values).toEqual(expected.map(({ name, color }) => [name, color, null]));
    }
  });

  test("lists are filtered and ordered by current fields", () => {
    const compare = (keyOf: (record: JsonRecord) => string) => (a: JsonRecord, b: JsonRecord) =>
      Buffer.compare(Buffer.from(keyOf(a)), Buffer.from(keyOf(b)));
    for (const { sequence } of written) {
      const expected = aliveAt(sequence);
      const listAsOf = (query: Partial<ListQuery>) => list({ asOf: asOf(sequence), ...query });
      const filtered = (filter: Filter) => listAsOf({ filters: [filter] });
      for (const value of ["Red", "blue", "Green"])
        expect(filtered({ field: "color", equals: value })).toEqual(expected.filter(({ color }) => color === value));
      for (const value of NAMES)
        expect(filtered({ field: "name", equals: value })).toEqual(expected.filter(({ name }) => name === value));
      expect(filtered({ field: "title", equals: "alpha" })).toEqual([]);
      expect(filtered({ field: "tags", namesAny: [tagIds[0] as string] })).toEqual(
        expected.filter(({ tags }) => tags.includes(tagIds[0])),
      );
      for (const field of ["name", "color"])
        for (const byKey of [false, true])
          expect(listAsOf({ order: [{ field, byKey, direction: "asc" }] })).toEqual(
            expected.toSorted(compare((record) => (byKey ? textSortKey(record[field]) : record[field]))),
          );
      expect(listAsOf({ search: "bet" })).toEqual(expected.filter(({ name }) => /^beta$/i.test(name)));
    }
  });

  test("lookups for locate, restores and reverts have the current shape as well", () => {
    const past = new Past(store.db, [...KINDS, GADGET]);
    const sight = { organizationN: store.n(store.organizationId), networkIds: [store.networkId] };
    const networkN = store.n(store.networkId);
    for (const version of written) {
      const { sequence, id } = version;
      const expected = aliveAt(sequence);
      const newRecords = () => new RecordsAt(store.reader, sequence, sight);
      const contentOf = (records: Iterable<{ record: unknown }>) =>
        Array.from(records, ({ record }) => record as JsonRecord);
      const byId = (a: JsonRecord, b: JsonRecord) => (a.id < b.id ? -1 : 1);
      const records = newRecords();
      expect(contentOf(records.childrenOf(GADGET, networkN, 1_000))).toEqual(expected);
      expect(records.childrenWith(GADGET, networkN, "color" as never, ["blue"]).length).toBe(
        expected.filter(({ color }) => color === "blue").slice(0, 1).length,
      );
      const ids = expected.map(({ id }) => id);
      const found = contentOf(newRecords().byIds(GADGET, ids).values());
      expect(found.sort(byId)).toEqual(expected.toSorted(byId));
      expect(contentOf(newRecords().matching([GADGET], "alpha*", 1_000)).map(({ name }) => name)).toEqual(
        expected.filter(({ name }) => name === "alpha").map(({ name }) => name),
      );
      expect(past.at(store.n(id), sequence)?.record ?? null).toEqual(upgraded(version) as never);
      expect(contentOf(past.membersAt(networkN, GADGET, sequence))).toEqual(expected);
      const before = written.findLast((earlier) => earlier.id === id && earlier.sequence < sequence);
      expect(past.writtenIn(sequence)).toMatchObject([
        {
          id,
          before: before === undefined || before.record === null ? null : { record: upgraded(before) },
          after: version.record === null ? null : { record: upgraded(version) },
        },
      ]);
    }
  });

  test("a version has its changed fields by their current names", () => {
    const log = new ChangeLog(store.reader);
    const query = { reach: store.reach(), kinds: [GADGET] };
    const head = store.reader.head().sequence;
    const expected = written.map(({ sequence, changed }) => ({
      sequence,
      changedFields: changed?.map((field) => (field === "title" ? "name" : field)) ?? null,
    }));
    const fieldsOf = (changes: ReadonlyArray<{ sequence: number; changedFields: readonly string[] | null }>) =>
      changes.map(({ sequence, changedFields }) => ({ sequence, changedFields }));
    expect([...log.changes(query, 0, head)].flatMap(({ changes }) => fieldsOf(changes))).toEqual(expected);
    for (const id of new Set(written.map((version) => version.id))) {
      const matching = expected.filter((_, index) => written[index]?.id === id);
      const ns = [store.n(id)];
      expect(fieldsOf(log.versions(GADGET, ns, head, 1_000, 0))).toEqual(matching.toReversed());
      expect(fieldsOf([...log.versionsBetween(GADGET, ns, 0, head)].flat())).toEqual(matching);
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
  const history = "spans census lineages search_texts word_places activity change_counts versions".split(" ");
  const tables = ["gadgets", "live_links", ...history.map((name) => `history_${name}`)];
  const rows = () => tables.map((table) => store.rows(`SELECT * FROM ${table}`));
  const before = rows();
  rebuildDerived(store.db, [...KINDS, GADGET]);
  expect(rows()).toEqual(before);
  expect(ledgerFindings()).toEqual([]);
});

test("a live row of an earlier shape, and a version with a changed string or shape, are found", () => {
  const isUnpacked = (id: string) =>
    store.rows<{ patch: unknown }>(
      "SELECT patch FROM history_versions WHERE key >> 31 = ? ORDER BY key DESC LIMIT 1",
      store.n(id),
    )[0]?.patch === null;
  const { id } = aliveAt(Number.POSITIVE_INFINITY).find(
    (record) => written.findLast((version) => version.id === record.id)?.shape === 1 && isUnpacked(record.id),
  ) as JsonRecord;
  const n = store.n(id);
  const [liveRow] = store.rows("SELECT members FROM gadgets WHERE n = ?", n) as [{ members: string }];
  const newest = `(SELECT max(key) FROM history_versions WHERE key < (${n + 1} << 31))`;
  const findingsAfter = (statement: string, restored: string) => {
    runUnguarded(store.db, [statement]);
    const found = ledgerFindings().map(({ check, message }) => [check, message]);
    runUnguarded(store.db, [restored]);
    expect(ledgerFindings()).toEqual([]);
    return found;
  };
  const setLive = (members: string) => `UPDATE gadgets SET members = ${members} WHERE n = ${n}`;
  const setNewest = (change: string) => `UPDATE history_versions SET ${change} WHERE key = ${newest}`;
  expect(
    findingsAfter(
      setLive(`(SELECT members FROM history_versions WHERE key = ${newest})`),
      setLive(`'${liveRow.members.replaceAll("'", "''")}'`),
    ),
  ).toEqual([["live", "its live document is not its newest version"]]);
  for (const [change, restored, message] of [
    ["shape = 2", "shape = 1", "its content does not match its hash"],
    ["shape = 4", "shape = 1", "its shape 4 is not known to this version of netledger"],
    ["members = substr(members, 2)", `members = '"' || members`, "its document is not JSON"],
  ] as const)
    expect(findingsAfter(setNewest(change), setNewest(restored))).toContainEqual(["version", message]);
});

describe("an upcaster", () => {
  const evaluate = (sql: string, members: string | null, shape = 1) => {
    const [[found]] = store.db.$client
      .query(`SELECT ${sql} FROM (SELECT 1 AS key, NULL AS patch, NULL AS valid_from, ?1 AS members, ?2 AS shape, '{"a":"x"}' AS sort_keys,
          7 AS kind) v`)
      .values(members, shape) as [[string | null]];
    return found;
  };
  const random = seededRandom(5);
  const texts = [...NAMES, "", "'", '\\"', "\ud83d\ude00", "1e3", "null", "}", ","];
  const randomValue = (depth = 0): unknown => {
    const choice = random.integer(depth > 2 ? 5 : 7);
    if (choice === 5) return Array.from({ length: random.integer(3) }, () => randomValue(depth + 1));
    if (choice === 6) return randomObject(random.integer(3), [...texts, "a", "b", "id"], depth + 1);
    return [null, true, random.pick(texts), random.integer(1_000) - 500, random.integer(1_000) / 7][choice];
  };
  const randomObject = (size: number, names: readonly string[], depth = 0): JsonRecord =>
    Object.fromEntries(Array.from({ length: size }, () => [random.pick(names), randomValue(depth)]));
  const randomRecord = (): JsonRecord => ({
    id: randomValue(),
    ...randomObject(random.integer(5), ["a", "b", "c", "Ä", "a b"]),
  });

  test("matches a naive conversion for every record, and skips tombstones", () => {
    const added = { it: "'s", list: [1, null] };
    const cases: Array<[Upcaster, (input: JsonRecord) => JsonRecord]> = [
      [addField(1, "new", added), (input) => ({ ...input, new: added })],
      [renameField(1, "id", "key"), ({ id, ...rest }) => ({ ...rest, key: id })],
      [renameField(1, "id", "no"), ({ id, ...rest }) => ({ ...rest, no: id })],
      [rewriteRecord(1, (input) => `json_remove(${input}, '$.c')`), ({ c: _, ...rest }) => rest],
    ];
    for (const [upcaster, naive] of cases) {
      const kind = { upcasters: [upcaster] };
      for (let round = 0; round < 300; round += 1) {
        const input = randomRecord();
        const members = JSON.stringify(input).slice(1, -1);
        const found = evaluate(membersSql(kind, "v"), members) as string;
        expect(JSON.parse(`{${found}}`)).toEqual(naive(input));
        // As written today: the text of unchanged fields is preserved.
        expect([...JSON.stringify(JSON.parse(`{${found}}`))].sort()).toEqual([...`{${found}}`].sort());
        expect(evaluate(membersSql(kind, "v"), members, 2)).toBe(members);
      }
      expect(evaluate(membersSql(kind, "v"), null)).toBeNull();
    }
  });

  test("runs after earlier ones, and skips the current shape", () => {
    const upcasters = Array.from({ length: 12 }, (_, index) =>
      index % 2 === 0 ? addField(1, `f${index}`, index) : renameField(1, `f${index - 1}`, `g${index}`),
    );
    const kind = { upcasters };
    expect(shapeOf(kind)).toBe(13);
    const sql = membersSql(kind, "v");
    // Its length grows with the square of the number of shapes, not exponentially.
    expect(sql.length).toBeLessThan(40_000);
    expect(JSON.parse(`{${evaluate(sql, '"id":"x"')}}`)).toEqual({
      id: "x",
      ...Object.fromEntries([1, 3, 5, 7, 9, 11].map((index) => [`g${index}`, index - 1])),
    });
    expect(JSON.parse(`{${evaluate(sql, '"id":"x"', 10)}}`)).toEqual({ id: "x", g11: 10 });
    expect(evaluate(sql, '"id":"x"', 13)).toBe('"id":"x"');
    expect(membersSql({}, "v")).toBe(writtenSql("v", "members"));
  });

  test("applies to its version's kind, and preserves unnamed fields", () => {
    const [host, tag] = [
      { code: 7, upcasters: [addField(1, "h", 1)] },
      { code: 8, upcasters: [renameField(1, "a", "b")] },
    ] as unknown as AnyKind[];
    expect(evaluate(byKindSql([host, tag] as AnyKind[], "v.kind", "v", membersSql), '"a":1')).toBe('"a":1,"h":1');
    expect(byKindSql([host] as AnyKind[], "v.kind", "v", sortKeysSql)).toBe(writtenSql("v", "sort_keys"));
    expect(evaluate(byKindSql([host, tag] as AnyKind[], "8", "v", sortKeysSql), null)).toBe('{"b":"x"}');
  });
});
