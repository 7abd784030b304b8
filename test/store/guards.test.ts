// Ledger triggers: no connection can change, delete or insert history rows.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { hostFields, Store } from "../support/store/store.ts";

const store = new Store();

beforeAll(() => {
  const host = store.create(hostKind, hostFields(store.networkId, "a"));
  store.write((tx) => tx.update(hostKind, host.id, { name: "b" }));
});
afterAll(() => store.close());

function dump(): string {
  const rows = ["history_transactions", "history_records", "history_versions"].map((table) =>
    store.db.$client.query(`SELECT * FROM ${table} ORDER BY 1`).values(),
  );
  return JSON.stringify(rows);
}

const head = "(SELECT max(sequence) FROM history_transactions)";
const transaction = (sequence: string, at: string) =>
  `history_transactions (sequence, at, wall_at, actor_type, actor_name, source, last_n, hash) VALUES (${sequence}, ${at}, 0, 'System', 'x', 'x', 0, zeroblob(32))`;
const version = (key: string) =>
  `history_versions (key, operation, shape, valid_from, composed, observed, members, hash) VALUES (${key}, 2, 1, '2026-11-21T09:00:00.000Z', 0, '', '"id":"x"', zeroblob(32))`;
const laterAt = "(SELECT max(at) + 1 FROM history_transactions)";
const nextN = "(SELECT max(n) + 1 FROM history_records)";

describe("the ledger refuses", () => {
  test.each([
    ["an update of a transaction", "UPDATE history_transactions SET actor_name = 'nobody' WHERE sequence = 1"],
    ["a no-op update of a transaction", "UPDATE history_transactions SET at = at"],
    [
      "an update that replaces another transaction",
      "UPDATE OR REPLACE history_transactions SET sequence = 2 WHERE sequence = 1",
    ],
    ["the deletion of the last transaction", `DELETE FROM history_transactions WHERE sequence = ${head}`],
    ["the deletion of every transaction", "DELETE FROM history_transactions"],
    ["a transaction that overwrites the first one", `INSERT OR REPLACE INTO ${transaction("1", laterAt)}`],
    ["a transaction that overwrites the last one", `REPLACE INTO ${transaction(head, laterAt)}`],
    [
      "a transaction that updates on conflict",
      `INSERT INTO ${transaction(head, laterAt)} ON CONFLICT DO UPDATE SET actor_name = 'nobody'`,
    ],
    ["a transaction that is ignored on conflict", `INSERT OR IGNORE INTO ${transaction(head, laterAt)}`],
    ["a transaction before the first", `INSERT INTO ${transaction("0", laterAt)}`],
    ["a transaction that skips a sequence", `INSERT INTO ${transaction(`${head} + 2`, laterAt)}`],
    ["a transaction with a sequence chosen by SQLite", `INSERT INTO ${transaction("NULL", laterAt)}`],
    ["a transaction with its predecessor's timestamp", `INSERT INTO ${transaction(`${head} + 1`, `${laterAt} - 1`)}`],
    ["a transaction before its predecessor", `INSERT INTO ${transaction(`${head} + 1`, "1")}`],
    [
      "a transaction that replaces another with the same timestamp",
      `INSERT OR REPLACE INTO ${transaction(`${head} + 1`, `${laterAt} - 1`)}`,
    ],

    ["an update of a record", "UPDATE history_records SET id = 'x' WHERE n = 1"],
    [
      "an update that replaces another record",
      "UPDATE OR REPLACE history_records SET id = (SELECT id FROM history_records WHERE n = 2) WHERE n = 1",
    ],
    ["the deletion of a record", "DELETE FROM history_records WHERE n = 1"],
    ["a record that reuses a number", "INSERT OR REPLACE INTO history_records (n, kind, id) VALUES (1, 1, 'x')"],
    [
      "a record that reuses an id",
      `INSERT OR REPLACE INTO history_records (n, kind, id) SELECT ${nextN}, 1, id FROM history_records WHERE n = 1`,
    ],
    [
      "a record that updates on conflict",
      "INSERT INTO history_records (n, kind, id) VALUES (1, 1, 'x') ON CONFLICT (n) DO UPDATE SET id = excluded.id",
    ],
    ["a record that skips a number", `INSERT INTO history_records (n, kind, id) VALUES (${nextN} + 1, 1, 'x')`],
    ["a record with a number chosen by SQLite", "INSERT INTO history_records (kind, id) VALUES (1, 'x')"],

    ["an update of a version", `UPDATE history_versions SET members = '"id":"y"' WHERE key & 2147483647 = 1`],
    ["an update that moves a version", `UPDATE history_versions SET key = key + 100 WHERE key & 2147483647 = ${head}`],
    ["the deletion of a version", `DELETE FROM history_versions WHERE key & 2147483647 = ${head}`],
    ["a version that overwrites an existing one", `INSERT OR REPLACE INTO ${version(`(1 << 31) | 1`)}`],
    [
      "a version that updates on conflict",
      `INSERT INTO ${version(`(1 << 31) | 1`)} ON CONFLICT (key) DO UPDATE SET members = excluded.members`,
    ],
    ["a version of a closed transaction", `INSERT INTO ${version(`(1 << 31) | ${head}`)}`],
    ["a backdated version", `INSERT INTO ${version("(3 << 31) | 1")}`],
    ["a version of a transaction that is not next", `INSERT INTO ${version(`(1 << 31) | (${head} + 2)`)}`],
    ["a version with a key chosen by SQLite", `INSERT INTO ${version("NULL")}`],
  ])("%s", (_case, sql) => {
    const before = dump();
    expect(() => store.db.$client.run(sql)).toThrow(/^ledger: /);
    expect(dump()).toBe(before);
  });

  test("a second version of a record in the open transaction, even by REPLACE", () => {
    const before = dump();
    const client = store.db.$client;
    client.run("BEGIN IMMEDIATE");
    client.run(`INSERT INTO ${version(`(1 << 31) | (${head} + 1)`)}`);
    expect(() => client.run(`INSERT OR REPLACE INTO ${version(`(1 << 31) | (${head} + 1)`)}`)).toThrow(/^ledger: /);
    client.run("ROLLBACK");
    expect(dump()).toBe(before);
  });

  test("everything on a read-only connection", () => {
    expect(() => store.readDb.$client.run("DELETE FROM observations")).toThrow();
    expect(() => store.readDb.$client.run("DROP TRIGGER history_versions_are_never_changed")).toThrow();
  });
});
