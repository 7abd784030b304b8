// Constraints on IP ranges in a draft: each within its subnet, and exclusive ranges without overlap.

import { append } from "../../base/multimap.ts";
import {
  addressKey,
  type IpRangeRecord,
  ipRangeKind,
  isExclusive,
  rangeText,
} from "../../resources/ip-ranges/ip-range.ts";
import { exclusiveRangesWithin, isRangeWithin, rangesOverlap } from "../../resources/ip-ranges/rules.ts";
import { type SubnetRecord, subnetKind } from "../../resources/subnets/subnet.ts";
import { type DraftedRecord, isWritten, type RestoreDraft } from "./draft.ts";

/** Refuses ranges outside their subnets or overlapping others. @param written all records to be written */
export function checkRanges(draft: RestoreDraft, written: readonly DraftedRecord[]): void {
  const exclusiveByNetwork = new Map<string, DraftedRecord[]>();
  for (const drafted of written) {
    if (drafted.kind.code !== ipRangeKind.code || drafted.after === null) continue;
    const range = drafted.after as IpRangeRecord;
    checkWithinSubnet(draft, drafted, range);
    if (!isExclusive(range)) continue;
    append(exclusiveByNetwork, range.network_id, drafted);
    for (const live of exclusiveRangesWithin(draft.tx, range.network_id, range)) {
      const other = draft.get(live.id);
      if (other === null || !isWritten(other)) refuseOverlap(draft, drafted, live);
    }
  }
  for (const newRanges of exclusiveByNetwork.values()) checkOverlaps(draft, newRanges);
}

/** Number of a subnet's ranges outside a prefix. */
export function rangesLeftOutside(draft: RestoreDraft, subnetId: string, cidr: string): number {
  return draft.tx
    .children(ipRangeKind, "subnet_n", subnetId)
    .map(({ id }) => draft.find(ipRangeKind, id) as IpRangeRecord | null)
    .filter((range) => range !== null && range.subnet_id === subnetId && !isRangeWithin(range, cidr)).length;
}

function checkWithinSubnet(draft: RestoreDraft, drafted: DraftedRecord, range: IpRangeRecord): void {
  const subnet = draft.find(subnetKind, range.subnet_id) as SubnetRecord | null;
  if (subnet !== null && !isRangeWithin(range, subnet.cidr)) refuseOutside(draft, drafted, rangeText(range), subnet);
}

/** @param what the address or range outside its subnet */
export function refuseOutside(draft: RestoreDraft, drafted: DraftedRecord, what: string, { cidr }: SubnetRecord): void {
  const message = `the subnet of ${what} is now ${cidr}, which does not contain it`;
  draft.refuse(drafted, "reference_gone", message, "subnet_id");
}

/** Checks the new ranges of one network against each other. */
function checkOverlaps(draft: RestoreDraft, newRanges: readonly DraftedRecord[]): void {
  const rangeOf = ({ after }: DraftedRecord) => after as IpRangeRecord;
  const sorted = [...newRanges].sort((a, b) => (addressKey(rangeOf(a).first) < addressKey(rangeOf(b).first) ? -1 : 1));
  let furthest: IpRangeRecord | null = null;
  for (const drafted of sorted) {
    const range = rangeOf(drafted);
    if (furthest !== null && rangesOverlap(furthest, range)) refuseOverlap(draft, drafted, furthest);
    if (furthest === null || addressKey(range.last) > addressKey(furthest.last)) furthest = range;
  }
}

function refuseOverlap(draft: RestoreDraft, drafted: DraftedRecord, other: IpRangeRecord): void {
  const own = rangeText(drafted.after as IpRangeRecord);
  const message = `the ${other.purpose} range ${rangeText(other)} has addresses of ${own}`;
  draft.refuse(drafted, "identity_taken", message, "first");
}
