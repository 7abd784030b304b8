// Verification: detects and locates every kind of tampering with the ledger and all damage to derived data, which can
// be rebuilt. The damage is done to copies of one intact store, bypassing all triggers and checks.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { ProcessIo } from "../../src/cli/command.ts";
import { verify as verifyCommand } from "../../src/cli/verify.ts";
import { openReadOnly, PAGE_SIZE_BYTES, type Sql } from "../../src/db/connection.ts";
import { DataLock, dataFiles } from "../../src/db/files/data-directory.ts";
import { Derivation } from "../../src/history/verify/derived.ts";
import { Findings } from "../../src/history/verify/findings.ts";
import { STEP_ROWS } from "../../src/history/verify/ledger-walk.ts";
import { describeDropped } from "../../src/history/verify/outside-ledger.ts";
import { rebuildDerived, SPAN_BLOCKS } from "../../src/history/verify/rebuild.ts";
import { describeReport, type Report, verifyLedger, verifySteps } from "../../src/history/verify/verify.ts";
import { DerivedVerification } from "../../src/history/verify/verify-derived.ts";
import { KINDS } from "../../src/records/resources.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { Model } from "../support/model/model.ts";
import { type Population, populate } from "../support/store/population.ts";
import { hostFields, Store } from "../support/store/store.ts";
import { runUnguarded, withCopy as withCopyOf } from "../support/store/tampering.ts";

const store = new Store();
let population: Population;
let intactDump: string;
let copies = 0;

beforeAll(() => {
  population = populate(store);
  store.writer.checkpoint();
  intactDump = withCopy((db) => dump(db));
});
afterAll(() => store.close());

/** Opens a copy of the store's file for writing, guarded only by the ledger's triggers. */
function withCopy<T>(act: (db: Sql, path: string) => T): T {
  copies += 1;
  return withCopyOf(store.path, join(store.directory, `copy${copies}`), act);
}

function readFrom<T>(path: string, read: (db: Sql) => T): T {
  const db = openReadOnly(path);
  try {
    return read(db);
  } finally {
    db.$client.close();
  }
}

const reportOn = (path: string): Report => readFrom(path, (db) => verifyLedger(db, KINDS));

const numberOf = (id: string) => `(SELECT n FROM history_records WHERE id = '${id}')`;

/** Statements with the number of the population's host for `$host`, and of its removed tag for `$gone`. */
function withNumbers(statements: readonly string[]): string[] {
  return statements.map((sql) =>
    sql.replaceAll("$host", numberOf(population.hostId)).replaceAll("$gone", numberOf(population.deletedTagId)),
  );
}

/** Findings after these statements, as lines. */
function findingsAfter(...statements: string[]): string[] {
  return withCopy((db, path) => {
    runUnguarded(db, withNumbers(statements));
    return lines(reportOn(path));
  });
}

function expectFinding(finding: RegExp, ...statements: string[]): void {
  expect(findingsAfter(...statements)).toContainEqual(expect.stringMatching(finding));
}

/** Tests that these statements lead to a finding. */
function testFinding(title: string, finding: RegExp, statements: readonly string[]): void {
  test(title, () => expectFinding(finding, ...statements));
}

/** Rebuildable data other than the live tables. */
const DERIVED = [
  ..."history_spans history_span_blocks history_census history_lineages live_links history_activity".split(" "),
  ..."history_change_counts history_search_texts".split(" "),
];

/** Verification of derived data, regardless of the ledger's end. */
function derivedVerification(db: Sql): DerivedVerification {
  const until = { sequence: 2 ** 31 - 1, lastN: 200_000 };
  return new DerivedVerification({ db, kinds: KINDS, until, findings: new Findings(), derivation: new Derivation(db) });
}

/** All derived data and its dependents. */
function dump(db: Sql): string {
  const tables = [
    ...DERIVED,
    "history_word_places",
    "observations",
    "user_passwords",
    "credential_secrets",
    ...KINDS.map((kind) => kind.plural),
  ];
  return tables
    .map((table) => {
      const rows = (db.$client.query(`SELECT * FROM ${table}`).all() as object[]).map((row) =>
        JSON.stringify(row, (_, value) => (value instanceof Uint8Array ? [...value] : value)),
      );
      return [table, ...rows.sort()].join("\n");
    })
    .join("\n\n");
}

function schema(db: Sql): unknown {
  return db.$client.query("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").all();
}

function lines(report: Report): string[] {
  return report.findings.map((finding) => `${finding.check}: ${finding.where}: ${finding.message}`);
}

const last = "(SELECT max(sequence) FROM history_transactions)";
const FIRST_OF_HOST = "key = (SELECT min(key) FROM history_versions WHERE key >> 31 = $host)";

test("an intact store verifies, and its head is reported", () => {
  const report = verifyLedger(store.readDb, KINDS);
  expect(report.findings).toEqual([]);
  const [count] = store.rows<object>(
    `SELECT (SELECT count(*) FROM history_transactions) AS transactions, (SELECT count(*)
      FROM history_records) AS records, (SELECT count(*) FROM history_versions) AS versions`,
  );
  expect(report.count).toEqual(count as Report["count"]);
  const [head] = store.rows<{ sequence: number; at: number; hash: string }>(
    "SELECT sequence, at, lower(hex(hash)) AS hash FROM history_transactions ORDER BY sequence DESC LIMIT 1",
  );
  expect(report.head).toEqual(head as Report["head"]);
  expect(describeReport(report)).toEndWith("\nNo problems found.\n");
  expect(
    new Set(store.rows<{ kind: number }>("SELECT DISTINCT kind FROM history_records").map((row) => row.kind)).size,
  ).toBe(KINDS.length);
});

