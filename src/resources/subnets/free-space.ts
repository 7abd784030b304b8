// Free space of a subnet: allocatable addresses and prefixes, the same for reads and allocations. Pure.

import {
  type AddressBlock,
  addressAt,
  addressNumber,
  blockSize,
  blocksOutside,
  ipv4Number,
  prefixBlock,
} from "../../base/address-block.ts";
import { invalid } from "../../base/errors.ts";
import { type Cidr, parseCidr } from "../../base/ip.ts";

/** Occupied space, as text; entries outside the subnet are ignored. */
export interface OccupiedSpace {
  /** Prefixes of nested subnets. */
  readonly cidrs: readonly string[];
  /** Ranges of any purpose. */
  readonly ranges: ReadonlyArray<{ readonly first: string; readonly last: string }>;
  /** Addresses of hosts. */
  readonly addresses: readonly string[];
}

/** Free addresses or free prefixes. */
export interface FreeBlocks {
  readonly available: bigint;
  /** The lowest free ones; fewer if fewer are left. */
  next(count: number): string[];
}

/** The inspected subnet. */
type Prefix = Pick<Cidr, "version" | "bytes" | "prefixLength">;

/**
 * Addresses of a subnet that hosts cannot have: in IPv4 the network and broadcast address, except in /31 (RFC 3021) and
 * /32; in IPv6 the Subnet-Router anycast address, the first one (RFC 4291 §2.6.1), except in /127 (RFC 6164) and /128.
 */
export function reservedAddresses(prefix: Prefix): {
  readonly network: bigint | null;
  readonly broadcast: bigint | null;
} {
  const { first, last } = prefixBlock(prefix);
  if (prefix.prefixLength > prefix.bytes.length * 8 - 2) return { network: null, broadcast: null };
  return { network: first, broadcast: prefix.version === 4 ? last : null };
}

export class FreeSpace {
  private readonly prefix: Prefix;
  private readonly bits: number;
  private readonly occupied: readonly AddressBlock[];

  /** @param cidr canonical */
  constructor(cidr: string, { cidrs, ranges, addresses }: OccupiedSpace) {
    this.prefix = parseCidr(cidr) as Cidr;
    this.bits = this.prefix.bytes.length * 8;
    const { version } = this.prefix;
    const isSameVersion = (text: string) => text.includes(":") === (version === 6);
    this.occupied = [
      ...cidrs.filter(isSameVersion).map((each) => prefixBlock(parseCidr(each) as Cidr)),
      ...ranges
        .filter(({ first }) => isSameVersion(first))
        .map(({ first, last }) => ({ first: addressNumber(first), last: addressNumber(last) })),
      ...mergeRuns(addresses.filter(isSameVersion), version),
    ];
  }

  /** Excludes the network and broadcast address, ranges and nested subnets. */
  addresses(): FreeBlocks {
    const gaps = this.gaps(true);
    const { version } = this.prefix;
    return {
      available: gaps.reduce((sum, gap) => sum + blockSize(gap), 0n),
      next: (count) => takeLowest(gaps, count, 1n, (address) => addressAt(address, version)),
    };
  }

  /**
   * Empty prefixes of a length: without subnets, ranges and host addresses. Single-address prefixes exclude the network
   * and broadcast address.
   * @throws DomainError validation_failed for a length that does not fit within the subnet
   */
  prefixes(length: number): FreeBlocks {
    const { prefix, bits } = this;
    if (length <= prefix.prefixLength || length > bits)
      throw invalid({
        path: "/prefix_length",
        message:
          prefix.prefixLength === bits
            ? "requires a subnet with more than one address"
            : `must be from ${prefix.prefixLength + 1} to ${bits}: the subnet is a /${prefix.prefixLength}`,
        value: length,
      });
    const size = 1n << BigInt(bits - length);
    const gaps = this.gaps(length === bits).flatMap(({ first, last }): AddressBlock[] => {
      const [from, to] = [((first + size - 1n) / size) * size, ((last + 1n) / size) * size - 1n];
      return from > to ? [] : [{ first: from, last: to }];
    });
    return {
      available: gaps.reduce((sum, gap) => sum + blockSize(gap) / size, 0n),
      next: (count) => takeLowest(gaps, count, size, (address) => `${addressAt(address, prefix.version)}/${length}`),
    };
  }

  private gaps(isForAddresses: boolean): AddressBlock[] {
    const { network, broadcast } = reservedAddresses(this.prefix);
    const reserved = isForAddresses ? [network, broadcast].filter((each) => each !== null) : [];
    return blocksOutside(prefixBlock(this.prefix), [
      ...this.occupied,
      ...reserved.map((address) => ({ first: address, last: address })),
    ]);
  }
}

function takeLowest(
  gaps: readonly AddressBlock[],
  count: number,
  step: bigint,
  text: (address: bigint) => string,
): string[] {
  const result: string[] = [];
  for (const { first, last } of gaps)
    for (let address = first; address <= last && result.length < count; address += step) result.push(text(address));
  return result;
}

/**
 * Merges addresses into blocks: many addresses become few blocks. IPv4 uses plain numbers, which compare much faster.
 */
function mergeRuns(addresses: readonly string[], version: 4 | 6): AddressBlock[] {
  if (version === 6) return addresses.map(addressNumber).map((address) => ({ first: address, last: address }));
  const blocks: AddressBlock[] = [];
  let [first, last] = [-1, -1];
  const close = () => {
    if (first >= 0) blocks.push({ first: BigInt(first), last: BigInt(last) });
  };
  for (const address of Float64Array.from(addresses, ipv4Number).sort()) {
    if (address > last + 1 || first < 0) {
      close();
      first = address;
    }
    last = address;
  }
  close();
  return blocks;
}
