// Checksums of tables outside the ledger, on a store with rows in every table: detection of a change to any column,
// reports by table, and repair.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ProcessIo } from "../../src/cli/command.ts";
import { verify as verifyCommand } from "../../src/cli/verify.ts";
import { openReadOnly, openWritable, type Sql } from "../../src/db/connection.ts";
import { dataFiles } from "../../src/db/files/data-directory.ts";
import { writtenSql } from "../../src/db/packing.ts";
import { checkedTables } from "../../src/db/row-checksum.ts";
import { rebuildDerived } from "../../src/history/verify/rebuild.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/records/resources.ts";
import { credentialCoverage } from "../../src/resources/credential-assignments/coverage.ts";
import { USAGE_INTERVAL_MS } from "../../src/sessions/usage.ts";
import { newAppliance, TestClock } from "../support/appliance/appliance.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { scratchParent } from "../support/measure/scratch-parent.ts";
import { fillStore } from "../support/store/filled-store.ts";
import { recomputeChecksums, runUnguarded, withCopy as withCopyOf } from "../support/store/tampering.ts";

/** Tables covered by the hash chain or compared with the ledger; row_sums is compared with the other tables. */
const LEDGER = /^history_|^live_links$|^row_sums$/;
/** Findings about secrets that records require, reported until an operator sets them again. */
const UNTIL_SET_AGAIN = /^secret: .*: (has no password: set one|has no hash: rotate|its \w+ is missing: set it again)/;

const TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";

let directory: string;
let originalPath: string;
let copies = 0;

