// Empty database, created by the product once per test file, then copied.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createDatabase } from "../../../src/db/files/migrate.ts";
import { scratchParent } from "../measure/scratch-parent.ts";

let emptyDatabase: Uint8Array | undefined;

/** Creates an empty database of the current schema at an unused path. */
export function writeNewDatabase(path: string): void {
  emptyDatabase ??= createEmptyDatabase();
  writeFileSync(path, emptyDatabase, { flag: "wx" });
}

function createEmptyDatabase(): Uint8Array {
  const directory = mkdtempSync(join(scratchParent(), "netledger-new-"));
  const path = join(directory, "netledger.db");
  try {
    createDatabase(path);
    return readFileSync(path);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
