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
    const [one, other] = ends.map(({ node_id }) => node_id) as [string, string];
    adjacent.get(one)?.push(other);
    adjacent.get(other)?.push(one);
  }
  const reached = new Set([hostId]);
  let edge = [hostId];
  for (let hop = 0; hop < hops && edge.length > 0; hop += 1) {
    const next: string[] = [];
    for (const id of edge.flatMap((each) => adjacent.get(each) ?? [])) {
      if (reached.has(id)) continue;
      reached.add(id);
      next.push(id);
    }
    edge = next;
  }
  return {
    nodes: nodes.filter(({ id }) => reached.has(id)),
    links: links.filter(({ ends }) => ends.every(({ node_id }) => reached.has(node_id))),
  };
}
