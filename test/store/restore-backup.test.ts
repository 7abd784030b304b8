// Restoring a backup: the existing data keeps its name until the swap, and is complete under another name afterwards.

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
const RENAMED = "netledger.db.before-20261121T000000000Z";
const DAMAGED = "what is left of a database";
const LOG = "a log that cannot be checkpointed";

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
  writeFileSync(join(directory, "netledger.db"), DAMAGED);
  writeFileSync(join(directory, "netledger.db-wal"), LOG);
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

const OPTIONS = { mayReplace: true, mayDropSecrets: false, now: NOW, random: systemRandom };
const restore = () => restoreBackup({ file, directory, ...OPTIONS });
const read = (name: string) => readFileSync(join(directory, name), "utf8");

test("damaged data and their log are kept together under one name", () => {
  expect(restore().previous).toBe(join(directory, RENAMED));
  expect([read(RENAMED), read(`${RENAMED}-wal`)]).toEqual([DAMAGED, LOG]);
  expect(existsSync(join(directory, "netledger.db-wal"))).toBe(false);
  expect(read("netledger.db")).toStartWith("SQLite format 3");
});

test("everything is unchanged if the log cannot be renamed", () => {
  mkdirSync(join(directory, `${RENAMED}-wal`, "in the way"), { recursive: true });
  expect(restore).toThrow();
  expect([read("netledger.db"), read("netledger.db-wal")]).toEqual([DAMAGED, LOG]);
  expect(readdirSync(directory).filter((name) => name.includes(".before-"))).toEqual([`${RENAMED}-wal`]);
});

describe("a refused restore", () => {
  let damagedBackup: string;
  beforeEach(() => {
    damagedBackup = join(scratch, "damaged.db");
    const bytes = readFileSync(file);
    writeFileSync(damagedBackup, bytes.fill(0x5a, 3 * 8_192, 4 * 8_192));
  });
  const expectRefusal = (target: string, overrides: object = {}) =>
    expect(() => restoreBackup({ file: damagedBackup, directory: target, ...OPTIONS, ...overrides })).toThrow(
      DatabaseRefused,
    );

  test("removes the directories it created at any depth, even on a full disk", () => {
    const deep = join(scratch, "new", "and", "deep");
    expectRefusal(deep);
    const small = { ...OPTIONS, mayReplace: false, freeBytes: () => 1_000 };
    expect(() => restoreBackup({ file, directory: deep, ...small })).toThrow("not enough space");
    expect(readdirSync(scratch).toSorted()).toEqual(["backup.db", "damaged.db", "data"]);
  });

  test("leaves nothing in an existing directory, and keeps an existing lock file", () => {
    const empty = join(scratch, "empty");
    mkdirSync(empty);
    expectRefusal(empty);
    expect(readdirSync(empty)).toEqual([]);
    writeFileSync(join(empty, "netledger.lock"), "");
    expectRefusal(empty);
    expect(readdirSync(empty)).toEqual(["netledger.lock"]);
    const before = readdirSync(directory);
    expectRefusal(directory, { mayReplace: false });
    expectRefusal(directory);
    expect(readdirSync(directory)).toEqual(before);
  });

  test.each(["intact", "damaged"])("gives %s data their name back if the backup cannot be renamed", (state) => {
    if (state === "intact") {
      for (const name of readdirSync(directory)) rmSync(join(directory, name));
      copyFileSync(file, join(directory, "netledger.db"));
      openWritable(join(directory, "netledger.db")).$client.close();
    }
    const content = () => readdirSync(directory).map((name) => [name, readFileSync(join(directory, name)).toHex()]);
    const before = content();
    // The timestamp is read when the existing data is renamed, as the last step before.
    const options = {
      ...{ file, directory, ...OPTIONS },
      get now() {
        rmSync(join(directory, "netledger.db.restoring"));
        return NOW;
      },
    };
    expect(() => restoreBackup(options)).toThrow();
    expect(content()).toEqual(before);
  });

  test("keeps other files that have appeared in its directory in the meantime", () => {
    const target = join(scratch, "shared");
    expectRefusal(target, { onProgress: () => writeFileSync(join(target, "netledger.key"), "a key") });
    expect(readdirSync(target)).toEqual(["netledger.key"]);
  });
});

test("a lock whose file was removed during the wait is acquired again", () => {
  const path = join(scratch, "lock");
  (DataLock.acquire(path, 0) as DataLock).discard();
  expect(existsSync(path)).toBe(false);
  const lock = DataLock.acquire(path, 0) as DataLock;
  expect([existsSync(path), DataLock.acquire(path, 0)]).toEqual([true, null]);
  lock.release();
});
