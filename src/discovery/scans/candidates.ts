// Whom to ask: the addresses of a scan as devices, as far as is known before they are asked, each known host once. Pure.

import type { AddressSighting } from "../sightings.ts";
import type { Candidate } from "./asking.ts";
import type { Credentials } from "./credentials.ts";
import type { KnownHost, KnownNetwork } from "./known-network.ts";
import type { Scope } from "./scope.ts";

/** An address, with the host that is known to have it. */
export function candidateAt(address: string, network: KnownNetwork, isNamed: boolean): Candidate {
  return { host: ownerOf(address, network), addresses: [address], seen: [], isNamed };
}

/** A host with its addresses that may be asked; null where it has none. */
export function candidateOfHost(host: KnownHost, network: KnownNetwork, scope: Scope): Candidate | null {
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
): Candidate[] {
  const byHost = new Map<KnownHost, AddressSighting[]>();
  const candidates: Candidate[] = [];
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

/** Every address that is walked through; of a known host the first one stands for all of its own, and the others are null. */
export function* candidatesIn(scope: Scope, network: KnownNetwork): Generator<Candidate | null> {
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

/** Whether a host is one that should answer SNMP: it did before, or was given a credential of its own. */
export function isExpected(host: KnownHost, network: KnownNetwork, credentials: Credentials): boolean {
  return credentials.isOwn(host.id) || host.addresses.some(({ ip_address }) => network.remembered.has(ip_address));
}

/** Null for nobody, and for an address that several hosts have: it says nothing of which of them answers. */
function ownerOf(address: string, network: KnownNetwork): KnownHost | null {
  const owners = network.byAddress.get(address) ?? [];
  return owners.length === 1 ? (network.hosts.get(owners[0]?.host_id ?? "") ?? null) : null;
}

/** Those that answered SNMP before come first. */
function provenFirst(addresses: readonly string[], network: KnownNetwork): string[] {
  return [...new Set([...addresses.filter((address) => network.remembered.has(address)), ...addresses])];
}
