// Union of the maps of one period: each node and link once, with the intervals in which it was shown. Pure.

import { sortedBy, textSortKey } from "../../base/text.ts";
import type { MapChange, MapLink, MapNode, NetworkMap } from "./map.ts";

/** Half-open. `to` is null while it continues. */
export interface ShownInterval {
  readonly from: string;
  to: string | null;
}

type Timed<Item> = Item & { readonly intervals: readonly ShownInterval[] };

export interface TopologyUnion<Node extends MapNode = MapNode> {
  readonly nodes: ReadonlyArray<Timed<Node>>;
  readonly links: ReadonlyArray<Timed<MapLink>>;
}

/** Maps must be added in chronological order. */
export class UnionOfMaps {
  private readonly nodes = new ShownItems<MapNode>();
  private readonly links = new ShownItems<MapLink>();

  /** Sets everything shown from a timestamp on, until the next one. */
  from(at: string | null, { nodes, links }: NetworkMap): void {
    this.nodes.from(at, nodes);
    this.links.from(at, links);
  }

  /** Applies the changes shown from a timestamp on, until the next one. */
  revise(at: string | null, { nodes, links }: MapChange): void {
    this.nodes.revise(at, nodes);
    this.links.revise(at, links);
  }

  /** Updates the state of items without changing their intervals. */
  refresh({ nodes, links }: MapChange): void {
    this.nodes.refresh(nodes);
    this.links.refresh(links);
  }

  /** Nodes by name, links by their ends. @param to end of the period; null for now */
  until(to: string | null): TopologyUnion {
    const nodes = sortedBy(this.nodes.until(to), ({ name, id }) => textSortKey(name) + id);
    const indexes = new Map(nodes.map(({ id }, index) => [id, index]));
    const number = (value: number) => value.toString().padStart(10, "0");
    const indexOf = (id: string) => number(indexes.get(id) ?? 0);
    const links = sortedBy(
      this.links.until(to),
      ({ id, ends: [left, right] }) =>
        `${indexOf(left.node_id)} ${indexOf(right.node_id)} ${number(left.if_entry?.if_index ?? 0)} ${id}`,
    );
    return { nodes, links };
  }
}

class ShownItems<Item extends { readonly id: string }> {
  private readonly items = new Map<string, { item: Item; readonly intervals: ShownInterval[] }>();
  private readonly shown = new Set<string>();

  from(at: string | null, items: readonly Item[]): void {
    const change = new Map<string, Item | null>();
    for (const id of this.shown) change.set(id, null);
    for (const item of items) change.set(item.id, item);
    this.revise(at, change);
  }

  revise(at: string | null, change: ReadonlyMap<string, Item | null>): void {
    // Nothing was shown before the first transaction.
    if (at === null) return;
    for (const [id, item] of change) {
      const known = this.items.get(id);
      if (item === null) {
        if (known !== undefined && this.shown.delete(id)) (known.intervals.at(-1) as ShownInterval).to = at;
        continue;
      }
      if (known === undefined) this.items.set(id, { item, intervals: [{ from: at, to: null }] });
      else {
        if (!this.shown.has(id)) known.intervals.push({ from: at, to: null });
        known.item = item;
      }
      this.shown.add(id);
    }
  }

  refresh(change: ReadonlyMap<string, Item | null>): void {
    for (const [id, item] of change) {
      const known = this.items.get(id);
      if (known !== undefined && item !== null && this.shown.has(id)) known.item = item;
    }
  }

  until(to: string | null): Array<Timed<Item>> {
    return [...this.items.values()].map(({ item, intervals }) => {
      if (this.shown.has(item.id)) (intervals.at(-1) as ShownInterval).to = to;
      return { ...item, intervals };
    });
  }
}
