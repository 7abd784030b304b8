// Restore of a backup: the existing data keeps its name until the swap, and is complete under another name afterwards.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { restoreBackup } from "../../src/backup/restore.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openWritable } from "../../src/db/connection.ts";
import { DataLock } from "../../src/db/files/data-directory.ts";
import { DatabaseRefused } from "../../src/db/files/migrate.ts";
import { Store } from "../support/store/store.ts";

const NOW = Date.UTC(2026, 10, 21);
const KEPT = "netledger.db.before-20261121T000000000Z";

let scratch: string;
let directory: string;
let file: string;

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), "netledger-test-"));
  directory = join(scratch, "data");
  file = join(scratch, "backup.db");
  const store = new Store();
  store.db.$client.run(`VACUUM INTO '${file}'`);
  store.close();
  mkdirSync(directory);
  writeFileSync(join(directory, "netledger.db"), "what is left of a database");
  writeFileSync(join(directory, "netledger.db-wal"), "a log that nothing can fold in");
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

const restore = () =>
  restoreBackup({ file, directory, mayReplace: true, mayDropSecrets: false, now: NOW, random: systemRandom });
const read = (name: string) => readFileSync(join(directory, name), "utf8");

test("damaged data and their log are kept together under one name", () => {
  expect(restore().kept).toBe(join(directory, KEPT));
  expect([read(KEPT), read(`${KEPT}-wal`)]).toEqual(["what is left of a database", "a log that nothing can fold in"]);
  expect(existsSync(join(directory, "netledger.db-wal"))).toBe(false);
  expect(read("netledger.db")).toStartWith("SQLite format 3");
});

test("if the log cannot be moved away, everything is as before", () => {
  mkdirSync(join(directory, `${KEPT}-wal`, "in the way"), { recursive: true });
  expect(restore).toThrow();
  expect([read("netledger.db"), read("netledger.db-wal")]).toEqual([
    "what is left of a database",
    "a log that nothing can fold in",
  ]);
  expect(readdirSync(directory).filter((name) => name.includes(".before-"))).toEqual([`${KEPT}-wal`]);
});

describe("a refused restore leaves nothing", () => {
  let spoilt: string;
  beforeEach(() => {
    spoilt = join(scratch, "spoilt.db");
    const bytes = readFileSync(file);
    writeFileSync(spoilt, bytes.fill(0x5a, 3 * 8_192, 4 * 8_192));
  });
  const refusedInto = (target: string, more: object = {}) =>
    expect(() =>
      restoreBackup({
        file: spoilt,
        directory: target,
        mayReplace: true,
        mayDropSecrets: false,
        now: NOW,
        random: systemRandom,
        ...more,
      }),
    ).toThrow(DatabaseRefused);

  test("of the folders it created, however deep, also on a full disk", () => {
    refusedInto(join(scratch, "new", "and", "deep"));
    const small = {
      file,
      directory: join(scratch, "new", "and", "deep"),
      mayReplace: false,
      mayDropSecrets: false,
      now: NOW,
      random: systemRandom,
      freeBytes: () => 1_000,
    };
    expect(() => restoreBackup(small)).toThrow("not enough space");
    expect(readdirSync(scratch).toSorted()).toEqual(["backup.db", "data", "spoilt.db"]);
  });

  test("in an existing folder, and keeps an existing lock file", () => {
    const empty = join(scratch, "empty");
    mkdirSync(empty);
    refusedInto(empty);
    expect(readdirSync(empty)).toEqual([]);
    writeFileSync(join(empty, "netledger.lock"), "");
    refusedInto(empty);
    expect(readdirSync(empty)).toEqual(["netledger.lock"]);
    const before = readdirSync(directory);
    refusedInto(directory, { mayReplace: false });
    refusedInto(directory);
    expect(readdirSync(directory)).toEqual(before);
  });

  test.each([
    ["whole", ""],
    ["damaged, with a log,", "what is left of a database"],
  ])("if the backup cannot be renamed at the end: %s data regain their name", (_how, text) => {
    if (text === "") {
      for (const name of readdirSync(directory)) rmSync(join(directory, name));
      copyFileSync(file, join(directory, "netledger.db"));
      openWritable(join(directory, "netledger.db")).$client.close();
    }
    const before = readdirSync(directory).map((name) => [name, readFileSync(join(directory, name)).toHex()]);
    // The timestamp is read when the existing data is renamed, as the last step before.
    const options = {
      ...{ file, directory, mayReplace: true, mayDropSecrets: false, random: systemRandom },
      get now() {
        rmSync(join(directory, "netledger.db.restoring"));
        return NOW;
      },
    };
    expect(() => restoreBackup(options)).toThrow();
    expect(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name)).toHex()])).toEqual(before);
  });

  test("of a folder that got foreign files in the meantime, except those", () => {
    const target = join(scratch, "shared");
    refusedInto(target, { onProgress: () => writeFileSync(join(target, "netledger.key"), "a key") });
    expect(readdirSync(target)).toEqual(["netledger.key"]);
  });
});

test("a lock whose file was removed during the wait is acquired again", () => {
  const path = join(scratch, "lock");
  (DataLock.take(path, 0) as DataLock).discard();
  expect(existsSync(path)).toBe(false);
  const next = DataLock.take(path, 0) as DataLock;
  expect([existsSync(path), DataLock.take(path, 0)]).toEqual([true, null]);
  next.release();
});
