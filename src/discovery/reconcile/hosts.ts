// New hosts of a scan, except hosts that a person deleted.

import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import type { IgnoredRecord } from "../../resources/ignored/ignored.ts";
import { subnetKind } from "../../resources/subnets/subnet.ts";
import { ENOUGH, isBare, likeness } from "./identity.ts";
import { foundHost, type HostFields } from "./new-records.ts";
import type { ScanWrite } from "./scan-write.ts";
import { type Signs, signKeys, signsOfTexts } from "./signs.ts";
import type { SubnetPlacer } from "./subnet-placer.ts";

export function newHost(write: ScanWrite, fields: HostFields): HostRecord {
  const host = write.found(hostKind, foundHost(write.networkId, fields));
  if (host === null) throw new Error("hosts: no host is ignored by its name");
  return host;
}

/**
 * True if a person deleted the host; reports it.
 * @param label display name
 */
export function ignoredHost(write: ScanWrite, seen: Signs, address: string, label: string): boolean {
  const ignored = ignoredHosts(write)
    .sharing(seen)
    .find(({ signs }) => isSameAsDeleted(seen, signs));
  if (ignored === undefined) return false;
  write.tell({
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
export function isUnwanted(
  write: ScanWrite,
  subnets: SubnetPlacer,
  label: string,
  addresses: Iterable<string>,
): boolean {
  let ignored: IgnoredRecord | null = null;
  for (const address of addresses) {
    ignored = subnets.unwanted(address);
    if (ignored === null) return false;
  }
  if (ignored === null) return false;
  write.tell({
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
  if (likeness(seen, deleted).score >= ENOUGH) return true;
  const isThere = [...seen.addresses].some((address) => deleted.addresses.has(address));
  return isThere && (isBare(seen) || isBare(deleted));
}

interface IgnoredHost {
  readonly record: IgnoredRecord;
  readonly signs: Signs;
}

/** Deleted hosts indexed by sign: there may be thousands, and every sweep sees them again. */
class IgnoredHosts {
  private readonly bySign = new Map<string, IgnoredHost[]>();

  constructor(records: readonly IgnoredRecord[]) {
    for (const record of records) {
      const host = { record, signs: signsOfTexts(record.signs) };
      for (const sign of signKeys(host.signs)) {
        const others = this.bySign.get(sign);
        if (others === undefined) this.bySign.set(sign, [host]);
        else others.push(host);
      }
    }
  }

  /** Returns deleted hosts that share a sign. */
  sharing(seen: Signs): IgnoredHost[] {
    return [...new Set([...signKeys(seen)].flatMap((sign) => this.bySign.get(sign) ?? []))];
  }
}

/** Read once per write. */
const READ = new WeakMap<ScanWrite, IgnoredHosts>();

function ignoredHosts(write: ScanWrite): IgnoredHosts {
  const known = READ.get(write);
  if (known !== undefined) return known;
  const read = new IgnoredHosts(write.ignoredOf("host"));
  READ.set(write, read);
  return read;
}
