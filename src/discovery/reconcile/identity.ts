// Host identity by record linkage (Fellegi and Sunter, 1969): each group of signs counts for or against a match,
// weighted by how often it stays the same between reads and by how many hosts share its value. Pure.

import { parseMac } from "../../base/mac.ts";
import type { SignGroup } from "../sightings.ts";
import { isOtherEngine } from "./engine-ids.ts";
import { PRIOR_WEIGHTS, type Weights } from "./sign-weights.ts";
import { engineSignOf, type Signs } from "./signs.ts";

/** Minimum score for a match: above any sign that users assign, and above a shared card with other signs against it. */
export const MATCH_SCORE_MIN = 7.8;
/** Between this score and that of a match, the signs are inconclusive. */
export const DOUBT_SCORE_MIN = 3;

/** Weight of one shared card among many others, relative to identical sets: cards are swapped and emulated. */
const COMMON_CARD_SHARE = 0.23;
/** The more cards differ, the weaker the shared ones: virtual machines and clusters share some. */
const CARDS_EXPONENT = 3;

/** Comparison of one group of signs on both sides. */
export interface ComparedGroup {
  readonly group: SignGroup;
  /** Bits; negative for evidence against a match. */
  readonly weight: number;
  /** Shared values. */
  readonly common: readonly string[];
}

export interface Similarity {
  readonly score: number;
  readonly groups: readonly ComparedGroup[];
  /** Matching signs in user-readable form: `serial number and 12 MAC addresses`. */
  readonly reason: string;
  /** Number of shared addresses. One weighs as much as many: some addresses exist on many devices. */
  readonly addressCount: number;
}

/** Scores two sets of signs. Skips signs missing on one side, and differences in incompletely read tables. */
export function similarity(seen: Signs, known: Signs, weights: Weights = PRIOR_WEIGHTS): Similarity {
  const commonMacs = commonOf(seen.macs, known.macs);
  const serials = compareSerials(seen, known, weights);
  const names = compareNames(seen, known, weights);
  const groups = [
    serials,
    withoutMember(compareCards(seen, known, commonMacs, weights), serials, seen, known),
    compareChassis(seen, known, names, weights),
    besideName(compareEngines(seen, known, weights), names),
    names,
    compareAddresses(seen, known, new Set(commonMacs), weights),
  ].filter((each) => each !== null);
  const addressCount = commonOf(seen.addresses, known.addresses).length;
  return {
    score: groups.reduce((sum, { weight }) => sum + weight, 0),
    groups,
    reason: joinWords(groups.flatMap(wordsOf)),
    addressCount,
  };
}

/** One shared serial number suffices: a stack is the same while one of its members remains. */
function compareSerials(seen: Signs, known: Signs, weights: Weights): ComparedGroup | null {
  const common = commonOf(seen.serialNumbers, known.serialNumbers);
  return compareSets("serial_numbers", seen, known, common, weights, [seen.serialNumbers, known.serialNumbers]);
}

/**
 * All cards count once, weighted by the rarest shared card and the shared fraction of the smaller set. After an
 * incomplete read, unread cards may differ, so the larger set counts, unless one side was read completely and all of
 * its cards are shared.
 */
function compareCards(seen: Signs, known: Signs, common: readonly string[], weights: Weights): ComparedGroup | null {
  const whole = compareSets("cards", seen, known, common, weights, [seen.macs, known.macs]);
  if (whole === null || common.length === 0) return whole;
  const sizes = [seen.macs.size, known.macs.size];
  const isContained = [seen, known].some(({ macs, unread }) => !unread.has("cards") && macs.size === common.length);
  // A single MAC address on both sides is the one seen at the address, which does not depend on ifTable.
  const isUnread = !isContained && (seen.unread.has("cards") || known.unread.has("cards")) && Math.max(...sizes) > 1;
  const share = common.length / (isUnread ? Math.max(...sizes) + 1 : Math.min(...sizes));
  const factor = COMMON_CARD_SHARE + (1 - COMMON_CARD_SHARE) * share ** CARDS_EXPONENT;
  return { ...whole, weight: whole.weight * factor };
}

