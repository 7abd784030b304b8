// Kind declarations compared with the schema created by the migrations.

import { afterAll, expect, test } from "bun:test";
import { getTableColumns, getTableName } from "drizzle-orm";
import { type AnyKind, liveColumnOf, SCOPE_CODES } from "../../src/db/kind.ts";
import * as schema from "../../src/db/schema.ts";
import { CHANGE_KINDS } from "../../src/history/change-view.ts";
import { KINDS } from "../../src/records/resources.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { TAGGED_TYPES } from "../../src/resources/tag-assignments/tag-assignment.ts";
import { planOf } from "../support/store/prepared-statements.ts";
import { Store } from "../support/store/store.ts";

const store = new Store();

afterAll(() => store.close());

/** Record with an id in every field. */
const ANY_RECORD = new Proxy({}, { get: () => "an id" });

/** Whether a field is the record's own id, or a required reference. */
const isReference = (kind: AnyKind, field: string) => field === "id" || field.replace(/_id$/, "_n") in kind.table;

const columnsOf = (table: string) =>
  store.rows<{ name: string; notnull: number; pk: number }>(
    `SELECT name, "notnull", pk FROM pragma_table_info('${table}')`,
  );

test("codes are unique, ascend with the list, and fit into a scope", () => {
  const codes = KINDS.map((kind) => kind.code);
  expect(codes).toEqual([...new Set(codes)].sort((a, b) => a - b));
  expect(codes.every((code) => code > 0 && code < 64)).toBe(true);
  expect(new Set(KINDS.map((kind) => kind.name)).size).toBe(KINDS.length);
});

test("a container's code is that of the kind with its name", () => {
  const codeOf = (name: string) => KINDS.find((kind) => kind.name === name)?.code;
  expect(Object.fromEntries(Object.keys(SCOPE_CODES).map((name) => [name, codeOf(name)]))).toEqual(SCOPE_CODES);
});

test("every kind's table has the columns of its definition, and is found by its plural", () => {
  for (const kind of KINDS) {
    const defined = (
      Object.values(getTableColumns(kind.table)) as Array<{ name: string; notNull: boolean; primary: boolean }>
    ).map((column) => [column.name, column.notNull || column.primary]);
    const columns = columnsOf(getTableName(kind.table));
    const actual = columns.map(({ name, notnull, pk }) => [name, notnull === 1 || pk === 1]);
    expect([kind.name, Object.fromEntries(defined)]).toEqual([kind.name, Object.fromEntries(actual)]);
    expect(getTableName(kind.table)).toBe(kind.plural);
  }
});

test("the store's own tables have the columns of the Drizzle schema", () => {
  for (const table of Object.values(schema).filter((value) => typeof value === "object")) {
    const names = columnsOf(getTableName(table)).map((column) => column.name);
    expect(Object.keys(getTableColumns(table)).sort()).toEqual(names.sort());
  }
});

test("every reference names a kind, and is stored where lookups expect it", () => {
  for (const kind of KINDS)
    for (const { to, field } of kind.references ?? []) {
      expect([kind.name, to, KINDS.some(({ name }) => name === to)]).toEqual([kind.name, to, true]);
      const isStored = field.endsWith("_id") ? field.replace(/_id$/, "_n") in kind.table : kind.links !== undefined;
      expect([kind.name, field, isStored]).toEqual([kind.name, field, true]);
    }
});

test("a change to a part is reported as its own or as its owner's: ownership is declared once", () => {
  expect(KINDS.filter((kind) => kind.isOutsideFeed !== true && kind.isReportedByContainer !== true)).toEqual(
    [...CHANGE_KINDS].sort((a, b) => a.code - b.code),
  );
  for (const kind of KINDS) {
    const reported = KINDS.flatMap((part) => {
      const owners = part.owners?.(ANY_RECORD) ?? [];
      return part.isReportedByContainer === true
        ? []
        : owners.filter((owner) => owner.kind === kind.name).map(({ as }) => as);
    });
    expect([kind.name, [...(kind.partFields ?? [])].sort()]).toEqual([kind.name, reported.sort()]);
    expect([kind.name, (kind.countedWith ?? []).filter((field) => !isReference(kind, field))]).toEqual([kind.name, []]);
    const { host } = kind.scopes;
    if (host !== undefined && kind.owners !== undefined && kind.isReportedByContainer !== true)
      expect([kind.name, kind.countedWith]).toEqual([kind.name, expect.arrayContaining([host])]);
  }
});

test("tags can be assigned to every kind with tags", () => {
  const carriers = KINDS.filter((kind) => kind.references?.some(({ to }) => to === "tag"));
  expect(carriers.map((kind) => kind.name).sort()).toEqual([...TAGGED_TYPES].sort());
});

test("every container that lists a kind is an indexed column", () => {
  for (const kind of KINDS) {
    for (const column of Object.values(kind.scopes).map(liveColumnOf)) {
      const plan = planOf(store.db.$client, `SELECT n FROM ${getTableName(kind.table)} WHERE ${column} = 1`);
      const others = plan.filter((step) => !step.startsWith("SEARCH"));
      expect([kind.name, column, others]).toEqual([kind.name, column, []]);
    }
  }
});

test("a part of a host creates a version of its owner, so that queries on the host find it", () => {
  const parts = KINDS.filter((kind) => kind.scopes.host !== undefined);
  // Ignored records of a host are not its children.
  expect(parts.filter((kind) => kind.owners === undefined).map((kind) => kind.name)).toEqual(["ignored"]);
});

test("every record that names its network is confined to it", () => {
  for (const kind of KINDS) {
    const field = kind === networkKind ? "id" : "network_n" in getTableColumns(kind.table) ? "network_id" : undefined;
    expect([kind.name, kind.scopes.network as string | undefined]).toEqual([kind.name, field]);
  }
});

test("every table is strict, and every rowid has a name, since VACUUM renumbers others", () => {
  const tables = store.rows<{ name: string; strict: number; wr: number }>(
    `SELECT name, strict, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
      AND name NOT LIKE 'sqlite_%'`,
  );
  expect(tables.length).toBeGreaterThan(KINDS.length);
  for (const { name, strict, wr } of tables) {
    const primary = store.rows<{ type: string }>(`SELECT type FROM pragma_table_info('${name}') WHERE pk > 0`);
    const isNamed = wr === 1 || (primary.length === 1 && primary[0]?.type === "INTEGER");
    expect([name, strict, isNamed]).toEqual([name, 1, true]);
  }
});
