// Which addresses a network's credentials may be sent to, as its subnets say: the one place that decides it. Pure.

import { cidrOf, parseCidr, parseIp } from "../../base/ip.ts";
import { PASSED_OVER_TYPES, type SubnetType } from "./subnet-type.ts";

/** What is asked of a subnet. */
export interface SubnetWord {
  readonly id: string;
  /** Canonical. */
  readonly cidr: string;
  readonly subnet_type: SubnetType;
  readonly accepts_credentials: boolean;
}

export class AcceptingSubnets {
  private readonly byCidr = new Map<string, SubnetWord>();
  /** The prefix lengths that there are, the longest first. */
  private readonly lengths: { readonly 4: readonly number[]; readonly 6: readonly number[] };

  /** @param subnets all of a network */
  constructor(subnets: Iterable<SubnetWord>) {
    const lengths = { 4: new Set<number>(), 6: new Set<number>() };
    for (const subnet of subnets) {
      const cidr = parseCidr(subnet.cidr);
      if (cidr === null) continue;
      this.byCidr.set(cidr.text, subnet);
      lengths[cidr.version].add(cidr.prefixLength);
    }
    this.lengths = { 4: [...lengths[4]].sort((a, b) => b - a), 6: [...lengths[6]].sort((a, b) => b - a) };
  }

  /**
   * Whether any subnet that contains an address accepts credentials. One that is not asked unless it is named
   * (Internet, Remote, Loopback) has no say: a smaller subnet within it, which anybody may make, would have its
   * addresses asked.
   */
  accepts(address: string): boolean {
    for (const subnet of this.containing(address)) if (isAccepting(subnet)) return true;
    return false;
  }

  /** Whether a subnet accepts credentials for all of its addresses: itself, or a larger one that it lies within. */
  acceptsAllOf(cidr: string): boolean {
    for (const subnet of this.around(cidr)) if (isAccepting(subnet)) return true;
    return false;
  }

  /** The subnets that contain a whole prefix, from the one with that prefix to the largest. */
  *around(prefix: string): Generator<SubnetWord> {
    const cidr = parseCidr(prefix);
    if (cidr === null) return;
    for (const length of this.lengths[cidr.version]) {
      if (length > cidr.prefixLength) continue;
      const subnet = this.byCidr.get(cidrOf(cidr, length).text);
      if (subnet !== undefined) yield subnet;
    }
  }

  /** The subnet that an address lies in, of several the smallest; null for none. */
  smallestOf(address: string): SubnetWord | null {
    for (const subnet of this.containing(address)) return subnet;
    return null;
  }

  /** From the smallest to the largest. */
  private *containing(address: string): Generator<SubnetWord> {
    const ip = parseIp(address);
    if (ip === null) return;
    for (const length of this.lengths[ip.version]) {
      const subnet = this.byCidr.get(cidrOf(ip, length).text);
      if (subnet !== undefined) yield subnet;
    }
  }
}

function isAccepting({ accepts_credentials, subnet_type }: SubnetWord): boolean {
  return accepts_credentials && !PASSED_OVER_TYPES.includes(subnet_type);
}
