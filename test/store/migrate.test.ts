// Migration of a store with an earlier schema: all later additions, built from its ledger.

import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openReadOnly, openWritable, type Sql } from "../../src/db/connection.ts";
import {
  ADDS_LASTING_RECORDS,
  ADDS_SESSION_ORIGINS,
  APPLICATION_ID,
  HASHES_IDEMPOTENCY_KEYS,
  migrate,
  SCHEMA_VERSION,
} from "../../src/db/files/migrate.ts";
import { checkedTables, stampChecksums, walkChecked } from "../../src/db/row-checksum.ts";
import { settleRowSums, summedTables } from "../../src/db/row-sums.ts";
import { upgradeStore } from "../../src/history/upgrade.ts";
import { describeReport, verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/records/resources.ts";
import { acceptancesAt } from "../../src/resources/conflict-acceptances/acceptance.ts";
import { endedInto } from "../../src/resources/consolidations/consolidation.ts";
import { takeForDropped, trySecrets } from "../../src/resources/credentials/sealed-secrets.ts";
import { writeEarlierStore } from "../support/store/earlier-store.ts";
import { populate } from "../support/store/population.ts";
import { Store } from "../support/store/store.ts";

const MIGRATIONS = join(import.meta.dir, "../../migrations");
/** The last schema without changes in commit order and without search. */
const EARLIER = 3;

test("migrations are numbered in order without gaps: the last number is the schema's", () => {
  const numbers = readdirSync(MIGRATIONS)
    .sort()
    .map((file) => Number(file.slice(0, 4)));
  expect(numbers).toEqual(Array.from({ length: SCHEMA_VERSION }, (_, place) => place + 1));
});

test("a store of an earlier schema is upgraded with its derived data, and verifies", () => {
  const directory = mkdtempSync(join(tmpdir(), "netledger-migrate-"));
  const [path, later] = [join(directory, "earlier.db"), join(directory, "later.db")];
  writeEarlierStore(path, EARLIER);
  writeEarlierStore(later);
  const [db, other] = [openWritable(path), openWritable(later)];
  migrate(db, path, upgradeStore);
  migrate(other, later, upgradeStore);
  const rows = (table: string, of = db) => of.$client.query(`SELECT * FROM ${table} ORDER BY 1, 2`).values();
  for (const table of [
    "history_activity",
    "history_change_counts",
    "history_search_texts",
    "history_word_places",
    "history_span_blocks",
    "observations",
    "user_passwords",
  ]) {
    expect(rows(table).length).toBeGreaterThan(0);
    expect(rows(table)).toEqual(rows(table, other));
  }
  expect(db.$client.query("PRAGMA user_version").values()).toEqual([[SCHEMA_VERSION]]);
  other.$client.close();
  db.$client.close();
  const readOnly = openReadOnly(path);
  expect(verifyLedger(readOnly, KINDS).findings).toEqual([]);
  readOnly.$client.close();
});

test("code run by a migration sees all tables and the former schema, once, in the same transaction", () => {
  const path = join(mkdtempSync(join(tmpdir(), "netledger-migrate-")), "earlier.db");
  const db = openWritable(path);
  const client = db.$client;
  for (const file of readdirSync(MIGRATIONS).sort().slice(0, EARLIER))
    client.run(readFileSync(join(MIGRATIONS, file), "utf8"));
  client.run(`PRAGMA application_id = ${APPLICATION_ID}`);
  client.run(`PRAGMA user_version = ${EARLIER}`);
  const count = () => client.query("SELECT count(*) FROM sqlite_schema").values()[0]?.[0];
  const before = count();

  expect(() => migrate(db, path)).toThrow("only a new store takes no upgrade");
  const failing = () => {
    client.run("DELETE FROM history_segments");
    throw new Error("the upgrade failed");
  };
  expect(() => migrate(db, path, failing)).toThrow("the upgrade failed");
  expect(count()).toBe(before);
  expect(client.query("PRAGMA user_version").values()).toEqual([[EARLIER]]);

  const seen: number[] = [];
  const upgrade = (each: typeof db, from: number) => {
    expect(each).toBe(db);
    expect(client.inTransaction).toBe(true);
    client.run("DELETE FROM discovery_scans");
    seen.push(from);
  };
  migrate(db, path, upgrade);
  migrate(db, path, upgrade);
  expect(seen).toEqual([EARLIER]);
  client.close();

  const fresh = openWritable(":memory:");
  migrate(fresh, ":memory:", upgrade);
  expect(seen).toEqual([EARLIER]);
  fresh.$client.close();
});

test("sessions from before usage addresses stay intact, or damaged, and continue", () => {
  const path = join(mkdtempSync(join(tmpdir(), "netledger-migrate-")), "earlier.db");
  const db = openWritable(path);
  const client = db.$client;
  const before = ADDS_SESSION_ORIGINS - 1;
  const files = readdirSync(MIGRATIONS).sort().slice(0, before);
  // Some contain only a comment.
  client.run(files.map((file) => readFileSync(join(MIGRATIONS, file), "utf8")).join("\n"));
  client.run(`PRAGMA application_id = ${APPLICATION_ID}`);
  client.run(`PRAGMA user_version = ${before}`);
  client.run("PRAGMA foreign_keys = OFF");
  // More than one step processes.
  client.run(
    `WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 5000)
     INSERT INTO sessions (hash, user_n, created_at, last_used_at, checksum)
     SELECT unhex(printf('%064x', i * 7919)), i % 7, 1000 + i, 2000 + i, 0 FROM s`,
  );
  stampChecksums(db);
  client.run("UPDATE sessions SET last_used_at = last_used_at + 1 WHERE created_at IN (1001, 3500, 6000)");
  expect(damaged(db)).toHaveLength(3);
  migrate(db, path, upgradeStore);
  expect(damaged(db)).toHaveLength(3);
  const rows = client.query("SELECT DISTINCT last_used_from, user_agent FROM sessions").values();
  expect(rows).toEqual([[null, null]]);
  client.run("UPDATE sessions SET last_used_from = '10.0.0.1' WHERE created_at = 1002");
  expect(damaged(db)).toHaveLength(4);
  client.close();
});

test("rows outside the ledger are counted from an upgrade on, and the next one does not accept losses", () => {
  const path = join(mkdtempSync(join(tmpdir(), "netledger-migrate-")), "earlier.db");
  writeEarlierStore(path);
  const db = openWritable(path);
  migrate(db, path, upgradeStore);
  expect(db.$client.query("SELECT name FROM row_sums ORDER BY name").values().flat()).toEqual(summedTables(db));
  expect(verifyLedger(db, KINDS).findings).toEqual([]);
  db.$client.close();
  const later = openWritable(path);
  later.$client.run("DELETE FROM user_passwords");
  migrate(later, path, upgradeStore);
  expect(verifyLedger(later, KINDS).findings).toContainEqual(
    expect.objectContaining({ check: "secret", where: "user_passwords" }),
  );
  later.$client.close();
});

test("a secret missing before an upgrade is treated as dropped", () => {
  const store = new Store();
  try {
    populate(store);
    store.db.$client.run("DELETE FROM credential_secrets");
    expect(verifyLedger(store.db, KINDS).findings).toHaveLength(1);
    takeForDropped(store.db);
    expect(verifyLedger(store.db, KINDS).findings).toEqual([]);
    expect(trySecrets(store.db, null)).toEqual({ total: 0, closed: 0 });
  } finally {
    store.close();
  }
});

test("an Idempotency-Key stored in the clear is replaced by its hash, and is gone from the file", () => {
  const path = join(mkdtempSync(join(tmpdir(), "netledger-migrate-")), "earlier.db");
  const db = openWritable(path);
  const client = db.$client;
  const before = HASHES_IDEMPOTENCY_KEYS - 1;
  const files = readdirSync(MIGRATIONS).sort().slice(0, before);
  client.run(files.map((file) => readFileSync(join(MIGRATIONS, file), "utf8")).join("\n"));
  client.run(`PRAGMA application_id = ${APPLICATION_ID}`);
  client.run(`PRAGMA user_version = ${before}`);
  client.run("PRAGMA foreign_keys = OFF");
  client.run(
    `WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 2000)
     INSERT INTO idempotency_keys (caller_n, key, at, sealed)
     SELECT i % 7, (i % 5) || ' nlk_sent' || i, i, randomblob(50 + i % 90) FROM s`,
  );
  stampChecksums(db);
  client.run("PRAGMA wal_checkpoint(TRUNCATE)");
  expect(readFileSync(path).includes("nlk_sent")).toBe(true);
  migrate(db, path, upgradeStore);
  expect(damaged(db)).toEqual([]);
  expect(client.query("SELECT count(*) FROM idempotency_keys WHERE length(key) = 64").values()).toEqual([[2_000]]);
  client.close();
  for (const file of [path, `${path}-wal`])
    if (existsSync(file)) expect([file, readFileSync(file).includes("nlk_sent")]).toEqual([file, false]);
});

test("acceptances and consolidations from before they were records get a version each, and the past is unchanged", () => {
  const path = join(mkdtempSync(join(tmpdir(), "netledger-migrate-")), "earlier.db");
  writeEarlierStore(path);
  const db = openWritable(path);
  migrate(db, path, upgradeStore);
  const { $client: client } = db;
  const one = (sql: string) => client.query(sql).values()[0] as number[];
  const [organization] = one("SELECT min(n) FROM organizations");
  const [network] = one("SELECT min(n) FROM networks");
  const [former, closedIn] = one(
    `SELECT v.key >> 31, v.key & 2147483647 FROM history_versions v JOIN history_records r ON r.n = v.key >> 31
     WHERE r.kind = 7 AND v.operation = 3 AND NOT EXISTS (SELECT 1 FROM hosts h WHERE h.n = r.n) LIMIT 1`,
  );
  const [into] = one("SELECT min(n) FROM hosts");
  // Restores the earlier state.
  client.run("DROP TABLE conflict_acceptances; DROP TABLE host_consolidations");
  for (const file of ["0021_conflict_acceptances.sql", "0031_consolidated_hosts.sql"])
    client.run(/CREATE TABLE [^;]+;/.exec(readFileSync(join(MIGRATIONS, file), "utf8"))?.[0] ?? "");
  const ids = ["a", "b", "c"].map((last) => `01936f2e-0d5c-7d3a-9a39-3f6f1f7a000${last}`);
  const add = client.prepare(
    `INSERT INTO conflict_acceptances VALUES (?, ${organization}, '[]', 'Address', '10.0.0.1', ?, 'why', 5000,
      '{"type":"User","id":null,"name":"Ann"}', ?, ?, 0)`,
  );
  add.run(ids[0] as string, "f0", null, null);
  add.run(ids[1] as string, "f1", 9000, '{"type":"User","id":null,"name":"Bob"}');
  add.run(ids[2] as string, "f2", null, null);
  add.finalize();
  client.run(
    `INSERT INTO host_consolidations VALUES (${former}, ${closedIn}, ${into}, ${network}, '["serial:a"]', '["mac:b"]', 0)`,
  );
  stampChecksums(db);
  settleRowSums(db, new Map());
  client.run("UPDATE conflict_acceptances SET value = '10.0.0.2' WHERE fingerprint = 'f2'");
  client.run(`PRAGMA user_version = ${ADDS_LASTING_RECORDS - 1}`);
  const versions = () => one("SELECT count(*) FROM history_versions")[0] as number;
  const before = versions();
  client.close();

  const upgraded = openWritable(path);
  migrate(upgraded, path, upgradeStore);
  const reader = { statement: (sql: string) => upgraded.$client.query(sql) };
  const accepted = (at: number | null) => [
    ...acceptancesAt(reader as never, organization as number, ["f0", "f1", "f2"], at).values(),
  ];
  // The migration does not repair damaged rows.
  expect([4999, 5000, 8999, 9000, null].map((at) => accepted(at).map(({ id }) => id))).toEqual([
    [],
    ids.slice(0, 2),
    ids.slice(0, 2),
    ids.slice(0, 1),
    ids.slice(0, 1),
  ]);
  expect(accepted(null)).toEqual([
    expect.objectContaining({
      reason: "why",
      accepted_at: "1970-01-01T00:00:05.000Z",
      accepted_by: { type: "User", id: null, name: "Ann" },
    }),
  ]);
  const asOf = { sequence: (closedIn as number) - 1, lastN: 1_000, present: false };
  const [intoId] = upgraded.$client.query(`SELECT id FROM history_records WHERE n = ${into}`).values()[0] as [string];
  expect(endedInto(reader as never, [former as number], asOf)).toEqual(new Map([[former as number, intoId]]));
  expect(upgraded.$client.query("SELECT count(*) FROM history_versions").values()).toEqual([[before + 3]]);
  const report = verifyLedger(upgraded, KINDS);
  expect([report.findings, [...report.lost]]).toEqual([[], [["conflict_acceptances", 1]]]);
  expect(describeReport(report)).toContain(
    "Lost before, as a repair or an upgrade found: 1 acceptance of a conflict\n",
  );
  upgraded.$client.close();
});

/** Rows outside the ledger with wrong checksums. */
function damaged(db: Sql): unknown[] {
  const rows: unknown[] = [];
  for (const table of checkedTables(db))
    for (const _ of walkChecked(db, table, (step) => rows.push(...step.filter(({ isWhole }) => !isWhole))));
  return rows;
}

test("after an upgrade, credentials are sent to the addresses that hosts had before, if assigned to these", () => {
  const covered = (assigned: string) => {
    const path = join(mkdtempSync(join(tmpdir(), "netledger-migrate-")), "earlier.db");
    writeEarlierStore(path);
    const db = openWritable(path);
    const members = `json_set('{' || members || '}', '$.ip_address_ids', ${assigned})`;
    db.$client.run(
      `UPDATE credential_assignments SET members = substr(${members}, 2, length(${members}) - 2)
        WHERE host_n IS NOT NULL`,
    );
    migrate(db, path, upgradeStore);
    const rows = db.$client
      .query("SELECT v.ip_address, v.since, v.until, v.origin FROM credential_coverage v ORDER BY 1")
      .values();
    const addresses = db.$client
      .query("SELECT i.ip_address FROM credential_assignments a JOIN ip_addresses i ON i.host_n = a.host_n ORDER BY 1")
      .values()
      .flat() as string[];
    expect(damaged(db)).toEqual([]);
    db.$client.close();
    return { rows, addresses };
  };
  const whole = covered("NULL");
  expect(whole.addresses).toEqual(["10.9.0.1", "10.9.0.2"]);
  expect(whole.rows).toEqual(whole.addresses.map((address) => [address, 0, null, "Upgraded"]));
  expect(covered(`json('["00000000-0000-4000-8000-000000000002"]')`).rows).toEqual([["10.9.0.2", 0, null, "Upgraded"]]);
});
