// Hosts that share signs with a device, limited to those with the most shared signs: a device may report thousands of
// MAC addresses of other hosts. Pure.

import type { SignGroup } from "../sightings.ts";

/** Maximum hosts compared with a device. */
export const COMPARED_HOSTS_MAX = 64;

/** Groups of which a device has only a few values. */
const RARE_GROUPS: readonly SignGroup[] = ["serial_numbers", "chassis_id", "engine_id", "system_name"];

interface SharedSigns {
  readonly groups: Set<SignGroup>;
  count: number;
}

export class HostsBySharedSigns {
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
    const kept = new Set(all.sort((left, right) => this.precedence(right, left)).slice(0, COMPARED_HOSTS_MAX));
    return [...this.shared.keys()].filter((id) => kept.has(id));
  }

  /** Positive if the first host shares more. */
  private precedence(left: string, right: string): number {
    const [first, second] = [this.shared.get(left) as SharedSigns, this.shared.get(right) as SharedSigns];
    const rareCount = ({ groups }: SharedSigns) => RARE_GROUPS.filter((group) => groups.has(group)).length;
    return first.groups.size - second.groups.size || rareCount(first) - rareCount(second) || first.count - second.count;
  }
}
