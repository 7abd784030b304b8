// Subnet of an address report as of the requested timestamp, with the nested subnets and ranges of its network.

import type { Actor } from "../../access/actor.ts";
import { blockContains, prefixBlock } from "../../base/address-block.ts";
import { type Cidr, parseCidr } from "../../base/ip.ts";
import type { FixedMoment } from "../../db/reading/list-query.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { ipRangeKind } from "../../resources/ip-ranges/ip-range.ts";
import type { RangePurpose } from "../../resources/ip-ranges/range-purpose.ts";
import { type SubnetRecord, subnetKind } from "../../resources/subnets/subnet.ts";

/** Plain data, passed to another thread. */
export interface SubnetInput {
  readonly actor: Actor;
  readonly subnet: Pick<SubnetRecord, "id" | "network_id" | "cidr">;
  readonly moment: FixedMoment;
}

export interface SubnetOfNetwork {
  readonly id: string;
  readonly cidr: string;
  readonly name: string;
}

export interface RangeThen {
  readonly id: string;
  readonly first: string;
  readonly last: string;
  readonly purpose: RangePurpose;
  readonly description: string | null;
}

/** Surroundings of the subnet in its network at that timestamp. */
export interface SubnetThen {
  /** Nested subnets. */
  readonly within: readonly SubnetOfNetwork[];
  /** The subnet and its enclosing ones, whose addresses may be within it. */
  readonly aroundIds: readonly string[];
  /** All ranges of the network. */
  readonly ranges: readonly RangeThen[];
}

export function subnetThen(reader: Reader, { actor, subnet, moment: { asOf } }: SubnetInput): SubnetThen {
  const all = { reach: actor, asOf, within: { network: subnet.network_id }, limit: 0, offset: 0 };
  const read = (query: Parameters<Reader["ownFields"]>[0], fields: readonly string[]) =>
    reader.ownFields(query, fields).map((row) => JSON.parse(row) as string[]);
  const whole = parseCidr(subnet.cidr) as Cidr;
  const block = prefixBlock(whole);
  const within: SubnetOfNetwork[] = [];
  const aroundIds = [subnet.id];
  for (const [id = "", cidr = "", name = ""] of read({ ...all, kind: subnetKind }, ["id", "cidr", "name"])) {
    const parsed = parseCidr(cidr);
    if (id === subnet.id || parsed === null || parsed.version !== whole.version) continue;
    const other = prefixBlock(parsed);
    if (blockContains(block, other)) within.push({ id, cidr, name });
    else if (blockContains(other, block)) aroundIds.push(id);
  }
  const fields = ["id", "first", "last", "purpose", "description"];
  const ranges = read({ ...all, kind: ipRangeKind }, fields).map(
    ([id = "", first = "", last = "", purpose, description]) => ({
      id,
      first,
      last,
      purpose: purpose as RangePurpose,
      description: description ?? null,
    }),
  );
  return { within, aroundIds, ranges };
}
