// A database as an earlier version wrote it, and what that version answered about it: fixtures, made by the code of
// then.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openWritable } from "../../../src/db/connection.ts";
import { APPLICATION_ID } from "../../../src/db/files/migrate.ts";
import type { Wire } from "../appliance/factories.ts";
import { unguarded } from "./unguarded.ts";

const MIGRATIONS = join(import.meta.dir, "../../../migrations");
const FIXTURE = join(import.meta.dir, "../../fixtures/store-of-schema-6");
/** The schema that the fixture was written at. */
const FIXTURE_SCHEMA = 6;

/** What the version of then answered, after history was thinned. */
interface EarlierAnswers {
  /** Up to which instant history was thinned, daily; and when all of this was answered. */
  readonly thinnedBefore: string;
  readonly now: string;
  readonly ownerId: string;
  readonly memberId: string;
  readonly ids: Readonly<Record<"networkId" | "lab" | "gone" | "again" | "spare" | "host" | "tag", string>>;
  readonly instants: readonly string[];
  /** By path, the ETag of a record. */
  readonly etags: Readonly<Record<string, string>>;
  /** By caller and path: the envelope, or the text of a CSV. */
  readonly answers: Readonly<Record<"owner" | "member", Readonly<Record<string, Wire | string>>>>;
}

/**
 * Writes the fixture to a file, as a database of a schema up to the one that it was written at: what came later is left
 * out.
 */
export function writeEarlierStore(path: string, schema = FIXTURE_SCHEMA): void {
  const db = openWritable(path);
  const client = db.$client;
  for (const file of readdirSync(MIGRATIONS).sort().slice(0, schema))
    client.run(readFileSync(join(MIGRATIONS, file), "utf8"));
  // The rows stand table by table, in no order that a ledger would take.
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
  // The fixture's users are signed in without one.
  client.run("INSERT OR IGNORE INTO user_passwords (user_n, hash) SELECT n, 'kept' FROM users");
  client.run(`PRAGMA application_id = ${APPLICATION_ID}`);
  client.run(`PRAGMA user_version = ${schema}`);
  client.close();
}

export function earlierAnswers(): EarlierAnswers {
  return JSON.parse(readFileSync(`${FIXTURE}.json`, "utf8")) as EarlierAnswers;
}
