// The inline secrets of credentials: sealed, in a table of their own that has no history, replaced by a mask everywhere
// else. Must not decide which secrets a credential may have: commands.ts does.

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
    /** A sealed box (base/secret-box.ts) under the context of the credential and the field; empty where it was dropped. */
    sealed: blob({ mode: "buffer" }).notNull(),
    checksum: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.credential_n, table.field] })],
);

/** Sealed boxes by field. */
export type SealedSecrets = ReadonlyMap<SecretField, Uint8Array>;

/** What a write does to the stored secrets of a credential. */
export interface SecretChange {
  /** Inline values to seal. */
  readonly sealed: ReadonlyMap<SecretField, string>;
  /** Fields that have no inline value, or no longer. */
  readonly dropped: readonly SecretField[];
  /** Whether any secret is another one now: its value, its mode, its path, or that it is there at all. */
  readonly isChanged: boolean;
}

/** Whose secret a sealed box holds; authenticated with it, so that no box opens in the place of another. */
export function secretContext(credentialId: string, field: SecretField): string {
  return `credential:${credentialId}:${field}`;
}

/** The secret that a credential type has in a field; undefined for none. */
export function secretIn(type: CredentialType, field: SecretField): Secret | undefined {
  return (type as Partial<Record<SecretField, Secret>>)[field];
}

/** Whether a credential type comes with an inline secret, and not with masks alone. */
export function sendsSecret(type: CredentialType): boolean {
  return SECRET_FIELDS.some((field) => {
    const secret = secretIn(type, field);
    return secret?.mode === "Inline" && secret.value !== SECRET_MASK;
  });
}

/** The credential type as history and answers have it. */
export function masked(type: CredentialType): CredentialType {
  const hidden: Partial<Record<SecretField, Secret>> = {};
  for (const field of SECRET_FIELDS) {
    if (secretIn(type, field)?.mode === "Inline") hidden[field] = { mode: "Inline", value: SECRET_MASK };
  }
  return { ...type, ...hidden };
}

/** What is stored of a credential, without what was dropped; empty for one that is being created. */
export function storedSecrets(tx: WriteTransaction, credentialId: string): SealedSecrets {
  const n = tx.recordN(credentialId);
  if (n === null) return new Map();
  const rows = tx.db.select().from(credentialSecrets).where(eq(credentialSecrets.credential_n, n)).all();
  return new Map(rows.filter(({ sealed }) => sealed.length > 0).map((row) => [row.field, row.sealed]));
}

/**
 * What `wanted` changes about the stored secrets. The mask keeps what is stored. A secret that is sent is another one,
 * also where it is the stored one: else a write would tell whether it was guessed.
 * @param current the credential type as it stands, masked
 */
export function secretChange(current: CredentialType, wanted: CredentialType): SecretChange {
  const sealed = new Map<SecretField, string>();
  const dropped: SecretField[] = [];
  let isChanged = false;
  for (const field of SECRET_FIELDS) {
    const secret = secretIn(wanted, field);
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

/** Every inline secret of a credential that is being created. */
export function newSecrets(type: CredentialType): SecretChange {
  const sealed = new Map<SecretField, string>();
  for (const field of SECRET_FIELDS) {
    const secret = secretIn(type, field);
    if (secret?.mode === "Inline") sealed.set(field, secret.value);
  }
  return { sealed, dropped: [], isChanged: true };
}

/** Writes a change at the end of the transaction, when the credential has its number. */
export function storeSecrets(tx: WriteTransaction, box: SecretBox, credentialId: string, change: SecretChange): void {
  forgetSecrets(tx, credentialId, change.dropped);
  tx.afterwardsRun(() => {
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

/** Forgets inline values at the end of the transaction, for ever. */
export function forgetSecrets(tx: WriteTransaction, credentialId: string, fields: readonly SecretField[]): void {
  tx.afterwardsRun(() => {
    const n = tx.recordN(credentialId) as number;
    for (const field of fields)
      tx.db
        .delete(credentialSecrets)
        .where(and(eq(credentialSecrets.credential_n, n), eq(credentialSecrets.field, field)))
        .run();
  });
}
