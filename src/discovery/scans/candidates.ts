// The addresses of a scan as devices to ask, each known host once. Pure.

import type { AddressSighting } from "../sightings.ts";
import type { Credentials } from "./credentials.ts";
import type { PollTarget } from "./device-polling.ts";
import type { KnownHost, KnownNetwork } from "./known-network.ts";
import type { Scope } from "./scope.ts";

export function candidateAt(address: string, network: KnownNetwork, isNamed: boolean): PollTarget {
  return { host: ownerOf(address, network), addresses: [address], seen: [], isNamed };
}

/** Null where none of its addresses may be asked. */
export function candidateOfHost(host: KnownHost, network: KnownNetwork, scope: Scope): PollTarget | null {
  const addresses = host.addresses.map((each) => each.ip_address).filter((address) => scope.contains(address));
  return addresses.length === 0
    ? null
    : {
        host,
        addresses: provenFirst(addresses, network),
        seen: [],
        isNamed: addresses.some((address) => scope.names(address)),
      };
}

/** The addresses that answered a sweep, by the host that has them. */
export function candidatesOf(
  seen: ReadonlyMap<string, AddressSighting>,
  network: KnownNetwork,
  scope: Scope,
): PollTarget[] {
  const byHost = new Map<KnownHost, AddressSighting[]>();
  const candidates: PollTarget[] = [];
  for (const sighting of seen.values()) {
    const { ip_address: address } = sighting;
    const host = ownerOf(address, network);
    if (host === null) candidates.push({ host, addresses: [address], seen: [sighting], isNamed: scope.names(address) });
    else byHost.set(host, [...(byHost.get(host) ?? []), sighting]);
  }
  for (const [host, own] of byHost) {
    const addresses = own.map((each) => each.ip_address);
    candidates.push({
      host,
      addresses: provenFirst(addresses, network),
      seen: own,
      isNamed: addresses.some((address) => scope.names(address)),
    });
  }
  return candidates;
}

/** Every address to walk; the first of a known host stands for all of its own, the others are null. */
export function* candidatesIn(scope: Scope, network: KnownNetwork): Generator<PollTarget | null> {
  const taken = new Set<string>();
  for (const address of scope.addresses()) {
    const candidate = candidateAt(address, network, scope.names(address));
    if (candidate.host === null) yield candidate;
    else if (taken.has(candidate.host.id)) yield null;
    else {
      taken.add(candidate.host.id);
      yield candidateOfHost(candidate.host, network, scope) ?? candidate;
    }
  }
}

/** Whether a host should answer SNMP: it did before, or has a credential of its own. */
export function isExpected(host: KnownHost, network: KnownNetwork, credentials: Credentials): boolean {
  return credentials.isOwn(host.id) || host.addresses.some(({ ip_address }) => network.remembered.has(ip_address));
}

/** Null for nobody, and for an address of several hosts. */
function ownerOf(address: string, network: KnownNetwork): KnownHost | null {
  const owners = network.byAddress.get(address) ?? [];
  return owners.length === 1 ? (network.hosts.get(owners[0]?.host_id ?? "") ?? null) : null;
}

/** Those that answered SNMP before first. */
function provenFirst(addresses: readonly string[], network: KnownNetwork): string[] {
  return [...new Set([...addresses.filter((address) => network.remembered.has(address)), ...addresses])];
}
