// The hash chain over the ledger: what a version and a transaction are hashed from, byte for byte.
// Every value is preceded by its length, so that no two different rows read alike.

export interface HashedVersion {
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

export interface HashedTransaction {
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
}

/** What stands for the predecessor's hash in the first transaction. */
export const CHAIN_START = new Uint8Array(32);

/** The beginning of a column `hash`, as SQL: enough to tell two transactions of one sequence apart, where a backup was put back between them. */
export const MARK_OF_HASH = "lower(hex(substr(hash, 1, 4)))";

/** SHA-256 of one version. */
export function hashVersion(v: HashedVersion): Uint8Array {
  return sha256(
    frame([v.id, v.kind, v.sequence, v.operation, v.shape, v.composed, v.changed, v.sort_keys, v.observed, v.members]),
  );
}

/** SHA-256 of a transaction: its predecessor's hash, its own columns, and its versions' hashes in the order of their record numbers. */
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
  return new Uint8Array(hasher.digest());
}

function sha256(text: string): Uint8Array {
  return new Uint8Array(new Bun.CryptoHasher("sha256").update(text).digest());
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
