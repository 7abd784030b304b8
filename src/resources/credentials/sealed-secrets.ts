// The sealed secrets of a whole store, for whoever brings a store and a key together. Must not tell what is in them.

import type { SecretBox } from "../../base/secret-box.ts";
import type { Sql } from "../../db/connection.ts";
import type { SecretField } from "./credential.ts";
import { secretContext } from "./secrets.ts";

export interface SecretsFound {
  readonly total: number;
  /** Those that the key does not open. */
  readonly closed: number;
}

/** @param box of the key; null for none, which opens nothing */
export function trySecrets(db: Sql, box: SecretBox | null): SecretsFound {
  let total = 0;
  let closed = 0;
  const rows = db.$client
    .query("SELECT r.id, s.field, s.sealed FROM credential_secrets s JOIN history_records r ON r.n = s.credential_n")
    .values() as Array<[string, SecretField, Uint8Array]>;
  for (const [id, field, sealed] of rows) {
    total += 1;
    if (!opens(box, sealed, secretContext(id, field))) closed += 1;
  }
  return { total, closed };
}

/** Drops all of them. The credentials stay, and take their secrets anew. */
export function dropSecrets(db: Sql): void {
  db.$client.run("DELETE FROM credential_secrets");
}

function opens(box: SecretBox | null, sealed: Uint8Array, context: string): boolean {
  try {
    box?.open(sealed, context);
    return box !== null;
  } catch {
    return false;
  }
}
