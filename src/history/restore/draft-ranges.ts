// Constraints on IP ranges in a draft: each within its subnet, and exclusive ranges without overlap.

import { addressKey, claims, type IpRangeRecord, ipRangeKind, rangeText } from "../../resources/ip-ranges/ip-range.ts";
import { claimsWithin, isRangeWithin, rangesOverlap } from "../../resources/ip-ranges/rules.ts";
import { type SubnetRecord, subnetKind } from "../../resources/subnets/subnet.ts";
import { type Drafted, isWritten, type RestoreDraft } from "./draft.ts";

/** Refuses ranges outside their subnets or overlapping others. @param written all records to be written */
export function checkRanges(draft: RestoreDraft, written: readonly Drafted[]): void {
  const claiming = new Map<string, Drafted[]>();
  for (const drafted of written) {
    if (drafted.kind.code !== ipRangeKind.code || drafted.after === null) continue;
    const range = drafted.after as IpRangeRecord;
    checkPlace(draft, drafted, range);
    if (!claims(range)) continue;
    const others = claiming.get(range.network_id);
    if (others === undefined) claiming.set(range.network_id, [drafted]);
    else others.push(drafted);
    for (const live of claimsWithin(draft.tx, range.network_id, range)) {
      const other = draft.get(live.id);
      if (other === null || !isWritten(other)) refuseOverlap(draft, drafted, live);
    }
  }
  for (const comers of claiming.values()) checkAmong(draft, comers);
}

/** Number of a subnet's ranges outside a prefix. */
export function rangesLeftOutside(draft: RestoreDraft, subnetId: string, cidr: string): number {
  return draft.tx
    .children(ipRangeKind, "subnet_n", subnetId)
    .map(({ id }) => draft.find(ipRangeKind, id) as IpRangeRecord | null)
    .filter((range) => range !== null && range.subnet_id === subnetId && !isRangeWithin(range, cidr)).length;
}

function checkPlace(draft: RestoreDraft, drafted: Drafted, range: IpRangeRecord): void {
  const subnet = draft.find(subnetKind, range.subnet_id) as SubnetRecord | null;
  if (subnet !== null && !isRangeWithin(range, subnet.cidr))
    draft.refuse(
      drafted,
      "reference_gone",
      `the subnet of ${rangeText(range)} is now ${subnet.cidr}, which does not contain it`,
      "subnet_id",
    );
}

/** Checks the new ranges of one network against each other. */
function checkAmong(draft: RestoreDraft, comers: readonly Drafted[]): void {
  const endsOf = ({ after }: Drafted) => after as IpRangeRecord;
  const inOrder = [...comers].sort((a, b) => (addressKey(endsOf(a).first) < addressKey(endsOf(b).first) ? -1 : 1));
  let furthest: IpRangeRecord | null = null;
  for (const drafted of inOrder) {
    const range = endsOf(drafted);
    if (furthest !== null && rangesOverlap(furthest, range)) refuseOverlap(draft, drafted, furthest);
    if (furthest === null || addressKey(range.last) > addressKey(furthest.last)) furthest = range;
  }
}

function refuseOverlap(draft: RestoreDraft, drafted: Drafted, other: IpRangeRecord): void {
  draft.refuse(
    drafted,
    "identity_taken",
    `the ${other.purpose} range ${rangeText(other)} has addresses of ${rangeText(drafted.after as IpRangeRecord)}`,
    "first",
  );
}
