// Topology nodes and links as drawn on the map, with only a few reported values. No assertions.

import type { Topology } from "../../../src/console/map/diagram.ts";

/** A known device at a position in map units. */
export function drawnNode(id: string, x: number, y = 0, name = id): Topology["nodes"][number] {
  const unreported = { sys_name: null, chassis_id: null, manufacturer: null, model: null, management_address: null };
  return { id, kind: "Known", name, ...unreported, position: { x, y, placed: "layout" } };
}

/** A cable, reported by LLDP, between two ports with the same name. */
export function drawnLink(
  id: string,
  nodeIds: readonly string[],
  port: string,
  oper_status: "Up" | "Down",
): Topology["links"][number] {
  const common = { speed_bps: 1e9, oper_status };
  const kind = { protocol: "Lldp", certainty: "Interfaces", is_shared: false } as const;
  const ends = nodeIds.map((node_id) => ({ node_id, if_entry: null, port, ...common }));
  return { id, ...kind, ends, ...common, group: nodeIds.toSorted().join(" "), parallel: 1, members: [], evidence: [] };
}
