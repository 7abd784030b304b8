// Sealed secrets of a whole store, for commands that check or replace its key. Never reveals their contents.

import type { SecretBox } from "../../base/secret-box.ts";
import type { Sql } from "../../db/connection.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import type { SecretField } from "./credential.ts";
import { credentialSecrets, secretContext } from "./secrets.ts";

export interface SecretCounts {
  readonly total: number;
  /** Number of secrets that the key cannot open. */
  readonly unreadable: number;
}

/** @param box of the key; null opens nothing */
export function countSecrets(db: Sql, box: SecretBox | null): SecretCounts {
  let total = 0;
  let unreadable = 0;
  const rows = db.$client
    .query(
      `SELECT r.id, s.field, s.sealed FROM credential_secrets s JOIN history_records r ON r.n = s.credential_n
       WHERE length(s.sealed) > 0`,
    )
    .values() as Array<[string, SecretField, Uint8Array]>;
  for (const [id, field, sealed] of rows) {
    total += 1;
    if (!canOpen(box, sealed, secretContext(id, field))) unreadable += 1;
  }
  return { total, unreadable };
}

/**
 * Drops all secrets. The credentials stay and accept new secrets. An empty row marks each secret as dropped; a missing
 * row means data loss.
 */
export function dropSecrets(db: Sql): void {
  const rows = db.$client.query("SELECT credential_n, field FROM credential_secrets").values() as Array<
    [number, SecretField]
  >;
  for (const [credentialN, field] of rows) markDropped(db, credentialN, field);
}

function markDropped(db: Sql, credentialN: number, field: SecretField): void {
  const row = withChecksum(credentialSecrets, { credential_n: credentialN, field, sealed: Buffer.alloc(0) });
  const target = [credentialSecrets.credential_n, credentialSecrets.field];
  db.insert(credentialSecrets).values(row).onConflictDoUpdate({ target, set: row }).run();
}

function canOpen(box: SecretBox | null, sealed: Uint8Array, context: string): boolean {
  try {
    box?.open(sealed, context);
    return box !== null;
  } catch {
    return false;
  }
}
