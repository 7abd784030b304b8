// What several maps of one period show, each node and link once, with the intervals in which it was shown. Pure.

import { compareCodePoints, textSortKey } from "../../base/text.ts";
import type { MapLink, MapNode, NetworkMap } from "./map.ts";

/** Half-open. `to` is null where it goes on. */
export interface ShownInterval {
  readonly from: string;
  to: string | null;
}

type Timed<Item> = Item & { readonly intervals: readonly ShownInterval[] };

export interface TopologyUnion<Node extends MapNode = MapNode> {
  readonly nodes: ReadonlyArray<Timed<Node>>;
  readonly links: ReadonlyArray<Timed<MapLink>>;
}

/** Maps must come in order of time. */
export class UnionOfMaps {
  private readonly nodes = new Shown<MapNode>();
  private readonly links = new Shown<MapLink>();

  /** What is shown from an instant on, until the next one. */
  from(at: string | null, { nodes, links }: NetworkMap): void {
    this.nodes.from(at, nodes);
    this.links.from(at, links);
  }

  /** The same nodes and links, as they are by now. */
  refresh({ nodes, links }: NetworkMap): void {
    this.nodes.refresh(nodes);
    this.links.refresh(links);
  }

  /** Nodes by name, links by their ends. @param to where the period ends; null for now */
  until(to: string | null): TopologyUnion {
    const nodes = sorted(this.nodes.until(to), ({ name, id }) => textSortKey(name) + id);
    const places = new Map(nodes.map(({ id }, place) => [id, place]));
    const number = (value: number) => value.toString().padStart(10, "0");
    const placeOf = (id: string) => number(places.get(id) ?? 0);
    const links = sorted(
      this.links.until(to),
      ({ id, ends: [one, other] }) =>
        `${placeOf(one.node_id)} ${placeOf(other.node_id)} ${number(one.if_entry?.if_index ?? 0)} ${id}`,
    );
    return { nodes, links };
  }
}

class Shown<Item extends { readonly id: string }> {
  private readonly items = new Map<string, { item: Item; isShown: boolean; readonly intervals: ShownInterval[] }>();

  from(at: string | null, items: readonly Item[]): void {
    // Nothing is shown before the first transaction.
    if (at === null) return;
    const ids = new Set(items.map(({ id }) => id));
    for (const [id, known] of this.items) {
      if (!known.isShown || ids.has(id)) continue;
      known.isShown = false;
      (known.intervals.at(-1) as ShownInterval).to = at;
    }
    for (const item of items) {
      const known = this.items.get(item.id);
      if (known === undefined) this.items.set(item.id, { item, isShown: true, intervals: [{ from: at, to: null }] });
      else {
        if (!known.isShown) known.intervals.push({ from: at, to: null });
        known.item = item;
        known.isShown = true;
      }
    }
  }

  refresh(items: readonly Item[]): void {
    for (const item of items) {
      const known = this.items.get(item.id);
      if (known !== undefined) known.item = item;
    }
  }

  until(to: string | null): Array<Timed<Item>> {
    return [...this.items.values()].map(({ item, isShown, intervals }) => {
      if (isShown) (intervals.at(-1) as ShownInterval).to = to;
      return { ...item, intervals };
    });
  }
}

/** By code point; each key is made once. */
function sorted<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  return items
    .map((item) => ({ item, key: keyOf(item) }))
    .sort((a, b) => compareCodePoints(a.key, b.key))
    .map(({ item }) => item);
}
