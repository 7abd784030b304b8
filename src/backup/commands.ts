// What the writer runs for backups: nothing but keeping, for a request with an Idempotency-Key, which backup it asked for.

import type { WriteTransaction } from "../db/transaction.ts";

/** Writes nothing to the ledger. */
export function nameBackup(_tx: WriteTransaction, input: { name: string }): { name: string } {
  return { name: input.name };
}
