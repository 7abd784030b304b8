// The nodes of a map with where they stand. Pure.

import { positionsOf } from "../../resources/map-positions/layout/positions.ts";
import type { MapPosition } from "../../resources/map-positions/map-position.ts";
import type { MapNode, NetworkMap } from "./map.ts";

export interface PlacedNode extends MapNode {
  readonly position: MapPosition;
}

/**
 * @param whole the map that the nodes are of: a part of it is not laid out by itself
 * @param kept all positions that are kept of the network
 */
export function placedNodes<Node extends MapNode>(
  nodes: readonly Node[],
  whole: NetworkMap,
  kept: ReadonlyMap<string, MapPosition>,
): Array<Node & PlacedNode> {
  const positions = positionsOf(
    whole.nodes.map(({ id }) => id),
    whole.links.map(({ ends, speed_bps }) => ({ ends: [ends[0].node_id, ends[1].node_id], speedBps: speed_bps })),
    kept,
  );
  return nodes.map((node) => ({ ...node, position: positions.get(node.id) as MapPosition }));
}
