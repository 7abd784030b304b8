// Devices to poll, derived from the addresses of a scan, with each known host only once. Pure.

import type { AddressSighting } from "../sightings.ts";
import type { Credentials } from "./credentials.ts";
import type { PollTarget } from "./device-polling.ts";
import type { KnownHost, KnownNetwork } from "./known-network.ts";
import type { Scope } from "./scope.ts";

export function candidateAt(address: string, network: KnownNetwork, isNamed: boolean): PollTarget {
  return { host: ownerOf(address, network), addresses: [address], seen: [], isNamed };
}

/** Returns null if no address of the host may be polled. */
export function candidateOfHost(host: KnownHost, network: KnownNetwork, scope: Scope): PollTarget | null {
  const addresses = host.addresses.map((each) => each.ip_address).filter((address) => scope.contains(address));
  return addresses.length === 0
    ? null
    : {
        host,
        addresses: provenFirst(addresses, network),
        seen: [],
        isNamed: addresses.some((address) => scope.isTarget(address)),
      };
}

/** Groups the addresses that responded to a sweep by host. */
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
    if (host === null)
      candidates.push({ host, addresses: [address], seen: [sighting], isNamed: scope.isTarget(address) });
    else byHost.set(host, [...(byHost.get(host) ?? []), sighting]);
  }
  for (const [host, sightings] of byHost) {
    const addresses = sightings.map((each) => each.ip_address);
    candidates.push({
      host,
      addresses: provenFirst(addresses, network),
      seen: sightings,
      isNamed: addresses.some((address) => scope.isTarget(address)),
    });
  }
  return candidates;
}

/**
 * Yields each walked address; the first one of a known host represents all its addresses, and the others yield null.
 */
export function* candidatesIn(scope: Scope, network: KnownNetwork): Generator<PollTarget | null> {
  const seenHosts = new Set<string>();
  for (const address of scope.addresses()) {
    const candidate = candidateAt(address, network, scope.isTarget(address));
    if (candidate.host === null) yield candidate;
    else if (seenHosts.has(candidate.host.id)) yield null;
    else {
      seenHosts.add(candidate.host.id);
      yield candidateOfHost(candidate.host, network, scope) ?? candidate;
    }
  }
}

/** True if a host should respond to SNMP: it did before, or has its own credential. */
export function isExpected(host: KnownHost, network: KnownNetwork, credentials: Credentials): boolean {
  return credentials.isOwn(host.id) || host.addresses.some(({ ip_address }) => network.remembered.has(ip_address));
}

/** Returns null if no host or several hosts have the address. */
function ownerOf(address: string, network: KnownNetwork): KnownHost | null {
  const owners = network.byAddress.get(address) ?? [];
  return owners.length === 1 ? (network.hosts.get(owners[0]?.host_id ?? "") ?? null) : null;
}

/** Moves addresses that responded to SNMP before to the front. */
function provenFirst(addresses: readonly string[], network: KnownNetwork): string[] {
  return [...new Set([...addresses.filter((address) => network.remembered.has(address)), ...addresses])];
}
