// Which device of a map hangs on which: a forest made of its links. Pure: knows ids and links, nothing of the appliance.

export interface LaidOutLink {
  readonly ends: readonly [one: string, other: string];
  /** Null where it is not known. */
  readonly speedBps: number | null;
}

/** All links between two devices. */
interface Joint {
  speedBps: number;
  count: number;
}

/**
 * A device hangs on the neighbor with the fastest links to it, of those that are nearer to the middle of the network.
 * In the middle is who stays for longest where those with the fewest neighbors are taken off, then those with the
 * fewest of what is left, and so on (the onion decomposition of a graph); among equals, who is nearer to the first.
 */
export class Forest {
  /** By code point: in the order of their creation where the appliance made them. */
  readonly ids: readonly string[];
  /** Those without links. */
  readonly alone: readonly string[];
  private readonly joints: ReadonlyMap<string, Map<string, Joint>>;
  /** 0 for the very middle. */
  private readonly ranks: ReadonlyMap<string, number>;
  private readonly parents = new Map<string, string>();
  private readonly children = new Map<string, string[]>();

  /** Links to what is not among the ids are left out. */
  constructor(ids: readonly string[], links: readonly LaidOutLink[]) {
    this.ids = ids.toSorted(compareIds);
    this.joints = new Map(this.ids.map((id) => [id, new Map()]));
    for (const { ends, speedBps } of links) {
      const [one, other] = ends;
      if (one === other) continue;
      this.join(one, other, speedBps ?? 0);
      this.join(other, one, speedBps ?? 0);
    }
    this.ranks = this.ranked();
    for (const id of this.ids) {
      const parent = this.strongest(id);
      if (parent === null) continue;
      this.parents.set(id, parent);
      const siblings = this.children.get(parent);
      if (siblings === undefined) this.children.set(parent, [id]);
      else siblings.push(id);
    }
    this.alone = this.ids.filter((id) => this.neighborsOf(id).size === 0);
  }

  neighborsOf(id: string): ReadonlyMap<string, unknown> {
    return this.jointsOf(id);
  }

  /** What hangs on a device, in the order of ids. */
  childrenOf(id: string): readonly string[] {
    return this.children.get(id) ?? [];
  }

  /** Null for one in the middle, and for one without links. */
  parentOf(id: string): string | null {
    return this.parents.get(id) ?? null;
  }

  private jointsOf(id: string): Map<string, Joint> {
    return this.joints.get(id) as Map<string, Joint>;
  }

  private join(from: string, to: string, speedBps: number): void {
    const joints = this.joints.get(from);
    if (joints === undefined || !this.joints.has(to)) return;
    const known = joints.get(to);
    if (known === undefined) joints.set(to, { speedBps, count: 1 });
    else {
      known.speedBps += speedBps;
      known.count += 1;
    }
  }

  private ranked(): Map<string, number> {
    const rounds = this.rounds();
    const roundOf = (id: string) => rounds.get(id) as number;
    const inward = (a: string, b: string) => roundOf(b) - roundOf(a) || this.jointsOf(b).size - this.jointsOf(a).size;
    const distances = this.distances(this.ids.toSorted((a, b) => inward(a, b) || compareIds(a, b)));
    const distanceOf = (id: string) => distances.get(id) as number;
    const order = this.ids.toSorted((a, b) => inward(a, b) || distanceOf(a) - distanceOf(b) || compareIds(a, b));
    return new Map(order.map((id, rank) => [id, rank]));
  }

  /** How many links each is away from the middle of what it is linked with: a ring has two arms of the same length. */
  private distances(fromMiddle: readonly string[]): Map<string, number> {
    const found = new Map<string, number>();
    for (const middle of fromMiddle) {
      if (found.has(middle)) continue;
      found.set(middle, 0);
      // Whoever is reached goes on to its own neighbors.
      const order = [middle];
      for (const id of order)
        for (const neighbor of this.jointsOf(id).keys()) {
          if (found.has(neighbor)) continue;
          found.set(neighbor, (found.get(id) as number) + 1);
          order.push(neighbor);
        }
    }
    return found;
  }

  /** In which round each is taken off. */
  private rounds(): Map<string, number> {
    const left = new Map(this.ids.map((id) => [id, this.jointsOf(id).size]));
    const byCount: Array<Set<string> | undefined> = [];
    for (const [id, count] of left) (byCount[count] ??= new Set()).add(id);
    const rounds = new Map<string, number>();
    let fewest = 0;
    for (let round = 0; rounds.size < this.ids.length; round += 1) {
      while ((byCount[fewest]?.size ?? 0) === 0) fewest += 1;
      const taken = byCount[fewest] as Set<string>;
      byCount[fewest] = undefined;
      for (const id of taken) rounds.set(id, round);
      for (const neighbor of [...taken].flatMap((id) => [...this.jointsOf(id).keys()])) {
        if (rounds.has(neighbor)) continue;
        const count = left.get(neighbor) as number;
        left.set(neighbor, count - 1);
        byCount[count]?.delete(neighbor);
        (byCount[count - 1] ??= new Set()).add(neighbor);
        fewest = Math.min(fewest, count - 1);
      }
    }
    return rounds;
  }

  private strongest(id: string): string | null {
    const own = this.ranks.get(id) as number;
    let best: (Joint & { readonly id: string; readonly rank: number }) | null = null;
    for (const [neighbor, joint] of this.jointsOf(id)) {
      const rank = this.ranks.get(neighbor) as number;
      if (rank > own) continue;
      const order = best === null ? -1 : best.speedBps - joint.speedBps || best.count - joint.count || rank - best.rank;
      if (order < 0) best = { ...joint, id: neighbor, rank };
    }
    return best?.id ?? null;
  }
}

/** By code point. */
export function compareIds(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
