// Topology diagram of one timestamp, or of two compared: positions, a lane per link, and changes. Pure.

import type { paths } from "#api";
import { shownName } from "../names/shown-name.ts";
import { type Bends, bendsOf } from "./bends.ts";
import type { Point } from "./viewport.ts";

type TopologyResponse = paths["/api/v1/topology"]["get"]["responses"][200]["content"]["application/json"]["data"];
export type Topology = Pick<TopologyResponse, "nodes" | "links">;
type TopologyNode = Topology["nodes"][number];
type TopologyLink = Topology["links"][number];

/** In both topologies, only in the later, or only in the earlier one. In a period, `later` is not drawn yet. */
export type Presence = "stayed" | "appeared" | "vanished" | "later";

/** Device, positioned in map units. */
export interface DiagramNode extends Point {
  readonly id: string;
  readonly label: string;
  readonly presence: Presence;
  readonly node: TopologyNode;
}

export interface DiagramLink {
  readonly id: string;
  readonly ends: readonly [DiagramNode, DiagramNode];
  /** Lane among parallel links between the same two devices: 0 is the middle, others are at steps of 1. */
  readonly lane: number;
  /** Number of parallel links. */
  readonly lanes: number;
  readonly presence: Presence;
  /** Operational status; null if unknown. */
  readonly status: TopologyLink["oper_status"];
  readonly link: TopologyLink;
}

export interface Diagram {
  readonly nodes: readonly DiagramNode[];
  readonly links: readonly DiagramLink[];
  readonly nodeById: ReadonlyMap<string, DiagramNode>;
  readonly linkById: ReadonlyMap<string, DiagramLink>;
  /** By the id of either end. */
  readonly linksById: ReadonlyMap<string, readonly DiagramLink[]>;
  readonly bends: Bends;
}

/** Name of a device, or an identifier if it reported none. */
export function labelOf({ id, name, sys_name, management_address, chassis_id }: TopologyNode): string {
  return shownName(id, name, sys_name, management_address, chassis_id).trim();
}

/** @param before topology to compare with; null marks everything as `stayed` */
export function diagramOf(shown: Topology, before: Topology | null): Diagram {
  return diagramOfItems(mergedItems(shown.nodes, before?.nodes), mergedItems(shown.links, before?.links));
}

interface WithPresence<Item> {
  readonly item: Item;
  readonly presence: Presence;
}

/** @param knownBends for the same devices and links, if already computed */
export function diagramOfItems(
  shownNodes: readonly WithPresence<TopologyNode>[],
  shownLinks: readonly (WithPresence<TopologyLink> & { readonly status?: null })[],
  knownBends: Bends | null = null,
): Diagram {
  const nodes = shownNodes.map(({ item, presence }): DiagramNode => {
    const { id, position } = item;
    return { id, label: labelOf(item), x: position.x, y: position.y, presence, node: item };
  });
  const nodeById = new Map(nodes.map((node) => [node.id, node]));
  const links = [...Map.groupBy(shownLinks, ({ item }) => item.group).values()].flatMap((parallelLinks) =>
    parallelLinks.flatMap(({ item, presence, status = item.oper_status }, index): DiagramLink[] => {
      const [start, end] = item.ends.map(({ node_id }) => nodeById.get(node_id));
      if (start === undefined || end === undefined) return [];
      const lane = index - (parallelLinks.length - 1) / 2;
      return [{ id: item.id, ends: [start, end], lane, lanes: parallelLinks.length, presence, status, link: item }];
    }),
  );
  const linksById = new Map<string, DiagramLink[]>(nodes.map(({ id }) => [id, []]));
  for (const link of links) for (const id of new Set(link.ends.map((end) => end.id))) linksById.get(id)?.push(link);
  const linkById = new Map(links.map((link) => [link.id, link]));
  return { nodes, links, nodeById, linkById, linksById, bends: knownBends ?? bendsOf(nodes, links) };
}

/** Number of links that end at a device. */
export function degreeOf({ linksById }: Diagram, id: string): number {
  return linksById.get(id)?.length ?? 0;
}

function mergedItems<Item extends { readonly id: string }>(
  shown: readonly Item[],
  before: readonly Item[] | undefined,
): WithPresence<Item>[] {
  if (before === undefined) return shown.map((item) => ({ item, presence: "stayed" }));
  const ids = new Set(shown.map(({ id }) => id));
  const earlier = new Set(before.map(({ id }) => id));
  return [
    ...shown.map((item) => ({ item, presence: earlier.has(item.id) ? ("stayed" as const) : ("appeared" as const) })),
    ...before.flatMap((item) => (ids.has(item.id) ? [] : [{ item, presence: "vanished" as const }])),
  ];
}

/** Devices whose name, address, chassis ID, manufacturer or model contains the text. Null without a search text. */
export function matchesIn({ nodes }: Diagram, text: string | null): ReadonlySet<string> | null {
  const search = text?.trim().toLowerCase() ?? "";
  if (search === "") return null;
  const matches = nodes.filter(({ label, node: { sys_name, chassis_id, management_address, ...node } }) =>
    [label, sys_name, chassis_id, management_address, node.manufacturer, node.model].some((value) =>
      value?.toLowerCase().includes(search),
    ),
  );
  return new Set(matches.map(({ id }) => id));
}
