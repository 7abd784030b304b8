// Gives addresses their subnets: the one that the device's prefix implies, made where it is not there, else the most specific one that
// contains the address.

import { cidrContains, cidrOf, parseCidr, parseIp, type Cidr, type Ip } from "../../base/ip.ts";
import type { IgnoredRecord } from "../../resources/ignored/ignored.ts";
import { DISCOVERED, INFERRED, type SourceRecord } from "../../resources/source.ts";
import type { SubnetType } from "../../resources/subnets/subnet-type.ts";
import { subnetKind } from "../../resources/subnets/subnet.ts";
import type { ScanWrite } from "./scan-write.ts";

export class SubnetPlacer {
  private readonly write: ScanWrite;
  /** By CIDR; read when the first address asks. */
  private readonly ids = new Map<string, string>();
  private readonly lengths = { 4: new Set<number>(), 6: new Set<number>() };
  private isRead = false;
  private deletedBlocks: ReadonlyArray<{ readonly record: IgnoredRecord; readonly cidr: Cidr | null }> | null = null;

  /** Of the scan's targets, those that may be a subnet. */
  private readonly blocks: readonly Cidr[];
  private readonly areBlocksAccepting: boolean;

  /**
   * @param blocks CIDRs that the scan was told to look through
   * @param areBlocksAccepting whether an Admin named them: a subnet that is one of them accepts credentials
   */
  constructor(write: ScanWrite, blocks: readonly string[] = [], areBlocksAccepting = false) {
    this.write = write;
    this.areBlocksAccepting = areBlocksAccepting;
    const parsed = blocks.flatMap((text) => parseCidr(text) ?? []);
    this.blocks = parsed
      .filter(
        (block) => block.prefixLength >= SHORTEST_PREFIX[block.version] && block.prefixLength < block.bytes.length * 8,
      )
      .sort((a, b) => b.prefixLength - a.prefixLength);
  }

  /**
   * The id of the subnet of an address.
   * @param prefixLength as the device has it; null where nobody tells
   * @returns null where a person has deleted the only subnet that it could be in
   */
  place(address: string, prefixLength: number | null): string | null {
    this.read();
    const ip = parseIp(address);
    if (ip === null) return null;
    const bits = ip.bytes.length * 8;
    const isAlone = prefixLength === null || prefixLength >= bits || prefixLength < SHORTEST_PREFIX[ip.version];
    if (!isAlone) {
      const implied = this.idOf(cidrOf(ip, prefixLength));
      if (implied !== null) return implied;
    }
    const known = this.containing(ip);
    if (known !== null) return known;
    // Whoever told the scan to look through a block takes it for one subnet, until a device says how it is divided.
    const told = this.toldBlock(ip);
    const block = told === null ? null : this.idOf(told, INFERRED);
    if (block !== null) return block;
    // What a person has deleted does not come back in pieces.
    return this.deleted(ip) === null ? this.idOf(blockOfEverybody(ip) ?? cidrOf(ip, bits)) : null;
  }

  /** What says that a person has deleted the only subnet that an address could be in; null where there is a place for it. Makes none. */
  unwanted(address: string): IgnoredRecord | null {
    this.read();
    const ip = parseIp(address);
    if (ip === null || this.containing(ip) !== null) return null;
    const told = this.toldBlock(ip);
    return told === null || this.write.isIgnored(subnetKind, { network_id: this.write.networkId, cidr: told.text })
      ? this.deleted(ip)
      : null;
  }

  /** Whether one of the network's subnets that is not the Internet contains an address. */
  contains(address: string): boolean {
    this.read();
    const ip = parseIp(address);
    return ip !== null && this.containing(ip) !== null;
  }

  private read(): void {
    if (this.isRead) return;
    this.isRead = true;
    for (const subnet of this.write.tx.children(subnetKind, "network_n", this.write.networkId))
      this.keep(subnet.cidr, subnet.id);
  }

  private keep(text: string, id: string): void {
    const cidr = parseCidr(text);
    if (cidr === null) return;
    this.ids.set(cidr.text, id);
    this.lengths[cidr.version].add(cidr.prefixLength);
  }

  private containing(ip: Ip): string | null {
    for (const length of [...this.lengths[ip.version]].sort((a, b) => b - a)) {
      const id = this.ids.get(cidrOf(ip, length).text);
      if (id !== undefined) return id;
    }
    return null;
  }

  private toldBlock(ip: Ip): Cidr | null {
    return blockOfEverybody(ip) === null ? (this.blocks.find((block) => cidrContains(block, ip)) ?? null) : null;
  }

  private deleted(ip: Ip): IgnoredRecord | null {
    this.deletedBlocks ??= this.write.ignoredOf("subnet").map((record) => ({ record, cidr: parseCidr(record.label) }));
    return this.deletedBlocks.find(({ cidr }) => cidr !== null && cidrContains(cidr, ip))?.record ?? null;
  }

  /** The subnet with this prefix, made where it is not there; null where a person has deleted it. @param source of a new one */
  private idOf(cidr: Cidr, source: SourceRecord = DISCOVERED): string | null {
    const known = this.ids.get(cidr.text);
    if (known !== undefined) return known;
    const made = this.write.found(subnetKind, {
      network_id: this.write.networkId,
      cidr: cidr.text,
      name: cidr.text,
      description: null,
      subnet_type: typeOf(cidr),
      vlan_id: null,
      source,
      tags: [],
      // What was found on the wire is nobody's word that secrets may be sent there; what an Admin named as a target is.
      accepts_credentials: this.areBlocksAccepting && this.blocks.some((block) => block.text === cidr.text),
    });
    if (made === null) return null;
    this.keep(cidr.text, made.id);
    return made.id;
  }
}

/** A shorter prefix on an interface is a mistake or a default route: nothing that addresses are kept in. */
const SHORTEST_PREFIX = { 4: 8, 6: 16 };

const LOOPBACKS = ["127.0.0.0/8", "::1/128"].flatMap((text) => parseCidr(text) ?? []);
const LINK_LOCALS = ["169.254.0.0/16", "fe80::/64"].flatMap((text) => parseCidr(text) ?? []);
/** RFC 1918, RFC 6598, RFC 4193: what nobody routes on the Internet. */
const PRIVATE = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"].flatMap(
  (text) => parseCidr(text) ?? [],
);

/** Loopback and link-local addresses are of one block each, whatever mask a device gives them. */
function blockOfEverybody(ip: Ip): Cidr | null {
  return [...LOOPBACKS, ...LINK_LOCALS].find((block) => cidrContains(block, ip)) ?? null;
}

/** What a discovered subnet is for, as far as its address tells. What is the Internet's is never swept by itself. */
function typeOf(cidr: Cidr): SubnetType {
  const first = parseIp(cidr.text.slice(0, cidr.text.indexOf("/")));
  const isIn = (blocks: readonly Cidr[]) => first !== null && blocks.some((block) => cidrContains(block, first));
  if (isIn(LOOPBACKS)) return "Loopback";
  return isIn(PRIVATE) || isIn(LINK_LOCALS) ? "Unknown" : "Internet";
}
