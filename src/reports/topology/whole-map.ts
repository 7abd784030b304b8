// Network map built from records and their announcements. Pure, with a stable order.

import { sortedBy, textSortKey } from "../../base/text.ts";
import type { NetworkFacts } from "../../discovery/topology/facts.ts";
import { type PortResolution, resolveNeighbors } from "../../discovery/topology/resolve.ts";
import { AnnouncedNames } from "./announced-names.ts";
import { bundleCables } from "./bundles.ts";
import { endsOf, groupOf, joinHalves, linkOf, type MapCable, mergeAdditions } from "./cables.ts";
import type { MapEnd, MapNode, NetworkMap } from "./map.ts";
import { hostNode, moreCompleteNode } from "./nodes.ts";
import { contributionOf, type NetworkContext, type PortContribution } from "./port-contribution.ts";

/**
 * A stored far end takes precedence over announcements (resolve.ts).
 * @param includeIsolated also shows hosts without a link
 */
export function mapOf(networkId: string, facts: NetworkFacts, includeIsolated: boolean): NetworkMap {
  const hosts = new Map(facts.hosts.map((host) => [host.id, host]));
  const resolutions = resolveNeighbors(facts.hosts, facts.ports);
  const farEnds = farEndsIn(facts, resolutions);
  // Only far ends and what they are part of, which are few of all ports.
  const ports = new Map(facts.ports.flatMap((port) => (farEnds.has(port.id) ? [[port.id, port]] : [])));
  const names = new AnnouncedNames();
  for (const [portId, resolution] of resolutions) names.set(portId, resolution);
  const context: NetworkContext = {
    networkId,
    host: (id) => hosts.get(id),
    port: (id) => ports.get(id),
    addressesNamed: (label) => names.addressesOf(label),
  };
  const contributions: PortContribution[] = [];
  for (const port of facts.ports) {
    const resolution = resolutions.get(port.id);
    if (resolution !== undefined || port.neighbor !== null)
      contributions.push(contributionOf(port, resolution, context));
  }
  const cables = mergeAdditions(contributions.flatMap(({ direct }) => direct));
  joinHalves(cables);
  const linked = new Set([...cables.values()].flatMap(({ near, farNode }) => [near.host_id, farNode]));
  // A device that is announced only through others is a node too.
  const beyond = contributions
    .flatMap((contribution) => contribution.beyond)
    .filter(({ farNode }) => !linked.has(farNode));
  const links = [...bundleCables([...cables.values()]), ...mergeAdditions(beyond).values()];
  return drawMap(links, { facts, contributions, includeIsolated });
}

interface Drawing {
  readonly facts: NetworkFacts;
  readonly contributions: readonly PortContribution[];
  readonly includeIsolated: boolean;
}

function drawMap(cables: readonly MapCable[], { facts, contributions, includeIsolated }: Drawing): NetworkMap {
  const linked = new Set(cables.flatMap(({ near, farNode }) => [near.host_id, farNode]));
  const managedAt = new Map<string, string>();
  const unknown = new Map<string, MapNode>();
  for (const { notes } of contributions)
    for (const [hostId, address] of notes) if (!managedAt.has(hostId)) managedAt.set(hostId, address);
  for (const sort of ["direct", "beyond"] as const)
    for (const contribution of contributions)
      for (const { unknownDevice } of contribution[sort]) {
        if (unknownDevice === null) continue;
        const known = unknown.get(unknownDevice.id);
        unknown.set(unknownDevice.id, known === undefined ? unknownDevice : moreCompleteNode(known, unknownDevice));
      }
  const hosts = facts.hosts
    .filter(({ id }) => includeIsolated || linked.has(id))
    .map((host) => hostNode(host, managedAt.get(host.id)));
  const nodes = sortedBy(
    [...hosts, ...[...unknown.values()].filter(({ id }) => linked.has(id))],
    ({ name, id }) => textSortKey(name) + id,
  );
  const indexes = new Map(nodes.map(({ id }, index) => [id, index]));
  const indexOf = (end: MapEnd) => indexes.get(end.node_id) as number;
  const drafts = cables.map((cable) => ({
    cable,
    ends: endsOf(cable, (left, right) => indexOf(left) - indexOf(right)),
  }));
  const counts = new Map<string, number>();
  for (const { ends } of drafts) counts.set(groupOf(ends), (counts.get(groupOf(ends)) ?? 0) + 1);
  const number = (value: number) => value.toString().padStart(10, "0");
  const sorted = sortedBy(
    drafts,
    ({ cable, ends: [left, right] }) =>
      `${number(indexOf(left))} ${number(indexOf(right))} ${number(left.if_entry?.if_index ?? 0)} ${cable.key}`,
  );
  return { nodes, links: sorted.map(({ cable, ends }) => linkOf(cable, ends, counts.get(groupOf(ends)) ?? 1)) };
}

/** Ids of interfaces and hosts at a far end, and of interfaces with members or units. */
function farEndsIn({ ports }: NetworkFacts, resolutions: ReadonlyMap<string, PortResolution>): Set<string> {
  const ids = new Set<string>();
  for (const { neighbor, moreNeighbors, lag_id, parent_id } of ports) {
    for (const carrier of [lag_id, parent_id]) if (carrier !== null) ids.add(carrier);
    if (neighbor !== null) ids.add(neighbor.id);
    for (const each of moreNeighbors) if (each !== null) ids.add(each.id);
  }
  for (const { neighbor, claims } of resolutions.values()) {
    if (neighbor !== null) ids.add(neighbor.id);
    for (const claim of claims) if (claim.neighbor !== null) ids.add(claim.neighbor.id);
  }
  return ids;
}
