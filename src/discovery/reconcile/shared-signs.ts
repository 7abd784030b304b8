// Hosts that share signs with a device, limited to those with the most shared signs: a device may report thousands of
// MAC addresses of other hosts. Pure.

import type { SignGroup } from "./signs.ts";

/** Maximum hosts compared with a device. */
export const COMPARED_HOSTS_MAX = 64;

/** Groups of which a device has only a few values. */
const RARE_GROUPS: readonly SignGroup[] = ["serial_numbers", "chassis_id", "engine_id", "system_name"];

interface SharedSigns {
  readonly groups: Set<SignGroup>;
  count: number;
}

export class SharingHosts {
  private readonly shared = new Map<string, SharedSigns>();

  /** @param ids hosts with a value of a group */
  add(group: SignGroup, ids: Iterable<string>): void {
    for (const id of ids) {
      const known = this.shared.get(id);
      if (known === undefined) this.shared.set(id, { groups: new Set([group]), count: 1 });
      else {
        known.groups.add(group);
        known.count += 1;
      }
    }
  }

  get size(): number {
    return this.shared.size;
  }

  /**
   * The hosts with the most shared groups, then with the rarest and the most shared signs; ordered by their first sign.
   */
  closest(): string[] {
    const all = [...this.shared.keys()];
    if (all.length <= COMPARED_HOSTS_MAX) return all;
    const kept = new Set(all.sort((some, other) => this.precedence(other, some)).slice(0, COMPARED_HOSTS_MAX));
    return [...this.shared.keys()].filter((id) => kept.has(id));
  }

  /** Positive if the first host shares more. */
  private precedence(some: string, other: string): number {
    const [one, two] = [this.shared.get(some) as SharedSigns, this.shared.get(other) as SharedSigns];
    const rareCount = ({ groups }: SharedSigns) => RARE_GROUPS.filter((group) => groups.has(group)).length;
    return one.groups.size - two.groups.size || rareCount(one) - rareCount(two) || one.count - two.count;
  }
}
