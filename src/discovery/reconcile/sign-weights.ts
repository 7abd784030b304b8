// Weights of signs: log2(m/u) for a value in common, log2((1−m)/(1−u)) for a different one. m is how often a sign stays
// the same between two reads of a host, u how many hosts have the value. Pure.

import { SIGN_GROUPS, type SignGroup } from "../sightings.ts";

/**
 * Shares assumed for every network, as if counted over PRIOR_READS and PRIOR_HOSTS, which dominate in small
 * inventories. `same`: m, `chance`: the share of other hosts that have a value by copying, cloning or reuse.
 */
const PRIORS: Readonly<Record<SignGroup, { readonly same: number; readonly chance: number }>> = {
  serial_numbers: { same: 0.998, chance: 1 / 1_024 },
  cards: { same: 0.995, chance: 1 / 8_192 },
  chassis_id: { same: 0.98, chance: 1 / 32 },
  engine_id: { same: 0.98, chance: 1 / 40 },
  system_name: { same: 0.95, chance: 1 / 40 },
  addresses: { same: 0.93, chance: 1 / 16 },
};
const PRIOR_READS = 1_000;
const PRIOR_HOSTS = 1_000;
/** Minimum fraction of an assumed change rate: frequent reads do not make a sign permanent. */
const CHANGES_MIN = 3 / 5;
/** Assumed share of hosts with a value that too many hosts have to be counted. */
const UBIQUITOUS = 0.5;

/** Reads of hosts that had a sign before, by whether it stayed the same. */
export interface SignCount {
  readonly same: number;
  readonly other: number;
}

/** Counts of a network. */
export interface SignCounts {
  readonly hosts: number;
  readonly reads: Readonly<Partial<Record<SignGroup, SignCount>>>;
}

export class Weights {
  private readonly same: Readonly<Record<SignGroup, number>>;
  private readonly hosts: number;
  private readonly sharing: (group: SignGroup, value: string) => number;

  /** @param sharing number of hosts with the value; Infinity if there are too many to count */
  constructor({ hosts, reads }: SignCounts, sharing: (group: SignGroup, value: string) => number) {
    this.hosts = hosts + PRIOR_HOSTS;
    this.sharing = sharing;
    this.same = Object.fromEntries(
      SIGN_GROUPS.map((group) => {
        const { same, other } = reads[group] ?? { same: 0, other: 0 };
        const { same: assumed } = PRIORS[group];
        const counted = (same + assumed * PRIOR_READS) / (same + other + PRIOR_READS);
        return [group, Math.min(counted, 1 - (1 - assumed) * CHANGES_MIN)];
      }),
    ) as Record<SignGroup, number>;
  }

  /** Weight of a shared value. */
  ofSame(group: SignGroup, value: string): number {
    const others = Math.max(0, this.sharing(group, value) - 1);
    const chance = Math.min(PRIORS[group].chance + others / this.hosts, UBIQUITOUS);
    return Math.log2(this.same[group] / chance);
  }

  /** Weight of different values. */
  ofOther(group: SignGroup): number {
    return Math.log2((1 - this.same[group]) / (1 - PRIORS[group].chance));
  }
}

/** Weights of a network without counts. */
export const PRIOR_WEIGHTS = new Weights({ hosts: 0, reads: {} }, () => 1);
