// Identification of a device that responded: repeats the last decision while its signs are unchanged, else makes a new
// one.

import { isSingleDevice } from "../../base/mac.ts";
import { groupedDigits } from "../../base/text.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import type { DeviceSighting } from "../sightings.ts";
import { isOnlyObserved } from "./address-book.ts";
import { isReturning } from "./hosts.ts";
import {
  DOUBT_SCORE_MIN,
  differenceOf,
  hasConflict,
  type RankedCandidate,
  rankCandidates,
  type Similarity,
  similarity,
} from "./identity.ts";
import {
  digestOfSigns,
  type IdentityDecision,
  storeDecision,
  storedDecision,
  weighedHost,
} from "./identity-decisions.ts";
import { alternates, hadNameOf, isFirstMachine, isOtherHalf } from "./machine-split.ts";
import type { ScanWrite } from "./scan-write.ts";
import { COMPARED_HOSTS_MAX } from "./shared-signs.ts";
import type { Signs } from "./signs.ts";

/** The host that represents a device. */
export interface IdentifiedHost {
  readonly id: string;
  readonly similarity: Similarity;
  /** The former signs by which a consolidated host was identified. */
  readonly formerSigns: Signs | null;
}

export interface Identification {
  /** Null for a new host. */
  readonly known: IdentifiedHost | null;
  /** The host that turned out to be this device and another one; null for none. */
  readonly split: SplitHost | null;
  /** Stores and reports the decision, unless it is unchanged. @param host the device as a host record */
  readonly conclude: (host: HostRecord) => void;
}

interface SplitHost {
  readonly id: string;
  /** True if this device keeps the host, and the device that reported last gets a new one. */
  readonly isFirst: boolean;
}

/**
 * Decides which host a device is. Changed weights alone do not reopen a decision; only changed signs or a new candidate
 * do.
 * @param signs of the device
 */
export function identifyDevice(write: ScanWrite, signs: Signs, sighting: DeviceSighting): Identification {
  const address = sighting.ip_address;
  const { known: candidates, weights, leftOut } = write.index.candidates(signs, address);
  // If a sweep saw the device before its agent responded, the ended host returns and absorbs the host that the sweep
  // created.
  const isSeenReturning = ({ id, isMatch }: RankedCandidate<string>) =>
    isMatch && isOnlyObserved(write.tx, write.tx.get(hostKind, id)) && isReturning(write, signs);
  const ranked = rankCandidates(signs, candidates, weights).filter((each) => !isSeenReturning(each));
  // A user consolidated them: keep the match.
  const mayBe = ({ id }: { readonly id: string }) =>
    write.index.isConsolidated(id) || !isDifferentDevice(write, id, sighting);
  const digest = digestOfSigns(signs);
  const ids = new Set(candidates.map(({ id }) => id));
  const last = storedDecision(write, address);
  const isSame = last?.signs === digest && [...ids].every((id) => last.candidates.has(write.tx.recordN(id) ?? 0));
  const isKept = (each: RankedCandidate<string>) =>
    each.id === last?.hostId && (each.isMatch || each.signs.addresses.has(address)) && mayBe(each);
  const kept = isSame ? ranked.find(isKept) : undefined;
  // A new candidate that does not match changes nothing, unless the host has become another machine.
  const isUnchanged = (each: RankedCandidate<string>) => isKept(each) && differenceOf(each.similarity) === null;
  const unchanged = () =>
    last?.signs === digest && !ranked.some(({ isMatch }) => isMatch) ? ranked.find(isUnchanged) : undefined;
  const matching = kept ?? ranked.find((each) => each.isMatch && mayBe(each)) ?? unchanged();
  // The evidence for two machines separates them until both have reported.
  const half = ranked.find(({ id }) => matching !== undefined && isOtherHalf(write, matching.id, id, signs));
  const best = half ?? matching;
  // Earlier versions did not store decisions.
  const wasHere = (id: string) => (last === null ? write.index.reportersAt(address).includes(id) : last.hostId === id);
  const split = splitBy(write, signs, { ranked, best, wasHere, mayBe, isFirstDecision: last === null });
  if (kept !== undefined && kept === best && split === null)
    return { known: hostOf(kept), split, conclude: (host) => reportLeftOut(write, host, leftOut) };
  const reporter =
    best === undefined && sighting.device.broken !== undefined ? lastReporter(write, signs, sighting) : null;
  const known = split !== null ? knownAfter(split, ranked) : best === undefined ? reporter : hostOf(best);
  const next = ranked.find(({ id }) => id !== known?.id);
  const decision: IdentityDecision = {
    basis: half === undefined && split?.isFirst !== true ? basisOf(best, reporter) : "Split",
    known: weighedHost(signs, best ?? ranked.find(({ id }) => id === known?.id)),
    next: weighedHost(signs, next),
  };
  const conclude = (host: HostRecord) => {
    storeDecision(write, address, host.id, digest, ids, decision);
    reportLeftOut(write, host, leftOut);
    if (known === null && next !== undefined && !next.isMatch && next.similarity.score >= DOUBT_SCORE_MIN)
      reportDoubt(write, host, next);
  };
  return { known, split, conclude };
}