/** If only some chassis match, the shared cards may belong to them: a member that leaves its stack takes both along. */
function withoutMember(
  cards: ComparedGroup | null,
  serials: ComparedGroup | null,
  seen: Signs,
  known: Signs,
): ComparedGroup | null {
  if (cards === null || serials === null || cards.common.length === 0 || serials.common.length === 0) return cards;
  const isWhole = serials.common.length === Math.max(seen.serialNumbers.size, known.serialNumbers.size);
  if (isWhole || seen.unread.has("serial_numbers") || known.unread.has("serial_numbers")) return cards;
  return { ...cards, weight: Math.max(0, cards.weight - serials.weight) };
}

/** A chassis ID that is the MAC address of a card counts with the cards. */
function compareChassis(
  seen: Signs,
  known: Signs,
  names: ComparedGroup | null,
  weights: Weights,
): ComparedGroup | null {
  const [some, other] = [seen.chassisId, known.chassisId];
  if (some === null || other === null || seen.macs.has(some) || known.macs.has(some)) return null;
  if (some !== other && (parseMac(some) !== null || parseMac(other) !== null)) return null;
  const compared = compareText("chassis_id", some, other, weights);
  return parseMac(some) === null ? besideName(compared, names) : compared;
}

/** A disk image copies the name, chassis ID and engine ID: matches among them count once. */
function besideName(group: ComparedGroup | null, names: ComparedGroup | null): ComparedGroup | null {
  if (group === null || names === null || group.common.length === 0 || names.common.length === 0) return group;
  return { ...group, weight: Math.max(0, group.weight - names.weight) };
}

function compareEngines(seen: Signs, known: Signs, weights: Weights): ComparedGroup | null {
  const [some, other] = [engineSignOf(seen), engineSignOf(known)];
  if (some === null || other === null || (some !== other && !isOtherEngine(some, other))) return null;
  return compareText("engine_id", some, other, weights);
}

function compareNames({ sysName: some }: Signs, { sysName: other }: Signs, weights: Weights): ComparedGroup | null {
  return some === null || other === null ? null : compareText("system_name", some, other, weights);
}

/** Addresses at which the devices respond; those of a shared card count with the cards. */
function compareAddresses(
  seen: Signs,
  known: Signs,
  commonMacs: ReadonlySet<string>,
  weights: Weights,
): ComparedGroup | null {
  const common = commonAddresses(seen, known);
  const isOfCommonCard = (address: string) =>
    [seen, known].some(({ cards }) => commonMacs.has(cards.get(address) ?? ""));
  const others = common.filter((address) => !isOfCommonCard(address));
  if (common.length > 0 && others.length === 0) return null;
  return compareSets("addresses", seen, known, others, weights, [managedOf(seen), managedOf(known)]);
}

/** Addresses at which one of them responds: many devices have the same address in private networks. */
function commonAddresses(seen: Signs, known: Signs): string[] {
  return [...new Set([...commonOf(managedOf(seen), known.addresses), ...commonOf(managedOf(known), seen.addresses)])];
}

function managedOf({ managed, addresses }: Signs): ReadonlySet<string> {
  return managed.size > 0 ? managed : addresses;
}

function compareText(group: SignGroup, some: string, other: string, weights: Weights): ComparedGroup {
  if (some === other) return { group, weight: weights.ofSame(group, some), common: [some] };
  return { group, weight: weights.ofOther(group), common: [] };
}

/** @returns null if a set is empty, or if the sets differ and were not read completely */
function compareSets(
  group: SignGroup,
  seen: Signs,
  known: Signs,
  common: readonly string[],
  weights: Weights,
  [some, other]: readonly [ReadonlySet<string>, ReadonlySet<string>],
): ComparedGroup | null {
  if (some.size === 0 || other.size === 0) return null;
  if (common.length > 0)
    return { group, weight: Math.max(...common.map((value) => weights.ofSame(group, value))), common };
  if (seen.unread.has(group) || known.unread.has(group)) return null;
  return { group, weight: weights.ofOther(group), common };
}

/** True if a sign present on both sides differs. */
export function hasConflict(seen: Signs, known: Signs): boolean {
  const differs = (seenValue: string | null, knownValue: string | null) =>
    seenValue !== null && knownValue !== null && seenValue !== knownValue;
  const isDisjoint = (some: ReadonlySet<string>, other: ReadonlySet<string>) =>
    some.size > 0 && other.size > 0 && some.isDisjointFrom(other);
  return (
    isDisjoint(seen.serialNumbers, known.serialNumbers) ||
    differs(seen.chassisId, known.chassisId) ||
    isOtherEngine(engineSignOf(seen), engineSignOf(known)) ||
    differs(seen.sysName, known.sysName) ||
    isDisjoint(seen.macs, known.macs)
  );
}

