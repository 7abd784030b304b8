// Contributions of a network's interfaces to its map, updated change by change and indexed by subject. Pure.

import { MultiMap } from "../../discovery/topology/multi-map.ts";
import type { Addition } from "./cables.ts";
import type { MapNode } from "./map.ts";
import { moreCompleteNode } from "./nodes.ts";
import type { PortContribution } from "./port-contribution.ts";

export interface StoredContribution extends PortContribution {
  /** Record number of the interface; determines the order of interfaces. */
  readonly n: number;
  /** Ids of hosts and interfaces it depends on, and `name X` for the addresses announced with a name. */
  readonly consulted: ReadonlySet<string>;
}

/** Parts of the map to redraw. */
interface Redraw {
  readonly nodeIds: Set<string>;
  /** By pairKey. */
  readonly pairs: Set<string>;
}

export class IncrementalContributions {
  /** By interface id. */
  private readonly contributions = new Map<string, StoredContribution>();
  private readonly byConsulted = new MultiMap<string, string>();
  /** By the pair of nodes that the contribution connects. */
  private readonly byPair = new MultiMap<string, StoredContribution>();
  private readonly pairsOfNode = new MultiMap<string, string>();
  /** By the node described: the address of a host, or the identity of any other device. */
  private readonly byNode = new MultiMap<string, StoredContribution>();
  /** Number of direct contributions to a node; announcements from beyond do not count. */
  private readonly direct = new Map<string, number>();

  revise(contributions: ReadonlyArray<readonly [portId: string, StoredContribution | null]>): Redraw {
    const redraw: Redraw = { nodeIds: new Set(), pairs: new Set() };
    const linkedBefore = new Map<string, boolean>();
    for (const [portId, contribution] of contributions) {
      const before = this.contributions.get(portId);
      for (const each of [before, contribution])
        if (each !== null && each !== undefined) this.collect(each, redraw, linkedBefore);
      if (before !== undefined) this.count(portId, before, "remove");
      if (contribution === null) this.contributions.delete(portId);
      else {
        this.contributions.set(portId, contribution);
        this.count(portId, contribution, "add");
      }
    }
    // Announcements from beyond are shown only without direct ones; a device gets its name from the first interface
    // that announces it.
    for (const [id, wasLinked] of linkedBefore) {
      if (wasLinked === this.isLinked(id) && this.unknownDevice(id) === null) continue;
      for (const pair of this.pairsOfNode.get(id)) redraw.pairs.add(pair);
    }
    return redraw;
  }

  /** Interfaces that depend on a host, an interface or a name. */
  consulting(id: string): ReadonlySet<string> {
    return this.byConsulted.get(id);
  }

  pairsOf(nodeId: string): ReadonlySet<string> {
    return this.pairsOfNode.get(nodeId);
  }

  nodesOf(pair: string): string[] {
    return pair.split(" ");
  }

  /** In interface order. */
  between(pair: string): { readonly direct: Addition[]; readonly beyond: Addition[] } {
    const contributions = [...this.byPair.get(pair)].sort((a, b) => a.n - b.n);
    const ofPair = (additions: readonly Addition[]) => additions.filter((addition) => pairKey(addition) === pair);
    return {
      direct: contributions.flatMap(({ direct }) => ofPair(direct)),
      beyond: contributions.flatMap(({ beyond }) => ofPair(beyond)).filter(({ farNode }) => !this.isLinked(farNode)),
    };
  }

  /** The node's own address that the first interface announces as its management address. */
  managedAt(hostId: string): string | undefined {
    const notes = this.first(hostId).flatMap((contribution) => contribution.notes);
    return notes.find(([id]) => id === hostId)?.[1];
  }

  /** A device that is not a host, as first announced; null for a host. */
  unknownDevice(id: string): MapNode | null {
    const contributions = this.first(id);
    let known: MapNode | null = null;
    for (const sort of ["direct", "beyond"] as const)
      for (const contribution of contributions)
        for (const { unknownDevice } of contribution[sort])
          if (unknownDevice?.id === id) known = known === null ? unknownDevice : moreCompleteNode(known, unknownDevice);
    return known;
  }

  private first(nodeId: string): StoredContribution[] {
    return [...this.byNode.get(nodeId)].sort((a, b) => a.n - b.n);
  }

  private isLinked(nodeId: string): boolean {
    return (this.direct.get(nodeId) ?? 0) > 0;
  }

  private collect(
    { direct, beyond }: StoredContribution,
    { nodeIds, pairs }: Redraw,
    linkedBefore: Map<string, boolean>,
  ): void {
    for (const addition of [...direct, ...beyond]) {
      pairs.add(pairKey(addition));
      for (const id of [addition.near.host_id, addition.farNode]) {
        nodeIds.add(id);
        if (!linkedBefore.has(id)) linkedBefore.set(id, this.isLinked(id));
      }
    }
  }

  private count(portId: string, contribution: StoredContribution, change: "add" | "remove"): void {
    for (const id of contribution.consulted) this.byConsulted[change](id, portId);
    for (const [hostId] of contribution.notes) this.byNode[change](hostId, contribution);
    for (const addition of contribution.direct)
      for (const id of [addition.near.host_id, addition.farNode])
        this.direct.set(id, (this.direct.get(id) ?? 0) + (change === "add" ? 1 : -1));
    for (const addition of [...contribution.direct, ...contribution.beyond]) {
      const pair = pairKey(addition);
      this.byPair[change](pair, contribution);
      if (addition.unknownDevice !== null) this.byNode[change](addition.unknownDevice.id, contribution);
      for (const id of this.nodesOf(pair)) {
        if (change === "add") this.pairsOfNode.add(id, pair);
        else if (this.byPair.get(pair).size === 0) this.pairsOfNode.remove(id, pair);
      }
    }
  }
}

/** Key of the two nodes it connects, in either direction. */
function pairKey({ near, farNode }: Addition): string {
  return near.host_id < farNode ? `${near.host_id} ${farNode}` : `${farNode} ${near.host_id}`;
}
