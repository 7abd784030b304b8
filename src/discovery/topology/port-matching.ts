// Matching of announced port IDs to the interfaces of a host. Pure.

import { parseIp } from "../../base/ip.ts";
import { parseMac } from "../../base/mac.ts";
import type { IdentityClaim } from "./claims.ts";
import { macIn } from "./device-names.ts";
import type { TopologyPort } from "./facts.ts";
import { foldPortName, isUnitName, lastNumber, type PortNameKeys } from "./port-names.ts";

/** IANAifType-MIB: Ethernet, its older numbers, and Wi-Fi. */
const CABLED_TYPES = new Set([6, 62, 69, 71, 117]);
/** ieee8023adLag: one interface over many cables. */
export const IF_TYPE_LAG = 161;

/** By the first interface of a host. */
const CACHE = new WeakMap<TopologyPort, HostPorts>();

/** Interfaces of one host, indexed by every name an announcement may use. Each index is built on first use. */
export class HostPorts {
  /** Reuses the indexes for the same interfaces, if cached across queries. */
  static of(ports: readonly TopologyPort[], keys: PortNameKeys): HostPorts {
    const [first] = ports;
    const known = first === undefined ? undefined : CACHE.get(first);
    if (known?.isFor(ports) === true) return known;
    const created = new HostPorts(ports, keys);
    if (first !== undefined) CACHE.set(first, created);
    return created;
  }

  private readonly ports: readonly TopologyPort[];
  private readonly keys: PortNameKeys;
  private names: Lists<string> | null = null;
  private aliases: Lists<string> | null = null;
  private macs: Lists<string> | null = null;
  private addresses: Lists<string> | null = null;
  private indexes: Map<number, TopologyPort> | null = null;
  private numbers: Lists<number> | null = null;

  private constructor(ports: readonly TopologyPort[], keys: PortNameKeys) {
    this.ports = ports;
    this.keys = keys;
  }

  private isFor(ports: readonly TopologyPort[]): boolean {
    return ports.length === this.ports.length && ports.every((port, index) => port === this.ports[index]);
  }

  matching(claim: IdentityClaim): readonly TopologyPort[] {
    let ambiguous: readonly TopologyPort[] = [];
    for (const { subtype, value } of claim.portIds) {
      const found = this.identified(subtype, value);
      if (found.length === 1) return found;
      if (ambiguous.length === 0) ambiguous = found;
    }
    const described = claim.portDesc === null ? [] : this.described(claim.portDesc);
    if (ambiguous.length > 0) return narrow(ambiguous, described);
    // The description is the interface's own (IEEE 802.1AB); manually entered text counts only if unambiguous.
    const isNamed = claim.portIds.some(({ subtype }) => subtype === "InterfaceName");
    return !isNamed && described.length === 1 ? described : [];
  }

  private identified(subtype: IdentityClaim["portIds"][number]["subtype"], value: string): readonly TopologyPort[] {
    const mac = macIn(value);
    if (subtype === "MacAddress" && mac !== null) return this.addressed(mac);
    if (subtype === "NetworkAddress") return this.withIp(parseIp(value.trim())?.text ?? "");
    const named = this.named(value);
    if (subtype === "InterfaceName" && named.length > 0) return named;
    if (subtype === "InterfaceAlias") {
      const aliased = this.aliased(value);
      return aliased.length > 0 ? aliased : named;
    }
    const numbered = /^\d{1,9}$/.test(value.trim()) ? this.numbered(Number(value)) : [];
    if (named.length > 0) return numbered.length === 0 ? named : [...new Set([...named, ...numbered])];
    if (numbered.length > 0) return numbered;
    const owned = mac === null ? [] : this.addressed(mac);
    if (owned.length > 0) return owned;
    return subtype === "InterfaceName" ? [] : this.aliased(value);
  }