/**
 * True if only addresses (and manual data) are known. Then any machine that responds there matches, or every swept host
 * would be duplicated once it responds to SNMP.
 */
export function hasOnlyAddresses(known: Signs): boolean {
  const { serialNumbers, macs, chassisId, engineId, sysName } = known;
  return serialNumbers.size + macs.size === 0 && [chassisId, engineId, sysName].every((sign) => sign === null);
}

export function matchSigns(seen: Signs, known: Signs, weights: Weights = PRIOR_WEIGHTS): Similarity | null {
  const result = similarity(seen, known, weights);
  if (result.score >= MATCH_SCORE_MIN) return result;
  const isAddressOnly =
    (hasOnlyAddresses(known) || hasOnlyAddresses(seen)) &&
    commonAddresses(seen, known).some((address) => seen.addresses.has(address) && known.addresses.has(address));
  return isAddressOnly ? { ...result, reason: "address only" } : null;
}

export interface MatchCandidate<Id> {
  readonly id: Id;
  readonly signs: Signs;
  /** True if the host last reported itself at the address that is responding now. */
  readonly reportedThere?: boolean;
  /** True for the former signs of a consolidated host. */
  readonly isFormerHost?: true;
}

export interface RankedCandidate<Id> extends MatchCandidate<Id> {
  readonly similarity: Similarity;
  readonly isMatch: boolean;
}

/**
 * Returns the candidates, best match first. Ties prefer current over former signs, then the host that last reported
 * itself there (or clones would swap with the order of responses), then more shared addresses, then the oldest.
 * @param candidates oldest first
 */
export function rankCandidates<Id>(
  seen: Signs,
  candidates: Iterable<MatchCandidate<Id>>,
  weights: Weights = PRIOR_WEIGHTS,
): Array<RankedCandidate<Id>> {
  return [...candidates]
    .map((candidate) => {
      const match = matchSigns(seen, candidate.signs, weights);
      const similarityOf = match ?? similarity(seen, candidate.signs, weights);
      return { ...candidate, similarity: similarityOf, isMatch: match !== null };
    })
    .sort((some, other) => precedence(other, some));
}

/** Returns the best match, or null. */
export function identify<Id>(
  seen: Signs,
  candidates: Iterable<MatchCandidate<Id>>,
  weights: Weights = PRIOR_WEIGHTS,
): RankedCandidate<Id> | null {
  const [best] = rankCandidates(seen, candidates, weights);
  return best?.isMatch === true ? best : null;
}

/** Positive if the first is the better match. */
function precedence(some: RankedCandidate<unknown>, other: RankedCandidate<unknown>): number {
  return (
    Number(some.isMatch) - Number(other.isMatch) ||
    some.similarity.score - other.similarity.score ||
    Number(other.isFormerHost ?? false) - Number(some.isFormerHost ?? false) ||
    Number(some.reportedThere ?? false) - Number(other.reportedThere ?? false) ||
    some.similarity.addressCount - other.similarity.addressCount
  );
}

function commonOf(some: ReadonlySet<string>, others: ReadonlySet<string>): string[] {
  const [fewer, more] = some.size <= others.size ? [some, others] : [others, some];
  return [...fewer].filter((each) => more.has(each));
}

const WORDS: Readonly<Record<SignGroup, string>> = {
  serial_numbers: "serial number",
  cards: "MAC address",
  chassis_id: "chassis id",
  engine_id: "SNMP engine id",
  system_name: "system name",
  addresses: "address",
};

function wordsOf({ group, common }: ComparedGroup): string[] {
  if (common.length === 0) return [];
  if (group !== "cards") return [WORDS[group]];
  return [common.length === 1 ? WORDS[group] : `${common.length} ${WORDS[group]}es`];
}

/** Differing signs in user-readable form; null for none. */
export function differenceOf({ groups }: Similarity): string | null {
  const differing = groups.filter(({ common }) => common.length === 0);
  if (differing.length === 0) return null;
  return joinWords(differing.map(({ group }) => (group === "cards" ? `${WORDS[group]}es` : WORDS[group])));
}

function joinWords(reasons: readonly string[]): string {
  const last = reasons.at(-1);
  if (last === undefined) return "nothing";
  return reasons.length === 1 ? last : `${reasons.slice(0, -1).join(", ")} and ${last}`;
}
