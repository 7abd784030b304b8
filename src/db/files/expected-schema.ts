// Where a database's schema differs from the migrations': a missing trigger guards nothing, and a missing index fails
// those who name it. Does not judge rows.

import { openWritable, type Sql } from "../connection.ts";
import { DatabaseRefused, makeSchema, SCHEMA_VERSION, schemaVersionOf } from "./migrate.ts";

/** A row of sqlite_schema. */
export interface SchemaObject {
  readonly type: "table" | "index" | "trigger" | "view";
  readonly name: string;
  /** Of an index or a trigger; a table's or view's own name. */
  readonly table: string;
  /** Null for what SQLite made itself, but for the tables of a full-text index. */
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

/**
 * Refuses a file from elsewhere that holds anything but what the migrations up to its version made: a view in place of a
 * table can make a read endless, and a trigger can do so with a write. No row is read before, and no view prepared. What is
 * missing is left to a verification.
 * @throws DatabaseRefused which names one such object, a view if there is one
 */
export function refuseForeignObjects(db: Sql, path: string): void {
  const foreign = schemaDifferences(db, schemaVersionOf(db)).flatMap(({ found }) => found ?? []);
  const last = foreign.at(-1);
  if (last === undefined) return;
  const { type, name, table } = last;
  const others = foreign.length - 1;
  throw new DatabaseRefused(
    `${path} holds the ${type} ${JSON.stringify(name)}${table === name ? "" : ` on ${JSON.stringify(table)}`}, which netledger did not make${others > 0 ? ` (and ${others} more)` : ""}: it cannot be read as a backup.`,
  );
}

/** The differences from the schema of a version, this one's unless another is named, by type and name. */
export function schemaDifferences(db: Sql, version = SCHEMA_VERSION): SchemaDifference[] {
  const expected = expectedSchema(version);
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

const EXPECTED = new Map<number, Schema>();

function expectedSchema(version: number): Schema {
  let expected = EXPECTED.get(version);
  if (expected === undefined) {
    const db = openWritable(":memory:");
    try {
      makeSchema(db, version);
      expected = schemaOf(db);
      EXPECTED.set(version, expected);
    } finally {
      db.$client.close();
    }
  }
  return expected;
}

/**
 * By type and name, without SQLite's statistics. Of sqlite_schema alone: pragma_table_list would prepare every view, which
 * for views upon views takes for ever.
 */
function schemaOf(db: Sql): Schema {
  const rows = db.$client
    .query(
      `SELECT type, name, tbl_name AS "table", sql FROM main.sqlite_schema
       WHERE type <> 'table' OR name NOT IN ('sqlite_stat1', 'sqlite_stat4')`,
    )
    .all() as SchemaObject[];
  return new Map(rows.map((row) => [`${row.type} ${row.name}`, row]));
}

function isSame(made: SchemaObject | null, is: SchemaObject | null): boolean {
  return made !== null && is !== null && made.table === is.table && made.sql === is.sql;
}

function isReplaceable({ type, table, sql }: SchemaObject, expected: Schema): boolean {
  return (type === "index" || type === "trigger") && sql !== null && expected.has(`table ${table}`);
}