beforeAll(async () => {
  directory = mkdtempSync(join(scratchParent(), "netledger-outside-"));
  await fillStore(join(directory, "good"), Date.UTC(2026, 10, 24));
  originalPath = dataFiles(join(directory, "good")).database;
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A copy of the store, opened for writes without checks. */
function withCopy<T>(action: (db: Sql, path: string) => T): T {
  copies += 1;
  return withCopyOf(originalPath, join(directory, `copy${copies}`), action);
}

function readFrom<T>(path: string, read: (db: Sql) => T): T {
  const db = openReadOnly(path);
  try {
    return read(db);
  } finally {
    db.$client.close();
  }
}

function findingsOn(path: string): string[] {
  const { findings } = readFrom(path, (db) => verifyLedger(db, KINDS));
  return findings.map(({ check, where, message }) => `${check}: ${where}: ${message}`);
}

/** Expects the findings after a statement, one per line, to match. */
function expectFindings(statement: string, findings: RegExp): void {
  withCopy((db, path) => {
    runUnguarded(db, [statement]);
    expect(findingsOn(path).join("\n")).toMatch(findings);
  });
}

const namesIn = (db: Sql, sql: string, ...values: string[]) =>
  (db.$client.query(sql).values(...values) as string[][]).flat();

function count(db: Sql, table: string): number {
  return (db.$client.query(`SELECT count(*) AS count FROM ${table}`).get() as { count: number }).count;
}

async function run(folder: string, ...flags: string[]): Promise<{ status: number; text: string }> {
  let text = "";
  const processIo = {
    clock: new TestClock(),
    random: seededRandom(1),
    print: async (chunk: string) => void (text += chunk),
  } as unknown as ProcessIo;
  return { status: await verifyCommand.execute(["--data", folder, ...flags], processIo), text };
}

test("every table belongs to the ledger, is derived from it, or has checksums, and has rows in this store", () => {
  withCopy((db, path) => {
    expect(findingsOn(path)).toEqual([]);
    const checked = checkedTables(db).map(({ name }) => name);
    const live = KINDS.map(({ plural }) => plural);
    const names = namesIn(db, TABLES);
    expect(names.filter((name) => !LEDGER.test(name) && !live.includes(name) && !checked.includes(name))).toEqual([]);
    expect(checked.filter((name) => count(db, name) === 0)).toEqual([]);
  });
});

test("a change to any column of a table with checksums is detected until damaged rows are dropped", () => {
  const tables = withCopy((db) => checkedTables(db));
  expect(tables.length).toBeGreaterThan(10);
  for (const { name, columns } of tables) {
    for (const column of [...columns, "checksum"]) {
      withCopy((db, path) => {
        const [type] = namesIn(db, "SELECT type FROM pragma_table_info(?) WHERE name = ?", name, column);
        const changed =
          type === "INTEGER"
            ? `coalesce(${column}, 0) + 1`
            : type === "BLOB"
              ? `CAST(substr(${column}, 1, length(${column}) - 1) || x'07' AS BLOB)`
              : `coalesce(${column}, '') || ' '`;
        // The last row, so that a changed key does not collide.
        const keys = tables.find((table) => table.name === name)?.key ?? [];
        const order = keys.map((key) => `${key} DESC`).join(", ");
        runUnguarded(db, [
          `UPDATE ${name} SET ${column} = ${changed}
           WHERE (${keys.join(", ")}) = (SELECT ${keys.join(", ")} FROM ${name} ORDER BY ${order} LIMIT 1)`,
        ]);
        const found = findingsOn(path);
        expect([name, column, found]).toEqual([
          name,
          column,
          expect.arrayContaining([expect.stringMatching(/: does not match its checksum$/)]),
        ]);
        expect(found.filter((line) => !/^(observation|scan|memory|outcome|session|secret): /.test(line))).toEqual([]);
        if (column !== columns[0] && column !== "checksum") return;
        rebuildDerived(db, KINDS);
        const remaining = findingsOn(path).filter((line) => !UNTIL_SET_AGAIN.test(line));
        expect([name, column, remaining]).toEqual([name, column, []]);
      });
    }
  }
});

test("a row deleted with SQL is detected in every table, directly or through dependent rows", () => {
  // Virtual tables and their shadow tables are excluded.
  const ordinary = `SELECT name FROM pragma_table_list WHERE type = 'table' AND name IN (${TABLES})`;
  const tables = withCopy((db) => namesIn(db, ordinary));
  expect(tables.length).toBeGreaterThan(40);
  const undetected: string[] = [];
  for (const name of tables) {
    withCopy((db, path) => {
      const keys = namesIn(db, "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", name);
      const order = keys.map((key) => `${key} DESC`).join(", ");
      const key = `(${keys.join(", ")})`;
      const deleted = runUnguarded(db, [
        `DELETE FROM ${name} WHERE ${key} = (SELECT ${keys.join(", ")} FROM ${name} ORDER BY ${order} LIMIT 1)`,
      ]);
      expect([name, deleted]).toEqual([name, [1]]);
      if (findingsOn(path).length === 0) undetected.push(name);
    });
  }
  expect(undetected).toEqual([]);
});

test("verify reports tables by name, with the number of missing or extra rows", () => {
  const total = withCopy((db) => count(db, "discovery_findings"));
  expectFindings(
    "DELETE FROM discovery_findings WHERE ordinal > 0",
    new RegExp(`^scan: discovery_findings: has \\d+ rows: \\d+ of the ${total} written are missing$`),
  );
  expectFindings(
    "DELETE FROM discovery_served",
    /^memory: discovery_served: has 0 rows: 1 of the 1 written is missing$/,
  );
  // A row with a valid checksum that this store did not write.
  expectFindings(
    "INSERT INTO map_positions SELECT network_n, 'unknown-' || node_id, x, y, placed, checksum FROM map_positions LIMIT 1",
    /^memory: map_positions: has \d+ rows: 1 more than the \d+ written$/m,
  );
  expectFindings(
    "UPDATE sessions SET checksum = checksum + 1 WHERE user_n = (SELECT min(user_n) FROM sessions)",
    /^session: sessions: has \d+ rows, as many as were written, but not the same$/m,
  );
  expectFindings(
    "DELETE FROM row_sums WHERE name = 'sessions'",
    /^session: sessions: has \d+ rows, but the number written is unknown$/,
  );
  expectFindings(
    "INSERT INTO row_sums (name, rows, sum) VALUES ('tags', 0, 0)",
    /^memory: row_sums: counts "tags", which is not counted$/,
  );
});

test("missing secrets that records require are reported with the record, until set again", () => {
  for (const [table, finding] of [
    ["user_passwords", /^secret: user \S{36} \(n \d+\): has no password: set one with netledger user password$/],
    ["api_key_hashes", /^secret: api_key \S{36} \(n \d+\): has no hash: rotate the key$/],
    ["credential_secrets", /^secret: credential \S{36} \(n \d+\): its community is missing: set it again$/],
  ] as const)
    withCopy((db, path) => {
      runUnguarded(db, [`DELETE FROM ${table}`]);
      const before = findingsOn(path).filter((line) => UNTIL_SET_AGAIN.test(line));
      rebuildDerived(db, KINDS);
      expect(findingsOn(path)).toEqual(before);
      expect(before).toContainEqual(expect.stringMatching(finding));
    });
  expectFindings(
    "INSERT INTO credential_secrets SELECT credential_n, 'priv_password', sealed, 0 FROM credential_secrets WHERE field = 'community' LIMIT 1",
    /^secret: credential .*: a secret priv_password is stored that it does not have$/m,
  );
});

test("acceptances and consolidations are records: a missing one is reported, and rebuilt from the ledger", () => {
  withCopy((db, path) => {
    for (const table of ["conflict_acceptances", "host_consolidations"]) {
      const rows = () => db.$client.query(`SELECT * FROM ${table} ORDER BY n`).values();
      const before = rows();
      expect(before.length).toBeGreaterThan(0);
      runUnguarded(db, [`DELETE FROM ${table}`]);
      expect(findingsOn(path)).toContainEqual(
        expect.stringMatching(
          /^live: (conflict_acceptance|host_consolidation) .*: it is alive in the ledger, but has no live row$/,
        ),
      );
      rebuildDerived(db, KINDS);
      expect(rows()).toEqual(before);
      expect(findingsOn(path)).toEqual([]);
    }
  });
});

test("a word missing from the search index is detected, even if other words of its string are present", () => {
  withCopy((db, path) => {
    const { changes } = db.$client.run(`
      INSERT INTO history_search (history_search, rowid, text)
      SELECT 'delete', key, substr(text, 1, instr(text, ' ') - 1) FROM history_search_texts
        WHERE text LIKE '% %' LIMIT 1`);
    expect(changes).toBe(1);
    expect(findingsOn(path)).toEqual(["search: history_search: does not match the words of the stored text"]);
    rebuildDerived(db, KINDS);
    expect(findingsOn(path)).toEqual([]);
  });
});

/** Interfaces observed since their latest versions. */
const SEEN_ENTRIES = "SELECT n FROM if_entries ORDER BY n DESC LIMIT 3";

describe("netledger verify --repair-derived", () => {
  test("resets observations to those of the newest versions, drops damaged findings, and counts both", async () => {
    const { folder, intact, damaged } = withCopy((db, path) => {
      runUnguarded(db, [
        `UPDATE observations SET observed = replace(observed, '"last_seen_at":"2', '"last_seen_at":"1')
         WHERE n IN (${SEEN_ENTRIES})`,
        "UPDATE discovery_findings SET finding = replace(finding, '\"', '') WHERE ordinal = 1",
        "UPDATE user_passwords SET hash = hash || 'x' WHERE user_n = (SELECT max(user_n) FROM user_passwords)",
      ]);
      const damaged = count(db, "discovery_findings WHERE ordinal = 1");
      return { folder: join(path, ".."), intact: count(db, "discovery_findings") - damaged, damaged };
    });
    expect(damaged).toBeGreaterThan(0);
    const found = await run(folder);
    expect(found.status).toBe(1);
    expect(found.text).toMatch(/\n {2}observation: if_entry [0-9a-f-]{36} \(n \d+\): does not match its checksum\n/);
    expect(found.text).toMatch(
      /\n {2}scan: discovery_findings, scan_id "[0-9a-f-]{36}", ordinal 1: does not match its checksum\n/,
    );
    expect(found.text).toMatch(/\n {2}secret: user_passwords, user_n \d+: does not match its checksum\n/);
    expect(found.text).toEndWith("drops damaged rows outside it, and lists them.\n");
    const repaired = await run(folder, "--repair-derived");
    // Only an operator can set the password again.
    const lost = `${damaged} ${damaged === 1 ? "finding of a scan" : "findings of scans"}`;
    const remaining = `Lost earlier, as found by a repair: ${lost}
Lost earlier, as found by a repair: 1 password
  secret: user ID: has no password: set one with netledger user password
1 problem found.
`;
    const ids = /[0-9a-f-]{36} \(n \d+\)/g;
    expect(repaired.status).toBe(1);
    expect(repaired.text.replaceAll(ids, "ID")).toEndWith(remaining);
    expect((await run(folder)).text.replaceAll(ids, "ID")).toContain(remaining);
    expect(repaired.text).toContain(
      [
        "The data derived from the ledger were rebuilt.",
        `Dropped as damaged: ${lost}`,
        "Reset to the newest versions: 3 records' observation values",
        "Dropped as damaged: 1 password; set a new one with netledger user password",
        "",
      ].join("\n"),
    );
    readFrom(dataFiles(folder).database, (db) => {
      expect(count(db, "discovery_findings")).toBe(intact);
      const newest = `SELECT ${writtenSql("v", "observed")} FROM history_versions v WHERE v.key > (o.n << 31) AND v.key < ((o.n + 1) << 31)
         ORDER BY v.key DESC LIMIT 1`;
      const rows = db.$client
        .query(`SELECT o.observed, (${newest}) AS version FROM observations o WHERE o.n IN (${SEEN_ENTRIES})`)
        .values();
      expect(rows.length).toBe(3);
      for (const [observed, version] of rows) expect(observed).toBe(version as string);
    });
  });

  test("reports missing rows once as repaired and in every later run as lost, and accepts the remaining rows", async () => {
    const folder = withCopy((db, path) => {
      runUnguarded(db, [
        "DELETE FROM discovery_macs",
        "DELETE FROM sessions WHERE hash = (SELECT max(hash) FROM sessions)",
      ]);
      return join(path, "..");
    });
    expect((await run(folder)).status).toBe(1);
    const repaired = await run(folder, "--repair-derived");
    expect(repaired).toEqual({ status: 0, text: expect.stringMatching(/\nNo problems found\.\n$/) });
    expect(repaired.text).toMatch(
      /rebuilt\.\nMissing: \d+ MAC address(es)? that (a host is|hosts are) recognized by\nMissing: 1 session\n/,
    );
    const rerun = await run(folder);
    expect(rerun.status).toBe(0);
    expect(rerun.text).toContain("\nLost earlier, as found by a repair: 1 session\n");
  });

  test("counts findings dropped with a damaged scan", async () => {
    const { folder, findings } = withCopy((db, path) => {
      const scans = "SELECT scan_id, count(*) FROM discovery_findings GROUP BY scan_id ORDER BY 2 DESC LIMIT 1";
      const [[id, findings]] = db.$client.query(scans).values() as [[string, number]];
      runUnguarded(db, [`UPDATE discovery_scans SET outcome = replace(outcome, '{', '[') WHERE id = '${id}'`]);
      return { folder: join(path, ".."), findings };
    });
    expect(findings).toBeGreaterThan(1);
    const { text } = await run(folder, "--repair-derived");
    expect(text).toContain(`Dropped as damaged: ${findings} findings of scans\nDropped as damaged: 1 scan\n`);
    expect((await run(folder)).status).toBe(0);
  });
});

test("use of a damaged session does not make its checksum valid again", async () => {
  const appliance = await newAppliance();
  try {
    const db = openWritable(appliance.databasePath);
    db.$client.run("UPDATE sessions SET created_at = created_at + 1");
    const lastUsed = () =>
      (db.$client.query("SELECT max(last_used_at) AS at FROM sessions").get() as { at: number }).at;
    const before = lastUsed();
    appliance.clock.advance(USAGE_INTERVAL_MS);
    expect((await appliance.owner.get("/api/auth/me")).status).toBe(200);
    expect(lastUsed()).toBe(before + USAGE_INTERVAL_MS);
    db.$client.close();
    expect(findingsOn(appliance.databasePath)).toEqual([
      expect.stringMatching(/^session: sessions, hash "?[0-9a-f]{8}…"?: does not match its checksum$/),
    ]);
  } finally {
    await appliance.close();
  }
});

test("a credential coverage that ends before the first transaction is detected, although its checksum is zero", () => {
  withCopy((db, path) => {
    db.$client.run("UPDATE credential_coverage SET since = 0, until = NULL");
    recomputeChecksums(db, credentialCoverage);
    expect(db.$client.run("UPDATE credential_coverage SET until = 0").changes).toBeGreaterThan(0);
    expect(findingsOn(path).join("\n")).toContain("credential_coverage");
  });
});
