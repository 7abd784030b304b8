// Foreign schema objects in a backup: every object not created by a migration is rejected by name before any row is
// read, on verification and on restore, in any version.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { restoreBackup } from "../../src/backup/restore.ts";
import { systemRandom } from "../../src/base/random.ts";
import type { ProcessIo } from "../../src/cli/command.ts";
import { verify } from "../../src/cli/verify.ts";
import { openWritable, type Sql } from "../../src/db/connection.ts";
import { TestClock } from "../support/appliance/appliance.ts";
import { toEarlierSchema } from "../support/store/earlier-schema.ts";
import { Store } from "../support/store/store.ts";

let scratch: string;
const file = (name: string) => join(scratch, name);

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), "netledger-foreign-"));
  const store = new Store();
  store.db.$client.run(`VACUUM INTO '${file("good.db")}'`);
  toEarlierSchema(store.db.$client);
  store.db.$client.run(`VACUUM INTO '${file("earlier.db")}'`);
  store.close();
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** @returns the operator's message; null for success */
const restoreError = (path: string) => {
  const directory = file("restored");
  try {
    restoreBackup({ file: path, directory, mayReplace: false, mayDropSecrets: false, now: 0, random: systemRandom });
    return null;
  } catch (error) {
    return String(error);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};
const verifyError = async (path: string) => {
  try {
    const io = { clock: new TestClock(), random: systemRandom, print: async () => {} } as unknown as ProcessIo;
    return (await verify.execute(["--data", scratch, "--backup", path], io)) === 0 ? null : "not sound";
  } catch (error) {
    return String(error);
  }
};

/** A tampered copy, in the form of a backup by `serve`: without a log, in rollback journal mode. */
function tamperedCopy(source: string, act: (db: Sql) => void): string {
  const path = file("tampered.db");
  copyFileSync(file(source), path);
  const db = openWritable(path);
  act(db);
  db.$client.run("PRAGMA journal_mode = DELETE");
  db.$client.close();
  return path;
}

const FOREIGN: ReadonlyArray<readonly [name: string, act: (db: Sql) => void]> = [
  [
    'view "history_transactions"',
    ({ $client }) => {
      for (const trigger of ["are_never_changed", "are_never_deleted", "are_appended"])
        $client.run(`DROP TRIGGER history_transactions_${trigger}`);
      $client.run("ALTER TABLE history_transactions RENAME TO aside");
      $client.run("CREATE VIEW history_transactions AS SELECT * FROM aside");
    },
  ],
  ['view "extra"', ({ $client }) => $client.run("CREATE VIEW extra AS SELECT 1")],
  ['table "notes"', ({ $client }) => $client.run("CREATE TABLE notes (text)")],
  // With SQLite's shadow tables.
  ['table "words_idx"', ({ $client }) => $client.run("CREATE VIRTUAL TABLE words USING fts5 (text)")],
  [
    'trigger "notify" on "sessions"',
    ({ $client }) => $client.run("CREATE TRIGGER notify AFTER DELETE ON sessions BEGIN SELECT 1; END"),
  ],
  ['index "by_name" on "hosts"', ({ $client }) => $client.run("CREATE INDEX by_name ON hosts (abs(n))")],
];

test.each(FOREIGN)("a backup with an unexpected %s is refused", async (name, act) => {
  const path = tamperedCopy("good.db", act);
  const bytes = Bun.hash(readFileSync(path));
  const sentence = `DatabaseRefused: ${path} holds the ${name}, which netledger did not create`;
  expect(await verifyError(path)).toStartWith(sentence);
  expect(restoreError(path)).toStartWith(sentence);
  expect([Bun.hash(readFileSync(path)), existsSync(`${path}-wal`)]).toEqual([bytes, false]);
});

/** Changed SQL text of a schema object, which no statement can produce. */
test.each([
  ['table "vlans"', "CHECK (number BETWEEN 1 AND 4094)", "CHECK (number BETWEEN 0 AND 4094)"],
  [
    'trigger "history_records_are_never_deleted" on "history_records"',
    "ledger: a record is never deleted",
    "ledger: a record is never DELETED",
  ],
  // SQLite's own table behind a full-text index.
  [
    'table "history_search_data"',
    "'history_search_data'(id INTEGER PRIMARY KEY, block BLOB",
    "'history_search_data'(id INTEGER PRIMARY KEY, block TEXT",
  ],
])("a backup with an altered %s is refused", async (name, from, to) => {
  const path = file("tampered.db");
  const text = readFileSync(file("good.db")).toString("latin1");
  // Split pages keep their old content.
  const changed = text.replaceAll(from, to);
  expect(changed).not.toBe(text);
  writeFileSync(path, Buffer.from(changed, "latin1"));
  const sentence = `DatabaseRefused: ${path} holds the ${name}, which netledger did not create: `;
  expect(await verifyError(path)).toStartWith(sentence);
  expect(restoreError(path)).toStartWith(sentence);
});

test("a backup of an earlier schema is compared with that schema", () => {
  expect(restoreError(file("earlier.db"))).toBeNull();
  const name = "hosts_by_engine_id";
  const later = tamperedCopy("earlier.db", ({ $client }) => $client.run(`CREATE INDEX ${name} ON tags (n)`));
  expect(restoreError(later)).toContain(`the index "${name}" on "tags", which netledger did not create: it cannot`);
  const twoObjects = tamperedCopy("earlier.db", ({ $client }) =>
    $client.run("CREATE VIEW a AS SELECT 1; CREATE TRIGGER b AFTER INSERT ON tags BEGIN SELECT 1; END"),
  );
  expect(restoreError(twoObjects)).toContain('holds the view "a", which netledger did not create (and 1 more)');
});

test("a backup with SQLite's statistics or a missing index is accepted; verify reports the index", async () => {
  expect(await verifyError(tamperedCopy("good.db", ({ $client }) => $client.run("ANALYZE")))).toBeNull();
  const path = tamperedCopy("good.db", ({ $client }) => $client.run("DROP INDEX hosts_by_network"));
  expect(await verifyError(path)).toBe("not sound");
  expect(restoreError(path)).toContain("schema: index hosts_by_network, on hosts: is missing");
});