test.each(["SQLITE_FULL", "SQLITE_IOERR_WRITE"])(
  "no temporary space (%s) ends the verification, and is not a finding",
  (code) => {
    const client = new Proxy(store.readDb.$client, {
      get: (target, name) => {
        if (name === "inTransaction") return target.inTransaction;
        if (name !== "prepare") return target[name as "query"].bind(target);
        return (sql: string) => {
          if (sql.includes("FROM history_transactions WHERE")) throw Object.assign(new Error("no room"), { code });
          return target.prepare(sql);
        };
      },
    });
    const db = { $client: client } as unknown as Sql;
    expect(() => verifyLedger(db, KINDS)).toThrow("no room");
    expect(() =>
      new Findings().guard("version", "n 1", () => {
        throw Object.assign(new Error("no room"), { code });
      }),
    ).toThrow("no room");
  },
);

test("any other failure of a step is a finding", () => {
  const findings = new Findings();
  findings.guard("version", "n 1", () => {
    throw Object.assign(new Error("malformed"), { code: "SQLITE_CORRUPT" });
  });
  expect(findings.list).toEqual([{ check: "version", where: "n 1", message: "cannot be read: malformed" }]);
});

describe("a changed value in the ledger is found, with its location", () => {
  /** A different value that the column accepts. */
  const changed = (column: string) => `CASE typeof(${column}) WHEN 'integer' THEN ${column} + 1
    WHEN 'blob' THEN CAST(substr(${column}, 2) || x'00' AS BLOB)
    ELSE coalesce(substr(nullif(${column}, ''), 1, length(${column}) - 1) || '!', '[]') END`;

  test.each("operation shape valid_from composed changed sort_keys observed members hash".split(" "))(
    "%s of a version",
    (column) => {
      for (const aggregate of ["min(key)", "max(key)"])
        expectFinding(
          new RegExp(`^version: host ${population.hostId} \\(n \\d+\\), transaction \\d+: `),
          `UPDATE history_versions SET ${column} = ${changed(column)}
            WHERE key = (SELECT ${aggregate} FROM history_versions WHERE key >> 31 = $host)`,
        );
    },
  );

  test.each(
    "at wall_at organization_id actor_type actor_id actor_name request_id source last_n reason hash".split(" "),
  )("%s of a transaction", (column) => {
    for (const sequence of ["1", "4", last]) {
      const number = sequence === last ? store.rows<{ s: number }>(`SELECT ${last} AS s`)[0]?.s : sequence;
      expectFinding(
        new RegExp(`^transaction: transaction ${number}: `),
        `UPDATE history_transactions SET ${column} = ${changed(column)} WHERE sequence = ${sequence}`,
      );
    }
  });

  test.each([["NULL"], ["reason || '!'"], ["replace(reason, ':', '.')"]])("a given reason, changed to %s", (change) => {
    const [{ sequence }] = store.rows<{ sequence: number }>(
      "SELECT sequence FROM history_transactions WHERE reason IS NOT NULL",
    ) as [{ sequence: number }];
    expect(findingsAfter(`UPDATE history_transactions SET reason = ${change} WHERE sequence = ${sequence}`)).toEqual([
      `transaction: transaction ${sequence}: its hash does not match its predecessor, its content and its versions`,
    ]);
  });

  describe("in a packed version", () => {
    const CONTENT = /^version: host .*: its content does not match its hash$/;
    const PACKED = "key = (SELECT max(key) FROM history_versions WHERE patch IS NOT NULL AND key >> 31 = $host)";
    test.each([
      ["the presence of a base", "NULL"],
      ["the choice of the base", "patch + (1 << 32)"],
      ["a base that does not exist", "patch | (2147483647 << 32)"],
      ["the length of the common prefix", "patch - (1 << 16)"],
      ["the length of the common suffix", "patch - 1"],
    ])("%s", (_, patch) => {
      expectFinding(
        new RegExp(`^version: host ${population.hostId} .*: its content does not match its hash$`),
        `UPDATE history_versions SET patch = ${patch} WHERE ${PACKED}`,
      );
    });

    testFinding("its own text", CONTENT, [`UPDATE history_versions SET members = members || 'x' WHERE ${PACKED}`]);

    test.each(["min(key)", "max(key)"])("a version that is its own base, or a complete one with a base: %s", (key) => {
      expectFinding(
        CONTENT,
        `UPDATE history_versions SET patch = ((key & 2147483647) << 32) | 65537
          WHERE key = (SELECT ${key} FROM history_versions WHERE key >> 31 = $host)`,
      );
    });
  });

  testFinding("a single bit of a document", /^version: host .*: its content does not match its hash$/, [
    `UPDATE history_versions SET members = replace(members, '"hidden":false', '"hidden":True') WHERE ${FIRST_OF_HOST}`,
  ]);
  testFinding("the id of a record", /^version: host 00000000-.*: its content does not match/, [
    "UPDATE history_records SET id = '00000000-0000-4000-8000-000000000000' WHERE n = $host",
  ]);

  test.each([
    [5, (id: string) => `^version: tag ${id}.*: its content does not match`],
    [60, (id: string) => `^record: kind 60 ${id}.*not known`],
  ])("the kind of a record: %i", (kind, finding) => {
    expectFinding(new RegExp(finding(population.hostId)), `UPDATE history_records SET kind = ${kind} WHERE n = $host`);
  });

  // By an attacker who knows the code but not the later history.
  testFinding("a version with a recomputed hash, by its transaction", /^transaction: /, [
    `UPDATE history_versions SET hash = (SELECT hash FROM history_versions WHERE key >> 31 = 1) WHERE ${FIRST_OF_HOST}`,
  ]);
});

