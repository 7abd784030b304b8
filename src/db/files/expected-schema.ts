// Schema comparison of a database with the migrations. A missing trigger guards nothing, and a missing index fails
// statements that name it. Ignores rows.

import { openWritable, type Sql } from "../connection.ts";
import { DatabaseRefused, makeSchema, SCHEMA_VERSION, schemaVersionOf } from "./migrate.ts";

/** A row of sqlite_schema. */
export interface SchemaObject {
  readonly type: "table" | "index" | "trigger" | "view";
  readonly name: string;
  /** For an index or trigger, its table; for a table or view, its own name. */
  readonly table: string;
  /** Null for SQLite's automatic objects, except full-text index tables. */
  readonly sql: string | null;
}

interface SchemaDifference {
  /** Null if no migration created it. */
  readonly expected: SchemaObject | null;
  /** Null if missing. */
  readonly found: SchemaObject | null;
  /** Whether both are indexes or triggers on netledger's tables, which can be recreated. */
  readonly isReplaceable: boolean;
}

/**
 * Rejects a file with schema objects beyond the migrations up to its version: a view in place of a table can make a
 * read endless, and a trigger a write. Runs before any row is read or view prepared. Missing objects are left to the
 * verification.
 * @throws DatabaseRefused naming one such object, a view if there is one
 */
export function refuseForeignObjects(db: Sql, path: string): void {
  const foreign = schemaDifferences(db, schemaVersionOf(db)).flatMap(({ found }) => found ?? []);
  const last = foreign.at(-1);
  if (last === undefined) return;
  const { type, name, table } = last;
  const others = foreign.length - 1;
  throw new DatabaseRefused(
    `${path} holds the ${type} ${JSON.stringify(name)}${table === name ? "" : ` on ${JSON.stringify(table)}`}, which netledger did not create${others > 0 ? ` (and ${others} more)` : ""}: it cannot be read as a backup.`,
  );
}

/** Differences from the schema of a version (default: current), by type and name. */
export function schemaDifferences(db: Sql, version = SCHEMA_VERSION): SchemaDifference[] {
  const expected = expectedSchema(version);
  const found = schemaOf(db);
  const keys = [...new Set([...expected.keys(), ...found.keys()])].sort();
  return keys.flatMap((key) => {
    const [expectedObject, foundObject] = [expected.get(key) ?? null, found.get(key) ?? null];
    if (isSame(expectedObject, foundObject)) return [];
    const objects = [expectedObject, foundObject].filter((each) => each !== null);
    const canReplace = objects.every((each) => isReplaceable(each, expected));
    return [{ expected: expectedObject, found: foundObject, isReplaceable: canReplace }];
  });
}

/**
 * Drops indexes and triggers on netledger's tables that differ from the migrations, in the caller's transaction.
 * @returns the SQL of the objects to recreate
 */
export function dropForeignObjects(db: Sql): string[] {
  return schemaDifferences(db).flatMap(({ expected, found, isReplaceable: canDrop }) => {
    if (!canDrop) return [];
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
 * Schema objects by type and name, without SQLite's statistics. Reads only sqlite_schema: pragma_table_list would
 * prepare every view, which never ends for deeply nested views.
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

function isSame(expected: SchemaObject | null, found: SchemaObject | null): boolean {
  return expected?.table === found?.table && expected?.sql === found?.sql;
}

function isReplaceable({ type, table, sql }: SchemaObject, expected: Schema): boolean {
  return (type === "index" || type === "trigger") && sql !== null && expected.has(`table ${table}`);
}
