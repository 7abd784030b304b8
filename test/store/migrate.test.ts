// A store of an earlier schema comes to this one with everything that was added since, made from its ledger.

import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openReadOnly, openWritable } from "../../src/db/connection.ts";
import { APPLICATION_ID, migrate, SCHEMA_VERSION } from "../../src/db/migrate.ts";
import { deriveChangesAndTexts } from "../../src/history/verify/rebuild.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/resources/kinds.ts";
import { populate } from "../support/population.ts";
import { Store } from "../support/store.ts";
import { unguarded } from "../support/unguarded.ts";

const MIGRATIONS = join(import.meta.dir, "../../migrations");
/** The last schema without changes in commit order and without search. */
const EARLIER = 3;

test("a store of an earlier schema is brought to this one with what is derived since, and is sound", () => {
  const store = new Store();
  populate(store, { isEarlier: true });
  store.writer.checkpoint();
  const path = join(store.directory, "earlier.db");
  const db = openWritable(path);
  const client = db.$client;
  const files = readdirSync(MIGRATIONS).sort().slice(0, EARLIER);
  for (const file of files) client.run(readFileSync(join(MIGRATIONS, file), "utf8"));
  // Rows are copied table by table, in no order that a ledger would take.
  client.run("PRAGMA foreign_keys = OFF");
  client.run(`ATTACH DATABASE '${store.path}' AS old`);
  const tables = client.query("SELECT name FROM main.sqlite_schema WHERE type = 'table'").all() as Array<{ name: string }>;
  unguarded(db, tables.map(({ name }) => `INSERT INTO main.${name} SELECT * FROM old.${name}`));
  client.run("DETACH DATABASE old");
  client.run(`PRAGMA application_id = ${APPLICATION_ID}`);
  client.run(`PRAGMA user_version = ${EARLIER}`);

  migrate(db, path, (each) => deriveChangesAndTexts(each, KINDS));
  const rows = (table: string, of = client) => of.query(`SELECT * FROM ${table} ORDER BY 1, 2`).values();
  for (const table of ["history_activity", "history_search_texts"]) {
    expect(rows(table).length).toBeGreaterThan(0);
    expect(rows(table)).toEqual(rows(table, store.db.$client));
  }
  expect(client.query("PRAGMA user_version").values()).toEqual([[SCHEMA_VERSION]]);
  client.close();
  const readOnly = openReadOnly(path);
  expect(verifyLedger(readOnly, KINDS).findings).toEqual([]);
  readOnly.$client.close();
  store.close();
});
