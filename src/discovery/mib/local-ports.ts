// Mapping of local LLDP port numbers to interfaces. Devices number ports freely, so names are the better evidence.

import type { IfRow } from "../device.ts";
import type { BridgePorts } from "./bridge.ts";

export interface LocalPortText {
  /** LldpPortIdSubtype; null for a value outside the standard. */
  readonly subtype: number | null;
  /** "" if none. */
  readonly id: string;
  /** The ID as a MAC address, if it is one. */
  readonly mac: string | null;
  /** "" if none. */
  readonly desc: string;
}

/**
 * Resolves a port in this order: 1. the single interface with a name (ifName, ifDescr, ifAlias, also shortened:
 * `Gi1/0/1`) or MAC address equal to the port ID; of several, the one with the port number, else with the port
 * description, else the Ethernet one; 2. likewise by port description; 3. the interface with the port number, as bridge
 * port or as ifIndex: whichever holds for ports known by name (or by the end of a name: `1` in `Slot 0 Port 1`), else
 * has more neighbors on Ethernet interfaces that are up; 4. the first of several from 1 or 2.
 */
export class LocalPorts {
  private readonly interfaces: ReadonlyMap<number, IfRow>;
  private readonly ports: BridgePorts;
  private readonly texts: ReadonlyMap<number, LocalPortText>;
  private readonly byName = new Map<string, number[]>();
  private readonly byAlias = new Map<string, number[]>();
  private readonly byMac = new Map<string, number[]>();
  /** Keyed by the numbers at the end of the name. */
  private readonly byNumbers = new Map<string, { readonly word: string; readonly ifIndex: number }[]>();
  private readonly byShort = new Map<string, readonly number[]>();
  /** Cached: a device may give thousands of interfaces and ports the same name. */
  private readonly sets = new WeakMap<readonly number[], ReadonlySet<number>>();
  private readonly both = new WeakMap<readonly number[], WeakMap<readonly number[], number | null>>();
  private readonly isBridgePortFirst: boolean;

  /**
   * @param texts by port number
   * @param portNumberType default meaning of a port number
   * @param used ports with neighbors
   */
  constructor(
    interfaces: ReadonlyMap<number, IfRow>,
    ports: BridgePorts,
    texts: ReadonlyMap<number, LocalPortText>,
    portNumberType: "bridge port" | "interface",
    used: ReadonlySet<number>,
  ) {
    this.interfaces = interfaces;
    this.ports = ports;
    this.texts = texts;
    this.isBridgePortFirst = true;
    if (used.size === 0) return;
    for (const [ifIndex, { if_descr, if_name, if_alias, mac_address }] of interfaces) {
      for (const name of new Set([normalized(if_descr), normalized(if_name)])) {
        add(this.byName, name, ifIndex);
        const nameParts = splitName(name);
        if (nameParts === null) continue;
        const sameNumbers = this.byNumbers.get(nameParts.numbers);
        if (sameNumbers === undefined) this.byNumbers.set(nameParts.numbers, [{ word: nameParts.word, ifIndex }]);
        else sameNumbers.push({ word: nameParts.word, ifIndex });
      }
      add(this.byAlias, normalized(if_alias), ifIndex);
      add(this.byMac, mac_address ?? "", ifIndex);
    }
    this.isBridgePortFirst = this.prefersBridgePorts(used) ?? portNumberType === "bridge port";
  }

  interfaceOf(port: number): number | null {
    const numbered = this.numbered(port);
    const text = this.texts.get(port);
    const byId = text === undefined ? NONE : this.byId(text);
    const byDesc = text === undefined ? NONE : this.byDesc(text);
    return (
      this.pickOne(byId, numbered, byDesc) ??
      this.pickOne(byDesc, numbered, byId) ??
      numbered[0] ??
      byId[0] ??
      byDesc[0] ??
      null
    );
  }

  private pickOne(named: readonly number[], numbered: readonly number[], others: readonly number[]): number | null {
    if (named.length <= 1) return named[0] ?? null;
    return numbered.find((ifIndex) => this.has(named, ifIndex)) ?? this.pickByOverlap(named, others);
  }

  private pickByOverlap(named: readonly number[], others: readonly number[]): number | null {
    const known = this.both.get(named) ?? new WeakMap<readonly number[], number | null>();
    this.both.set(named, known);
    let picked = known.get(others);
    if (picked === undefined) {
      picked =
        single(others.filter((ifIndex) => this.has(named, ifIndex))) ??
        single(named.filter((ifIndex) => ETHERNET.has(this.interfaces.get(ifIndex)?.if_type ?? 0)));
      known.set(others, picked);
    }
    return picked;
  }

  private has(named: readonly number[], ifIndex: number): boolean {
    if (named.length <= 1) return named[0] === ifIndex;
    let set = this.sets.get(named);
    if (set === undefined) this.sets.set(named, (set = new Set(named)));
    return set.has(ifIndex);
  }

