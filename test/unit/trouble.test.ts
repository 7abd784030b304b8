// What SQLite's trouble with a file means to who asked, and to the operator: never an exception's text, always what is to be done.

import { describe, expect, test } from "bun:test";
import { DomainError } from "../../src/base/errors.ts";
import { describeRefusal, readTroubleOf, troubleOf } from "../../src/db/trouble.ts";

const sqliteError = (code: string) => Object.assign(new Error("the text of an exception"), { code });

describe("who asked is told", () => {
  test.each([
    [
      "SQLITE_CORRUPT",
      "internal_error",
      "The database is damaged: this cannot be answered. The log of the appliance says what is to be done.",
    ],
    [
      "SQLITE_CORRUPT_INDEX",
      "internal_error",
      "The database is damaged: this cannot be answered. The log of the appliance says what is to be done.",
    ],
    [
      "SQLITE_NOTADB",
      "internal_error",
      "The database is damaged: this cannot be answered. The log of the appliance says what is to be done.",
    ],
    ["SQLITE_FULL", "storage_full", "The disk is full or fails: this cannot be answered."],
    ["SQLITE_IOERR_WRITE", "storage_full", "The disk is full or fails: this cannot be answered."],
    ["SQLITE_READONLY_DIRECTORY", "storage_full", "The disk cannot be written to: this cannot be answered."],
    ["SQLITE_CANTOPEN", "storage_full", "The disk cannot be written to: this cannot be answered."],
  ])("%s as %s", (code, told, message) => {
    expect(readTroubleOf(sqliteError(code))).toMatchObject({ code: told, message });
  });

  test("of a write, that nothing was written", () => {
    expect(troubleOf(sqliteError("SQLITE_FULL"), "nothing was written")?.message).toBe(
      "The disk is full or fails: nothing was written.",
    );
  });

  test("nothing of what is no trouble with the file", () => {
    expect([readTroubleOf(sqliteError("SQLITE_CONSTRAINT")), readTroubleOf(new Error("no"))]).toEqual([null, null]);
  });

  test("nothing anew of what was told already", () => {
    expect(
      readTroubleOf(
        Object.assign(new DomainError("storage_full", "There is no room for a copy."), {
          cause: sqliteError("SQLITE_FULL"),
        }),
      ),
    ).toBeNull();
  });
});

test("the log says what is to be done about damage", () => {
  expect(readTroubleOf(sqliteError("SQLITE_CORRUPT"))?.cause).toBe(
    "The database is damaged (SQLITE_CORRUPT): stop the appliance, see what netledger verify finds, and put a good copy in its place, as netledger restore BACKUP --replace does.",
  );
});

test.each([
  [
    "SQLITE_CORRUPT",
    "/d/x.db is damaged (SQLITE_CORRUPT): put a good copy in its place, as netledger restore BACKUP --replace does.",
  ],
  ["SQLITE_FULL", "/d/x.db cannot be used (SQLITE_FULL): its disk is full or fails. Make room on it."],
  [
    "SQLITE_IOERR_SHMSIZE",
    "/d/x.db cannot be used (SQLITE_IOERR_SHMSIZE): its disk is full or fails. Make room on it.",
  ],
  [
    "SQLITE_CANTOPEN",
    "/d/x.db cannot be opened (SQLITE_CANTOPEN): it takes a disk that has room for another file, and the right to make files in its folder.",
  ],
  [
    "SQLITE_READONLY",
    "/d/x.db cannot be written to (SQLITE_READONLY): it takes a disk that is not read-only, and the right to write to the file and to its folder.",
  ],
  ["SQLITE_ERROR", "/d/x.db cannot be opened (SQLITE_ERROR)."],
])("the operator whose file meets %s reads one sentence", (code, sentence) => {
  expect(describeRefusal(sqliteError(code), "/d/x.db")).toBe(sentence);
});
