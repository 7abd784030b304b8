// What an operator is told when the disk is full or fails while a command works on the data.

import { DomainError } from "../base/errors.ts";
import type { DataFiles } from "../db/files/data-directory.ts";
import { isDiskTrouble } from "../db/sqlite-code.ts";

/** @param outcome how it stands then */
export function onDisk<T>(files: DataFiles, outcome: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!isDiskTrouble(error)) throw error;
    throw Object.assign(
      new DomainError("storage_full", `The disk of ${files.directory} is full or fails: ${outcome}.`),
      { cause: error },
    );
  }
}
