// Disk content after kills and power loss, replayed from a log, so that the kill test never reports durable data as
// lost.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RECORD } from "../../scripts/proof/kill/disk-log.ts";
import { ForgetfulDisk } from "../../scripts/proof/kill/forgetful-disk.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

let folder = "";
let root = "";
let disk: ForgetfulDisk;
const file = () => join(root, "log");

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "netledger-disk-"));
  root = join(folder, "data");
  mkdirSync(root);
  writeFileSync(file(), "certain ");
  disk = new ForgetfulDisk(root, join(folder, "disk.log"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Appends a log entry in the shim's format. */
function log(type: number, { offset = 0, sync = 0, bytes = "" }): void {
  const header = Buffer.alloc(40);
  header.writeUInt32LE(0x4b534944, 0);
  header.writeUInt32LE(type, 4);
  header.writeBigUInt64LE(BigInt(statSync(file()).ino), 8);
  header.writeBigUInt64LE(BigInt(offset), 16);
  header.writeBigUInt64LE(BigInt(bytes.length), 24);
  header.writeUInt32LE(sync, 32);
  appendFileSync(join(folder, "disk.log"), Buffer.concat([header, Buffer.from(bytes)]));
}

/** @param isLogged false for a thread killed after the write, before its log entry */
function write(bytes: string, isLogged = true): void {
  const offset = statSync(file()).size;
  appendFileSync(file(), bytes);
  if (isLogged) log(RECORD.write, { offset, bytes });
}

function sync(id: number): void {
  log(RECORD.begin, { sync: id });
  log(RECORD.end, { sync: id });
}

function afterPowerLoss(): string {
  disk.losePower("dropped", seededRandom(1));
  return readFileSync(file(), "utf8");
}

test("a killed program's writes are visible to the next one, whose sync makes them durable", () => {
  write("logged ");
  write("done ", false);
  disk.keepAll();
  write("built on it");
  sync(1);
  expect(afterPowerLoss()).toBe("certain logged done built on it");
});

test("unsynced writes are lost in a power failure, logged or not", () => {
  write("logged ");
  write("done ", false);
  disk.keepAll();
  write("built on it");
  expect(afterPowerLoss()).toBe("certain ");
});
