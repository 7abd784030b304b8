// Nodes of a map with their positions. Pure.

import { positionsOf } from "../../resources/map-positions/layout/positions.ts";
import type { MapPosition } from "../../resources/map-positions/map-position.ts";
import type { MapNode, NetworkMap } from "./map.ts";

export interface PlacedNode extends MapNode {
  readonly position: MapPosition;
}

/**
 * @param fullMap the whole map: a part of it has no separate layout
 * @param stored all stored positions of the network
 */
export function placedNodes<Node extends MapNode>(
  nodes: readonly Node[],
  fullMap: NetworkMap,
  stored: ReadonlyMap<string, MapPosition>,
): Array<Node & PlacedNode> {
  const positions = positionsOf(
    fullMap.nodes.map(({ id }) => id),
    fullMap.links.map(({ ends, speed_bps }) => ({ ends: [ends[0].node_id, ends[1].node_id], speedBps: speed_bps })),
    stored,
  );
  return nodes.map((node) => ({ ...node, position: positions.get(node.id) as MapPosition }));
}
