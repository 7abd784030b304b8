// WAL size during a verification of a working appliance: bounded for reads of any length, without long waits.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { JOURNAL_SIZE_LIMIT_BYTES, openReadOnly, openWritable, type Sql } from "../../src/db/connection.ts";
import { WalPauses } from "../../src/history/verify/log-room.ts";

const MIB = 1024 * 1024;
const LIMIT_MIB = JOURNAL_SIZE_LIMIT_BYTES / MIB;

let directory: string;
let path: string;
let writer: Sql;
let reader: Sql;
let pauseCount: number;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "netledger-log-room-"));
  path = join(directory, "some.db");
  writer = openWritable(path);
  writer.$client.run("PRAGMA synchronous = OFF");
  writer.$client.run("CREATE TABLE things (bytes BLOB)");
  reader = openReadOnly(path);
  pauseCount = 0;
});
afterEach(() => {
  reader.$client.close();
  writer.$client.close();
  rmSync(directory, { recursive: true, force: true });
});

const write = (mib: number) => {
  for (let n = 0; n < mib; n += 1) writer.$client.run(`INSERT INTO things VALUES (zeroblob(${MIB}))`);
};
const read = () => reader.$client.query("SELECT count(*) FROM things").get();
const logMib = () => statSync(`${path}-wal`).size / MIB;
/** Pauses during which others write. */
const pausesDuring = (concurrentWrite: () => void) =>
  new WalPauses(path, () => {
    pauseCount += 1;
    concurrentWrite();
  });
const writeLittle = () => writer.$client.run("INSERT INTO things VALUES (x'00')");

/** Grows the log like the steps of a verification, with a read open during each write. */
function grow(mib: number): void {
  reader.$client.run("BEGIN");
  read();
  write(mib);
  reader.$client.run("COMMIT");
}

test("a large log is truncated once two commits found no reader", () => {
  const pauses = pausesDuring(writeLittle);
  grow(LIMIT_MIB + 10);
  expect(logMib()).toBeGreaterThan(LIMIT_MIB);
  pauses.pauseIfLarge();
  expect(pauseCount).toBeGreaterThan(0);
  expect(pauseCount).toBeLessThan(5);
  expect(logMib()).toBeLessThanOrEqual(LIMIT_MIB);
});

test("a small log causes no pause", () => {
  const pauses = pausesDuring(writeLittle);
  pauses.pauseIfLarge();
  grow(LIMIT_MIB - 10);
  pauses.pauseIfLarge();
  expect(pauseCount).toBe(0);
});

test("truncation is given up with an active reader, and retried after the same growth", () => {
  const activeReader = openReadOnly(path);
  activeReader.$client.run("BEGIN");
  activeReader.$client.query("SELECT count(*) FROM things").get();
  const pauses = pausesDuring(writeLittle);
  grow(LIMIT_MIB + 1);
  pauses.pauseIfLarge();
  const pausesBefore = pauseCount;
  expect(pausesBefore).toBeGreaterThan(10);
  grow(10);
  pauses.pauseIfLarge();
  expect(pauseCount).toBe(pausesBefore);
  grow(LIMIT_MIB);
  activeReader.$client.run("COMMIT");
  activeReader.$client.close();
  pauses.pauseIfLarge();
  expect(pauseCount).toBeGreaterThan(pausesBefore);
  expect(logMib()).toBeLessThanOrEqual(LIMIT_MIB);
});
