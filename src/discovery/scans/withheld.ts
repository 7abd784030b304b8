// Says of addresses that stayed silent that credentials were not sent to them, where, and who can change that. Pure.

import { ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import type { AcceptingSubnets, SubnetWord } from "../../resources/subnets/accepting.ts";
import { subnetKind } from "../../resources/subnets/subnet.ts";
import type { Finding } from "../sightings.ts";
import type { Withheld } from "./credentials.ts";
import type { KnownHost } from "./known-network.ts";

/** Addresses that are named in one finding. */
const ADDRESSES_NAMED_MAX = 3;

interface Silence {
  readonly addresses: string[];
  count: number;
}

/**
 * One finding for each subnet that keeps the network's credentials away, and for each address of a host that waits for
 * its confirmation.
 * @param unanswered addresses with what they were not asked with
 */
export function* withheldFindings(
  unanswered: Iterable<readonly [address: string, withheld: Withheld]>,
  subnets: AcceptingSubnets,
  hosts: ReadonlyMap<string, KnownHost>,
): Generator<Finding> {
  const silences = new Map<SubnetWord, Silence>();
  for (const [address, { waiting, isOutside }] of unanswered) {
    for (const at of waiting) yield waits(address, at.id, hosts.get(at.host_id));
    // What lies in no subnet was asked with a credential that was given it by name.
    const subnet = isOutside ? subnets.smallestOf(address) : null;
    if (subnet === null) continue;
    const silence = silences.get(subnet) ?? { addresses: [], count: 0 };
    silences.set(subnet, silence);
    silence.count += 1;
    if (silence.addresses.length < ADDRESSES_NAMED_MAX) silence.addresses.push(address);
  }
  for (const [{ id, cidr }, { addresses, count }] of silences) {
    const which = `${addresses.join(", ")}${count > addresses.length ? `, … (${count} addresses)` : ""}`;
    const reason = `does not accept credentials: the network's were not sent to ${which}; an Admin can set its accepts_credentials, or name them as targets`;
    yield { type: "Skipped", entity: subnetKind.name, id, label: cidr, reason };
  }
}

function waits(address: string, id: string, host: KnownHost | undefined): Finding {
  const whose = host === undefined ? "its host" : host.name;
  return {
    type: "Skipped",
    entity: ipAddressKind.name,
    id,
    label: address,
    reason: `waits for confirmation: credentials are assigned to ${whose}, but no Admin has sent them to this address; confirm it with POST /api/v1/ip-addresses/${id}/confirm`,
  };
}
