// Incremental ClaimedHosts: host signs of a network, updated change by change.

import { ADDRESSES_PER_MAC_MAX } from "../../resources/ip-addresses/shared-macs.ts";
import { usableMac } from "./claims.ts";
import type { TopologyHost, TopologyPort } from "./facts.ts";
import { HostSigns, type KnownSigns, keysOfHost, knownSignsOf } from "./identify.ts";

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
  private readonly byChassisMac: IndexesBySign = new Map();
  private readonly byAddressMac: IndexesBySign = new Map();
  private readonly byPortMac: IndexesBySign = new Map();
  private readonly byText: IndexesBySign = new Map();

  /**
   * @param host null for a removed host
   * @returns all signs it has or had: MAC addresses, and keys from keysOf; null if unchanged
   */
  set(index: number, host: TopologyHost | null, ports: Iterable<TopologyPort>): Set<string> | null {
    const before = this.signsAt.get(index);
    const after = host === null ? undefined : signsOf(host, ports);
    if (Bun.deepEquals(before, after)) return null;
    if (before !== undefined) this.updateMaps(before, remove, index);
    if (after === undefined) this.signsAt.delete(index);
    else {
      this.signsAt.set(index, after);
      this.updateMaps(after, add, index);
    }
    return new Set([before, after].flatMap((signs) => (signs === undefined ? [] : allSigns(signs))));
  }

  protected knownAt(index: number): KnownSigns {
    return (this.signsAt.get(index) as Signs).known;
  }

  protected withMac(mac: string): readonly number[] | undefined {
    const addressed = this.byAddressMac.get(mac) ?? [];
    const found = [
      ...(this.byChassisMac.get(mac) ?? []),
      // Proxy ARP: the MAC address responds for other hosts.
      ...(addressed.length <= ADDRESSES_PER_MAC_MAX ? addressed : []),
      ...(this.byPortMac.get(mac) ?? []),
    ];
    return found.length > 1 ? [...new Set(found)] : found;
  }

  protected withText(key: string): readonly number[] | undefined {
    return this.byText.get(key);
  }

  private updateMaps({ chassisMacs, addressMacs, portMacs, texts }: Signs, change: typeof add, index: number): void {
    for (const mac of chassisMacs) change(this.byChassisMac, mac, index);
    for (const mac of addressMacs) change(this.byAddressMac, mac, index);
    for (const mac of portMacs) change(this.byPortMac, mac, index);
    for (const text of texts) change(this.byText, text, index);
  }
}

function signsOf(host: TopologyHost, ports: Iterable<TopologyPort>): Signs {
  const known = knownSignsOf(host);
  const addressMacs = new Set<string>();
  for (const { mac_address } of host.addresses) {
    const mac = usableMac(mac_address);
    if (mac !== null) addressMacs.add(mac);
  }
  const portMacs = new Set<string>();
  for (const { mac_address } of ports) if (mac_address !== null) portMacs.add(mac_address);
  return {
    known,
    chassisMacs: [...new Set([known.chassisMac, known.bridgeMac])].filter((mac) => mac !== null),
    addressMacs: [...addressMacs],
    portMacs: [...portMacs],
    texts: [...new Set(keysOfHost(host, known))],
  };
}

function allSigns({ chassisMacs, addressMacs, portMacs, texts }: Signs): readonly string[] {
  return [...chassisMacs, ...addressMacs, ...portMacs, ...texts];
}

/** By sign. */
type IndexesBySign = Map<string, number[]>;

function add(bySign: IndexesBySign, sign: string, index: number): void {
  const known = bySign.get(sign);
  if (known === undefined) bySign.set(sign, [index]);
  else known.push(index);
}

function remove(bySign: IndexesBySign, sign: string, index: number): void {
  const left = (bySign.get(sign) ?? []).filter((other) => other !== index);
  if (left.length === 0) bySign.delete(sign);
  else bySign.set(sign, left);
}