interface Ranking {
  readonly ranked: ReadonlyArray<RankedCandidate<string>>;
  readonly best: RankedCandidate<string> | undefined;
  /** True for the host that the device at this address was before. */
  readonly wasHere: (id: string) => boolean;
  readonly mayBe: (candidate: { readonly id: string }) => boolean;
  /** True if no decision is stored for the address, as after an upgrade. */
  readonly isFirstDecision: boolean;
}

/**
 * Two machines are proven if another device responded as this host in the same scan, if they alternate, or if an
 * earlier version recorded both as this host.
 */
function splitBy(write: ScanWrite, signs: Signs, ranking: Ranking): SplitHost | null {
  const { ranked, best, wasHere, mayBe, isFirstDecision } = ranking;
  if (best !== undefined) {
    const isProven = !write.index.isConsolidated(best.id) && alternates(write, best.id, signs);
    return isProven ? { id: best.id, isFirst: isFirstMachine(write, best.id, signs) } : null;
  }
  const wasMixed = ({ id }: { readonly id: string }) =>
    isFirstDecision && wasHere(id) && !write.index.isConsolidated(id) && hadNameOf(write, id, signs);
  const other = ranked.find((each) => each.isMatch && !mayBe(each)) ?? ranked.find(wasMixed);
  if (other === undefined || !wasHere(other.id)) return null;
  return { id: other.id, isFirst: isFirstMachine(write, other.id, signs) };
}

function knownAfter({ id, isFirst }: SplitHost, ranked: ReadonlyArray<RankedCandidate<string>>): IdentifiedHost | null {
  const host = isFirst ? ranked.find((each) => each.id === id) : undefined;
  return host === undefined ? null : hostOf(host);
}

function hostOf({ id, similarity, signs, isFormerHost }: RankedCandidate<string>): IdentifiedHost {
  return { id, similarity, formerSigns: isFormerHost === true ? signs : null };
}

function basisOf(
  best: RankedCandidate<string> | undefined,
  reporter: IdentifiedHost | null,
): IdentityDecision["basis"] {
  if (best === undefined) return reporter === null ? "New" : "LastReport";
  if (best.isFormerHost === true) return "Consolidated";
  return best.similarity.reason === "address only" ? "Address" : "Signs";
}

/** Reports that a new host may be another one. */
function reportDoubt(write: ScanWrite, host: HostRecord, { id, similarity }: RankedCandidate<string>): void {
  const other = write.tx.get(hostKind, id);
  const difference = differenceOf(similarity);
  const but = difference === null ? "" : `, but another ${difference}`;
  write.addFinding({
    type: "Undecided",
    entity: hostKind.name,
    id: host.id,
    label: host.name,
    reason: `may be the same machine as ${other.name}: has the same ${similarity.reason}${but}; consolidate them if so`,
    other_id: id,
  });
}

/** Reports hosts that were not compared. */
function reportLeftOut(write: ScanWrite, { id, name }: HostRecord, count: number): void {
  if (count === 0) return;
  const others = count === 1 ? "1 other host has" : `${groupedDigits(count)} other hosts have`;
  write.addFinding({
    type: "Partial",
    entity: hostKind.name,
    id,
    label: `${name}: identity`,
    reason: `${others} one of its MAC addresses or IP addresses and ${count === 1 ? "was" : "were"} not compared: the limit is ${COMPARED_HOSTS_MAX}`,
  });
}

/** Missing tables mean missing signs: falls back to the host that last reported there, unless a sign differs. */
function lastReporter(write: ScanWrite, signs: Signs, sighting: DeviceSighting): IdentifiedHost | null {
  for (const id of write.index.reportersAt(sighting.ip_address)) {
    const known = write.index.signsOf(id);
    if (known === null || isDifferentDevice(write, id, sighting)) continue;
    const result = similarity(signs, known);
    if (result.addressCount > 0 && !hasConflict(signs, known)) return { id, similarity: result, formerSigns: null };
  }
  return null;
}

/**
 * True if the host already reported itself in this scan with another name or other MAC addresses: then this is a
 * different device, even if they share signs. Merged, they would change the host in every scan.
 */
function isDifferentDevice(
  write: ScanWrite,
  hostId: string,
  { device: { sys_name, sys_object_id, interfaces = [] }, ip_address: polledAddress }: DeviceSighting,
): boolean {
  const host = write.tx.find(hostKind, hostId);
  if (host === null || !write.wasReported(hostId, polledAddress)) return false;
  const storedValue = (field: "sys_name" | "sys_object_id") =>
    (host.discovered?.[field] ?? host[field]) as string | null;
  const differs = (now: string | null | undefined, before: string | null) =>
    typeof now === "string" && before !== null && now !== before;
  if (differs(sys_name, storedValue("sys_name")) || differs(sys_object_id, storedValue("sys_object_id"))) return true;
  const macs = new Map(
    write.tx.children(ifEntryKind, "host_n", hostId).map((each) => [each.if_index, each.mac_address]),
  );
  let [same, other] = [0, 0];
  for (const { if_index, mac_address } of interfaces) {
    const before = macs.get(if_index);
    if (typeof mac_address !== "string" || before === undefined) continue;
    if (mac_address !== before) other += 1;
    else if (isSingleDevice(mac_address)) same += 1;
  }
  return other > 0 && other >= same;
}
