// The ledger's hash chain, byte for byte. Every value is preceded by its length, so that no two rows hash alike.

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

/** The predecessor hash of the first transaction. */
export const CHAIN_START = new Uint8Array(32);

/**
 * The beginning of a column `hash`, as SQL: tells apart two transactions of one sequence, where a backup was restored
 * between them.
 */
export const MARK_OF_HASH = "lower(hex(substr(hash, 1, 4)))";

/** SHA-256 of one version. */
export function hashVersion(v: HashedVersion): Uint8Array {
  return sha256(
    frame([v.id, v.kind, v.sequence, v.operation, v.shape, v.composed, v.changed, v.sort_keys, v.observed, v.members]),
  );
}

/**
 * SHA-256 of the predecessor's hash, the transaction's columns, its versions' hashes by record number, and its reason
 * where it has one. The reason comes last: a transaction without one hashes as it did before there were any, and the
 * count of the versions says where their hashes end and a reason begins.
 */
export function hashTransaction(
  previous: Uint8Array,
  t: HashedTransaction,
  versionHashes: readonly Uint8Array[],
): Uint8Array {
  const hasher = new Bun.CryptoHasher("sha256");
  hasher.update(previous);
  hasher.update(
    frame([
      t.sequence,
      t.at,
      t.wall_at,
      t.organization_id,
      t.actor_type,
      t.actor_id,
      t.actor_name,
      t.request_id,
      t.source,
      t.last_n,
      versionHashes.length,
    ]),
  );
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
