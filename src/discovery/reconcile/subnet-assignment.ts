// Assignment of addresses to subnets: the subnet of the prefix that the device reports, created if missing, else the
// most specific subnet.

import { type Cidr, cidrContains, cidrOf, type Ip, parseCidr, parseIp } from "../../base/ip.ts";
import type { IgnoredRecord } from "../../resources/ignored/ignored.ts";
import { ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { referrersOf } from "../../resources/references.ts";
import { DISCOVERED, INFERRED, type SourceRecord } from "../../resources/source.ts";
import { subnetIdentity, subnetKind } from "../../resources/subnets/subnet.ts";
import type { SubnetType } from "../../resources/subnets/subnet-type.ts";
import { discoveredSubnet } from "./new-records.ts";
import { isUserEdited } from "./protected-records.ts";
import type { ScanWrite } from "./scan-write.ts";

export class SubnetAssigner {
  private readonly write: ScanWrite;
  /** Keyed by CIDR; read on first use. */
  private readonly ids = new Map<string, string>();
  private readonly lengths = { 4: new Set<number>(), 6: new Set<number>() };
  /** Ids of single-address subnets, created for lack of a prefix. */
  private readonly singles = new Map<string, Cidr>();
  private isRead = false;
  private deletedBlocks: ReadonlyArray<{ readonly record: IgnoredRecord; readonly cidr: Cidr | null }> | null = null;

  /** Scan targets that may become a subnet. */
  private readonly blocks: readonly Cidr[];
  private readonly areBlocksAccepting: boolean;

  /**
   * @param blocks target CIDRs of the scan
   * @param areBlocksAccepting true if an Admin named them: subnets created from them accept credentials
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
   * @param prefixLength as reported by the device; null if unknown
   * @returns null if a user deleted the only possible subnet
   */
  place(address: string, prefixLength: number | null): string | null {
    this.read();
    const ip = parseIp(address);
    if (ip === null) return null;
    const bits = ip.bytes.length * 8;
    const hasNoPrefix = prefixLength === null || prefixLength >= bits || prefixLength < SHORTEST_PREFIX[ip.version];
    if (!hasNoPrefix) {
      const implied = this.idOf(cidrOf(ip, prefixLength));
      if (implied !== null) return implied;
    }
    const known = this.containing(ip);
    if (known !== null) return known;
    // A target block counts as one subnet until a device reports its prefixes.
    const reported = this.reportedBlock(ip);
    const block = reported === null ? null : this.idOf(reported, INFERRED);
    if (block !== null) return block;
    // Do not recreate a deleted subnet in pieces.
    return this.deletionOf(ip) === null ? this.idOf(commonBlockOf(ip) ?? cidrOf(ip, bits)) : null;
  }

  /** Returns the deletion that leaves an address without a subnet; null if a subnet fits. Creates none. */
  blockingDeletion(address: string): IgnoredRecord | null {
    this.read();
    const ip = parseIp(address);
    if (ip === null || this.containing(ip) !== null) return null;
    const reported = this.reportedBlock(ip);
    return reported === null ||
      this.write.isIgnored(subnetKind, subnetIdentity({ network_id: this.write.networkId, cidr: reported.text }))
      ? this.deletionOf(ip)
      : null;
  }

  /** True if a subnet of the network other than the Internet contains the address. */
  contains(address: string): boolean {
    this.read();
    const ip = parseIp(address);
    return ip !== null && this.containing(ip) !== null;
  }

  private read(): void {
    if (this.isRead) return;
    this.isRead = true;
    for (const subnet of this.write.tx.children(subnetKind, "network_n", this.write.networkId))
      this.add(subnet.cidr, subnet.id);
  }

  private add(text: string, id: string): void {
    const cidr = parseCidr(text);
    if (cidr === null) return;
    this.ids.set(cidr.text, id);
    this.lengths[cidr.version].add(cidr.prefixLength);
    if (cidr.prefixLength === cidr.bytes.length * 8) this.singles.set(id, cidr);
  }

  /**
   * Ends single-address subnets within a new one, so that the order of devices has no effect, unless users edited them.
   */
  private endSingles(within: Cidr, id: string): void {
    const { tx } = this.write;
    for (const [singleId, cidr] of this.singles) {
      if (singleId === id || !cidrContains(within, cidr)) continue;
      const single = tx.find(subnetKind, singleId);
      if (single === null || isUserEdited(tx, subnetKind, single)) continue;
      for (const address of tx.children(ipAddressKind, "subnet_n", singleId))
        tx.update(ipAddressKind, address.id, { subnet_id: id });
      if (referrersOf(tx, subnetKind, singleId).length > 0) continue;
      this.write.close(subnetKind, single, single.cidr, `a device reports ${within.text}, which contains it`);
      this.singles.delete(singleId);
      this.ids.delete(cidr.text);
    }
  }

  private containing(ip: Ip): string | null {
    for (const length of [...this.lengths[ip.version]].sort((a, b) => b - a)) {
      const id = this.ids.get(cidrOf(ip, length).text);
      if (id !== undefined) return id;
    }
    return null;
  }

  private reportedBlock(ip: Ip): Cidr | null {
    return commonBlockOf(ip) === null ? (this.blocks.find((block) => cidrContains(block, ip)) ?? null) : null;
  }

  private deletionOf(ip: Ip): IgnoredRecord | null {
    this.deletedBlocks ??= this.write.ignoredOf("subnet").map((record) => ({ record, cidr: parseCidr(record.label) }));
    return this.deletedBlocks.find(({ cidr }) => cidr !== null && cidrContains(cidr, ip))?.record ?? null;
  }

  /** Creates the subnet if missing; null if a user deleted it. @param source for a new subnet */
  private idOf(cidr: Cidr, source: SourceRecord = DISCOVERED): string | null {
    const known = this.ids.get(cidr.text);
    if (known !== undefined) return known;
    const created = this.write.create(
      subnetKind,
      discoveredSubnet(this.write.networkId, cidr.text, {
        subnet_type: typeOf(cidr),
        source,
        // Only targets named by an Admin accept secrets.
        accepts_credentials: this.areBlocksAccepting && this.blocks.some((block) => block.text === cidr.text),
      }),
    );
    if (created === null) return null;
    this.add(cidr.text, created.id);
    this.endSingles(cidr, created.id);
    return created.id;
  }
}

/** A shorter prefix is a mistake or a default route. */
const SHORTEST_PREFIX = { 4: 8, 6: 16 };

const LOOPBACKS = ["127.0.0.0/8", "::1/128"].flatMap((text) => parseCidr(text) ?? []);
const LINK_LOCALS = ["169.254.0.0/16", "fe80::/64"].flatMap((text) => parseCidr(text) ?? []);
/** RFC 1918, RFC 6598, RFC 4193. */
const PRIVATE = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"].flatMap(
  (text) => parseCidr(text) ?? [],
);

/** Loopback and link-local addresses belong to one block each, regardless of their mask. */
function commonBlockOf(ip: Ip): Cidr | null {
  return [...LOOPBACKS, ...LINK_LOCALS].find((block) => cidrContains(block, ip)) ?? null;
}

/** Derives the type from the address. Internet subnets are never swept. */
function typeOf(cidr: Cidr): SubnetType {
  const first = parseIp(cidr.text.slice(0, cidr.text.indexOf("/")));
  const isIn = (blocks: readonly Cidr[]) => first !== null && blocks.some((block) => cidrContains(block, first));
  if (isIn(LOOPBACKS)) return "Loopback";
  return isIn(PRIVATE) || isIn(LINK_LOCALS) ? "Unknown" : "Internet";
}