  /** Most likely first. */
  private numbered(port: number): number[] {
    const byBridge = this.ports.ifIndexOf(port);
    const byIfIndex = this.interfaces.has(port) ? port : null;
    const both = this.isBridgePortFirst ? [byBridge, byIfIndex] : [byIfIndex, byBridge];
    return both.filter((ifIndex) => ifIndex !== null);
  }

  private byId({ subtype, id, mac }: LocalPortText): readonly number[] {
    const name = normalized(id);
    if (subtype === MAC_ADDRESS) return mac === null ? NONE : (this.byMac.get(mac) ?? NONE);
    if (subtype === INTERFACE_ALIAS) return this.byAlias.get(name) ?? this.byName.get(name) ?? [];
    return this.byName.get(name) ?? this.byShortName(name);
  }

  private byShortName(name: string): readonly number[] {
    const known = this.byShort.get(name);
    if (known !== undefined) return known;
    const short = splitName(name);
    const found =
      short === null
        ? []
        : (this.byNumbers.get(short.numbers) ?? []).filter(
            ({ word }) => word.startsWith(short.word) || short.word.startsWith(word),
          );
    const ifIndexes = found.length === 0 ? NONE : [...new Set(found.map(({ ifIndex }) => ifIndex))];
    this.byShort.set(name, ifIndexes);
    return ifIndexes;
  }

  private byDesc({ desc }: LocalPortText): readonly number[] {
    const name = normalized(desc);
    return this.byName.get(name) ?? this.byAlias.get(name) ?? NONE;
  }

  /** Returns null if both are equally likely. */
  private prefersBridgePorts(used: ReadonlySet<number>): boolean | null {
    let byBridge = 0;
    let byIfIndex = 0;
    for (const [port, text] of this.texts) {
      const [byId, byDesc] = [this.byId(text), this.byDesc(text)];
      const fits = (ifIndex: number | null): boolean =>
        ifIndex !== null &&
        (byId.length + byDesc.length > 0
          ? this.has(byId, ifIndex) || this.has(byDesc, ifIndex)
          : this.nameEndsWith(ifIndex, text.id));
      if (fits(this.ports.ifIndexOf(port))) byBridge += 1;
      if (fits(port)) byIfIndex += 1;
    }
    if (byBridge !== byIfIndex) return byBridge > byIfIndex;
    for (const port of used) {
      byBridge += this.likelihood(this.ports.ifIndexOf(port));
      byIfIndex += this.likelihood(port);
    }
    return byBridge === byIfIndex ? null : byBridge > byIfIndex;
  }

  private likelihood(ifIndex: number | null): number {
    const entry = ifIndex === null ? undefined : this.interfaces.get(ifIndex);
    return (entry?.oper_status === "Up" ? 1 : 0) + (ETHERNET.has(entry?.if_type ?? 0) ? 1 : 0);
  }

  private nameEndsWith(ifIndex: number, id: string): boolean {
    const end = normalized(id);
    const entry = this.interfaces.get(ifIndex);
    return end !== "" && [entry?.if_name, entry?.if_descr].some((each) => endsWith(normalized(each), end));
  }
}

const NONE: readonly number[] = [];
/** LldpPortIdSubtype. */
const INTERFACE_ALIAS = 1;
const MAC_ADDRESS = 3;
/** IANAifType-MIB types that devices use for Ethernet: ethernetCsmacd, fastEther, fastEtherFX, gigabitEthernet. */
const ETHERNET: ReadonlySet<number> = new Set([6, 62, 69, 117]);

/**
 * Drops case and whitespace: `GigabitEthernet 0/1` becomes `gigabitethernet0/1`. Returns "" if no letters or digits.
 */
function normalized(text: string | null | undefined): string {
  const plain = (text ?? "").toLowerCase().replaceAll(/\s+/g, "");
  return /[\p{L}\p{N}]/u.test(plain) ? plain : "";
}

/** `gi1/0/1` → gi, 1/0/1; null for a name in another format. */
function splitName(name: string): { word: string; numbers: string } | null {
  const [, word, numbers] = /^([a-z][a-z-]*)(\d.*)$/.exec(name) ?? [];
  return word === undefined || numbers === undefined ? null : { word, numbers };
}

/** Does not match inside a number. */
function endsWith(name: string, end: string): boolean {
  return name.endsWith(end) && !(/^\d/.test(end) && /\d$/.test(name.slice(0, -end.length)));
}

function add(map: Map<string, number[]>, key: string, ifIndex: number): void {
  if (key === "") return;
  const known = map.get(key);
  if (known === undefined) map.set(key, [ifIndex]);
  else if (known.at(-1) !== ifIndex) known.push(ifIndex);
}

function single(ifIndexes: readonly number[]): number | null {
  return ifIndexes.length === 1 ? (ifIndexes[0] ?? null) : null;
}
