// Scoring of the hosts that a claim may refer to. Pure. Matching signs add to the score and contradictions subtract
// from it; the best host must lead clearly.

import { parseMac } from "../../base/mac.ts";
import { firstLabel, isFactoryName } from "../../resources/hosts/factory-names.ts";
import { ADDRESSES_PER_MAC_MAX } from "../../resources/ip-addresses/shared-macs.ts";
import { foldText, type IdentityClaim, macsOf, usableAddress, usableMac } from "./claims.ts";
import { compareNames, deviceName, serialKey } from "./device-names.ts";
import type { TopologyHost, TopologyPort } from "./facts.ts";

/**
 * A chassis ID or name present on both sides but different subtracts the same weight; a chassis ID does not if the
 * system name is enough.
 */
export const CLAIM_WEIGHTS = {
  /** One of the host's MAC addresses, or its bridge address. */
  chassisMac: 4,
  serial: 4,
  /** Another MAC address, such as the announcing port's. */
  mac: 3,
  /** The host's own system name. */
  sysName: 3,
  /** The system name without its domain, or a name from another source. */
  otherName: 2,
  address: 2,
  /** The host announces the matching opposite direction. */
  opposite: 3,
  /** The host announces the near device, at an unknown port. */
  oppositeHost: 2,
} as const;

/** Minimum score, and minimum lead over every other host. */
export const SCORE_MIN = 2;
export const LEAD_MIN = 2;

/** Signs shared by more hosts than this identify none of them. */
const SHARED_BY_MAX = 64;

/** A host's own signs, in comparable form. */
export interface KnownSigns {
  readonly chassisMac: string | null;
  readonly chassisText: string | null;
  /** dot1dBaseBridgeAddress: some devices announce it as their chassis ID. */
  readonly bridgeMac: string | null;
  readonly sysName: string | null;
  /** From users and DNS. */
  readonly otherNames: readonly string[];
  readonly serial: string | null;
}

/** Lookup of hosts by sign. A host is identified by its index. */
export abstract class HostSigns {
  protected abstract knownAt(hostIndex: number): KnownSigns;
  /** Indexes of hosts with the MAC address, without duplicates. */
  protected abstract withMac(mac: string): readonly number[] | undefined;
  /** Same for a key from keysOf. */
  protected abstract withText(key: string): readonly number[] | undefined;

  /** Returns the hosts that share a sign with a claim, with their scores. */
  candidates(claim: IdentityClaim): Map<number, number> {
    const found = new Map<number, number>();
    const add = (hostIndexes: readonly number[] | undefined) => {
      if (hostIndexes === undefined || hostIndexes.length > SHARED_BY_MAX) return;
      for (const hostIndex of hostIndexes)
        if (!found.has(hostIndex)) found.set(hostIndex, this.score(claim, hostIndex));
    };
    for (const mac of macsOf(claim)) add(this.withMac(mac));
    for (const key of keysOf(claim)) add(this.withText(key));
    return found;
  }

  /** Negative if contradictions prevail. */
  score(claim: IdentityClaim, hostIndex: number): number {
    const known = this.knownAt(hostIndex);
    const chassis = chassisScore(claim, known, (mac) => this.has(mac, hostIndex));
    let score = chassis < 0 && this.isNameEnough(claim, hostIndex) ? 0 : chassis;
    if (claim.macs.some((mac) => this.has(mac, hostIndex))) score += CLAIM_WEIGHTS.mac;
    if (known.serial !== null && claim.serials.includes(known.serial)) score += CLAIM_WEIGHTS.serial;
    score += nameScore(claim, known);
    if (this.hasAddressOf(claim, hostIndex)) score += CLAIM_WEIGHTS.address;
    return score;
  }

  /** True if any host has a name of the claim. */
  isNameShared(claim: IdentityClaim): boolean {
    return keysOf(claim).some((key) => isNameKey(key) && (this.withText(key)?.length ?? 0) > 0);
  }

  /**
   * True if a claim is a host's regardless of its chassis ID: some devices announce another one on every port. The
   * claim has the host's system name and one of its addresses; without any address, no other host has the name or the
   * chassis ID.
   */
  private isNameEnough(claim: IdentityClaim, hostIndex: number): boolean {
    const { sysName } = this.knownAt(hostIndex);
    if (sysName === null || isFactoryName(sysName)) return false;
    if (!claim.names.some((name) => compareNames(name, sysName) !== "Different")) return false;
    if (claim.addresses.length > 0) return this.hasAddressOf(claim, hostIndex);
    if (claim.chassisMac !== null && (this.withMac(claim.chassisMac)?.length ?? 0) > 0) return false;
    return keysOf(claim).every((key) => !isNameKey(key) || this.isOnly(this.withText(key), hostIndex));
  }

  private isOnly(hostIndexes: readonly number[] | undefined, hostIndex: number): boolean {
    return hostIndexes === undefined || hostIndexes.every((each) => each === hostIndex);
  }

  private hasAddressOf(claim: IdentityClaim, hostIndex: number): boolean {
    return claim.addresses.some((address) => this.withText(`a ${address}`)?.includes(hostIndex) === true);
  }

  private has(mac: string, hostIndex: number): boolean {
    return this.withMac(mac)?.includes(hostIndex) === true;
  }
}

/** Signs of all hosts of a network, for its claims. */
export class ClaimedHosts extends HostSigns {
  private readonly known: readonly KnownSigns[];
  /** Stores only signs used by some claim, with the hosts that have them. */
  private readonly byMac = new Map<string, number[]>();
  private readonly byText = new Map<string, number[]>();

