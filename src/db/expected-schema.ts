// The tables, indexes, triggers and views that the migrations make, and in what a database departs from them: a guard that is gone
// guards nothing, and an index that is gone fails whoever names it. Must not judge rows.

import { openWritable, type Sql } from "./connection.ts";
import { migrate } from "./migrate.ts";

/** A row of sqlite_schema. */
export interface SchemaObject {
  readonly type: "table" | "index" | "trigger" | "view";
  readonly name: string;
  /** The table that an index or a trigger is on; itself for a table or a view. */
  readonly table: string;
  /** As it was made; null for what SQLite made by itself. */
  readonly sql: string | null;
}

export interface SchemaDifference {
  /** Null for what no migration made. */
  readonly expected: SchemaObject | null;
  /** Null for what is missing. */
  readonly found: SchemaObject | null;
  /** Whether it holds no rows of its own and is on a table of ours: an index or a trigger, which can be made again. */
  readonly isReplaceable: boolean;
}

/** What a database of this version's schema has not as the migrations made it, in the order of the names. */
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
 * Drops the indexes and triggers on our tables that are not as the migrations made them, within a transaction of the caller's.
 * @returns the SQL that makes those that should be there
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

/** By type and name, without the tables that SQLite keeps for itself (sequences, statistics). */
function schemaOf(db: Sql): Schema {
  const rows = db.$client
    .query(
      `SELECT type, name, tbl_name AS "table", iif(name IN (SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow'), NULL, sql) AS sql
       FROM main.sqlite_schema WHERE NOT (type = 'table' AND name LIKE 'sqlite\\_%' ESCAPE '\\')`,
    )
    .all() as SchemaObject[];
  return new Map(rows.map((row) => [`${row.type} ${row.name}`, row]));
}

/** The tables of a full-text index (shadow tables) are worded by the SQLite that made them: their texts are null here. */
function isSame(made: SchemaObject | null, is: SchemaObject | null): boolean {
  return made !== null && is !== null && made.table === is.table && made.sql === is.sql;
}

function isReplaceable({ type, table, sql }: SchemaObject, expected: Schema): boolean {
  return (type === "index" || type === "trigger") && sql !== null && expected.has(`table ${table}`);
}
