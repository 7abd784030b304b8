// What is left of a subnet: addresses that may be given away, and prefixes that may become subnets. Reads and
// allocations go by the same. Pure.

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

/** What may lie in a subnet, as it is written; what lies elsewhere does no harm. */
export interface TakenSpace {
  /** The prefixes of subnets within it. */
  readonly cidrs: readonly string[];
  /** Ranges of whatever purpose. */
  readonly ranges: ReadonlyArray<{ readonly first: string; readonly last: string }>;
  /** Of hosts. */
  readonly addresses: readonly string[];
}

/** What is free of one sort. */
export interface FreeOnes {
  readonly available: bigint;
  /** The lowest ones, fewer where fewer are left. */
  next(count: number): string[];
}

/** The subnet that is looked into. */
type Whole = Pick<Cidr, "version" | "bytes" | "prefixLength">;

/**
 * The addresses of a subnet that are nobody's to have: in IPv4 the network's and the broadcast address, but for /31
 * (RFC 3021) and /32; in IPv6 the Subnet-Router anycast address, the first one (RFC 4291 §2.6.1), but for /127
 * (RFC 6164) and /128.
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

  /** Never the network's or the broadcast address, nor what is in a range or in a subnet within this one. */
  addresses(): FreeOnes {
    const gaps = this.gaps(true);
    const { version } = this.whole;
    return {
      available: gaps.reduce((sum, gap) => sum + blockSize(gap), 0n),
      next: (count) => take(gaps, count, 1n, (at) => addressAt(at, version)),
    };
  }

  /**
   * Prefixes of a length in which nothing is: no subnet, no range, no host's address. One that is a single address is
   * never the network's or the broadcast address.
   * @throws DomainError validation_failed for a length that no prefix within the subnet has
   */
  prefixes(length: number): FreeOnes {
    const { whole, bits } = this;
    if (length <= whole.prefixLength || length > bits)
      throw invalid([
        {
          path: "/prefix_length",
          message:
            whole.prefixLength === bits
              ? "is for subnets that others fit into: this one is a single address"
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

/** Addresses as blocks: very many are few blocks, and in IPv4 numbers hold them, which are compared much faster. */
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
