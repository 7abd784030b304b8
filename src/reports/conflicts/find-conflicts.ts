// All conflicts that a caller can see as of a transaction, in list order, and their acceptances.

import { cidrSortKey, type Ip, ipSortKey, parseIp } from "../../base/ip.ts";
import { compareCodePoints } from "../../base/text.ts";
import type { FixedMoment, Reach } from "../../db/reading/list-query.ts";
import {
  type Acceptance,
  acceptancesAt,
  CONFLICT_TYPES,
  type ConflictType,
} from "../../resources/conflict-acceptances/acceptance.ts";
import { sightingInstant } from "../../resources/sightings.ts";
import { addressConflicts } from "./address-conflicts.ts";
import { Claims } from "./claims.ts";
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

/** Conflicts within a caller's reach as of a moment. */
export function conflictQuery(reach: Reach, moment: FixedMoment): ConflictQuery {
  const { asOf } = moment;
  return { reach, sequence: asOf.sequence, at: asOf.present ? null : sightingInstant(moment) };
}

/** Conflicts whose acceptance is looked up per step. */
const STEP_LOOKED_UP = 500;

/** Acceptances in force, by fingerprint of the conflict. */
export function* acceptancesByFingerprint(
  connection: StatementSource,
  query: ConflictQuery,
  found: readonly Conflict[],
): Generator<void, ReadonlyMap<string, Acceptance>> {
  const accepted = new Map<string, Acceptance>();
  for (let start = 0; start < found.length; start += STEP_LOOKED_UP) {
    for (const each of acceptancesOf(connection, query, found.slice(start, start + STEP_LOOKED_UP)))
      accepted.set(...each);
    yield;
  }
  return accepted;
}

/**
 * Like acceptancesByFingerprint, for a few conflicts. An accepted prefix that several networks share stays accepted
 * when another network joins.
 */
export function acceptancesOf(
  connection: StatementSource,
  query: ConflictQuery,
  found: readonly Conflict[],
): Map<string, Acceptance> {
  const { at, reach } = query;
  const inForce = (fingerprints: readonly string[]) => acceptancesAt(connection, reach.organizationN, fingerprints, at);
  const accepted = inForce(found.map(conflictFingerprint));
  const claims = new Claims(connection, query);
  for (const conflict of found) {
    const fingerprint = conflictFingerprint(conflict);
    if (conflict.type !== "Subnet" || conflict.parties.length < 3 || accepted.has(fingerprint)) continue;
    const earlier = earlierStates(conflict, claims.beginnings(conflict));
    const acceptances = inForce(earlier.map(({ state }) => conflictFingerprint(state)));
    for (const { state, joinedAt } of earlier) {
      const acceptance = acceptances.get(conflictFingerprint(state));
      if (acceptance === undefined || acceptance.accepted_at >= joinedAt) continue;
      accepted.set(fingerprint, acceptance);
      break;
    }
  }
  return accepted;
}

/** Earlier states of a conflict: without its last party, without its last two parties, and so on. */
function earlierStates(conflict: Conflict, beginnings: ReadonlyArray<string | null>) {
  const joined = conflict.parties
    .map((party, index) => ({ party, since: beginnings[index] ?? "" }))
    .sort((left, right) => compareCodePoints(left.since, right.since));
  return joined
    .slice(2)
    .map(({ since }, index) => ({
      state: { ...conflict, parties: joined.slice(0, index + 2).map(({ party }) => party) },
      joinedAt: since,
    }))
    .reverse();
}

function sortKey({ type, value }: Conflict): string {
  if (type === "Mac") return value;
  return type === "Subnet" ? cidrSortKey(value) : ipSortKey(parseIp(value) as Ip);
}
