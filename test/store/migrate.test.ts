// Migrations: their file numbers, and the upgrade of an existing store by test migrations and upcasters: fields added
// and renamed, indexed columns with their backfill, tables outside the ledger, and a kill half-way.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { sessions } from "../../src/access/tables.ts";
import { openWritable, type Sql } from "../../src/db/connection.ts";
import {
  APPLICATION_ID,
  MIGRATIONS,
  makeSchema,
  migrate,
  PrereleaseDatabase,
  refuseForeignFile,
  SCHEMA_VERSION,
  schemaVersionOf,
} from "../../src/db/files/migrate.ts";
import { type AnyKind, type Kind, liveColumns, type RecordBase } from "../../src/db/kind.ts";
import { checkedTables, walkChecked, withChecksum } from "../../src/db/row-checksum.ts";
import { rowSumOf } from "../../src/db/row-sums.ts";
import { addField, renameField } from "../../src/db/shape.ts";
import { outcomeOf, type WriteReply, Writer } from "../../src/db/writing/writer.ts";
import { upgradeStore } from "../../src/history/upgrade.ts";
import { rebuildPastWithin } from "../../src/history/verify/rebuild.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/records/resources.ts";
import { networks } from "../../src/resources/networks/network.ts";
import { tagKind } from "../../src/resources/tags/tag.ts";
import { HANG_MS } from "../support/measure/limits.ts";
import { scratchParent } from "../support/measure/scratch-parent.ts";
import { EARLIER_SCHEMA, toEarlierSchema } from "../support/store/earlier-schema.ts";
import { populate } from "../support/store/population.ts";
import { request, Store, tagFields } from "../support/store/store.ts";

const ROOT = resolve(import.meta.dir, "../..");
const FOLDER = join(ROOT, "migrations");
/** The first migration is 36: earlier numbers were in use before the first release. */
const FIRST = 36;

/** Record of a test kind: first with a `title`, then also a `color`, then with a `name` instead of the title. */
interface Gadget extends RecordBase {
  readonly network_id: string;
  readonly title?: string;
  readonly name?: string;
  readonly color?: string | null;
  readonly tags: readonly string[];
}

const TITLED = SCHEMA_VERSION + 1;
const COLORED = SCHEMA_VERSION + 2;
const INDEXED = SCHEMA_VERSION + 3;
const NAMED = SCHEMA_VERSION + 4;

/** Test migrations by version. One without SQL adds or renames fields of records. */
const TEST_MIGRATIONS = [
  `CREATE TABLE gadgets (n INTEGER PRIMARY KEY REFERENCES history_records (n), organization_n INTEGER NOT NULL,
     network_n INTEGER NOT NULL, sequence INTEGER NOT NULL, identity TEXT UNIQUE, composed INTEGER NOT NULL,
     sort_keys TEXT, members TEXT NOT NULL) STRICT`,
  "-- Gadgets have a color: Red for existing ones.",
  `ALTER TABLE gadgets ADD COLUMN color TEXT;
   CREATE INDEX gadgets_by_color ON gadgets (color) WHERE color IS NOT NULL;`,
  "-- The title is called name.",
];
const migrationsTo = (version: number) => [...MIGRATIONS, ...TEST_MIGRATIONS.slice(0, version - SCHEMA_VERSION)];

/** The test kind as of a version. */
function gadgetAt(version: number): Kind<Gadget> {
  const upcasters = [addField(COLORED, "color", "Red"), renameField(NAMED, "title", "name")];
  const columns = {
    ...liveColumns,
    network_n: integer()
      .notNull()
      .references(() => networks.n),
  };
  const isIndexed = version >= INDEXED;
  return {
    name: "gadget",
    plural: "gadgets",
    code: 60,
    upcasters: upcasters.filter(({ migration }) => migration <= version),
    table: isIndexed
      ? sqliteTable("gadgets", { ...columns, color: text() })
      : (sqliteTable("gadgets", columns) as never),
    columns: ({ color = null }) => (isIndexed ? { color } : {}),
    scopes: { network: "network_id" },
    links: ({ tags }) => [{ relation: "tags", ids: tags }],
    observed: [],
    absent: "null",
    identity: ({ network_id, title, name }) => `${network_id}/${title ?? name}`,
    unique: null,
  };
}
const kindsAt = (version: number): AnyKind[] => [...KINDS, gadgetAt(version) as AnyKind];

/** Migrates a store to a version, as the executable of that version does. */
function upgradeTo(path: string, version: number): Sql {
  const db = openWritable(path);
  const upgrade = (...[target, from, added]: Parameters<typeof upgradeStore>) =>
    upgradeStore(target, from, added, kindsAt(version));
  migrate(db, path, upgrade, migrationsTo(version));
  return db;
}

