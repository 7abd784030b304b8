// Writer commands for verifications: they only store, for a request with an Idempotency-Key, which verification it
// started or canceled.

import type { CallsOf } from "../db/writing/command.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";
import { assertRunning } from "./assert-running.ts";
import type { Verification } from "./verification.ts";

/** Writes nothing to the ledger. */
function nameVerification(_tx: WriteTransaction, input: { id: string }): { id: string } {
  return { id: input.id };
}

/**
 * Writes nothing to the ledger either.
 * @param input.status null if there is none with this id
 * @throws DomainError entity_not_found, entity_stale, which are not stored
 */
function cancelVerification(
  _tx: WriteTransaction,
  { id, status }: { id: string; status: Verification["status"] | null },
): { id: string } {
  assertRunning(id, status);
  return { id };
}

export const verificationCommands = {
  "verification.cancel": cancelVerification,
  "verification.name": nameVerification,
};
export type VerificationCommands = CallsOf<typeof verificationCommands>;
