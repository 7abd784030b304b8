// What is to be drawn of one topology, or of two at once: devices where they stand, each cable in a lane of its own, and
// what appeared or vanished between the two. Plain functions.

import type { paths } from "#api";
import { shownName } from "../names/shown-name.ts";
import { type Bends, bendsOf } from "./bends.ts";

type Answer = paths["/api/v1/topology"]["get"]["responses"][200]["content"]["application/json"]["data"];
export type Topology = Pick<Answer, "nodes" | "links">;
export type TopologyNode = Topology["nodes"][number];
export type TopologyLink = Topology["links"][number];

/**
 * Whether it is in both topologies, only in the later one, or only in the earlier one. Over a period, `later` is what
 * comes after the instant that is shown: it has its place, and is not drawn.
 */
export type Presence = "stayed" | "appeared" | "vanished" | "later";

export interface DiagramNode {
  readonly id: string;
  readonly label: string;
  /** In units of the map. */
  readonly x: number;
  readonly y: number;
  readonly presence: Presence;
  readonly node: TopologyNode;
}

export interface DiagramLink {
  readonly id: string;
  readonly ends: readonly [DiagramNode, DiagramNode];
  /** Which of the cables between the two it is: 0 is the middle, others lie beside it in steps of 1. */
  readonly lane: number;
  /** How many there are between the two. */
  readonly lanes: number;
  readonly presence: Presence;
  /** Operational; null where it is not known. */
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

/** What a device is called, which may have told no name. */
export function labelOf({ id, name, sys_name, management_address, chassis_id }: TopologyNode): string {
  return shownName(id, name, sys_name, management_address, chassis_id).trim();
}

/** @param before what is compared with; null for nothing: all has stayed then */
export function diagramOf(shown: Topology, before: Topology | null): Diagram {
  return diagramOfItems(merged(shown.nodes, before?.nodes ?? null), merged(shown.links, before?.links ?? null));
}

interface Present<Item> {
  readonly item: Item;
  readonly presence: Presence;
}

/** @param knownBends of the same devices and links, where they are known */
export function diagramOfItems(
  shownNodes: readonly Present<TopologyNode>[],
  shownLinks: readonly (Present<TopologyLink> & { readonly status?: null })[],
  knownBends: Bends | null = null,
): Diagram {
  const nodes = shownNodes.map(({ item, presence }): DiagramNode => {
    const { id, position } = item;
    return { id, label: labelOf(item), x: position.x, y: position.y, presence, node: item };
  });
  const nodeById = new Map(nodes.map((node) => [node.id, node]));
  const links = [...Map.groupBy(shownLinks, ({ item }) => item.group).values()].flatMap((cables) =>
    cables.flatMap(({ item, presence, status = item.oper_status }, index): DiagramLink[] => {
      const [one, other] = item.ends.map(({ node_id }) => nodeById.get(node_id));
      if (one === undefined || other === undefined) return [];
      const lane = index - (cables.length - 1) / 2;
      return [{ id: item.id, ends: [one, other], lane, lanes: cables.length, presence, status, link: item }];
    }),
  );
  const linksById = new Map<string, DiagramLink[]>(nodes.map(({ id }) => [id, []]));
  for (const link of links) for (const id of new Set(link.ends.map((end) => end.id))) linksById.get(id)?.push(link);
  const linkById = new Map(links.map((link) => [link.id, link]));
  return { nodes, links, nodeById, linkById, linksById, bends: knownBends ?? bendsOf(nodes, links) };
}

/** How many cables end at a device. */
export function degreeOf({ linksById }: Diagram, id: string): number {
  return linksById.get(id)?.length ?? 0;
}

function merged<Item extends { readonly id: string }>(
  shown: readonly Item[],
  before: readonly Item[] | null,
): Present<Item>[] {
  if (before === null) return shown.map((item) => ({ item, presence: "stayed" }));
  const ids = new Set(shown.map(({ id }) => id));
  const earlier = new Set(before.map(({ id }) => id));
  return [
    ...shown.map((item) => ({ item, presence: earlier.has(item.id) ? ("stayed" as const) : ("appeared" as const) })),
    ...before.flatMap((item) => (ids.has(item.id) ? [] : [{ item, presence: "vanished" as const }])),
  ];
}

/** Those that a text is in: their names, addresses, makers. Null where nothing is sought. */
export function foundIn({ nodes }: Diagram, text: string | null): ReadonlySet<string> | null {
  const sought = text?.trim().toLowerCase() ?? "";
  if (sought === "") return null;
  const found = nodes.filter(({ label, node }) => {
    const { sys_name, chassis_id, management_address, manufacturer, model } = node;
    return [label, sys_name, chassis_id, management_address, manufacturer, model].some((each) =>
      each?.toLowerCase().includes(sought),
    );
  });
  return new Set(found.map(({ id }) => id));
}
