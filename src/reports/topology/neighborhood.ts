// Neighborhood of one host on a network's map. Pure.

import type { NetworkMap } from "./map.ts";

export const HOPS_DEFAULT = 1;
export const HOPS_MAX = 10;

export interface Center {
  readonly hostId: string;
  /** Maximum number of links from the host. */
  readonly hops: number;
}

/** The host, all nodes within that many links, and all links between them; empty if the host is not on the map. */
export function neighborhoodOf({ nodes, links }: NetworkMap, { hostId, hops }: Center): NetworkMap {
  const adjacent = new Map<string, string[]>(nodes.map(({ id }) => [id, []]));
  if (!adjacent.has(hostId)) return { nodes: [], links: [] };
  for (const { ends } of links) {
    const [left, right] = ends.map(({ node_id }) => node_id) as [string, string];
    adjacent.get(left)?.push(right);
    adjacent.get(right)?.push(left);
  }
  const reached = nodesWithin({ hostId, hops }, (id) => adjacent.get(id) ?? []);
  return {
    nodes: nodes.filter(({ id }) => reached.has(id)),
    links: links.filter(({ ends }) => ends.every(({ node_id }) => reached.has(node_id))),
  };
}

/** Ids of the host and all nodes within that many links. @param linkedTo ids of the nodes at the other ends of links */
export function nodesWithin({ hostId, hops }: Center, linkedTo: (nodeId: string) => readonly string[]): Set<string> {
  const reached = new Set([hostId]);
  let edge = new Set([hostId]);
  for (let hop = 0; hop < hops && edge.size > 0; hop += 1) {
    edge = new Set([...edge].flatMap((id) => linkedTo(id))).difference(reached);
    for (const id of edge) reached.add(id);
  }
  return reached;
}
