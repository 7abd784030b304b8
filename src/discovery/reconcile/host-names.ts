// Names of hosts without a manual name, derived again when a host is seen or loses an address.

import { parseIp } from "../../base/ip.ts";
import { isLocallyAdministered } from "../../base/mac.ts";
import { vendorOf } from "../../base/vendors/vendor.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import type { IpAddressRecord } from "../../resources/ip-addresses/ip-address.ts";
import { lineOf } from "./device-text.ts";
import { isSetByUser } from "./provenance.ts";
import { mergeReported } from "./reported-fields.ts";
import type { ScanWrite } from "./scan-write.ts";

/** Name of a host without any data to derive one from. */
const UNNAMED = "Unnamed host";

/**
 * Renames a host unless a user named it: to its system name, else its DNS name, else one of its MAC addresses with the
 * vendor, else one of its addresses. Keeps the address in the name while the host has it. Does not mark the host as
 * seen.
 * @param addresses of the host, by address
 */
export function renameDerived(
  write: ScanWrite,
  host: HostRecord,
  addresses: ReadonlyMap<string, IpAddressRecord>,
): HostRecord {
  const name = derivedName(write, host, addresses);
  if (name === host.name || isSetByUser(write.tx, host.id, "name")) return host;
  return write.tx.update(
    hostKind,
    host.id,
    mergeReported<HostRecord>(host, { name }, null, () => false),
  );
}

/** True if the name may be derived. A cheap check that avoids reading the provenance of manual names. */
export function looksDerived({ name, hostname, sys_name }: HostRecord): boolean {
  const known = [UNNAMED, lineOf(hostname ?? ""), lineOf(sys_name ?? "")];
  return known.includes(name) || parseIp(name) !== null || macIn(name) !== null;
}

/** `Raspberry Pi b8:27:eb:12:34:56`; the address alone if its vendor is unknown. */
export function nameOfMac(mac: string): string {
  const vendor = vendorOf(mac);
  if (vendor === null) return mac;
  return lineOf(`${vendor.replace(LEGAL_FORM, "") || vendor} ${mac}`);
}

function derivedName(
  { index }: ScanWrite,
  { id, name, sys_name, hostname }: HostRecord,
  addresses: ReadonlyMap<string, IpAddressRecord>,
): string {
  const named = lineOf(sys_name ?? "") || lineOf(hostname ?? "");
  if (named !== "") return named;
  const current = macIn(name);
  // Usually the first one. Avoids a full pass for hosts with thousands of addresses, each of which is seen.
  if (current !== null && !index.isShared(current) && addresses.values().some((each) => each.mac_address === current))
    return name;
  const macs = index.signsOf(id)?.macs ?? new Set<string>();
  if (macs.size === 0) return addresses.has(name) ? name : (firstOf(addresses.values())?.ip_address ?? UNNAMED);
  const seen = firstOf(addresses.values().filter(({ mac_address: mac }) => mac !== null && macs.has(mac)))?.mac_address;
  const other = current !== null && macs.has(current) ? current : [...macs].sort(universalFirst)[0];
  return nameOfMac(seen ?? (other as string));
}

function firstOf(addresses: Iterable<IpAddressRecord>): IpAddressRecord | undefined {
  let first: IpAddressRecord | undefined;
  for (const each of addresses) if (first === undefined || each.position < first.position) first = each;
  return first;
}

function universalFirst(some: string, other: string): number {
  return Number(isLocallyAdministered(some)) - Number(isLocallyAdministered(other)) || (some < other ? -1 : 1);
}

/** Returns the MAC address at the end of a name as written by nameOfMac; null if none. */
function macIn(name: string): string | null {
  return /(?:^| )((?:[0-9a-f]{2}:){5}[0-9a-f]{2})$/.exec(name)?.[1] ?? null;
}

const LEGAL_FORM =
  /(?:[\s,.]+(?:inc|incorporated|incorporation|corp|corporate|corporation|co|company|ltd|limited|llc|gmbh|ag|ab|as|bv|nv|oy|sa|pty|foundation|trading)\b\.?)+$/i;
