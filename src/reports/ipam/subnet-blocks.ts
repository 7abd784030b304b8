// Implementation of GET /api/v1/subnets/{id}/blocks: a large subnet in blocks of equal size, with address counts by
// state.

import { type Static, type TOptional, Type } from "@sinclair/typebox";
import { addressAt, blockContains, cidrBlock } from "../../base/address-block.ts";
import { invalid } from "../../base/errors.ts";
import { longRead } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { metaAt, successBody } from "../../schemas/envelope.ts";
import { CidrText, Name, Nullable, Uuid } from "../../schemas/schemas.ts";
import { ADDRESS_STATES, type AddressState } from "./address-layout.ts";
import { addressRowsOf } from "./addresses.ts";
import type { SubnetInput, SubnetOfNetwork } from "./subnet-at.ts";

/** More than enough for a map: a /16 in /28 blocks. */
export const BLOCKS_MAX = 4_096;

/** Default number of additional prefix bits: 256 blocks. */
const BITS_DEFAULT = 8;

const Count = Type.Union([Type.Integer({ minimum: 1 }), Type.String({ pattern: "^[0-9]+$" })]);

export const SubnetBlock = Type.Object(
  {
    cidr: CidrText,
    counts: Type.Object(
      Object.fromEntries(ADDRESS_STATES.map((state) => [state, Type.Optional(Count)])) as Record<
        AddressState,
        TOptional<typeof Count>
      >,
      {
        description:
          "Number of addresses by `state`, as in `/subnets/{id}/addresses`; zero counts are omitted. In IPv6 decimal strings.",
      },
    ),
    subnet: Nullable(Type.Object({ id: Uuid, cidr: CidrText, name: Name }), {
      description: "The child subnet that contains the whole block.",
    }),
  },
  { $id: "SubnetBlock" },
);

export const SUBNET_BLOCKS_EXAMPLE: Array<Static<typeof SubnetBlock>> = [
  { cidr: "10.2.3.0/28", counts: { Used: 6, Network: 1, Free: 9 }, subnet: null },
  { cidr: "10.2.3.16/28", counts: { Dhcp: 16 }, subnet: null },
];

export interface BlocksInput extends SubnetInput {
  readonly part: string;
  readonly prefixLength: number;
}

/** The requested prefix within a subnet. @throws DomainError validation_failed */
export function partOf(cidr: string, within: string | undefined): string {
  if (within === undefined) return cidr;
  const [subnetBlock, part] = [cidrBlock(cidr), cidrBlock(within)];
  if (subnetBlock.version !== part.version || !blockContains(subnetBlock, part))
    throw invalid({ path: "/within", message: `must be within ${cidr}`, value: within });
  return within;
}

/** Prefix length of the blocks. @throws DomainError validation_failed */
export function blockLength(part: string, requested: number | undefined): number {
  const bits = part.includes(":") ? 128 : 32;
  const length = Number(part.slice(part.indexOf("/") + 1));
  const maximum = Math.min(bits, length + Math.log2(BLOCKS_MAX));
  if (requested === undefined) return Math.min(bits, length + BITS_DEFAULT);
  if (requested >= length && requested <= maximum) return requested;
  throw invalid({
    path: "/prefix_length",
    message: `must be from ${length} to ${maximum} for the blocks of ${part}`,
    value: requested,
  });
}

interface Tally {
  readonly counts: Map<AddressState, bigint>;
  subnet: SubnetOfNetwork | null;
}

/** Yields the response as an envelope. */
export const subnetBlocks = longRead(
  "subnet blocks",
  function* (reader: Reader, input: BlocksInput) {
    const { part, prefixLength, moment } = input;
    const { version, first: start, last } = cidrBlock(part);
    const size = 1n << BigInt((version === 4 ? 32 : 128) - prefixLength);
    const tallies = Array.from(
      { length: Number((last - start + 1n) / size) },
      (): Tally => ({
        counts: new Map(),
        subnet: null,
      }),
    );
    reader.snapshot(() => {
      for (const row of addressRowsOf(reader, input)) {
        for (let from = row.first; from <= row.last; ) {
          const index = (from - start) / size;
          const end = start + (index + 1n) * size - 1n;
          const to = row.last < end ? row.last : end;
          const tally = tallies[Number(index)] as Tally;
          tally.counts.set(row.state, (tally.counts.get(row.state) ?? 0n) + to - from + 1n);
          if (to - from + 1n === size) tally.subnet = row.within;
          from = to + 1n;
        }
      }
    });
    const blocks = tallies.map(({ counts, subnet }, index) => ({
      cidr: `${addressAt(start + BigInt(index) * size, version)}/${prefixLength}`,
      counts: Object.fromEntries(
        ADDRESS_STATES.flatMap((state) => {
          const count = counts.get(state);
          return count === undefined ? [] : [[state, version === 6 ? String(count) : Number(count)]];
        }),
      ),
      subnet,
    }));
    yield new TextEncoder().encode(successBody(JSON.stringify(blocks), metaAt(moment)));
  },
  { isInLargeSteps: true },
);