describe("rows deleted from, added to or moved in the ledger are found, with their location", () => {
  const versions = () =>
    store
      .rows<{ sequence: number }>(
        `SELECT key & 2147483647 AS sequence FROM history_versions WHERE key >> 31 = ${numberOf(population.hostId)} ORDER BY key`,
      )
      .map((row) => row.sequence);

  testFinding("the last transaction, without its versions", /^version: .*: its transaction is not in the ledger$/, [
    `DELETE FROM history_transactions WHERE sequence = ${last}`,
  ]);
  testFinding("all versions of a record", /^record: n \d+: without any version/, [
    "DELETE FROM history_versions WHERE key >> 31 = $host",
  ]);
  testFinding("a record", /^record: .*: versions of a record that is not in the ledger$/, [
    "DELETE FROM history_records WHERE n = $host",
  ]);
  testFinding(
    "a record beyond the last transaction",
    /^record: n \d+ to \d+: rows of history_records beyond the last transaction$/,
    [
      `INSERT INTO history_records (n, kind, id) SELECT max(n) + 1, 5, '00000000-0000-4000-8000-000000000000'
        FROM history_records`,
    ],
  );
  testFinding("an inserted version", /^version: host .*: its transaction is not in the ledger$/, [
    `INSERT INTO history_versions SELECT $host << 31 | 6, 2, shape, (SELECT valid_from FROM history_versions
      WHERE key & 2147483647 = 6 LIMIT 1), composed, '[]', sort_keys, observed, members, hash, patch FROM history_versions
      WHERE ${FIRST_OF_HOST} AND NOT EXISTS (SELECT 1 FROM history_versions WHERE key = ($host << 31 | 6))`,
    `INSERT INTO history_versions SELECT $host << 31 | (${last} + 5), 2, shape, valid_from, composed, '[]', sort_keys,
        observed, members, hash, patch FROM history_versions WHERE ${FIRST_OF_HOST}`,
  ]);

  test("the last transaction with its versions, by the live rows", () => {
    const findings = findingsAfter(
      `DELETE FROM history_versions WHERE key & 2147483647 = ${last}`,
      `DELETE FROM history_transactions WHERE sequence = ${last}`,
    );
    expect(findings).toContainEqual(expect.stringMatching(/^live: /));
    expect(findings).toContainEqual(expect.stringMatching(/^span: /));
  });

  test("a transaction in the middle", () => {
    const findings = findingsAfter("DELETE FROM history_transactions WHERE sequence = 4");
    expect(findings).toContainEqual("transaction: transaction 5: follows transaction 3: those between are missing");
    expect(findings).toContainEqual(expect.stringMatching(/, transaction 4: its transaction is not in the ledger$/));
  });

  test("a version in the middle, the first and the last one of a record", () => {
    const all = versions();
    for (const sequence of [all[0], all[1], all.at(-1)])
      expect(findingsAfter(`DELETE FROM history_versions WHERE key = ($host << 31 | ${sequence})`)).toContainEqual(
        `transaction: transaction ${sequence}: its hash does not match its predecessor, its content and its versions`,
      );
  });

  test("two swapped versions of one record", () => {
    const [first, second] = versions() as [number, number];
    const key = (sequence: number) => `$host << 31 | ${sequence}`;
    const findings = findingsAfter(
      `UPDATE history_versions SET key = ($host << 31) | 2147483640 WHERE key = (${key(first)})`,
      `UPDATE history_versions SET key = (${key(first)}) WHERE key = (${key(second)})`,
      `UPDATE history_versions SET key = (${key(second)}) WHERE key = ($host << 31) | 2147483640`,
    );
    for (const sequence of [first, second])
      expect(findings).toContainEqual(
        expect.stringMatching(new RegExp(`^version: host .*, transaction ${sequence}: its content does not match`)),
      );
  });

  test("swapped documents of two records", () => {
    const findings = findingsAfter(
      "CREATE TABLE swap AS SELECT key, members FROM history_versions WHERE key >> 31 IN (1, 2) AND key & 2147483647 = 1",
      `UPDATE history_versions SET members = (SELECT members FROM swap WHERE key >> 31 <> history_versions.key >> 31)
        WHERE key IN (SELECT key FROM swap)`,
      "DROP TABLE swap",
    );
    // Other findings concern the derived tables.
    expect(
      findings.filter((finding) => /^version: .*, transaction 1: its content does not match/.test(finding)),
    ).toHaveLength(2);
  });

  const LAST_OF_HOST = "key = (SELECT max(key) FROM history_versions WHERE key >> 31 = $host)";
  testFinding("a version after the end", /^version: tag .*, transaction 7: it follows the record's end$/, [
    `UPDATE history_versions SET key = $gone << 31 | 7 WHERE ${LAST_OF_HOST}`,
  ]);
  testFinding("a second creation", /^version: host .*: the record is created while it is alive$/, [
    `UPDATE history_versions SET operation = 1 WHERE ${LAST_OF_HOST}`,
  ]);
});

