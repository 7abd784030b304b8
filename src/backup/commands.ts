// What the writer runs for backups: nothing but keeping, for a request with an Idempotency-Key, which backup it asked
// for, or was rid of.

import type { CallsOf } from "../db/writing/command.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";
import { noSuchBackup } from "./unknown-backup.ts";

/** Writes nothing to the ledger. */
function nameBackup(_tx: WriteTransaction, input: { name: string }): { name: string } {
  return { name: input.name };
}

/**
 * Writes nothing to the ledger either.
 * @param input.isThere whether there is one of the name
 * @throws DomainError entity_not_found, which is not kept
 */
function forgetBackup(_tx: WriteTransaction, input: { name: string; isThere: boolean }): { name: string } {
  if (!input.isThere) throw noSuchBackup(input.name);
  return { name: input.name };
}

export const backupCommands = { "backup.name": nameBackup, "backup.forget": forgetBackup };
export type BackupCommands = CallsOf<typeof backupCommands>;