const rowsOf = (db: Sql, sql: string) => db.$client.query(sql).values();
const LEDGER = "SELECT key, shape, changed, members, patch, hash FROM history_versions ORDER BY key";
const findingsOf = (db: Sql, version: number) =>
  verifyLedger(db, kindsAt(version)).findings.filter(
    ({ check, where }) => !(["file", "schema"].includes(check) && where.includes("gadgets")),
  );

let directory: string;
const fileOf = (name: string) => join(directory, `${name}.db`);
beforeAll(() => {
  directory = mkdtempSync(join(scratchParent(), "netledger-migrate-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe("the migrations", () => {
  test("are numbered without a gap, and the last number is the schema's", () => {
    const numbers = readdirSync(FOLDER)
      .sort()
      .map((file) => Number(file.slice(0, 4)));
    expect(numbers).toEqual(Array.from({ length: MIGRATIONS.length }, (_, index) => FIRST + index));
    expect(numbers.at(-1)).toBe(SCHEMA_VERSION);
  });

  test("have not changed since 0.2.0: existing stores are compared with their text, including comments", () => {
    const db = openWritable(":memory:");
    makeSchema(db, 40);
    const objects = rowsOf(db, "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY 1, 2");
    db.$client.close();
    expect(createHash("sha256").update(JSON.stringify(objects)).digest("hex")).toBe(
      "1fcfd985c519a175231000fbb7e5930a873b7abd6e10df4787bd3a6cfeb7a52a",
    );
  });

  test("refuse a schema from before the first release, and leave its data unchanged", () => {
    const path = fileOf("unreleased");
    const db = openWritable(path);
    db.$client.run(
      `CREATE TABLE tags (n INTEGER); PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 35`,
    );
    expect(() => migrate(db, path, upgradeStore)).toThrow(PrereleaseDatabase);
    db.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
    db.$client.close();
    const bytes = readFileSync(path);
    expect(() => refuseForeignFile(path)).toThrow(
      `${path} was written by a netledger before 0.2.0 (schema 35) and was left untouched: this version cannot upgrade it.`,
    );
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });
});

describe("a store with records", () => {
  /** Store of the version that introduced gadgets. */
  const before = () => fileOf("titled");
  const titles = ["first", 'a "quoted" title', "ümlaut"];

  beforeAll(() => {
    const store = new Store({ kinds: kindsAt(TITLED), migration: TEST_MIGRATIONS[0] as string });
    const kind = gadgetAt(TITLED);
    const tag = store.create(tagKind, tagFields(store.organizationId, "one"));
    const ids = titles.map(
      (title) => store.create(kind, { network_id: store.networkId, title, tags: [tag.id] } as never).id,
    );
    store.write((tx) => tx.update(kind, ids[0] as string, { title: "renamed" } as never));
    store.write((tx) => tx.remove(kind, ids[2] as string));
    store.db.$client.run(`PRAGMA user_version = ${TITLED}`);
    store.db.$client.run(`VACUUM INTO '${before()}'`);
    store.close();
  });

  const live = (db: Sql) => rowsOf(db, "SELECT n, sequence, members, color FROM gadgets ORDER BY n");

  test("gets fields, an indexed column and a renamed field, together or one by one, with an unchanged ledger", () => {
    const [atOnce, oneByOne] = [fileOf("at-once"), fileOf("one-by-one")];
    for (const path of [atOnce, oneByOne]) copyFileSync(before(), path);
    const written = openWritable(before());
    const ledger = rowsOf(written, LEDGER);
    const links = rowsOf(written, "SELECT * FROM live_links ORDER BY 1, 2, 3");
    written.$client.close();
    for (const version of [COLORED, INDEXED]) {
      const db = upgradeTo(oneByOne, version);
      expect(schemaVersionOf(db)).toBe(version);
      expect(findingsOf(db, version)).toEqual([]);
      db.$client.close();
    }
    const [direct, stepwise] = [upgradeTo(atOnce, NAMED), upgradeTo(oneByOne, NAMED)];
    for (const db of [direct, stepwise]) {
      expect(findingsOf(db, NAMED)).toEqual([]);
      expect(rowsOf(db, LEDGER)).toEqual(ledger);
      expect(rowsOf(db, "SELECT * FROM live_links ORDER BY 1, 2, 3")).toEqual(links);
      expect(rowsOf(db, "SELECT count(*) FROM gadgets INDEXED BY gadgets_by_color WHERE color = 'Red'")).toEqual([[2]]);
      const records = live(db).map((row) => JSON.parse(`{${row[2]}}`));
      expect(records).toMatchObject([
        { name: "renamed", color: "Red" },
        { name: titles[1], color: "Red" },
      ]);
      expect(records.some((record) => "title" in record)).toBe(false);
    }
    expect(live(direct)).toEqual(live(stepwise));
    const schema = "SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2";
    expect(rowsOf(direct, schema)).toEqual(rowsOf(stepwise, schema));
    for (const db of [direct, stepwise]) db.$client.close();
  });

  test("gets an indexed column filled even without a new upcaster", () => {
    const path = fileOf("indexed");
    copyFileSync(before(), path);
    upgradeTo(path, COLORED).$client.close();
    const db = upgradeTo(path, INDEXED);
    expect(live(db).map((row) => row[3])).toEqual(["Red", "Red"]);
    expect(findingsOf(db, INDEXED)).toEqual([]);
    db.$client.close();
  });

  test("accepts writes in its new shape", () => {
    const path = fileOf("written");
    copyFileSync(before(), path);
    const db = upgradeTo(path, NAMED);
    const kind = gadgetAt(NAMED);
    const writer = new Writer({
      db,
      kinds: kindsAt(NAMED),
      commands: { test: (tx, input: (transaction: typeof tx) => unknown) => input(tx) },
      clock: { now: () => Date.UTC(2027, 0, 1) },
      random: new Store().random,
    });
    const [id] = rowsOf(db, "SELECT r.id FROM gadgets g JOIN history_records r ON r.n = g.n ORDER BY g.n")[0] as [
      string,
    ];
    const reply = writer.execute([request((tx) => tx.update(kind, id, { color: "Blue" } as never))])[0] as WriteReply;
    expect(outcomeOf(reply).sequence).not.toBeNull();
    expect(live(db).map((row) => row[3])).toEqual(["Blue", "Red"]);
    expect(rowsOf(db, "SELECT shape, changed FROM history_versions ORDER BY key & 2147483647 DESC LIMIT 1")).toEqual([
      [3, '["color"]'],
    ]);
    expect(findingsOf(db, NAMED)).toEqual([]);
    writer.close();
  });
});

describe("an upgrade", () => {
  let path: string;
  let db: Sql;
  let number = 0;
  const added = (sql: string) => [...MIGRATIONS, sql];

  beforeEach(() => {
    number += 1;
    path = fileOf(`filled-${number}`);
    const store = new Store();
    populate(store);
    store.db.$client.run(`VACUUM INTO '${path}'`);
    store.close();
    db = openWritable(path);
  });
  afterAll(() => db.$client.close());

  test("has access to all tables and the previous schema, runs once, and is atomic", () => {
    const { $client: client } = db;
    toEarlierSchema(client);
    const count = () => rowsOf(db, "SELECT count(*) FROM sqlite_schema");
    const before = count();
    expect(() => migrate(db, path)).toThrow("an existing store requires an upgrade function");
    const failing = () => {
      client.run("DELETE FROM idempotency_keys");
      client.run("DELETE FROM sessions");
      throw new Error("the upgrade failed");
    };
    expect(() => migrate(db, path, failing)).toThrow("the upgrade failed");
    expect(count()).toEqual(before);
    expect(schemaVersionOf(db)).toBe(EARLIER_SCHEMA);

    const upgradedFrom: number[] = [];
    const upgrade = (upgraded: Sql, from: number) => {
      expect([upgraded === db, client.inTransaction]).toEqual([true, true]);
      client.run("DELETE FROM idempotency_keys");
      upgradedFrom.push(from);
    };
    migrate(db, path, upgrade);
    migrate(db, path, upgrade);
    expect(upgradedFrom).toEqual([EARLIER_SCHEMA]);
    const newDatabase = openWritable(":memory:");
    migrate(newDatabase, ":memory:", upgrade);
    newDatabase.$client.close();
    expect(upgradedFrom).toEqual([EARLIER_SCHEMA]);
    expect(verifyLedger(db, KINDS).findings).toEqual([]);
  });

  test("runs the steps of the missing migrations, in order", () => {
    const executed: number[] = [];
    const steps = [37, 40, 41, 42].map((migration) => ({ migration, run: () => void executed.push(migration) }));
    const rebuild = { migration: 43, run: (target: Sql) => rebuildPastWithin(target, KINDS) };
    db.$client.run("DELETE FROM history_change_counts");
    db.$client.transaction(() => upgradeStore(db, 40, new Map(), KINDS, [...steps, rebuild]))();
    expect(executed).toEqual([41, 42]);
    expect(verifyLedger(db, KINDS).findings).toEqual([]);
  });

  test("includes an added column in the checksums of a table outside the ledger: damaged rows stay damaged", () => {
    const { $client: client } = db;
    client.run("PRAGMA foreign_keys = OFF");
    migrate(db, path, upgradeStore);
    // More rows than one step processes.
    for (let i = 1; i <= 5_000; i += 1) {
      const hash = Buffer.from(createHash("sha256").update(String(i)).digest());
      const origin = { last_used_from: null, user_agent: null };
      const row = { hash, user_n: i % 7, created_at: 1_000 + i, last_used_at: 2_000 + i, ...origin };
      db.insert(sessions).values(withChecksum(sessions, row)).run();
    }
    client.run("UPDATE sessions SET last_used_at = last_used_at + 1 WHERE created_at IN (1001, 3500, 6000)");
    expect(damagedIn(db)).toBe(3);
    migrate(db, path, upgradeStore, added("ALTER TABLE sessions ADD COLUMN device TEXT;"));
    expect([damagedIn(db), rowSumOf(db, "sessions").isMatching]).toEqual([3, true]);
    client.run("UPDATE sessions SET device = 'phone' WHERE created_at = 1002");
    expect(damagedIn(db)).toBe(4);
  });

  test("starts counting the rows of a new table with checksums, and still detects losses in others", () => {
    const notes = "CREATE TABLE notes (n INTEGER PRIMARY KEY, checksum INTEGER NOT NULL) STRICT;";
    db.$client.run("DELETE FROM user_passwords");
    migrate(db, path, upgradeStore, added(`${notes} INSERT INTO notes VALUES (1, 5), (2, -7);`));
    db.$client.run("INSERT INTO notes VALUES (3, 1)");
    expect(rowSumOf(db, "notes")).toMatchObject({ rows: 3, written: 3, isMatching: true });
    expect(rowSumOf(db, "user_passwords").isMatching).toBe(false);
  });

  test("leaves the store unchanged if killed halfway, and is completed by the next start", async () => {
    const before = (["history_versions", "tags", "row_sums", "sqlite_schema"] as const).map(
      (table) => [table, rowsOf(db, `SELECT * FROM ${table}`)] as const,
    );
    db.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
    db.$client.close();
    const sql = "CREATE TABLE notes (n INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, text TEXT) STRICT;";
    const script = fileOf("killed").replace(/db$/, "ts");
    writeFileSync(
      script,
      `import { openWritable } from "${ROOT}/src/db/connection.ts";
       import { MIGRATIONS, migrate } from "${ROOT}/src/db/files/migrate.ts";
       import { rebuildLiveWithin } from "${ROOT}/src/history/verify/rebuild.ts";
       import { KINDS } from "${ROOT}/src/records/resources.ts";
       const db = openWritable(${JSON.stringify(path)});
       // Writes pages before the commit.
       db.$client.run("PRAGMA cache_size = 10");
       migrate(db, "", () => {
         rebuildLiveWithin(db, KINDS);
         db.$client.run("DELETE FROM live_links");
         db.$client.run("WITH RECURSIVE i (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 3000) INSERT INTO notes SELECT n, 0, hex(zeroblob(500)) FROM i");
         console.log("half-way");
         Bun.sleepSync(${HANG_MS});
       }, [...MIGRATIONS, ${JSON.stringify(sql)}]);`,
    );
    const child = Bun.spawn([process.execPath, script], { stdout: "pipe", stderr: "inherit" });
    const output = await child.stdout.getReader().read();
    expect(new TextDecoder().decode(output.value)).toBe("half-way\n");
    child.kill("SIGKILL");
    await child.exited;
    expect(existsSync(`${path}-wal`) && readFileSync(`${path}-wal`).length).toBeGreaterThan(1_000_000);

    db = openWritable(path);
    expect(schemaVersionOf(db)).toBe(SCHEMA_VERSION);
    for (const [table, rows] of before) expect([table, rowsOf(db, `SELECT * FROM ${table}`)]).toEqual([table, rows]);
    migrate(db, path, upgradeStore);
    expect(verifyLedger(db, KINDS).findings).toEqual([]);
    migrate(db, path, upgradeStore, added(sql));
    expect(schemaVersionOf(db)).toBe(SCHEMA_VERSION + 1);
    expect(rowSumOf(db, "notes")).toMatchObject({ rows: 0, isMatching: true });
  });
});

/** Number of rows outside the ledger with wrong checksums. */
function damagedIn(db: Sql): number {
  let count = 0;
  for (const table of checkedTables(db))
    for (const _ of walkChecked(db, table, (step) => (count += step.filter(({ isIntact }) => !isIntact).length)));
  return count;
}
