// Creates the subnets and VLANs that imported objects refer to, if their network lacks them.

import { cidrOf, parseIp } from "../base/ip.ts";
import type { ImportRun } from "./import-run.ts";
import type { VlanName } from "./imported-objects.ts";
import { importRecord, RECORD_FORMS } from "./records.ts";

/** Addresses that need a subnet. */
export interface AddressRange {
  readonly url: string;
  /** Canonical. */
  readonly first: string;
  readonly last: string;
  /** Prefix length given by the source; null if none. */
  readonly prefixLength: number | null;
}

/**
 * Creates the prefix given with the addresses, if no subnet of the network contains them.
 * @returns the reason for having no subnet; null if they have one
 * @throws RemoteError
 */
export async function ensureSubnet(run: ImportRun, networkId: string, range: AddressRange): Promise<string | null> {
  const { first, last, prefixLength, url } = range;
  if (run.subnets.contains(networkId, first, last)) return null;
  const ip = parseIp(first);
  // An invalid address is refused elsewhere, as such.
  if (ip === null) return null;
  if (prefixLength === null || prefixLength > ip.bytes.length * 8) return `${first} is in no subnet of its network`;
  const cidr = cidrOf(ip, prefixLength).text;
  const detail = `subnet ${networkId} ${cidr}`;
  const created = await importRecord(
    run,
    RECORD_FORMS.subnet,
    {
      origin: { id: run.source.derivedId("", detail), url },
      label: cidr,
      fields: { cidr },
      onCreate: { network_id: networkId, accepts_credentials: false },
    },
    null,
  );
  if (created === null) return `${first} is in no subnet of its network, and ${cidr} could not be created`;
  run.subnets.add(networkId, cidr);
  return run.subnets.contains(networkId, first, last) ? null : `${first} to ${last} are not in a single subnet`;
}

/**
 * Returns the VLAN with a number in a network, created if missing.
 * @returns its ID; null if refused
 * @throws RemoteError
 */
export async function ensureVlan(run: ImportRun, networkId: string, vlan: VlanName): Promise<string | null> {
  const { url, number, name } = vlan;
  const key = `${networkId}/${number}`;
  const known = run.vlans.get(key);
  if (known !== undefined) return known?.id ?? null;
  const created = await importRecord(
    run,
    RECORD_FORMS.vlan,
    {
      origin: { id: run.source.derivedId(url, `vlan ${networkId}`), url },
      label: `${number} ${name ?? ""}`.trim(),
      fields: { number, name },
      onCreate: { network_id: networkId },
    },
    null,
  );
  // A refusal applies to every object that refers to the VLAN.
  run.vlans.set(key, created);
  return created?.id ?? null;
}
