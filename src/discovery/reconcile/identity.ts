// Host identity rules: each sign counts for or against a match, and no weak sign decides alone. Pure.

import type { Signs } from "./signs.ts";

/**
 * Weights of matching and differing signs. A different serial number proves a different device; interface MAC addresses
 * nearly do. Names and addresses are assigned by people and move; chassis IDs are cloned with images.
 */
export const SIGN_WEIGHTS = {
  serialNumber: { same: 100, other: -200 },
  /** `same` applies from half of the smaller set in common. */
  macs: { same: 60, few: 40, other: -60 },
  chassisId: { same: 40, other: -30 },
  sysName: { same: 30, other: -20 },
  address: { same: 20 },
} as const;

/** Minimum score for a match; above any single weak sign. */
export const MATCH_SCORE_MIN = 50;

interface Similarity {
  readonly score: number;
  /** Matching signs, user-readable: `serial number and 12 MAC addresses`. */
  readonly reason: string;
  /** Number of common addresses. One weighs as much as many: some addresses exist on many devices. */
  readonly addressCount: number;
}

/** Scores two sets of signs. A sign missing on one side does not count. */
export function similarity(seen: Signs, known: Signs): Similarity {
  let score = 0;
  const reasons: string[] = [];
  const weigh = (
    seenValue: string | null,
    knownValue: string | null,
    weight: { same: number; other: number },
    name: string,
  ) => {
    if (seenValue === null || knownValue === null) return;
    score += seenValue === knownValue ? weight.same : weight.other;
    if (seenValue === knownValue) reasons.push(name);
  };
  weigh(seen.serialNumber, known.serialNumber, SIGN_WEIGHTS.serialNumber, "serial number");
  const common = countCommon(seen.macs, known.macs);
  if (common > 0) {
    const isMajority = common * 2 >= Math.min(seen.macs.size, known.macs.size);
    score += isMajority ? SIGN_WEIGHTS.macs.same : SIGN_WEIGHTS.macs.few;
    reasons.push(common === 1 ? "a MAC address" : `${common} MAC addresses`);
  } else if (seen.macs.size > 0 && known.macs.size > 0) {
    score += SIGN_WEIGHTS.macs.other;
  }
  weigh(seen.chassisId, known.chassisId, SIGN_WEIGHTS.chassisId, "chassis id");
  weigh(seen.sysName, known.sysName, SIGN_WEIGHTS.sysName, "system name");
  const addressCount = countCommon(seen.addresses, known.addresses);
  if (addressCount > 0) {
    score += SIGN_WEIGHTS.address.same;
    reasons.push("address");
  }
  return { score, reason: joinWords(reasons), addressCount };
}

/** True if a sign present on both sides differs. */
export function hasConflict(seen: Signs, known: Signs): boolean {
  const differs = (seenValue: string | null, knownValue: string | null) =>
    seenValue !== null && knownValue !== null && seenValue !== knownValue;
  const haveMacs = seen.macs.size > 0 && known.macs.size > 0;
  return (
    differs(seen.serialNumber, known.serialNumber) ||
    differs(seen.chassisId, known.chassisId) ||
    differs(seen.sysName, known.sysName) ||
    (haveMacs && countCommon(seen.macs, known.macs) === 0)
  );
}

/**
 * True if only addresses (and manual data) are known: then any machine that responds there matches; otherwise every
 * swept host would be duplicated once it responds to SNMP.
 */
export function hasOnlyAddresses(known: Signs): boolean {
  return known.serialNumber === null && known.chassisId === null && known.sysName === null && known.macs.size === 0;
}

export function matchSigns(seen: Signs, known: Signs): Similarity | null {
  const result = similarity(seen, known);
  if (result.score >= MATCH_SCORE_MIN) return result;
  const isAddressOnly = (hasOnlyAddresses(known) || hasOnlyAddresses(seen)) && result.addressCount > 0;
  return isAddressOnly ? { ...result, reason: "address only" } : null;
}

export interface MatchCandidate<Id> {
  readonly id: Id;
  readonly signs: Signs;
  /** True if it last reported itself at the address that is responding now. */
  readonly reportedThere?: boolean;
  /** True for the former signs of a consolidated host. */
  readonly isFormerHost?: true;
}

/**
 * Returns the best match, or null. Ties prefer current over former signs, then the host that last reported itself there
 * (or clones would swap with the order of responses), then more common addresses, then the first.
 * @param candidates oldest first
 */
export function identify<Id>(
  seen: Signs,
  candidates: Iterable<MatchCandidate<Id>>,
): { readonly id: Id; readonly similarity: Similarity; readonly formerSigns: Signs | null } | null {
  let best: { candidate: MatchCandidate<Id>; similarity: Similarity } | null = null;
  for (const candidate of candidates) {
    const result = matchSigns(seen, candidate.signs);
    if (result === null) continue;
    if (best === null || precedence({ candidate, similarity: result }, best) > 0)
      best = { candidate, similarity: result };
  }
  if (best === null) return null;
  const { id, isFormerHost, signs } = best.candidate;
  return { id, similarity: best.similarity, formerSigns: isFormerHost === true ? signs : null };
}

interface ScoredCandidate {
  readonly candidate: MatchCandidate<unknown>;
  readonly similarity: Similarity;
}

/** Positive if the first is the better match. */
function precedence(some: ScoredCandidate, other: ScoredCandidate): number {
  return (
    some.similarity.score - other.similarity.score ||
    Number(other.candidate.isFormerHost ?? false) - Number(some.candidate.isFormerHost ?? false) ||
    Number(some.candidate.reportedThere ?? false) - Number(other.candidate.reportedThere ?? false) ||
    some.similarity.addressCount - other.similarity.addressCount
  );
}

function countCommon(some: ReadonlySet<string>, others: ReadonlySet<string>): number {
  const [fewer, more] = some.size <= others.size ? [some, others] : [others, some];
  let count = 0;
  for (const each of fewer) if (more.has(each)) count += 1;
  return count;
}

function joinWords(reasons: readonly string[]): string {
  const last = reasons.at(-1);
  if (last === undefined) return "nothing";
  return reasons.length === 1 ? last : `${reasons.slice(0, -1).join(", ")} and ${last}`;
}
