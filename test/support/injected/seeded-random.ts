// Random source that returns the same bytes in every run, for property tests and repeatable ids. Never for secrets.

import type { Random } from "../../../src/base/random.ts";

export interface SeededRandom extends Random {
  /** Seed of a source that continues with the same values. */
  readonly state: number;
  /** 0 ≤ result < below; `below` at most 2^32. */
  integer(below: number): number;
  /** One of the items; throws if there are none. */
  pick<T>(items: readonly T[]): T;
  /** The items in random order. */
  shuffled<T>(items: readonly T[]): T[];
  /** True with this probability, to the nearest thousandth. */
  chance(probability: number): boolean;
}

/** mulberry32: sufficient distribution for tests, the same on every machine. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const integer = (below: number): number => Math.floor((next() / 2 ** 32) * below);
  return {
    get state() {
      return state;
    },
    integer,
    bytes: (count) => Uint8Array.from({ length: count }, () => integer(256)),
    pick: (items) => {
      if (items.length === 0) throw new RangeError("nothing to pick from");
      return items[integer(items.length)] as (typeof items)[number];
    },
    shuffled: (items) =>
      items
        .map((item) => ({ item, key: integer(65_536) }))
        .sort((a, b) => a.key - b.key)
        .map(({ item }) => item),
    chance: (probability) => integer(1_000) < probability * 1_000,
  };
}