describe("wrong derived data is found and rebuilt", () => {
  const live = (column: string, value: string) => `UPDATE hosts SET ${column} = ${value} WHERE n = $host`;
  const COUNTS_DIFFER = /^activity: scope -?\d+ .*: the counts of changes differ from the versions$/;
  const TEXT_DIFFERS = /^search: host .*: its search text from transaction \d+ on does not match the record$/;
  /** Tests that this damage is found and rebuilt. */
  const testRebuild = (title: string, finding: RegExp, damage: readonly string[]) =>
    test(title, () => {
      withCopy((db, path) => {
        runUnguarded(db, withNumbers(damage));
        const found = lines(reportOn(path)).filter((line) => !line.startsWith("file: "));
        expect(found).toContainEqual(expect.stringMatching(finding));
        expect(found.filter((line) => /^(transaction|record|version)/.test(line))).toEqual([]);
        db.$client.run("PRAGMA foreign_keys = ON");
        rebuildDerived(db, KINDS);
        expect(dump(db)).toBe(intactDump);
        expect(reportOn(path).findings).toEqual([]);
      });
    });

  testRebuild("a missing span", /^span: host .* but its span is missing$/, [
    `DELETE FROM history_spans WHERE n = $host AND scope = (SELECT min(scope) FROM history_spans
          WHERE n = $host)`,
  ]);
  testRebuild("a span with an early end", /^span: host .* its span ends at 3$/, [
    "UPDATE history_spans SET died = 3 WHERE n = $host",
  ]);
  testRebuild("a span with a wrong start", /^span: host .* is missing$/, [
    "UPDATE history_spans SET born = born + 1 WHERE n = $host",
  ]);
  testRebuild("an extra span", /^span: host .*, but was not in it then$/, [
    "INSERT INTO history_spans (scope, n, born) VALUES (64 * 2 + 8, $host, 2)",
  ]);
  testRebuild("a span of no record", /^span: record \? \(n 99999\): .*, but was not in it then$/, [
    "INSERT INTO history_spans (scope, n, born) VALUES (64 * 2 + 7, 99999, 2)",
  ]);
  testRebuild("a wrong count", /^census: scope .*: counts \d+, but the spans give \d+$/, [
    "UPDATE history_census SET count = count + 1 WHERE sequence = 4",
  ]);
  testRebuild("a missing count", /^census: scope .*: counts nothing new, but/, [
    "DELETE FROM history_census WHERE sequence = 4",
  ]);
  testRebuild("an extra count", /^census: scope .*: counts 9, but the spans give nothing new$/, [
    "INSERT INTO history_census (scope, sequence, count) VALUES (64, 5, 9), (1000000, 1, 9)",
  ]);
  testRebuild("no spans and no counts", /^span: /, ["DELETE FROM history_spans", "DELETE FROM history_census"]);
  testRebuild("a missing lineage", /^lineage: tag .*\/gone: leads to nothing instead of/, [
    "DELETE FROM history_lineages WHERE identity LIKE '%/gone'",
  ]);
  testRebuild("a wrong lineage", /^lineage: tag .*\/gone: leads to x instead of/, [
    "UPDATE history_lineages SET lineage_id = 'x' WHERE identity LIKE '%/gone'",
  ]);
  testRebuild("an extra lineage", /^lineage: history_lineages: has \d+ rows where the ledger implies \d+$/, [
    "INSERT INTO history_lineages (kind, identity, lineage_id) VALUES (5, 'x', 'x')",
  ]);
  testRebuild("a block with a wrong count", /^span: scope .*, block 0: has entries without spans$/, [
    "UPDATE history_span_blocks SET alive = alive + 1",
  ]);
  testRebuild("a block of no record", /^span: scope .*, block 9: has entries without spans$/, [
    "INSERT INTO history_span_blocks (scope, block, alive, died) VALUES (64 * 2 + 7, 9, 0, 0)",
  ]);
  testRebuild("a block of a scope without blocks", /^span: scope .*, block 0: has entries without spans$/, [
    `INSERT INTO history_span_blocks (scope, block, alive, died) SELECT s.scope, 0, count(*), 0
          FROM history_spans s WHERE s.scope >> 6 = $host AND s.died = 9007199254740991 GROUP BY s.scope LIMIT 1`,
  ]);
  testRebuild("a missing block", /^span: scope .*, block 0: lacks entries of the spans$/, [
    "DELETE FROM history_span_blocks",
  ]);
  testRebuild("a missing activity", /^activity: scope -?\d+, transaction 4: is row /, [
    "DELETE FROM history_activity WHERE sequence = 4",
  ]);
  testRebuild("an activity at a wrong position", /^activity: scope -?\d+, transaction 3: is row 1000 of scope/, [
    "UPDATE history_activity SET ordinal = ordinal + 997 WHERE sequence = 3",
  ]);
  testRebuild("an activity of no record", /^activity: scope 99999, transaction 3: is row 1 of scope 99999/, [
    "INSERT INTO history_activity (scope, sequence, ordinal) VALUES (99999, 3, 1)",
  ]);
  testRebuild("uncounted changes", COUNTS_DIFFER, ["DELETE FROM history_change_counts WHERE sequence = 4"]);
  testRebuild("uncounted changes of a whole scope", /^activity: scope \d+ .*: the counts of changes are missing$/, [
    "DELETE FROM history_change_counts WHERE scope = $host * 64 + 7",
  ]);
  testRebuild("a change counted as another", COUNTS_DIFFER, [
    "UPDATE history_change_counts SET created = created - 1, updated = updated + 1 WHERE created > 0",
  ]);
  testRebuild("a change counted in another transaction", COUNTS_DIFFER, [
    `UPDATE OR IGNORE history_change_counts SET sequence = sequence - 1
          WHERE scope = 64 * (SELECT n FROM history_records WHERE kind = 1 LIMIT 1) + 7`,
  ]);
  testRebuild(
    "decreasing counts of changes",
    /^activity: scope -?\d+ .*: the counts of changes are inconsistent at transaction \d+$/,
    [`UPDATE history_change_counts SET created = 0, updated = 0, deleted = 0 WHERE sequence = ${last}`],
  );
  testRebuild("changes to no record", /^activity: scope 6399999 .*: the counts of changes differ from the versions$/, [
    "INSERT INTO history_change_counts (scope, sequence, created, updated, deleted) VALUES (6399999, 3, 1, 0, 0)",
  ]);
  testRebuild("a missing text", /^search: host .*: its search text from transaction \d+ on is missing$/, [
    "DELETE FROM history_search_texts WHERE key >> 31 = $host",
  ]);
  testRebuild("a changed text", TEXT_DIFFERS, [
    "UPDATE history_search_texts SET text = 'forged' WHERE key >> 31 = $host",
  ]);
  testRebuild("a text with another owner", TEXT_DIFFERS, [
    "UPDATE history_search_texts SET owner_n = 1 WHERE key >> 31 = $host",
  ]);
  testRebuild("an extra text", /^search: history_search_texts: has \d+ rows where the ledger implies \d+$/, [
    "INSERT INTO history_search_texts (key, owner_n, text) VALUES (1, 1, 'x')",
  ]);
  testRebuild(
    "a text missing from the index",
    /^search: host .*: the index does not find its search text from transaction \d+ on$/,
    [
      `INSERT INTO history_search (history_search, rowid, text) SELECT 'delete', key, text FROM history_search_texts
          WHERE key >> 31 = $host`,
    ],
  );
  testRebuild(
    "an indexed word without a text",
    /^search: history_search: does not match the words of the stored text$/,
    [
      `INSERT INTO history_search (rowid, text) SELECT key, 'forged' FROM history_search_texts
          WHERE key >> 31 = $host LIMIT 1`,
    ],
  );
  testRebuild("an indexed name without a record", /^search: history_words: does not match the names of the records$/, [
    "INSERT INTO history_words (rowid, entries) VALUES ($host << 31 | 3, '1.7.wforged')",
  ]);
  testRebuild("names missing from the index", /^search: history_words: does not match the names of the records$/, [
    "INSERT INTO history_words (history_words) VALUES ('delete-all')",
  ]);
  testRebuild("a missing live row", /^live: host .*: it is alive in the ledger, but has no live row$/, [
    "DELETE FROM hosts WHERE n = $host",
  ]);
  testRebuild("a live row of a removed record", /^live: tag .*: has a live row, but is not alive in the ledger$/, [
    `INSERT INTO tags (n, organization_n, sequence, composed, members) VALUES ($gone, 1, 1, 0, '"id":"x"')`,
  ]);
  testRebuild(
    "a live row of another kind",
    /^live: tag .*: has a live row among the tags, but another kind in the ledger$/,
    [`INSERT INTO tags (n, organization_n, sequence, composed, members) VALUES ($host, 1, 1, 0, '"id":"x"')`],
  );
  testRebuild("a changed live document", /^live: host .*: its live document is not its newest version$/, [
    live("members", "replace(members, 'renamed', 'forged')"),
  ]);
  testRebuild("a live row of an older version", /^live: host .*: its live sequence is /, [
    live("sequence", "sequence - 1"),
  ]);
  testRebuild("a changed live organization", /^live: host .*: its live organization_n is /, [
    live("organization_n", "3"),
  ]);
  testRebuild("changed live sort keys", /^live: host .*: its live sort_keys is null, /, [live("sort_keys", "NULL")]);
  testRebuild("a changed live column", /^live: host .*: its live name is "forged", but in the ledger "renamed"$/, [
    live("name", "'forged'"),
  ]);
  testRebuild("a changed live reference", /^live: host .*: its live network_n is /, [
    live("network_n", "(SELECT max(n) FROM networks)"),
  ]);
  testRebuild("a cleared unique value", /^live: tag .*: its live identity is null/, [
    "UPDATE tags SET identity = NULL",
  ]);
  testRebuild("parts marked absent", /^live: if_entry .*: its live composed is 0, /, [
    "UPDATE if_entries SET composed = 0",
  ]);
  testRebuild("a missing link", /^link: host .*: the link tags to n \d+ is missing$/, [
    "DELETE FROM live_links WHERE n = $host",
  ]);
  testRebuild("an extra link", /^link: host .*: has a link tags to n 2, which the ledger does not imply$/, [
    "INSERT INTO live_links (n, relation, target_n) VALUES ($host, 'tags', 2)",
  ]);
  testRebuild("a link of a removed record", /^link: record .*: has links and is not alive$/, [
    "INSERT INTO live_links (n, relation, target_n) VALUES ($gone, 'tags', 2)",
  ]);
  testRebuild("observation values of a removed record", /^observation: record .* and is not alive$/, [
    "INSERT INTO observations (n, observed) SELECT key >> 31, '' FROM history_versions WHERE operation = 3",
  ]);
  testRebuild(
    "all of them at once",
    /^live: /,
    [...DERIVED, "hosts", "if_entries", "tags"].map((table) => `DELETE FROM ${table}`),
  );

  test("missing observation values, reset to the newest version's", () => {
    withCopy((db, path) => {
      db.$client.run("DELETE FROM observations");
      expect(reportOn(path).findings).toContainEqual(
        expect.objectContaining({ check: "observation", message: "has no observation values" }),
      );
      rebuildDerived(db, KINDS);
      expect(reportOn(path).findings).toEqual([]);
    });
  });

  test("a reference to a missing row", () => {
    const missing = "file: live_links, row ?: refers to a row of history_records that does not exist";
    const findings = findingsAfter("INSERT INTO live_links (n, relation, target_n) VALUES (99999, 'tags', 99998)");
    expect(findings).toEqual([missing, missing]);
    withCopy((db, path) => {
      runUnguarded(db, ["DELETE FROM users"]);
      expect(lines(reportOn(path))).toContainEqual(
        expect.stringMatching(/^secret: user_passwords, row \d+: refers to a row of users that does not exist$/),
      );
      // The missing row is rebuilt, and rows that refer to it are kept.
      expect(describeDropped(rebuildDerived(db, KINDS))).toEqual([]);
      expect(dump(db)).toBe(intactDump);
    });
  });

  test("a store with a long history of changes is rebuilt row for row", () => {
    const storeWithHistory = new Store();
    try {
      const model = new Model(storeWithHistory, 3);
      for (let step = 0; step < 300; step += 1) model.step();
      const before = dump(storeWithHistory.db);
      storeWithHistory.db.$client.run("PRAGMA foreign_keys = OFF");
      for (const table of [...DERIVED, ...KINDS.map((kind) => kind.plural)])
        storeWithHistory.db.$client.run(`DELETE FROM ${table}`);
      storeWithHistory.db.$client.run("PRAGMA foreign_keys = ON");
      rebuildDerived(storeWithHistory.db, KINDS);
      expect(dump(storeWithHistory.db)).toBe(before);
      // Writing continues normally.
      for (let step = 0; step < 50; step += 1) model.step();
      expect(verifyLedger(storeWithHistory.readDb, KINDS).findings).toEqual([]);
    } finally {
      storeWithHistory.close();
    }
  });

  test("no derived data is rebuilt if the ledger cannot be read", () => {
    withCopy((db) => {
      runUnguarded(db, withNumbers([`UPDATE history_versions SET members = 'x' WHERE ${FIRST_OF_HOST}`]));
      expect(() => rebuildDerived(db, KINDS)).toThrow();
      expect(dump(db)).toBe(intactDump);
    });
  });
});

