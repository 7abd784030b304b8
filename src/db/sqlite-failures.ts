// Messages for SQLite failures: a damaged file, or a full or failing disk. One for the caller, one for the operator.
// Independent of HTTP statuses.

import { DomainError } from "../base/errors.ts";
import { isDiskFailure, sqliteCode } from "./sqlite-code.ts";

/** Completes a sentence about damaged data in a directory. */
export const RESTORE_ADVICE = "replace it with a good copy: netledger restore BACKUP --replace";

/** Whether SQLite found the file corrupt. */
function isDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  return code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB";
}

/**
 * Error for a read or write that meets such a failure; its cause is for the log.
 * @param outcome the outcome of the request: "nothing was written"
 * @returns null for any other error, and for a DomainError
 */
export function storageFailureOf(error: unknown, outcome: string): DomainError | null {
  // Already reported, with a better message.
  if (error instanceof DomainError) return null;
  const code = sqliteCode(error);
  if (isDamage(error)) {
    const cause = `The database is damaged (${code}): stop the appliance, run netledger verify, and ${RESTORE_ADVICE}.`;
    return withCause(
      new DomainError("internal_error", `The database is damaged: ${outcome}. See the appliance's log for what to do.`),
      cause,
    );
  }
  if (isDiskFailure(error))
    return withCause(new DomainError("storage_full", `The disk is full or failing: ${outcome}.`), String(error));
  if (code.startsWith("SQLITE_READONLY") || code.startsWith("SQLITE_CANTOPEN")) {
    return withCause(new DomainError("storage_full", `The disk cannot be written to: ${outcome}.`), String(error));
  }
  return null;
}

/** Error for a read that meets such a failure. @returns null like storageFailureOf */
export function readFailureOf(error: unknown): DomainError | null {
  return storageFailureOf(error, "this cannot be read");
}

/** One sentence for the operator about a file that SQLite cannot open or use. */
export function describeOpenFailure(error: unknown, path: string): string {
  const code = sqliteCode(error);
  if (isDamage(error)) return `${path} is damaged (${code}): ${RESTORE_ADVICE}.`;
  if (isDiskFailure(error))
    return `${path} cannot be used (${code}): its disk is full or failing. Free some space on it.`;
  if (code.startsWith("SQLITE_CANTOPEN"))
    return `${path} cannot be opened (${code}): the disk needs space for another file, and the folder must be writable.`;
  if (code.startsWith("SQLITE_READONLY"))
    return `${path} cannot be written to (${code}): the disk must not be read-only, and the file and its folder must be writable.`;
  // A table or column is missing.
  if (code === "SQLITE_ERROR")
    return `${path} is damaged (${error instanceof Error ? error.message : error}): ${RESTORE_ADVICE}.`;
  return `${path} cannot be opened (${code}).`;
}

function withCause(error: DomainError, cause: string): DomainError {
  error.cause = cause;
  return error;
}
