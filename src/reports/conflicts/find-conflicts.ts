// All conflicts that a caller can see as of a transaction, in list order, and their acceptances.

import type { Instant } from "../../base/instant.ts";
import { cidrSortKey, type Ip, ipSortKey, parseIp } from "../../base/ip.ts";
import { compareCodePoints } from "../../base/text.ts";
import {
  type Acceptance,
  acceptancesAt,
  CONFLICT_TYPES,
  type ConflictType,
} from "../../resources/conflict-acceptances/acceptance.ts";
import { addressConflicts } from "./address-conflicts.ts";
import { type Conflict, type ConflictQuery, conflictFingerprint, type StatementSource } from "./conflict.ts";
import { macConflicts } from "./mac-conflicts.ts";
import { subnetConflicts } from "./subnet-conflicts.ts";

const FIND = { Address: addressConflicts, Mac: macConflicts, Subnet: subnetConflicts };

/**
 * Ordered by type, then address, then the oldest record.
 * @param types only these
 * @param networkId only those with a party in this network; null for all
 */
export function* findConflicts(
  connection: StatementSource,
  query: ConflictQuery,
  types: readonly ConflictType[],
  networkId: string | null,
): Generator<void, readonly Conflict[]> {
  const conflicts: Conflict[] = [];
  for (const type of CONFLICT_TYPES) {
    if (!types.includes(type)) continue;
    const found = (yield* FIND[type](connection, query)).filter(
      ({ parties }) => networkId === null || parties.some((party) => party.networkId === networkId),
    );
    const keyed = found.map((conflict) => ({ conflict, key: sortKey(conflict) }));
    keyed.sort(
      (left, right) =>
        compareCodePoints(left.key, right.key) ||
        (left.conflict.parties[0]?.n ?? 0) - (right.conflict.parties[0]?.n ?? 0),
    );
    for (const { conflict } of keyed) conflicts.push(conflict);
  }
  return conflicts;
}

/** Conflicts whose acceptance is looked up per step. */
const STEP_LOOKED_UP = 500;

/** Acceptances in force at a timestamp, by fingerprint. @param at null for the present */
export function* acceptancesByFingerprint(
  connection: StatementSource,
  organizationN: number,
  found: readonly Conflict[],
  at: Instant | null,
): Generator<void, ReadonlyMap<string, Acceptance>> {
  const accepted = new Map<string, Acceptance>();
  for (let start = 0; start < found.length; start += STEP_LOOKED_UP) {
    const fingerprints = found.slice(start, start + STEP_LOOKED_UP).map(conflictFingerprint);
    for (const each of acceptancesAt(connection, organizationN, fingerprints, at)) accepted.set(...each);
    yield;
  }
  return accepted;
}

function sortKey({ type, value }: Conflict): string {
  if (type === "Mac") return value;
  return type === "Subnet" ? cidrSortKey(value) : ipSortKey(parseIp(value) as Ip);
}
