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
export interface TakenSpace {
  /** Prefixes of nested subnets. */
  readonly cidrs: readonly string[];
  /** Ranges of any purpose. */
  readonly ranges: ReadonlyArray<{ readonly first: string; readonly last: string }>;
  /** Addresses of hosts. */
  readonly addresses: readonly string[];
}

/** Free addresses or free prefixes. */
export interface FreeOnes {
  readonly available: bigint;
  /** The lowest free ones; fewer if fewer are left. */
  next(count: number): string[];
}

/** The inspected subnet. */
type Whole = Pick<Cidr, "version" | "bytes" | "prefixLength">;

/**
 * Addresses of a subnet that no host may have: in IPv4 the network and broadcast address, except in /31 (RFC 3021) and
 * /32; in IPv6 the Subnet-Router anycast address, the first one (RFC 4291 §2.6.1), except in /127 (RFC 6164) and /128.
 */
export function addressesOfNobody(whole: Whole): {
  readonly network: bigint | null;
  readonly broadcast: bigint | null;
} {
  const { first, last } = prefixBlock(whole);
  if (whole.prefixLength > whole.bytes.length * 8 - 2) return { network: null, broadcast: null };
  return { network: first, broadcast: whole.version === 4 ? last : null };
}

export class FreeSpace {
  private readonly whole: Whole;
  private readonly bits: number;
  private readonly taken: readonly AddressBlock[];

  /** @param cidr canonical */
  constructor(cidr: string, { cidrs, ranges, addresses }: TakenSpace) {
    this.whole = parseCidr(cidr) as Cidr;
    this.bits = this.whole.bytes.length * 8;
    const { version } = this.whole;
    const isHere = (text: string) => text.includes(":") === (version === 6);
    this.taken = [
      ...cidrs.filter(isHere).map((each) => prefixBlock(parseCidr(each) as Cidr)),
      ...ranges
        .filter(({ first }) => isHere(first))
        .map(({ first, last }) => ({ first: addressNumber(first), last: addressNumber(last) })),
      ...runsOf(addresses.filter(isHere), version),
    ];
  }

  /** Excludes the network and broadcast address, ranges and nested subnets. */
  addresses(): FreeOnes {
    const gaps = this.gaps(true);
    const { version } = this.whole;
    return {
      available: gaps.reduce((sum, gap) => sum + blockSize(gap), 0n),
      next: (count) => take(gaps, count, 1n, (at) => addressAt(at, version)),
    };
  }

  /**
   * Empty prefixes of a length: without subnets, ranges and host addresses. Single-address prefixes exclude the network
   * and broadcast address.
   * @throws DomainError validation_failed for a length that does not fit within the subnet
   */
  prefixes(length: number): FreeOnes {
    const { whole, bits } = this;
    if (length <= whole.prefixLength || length > bits)
      throw invalid([
        {
          path: "/prefix_length",
          message:
            whole.prefixLength === bits
              ? "requires a subnet with more than one address"
              : `must be from ${whole.prefixLength + 1} to ${bits}: the subnet is a /${whole.prefixLength}`,
          value: length,
        },
      ]);
    const size = 1n << BigInt(bits - length);
    const gaps = this.gaps(length === bits).flatMap(({ first, last }): AddressBlock[] => {
      const [from, to] = [((first + size - 1n) / size) * size, ((last + 1n) / size) * size - 1n];
      return from > to ? [] : [{ first: from, last: to }];
    });
    return {
      available: gaps.reduce((sum, gap) => sum + blockSize(gap) / size, 0n),
      next: (count) => take(gaps, count, size, (at) => `${addressAt(at, whole.version)}/${length}`),
    };
  }

  private gaps(isForAddresses: boolean): AddressBlock[] {
    const { network, broadcast } = addressesOfNobody(this.whole);
    const nobodys = isForAddresses ? [network, broadcast].filter((each) => each !== null) : [];
    return blocksOutside(prefixBlock(this.whole), [...this.taken, ...nobodys.map((at) => ({ first: at, last: at }))]);
  }
}

function take(gaps: readonly AddressBlock[], count: number, step: bigint, text: (at: bigint) => string): string[] {
  const found: string[] = [];
  for (const { first, last } of gaps)
    for (let at = first; at <= last && found.length < count; at += step) found.push(text(at));
  return found;
}

/**
 * Merges addresses into blocks: many addresses become few blocks. IPv4 uses plain numbers, which compare much faster.
 */
function runsOf(addresses: readonly string[], version: 4 | 6): AddressBlock[] {
  if (version === 6) return addresses.map(addressNumber).map((at) => ({ first: at, last: at }));
  const blocks: AddressBlock[] = [];
  let [first, last] = [-1, -1];
  const close = () => {
    if (first >= 0) blocks.push({ first: BigInt(first), last: BigInt(last) });
  };
  for (const at of Float64Array.from(addresses, ipv4Number).sort()) {
    if (at > last + 1 || first < 0) {
      close();
      first = at;
    }
    last = at;
  }
  close();
  return blocks;
}
