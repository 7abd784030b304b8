// Subnet of an address report as of the requested timestamp, with the nested subnets and ranges of its network.

import type { Actor } from "../../access/actor.ts";
import { blockContains, prefixBlock } from "../../base/address-block.ts";
import { type Cidr, parseCidr } from "../../base/ip.ts";
import type { FixedMoment } from "../../db/reading/list-query.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { ipRangeKind } from "../../resources/ip-ranges/ip-range.ts";
import type { RangePurpose } from "../../resources/ip-ranges/range-purpose.ts";
import { addressesSeen, sightingInstant } from "../../resources/sightings.ts";
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

export interface PastRange {
  readonly id: string;
  readonly first: string;
  readonly last: string;
  readonly purpose: RangePurpose;
  readonly description: string | null;
}

/** Enclosing and nested subnets, and ranges, at that timestamp. */
export interface SubnetContext {
  /** Nested subnets. */
  readonly within: readonly SubnetOfNetwork[];
  /** The subnet and those that enclose it, whose addresses may be within it. */
  readonly enclosingIds: readonly string[];
  /** All ranges of the network. */
  readonly ranges: readonly PastRange[];
}

/** Addresses of a prefix in the subnet's network that count as in use because they were seen. */
export function seenIn(reader: Reader, { subnet, moment }: SubnetInput, cidr: string): string[] {
  return addressesSeen(reader.db, reader.recordN(subnet.network_id) ?? 0, cidr, sightingInstant(moment));
}

export function subnetContext(reader: Reader, { actor, subnet, moment: { asOf } }: SubnetInput): SubnetContext {
  const all = { reach: actor, asOf, within: { network: subnet.network_id }, limit: 0, offset: 0 };
  const read = (query: Parameters<Reader["ownFields"]>[0], fields: readonly string[]) =>
    reader.ownFields(query, fields).map((row) => JSON.parse(row) as string[]);
  const prefix = parseCidr(subnet.cidr) as Cidr;
  const block = prefixBlock(prefix);
  const within: SubnetOfNetwork[] = [];
  const enclosingIds = [subnet.id];
  for (const [id = "", cidr = "", name = ""] of read({ ...all, kind: subnetKind }, ["id", "cidr", "name"])) {
    const parsed = parseCidr(cidr);
    if (id === subnet.id || parsed === null || parsed.version !== prefix.version) continue;
    const other = prefixBlock(parsed);
    if (blockContains(block, other)) within.push({ id, cidr, name });
    else if (blockContains(other, block)) enclosingIds.push(id);
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
  return { within, enclosingIds, ranges };
}
