// Messages for SQLite failures, to the caller and to the operator: never an exception's text, always the remedy.

import { describe, expect, test } from "bun:test";
import { DomainError } from "../../src/base/errors.ts";
import { describeRefusal, readTroubleOf, troubleOf } from "../../src/db/trouble.ts";

const sqliteError = (code: string) => Object.assign(new Error("the text of an exception"), { code });

describe("a database error is reported to the caller", () => {
  test.each([
    [
      "SQLITE_CORRUPT",
      "internal_error",
      "The database is damaged: this cannot be read. The appliance's log says what to do.",
    ],
    [
      "SQLITE_CORRUPT_INDEX",
      "internal_error",
      "The database is damaged: this cannot be read. The appliance's log says what to do.",
    ],
    [
      "SQLITE_NOTADB",
      "internal_error",
      "The database is damaged: this cannot be read. The appliance's log says what to do.",
    ],
    ["SQLITE_FULL", "storage_full", "The disk is full or fails: this cannot be read."],
    ["SQLITE_IOERR_WRITE", "storage_full", "The disk is full or fails: this cannot be read."],
    ["SQLITE_READONLY_DIRECTORY", "storage_full", "The disk cannot be written to: this cannot be read."],
    ["SQLITE_CANTOPEN", "storage_full", "The disk cannot be written to: this cannot be read."],
  ])("%s as %s", (code, told, message) => {
    expect(readTroubleOf(sqliteError(code))).toMatchObject({ code: told, message });
  });

  test("of a write, with the notice that nothing was written", () => {
    expect(troubleOf(sqliteError("SQLITE_FULL"), "nothing was written")?.message).toBe(
      "The disk is full or fails: nothing was written.",
    );
  });

  test("unless it is unrelated to the file", () => {
    expect([readTroubleOf(sqliteError("SQLITE_CONSTRAINT")), readTroubleOf(new Error("no"))]).toEqual([null, null]);
  });

  test("unless already reported", () => {
    expect(
      readTroubleOf(
        Object.assign(new DomainError("storage_full", "There is no room for a copy."), {
          cause: sqliteError("SQLITE_FULL"),
        }),
      ),
    ).toBeNull();
  });
});

test("the log has the remedy for damage", () => {
  expect(readTroubleOf(sqliteError("SQLITE_CORRUPT"))?.cause).toBe(
    "The database is damaged (SQLITE_CORRUPT): stop the appliance, run netledger verify, and replace it with a good copy: netledger restore BACKUP --replace.",
  );
});

test.each([
  [
    "SQLITE_CORRUPT",
    "/d/x.db is damaged (SQLITE_CORRUPT): replace it with a good copy: netledger restore BACKUP --replace.",
  ],
  ["SQLITE_FULL", "/d/x.db cannot be used (SQLITE_FULL): its disk is full or fails. Free some space on it."],
  [
    "SQLITE_IOERR_SHMSIZE",
    "/d/x.db cannot be used (SQLITE_IOERR_SHMSIZE): its disk is full or fails. Free some space on it.",
  ],
  [
    "SQLITE_CANTOPEN",
    "/d/x.db cannot be opened (SQLITE_CANTOPEN): the disk needs space for another file, and the folder must be writable.",
  ],
  [
    "SQLITE_READONLY",
    "/d/x.db cannot be written to (SQLITE_READONLY): the disk must not be read-only, and the file and its folder must be writable.",
  ],
  [
    "SQLITE_ERROR",
    "/d/x.db is damaged (the text of an exception): replace it with a good copy: netledger restore BACKUP --replace.",
  ],
])("an operator whose file meets %s gets one sentence", (code, sentence) => {
  expect(describeRefusal(sqliteError(code), "/d/x.db")).toBe(sentence);
});
