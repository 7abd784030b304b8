// Inline secrets of credentials: sealed in a separate table without history, and masked everywhere else. Which secrets
// a credential may have is decided in commands.ts.

import { and, eq } from "drizzle-orm";
import { blob, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { SecretBox } from "../../base/secret-box.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { type CredentialType, SECRET_FIELDS, SECRET_MASK, type Secret, type SecretField } from "./credential.ts";

export const credentialSecrets = sqliteTable(
  "credential_secrets",
  {
    credential_n: integer().notNull(),
    field: text().$type<SecretField>().notNull(),
    /** Sealed box (base/secret-box.ts) bound to the credential and field; empty if dropped. */
    sealed: blob({ mode: "buffer" }).notNull(),
    checksum: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.credential_n, table.field] })],
);

/** Sealed boxes by field. */
export type SealedSecrets = ReadonlyMap<SecretField, Uint8Array>;

/** Effect of a write on the stored secrets of a credential. */
export interface SecretChange {
  /** Inline values to seal. */
  readonly sealed: ReadonlyMap<SecretField, string>;
  /** Fields without an inline value after the write. */
  readonly dropped: readonly SecretField[];
  /** Whether any secret differs in value, mode, path or presence. */
  readonly isChanged: boolean;
}

/** Authenticated context of a sealed box: a box moved to another credential or field does not open. */
export function secretContext(credentialId: string, field: SecretField): string {
  return `credential:${credentialId}:${field}`;
}

/** Secret in a field of a credential type; undefined for none. */
export function secretIn(type: CredentialType, field: SecretField): Secret | undefined {
  return (type as Partial<Record<SecretField, Secret>>)[field];
}

/** Whether a credential type contains an inline secret other than the mask. */
export function sendsSecret(type: CredentialType): boolean {
  return SECRET_FIELDS.some((field) => {
    const secret = secretIn(type, field);
    return secret?.mode === "Inline" && secret.value !== SECRET_MASK;
  });
}

/** Credential type with masked secrets, as in history and responses. */
export function masked(type: CredentialType): CredentialType {
  const hidden: Partial<Record<SecretField, Secret>> = {};
  for (const field of SECRET_FIELDS) {
    if (secretIn(type, field)?.mode === "Inline") hidden[field] = { mode: "Inline", value: SECRET_MASK };
  }
  return { ...type, ...hidden };
}

/** Stored secrets of a credential, without dropped ones; empty during creation. */
export function storedSecrets(tx: WriteTransaction, credentialId: string): SealedSecrets {
  const n = tx.recordN(credentialId);
  if (n === null) return new Map();
  const rows = tx.db.select().from(credentialSecrets).where(eq(credentialSecrets.credential_n, n)).all();
  return new Map(rows.filter(({ sealed }) => sealed.length > 0).map((row) => [row.field, row.sealed]));
}

/**
 * Computes how `wanted` changes the stored secrets. A mask keeps the stored secret. Any secret sent counts as changed,
 * even if equal: otherwise a write would confirm a guess.
 * @param current the present credential type, masked
 */
export function secretChange(current: CredentialType, requested: CredentialType): SecretChange {
  const sealed = new Map<SecretField, string>();
  const dropped: SecretField[] = [];
  let isChanged = false;
  for (const field of SECRET_FIELDS) {
    const secret = secretIn(requested, field);
    if (secret?.mode === "Inline") {
      if (secret.value === SECRET_MASK) continue;
      sealed.set(field, secret.value);
      isChanged = true;
    } else {
      dropped.push(field);
      if (!Bun.deepEquals(secretIn(current, field), secret)) isChanged = true;
    }
  }
  return { sealed, dropped, isChanged };
}

/** Every inline secret of a credential being created. */
export function newSecrets(type: CredentialType): SecretChange {
  const sealed = new Map<SecretField, string>();
  for (const field of SECRET_FIELDS) {
    const secret = secretIn(type, field);
    if (secret?.mode === "Inline") sealed.set(field, secret.value);
  }
  return { sealed, dropped: [], isChanged: true };
}

/** Writes the change at the end of the transaction, once the credential has its number. */
export function storeSecrets(tx: WriteTransaction, box: SecretBox, credentialId: string, change: SecretChange): void {
  deleteSecrets(tx, credentialId, change.dropped);
  tx.runAfterWrite(() => {
    const n = tx.recordN(credentialId) as number;
    for (const [field, plaintext] of change.sealed) {
      const sealed = Buffer.from(box.seal(plaintext, secretContext(credentialId, field)));
      const row = withChecksum(credentialSecrets, { credential_n: n, field, sealed });
      tx.db
        .insert(credentialSecrets)
        .values(row)
        .onConflictDoUpdate({ target: [credentialSecrets.credential_n, credentialSecrets.field], set: row })
        .run();
    }
  });
}

/** Deletes inline values permanently at the end of the transaction. */
export function deleteSecrets(tx: WriteTransaction, credentialId: string, fields: readonly SecretField[]): void {
  tx.runAfterWrite(() => {
    const n = tx.recordN(credentialId) as number;
    for (const field of fields)
      tx.db
        .delete(credentialSecrets)
        .where(and(eq(credentialSecrets.credential_n, n), eq(credentialSecrets.field, field)))
        .run();
  });
}
