// Rules for IP ranges on write and on restore: each is within one subnet of its network, and exclusive ranges do not
// overlap.

import type { CommandActor } from "../../access/actor.ts";
import { getReferenced } from "../../access/reach.ts";
import { DomainError, invalid, referenceInvalid } from "../../base/errors.ts";
import { cidrContains, cidrOf, type Ip, isIpWithin, parseIp } from "../../base/ip.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { type SubnetRecord, subnetIdentity, subnetKind } from "../subnets/subnet.ts";
import { addressKey, type IpRangeRecord, ipRangeKind, isExclusive, type RangeEnds, rangeText } from "./ip-range.ts";

/** Ends and subnet of a range in a write. */
interface RangeInput extends RangeEnds {
  readonly subnet_id?: string | null | undefined;
}

/** Whether both ends, and thus the whole range, are within a CIDR prefix. */
export function isRangeWithin({ first, last }: RangeEnds, cidr: string): boolean {
  return isIpWithin(first, cidr) && isIpWithin(last, cidr);
}

/** Whether two ranges share an address. */
export function rangesOverlap(range: RangeEnds, other: RangeEnds): boolean {
  return addressKey(range.first) <= addressKey(other.last) && addressKey(other.first) <= addressKey(range.last);
}

/** @throws DomainError validation_failed for ends of different IP versions, and for a last address before the first */
export function assertEnds({ first, last }: RangeEnds): void {
  const [from, to] = [parseIp(first) as Ip, parseIp(last) as Ip];
  if (from.version !== to.version)
    throw invalid({ path: "/last", message: `must be an IPv${from.version} address, as first is`, value: last });
  if (addressKey(first) > addressKey(last))
    throw invalid({ path: "/last", message: `must not be before first, ${first}`, value: last });
}

/**
 * Subnet of a range: as requested, or the most specific one in the network that contains it.
 * @returns the subnet's id
 * @throws DomainError entity_reference_invalid for a subnet that does not exist or is in another network;
 * validation_failed if that subnet, or every subnet of the network, does not contain the range
 */
export function subnetOfRange(tx: WriteTransaction, networkId: string, range: RangeInput, actor: CommandActor): string {
  const { subnet_id: id } = range;
  if (id === undefined || id === null) {
    const found = mostSpecificSubnet(tx, networkId, range);
    if (found !== null) return found.id;
    throw invalid({
      path: "/first",
      message: `is in no subnet of the network that contains last, ${range.last}, as well; create the subnet first`,
      value: range.first,
    });
  }
  const subnet = getReferenced(tx, subnetKind, [id], "subnet_id", actor)[0] as SubnetRecord;
  if (subnet.network_id !== networkId) throw referenceInvalid(subnetKind, "subnet_id", [id]);
  if (isRangeWithin(range, subnet.cidr)) return id;
  throw invalid({
    path: "/subnet_id",
    message: `is the subnet ${subnet.cidr}, which does not contain ${rangeText(range)}; omit it to use the most specific subnet that does`,
    value: id,
  });
}

/** One index seek for each prefix that contains both ends. */
function mostSpecificSubnet(tx: WriteTransaction, networkId: string, { first, last }: RangeEnds): SubnetRecord | null {
  const [from, to] = [parseIp(first) as Ip, parseIp(last) as Ip];
  for (let length = from.bytes.length * 8; length >= 0; length -= 1) {
    const cidr = cidrOf(from, length);
    if (!cidrContains(cidr, to)) continue;
    const subnet = tx.findByIdentity(subnetKind, subnetIdentity({ network_id: networkId, cidr: cidr.text }));
    if (subnet !== null) return subnet;
  }
  return null;
}

/**
 * Call before the range is written.
 * @param id the range's own; null for a new one
 * @throws DomainError entity_already_exists naming an exclusive range of the network that shares an address
 */
export function assertNoOverlap(
  tx: WriteTransaction,
  range: Pick<IpRangeRecord, "network_id" | "first" | "last" | "purpose">,
  id: string | null,
): void {
  if (!isExclusive(range)) return;
  const other = exclusiveRangesWithin(tx, range.network_id, range).find((each) => each.id !== id);
  if (other !== undefined) throw overlapError(range, other);
}

/**
 * Exclusive ranges written by this transaction that share an address with another exclusive range, written or stored.
 */
export function overlappingRanges(tx: WriteTransaction): Array<{ id: string; error: DomainError }> {
  const ranges = tx.changedOf(ipRangeKind);
  const written = new Set(ranges.map(({ id }) => id));
  const found = ranges.filter(isExclusive).flatMap((range) => {
    const other = exclusiveRangesWithin(tx, range.network_id, range).find(({ id }) => !written.has(id));
    return other === undefined ? [] : [{ id: range.id, error: overlapError(range, other) }];
  });
  for (const inNetwork of Map.groupBy(ranges.filter(isExclusive), ({ network_id }) => network_id).values()) {
    let furthest: IpRangeRecord | null = null;
    for (const range of inNetwork.sort((a, b) => (addressKey(a.first) < addressKey(b.first) ? -1 : 1))) {
      if (furthest !== null && rangesOverlap(furthest, range))
        found.push({ id: range.id, error: overlapError(range, furthest) });
      if (furthest === null || addressKey(range.last) > addressKey(furthest.last)) furthest = range;
    }
  }
  return found;
}

function overlapError(
  range: Pick<IpRangeRecord, "first" | "last" | "purpose">,
  other: Pick<IpRangeRecord, "id" | "first" | "last" | "purpose">,
): DomainError {
  return new DomainError(
    "entity_already_exists",
    `The ${range.purpose} range ${rangeText(range)} overlaps the ${other.purpose} range ${rangeText(other)}; no two Dhcp or Reserved ranges share an address.`,
    { entity: ipRangeKind.name, field: "first", value: range.first, overlapping_id: other.id },
  );
}

/**
 * Live exclusive ranges of a network with any of these addresses, as of before this transaction. They do not overlap,
 * so only the last one that begins before `first` can reach it.
 */
export function exclusiveRangesWithin(
  tx: WriteTransaction,
  networkId: string,
  { first, last }: RangeEnds,
): IpRangeRecord[] {
  const networkN = tx.recordN(networkId);
  if (networkN === null) return [];
  const rows = tx.db.$client.query(EXCLUSIVE_WITHIN).values(networkN, addressKey(first), addressKey(last));
  return (rows as Array<[number]>).flatMap(([n]) => tx.find(ipRangeKind, tx.recordId(n) ?? "") ?? []);
}

const EXCLUSIVE_WITHIN = `SELECT n FROM ip_ranges
  WHERE network_n = +?1 AND claims_first <= ?3 AND claims_last >= ?2 AND claims_first >= coalesce(
    (SELECT max(claims_first) FROM ip_ranges WHERE network_n = +?1 AND claims_first <= ?2), ?2)
  ORDER BY claims_first`;
