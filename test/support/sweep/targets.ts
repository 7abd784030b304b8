// Host addresses of CIDR blocks, as targets of a sweep.

import { addressAt, cidrBlock } from "../../../src/base/address-block.ts";

/** Every host address of disjoint blocks: IPv4 prefixes shorter than /31 lose the network and broadcast address. */
export function targetsIn(cidrs: readonly string[]): { addresses: string[]; count: number } {
  const addresses = cidrs.flatMap((cidr) => {
    const { version, first, last } = cidrBlock(cidr);
    const edge = version === 4 && last - first > 1n ? 1n : 0n;
    const length = Number(last - first + 1n - 2n * edge);
    return Array.from({ length }, (_, index) => addressAt(first + edge + BigInt(index), version));
  });
  return { addresses, count: addresses.length };
}