  /** By exact name, else by any abbreviation; ports before units. */
  private named(text: string): readonly TopologyPort[] {
    const key = this.keys.of(text);
    if (key === "") return NONE;
    this.names ??= named(this.ports, this.keys);
    const matches = listFor(this.names, key);
    if (matches.length <= 1) return matches;
    const folded = foldPortName(text);
    const exact = matches.filter(({ if_name: name }) => name !== null && foldPortName(name) === folded);
    if (exact.length === 1 && !isUnitName(folded)) return exact;
    const nonUnits = matches.filter(({ if_name, if_descr }) => !isUnitName(foldPortName(if_name ?? if_descr)));
    if (nonUnits.length > 0) return nonUnits;
    return exact.length > 0 ? exact : matches;
  }

  /**
   * A number may be an ifIndex or the number printed next to the socket; if they differ, both count. A printed number
   * alone is too weak.
   */
  private numbered(number: number): readonly TopologyPort[] {
    this.indexes ??= new Map(this.ports.map((port) => [port.if_index, port]));
    const indexed = this.indexes.get(number);
    if (indexed === undefined) return [];
    this.numbers ??= numbered(this.ports);
    const printed = listFor(this.numbers, number);
    return printed.length === 0 || printed.includes(indexed) ? [indexed] : [indexed, ...printed];
  }

  private described(text: string): readonly TopologyPort[] {
    return [...new Set([...this.named(text), ...this.aliased(text)])];
  }

  private aliased(text: string): readonly TopologyPort[] {
    this.aliases ??= lists(this.ports, ({ if_alias: alias }) =>
      alias === null || alias.trim() === "" ? null : foldPortName(alias),
    );
    return listFor(this.aliases, foldPortName(text));
  }

  private addressed(mac: string): readonly TopologyPort[] {
    this.macs ??= lists(this.ports, ({ mac_address: own }) => (own === null ? null : parseMac(own)));
    return listFor(this.macs, mac);
  }

  private withIp(ip: string): readonly TopologyPort[] {
    this.addresses ??= lists(this.ports, ({ ip_address: own }) => own);
    return listFor(this.addresses, ip);
  }
}

/** Keeps interfaces that the description also matches, else those with a socket. */
function narrow(found: readonly TopologyPort[], described: readonly TopologyPort[]): readonly TopologyPort[] {
  const both = found.filter((port) => described.includes(port));
  if (both.length > 0) return both;
  const cabled = found.filter(
    (port) => CABLED_TYPES.has(port.if_type) && !isUnitName(foldPortName(port.if_name ?? port.if_descr)),
  );
  return cabled.length > 0 ? cabled : found;
}

/** Most keys have one port: a list for each would be 100,000 lists. */
type Lists<Key> = Map<Key, TopologyPort | TopologyPort[]>;

const NONE: readonly TopologyPort[] = [];

function named(ports: readonly TopologyPort[], keys: PortNameKeys): Lists<string> {
  const found: Lists<string> = new Map();
  for (const port of ports) {
    const name = port.if_name === null ? "" : keys.of(port.if_name);
    const descr = keys.of(port.if_descr);
    if (name !== "") addTo(found, name, port);
    if (descr !== "" && descr !== name) addTo(found, descr, port);
  }
  return found;
}

/** By the number printed next to the socket. */
function numbered(ports: readonly TopologyPort[]): Lists<number> {
  const byNumber: Lists<number> = new Map();
  for (const port of ports) {
    if (!CABLED_TYPES.has(port.if_type)) continue;
    const numbers = new Set([lastNumber(port.if_name ?? ""), lastNumber(port.if_descr)]);
    for (const number of numbers) if (number !== null) addTo(byNumber, number, port);
  }
  return byNumber;
}

function lists(ports: readonly TopologyPort[], keyOf: (port: TopologyPort) => string | null): Lists<string> {
  const found: Lists<string> = new Map();
  for (const port of ports) {
    const key = keyOf(port);
    if (key !== null) addTo(found, key, port);
  }
  return found;
}

function addTo<Key>(found: Lists<Key>, key: Key, port: TopologyPort): void {
  const known = found.get(key);
  if (known === undefined) found.set(key, port);
  else if (Array.isArray(known)) known.push(port);
  else found.set(key, [known, port]);
}

function listFor<Key>(found: Lists<Key>, key: Key): readonly TopologyPort[] {
  const known = found.get(key);
  return known === undefined ? NONE : Array.isArray(known) ? known : [known];
}
