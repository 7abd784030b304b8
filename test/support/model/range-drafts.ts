// Random IP-range changes (created, changed, moved between subnets, deleted), for histories where they also count as
// changes to their subnets.

import { ipRangeKind } from "../../../src/resources/ip-ranges/ip-range.ts";
import { RANGE_PURPOSES } from "../../../src/resources/ip-ranges/range-purpose.ts";
import { networkKind } from "../../../src/resources/networks/network.ts";
import { subnetKind } from "../../../src/resources/subnets/subnet.ts";
import type { SeededRandom } from "../injected/seeded-random.ts";
import { subnetFields } from "../store/store.ts";
import type { Draft } from "./draft.ts";

/** One or two changes to a range, in one transaction. */
export function changeRanges(draft: Draft, random: SeededRandom): void {
  const ranges = draft.all(ipRangeKind);
  const networkId = random.pick(draft.all(networkKind)).id;
  const subnetsOf = (id: string) => draft.all(subnetKind).filter(({ fields }) => fields.network_id === id);
  const otherCidr = `192.168.${random.integer(256)}.0/24`;
  const exists = subnetsOf(networkId).some(({ fields }) => fields.cidr === otherCidr);
  if (subnetsOf(networkId).length === 0 || (random.integer(8) === 0 && !exists))
    draft.create(subnetKind, subnetFields(networkId, otherCidr));
  const roll = random.integer(10);
  if (ranges.length < 3 || roll < 4) {
    const subnet = random.pick(subnetsOf(networkId));
    const first = `10.${random.integer(256)}.${random.integer(256)}.${random.integer(256)}`;
    if (ranges.some(({ fields }) => fields.network_id === networkId && fields.first === first)) return;
    draft.create(ipRangeKind, {
      network_id: networkId,
      subnet_id: subnet.id,
      first,
      last: first,
      purpose: random.pick(RANGE_PURPOSES),
      description: null,
      tags: [],
    });
    return;
  }
  const range = random.pick(ranges);
  if (roll < 6) draft.update(range, { description: `range ${random.integer(3)}` });
  if (roll >= 6 && roll < 9)
    draft.update(range, { subnet_id: random.pick(subnetsOf(range.fields.network_id as string)).id });
  if (roll === 9) draft.remove(range);
}
