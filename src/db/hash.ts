// Hash chain of the ledger, byte for byte. Every value is length-prefixed, so that different rows never hash alike.

interface HashedVersion {
  id: string;
  kind: number;
  sequence: number;
  operation: number;
  shape: number;
  composed: number;
  changed: string | null;
  sort_keys: string | null;
  observed: string;
  members: string | null;
}

interface HashedTransaction {
  sequence: number;
  at: number;
  wall_at: number;
  organization_id: string | null;
  actor_type: string;
  actor_id: string | null;
  actor_name: string;
  request_id: string | null;
  source: string;
  last_n: number;
  reason: string | null;
}

/** Predecessor hash of the first transaction. */
export const CHAIN_START = new Uint8Array(32);

/**
 * SQL for the first bytes of a `hash` column. Distinguishes transactions of equal sequence after a restore from backup.
 */
export const HASH_MARK_SQL = "lower(hex(substr(hash, 1, 4)))";

/** SHA-256 of one version. */
export function hashVersion(v: HashedVersion): Uint8Array {
  return sha256(
    frame([v.id, v.kind, v.sequence, v.operation, v.shape, v.composed, v.changed, v.sort_keys, v.observed, v.members]),
  );
}

/**
 * SHA-256 of the predecessor's hash, the transaction's columns, its versions' hashes in record-number order, and its
 * reason if set. The reason comes last, so that transactions without one hash as in earlier releases. The version count
 * marks where the version hashes end.
 */
export function hashTransaction(
  previous: Uint8Array,
  t: HashedTransaction,
  versionHashes: readonly Uint8Array[],
): Uint8Array {
  const hasher = new Bun.CryptoHasher("sha256");
  hasher.update(previous);
  hasher.update(frame([t.sequence, t.at, t.wall_at, t.organization_id, t.actor_type, t.actor_id, t.actor_name]));
  hasher.update(frame([t.request_id, t.source, t.last_n, versionHashes.length]));
  for (const hash of versionHashes) hasher.update(hash);
  if (t.reason !== null) hasher.update(frame([t.reason]));
  return new Uint8Array(hasher.digest());
}

function sha256(text: string): Uint8Array {
  return Bun.SHA256.hash(text) as Uint8Array;
}

function frame(values: ReadonlyArray<string | number | null>): string {
  let text = "";
  for (const value of values) {
    if (value === null) text += "-;";
    else {
      const part = String(value);
      text += `${part.length}:${part};`;
    }
  }
  return text;
}