describe("unexpected or missing tables, indexes, triggers and views are found, each by name", () => {
  const MISSING: Array<[string, string, string[]]> = [
    [
      "a missing guard",
      "schema: trigger history_versions_are_never_changed, on history_versions: is missing",
      ["DROP TRIGGER history_versions_are_never_changed"],
    ],
    [
      "a missing index that reads name",
      "schema: index history_versions_by_sequence, on history_versions: is missing",
      ["DROP INDEX history_versions_by_sequence"],
    ],
    [
      "a disabled guard",
      "schema: trigger history_versions_are_never_deleted, on history_versions: differs from the definition in the migrations",
      [
        "DROP TRIGGER history_versions_are_never_deleted",
        "CREATE TRIGGER history_versions_are_never_deleted BEFORE DELETE ON history_versions BEGIN SELECT 1; END",
      ],
    ],
    [
      "an index with another order",
      "schema: index live_links_by_target, on live_links: differs from the definition in the migrations",
      ["DROP INDEX live_links_by_target", "CREATE INDEX live_links_by_target ON live_links (n)"],
    ],
    [
      "an extra trigger",
      "schema: trigger custom, on tags: does not belong to netledger",
      ["CREATE TRIGGER custom AFTER INSERT ON tags BEGIN DELETE FROM hosts; END"],
    ],
    [
      "an extra index",
      "schema: index custom, on tags: does not belong to netledger",
      ["CREATE UNIQUE INDEX custom ON tags (sequence)"],
    ],
  ];

  test.each(MISSING)("%s, repaired with derived data", (_case, finding, statements) => {
    withCopy((db, path) => {
      const originalSchema = schema(db);
      for (const sql of statements) db.$client.run(sql);
      expect(lines(reportOn(path))).toEqual([finding]);
      rebuildDerived(db, KINDS);
      expect(schema(db)).toEqual(originalSchema);
      expect(dump(db)).toBe(intactDump);
      expect(reportOn(path).findings).toEqual([]);
    });
  });

  test.each([
    ["an extra table", "file: table custom: does not belong to netledger", "CREATE TABLE custom (a)"],
    ["a view", "file: view custom: does not belong to netledger", "CREATE VIEW custom AS SELECT * FROM tags"],
    [
      "an extra column",
      "file: table tags: differs from the definition in the migrations",
      "ALTER TABLE tags ADD COLUMN custom TEXT",
    ],
  ])("%s, which stays", (_case, finding, sql) => {
    withCopy((db, path) => {
      db.$client.run(sql);
      expect(lines(reportOn(path))).toEqual([finding]);
      rebuildDerived(db, KINDS);
      expect(lines(reportOn(path))).toEqual([finding]);
    });
  });

  const TABLES =
    "history_transactions history_records history_versions history_spans history_segments history_search " +
    "history_words tags observations";
  test.each(TABLES.split(" "))("a missing table %s, without ending the verification", (table) => {
    withCopy((db, path) => {
      db.$client.run(`DROP TABLE ${table}`);
      expect(lines(reportOn(path))).toContain(`file: table ${table}: is missing`);
    });
  });

  test("all guards and an index at once, individually", () => {
    withCopy((db, path) => {
      const names = (
        db.$client.query("SELECT name FROM sqlite_schema WHERE type = 'trigger'").values() as Array<[string]>
      ).map(([name]) => name);
      for (const name of names) db.$client.run(`DROP TRIGGER ${name}`);
      const { findings } = reportOn(path);
      expect(findings.map(({ where }) => where.replace(/^trigger (\w+), .*$/, "$1")).sort()).toEqual(names.sort());
    });
  });

  test("SQLite's internal objects are not findings", () => {
    withCopy((db, path) => {
      db.$client.run("ANALYZE");
      db.$client.run("VACUUM");
      expect(reportOn(path).findings).toEqual([]);
    });
  });
});

