// Backups with foreign schema objects: reported by name, quickly, before any data is read.

import { Database } from "bun:sqlite";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { Proof, ProofContext } from "../part.ts";
import { ApplianceUnderTest } from "./appliance.ts";
import { isOneSentence, problemSummary, proofOf } from "./full.ts";

/** SQL that creates an unexpected object in a backup, by the name of the object. */
const FOREIGN: Readonly<Record<string, string>> = {
  'view "appliance_settings"':
    "DROP TABLE appliance_settings; CREATE VIEW appliance_settings AS SELECT '' AS name, '' AS value, 0 AS checksum",
  'view "extra"': "CREATE VIEW extra AS SELECT * FROM hosts",
  'table "notes"': "CREATE TABLE notes (text)",
  'trigger "on_delete" on "sessions"': "CREATE TRIGGER on_delete AFTER DELETE ON sessions BEGIN SELECT 1; END",
  'index "by_members" on "hosts"': "CREATE INDEX by_members ON hosts (length(members))",
};

/** Tests every command that reads a file from elsewhere. */
export async function foreignObjects(context: ProofContext): Promise<Proof> {
  const appliance = ApplianceUnderTest.in(context, join(context.directory, "foreign-home"));
  await appliance.setUp();
  const backup = join(context.directory, "foreign-good.db");
  const target = ApplianceUnderTest.in(context, join(context.directory, "foreign-target"));
  const wrong: string[] = [];
  await appliance.run(["backup", backup]);
  for (const [name, sql] of Object.entries(FOREIGN)) {
    const file = join(context.directory, "foreign.db");
    copyFileSync(backup, file);
    const db = new Database(file, { readwrite: true });
    db.run(sql);
    db.close(true);
    const results = {
      "verify --backup": await appliance.run(["verify", "--backup", file]),
      "serve --read-only": await appliance.run(["serve", "--read-only", file, "--listen", "127.0.0.1:0"]),
      restore: await target.run(["restore", file]),
    };
    for (const [command, { code, out, err }] of Object.entries(results))
      if (code !== 3 || out !== "" || !isOneSentence(err) || !err.includes(`holds the ${name}, which`))
        wrong.push(`${command} with the ${name}: ${code} ${out}${err}`);
    if (existsSync(target.location.hostData)) wrong.push(`restore of the ${name} leaves a data directory behind`);
  }
  return proofOf(
    "a backup with objects foreign to netledger is refused by name, with status 3, by verify --backup, serve --read-only and restore",
    wrong.length === 0,
    `${Object.keys(FOREIGN).length} backups, three commands each${problemSummary(wrong)}`,
  );
}
