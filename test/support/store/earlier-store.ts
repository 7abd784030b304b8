// Database written by an earlier version, and that version's answers about it: fixtures made by the earlier code.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openWritable } from "../../../src/db/connection.ts";
import { APPLICATION_ID } from "../../../src/db/files/migrate.ts";
import type { Wire } from "../appliance/factories.ts";
import { unguarded } from "./unguarded.ts";

const MIGRATIONS = join(import.meta.dir, "../../../migrations");
const FIXTURE = join(import.meta.dir, "../../fixtures/store-of-schema-6");
/** Schema version of the fixture. */
const FIXTURE_SCHEMA = 6;

/** Answers of the earlier version, after a prune. */
interface EarlierAnswers {
  /** End of the history thinned to daily states, and time of the answers. */
  readonly thinnedBefore: string;
  readonly now: string;
  readonly ownerId: string;
  readonly memberId: string;
  readonly ids: Readonly<Record<"networkId" | "lab" | "gone" | "again" | "spare" | "host" | "tag", string>>;
  readonly instants: readonly string[];
  /** ETag of a record, by path. */
  readonly etags: Readonly<Record<string, string>>;
  /** By caller and path: the envelope, or CSV text. */
  readonly answers: Readonly<Record<"owner" | "member", Readonly<Record<string, Wire | string>>>>;
}

/** Writes the fixture to a file, as a database of a schema up to the fixture's: tables of later ones are omitted. */
export function writeEarlierStore(path: string, schema = FIXTURE_SCHEMA): void {
  const db = openWritable(path);
  const client = db.$client;
  for (const file of readdirSync(MIGRATIONS).sort().slice(0, schema))
    client.run(readFileSync(join(MIGRATIONS, file), "utf8"));
  // Rows are in table order, which violates the ledger's references.
  client.run("PRAGMA foreign_keys = OFF");
  const tables = new Set(
    (client.query("SELECT name FROM sqlite_schema WHERE type = 'table'").values() as Array<[string]>).map(
      ([name]) => name,
    ),
  );
  const inserts = readFileSync(`${FIXTURE}.sql`, "utf8")
    .split(/^(?=INSERT INTO )/m)
    .slice(1);
  unguarded(
    db,
    inserts.filter((insert) => tables.has(insert.split(" ", 3)[2] as string)),
  );
  // The fixture's users have sessions but no passwords.
  client.run("INSERT OR IGNORE INTO user_passwords (user_n, hash) SELECT n, 'kept' FROM users");
  client.run(`PRAGMA application_id = ${APPLICATION_ID}`);
  client.run(`PRAGMA user_version = ${schema}`);
  client.close();
}

export function earlierAnswers(): EarlierAnswers {
  return JSON.parse(readFileSync(`${FIXTURE}.json`, "utf8")) as EarlierAnswers;
}