describe("no step holds a read transaction for long, regardless of size", () => {
  const NUMBERS = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100000)";

  type Part = "spanBlocks" | "surplusTexts" | "lineages";
  /** Tests the rows of the largest step and of all steps, after these statements. */
  const testSteps = (title: string, part: Part, maxRows: number, minTotal: number, statements: readonly string[]) =>
    test(title, () => {
      withCopy((db) => {
        for (const sql of statements) db.$client.run(sql);
        const verification = derivedVerification(db);
        const steps = [...verification[part]()];
        verification.close();
        expect(Math.max(...steps)).toBeLessThan(maxRows);
        expect(steps.reduce((sum, step) => sum + step, 0)).toBeGreaterThan(minTotal);
      });
    });

  testSteps("the blocks of spans", "spanBlocks", 50, 98, [
    `${NUMBERS} INSERT OR IGNORE INTO history_spans (scope, n, born) SELECT (SELECT min(n)
      FROM organizations) * 64 + 60, n, 1 FROM numbers`,
    "DELETE FROM history_span_blocks",
    `INSERT INTO history_span_blocks (scope, block, alive, died) ${SPAN_BLOCKS}`,
  ]);
  testSteps("search texts", "surplusTexts", 10_000, 100_000, [
    `${NUMBERS} INSERT INTO history_search_texts (key, owner_n, text) SELECT (n + 100000) << 31 | 1, 1, '' FROM numbers`,
  ]);
  testSteps("duplicate identities", "lineages", 10_000, 100_000, [
    `${NUMBERS} INSERT INTO history_lineages (kind, identity, lineage_id) SELECT 5, 'x' || n, 'x' FROM numbers`,
  ]);
});

