// Findings for silent addresses that did not receive credentials: where, and who can change that. Pure.

import { ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import type { AcceptingSubnets, SubnetPolicy } from "../../resources/subnets/accepting.ts";
import { subnetKind } from "../../resources/subnets/subnet.ts";
import type { Finding } from "../sightings.ts";
import type { Withheld } from "./credentials.ts";
import type { KnownHost } from "./known-network.ts";

/** Maximum addresses named in one finding. */
const ADDRESSES_NAMED_MAX = 3;

interface SilentAddresses {
  readonly addresses: string[];
  count: number;
}

/**
 * Yields one finding per subnet that does not accept the network's credentials, and one per host address awaiting
 * approval.
 * @param unanswered addresses with the credentials withheld from them
 */
export function* withheldFindings(
  unanswered: Iterable<readonly [address: string, withheld: Withheld]>,
  subnets: AcceptingSubnets,
  hosts: ReadonlyMap<string, KnownHost>,
): Generator<Finding> {
  const silentBySubnet = new Map<SubnetPolicy, SilentAddresses>();
  for (const [address, { waiting, isOutside }] of unanswered) {
    for (const waitingAddress of waiting)
      yield waitingFinding(address, waitingAddress.id, hosts.get(waitingAddress.host_id));
    // An address outside all subnets received only the credentials that name it.
    const subnet = isOutside ? subnets.smallestOf(address) : null;
    if (subnet === null) continue;
    const silent = silentBySubnet.get(subnet) ?? { addresses: [], count: 0 };
    silentBySubnet.set(subnet, silent);
    silent.count += 1;
    if (silent.addresses.length < ADDRESSES_NAMED_MAX) silent.addresses.push(address);
  }
  for (const [{ id, cidr }, { addresses, count }] of silentBySubnet) {
    const listed = `${addresses.join(", ")}${count > addresses.length ? `, … (${count} addresses)` : ""}`;
    const reason = `does not accept credentials: the network's were not sent to ${listed}; an Admin can set its accepts_credentials, or name them as targets`;
    yield { type: "Skipped", entity: subnetKind.name, id, label: cidr, reason };
  }
}

function waitingFinding(address: string, id: string, host: KnownHost | undefined): Finding {
  const hostName = host === undefined ? "its host" : host.name;
  return {
    type: "Skipped",
    entity: ipAddressKind.name,
    id,
    label: address,
    reason: `waits for confirmation: credentials are assigned to ${hostName}, but no Admin has sent them to this address; confirm it with POST /api/v1/ip-addresses/${id}/confirm`,
  };
}
