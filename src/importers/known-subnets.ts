// Prefixes of each network, to check whether an address has a subnet.

import { cidrOf, parseCidr, parseIp } from "../base/ip.ts";

export class KnownSubnets {
  private readonly networks = new Map<string, Prefixes>();

  /** @param cidr canonical */
  add(networkId: string, cidr: string): void {
    const prefix = parseCidr(cidr);
    if (prefix === null) return;
    let prefixes = this.networks.get(networkId);
    if (prefixes === undefined) {
      prefixes = { cidrs: new Set(), lengths: { 4: new Set(), 6: new Set() } };
      this.networks.set(networkId, prefixes);
    }
    prefixes.cidrs.add(cidr);
    prefixes.lengths[prefix.version].add(prefix.prefixLength);
  }

  /** True if one subnet of the network contains all of these addresses, of one IP version. */
  contains(networkId: string, ...addresses: readonly string[]): boolean {
    const prefixes = this.networks.get(networkId);
    const ips = addresses.map(parseIp);
    const [first] = ips;
    if (prefixes === undefined || first === null || first === undefined) return false;
    for (const length of prefixes.lengths[first.version]) {
      const { text } = cidrOf(first, length);
      if (!prefixes.cidrs.has(text)) continue;
      if (ips.every((ip) => ip !== null && ip.version === first.version && cidrOf(ip, length).text === text))
        return true;
    }
    return false;
  }
}

interface Prefixes {
  readonly cidrs: Set<string>;
  readonly lengths: { readonly 4: Set<number>; readonly 6: Set<number> };
}
