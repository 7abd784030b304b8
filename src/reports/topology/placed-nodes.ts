// Nodes of a map with their positions. Pure.

import { positionsOf } from "../../resources/map-positions/layout/positions.ts";
import type { MapPosition } from "../../resources/map-positions/map-position.ts";
import type { MapNode, NetworkMap } from "./map.ts";

export interface PlacedNode extends MapNode {
  readonly position: MapPosition;
}

/**
 * @param whole the map of the nodes: a part of it has no layout of its own
 * @param kept all stored positions of the network
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
