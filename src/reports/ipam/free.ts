// Implementation of GET /api/v1/subnets/{id}/free: the same free space as for allocations, now or at a timestamp.

import { longRead } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { FreeSpace } from "../../resources/subnets/free-space.ts";
import { hostAddresses } from "../../resources/subnets/host-addresses.ts";
import { metaAt, successBody } from "../../schemas/envelope.ts";
import { type SubnetInput, seenIn, subnetContext } from "./subnet-at.ts";

export interface FreeInput extends SubnetInput {
  readonly count: number;
  readonly prefixLength: number | null;
}

/** Yields the response as an envelope. */
export const freeSpace = longRead(
  "free space",
  function* (reader: Reader, input: FreeInput) {
    const { subnet, moment, count, prefixLength } = input;
    const space = reader.snapshot(() => {
      const { within, enclosingIds: aroundIds, ranges } = subnetContext(reader, input);
      const addresses = [
        ...hostAddresses(reader, moment.asOf, aroundIds).flatMap(([, texts]) => texts?.split(",") ?? []),
        ...seenIn(reader, input, subnet.cidr),
      ];
      return new FreeSpace(subnet.cidr, { cidrs: within.map(({ cidr }) => cidr), ranges, addresses });
    });
    const free = prefixLength === null ? space.addresses() : space.prefixes(prefixLength);
    const body = {
      subnet_id: subnet.id,
      cidr: subnet.cidr,
      prefix_length: prefixLength,
      available: subnet.cidr.includes(":") ? String(free.available) : Number(free.available),
      next: free.next(count),
    };
    yield new TextEncoder().encode(successBody(JSON.stringify(body), metaAt(moment)));
  },
  { isInLargeSteps: true },
);
