// Lost rows of any table: verify reports the row or its parent record.

import { Database } from "bun:sqlite";
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { dataFiles } from "../../../src/db/files/data-directory.ts";
import { type SeededRandom, seededRandom } from "../../../test/support/injected/seeded-random.ts";
import { fillStore } from "../../../test/support/store/filled-store.ts";
import { runUnguarded } from "../../../test/support/store/tampering.ts";
import type { Proof, ProofContext } from "../part.ts";
import { ApplianceUnderTest } from "./appliance.ts";
import { problemSummary, proofOf } from "./full.ts";

/** Number of tables in the short form. */
const SHORT_TABLES = 10;

/** Deletes one row from each table, each time in a copy of a well-filled database. */
export async function missingRows(context: ProofContext): Promise<Proof> {
  const good = join(context.directory, "missing-good");
  await fillStore(good, Date.now());
  const random = seededRandom(context.seed);
  const allTables = tablesOf(dataFiles(good).database);
  const tables =
    context.form === "long" ? allTables : Array.from({ length: SHORT_TABLES }, () => random.pick(allTables));
  const undetected: string[] = [];
  for (const [index, table] of tables.entries()) {
    const folder = join(context.directory, `missing-${index}`);
    mkdirSync(folder, { mode: 0o700 });
    copyFileSync(dataFiles(good).key, dataFiles(folder).key);
    copyFileSync(dataFiles(good).database, dataFiles(folder).database);
    deleteRow(dataFiles(folder).database, table, random);
    const { code, out, err } = await ApplianceUnderTest.in(context, folder).run(["verify"]);
    if (code !== 1 || err !== "") undetected.push(`${table}: ${code} ${out.slice(-200)}${err}`);
    rmSync(folder, { recursive: true });
  }
  return proofOf(
    "no row can be deleted from any table so that verify finds the data intact",
    undetected.length === 0,
    `one row deleted from each of ${tables.length} of ${allTables.length} tables${problemSummary(undetected)}`,
  );
}

function tablesOf(path: string): string[] {
  const db = new Database(path, { readonly: true });
  try {
    const rows = db
      .query("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%'")
      .values() as Array<[string]>;
    return rows.map(([name]) => name).toSorted();
  } finally {
    db.close();
  }
}

function deleteRow(path: string, table: string, random: SeededRandom): void {
  const db = new Database(path, { readwrite: true, strict: true });
  try {
    const keys = db.query("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk").values(table).join(", ");
    const [count] = db.query(`SELECT count(*) FROM ${table}`).values()[0] as [number];
    runUnguarded({ $client: db }, [
      `DELETE FROM ${table} WHERE (${keys}) = (SELECT ${keys} FROM ${table} ORDER BY ${keys}
        LIMIT 1 OFFSET ${random.integer(count)})`,
    ]);
  } finally {
    db.close(true);
  }
}
