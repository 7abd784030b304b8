// What it means when SQLite can't do its work: that the file is damaged, or that the disk is full or fails. In words
// for whoever asked, and in words for the operator. Knows no statuses.

import { DomainError } from "../base/errors.ts";
import { isDiskTrouble, sqliteCode } from "./sqlite-code.ts";

/** Completes a sentence that says that the data of a folder are damaged. */
export const GOOD_COPY = "replace it with a good copy: netledger restore BACKUP --replace";

/** Whether SQLite found the file to be other than it wrote it. */
function isDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  return code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB";
}

/**
 * What is answered when a read or a write meets such trouble; its cause is for the log.
 * @param nothing what came of the request: "nothing was written"
 * @returns null where something else went wrong, and for what is a DomainError already
 */
export function troubleOf(error: unknown, nothing: string): DomainError | null {
  // Reported already, in better words.
  if (error instanceof DomainError) return null;
  const code = sqliteCode(error);
  if (isDamage(error)) {
    const cause = `The database is damaged (${code}): stop the appliance, run netledger verify, and ${GOOD_COPY}.`;
    return because(
      new DomainError("internal_error", `The database is damaged: ${nothing}. The appliance's log says what to do.`),
      cause,
    );
  }
  if (isDiskTrouble(error))
    return because(new DomainError("storage_full", `The disk is full or fails: ${nothing}.`), String(error));
  if (code.startsWith("SQLITE_READONLY") || code.startsWith("SQLITE_CANTOPEN")) {
    return because(new DomainError("storage_full", `The disk cannot be written to: ${nothing}.`), String(error));
  }
  return null;
}

/** What a read comes to that meets such trouble. @returns null as troubleOf */
export function readTroubleOf(error: unknown): DomainError | null {
  return troubleOf(error, "this cannot be read");
}

/** One sentence for the operator whose file SQLite can't open or use. */
export function describeRefusal(error: unknown, path: string): string {
  const code = sqliteCode(error);
  if (isDamage(error)) return `${path} is damaged (${code}): ${GOOD_COPY}.`;
  if (isDiskTrouble(error))
    return `${path} cannot be used (${code}): its disk is full or fails. Free some space on it.`;
  if (code.startsWith("SQLITE_CANTOPEN"))
    return `${path} cannot be opened (${code}): the disk needs space for another file, and the folder must be writable.`;
  if (code.startsWith("SQLITE_READONLY"))
    return `${path} cannot be written to (${code}): the disk must not be read-only, and the file and its folder must be writable.`;
  // A table or a column is missing.
  if (code === "SQLITE_ERROR")
    return `${path} is damaged (${error instanceof Error ? error.message : error}): ${GOOD_COPY}.`;
  return `${path} cannot be opened (${code}).`;
}

function because(error: DomainError, cause: string): DomainError {
  error.cause = cause;
  return error;
}