test("a concurrent writer does not interfere: its writes are excluded without false findings", () => {
  const busy = new Store();
  try {
    const model = new Model(busy, 5);
    for (let write = 0; write < 400; write += 1) model.step();
    for (let round = 0; round < 5; round += 1) {
      const startSequence = model.head.sequence;
      const steps = verifySteps(busy.readDb, KINDS, { isBusy: true });
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) for (let write = 0; write < 3; write += 1) model.step();
      expect(step.value.findings).toEqual([]);
      expect(step.value.head?.sequence).toBe(startSequence);
      expect(step.value.count.transactions).toBe(startSequence);
      expect(model.head.sequence).toBeGreaterThan(startSequence + 20);
    }
  } finally {
    busy.close();
  }
});

test("a damaged page of the file is a finding, not a crash", () => {
  for (const table of ["history_census", "history_versions", "hosts"]) {
    const { path, page } = withCopy((db, path) => ({
      path,
      page: db.$client.query("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(table) as { rootpage: number },
    }));
    const file = openSync(path, "r+");
    writeSync(file, new Uint8Array(PAGE_SIZE_BYTES).fill(7), 0, PAGE_SIZE_BYTES, (page.rootpage - 1) * PAGE_SIZE_BYTES);
    closeSync(file);
    expect(reportOn(path).findings).toContainEqual(expect.objectContaining({ check: "file", where: table }));
  }
});

test("rows out of order under a damaged key are a finding, without an endless loop", () => {
  const { path, n, rows } = withCopy((db, path) => {
    const { n, rows } = db.$client
      .query("SELECT (SELECT max(n) FROM history_records) AS n, count(*) AS rows FROM observations")
      .get() as { n: number; rows: number };
    const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers
      WHERE n < ${STEP_ROWS * 4})`;
    db.$client.run(
      `${numbers} INSERT INTO observations (n, observed) SELECT ${n} + n, 'row ' || n || '.' FROM numbers`,
    );
    return { path, n, rows };
  });
  // The last row of a step gets the number of a much earlier one: the varint before the record's four-byte header.
  const bytes = readFileSync(path);
  const last = STEP_ROWS * 2 - rows;
  const offset = bytes.indexOf(`row ${last}.`) - 6;
  expect(((bytes[offset] as number) & 0x7f) * 128 + (bytes[offset + 1] as number)).toBe(n + last);
  bytes[offset] = 0x81;
  writeFileSync(path, bytes);
  readFrom(path, (db) => {
    const verification = derivedVerification(db);
    expect(() => [...verification.leftovers()]).toThrow("the rows of observations are out of order");
    verification.close();
  });
  expect(lines(reportOn(path))).toContainEqual(expect.stringMatching(/^file: observations: .*out of order$/s));
});

test("a broken free-page list is a finding, and reported as unchecked next to a running appliance", () => {
  const path = withCopy((db, path) => {
    db.$client.run("CREATE TABLE gone (a)");
    db.$client.run("INSERT INTO gone SELECT zeroblob(100000)");
    db.$client.run("DROP TABLE gone");
    return path;
  });
  expect(reportOn(path).findings).toEqual([]);
  const file = openSync(path, "r+");
  // First page of the freelist: https://www.sqlite.org/fileformat2.html, section 1.3.
  writeSync(file, Uint8Array.of(0, 0x0f, 0xff, 0xff), 0, 4, 32);
  closeSync(file);
  expect(reportOn(path).findings).toEqual([expect.objectContaining({ check: "file", where: "the free pages" })]);
  const { findings, unchecked } = readFrom(path, (db) => verifyLedger(db, KINDS, { isBusy: true }));
  expect({ findings, unchecked }).toEqual({ findings: [], unchecked: ["history_versions", "the free pages"] });
});

describe("netledger verify", () => {
  async function run(directory: string, ...flags: string[]): Promise<{ status: number; text: string }> {
    let text = "";
    const { clock, random } = store;
    const processIo = { clock, random, print: async (more: string) => void (text += more) } as unknown as ProcessIo;
    return { status: await verifyCommand.execute(["--data", directory, ...flags], processIo), text };
  }

  async function expectRun(directory: string, flags: string[], status: number, text: RegExp): Promise<void> {
    expect(await run(directory, ...flags)).toEqual({ status, text: expect.stringMatching(text) });
  }

  const damagedDirectory = (...statements: string[]) =>
    withCopy((db, path) => {
      runUnguarded(db, statements);
      return join(path, "..");
    });

  test("exits with 0 for an intact store, with a concurrent writer", async () => {
    const intact = /^Last transaction: \d+, at .*\nVerified: .*\nNo problems found\.\n$/;
    await expectRun(store.directory, [], 0, intact);
    store.write((tx) => tx.create(hostKind, store.organizationId, hostFields(store.networkId, "later")));
    expect((await run(store.directory)).status).toBe(0);
  });

  test("exits with 1 for a damaged one, and 0 once derived data is rebuilt", async () => {
    const directory = damagedDirectory("DELETE FROM history_census");
    const repairable =
      /\n\d+ problems found\.\nAll damaged data is derived from the ledger, which is intact: rebuild it with netledger verify --repair-derived\.\n$/;
    await expectRun(directory, [], 1, repairable);
    // Not while another process uses the data.
    const lock = DataLock.acquire(dataFiles(directory).lock, 0);
    expect((await run(directory)).text).toContain("the pages of history_versions");
    await expect(run(directory, "--repair-derived")).rejects.toThrow("in use");
    lock?.release();
    await expectRun(directory, ["--repair-derived"], 0, /were rebuilt\.\n(.*\n)*No problems found\.\n$/);
    expect((await run(directory)).status).toBe(0);
  });

  test("rebuilds nothing from a ledger that lost known data: the live rows may be all that remains", async () => {
    const name = "acknowledged";
    store.write((tx) => tx.update(hostKind, population.hostId, { name }));
    const { sequence, hash } = store.rows<{ sequence: number; hash: string }>(
      "SELECT sequence, lower(hex(hash)) AS hash FROM history_transactions ORDER BY sequence DESC LIMIT 1",
    )[0] as { sequence: number; hash: string };
    store.writer.checkpoint();
    const directory = damagedDirectory(
      `DELETE FROM history_versions WHERE key & 2147483647 = ${sequence}`,
      `DELETE FROM history_transactions WHERE sequence = ${sequence}`,
    );
    const head = ["--head", `${sequence}:${hash}`];
    await expectRun(directory, head, 1, /\nThe ledger itself is damaged: stop the appliance and .*\n$/);
    const irreparable = /\nThe ledger itself is damaged: nothing can be rebuilt from it\.\n$/;
    await expectRun(directory, ["--repair-derived", ...head], 1, irreparable);
    const count = (db: Sql) => db.$client.query("SELECT count(*) AS count FROM hosts WHERE name = ?").get(name);
    expect(readFrom(dataFiles(directory).database, count)).toEqual({ count: 1 });
  });

  test("rebuilds nothing from a damaged ledger", async () => {
    const directory = damagedDirectory(
      "UPDATE history_transactions SET source = 'x' WHERE sequence = 2",
      "DELETE FROM history_census",
    );
    await expectRun(directory, ["--repair-derived"], 1, /nothing can be rebuilt/);
  });

  test("refuses a directory without data", async () => {
    await expect(run(join(store.directory, "nowhere"))).rejects.toThrow("There is no data");
  });
});
