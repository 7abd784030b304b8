// Places of a source's prefixes, looked up by the smallest prefix that contains an address.

import { cidrOf, parseCidr, parseIp } from "../base/ip.ts";

export class PrefixPlaces<Place> {
  private readonly places = new Map<string, Place>();
  private readonly lengths = { 4: new Set<number>(), 6: new Set<number>() };

  /** @param space scope in which addresses are unique: a VRF */
  add(space: string, cidr: string, place: Place): void {
    const prefix = parseCidr(cidr);
    if (prefix === null) return;
    this.places.set(`${space} ${prefix.text}`, place);
    this.lengths[prefix.version].add(prefix.prefixLength);
  }

  /** @returns undefined if no prefix contains the address */
  placeOf(space: string, address: string): Place | undefined {
    const ip = parseIp(address);
    if (ip === null) return undefined;
    const lengths = [...this.lengths[ip.version]].sort((a, b) => b - a);
    for (const length of lengths) {
      const key = `${space} ${cidrOf(ip, length).text}`;
      if (this.places.has(key)) return this.places.get(key);
    }
    return undefined;
  }
}
