// What the writer runs for backups: nothing but keeping, for a request with an Idempotency-Key, which backup it asked
// for.

import type { CallsOf } from "../db/writing/command.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";

/** Writes nothing to the ledger. */
function nameBackup(_tx: WriteTransaction, input: { name: string }): { name: string } {
  return { name: input.name };
}

export const backupCommands = { "backup.name": nameBackup };
export type BackupCommands = CallsOf<typeof backupCommands>;
