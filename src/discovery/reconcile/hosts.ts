// Creation of hosts found by a scan, except hosts that a person deleted.

import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import type { IgnoredRecord } from "../../resources/ignored/ignored.ts";
import { subnetKind } from "../../resources/subnets/subnet.ts";
import { hasOnlyAddresses, MATCH_SCORE_MIN, similarity } from "./identity.ts";
import { discoveredHost, type HostFields } from "./new-records.ts";
import type { ScanWrite } from "./scan-write.ts";
import { SignIndex, type Signs, signsOfTexts } from "./signs.ts";
import type { SubnetPlacer } from "./subnet-placer.ts";

export function newHost(write: ScanWrite, fields: HostFields): HostRecord {
  const host = write.create(hostKind, discoveredHost(write.networkId, fields));
  if (host === null) throw new Error("hosts: no host is ignored by its name");
  return host;
}

/**
 * True if a person deleted the host; reports it.
 * @param label display name
 */
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
    reason: "deleted by a person; delete its ignored entry to let it come back",
  });
  return true;
}

/**
 * True if all its addresses are in deleted subnets: a host without addresses would not be recognized again. Reports it.
 */
export function isInDeletedSubnets(
  write: ScanWrite,
  subnets: SubnetPlacer,
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
    reason: `its subnet ${ignored.label} was deleted by a person; delete the subnet's ignored entry to let it come back`,
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
