// Database creation: atomic, and never over an existing file.

import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDatabase, readHeader, SCHEMA_VERSION } from "../../src/db/files/migrate.ts";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "netledger-create-"));
  path = join(directory, "netledger.db");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test.each([
  ["without leftover files", []],
  ["over the leftovers of an interrupted start", ["", "-wal", "-shm"]],
])("a database is created with its schema, %s", (_title, leftovers) => {
  for (const suffix of leftovers) writeFileSync(`${path}.new${suffix}`, "half of it");
  createDatabase(path);
  expect(readHeader(path)?.schemaVersion).toBe(SCHEMA_VERSION);
  expect(readdirSync(directory)).toEqual(["netledger.db"]);
});

test("a link whose target disk is missing is not replaced", () => {
  const disk = join(directory, "disk");
  symlinkSync(join(disk, "netledger.db"), path);
  createDatabase(path);
  expect(readlinkSync(path)).toBe(join(disk, "netledger.db"));
  mkdirSync(disk);
  createDatabase(path);
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
});

test("an existing file is not overwritten", () => {
  writeFileSync(path, "something else");
  createDatabase(path);
  expect(readdirSync(directory)).toEqual(["netledger.db"]);
});
