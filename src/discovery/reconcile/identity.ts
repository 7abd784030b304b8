// Host identity rules: each sign weighs for or against a match, and no weak sign decides alone. Pure.

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
export const ENOUGH = 50;

interface Likeness {
  readonly score: number;
  /** Matching signs, user-readable: `serial number and 12 MAC addresses`. */
  readonly reason: string;
  /** Number of common addresses. One weighs as much as many: some addresses exist on many devices. */
  readonly addressCount: number;
}

/** Scores two sets of signs. A sign missing on one side does not count. */
export function likeness(seen: Signs, known: Signs): Likeness {
  let score = 0;
  const reasons: string[] = [];
  const weigh = (ours: string | null, theirs: string | null, weight: { same: number; other: number }, name: string) => {
    if (ours === null || theirs === null) return;
    score += ours === theirs ? weight.same : weight.other;
    if (ours === theirs) reasons.push(name);
  };
  weigh(seen.serialNumber, known.serialNumber, SIGN_WEIGHTS.serialNumber, "serial number");
  const common = countCommon(seen.macs, known.macs);
  if (common > 0) {
    const isMost = common * 2 >= Math.min(seen.macs.size, known.macs.size);
    score += isMost ? SIGN_WEIGHTS.macs.same : SIGN_WEIGHTS.macs.few;
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
  return { score, reason: inWords(reasons), addressCount };
}

/** True if a sign present on both sides differs. */
export function isOtherwise(seen: Signs, known: Signs): boolean {
  const differs = (ours: string | null, theirs: string | null) => ours !== null && theirs !== null && ours !== theirs;
  const haveMacs = seen.macs.size > 0 && known.macs.size > 0;
  return (
    differs(seen.serialNumber, known.serialNumber) ||
    differs(seen.chassisId, known.chassisId) ||
    differs(seen.sysName, known.sysName) ||
    (haveMacs && countCommon(seen.macs, known.macs) === 0)
  );
}

/**
 * True if only addresses (and manual data) are known: then any machine answering there matches, or every swept host
 * would be duplicated once it answers SNMP.
 */
export function isBare(known: Signs): boolean {
  return known.serialNumber === null && known.chassisId === null && known.sysName === null && known.macs.size === 0;
}

export function isSame(seen: Signs, known: Signs): Likeness | null {
  const like = likeness(seen, known);
  if (like.score >= ENOUGH) return like;
  const isAddressAll = (isBare(known) || isBare(seen)) && like.addressCount > 0;
  return isAddressAll ? { ...like, reason: "address only" } : null;
}

export interface MatchCandidate<Id> {
  readonly id: Id;
  readonly signs: Signs;
  /** True if it last reported itself at the address that answers now. */
  readonly reportedThere?: boolean;
  /** True for the former signs of a consolidated host. */
  readonly isFormerSelf?: true;
}

/**
 * Returns the best match, or null. Ties prefer current over former signs, then the host that last reported itself there
 * (or clones would swap with the order of responses), then more common addresses, then the first.
 * @param candidates oldest first
 */
export function identify<Id>(
  seen: Signs,
  candidates: Iterable<MatchCandidate<Id>>,
): { readonly id: Id; readonly likeness: Likeness; readonly formerSigns: Signs | null } | null {
  let best: { candidate: MatchCandidate<Id>; likeness: Likeness } | null = null;
  for (const candidate of candidates) {
    const like = isSame(seen, candidate.signs);
    if (like === null) continue;
    if (best === null || precedence({ candidate, likeness: like }, best) > 0) best = { candidate, likeness: like };
  }
  if (best === null) return null;
  const { id, isFormerSelf, signs } = best.candidate;
  return { id, likeness: best.likeness, formerSigns: isFormerSelf === true ? signs : null };
}

interface Alike {
  readonly candidate: MatchCandidate<unknown>;
  readonly likeness: Likeness;
}

/** Positive if the first is the better match. */
function precedence(some: Alike, other: Alike): number {
  return (
    some.likeness.score - other.likeness.score ||
    Number(other.candidate.isFormerSelf ?? false) - Number(some.candidate.isFormerSelf ?? false) ||
    Number(some.candidate.reportedThere ?? false) - Number(other.candidate.reportedThere ?? false) ||
    some.likeness.addressCount - other.likeness.addressCount
  );
}

function countCommon(some: ReadonlySet<string>, others: ReadonlySet<string>): number {
  const [fewer, more] = some.size <= others.size ? [some, others] : [others, some];
  let count = 0;
  for (const each of fewer) if (more.has(each)) count += 1;
  return count;
}

function inWords(reasons: readonly string[]): string {
  const last = reasons.at(-1);
  if (last === undefined) return "nothing";
  return reasons.length === 1 ? last : `${reasons.slice(0, -1).join(", ")} and ${last}`;
}
