// Whether two sightings are the same host: every sign weighs for or against, none decides alone that could be a coincidence. Pure.

import type { Signs } from "./signs.ts";

/**
 * What a sign weighs where it agrees and where it differs. A serial number that differs is another device, whatever else it took over; interface
 * addresses come close to that. Names and addresses are given by people and move from device to device, chassis ids are cloned with images.
 */
export const WEIGHTS = {
  serialNumber: { same: 100, other: -200 },
  /** At least one in two of the fewer MAC addresses is common to both. */
  macs: { same: 60, few: 40, other: -60 },
  chassisId: { same: 40, other: -30 },
  sysName: { same: 30, other: -20 },
  address: { same: 20 },
} as const;

/** What it takes to be the same. No single weak sign has it. */
export const ENOUGH = 50;

export interface Likeness {
  readonly score: number;
  /** What spoke for it, for people: `serial number and 12 MAC addresses`. */
  readonly reason: string;
  /** How many addresses are common to both. One weighs as much as many, for there are those that many devices have. */
  readonly addressCount: number;
}

/** How much two sets of signs are alike. A sign that one side lacks says nothing. */
export function likeness(seen: Signs, known: Signs): Likeness {
  let score = 0;
  const reasons: string[] = [];
  const weigh = (ours: string | null, theirs: string | null, weight: { same: number; other: number }, name: string) => {
    if (ours === null || theirs === null) return;
    score += ours === theirs ? weight.same : weight.other;
    if (ours === theirs) reasons.push(name);
  };
  weigh(seen.serialNumber, known.serialNumber, WEIGHTS.serialNumber, "serial number");
  const common = countCommon(seen.macs, known.macs);
  if (common > 0) {
    const isMost = common * 2 >= Math.min(seen.macs.size, known.macs.size);
    score += isMost ? WEIGHTS.macs.same : WEIGHTS.macs.few;
    reasons.push(common === 1 ? "a MAC address" : `${common} MAC addresses`);
  } else if (seen.macs.size > 0 && known.macs.size > 0) {
    score += WEIGHTS.macs.other;
  }
  weigh(seen.chassisId, known.chassisId, WEIGHTS.chassisId, "chassis id");
  weigh(seen.sysName, known.sysName, WEIGHTS.sysName, "system name");
  const addressCount = countCommon(seen.addresses, known.addresses);
  if (addressCount > 0) {
    score += WEIGHTS.address.same;
    reasons.push("address");
  }
  return { score, reason: inWords(reasons), addressCount };
}

/** Whether any sign that both sides have differs. */
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
 * Whether nothing is known of a host but addresses (and what a person wrote): then whoever is found at one of them is it. Else every
 * host that a sweep found would be made a second time when it answers by SNMP.
 */
export function isBare(known: Signs): boolean {
  return known.serialNumber === null && known.chassisId === null && known.sysName === null && known.macs.size === 0;
}

/** Whether two sets of signs mean one host. */
export function isSame(seen: Signs, known: Signs): Likeness | null {
  const like = likeness(seen, known);
  if (like.score >= ENOUGH) return like;
  const isAddressAll = (isBare(known) || isBare(seen)) && like.addressCount > 0;
  return isAddressAll ? { ...like, reason: "address, and nothing else is known" } : null;
}

export interface Candidate<Id> {
  readonly id: Id;
  readonly signs: Signs;
  /** Whether it is what told of itself, the last time, at the address that answers now. */
  readonly toldThere?: boolean;
}

/**
 * The candidate that is the same host: the most alike of several. Of equal ones it is the one that told there the last
 * time, or clones would change places with the order in which they answer; else the one with more of its addresses,
 * else the first. Null where none is.
 * @param candidates in a fixed order: the oldest first
 */
export function identify<Id>(
  seen: Signs,
  candidates: Iterable<Candidate<Id>>,
): { readonly id: Id; readonly likeness: Likeness } | null {
  let best: { candidate: Candidate<Id>; likeness: Likeness } | null = null;
  for (const candidate of candidates) {
    const like = isSame(seen, candidate.signs);
    if (like === null) continue;
    if (best === null || precedence({ candidate, likeness: like }, best) > 0) best = { candidate, likeness: like };
  }
  return best === null ? null : { id: best.candidate.id, likeness: best.likeness };
}

interface Alike {
  readonly candidate: Candidate<unknown>;
  readonly likeness: Likeness;
}

/** Above 0: some is more likely to be it. */
function precedence(some: Alike, other: Alike): number {
  return (
    some.likeness.score - other.likeness.score ||
    Number(some.candidate.toldThere ?? false) - Number(other.candidate.toldThere ?? false) ||
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
