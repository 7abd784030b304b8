// Incremental network map, updated change by change with the same result as mapOf. Redraws only what a change affects:
// interfaces that consulted the changed records, and all cables between two nodes together.

import { compareCodePoints, textSortKey } from "../../base/text.ts";
import type { FactsChange, MapHost, MapPort } from "../../discovery/topology/facts.ts";
import { ResolutionOverTime } from "../../discovery/topology/resolution-over-time.ts";
import { AnnouncedNames } from "./announced-names.ts";
import { bundleCables } from "./bundles.ts";
import { endsOf, joinHalves, linkOf, mergeAdditions } from "./cables.ts";
import { IncrementalContributions, type StoredContribution } from "./incremental-contributions.ts";
import type { MapChange, MapEnd, MapLink, MapNode, NetworkMap } from "./map.ts";
import { nodesWithin } from "./neighborhood.ts";
import { hostNode } from "./nodes.ts";
import { contributionOf, type PortContribution } from "./port-contribution.ts";

export class IncrementalMap {
  private readonly networkId: string;
  private readonly includeIsolated: boolean;
  private readonly resolution = new ResolutionOverTime();
  private readonly hosts = new Map<string, MapHost>();
  private readonly ports = new Map<string, { readonly n: number; readonly port: MapPort }>();
  private readonly contributions = new IncrementalContributions();
  private readonly names = new AnnouncedNames();
  private readonly nodes = new Map<string, MapNode>();
  /** Links between two nodes, by pairKey. */
  private readonly links = new Map<string, readonly MapLink[]>();

  /** Starts empty. @param includeIsolated also shows hosts without a link */
  constructor(networkId: string, includeIsolated: boolean) {
    this.networkId = networkId;
    this.includeIsolated = includeIsolated;
  }

  /** @returns the differences; may include unchanged items */
  revise(change: FactsChange): MapChange {
    const toRead = new Set([...this.resolution.update(change), ...change.ports.keys()]);
    // The set grows during iteration.
    for (const portId of toRead)
      for (const label of this.names.set(portId, this.resolution.get(portId)))
        for (const other of this.contributions.consulting(nameKey(label))) toRead.add(other);
    for (const id of [...change.hosts.keys(), ...change.ports.keys()])
      for (const portId of this.contributions.consulting(id)) toRead.add(portId);
    for (const [id, host] of change.hosts) put(this.hosts, id, host);
    for (const [id, port] of change.ports) put(this.ports, id, port);
    const { nodeIds, pairs } = this.contributions.revise([...toRead].map((id) => [id, this.contributionOf(id)]));
    for (const id of change.hosts.keys()) {
      nodeIds.add(id);
      for (const pair of this.contributions.pairsOf(id)) pairs.add(pair);
    }
    const links = this.redrawLinks(pairs, nodeIds);
    return { nodes: this.redrawNodes(nodeIds), links };
  }

  /** Unordered. */
  fullMap(): NetworkMap {
    return { nodes: [...this.nodes.values()], links: [...this.links.values()].flat() };
  }

  /** The neighborhood of a host, as by neighborhoodOf; unordered. */
  neighborhood(hostId: string, hops: number): NetworkMap {
    if (!this.nodes.has(hostId)) return { nodes: [], links: [] };
    const reached = nodesWithin({ hostId, hops }, (id) => this.linkedTo(id));
    const pairs = new Set([...reached].flatMap((id) => [...this.contributions.pairsOf(id)]));
    const links = [...pairs].flatMap((pair) => this.links.get(pair) ?? []);
    return {
      nodes: [...reached].map((id) => this.nodes.get(id) as MapNode),
      links: links.filter(({ ends }) => ends.every(({ node_id }) => reached.has(node_id))),
    };
  }

  private linkedTo(nodeId: string): string[] {
    return [...this.contributions.pairsOf(nodeId)].flatMap((pair) =>
      (this.links.get(pair) ?? []).slice(0, 1).flatMap(({ ends }) => ends.map(({ node_id }) => node_id)),
    );
  }

  /** Null for an interface that contributes nothing. */
  private contributionOf(portId: string): StoredContribution | null {
    const known = this.ports.get(portId);
    if (known === undefined) return null;
    const resolution = this.resolution.get(portId);
    if (resolution === undefined && known.port.neighbor === null) return null;
    const consulted = new Set<string>();
    const contribution: PortContribution = contributionOf(known.port, resolution, {
      networkId: this.networkId,
      host: (id) => {
        consulted.add(id);
        return this.hosts.get(id);
      },
      port: (id) => {
        consulted.add(id);
        return this.ports.get(id)?.port;
      },
      addressesNamed: (label) => {
        consulted.add(nameKey(label));
        return this.names.addressesOf(label);
      },
    });
    return { ...contribution, n: known.n, consulted };
  }

  private redrawLinks(pairs: Iterable<string>, nodeIds: Set<string>): Map<string, MapLink | null> {
    const changed = new Map<string, MapLink | null>();
    const current = new Map<string, MapLink>();
    for (const pair of pairs) {
      for (const { id } of this.links.get(pair) ?? []) changed.set(id, null);
      const links = this.linksBetween(pair);
      if (links.length === 0) this.links.delete(pair);
      else this.links.set(pair, links);
      for (const link of links) current.set(link.id, link);
      for (const id of this.contributions.nodesOf(pair)) nodeIds.add(id);
    }
    // A link that moved to other nodes still exists.
    for (const [id, link] of current) changed.set(id, link);
    return changed;
  }

  private linksBetween(pair: string): MapLink[] {
    const { direct, beyond } = this.contributions.between(pair);
    const cables = mergeAdditions(direct);
    joinHalves(cables);
    const all = [...bundleCables([...cables.values()]), ...mergeAdditions(beyond).values()];
    return all.map((cable) =>
      linkOf(
        cable,
        endsOf(cable, (left, right) => this.compare(left, right)),
        all.length,
      ),
    );
  }

  /** By name, like the nodes of a map. */
  private compare(left: MapEnd, right: MapEnd): number {
    return left.node_id === right.node_id ? 0 : compareCodePoints(this.sortKey(left), this.sortKey(right));
  }

  private sortKey({ node_id: id }: MapEnd): string {
    return textSortKey((this.hosts.get(id) ?? this.contributions.unknownDevice(id))?.name ?? "") + id;
  }

  private redrawNodes(ids: Iterable<string>): Map<string, MapNode | null> {
    const changed = new Map<string, MapNode | null>();
    for (const id of ids) {
      const node = this.nodeOf(id);
      put(this.nodes, id, node);
      changed.set(id, node);
    }
    return changed;
  }

  private nodeOf(id: string): MapNode | null {
    const host = this.hosts.get(id);
    const isLinked = [...this.contributions.pairsOf(id)].some((pair) => this.links.has(pair));
    if (host === undefined) return isLinked ? this.contributions.unknownDevice(id) : null;
    return isLinked || this.includeIsolated ? hostNode(host, this.contributions.managedAt(id)) : null;
  }
}

/** Differs from every id. */
function nameKey(label: string): string {
  return `name ${label}`;
}

function put<Value>(values: Map<string, Value>, id: string, value: Value | null): void {
  if (value === null) values.delete(id);
  else values.set(id, value);
}
