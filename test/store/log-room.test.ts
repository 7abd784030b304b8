// WAL size during a verification of a working appliance: bounded however long the read, without long waits.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { JOURNAL_SIZE_LIMIT_BYTES, openReadOnly, openWritable, type Sql } from "../../src/db/connection.ts";
import { LogRoom } from "../../src/history/verify/log-room.ts";

const MIB = 1024 * 1024;
const LIMIT_MIB = JOURNAL_SIZE_LIMIT_BYTES / MIB;

let directory: string;
let path: string;
let writer: Sql;
let reader: Sql;
let paused: number;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "netledger-log-room-"));
  path = join(directory, "some.db");
  writer = openWritable(path);
  writer.$client.run("PRAGMA synchronous = OFF");
  writer.$client.run("CREATE TABLE things (bytes BLOB)");
  reader = openReadOnly(path);
  paused = 0;
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
/** Concurrent writes of others. */
const roomBeside = (meanwhile: () => void) =>
  new LogRoom(path, () => {
    paused += 1;
    meanwhile();
  });
const writeLittle = () => writer.$client.run("INSERT INTO things VALUES (x'00')");

/** Like the steps of a verification: some read is always open during a write. */
function grow(mib: number): void {
  reader.$client.run("BEGIN");
  read();
  write(mib);
  reader.$client.run("COMMIT");
}

test("a large log is truncated once two commits found no reader", () => {
  const room = roomBeside(writeLittle);
  grow(LIMIT_MIB + 10);
  expect(logMib()).toBeGreaterThan(LIMIT_MIB);
  room.give();
  expect(paused).toBeGreaterThan(0);
  expect(paused).toBeLessThan(5);
  expect(logMib()).toBeLessThanOrEqual(LIMIT_MIB);
});

test("a small log is not waited for", () => {
  const room = roomBeside(writeLittle);
  room.give();
  grow(LIMIT_MIB - 10);
  room.give();
  expect(paused).toBe(0);
});

test("with an active reader truncation is given up, and retried after the same growth", () => {
  const other = openReadOnly(path);
  other.$client.run("BEGIN");
  other.$client.query("SELECT count(*) FROM things").get();
  const room = roomBeside(writeLittle);
  grow(LIMIT_MIB + 1);
  room.give();
  const inVain = paused;
  expect(inVain).toBeGreaterThan(10);
  grow(10);
  room.give();
  expect(paused).toBe(inVain);
  grow(LIMIT_MIB);
  other.$client.run("COMMIT");
  other.$client.close();
  room.give();
  expect(paused).toBeGreaterThan(inVain);
  expect(logMib()).toBeLessThanOrEqual(LIMIT_MIB);
});
