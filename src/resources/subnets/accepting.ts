// Credential policy of a network's subnets: the only module that decides which addresses may be sent credentials. Pure.

import { cidrOf, parseCidr, parseIp } from "../../base/ip.ts";
import { SKIPPED_TYPES, type SubnetType } from "./subnet-type.ts";

/** Subnet fields that the policy needs. */
export interface SubnetPolicy {
  readonly id: string;
  /** Canonical. */
  readonly cidr: string;
  readonly subnet_type: SubnetType;
  readonly accepts_credentials: boolean;
}

export class AcceptingSubnets {
  private readonly byCidr = new Map<string, SubnetPolicy>();
  /** Existing prefix lengths, longest first. */
  private readonly lengths: { readonly 4: readonly number[]; readonly 6: readonly number[] };

  /** @param subnets all of a network */
  constructor(subnets: Iterable<SubnetPolicy>) {
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
   * Whether any subnet that contains the address accepts credentials. Types scanned only on request (Internet, Remote,
   * Loopback) never count: otherwise a smaller subnet inside, which any user can create, would expose their addresses.
   */
  accepts(address: string): boolean {
    for (const subnet of this.containing(address)) if (isAccepting(subnet)) return true;
    return false;
  }

  /** Whether all addresses of a prefix accept credentials, by a subnet with that prefix or a larger one around it. */
  acceptsAllOf(cidr: string): boolean {
    for (const subnet of this.enclosing(cidr)) if (isAccepting(subnet)) return true;
    return false;
  }

  /** Subnets that contain a whole prefix, from the one with that prefix to the largest. */
  *enclosing(prefix: string): Generator<SubnetPolicy> {
    const cidr = parseCidr(prefix);
    if (cidr === null) return;
    for (const length of this.lengths[cidr.version]) {
      if (length > cidr.prefixLength) continue;
      const subnet = this.byCidr.get(cidrOf(cidr, length).text);
      if (subnet !== undefined) yield subnet;
    }
  }

  /** The smallest subnet that contains an address; null for none. */
  smallestOf(address: string): SubnetPolicy | null {
    for (const subnet of this.containing(address)) return subnet;
    return null;
  }

  /** From the smallest to the largest. */
  private *containing(address: string): Generator<SubnetPolicy> {
    const ip = parseIp(address);
    if (ip === null) return;
    for (const length of this.lengths[ip.version]) {
      const subnet = this.byCidr.get(cidrOf(ip, length).text);
      if (subnet !== undefined) yield subnet;
    }
  }
}

function isAccepting({ accepts_credentials, subnet_type }: SubnetPolicy): boolean {
  return accepts_credentials && !SKIPPED_TYPES.includes(subnet_type);
}
