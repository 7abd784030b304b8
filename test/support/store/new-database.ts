// A database that nobody has written to yet: made by the product once for each file of tests, then copied.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createDatabase } from "../../../src/db/files/migrate.ts";
import { scratchParent } from "../measure/scratch-parent.ts";

let made: Uint8Array | undefined;

/** Puts an empty database of this version's schema at a path where there is none. */
export function putNewDatabase(path: string): void {
  made ??= makeOne();
  writeFileSync(path, made, { flag: "wx" });
}

function makeOne(): Uint8Array {
  const directory = mkdtempSync(join(scratchParent(), "netledger-new-"));
  const path = join(directory, "netledger.db");
  try {
    createDatabase(path);
    return readFileSync(path);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
