// Writer commands for backups: only store, for requests with an Idempotency-Key, the name of the created or deleted
// backup.

import type { CallsOf } from "../db/writing/command.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";
import { noSuchBackup } from "./unknown-backup.ts";

/** Writes nothing to the ledger. */
function nameBackup(_tx: WriteTransaction, input: { name: string }): { name: string } {
  return { name: input.name };
}

/**
 * Writes nothing to the ledger.
 * @param input.exists whether a backup with the name exists
 * @throws DomainError entity_not_found, which is not stored
 */
function forgetBackup(_tx: WriteTransaction, input: { name: string; exists: boolean }): { name: string } {
  if (!input.exists) throw noSuchBackup(input.name);
  return { name: input.name };
}

export const backupCommands = { "backup.name": nameBackup, "backup.forget": forgetBackup };
export type BackupCommands = CallsOf<typeof backupCommands>;