  constructor(
    hosts: readonly TopologyHost[],
    ports: readonly TopologyPort[],
    hostIndexById: ReadonlyMap<string, number>,
    claims: readonly IdentityClaim[],
  ) {
    super();
    for (const claim of claims) {
      for (const mac of macsOf(claim)) this.byMac.set(mac, []);
      for (const key of keysOf(claim)) this.byText.set(key, []);
    }
    const byAddressMac = new Map([...this.byMac.keys()].map((mac) => [mac, [] as number[]]));
    this.known = hosts.map((host, hostIndex) => {
      const known = knownSignsOf(host);
      this.addMac(known.chassisMac, hostIndex);
      this.addMac(known.bridgeMac, hostIndex);
      for (const { mac_address } of host.addresses) {
        const hostIndexes = byAddressMac.get(usableMac(mac_address) ?? "");
        if (hostIndexes !== undefined && hostIndexes.at(-1) !== hostIndex) hostIndexes.push(hostIndex);
      }
      for (const key of keysOfHost(host, known)) addTo(this.byText, key, hostIndex);
      return known;
    });
    // Proxy ARP: the MAC address responds for other hosts.
    for (const [mac, hostIndexes] of byAddressMac) {
      if (hostIndexes.length <= ADDRESSES_PER_MAC_MAX) for (const hostIndex of hostIndexes) this.addMac(mac, hostIndex);
    }
    for (const { mac_address: mac, host_id: hostId } of ports) {
      if (mac === null || !this.byMac.has(mac)) continue;
      const hostIndex = hostIndexById.get(hostId);
      if (hostIndex !== undefined) this.addMac(mac, hostIndex);
    }
  }

  protected knownAt(hostIndex: number): KnownSigns {
    return this.known[hostIndex] as KnownSigns;
  }

  protected withMac(mac: string): readonly number[] | undefined {
    return this.byMac.get(mac);
  }

  protected withText(key: string): readonly number[] | undefined {
    return this.byText.get(key);
  }

  private addMac(mac: string | null, hostIndex: number): void {
    if (mac !== null) addTo(this.byMac, mac, hostIndex);
  }
}

function chassisScore(claim: IdentityClaim, known: KnownSigns, has: (mac: string) => boolean): number {
  if (claim.chassisMac !== null) {
    if (has(claim.chassisMac)) return CLAIM_WEIGHTS.chassisMac;
    return known.chassisMac === null ? 0 : -CLAIM_WEIGHTS.chassisMac;
  }
  if (claim.chassisText === null || known.chassisText === null) return 0;
  const { text, weight } = claim.chassisText;
  return text === known.chassisText ? weight : -weight;
}

function nameScore(claim: IdentityClaim, known: KnownSigns): number {
  if (claim.names.length === 0) return 0;
  if (known.sysName === null) {
    return claim.names.some((name) => known.otherNames.some((other) => compareNames(name, other) !== "Different"))
      ? CLAIM_WEIGHTS.otherName
      : 0;
  }
  const own = known.sysName;
  const relations = claim.names.map((name) => compareNames(name, own));
  if (relations.includes("Same")) return CLAIM_WEIGHTS.sysName;
  if (relations.includes("Short")) return CLAIM_WEIGHTS.otherName;
  return claim.isNamed ? -CLAIM_WEIGHTS.sysName : 0;
}

export function knownSignsOf(host: TopologyHost): KnownSigns {
  const chassisMac = host.chassis_id === null ? null : usableMac(host.chassis_id);
  const isText = host.chassis_id !== null && host.chassis_id.trim() !== "" && parseMac(host.chassis_id) === null;
  return {
    chassisMac,
    chassisText: isText ? foldText(host.chassis_id as string) : null,
    bridgeMac: usableMac(host.bridge_address),
    sysName: deviceName(host.sys_name),
    otherNames: [deviceName(host.name), deviceName(host.hostname)].filter((name) => name !== null),
    serial: serialKey(host.serial_number),
  };
}

/**
 * Returns the lookup keys of a claim. A name without a domain matches any domain; a name with a domain also matches
 * without.
 */
export function keysOf(claim: IdentityClaim): string[] {
  const keys = claim.addresses.map((address) => `a ${address}`);
  for (const serial of claim.serials) keys.push(`r ${serial}`);
  if (claim.chassisText !== null) keys.push(`c ${claim.chassisText.text}`);
  for (const name of claim.names) {
    keys.push(`n ${name}`);
    const label = firstLabel(name);
    keys.push(label === name ? `d ${name}` : `n ${label}`);
  }
  return keys;
}

export function keysOfHost(host: TopologyHost, { chassisText, sysName, otherNames, serial }: KnownSigns): string[] {
  const keys: string[] = [];
  for (const { ip_address } of host.addresses) {
    const address = usableAddress(ip_address);
    if (address !== null) keys.push(`a ${address}`);
  }
  if (serial !== null) keys.push(`r ${serial}`);
  if (chassisText !== null) keys.push(`c ${chassisText}`);
  for (const name of sysName === null ? otherNames : [sysName, ...otherNames]) {
    keys.push(`n ${name}`);
    const label = firstLabel(name);
    if (label !== name) keys.push(`d ${label}`);
  }
  return keys;
}

function isNameKey(key: string): boolean {
  return key.startsWith("n ") || key.startsWith("d ");
}

function addTo(index: Map<string, number[]>, key: string, hostIndex: number): void {
  const hostIndexes = index.get(key);
  if (hostIndexes !== undefined && !hostIndexes.includes(hostIndex)) hostIndexes.push(hostIndex);
}
