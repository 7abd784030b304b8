// Lost rows of any table: verify finds the row or its parent record.

import { Database } from "bun:sqlite";
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { dataFiles } from "../../../src/db/files/data-directory.ts";
import { type SeededRandom, seededRandom } from "../../../test/support/injected/seeded-random.ts";
import { fillStore } from "../../../test/support/store/filled-store.ts";
import { unguarded } from "../../../test/support/store/unguarded.ts";
import type { Proof, Proving } from "../part.ts";
import { ProvedAppliance } from "./appliance.ts";
import { finding, told } from "./full.ts";

/** Number of tables in the short form. */
const SHORT = 10;

/** Deletes one row per table, each from a copy of a well-filled database. */
export async function missingRows(proving: Proving): Promise<Proof> {
  const good = join(proving.directory, "missing-good");
  await fillStore(good, Date.now());
  const random = seededRandom(proving.seed);
  const all = tablesOf(dataFiles(good).database);
  const tables = proving.form === "long" ? all : Array.from({ length: SHORT }, () => random.pick(all));
  const unfound: string[] = [];
  for (const [place, table] of tables.entries()) {
    const folder = join(proving.directory, `missing-${place}`);
    mkdirSync(folder, { mode: 0o700 });
    copyFileSync(dataFiles(good).key, dataFiles(folder).key);
    copyFileSync(dataFiles(good).database, dataFiles(folder).database);
    deleteOne(dataFiles(folder).database, table, random);
    const { code, out, err } = await ProvedAppliance.in(proving, folder).run(["verify"]);
    if (code !== 1 || err !== "") unfound.push(`${table}: ${code} ${out.slice(-200)}${err}`);
    rmSync(folder, { recursive: true });
  }
  return {
    findings: [
      finding(
        "no row can be deleted from any table so that verify finds the data intact",
        unfound.length === 0,
        `one row deleted from each of ${tables.length} of ${all.length} tables${told(unfound)}`,
      ),
    ],
  };
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

function deleteOne(path: string, table: string, random: SeededRandom): void {
  const db = new Database(path, { readwrite: true, strict: true });
  try {
    const keys = (
      db.query("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk").values(table) as string[][]
    ).flat();
    const key = `(${keys.join(", ")})`;
    const [count] = db.query(`SELECT count(*) FROM ${table}`).values()[0] as [number];
    unguarded({ $client: db }, [
      `DELETE FROM ${table} WHERE ${key} = (SELECT ${keys.join(", ")} FROM ${table} ORDER BY ${keys.join(", ")}
        LIMIT 1 OFFSET ${random.integer(count)})`,
    ]);
  } finally {
    db.close(true);
  }
}
