// B-cubed precision and recall of sightings: which host each sighting of a real machine was assigned to.

import { ratio } from "./presence.ts";

export class BCubed {
  private readonly pairs = new Map<string, { readonly machine: string; readonly host: string; count: number }>();
  private readonly machines = new Map<string, number>();
  private readonly hosts = new Map<string, number>();
  private total = 0;

  /** @param host null if the sighting was assigned to no host: then it counts as a separate host */
  add(machine: string, host: string | null): void {
    const key = host ?? `none ${this.total}`;
    this.total += 1;
    const pair = this.pairs.get(`${machine} ${key}`) ?? { machine, host: key, count: 0 };
    pair.count += 1;
    this.pairs.set(`${machine} ${key}`, pair);
    this.machines.set(machine, (this.machines.get(machine) ?? 0) + 1);
    this.hosts.set(key, (this.hosts.get(key) ?? 0) + 1);
  }

  get precision(): number {
    return this.average(this.hosts, "host");
  }

  get recall(): number {
    return this.average(this.machines, "machine");
  }

  /** Share of machines whose sightings all belong to one host that has no others. */
  get whole(): number {
    const split = new Set<string>();
    for (const { machine, host, count } of this.pairs.values())
      if (count !== this.machines.get(machine) || count !== this.hosts.get(host)) split.add(machine);
    return ratio(this.machines.size - split.size, this.machines.size);
  }

  /** Mean over all sightings of the share of its cluster with the same machine and host. */
  private average(sizes: ReadonlyMap<string, number>, by: "host" | "machine"): number {
    let sum = 0;
    for (const pair of this.pairs.values()) sum += pair.count ** 2 / (sizes.get(pair[by]) as number);
    return this.total === 0 ? 1 : sum / this.total;
  }
}
