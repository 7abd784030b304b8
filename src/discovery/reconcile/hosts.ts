// New hosts of a scan, except those that a user ignored. A returning host continues its lineage.

import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { type EndedHost, endedHostsWith, forgetEndedHost } from "../../resources/ignored/ended-hosts.ts";
import type { IgnoredRecord } from "../../resources/ignored/ignored.ts";
import { subnetKind } from "../../resources/subnets/subnet.ts";
import { hasOnlyAddresses, identify, MATCH_SCORE_MIN, similarity } from "./identity.ts";
import { discoveredHost, type HostFields } from "./new-records.ts";
import type { ScanWrite } from "./scan-write.ts";
import { SignIndex, type Signs, signsOfTexts, textsOfSigns } from "./signs.ts";
import type { SubnetAssigner } from "./subnet-assignment.ts";

/**
 * Creates a host, in the lineage of an ended host with its signs: names do not identify a host.
 * @param seen signs of the machine
 */
export function newHost(write: ScanWrite, fields: HostFields, seen: Signs): HostRecord {
  const former = takeEndedHost(write, seen);
  const values = discoveredHost(write.networkId, fields);
  const host = write.create(hostKind, values, undefined, former?.lineageId ?? null);
  if (host === null) throw new Error("hosts: no host is ignored by its name");
  return host;
}

/** Ended hosts that returned in the same write. */
const TAKEN = new WeakMap<ScanWrite, Set<number>>();

/** True if an ended host has the signs of a machine, whose next host then continues its lineage. */
export function isReturning(write: ScanWrite, seen: Signs): boolean {
  return endedHostOf(write, seen) !== null;
}

/** Returns the ended host that returns, and reserves it: no other machine can continue it. */
function takeEndedHost(write: ScanWrite, seen: Signs): EndedHost | null {
  const ended = endedHostOf(write, seen);
  if (ended === null) return null;
  TAKEN.set(write, (TAKEN.get(write) ?? new Set()).add(ended.hostN));
  forgetEndedHost(write.tx, ended.hostN);
  return ended;
}

function endedHostOf(write: ScanWrite, seen: Signs): EndedHost | null {
  const { tx, networkId } = write;
  const candidates = endedHostsWith(tx, tx.recordN(networkId) ?? 0, textsOfSigns(seen))
    .filter(({ hostN }) => TAKEN.get(write)?.has(hostN) !== true)
    .map((ended) => ({ id: ended, signs: signsOfTexts(ended.signs) }));
  const best = identify(
    seen,
    // The address alone may belong to another machine by now, unless nothing else was ever known of the host.
    candidates.filter(({ signs }) => !hasOnlyAddresses(seen) || hasOnlyAddresses(signs)),
  );
  return best?.id ?? null;
}

/** True if a user deleted the host; reports that. @param label display name */
export function ignoredHost(write: ScanWrite, seen: Signs, address: string, label: string): boolean {
  const ignored = ignoredHosts(write)
    .sharingSign(seen)
    .find(({ signs }) => isSameAsDeleted(seen, signs));
  if (ignored === undefined) return false;
  write.addFinding({
    type: "Ignored",
    entity: hostKind.name,
    id: ignored.record.id,
    label: label === address ? address : `${label} (${address})`,
    reason: "deleted by a user; delete its ignored entry to let it come back",
  });
  return true;
}

/**
 * True if all addresses of the host are in deleted subnets; reports that. A host without addresses would not be
 * recognized in the next scan.
 */
export function isInDeletedSubnets(
  write: ScanWrite,
  subnets: SubnetAssigner,
  label: string,
  addresses: Iterable<string>,
): boolean {
  let ignored: IgnoredRecord | null = null;
  for (const address of addresses) {
    ignored = subnets.blockingDeletion(address);
    if (ignored === null) return false;
  }
  if (ignored === null) return false;
  write.addFinding({
    type: "Ignored",
    entity: subnetKind.name,
    id: ignored.id,
    label,
    reason: `its subnet ${ignored.label} was deleted by a user; delete the subnet's ignored entry to let it come back`,
  });
  return true;
}

/** Same rules as for live hosts, but a common address suffices if one side has no other signs. */
function isSameAsDeleted(seen: Signs, deleted: Signs): boolean {
  if (similarity(seen, deleted).score >= MATCH_SCORE_MIN) return true;
  const sharesAddress = [...seen.addresses].some((address) => deleted.addresses.has(address));
  return sharesAddress && (hasOnlyAddresses(seen) || hasOnlyAddresses(deleted));
}

interface IgnoredHost {
  readonly record: IgnoredRecord;
  readonly signs: Signs;
}

/** Read once per write. */
const CACHE = new WeakMap<ScanWrite, SignIndex<IgnoredHost>>();

function ignoredHosts(write: ScanWrite): SignIndex<IgnoredHost> {
  const known = CACHE.get(write);
  if (known !== undefined) return known;
  const ignored = write.ignoredOf("host").map((record) => ({ record, signs: signsOfTexts(record.signs) }));
  const read = new SignIndex<IgnoredHost>(ignored);
  CACHE.set(write, read);
  return read;
}
