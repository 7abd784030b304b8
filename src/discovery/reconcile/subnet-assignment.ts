// Assignment of addresses to subnets, independent of the order of devices: the subnet of the prefix that the device
// reports, created if missing, else the most specific subnet.

import { type Cidr, cidrContains, cidrOf, type Ip, parseCidr, parseIp } from "../../base/ip.ts";
import type { IgnoredRecord } from "../../resources/ignored/ignored.ts";
import { type IpAddressRecord, ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { referrersOf } from "../../resources/references.ts";
import { DISCOVERED, INFERRED, type SourceRecord } from "../../resources/source.ts";
import { type SubnetRecord, subnetIdentity, subnetKind } from "../../resources/subnets/subnet.ts";
import type { SubnetType } from "../../resources/subnets/subnet-type.ts";
import { completeReadsOf } from "./complete-reads.ts";
import { hasInterfaces, hasReported } from "./device-hosts.ts";
import { discoveredSubnet } from "./new-records.ts";
import { isUserEdited } from "./protected-records.ts";
import { isSetByUser } from "./provenance.ts";
import { commonBlockOf, LINK_LOCALS, LOOPBACKS, reportedPrefix, SHORTEST_PREFIX } from "./reported-prefix.ts";
import type { ScanWrite } from "./scan-write.ts";

export class SubnetAssigner {
  private readonly write: ScanWrite;
  /** Keyed by CIDR; read on first use. */
  private readonly ids = new Map<string, string>();
  private readonly lengths = { 4: new Set<number>(), 6: new Set<number>() };
  /** Ids of subnets that no device reports: single-address subnets, created for lack of a prefix, and target blocks. */
  private readonly inferred = new Map<string, Cidr>();
  /** Ids of subnets whose addresses may belong to another subnet since this command. */
  private readonly unsettled = new Set<string>();
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
    const prefix = reportedPrefix(ip, prefixLength);
    const implied = prefix === null ? null : this.idOf(prefix);
    if (implied !== null) return implied;
    const known = this.containing(ip);
    if (known !== null) return known;
    // A target block counts as one subnet until a device reports its prefixes.
    const reported = this.reportedBlock(ip);
    const block = reported === null ? null : this.idOf(reported, INFERRED);
    if (block !== null) return block;
    // Do not recreate a deleted subnet in pieces.
    return this.deletionOf(ip) === null ? this.idOf(commonBlockOf(ip) ?? cidrOf(ip, ip.bytes.length * 8)) : null;
  }

  /**
   * Subnet of an address with a current subnet and a prefix reported by its device.
   * @returns the current subnet if the prefix is unusable, or a user chose the subnet or deleted the other one
   */
  placeAgain(address: IpAddressRecord, prefixLength: number | null): string {
    const { tx } = this.write;
    const { subnet_id: current } = address;
    const ip = parseIp(address.ip_address);
    const prefix = ip === null ? null : reportedPrefix(ip, prefixLength);
    if (prefix === null) return current;
    const subnet = tx.find(subnetKind, current);
    if (subnet?.cidr === prefix.text && subnet.source.type !== INFERRED.type) return current;
    if (isSetByUser(tx, address.id, "subnet_id")) return current;
    this.read();
    const implied = this.idOf(prefix);
    if (implied !== null && implied !== current) this.unsettled.add(current);
    return implied ?? current;
  }

  /**
   * Moves addresses without a prefix to their most specific subnet, and ends subnets that exist only because of the
   * order of devices, unless users edited them. Call once, at the end of a command.
   */
  settle(): void {
    const { tx } = this.write;
    const affected = [...this.unsettled].flatMap((id) => tx.find(subnetKind, id) ?? []);
    this.unsettled.clear();
    const replaced = new Set(affected.filter((subnet) => this.isReplaced(subnet)));
    for (const { cidr } of replaced) this.ids.delete(cidr);
    for (const subnet of affected) {
      for (const address of tx.children(ipAddressKind, "subnet_n", subnet.id)) {
        const target = this.containing(parseIp(address.ip_address) as Ip);
        if (target !== null && target !== subnet.id && (replaced.has(subnet) || this.isWithoutPrefix(address)))
          tx.update(ipAddressKind, address.id, { subnet_id: target });
      }
      if (!this.inferred.has(subnet.id) || referrersOf(tx, subnetKind, subnet.id).length > 0) continue;
      if (isUserEdited(tx, subnetKind, subnet)) continue;
      const container = this.containerOf(parseCidr(subnet.cidr) as Cidr);
      const reason =
        container === null
          ? "devices report the subnets of its addresses"
          : `a device reports ${container.text}, which contains it`;
      this.write.close(subnetKind, subnet, subnet.cidr, reason);
      this.inferred.delete(subnet.id);
      this.ids.delete(subnet.cidr);
    }
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
    for (const subnet of this.write.tx.children(subnetKind, "network_n", this.write.networkId)) this.add(subnet);
  }

  private add({ id, cidr: text, source }: SubnetRecord): void {
    const cidr = parseCidr(text);
    if (cidr === null) return;
    this.ids.set(cidr.text, id);
    this.lengths[cidr.version].add(cidr.prefixLength);
    if (isSingle(cidr) || source.type === INFERRED.type) this.inferred.set(id, cidr);
  }

  /** Registers the subnets whose addresses a new or newly reported subnet may take over. */
  private unsettle(cidr: Cidr): void {
    const container = this.containerOf(cidr);
    if (container !== null) this.unsettled.add(this.ids.get(container.text) as string);
    for (const [each, inner] of this.inferred)
      if (inner.prefixLength > cidr.prefixLength && cidrContains(cidr, inner)) this.unsettled.add(each);
  }

  /** True for a subnet that would not exist if the one that contains it had been reported first. */
  private isReplaced(subnet: SubnetRecord): boolean {
    const cidr = this.inferred.get(subnet.id);
    const container = cidr === undefined ? null : this.containerOf(cidr);
    if (cidr === undefined || container === null) return false;
    const isReported = isSingle(cidr) || !this.inferred.has(this.ids.get(container.text) as string);
    return isReported && !isUserEdited(this.write.tx, subnetKind, subnet);
  }

  /** True if, as far as known, the address's device reports no prefix for it, and no user chose its subnet. */
  private isWithoutPrefix({ id, host_id, ip_address }: IpAddressRecord): boolean {
    const { tx } = this.write;
    const { prefixed } = completeReadsOf(tx, host_id);
    const isPrefixed =
      prefixed === null ? hasInterfaces(tx, host_id) || hasReported(tx, host_id) : prefixed.includes(ip_address);
    return !isPrefixed && !isSetByUser(tx, id, "subnet_id");
  }

  /** The most specific other subnet that contains a subnet. */
  private containerOf(cidr: Cidr): Cidr | null {
    const lengths = [...this.lengths[cidr.version]].filter((length) => length < cidr.prefixLength);
    for (const length of lengths.sort((a, b) => b - a)) {
      const wider = cidrOf(cidr, length);
      if (this.ids.has(wider.text)) return wider;
    }
    return null;
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
    if (known !== undefined) {
      if (source.type !== INFERRED.type && this.inferred.has(known) && !isSingle(cidr)) {
        this.write.tx.update(subnetKind, known, { source });
        this.inferred.delete(known);
        this.unsettle(cidr);
      }
      return known;
    }
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
    this.add(created);
    this.unsettle(cidr);
    return created.id;
  }
}

/** RFC 1918, RFC 6598, RFC 4193. */
const PRIVATE = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"].flatMap(
  (text) => parseCidr(text) ?? [],
);

function isSingle({ bytes, prefixLength }: Cidr): boolean {
  return prefixLength === bytes.length * 8;
}

/** Derives the type from the address. Internet subnets are never swept. */
function typeOf(cidr: Cidr): SubnetType {
  const first = parseIp(cidr.text.slice(0, cidr.text.indexOf("/")));
  const isIn = (blocks: readonly Cidr[]) => first !== null && blocks.some((block) => cidrContains(block, first));
  if (isIn(LOOPBACKS)) return "Loopback";
  return isIn(PRIVATE) || isIn(LINK_LOCALS) ? "Unknown" : "Internet";
}
