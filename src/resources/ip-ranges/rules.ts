// The rules of ranges: each lies in one subnet of its network, and those that have their addresses for themselves share
// none. Writes and restores hold to the same.

import type { CommandActor } from "../../access/actor.ts";
import { getReferenced } from "../../access/reach.ts";
import { DomainError, invalid, referenceInvalid } from "../../base/errors.ts";
import { cidrContains, cidrOf, type Ip, isIpWithin, parseIp } from "../../base/ip.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { type SubnetRecord, subnetIdentity, subnetKind } from "../subnets/subnet.ts";
import { addressKey, claims, type IpRangeRecord, ipRangeKind, type RangeEnds, rangeText } from "./ip-range.ts";

/** What a write says of where a range is. */
interface Placed extends RangeEnds {
  readonly subnet_id?: string | null | undefined;
}

/** Whether both ends, and so all of it, lie in a prefix as it is written. */
export function isRangeWithin({ first, last }: RangeEnds, cidr: string): boolean {
  return isIpWithin(first, cidr) && isIpWithin(last, cidr);
}

/** Whether two ranges share an address. */
export function rangesOverlap(one: RangeEnds, other: RangeEnds): boolean {
  return addressKey(one.first) <= addressKey(other.last) && addressKey(other.first) <= addressKey(one.last);
}

/** @throws DomainError validation_failed for ends of two versions, and for a last address before the first */
export function assertEnds({ first, last }: RangeEnds): void {
  const [from, to] = [parseIp(first) as Ip, parseIp(last) as Ip];
  if (from.version !== to.version)
    throw invalid([{ path: "/last", message: `must be an IPv${from.version} address, as first is`, value: last }]);
  if (addressKey(first) > addressKey(last))
    throw invalid([{ path: "/last", message: `must not be before first, ${first}`, value: last }]);
}

/**
 * The subnet of a range: as told, or the most specific one of the network that contains it.
 * @returns the subnet's id
 * @throws DomainError entity_reference_invalid for a subnet that is not there or of another network;
 * validation_failed for one that does not contain the range, and for a range that none of the network contains
 */
export function subnetOfRange(tx: WriteTransaction, networkId: string, range: Placed, actor: CommandActor): string {
  const { subnet_id: id } = range;
  if (id === undefined || id === null) {
    const found = mostSpecificSubnet(tx, networkId, range);
    if (found !== null) return found.id;
    throw invalid([
      {
        path: "/first",
        message: `is in no subnet of the network that contains last, ${range.last}, as well; create the subnet first`,
        value: range.first,
      },
    ]);
  }
  const subnet = getReferenced(tx, subnetKind, [id], "subnet_id", actor)[0] as SubnetRecord;
  if (subnet.network_id !== networkId) throw referenceInvalid(subnetKind, "subnet_id", [id]);
  if (isRangeWithin(range, subnet.cidr)) return id;
  throw invalid([
    {
      path: "/subnet_id",
      message: `is the subnet ${subnet.cidr}, which does not contain ${rangeText(range)}; leave it out for the most specific subnet that does`,
      value: id,
    },
  ]);
}

/** One seek for each prefix that contains both ends. */
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
 * Called before the range is written.
 * @param id the range's own; null for a new one
 * @throws DomainError entity_already_exists naming the range of the network that has one of its addresses for itself
 */
export function assertClaimIsFree(
  tx: WriteTransaction,
  range: Pick<IpRangeRecord, "network_id" | "first" | "last" | "purpose">,
  id: string | null,
): void {
  if (!claims(range)) return;
  const other = claimsWithin(tx, range.network_id, range).find((each) => each.id !== id);
  if (other !== undefined) throw claimTaken(range, other);
}

/**
 * Of the ranges that this transaction has written: each that has addresses for itself that another one has as well, of
 * these or of those that were there before.
 */
export function clashingClaims(tx: WriteTransaction): Array<{ id: string; error: DomainError }> {
  const ranges = tx.changedOf(ipRangeKind);
  const written = new Set(ranges.map(({ id }) => id));
  const found = ranges.filter(claims).flatMap((range) => {
    const other = claimsWithin(tx, range.network_id, range).find(({ id }) => !written.has(id));
    return other === undefined ? [] : [{ id: range.id, error: claimTaken(range, other) }];
  });
  for (const own of Map.groupBy(ranges.filter(claims), ({ network_id }) => network_id).values()) {
    let furthest: IpRangeRecord | null = null;
    for (const range of own.sort((a, b) => (addressKey(a.first) < addressKey(b.first) ? -1 : 1))) {
      if (furthest !== null && rangesOverlap(furthest, range))
        found.push({ id: range.id, error: claimTaken(range, furthest) });
      if (furthest === null || addressKey(range.last) > addressKey(furthest.last)) furthest = range;
    }
  }
  return found;
}

function claimTaken(
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
 * The live ranges of a network that have any of these addresses for themselves, as they were before this transaction.
 * They share none, so of those that begin before `first` only the last one can reach it.
 */
export function claimsWithin(tx: WriteTransaction, networkId: string, { first, last }: RangeEnds): IpRangeRecord[] {
  const networkN = tx.recordN(networkId);
  if (networkN === null) return [];
  const rows = tx.db.$client.query(CLAIMS_WITHIN).values(networkN, addressKey(first), addressKey(last));
  return (rows as Array<[number]>).flatMap(([n]) => tx.find(ipRangeKind, tx.recordId(n) ?? "") ?? []);
}

const CLAIMS_WITHIN = `SELECT n FROM ip_ranges
  WHERE network_n = +?1 AND claims_first <= ?3 AND claims_last >= ?2 AND claims_first >= coalesce(
    (SELECT max(claims_first) FROM ip_ranges WHERE network_n = +?1 AND claims_first <= ?2), ?2)
  ORDER BY claims_first`;
