// Conflict: several records claiming the same exclusive value. Plain data, and the fingerprint that identifies it.

import type { Instant } from "../../base/instant.ts";
import type { Reach } from "../../db/reading/list-query.ts";
import type { ReadConnection } from "../../db/reading/read-connection.ts";
import type { ConflictType } from "../../resources/conflict-acceptances/acceptance.ts";

/** Connection for conflict queries: a reader, or the writer's own. */
export type StatementSource = Pick<ReadConnection, "statement">;

/** Record in a conflict: a host with the address, a port with the MAC address, or a subnet. */
export interface Party {
  readonly n: number;
  readonly id: string;
  readonly networkId: string;
  /** Number of the record that makes the claim: of a host its address, of a subnet itself; undefined for a port. */
  readonly claimN?: number;
}

export interface Conflict {
  readonly type: ConflictType;
  /** Canonical address, MAC address or prefix. */
  readonly value: string;
  /** Ordered by record number. */
  readonly parties: readonly Party[];
}

export interface ConflictQuery {
  readonly reach: Reach;
  /** As of this transaction. */
  readonly sequence: number;
  /** Timestamp for what is outside the ledger: acceptances and sightings. Null for the present. */
  readonly at: Instant | null;
}

/** Listing order within a type. */
export function byNumber(parties: Iterable<Party>): Party[] {
  return [...parties].sort((left, right) => left.n - right.n);
}

export function networksOf({ parties }: Conflict): string[] {
  return [...new Set(parties.map(({ networkId }) => networkId))].sort();
}

/** Stable while the same records claim the same value. 64 hexadecimal digits. */
export function conflictFingerprint(conflict: Conflict): string {
  const ids = conflict.parties.map(({ id }) => id).sort();
  return new Bun.CryptoHasher("sha256").update(JSON.stringify([conflict.type, conflict.value, ...ids])).digest("hex");
}
