// What a conflict is: several records that claim what only one of them can have. Plain data, and what tells whether it is
// still the same conflict.

import type { Reach } from "../../db/reading/list-query.ts";
import type { ReadConnection } from "../../db/reading/read-connection.ts";
import type { ConflictType } from "../../resources/conflict-acceptances/acceptance.ts";

/** What conflicts are looked for in: a reader, or the writer's own connection. */
export type Preparing = Pick<ReadConnection, "statement">;

/** Who takes part: a host with the address, a port with the MAC address, a subnet. */
export interface Party {
  readonly n: number;
  readonly id: string;
  readonly networkId: string;
}

export interface Conflict {
  readonly type: ConflictType;
  /** Canonical: the address, the MAC address, the prefix. */
  readonly value: string;
  /** In the order of their numbers. */
  readonly parties: readonly Party[];
}

export interface ConflictQuery {
  readonly reach: Reach;
  /** As of this transaction. */
  readonly sequence: number;
}

/** In the order in which they are listed within a type. */
export function byNumber(parties: Iterable<Party>): Party[] {
  return [...parties].sort((one, other) => one.n - other.n);
}

export function networksOf({ parties }: Conflict): string[] {
  return [...new Set(parties.map(({ networkId }) => networkId))].sort();
}

/** The same as long as the same records claim the same thing. 64 hexadecimal digits. */
export function conflictFingerprint(conflict: Conflict): string {
  const ids = conflict.parties.map(({ id }) => id).sort();
  return new Bun.CryptoHasher("sha256").update(JSON.stringify([conflict.type, conflict.value, ...ids])).digest("hex");
}
