// Locations of a source's prefixes, looked up by the smallest prefix that contains an address.

import { cidrOf, parseCidr, parseIp } from "../base/ip.ts";

export class PrefixMap<Value> {
  private readonly values = new Map<string, Value>();
  private readonly lengths = { 4: new Set<number>(), 6: new Set<number>() };

  /** @param space scope in which addresses are unique: a VRF */
  add(space: string, cidr: string, value: Value): void {
    const prefix = parseCidr(cidr);
    if (prefix === null) return;
    this.values.set(`${space} ${prefix.text}`, value);
    this.lengths[prefix.version].add(prefix.prefixLength);
  }

  /** @returns undefined if no prefix contains the address */
  lookup(space: string, address: string): Value | undefined {
    const ip = parseIp(address);
    if (ip === null) return undefined;
    const lengths = [...this.lengths[ip.version]].sort((a, b) => b - a);
    for (const length of lengths) {
      const key = `${space} ${cidrOf(ip, length).text}`;
      if (this.values.has(key)) return this.values.get(key);
    }
    return undefined;
  }
}
