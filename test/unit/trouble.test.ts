// Messages for SQLite failures, to the caller and to the operator: never an exception's text, always the remedy.

import { describe, expect, test } from "bun:test";
import { DomainError } from "../../src/base/errors.ts";
import { describeOpenFailure, readFailureOf, storageFailureOf } from "../../src/db/sqlite-failures.ts";

const sqliteError = (code: string) => Object.assign(new Error("the text of an exception"), { code });

describe("a database error", () => {
  const DAMAGED = "The database is damaged: this cannot be read. See the appliance's log for what to do.";
  test.each([
    ["SQLITE_CORRUPT", "internal_error", DAMAGED],
    ["SQLITE_CORRUPT_INDEX", "internal_error", DAMAGED],
    ["SQLITE_NOTADB", "internal_error", DAMAGED],
    ["SQLITE_FULL", "storage_full", "The disk is full or failing: this cannot be read."],
    ["SQLITE_IOERR_WRITE", "storage_full", "The disk is full or failing: this cannot be read."],
    ["SQLITE_READONLY_DIRECTORY", "storage_full", "The disk cannot be written to: this cannot be read."],
    ["SQLITE_CANTOPEN", "storage_full", "The disk cannot be written to: this cannot be read."],
  ])("is reported to the caller: %s as %s", (code, expectedCode, message) => {
    expect(readFailureOf(sqliteError(code))).toMatchObject({ code: expectedCode, message });
  });

  test("is reported for a write with the notice that nothing was written", () => {
    const failure = storageFailureOf(sqliteError("SQLITE_FULL"), "nothing was written");
    expect(failure?.message).toBe("The disk is full or failing: nothing was written.");
  });

  test("is not reported if it is unrelated to the file", () => {
    expect([readFailureOf(sqliteError("SQLITE_CONSTRAINT")), readFailureOf(new Error("no"))]).toEqual([null, null]);
  });

  test("is not reported again", () => {
    const reported = new DomainError("storage_full", "There is no room for a copy.");
    expect(readFailureOf(Object.assign(reported, { cause: sqliteError("SQLITE_FULL") }))).toBeNull();
  });
});

test("the log has the remedy for damage", () => {
  expect(readFailureOf(sqliteError("SQLITE_CORRUPT"))?.cause).toBe(
    "The database is damaged (SQLITE_CORRUPT): stop the appliance, run netledger verify, and replace it with a good copy: netledger restore BACKUP --replace.",
  );
});

const REPLACE = "replace it with a good copy: netledger restore BACKUP --replace.";
const FREE_SPACE = "its disk is full or failing. Free some space on it.";
const ALLOW_FILES = "the disk needs space for another file, and the folder must be writable.";
const ALLOW_WRITES = "the disk must not be read-only, and the file and its folder must be writable.";
test.each([
  ["SQLITE_CORRUPT", `is damaged (SQLITE_CORRUPT): ${REPLACE}`],
  ["SQLITE_FULL", `cannot be used (SQLITE_FULL): ${FREE_SPACE}`],
  ["SQLITE_IOERR_SHMSIZE", `cannot be used (SQLITE_IOERR_SHMSIZE): ${FREE_SPACE}`],
  ["SQLITE_CANTOPEN", `cannot be opened (SQLITE_CANTOPEN): ${ALLOW_FILES}`],
  ["SQLITE_READONLY", `cannot be written to (SQLITE_READONLY): ${ALLOW_WRITES}`],
  ["SQLITE_ERROR", `is damaged (the text of an exception): ${REPLACE}`],
])("a file that fails with %s is described to the operator in one sentence", (code, clause) => {
  expect(describeOpenFailure(sqliteError(code), "/d/x.db")).toBe(`/d/x.db ${clause}`);
});
