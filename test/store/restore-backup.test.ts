// A backup takes its place: what was there keeps its name until then, and is whole under another one afterwards.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemRandom } from "../../src/base/random.ts";
import { restoreBackup } from "../../src/backup/restore.ts";
import { Store } from "../support/store.ts";

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

const restore = () => restoreBackup({ file, directory, mayReplace: true, mayDropSecrets: false, now: NOW, random: systemRandom });
const read = (name: string) => readFileSync(join(directory, name), "utf8");

test("damaged data and their log are kept side by side under one name", () => {
  expect(restore().kept).toBe(join(directory, KEPT));
  expect([read(KEPT), read(`${KEPT}-wal`)]).toEqual(["what is left of a database", "a log that nothing can fold in"]);
  expect(existsSync(join(directory, "netledger.db-wal"))).toBe(false);
  expect(read("netledger.db")).toStartWith("SQLite format 3");
});

test("where the log cannot be put aside, all is as it was", () => {
  mkdirSync(join(directory, `${KEPT}-wal`, "in the way"), { recursive: true });
  expect(restore).toThrow();
  expect([read("netledger.db"), read("netledger.db-wal")]).toEqual(["what is left of a database", "a log that nothing can fold in"]);
  expect(readdirSync(directory).filter((name) => name.includes(".before-"))).toEqual([`${KEPT}-wal`]);
});
