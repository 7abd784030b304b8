// Backups with foreign schema objects: reported by name, quickly, before any data is read.

import { Database } from "bun:sqlite";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { Proof, Proving } from "../part.ts";
import { ProvedAppliance } from "./appliance.ts";
import { finding, isOneSentence, told } from "./full.ts";

/** SQL by the name of the object that it leaves in a backup. */
const FOREIGN: Readonly<Record<string, string>> = {
  'view "appliance_settings"':
    "DROP TABLE appliance_settings; CREATE VIEW appliance_settings AS SELECT '' AS name, '' AS value, 0 AS checksum",
  'view "beside"': "CREATE VIEW beside AS SELECT * FROM hosts",
  'table "notes"': "CREATE TABLE notes (text)",
  'trigger "tells" on "sessions"': "CREATE TRIGGER tells AFTER DELETE ON sessions BEGIN SELECT 1; END",
  'index "by_members" on "hosts"': "CREATE INDEX by_members ON hosts (length(members))",
};

/** With each command that reads a file which may come from someone else. */
export async function foreignObjects(proving: Proving): Promise<Proof> {
  const appliance = ProvedAppliance.in(proving, join(proving.directory, "foreign-home"));
  await appliance.setUp();
  const good = join(proving.directory, "foreign-good.db");
  const target = ProvedAppliance.in(proving, join(proving.directory, "foreign-target"));
  const wrong: string[] = [];
  await appliance.run(["backup", good]);
  for (const [name, sql] of Object.entries(FOREIGN)) {
    const file = join(proving.directory, "foreign.db");
    copyFileSync(good, file);
    const db = new Database(file, { readwrite: true });
    db.run(sql);
    db.close(true);
    const ended = {
      "verify --backup": await appliance.run(["verify", "--backup", file]),
      "serve --read-only": await appliance.run(["serve", "--read-only", file, "--listen", "127.0.0.1:0"]),
      restore: await target.run(["restore", file]),
    };
    for (const [command, { code, out, err }] of Object.entries(ended))
      if (code !== 3 || out !== "" || !isOneSentence(err) || !err.includes(`holds the ${name}, which`))
        wrong.push(`${command} with the ${name}: ${code} ${out}${err}`);
    if (existsSync(target.place.seen)) wrong.push(`restore of the ${name} leaves a data folder`);
  }
  return {
    findings: [
      finding(
        "a backup with objects foreign to netledger is refused by name, with status 3, by verify --backup, serve --read-only and restore",
        wrong.length === 0,
        `${Object.keys(FOREIGN).length} backups, three commands each${told(wrong)}`,
      ),
    ],
  };
}
