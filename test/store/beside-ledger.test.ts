// What is stored beside the ledger carries checksums: whatever is changed in any column of any of these tables is
// found, by name, dropped when told to, and counted. On a store that has rows in all of them.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ProcessIo } from "../../src/cli/command.ts";
import { verify as verifyCommand } from "../../src/cli/verify.ts";
import { openReadOnly, openWritable, type Sql } from "../../src/db/connection.ts";
import { dataFiles } from "../../src/db/files/data-directory.ts";
import { writtenSql } from "../../src/db/packing.ts";
import { checkedTables, stampChecksums } from "../../src/db/row-checksum.ts";
import { rebuildDerived } from "../../src/history/verify/rebuild.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/inventory/resources.ts";
import { USAGE_INTERVAL_MS } from "../../src/sign-in/usage.ts";
import { newAppliance, TestClock } from "../support/appliance/appliance.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { scratchParent } from "../support/measure/scratch-parent.ts";
import { fillStore } from "../support/store/filled-store.ts";
import { unguarded, withCopy as withCopyOf } from "../support/store/unguarded.ts";

/** What the hash chain proves, or what is compared with what the ledger implies. */
const LEDGER = /^history_|^live_links$/;

let directory: string;
let good: string;
let copies = 0;

beforeAll(async () => {
  directory = mkdtempSync(join(scratchParent(), "netledger-beside-"));
  await fillStore(join(directory, "good"), Date.UTC(2026, 10, 24));
  good = dataFiles(join(directory, "good")).database;
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A copy of the store, opened for writing past all checks. */
function withCopy<T>(act: (db: Sql, path: string) => T): T {
  copies += 1;
  return withCopyOf(good, join(directory, `copy${copies}`), act);
}

function findingsOn(path: string): string[] {
  const db = openReadOnly(path);
  try {
    return verifyLedger(db, KINDS).findings.map(({ check, where, message }) => `${check}: ${where}: ${message}`);
  } finally {
    db.$client.close();
  }
}

function count(db: Sql, table: string): number {
  return (db.$client.query(`SELECT count(*) AS count FROM ${table}`).get() as { count: number }).count;
}

async function run(folder: string, ...flags: string[]): Promise<{ status: number; text: string }> {
  let text = "";
  const processIo = {
    clock: new TestClock(),
    random: seededRandom(1),
    print: async (more: string) => void (text += more),
  } as unknown as ProcessIo;
  return { status: await verifyCommand.execute(["--data", folder, ...flags], processIo), text };
}

test("every table is of the ledger, implied by it, or has checksums; none of these is empty here", () => {
  withCopy((db, path) => {
    expect(findingsOn(path)).toEqual([]);
    const checked = checkedTables(db).map(({ name }) => name);
    const live = KINDS.map(({ plural }) => plural);
    const names = (
      db.$client
        .query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
        .values() as string[][]
    ).flat();
    expect(names.filter((name) => !LEDGER.test(name) && !live.includes(name) && !checked.includes(name))).toEqual([]);
    expect(checked.filter((name) => count(db, name) === 0)).toEqual([]);
  });
});

test("any changed column of any table that has checksums is found, and gone when what is damaged was dropped", () => {
  const tables = withCopy((db) => checkedTables(db));
  expect(tables.length).toBeGreaterThan(10);
  for (const { name, columns } of tables) {
    for (const column of [...columns, "checksum"]) {
      withCopy((db, path) => {
        const [{ type }] = db.$client
          .query("SELECT type FROM pragma_table_info(?) WHERE name = ?")
          .all(name, column) as [{ type: string }];
        const changed =
          type === "INTEGER"
            ? `coalesce(${column}, 0) + 1`
            : type === "BLOB"
              ? `CAST(substr(${column}, 1, length(${column}) - 1) || x'07' AS BLOB)`
              : `coalesce(${column}, '') || ' '`;
        // The last one, so that a key that is changed meets no other.
        const keys = tables.find((table) => table.name === name)?.key ?? [];
        const order = keys.map((key) => `${key} DESC`).join(", ");
        unguarded(db, [
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
        expect([name, column, findingsOn(path)]).toEqual([name, column, []]);
      });
    }
  }
});

test("a word that the search index has lost is found, though it has the other words of the text", () => {
  withCopy((db, path) => {
    const { changes } = db.$client.run(`
      INSERT INTO history_search (history_search, rowid, text)
      SELECT 'delete', key, substr(text, 1, instr(text, ' ') - 1) FROM history_search_texts
        WHERE text LIKE '% %' LIMIT 1`);
    expect(changes).toBe(1);
    expect(findingsOn(path)).toEqual(["search: history_search: does not match the words of the texts"]);
    rebuildDerived(db, KINDS);
    expect(findingsOn(path)).toEqual([]);
  });
});

/** Interfaces that were seen since their newest versions were written. */
const SEEN_ENTRIES = "SELECT n FROM if_entries ORDER BY n DESC LIMIT 3";

describe("netledger verify --repair-derived", () => {
  test("returns observations to those of the newest versions, drops damaged findings, and counts both", async () => {
    const { folder, kept, told } = withCopy((db, path) => {
      unguarded(db, [
        `UPDATE observations SET observed = replace(observed, '"last_seen_at":"2', '"last_seen_at":"1')
         WHERE n IN (${SEEN_ENTRIES})`,
        "UPDATE discovery_findings SET finding = replace(finding, '\"', '') WHERE ordinal = 1",
        "UPDATE user_passwords SET hash = hash || 'x' WHERE user_n = (SELECT max(user_n) FROM user_passwords)",
      ]);
      const damaged = (
        db.$client.query("SELECT count(*) AS count FROM discovery_findings WHERE ordinal = 1").get() as {
          count: number;
        }
      ).count;
      return { folder: join(path, ".."), kept: count(db, "discovery_findings") - damaged, told: damaged };
    });
    expect(told).toBeGreaterThan(0);
    const found = await run(folder);
    expect(found.status).toBe(1);
    expect(found.text).toMatch(/\n {2}observation: if_entry [0-9a-f-]{36} \(n \d+\): does not match its checksum\n/);
    expect(found.text).toMatch(
      /\n {2}scan: discovery_findings, scan_id "[0-9a-f-]{36}", ordinal 1: does not match its checksum\n/,
    );
    expect(found.text).toMatch(/\n {2}secret: user_passwords, user_n \d+: does not match its checksum\n/);
    expect(found.text).toEndWith("drops damaged rows beside it, and lists them.\n");
    const repaired = await run(folder, "--repair-derived");
    expect(repaired).toEqual({ status: 0, text: expect.stringMatching(/\nSound\.\n$/) });
    expect(repaired.text).toContain(
      [
        "The data derived from the ledger were rebuilt.",
        `Dropped as damaged: ${told} ${told === 1 ? "finding of a scan" : "findings of scans"}`,
        "Reset to the newest versions: 3 records' observation values",
        "Dropped as damaged: 1 password; set a new one with netledger user password",
        "",
      ].join("\n"),
    );
    const db = openReadOnly(dataFiles(folder).database);
    try {
      expect(count(db, "discovery_findings")).toBe(kept);
      const newest = `SELECT ${writtenSql("v", "observed")} FROM history_versions v WHERE v.key > (o.n << 31) AND v.key < ((o.n + 1) << 31)
         ORDER BY v.key DESC LIMIT 1`;
      const rows = db.$client
        .query(`SELECT o.observed, (${newest}) AS version FROM observations o WHERE o.n IN (${SEEN_ENTRIES})`)
        .all() as Array<{ observed: string; version: string }>;
      expect(rows.length).toBe(3);
      for (const { observed, version } of rows) expect(observed).toBe(version);
    } finally {
      db.$client.close();
    }
  });

  test("counts the findings that go with a scan that is damaged", async () => {
    const { folder, findings } = withCopy((db, path) => {
      const [scan] = db.$client
        .query(
          "SELECT scan_id AS id, count(*) AS findings FROM discovery_findings GROUP BY scan_id ORDER BY 2 DESC LIMIT 1",
        )
        .all() as [{ id: string; findings: number }];
      unguarded(db, [`UPDATE discovery_scans SET outcome = replace(outcome, '{', '[') WHERE id = '${scan.id}'`]);
      return { folder: join(path, ".."), findings: scan.findings };
    });
    expect(findings).toBeGreaterThan(1);
    const { text } = await run(folder, "--repair-derived");
    expect(text).toContain(`Dropped as damaged: ${findings} findings of scans\nDropped as damaged: 1 scan\n`);
    expect((await run(folder)).status).toBe(0);
  });
});

test("a session that was damaged, and is used all the same, stays damaged: no write makes it look whole", async () => {
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

test("an end of a credential's coverage before any transaction is found, though its checksum adds nothing", () => {
  withCopy((db, path) => {
    db.$client.run("UPDATE credential_coverage SET since = 0, until = NULL");
    stampChecksums(db);
    expect(db.$client.run("UPDATE credential_coverage SET until = 0").changes).toBeGreaterThan(0);
    expect(findingsOn(path).join("\n")).toContain("credential_coverage");
  });
});
