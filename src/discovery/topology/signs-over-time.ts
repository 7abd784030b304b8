// Incremental ClaimedHosts: host signs of a network, updated change by change.

import { ADDRESSES_PER_MAC_MAX } from "../../resources/ip-addresses/shared-macs.ts";
import { usableMac } from "./claims.ts";
import type { TopologyHost, TopologyPort } from "./facts.ts";
import { HostSigns, type KnownSigns, keysOfHost, knownOf } from "./identify.ts";

/** Without duplicates. */
interface Signs {
  readonly known: KnownSigns;
  readonly chassisMacs: readonly string[];
  readonly addressMacs: readonly string[];
  readonly portMacs: readonly string[];
  readonly texts: readonly string[];
}

export class SignsOverTime extends HostSigns {
  private readonly signsAt = new Map<number, Signs>();
  private readonly byChassisMac: Places = new Map();
  private readonly byAddressMac: Places = new Map();
  private readonly byPortMac: Places = new Map();
  private readonly byText: Places = new Map();

  /**
   * @param host null for a removed host
   * @returns all signs it has or had: MAC addresses, and keys from keysOf; null if unchanged
   */
  set(place: number, host: TopologyHost | null, ports: Iterable<TopologyPort>): Set<string> | null {
    const before = this.signsAt.get(place);
    const after = host === null ? undefined : signsOf(host, ports);
    if (Bun.deepEquals(before, after)) return null;
    if (before !== undefined) this.each(before, remove, place);
    if (after === undefined) this.signsAt.delete(place);
    else {
      this.signsAt.set(place, after);
      this.each(after, add, place);
    }
    return new Set([before, after].flatMap((signs) => (signs === undefined ? [] : allOf(signs))));
  }

  protected knownAt(place: number): KnownSigns {
    return (this.signsAt.get(place) as Signs).known;
  }

  protected withMac(mac: string): readonly number[] | undefined {
    const addressed = this.byAddressMac.get(mac) ?? [];
    const found = [
      ...(this.byChassisMac.get(mac) ?? []),
      // Proxy ARP: the MAC address answers for other hosts.
      ...(addressed.length <= ADDRESSES_PER_MAC_MAX ? addressed : []),
      ...(this.byPortMac.get(mac) ?? []),
    ];
    return found.length > 1 ? [...new Set(found)] : found;
  }

  protected withText(key: string): readonly number[] | undefined {
    return this.byText.get(key);
  }

  private each({ chassisMacs, addressMacs, portMacs, texts }: Signs, change: typeof add, place: number): void {
    for (const mac of chassisMacs) change(this.byChassisMac, mac, place);
    for (const mac of addressMacs) change(this.byAddressMac, mac, place);
    for (const mac of portMacs) change(this.byPortMac, mac, place);
    for (const text of texts) change(this.byText, text, place);
  }
}

function signsOf(host: TopologyHost, ports: Iterable<TopologyPort>): Signs {
  const known = knownOf(host);
  const addressMacs = new Set<string>();
  for (const { mac_address } of host.addresses) {
    const mac = usableMac(mac_address);
    if (mac !== null) addressMacs.add(mac);
  }
  const portMacs = new Set<string>();
  for (const { mac_address } of ports) if (mac_address !== null) portMacs.add(mac_address);
  return {
    known,
    chassisMacs: known.chassisMac === null ? [] : [known.chassisMac],
    addressMacs: [...addressMacs],
    portMacs: [...portMacs],
    texts: [...new Set(keysOfHost(host, known))],
  };
}

function allOf({ chassisMacs, addressMacs, portMacs, texts }: Signs): readonly string[] {
  return [...chassisMacs, ...addressMacs, ...portMacs, ...texts];
}

/** By sign. */
type Places = Map<string, number[]>;

function add(places: Places, sign: string, place: number): void {
  const known = places.get(sign);
  if (known === undefined) places.set(sign, [place]);
  else known.push(place);
}

function remove(places: Places, sign: string, place: number): void {
  const left = (places.get(sign) ?? []).filter((each) => each !== place);
  if (left.length === 0) places.delete(sign);
  else places.set(sign, left);
}
