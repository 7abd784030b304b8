// Where a database's schema differs from the migrations': a missing trigger guards nothing, and a missing index fails
// those who name it. Does not judge rows.

import { openWritable, type Sql } from "../connection.ts";
import { migrate } from "./migrate.ts";

/** A row of sqlite_schema. */
export interface SchemaObject {
  readonly type: "table" | "index" | "trigger" | "view";
  readonly name: string;
  /** Of an index or a trigger; a table's or view's own name. */
  readonly table: string;
  /** Null for what SQLite made itself. */
  readonly sql: string | null;
}

interface SchemaDifference {
  /** Null for what no migration made. */
  readonly expected: SchemaObject | null;
  /** Null for what is missing. */
  readonly found: SchemaObject | null;
  /** Whether it is an index or trigger on our tables, which can be recreated. */
  readonly isReplaceable: boolean;
}

/** The differences from this version's schema, by name. */
export function schemaDifferences(db: Sql): SchemaDifference[] {
  const expected = expectedSchema();
  const found = schemaOf(db);
  const keys = [...new Set([...expected.keys(), ...found.keys()])].sort();
  return keys.flatMap((key) => {
    const [made, is] = [expected.get(key) ?? null, found.get(key) ?? null];
    return isSame(made, is)
      ? []
      : [
          {
            expected: made,
            found: is,
            isReplaceable: [made, is].every((each) => each === null || isReplaceable(each, expected)),
          },
        ];
  });
}

/**
 * Drops indexes and triggers on our tables that differ from the migrations', in the caller's transaction.
 * @returns the SQL of those to recreate
 */
export function dropForeignObjects(db: Sql): string[] {
  return schemaDifferences(db).flatMap(({ expected, found, isReplaceable: mayGo }) => {
    if (!mayGo) return [];
    if (found !== null) db.$client.run(`DROP ${found.type} "${found.name.replaceAll('"', '""')}"`);
    return expected?.sql == null ? [] : [expected.sql];
  });
}

type Schema = ReadonlyMap<string, SchemaObject>;

let expectedOnce: Schema | null = null;

function expectedSchema(): Schema {
  if (expectedOnce === null) {
    const db = openWritable(":memory:");
    try {
      migrate(db, ":memory:");
      expectedOnce = schemaOf(db);
    } finally {
      db.$client.close();
    }
  }
  return expectedOnce;
}

/** By type and name, without SQLite's own tables (sequences, statistics). */
function schemaOf(db: Sql): Schema {
  const rows = db.$client
    .query(
      `SELECT type, name, tbl_name AS "table", iif(name IN (SELECT name FROM pragma_table_list
        WHERE schema = 'main' AND type = 'shadow'), NULL, sql) AS sql
       FROM main.sqlite_schema WHERE NOT (type = 'table' AND name LIKE 'sqlite\\_%' ESCAPE '\\')`,
    )
    .all() as SchemaObject[];
  return new Map(rows.map((row) => [`${row.type} ${row.name}`, row]));
}

/** Shadow tables of a full-text index are worded by SQLite: their texts are null here. */
function isSame(made: SchemaObject | null, is: SchemaObject | null): boolean {
  return made !== null && is !== null && made.table === is.table && made.sql === is.sql;
}

function isReplaceable({ type, table, sql }: SchemaObject, expected: Schema): boolean {
  return (type === "index" || type === "trigger") && sql !== null && expected.has(`table ${table}`);
}
