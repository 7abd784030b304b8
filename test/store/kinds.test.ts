// Declarations of the kinds compared with the schema from the migrations, which the store requires to agree.

import { afterAll, expect, test } from "bun:test";
import { getTableColumns, getTableName } from "drizzle-orm";
import { type AnyKind, liveColumnOf, SCOPE_CODES } from "../../src/db/kind.ts";
import * as schema from "../../src/db/schema.ts";
import { CHANGE_KINDS } from "../../src/history/change-view.ts";
import { KINDS } from "../../src/records/resources.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { TAGGED_TYPES } from "../../src/resources/tag-assignments/tag-assignment.ts";
import { Store } from "../support/store/store.ts";

const store = new Store();

afterAll(() => store.close());

/** Returns an id for every field. */
const ANY_RECORD = new Proxy({}, { get: () => "an id" });

/** Whether a field is the record's own id, or a required reference. */
const isReferred = (kind: AnyKind, field: string) => field === "id" || field.replace(/_id$/, "_n") in kind.table;

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
  expect(
    Object.entries(SCOPE_CODES).map(([name, code]) => [name, KINDS.find((kind) => kind.name === name)?.code === code]),
  ).toEqual(Object.keys(SCOPE_CODES).map((name) => [name, true]));
});

test("every kind's table has the columns of its definition, and is found by its plural", () => {
  for (const kind of KINDS) {
    const defined = (
      Object.values(getTableColumns(kind.table)) as Array<{ name: string; notNull: boolean; primary: boolean }>
    ).map((column) => [column.name, column.notNull || column.primary]);
    const made = columnsOf(getTableName(kind.table)).map((column) => [
      column.name,
      column.notnull === 1 || column.pk === 1,
    ]);
    expect([kind.name, Object.fromEntries(defined)]).toEqual([kind.name, Object.fromEntries(made)]);
    expect(getTableName(kind.table)).toBe(kind.plural);
  }
});

test("the store's own tables have the columns of the Drizzle schema", () => {
  for (const table of Object.values(schema).filter((each) => typeof each === "object"))
    expect(Object.keys(getTableColumns(table)).sort()).toEqual(
      columnsOf(getTableName(table))
        .map((column) => column.name)
        .sort(),
    );
});

test("every reference names a kind, and is stored where lookups expect it", () => {
  for (const kind of KINDS)
    for (const { to, field } of kind.references ?? []) {
      expect([kind.name, to, KINDS.some((each) => each.name === to)]).toEqual([kind.name, to, true]);
      const isKept = field.endsWith("_id") ? field.replace(/_id$/, "_n") in kind.table : kind.links !== undefined;
      expect([kind.name, field, isKept]).toEqual([kind.name, field, true]);
    }
});

test("changes of parts are reported as their own, or as their owner's: ownership is declared once", () => {
  expect(KINDS.filter((kind) => kind.isApart !== true && kind.isUntold !== true)).toEqual(
    [...CHANGE_KINDS].sort((a, b) => a.code - b.code),
  );
  for (const kind of KINDS) {
    const told = KINDS.flatMap((part) => {
      const owners = part.owners?.(ANY_RECORD) ?? [];
      return part.isUntold === true ? [] : owners.filter((owner) => owner.kind === kind.name).map(({ as }) => as);
    });
    expect([kind.name, [...(kind.toldParts ?? [])].sort()]).toEqual([kind.name, told.sort()]);
    expect([kind.name, (kind.countedWith ?? []).filter((field) => !isReferred(kind, field))]).toEqual([kind.name, []]);
    const { host } = kind.scopes;
    if (host !== undefined && kind.owners !== undefined && kind.isUntold !== true)
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
      const plan = store.rows<{ detail: string }>(
        `EXPLAIN QUERY PLAN SELECT n FROM ${getTableName(kind.table)} WHERE ${column} = 1`,
      );
      expect([kind.name, column, plan.every((row) => row.detail.startsWith("SEARCH"))]).toEqual([
        kind.name,
        column,
        true,
      ]);
    }
  }
});

test("a part of a host makes a version of its owner, so that queries on the host find it", () => {
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
    const primary = store.rows<{ name: string; type: string }>(
      `SELECT name, type FROM pragma_table_info('${name}') WHERE pk > 0`,
    );
    expect([name, strict, wr === 1 || (primary.length === 1 && primary[0]?.type === "INTEGER")]).toEqual([
      name,
      1,
      true,
    ]);
  }
});
