// Random source with the same bytes in every demo, for IDs. Must never be used for secrets.

import type { Random } from "../base/random.ts";

/** mulberry32. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return { bytes: (count) => Uint8Array.from({ length: count }, () => next() >>> 24) };
}
