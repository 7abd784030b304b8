// Routes for subnet reports and allocations, below /api/v1/subnets.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, MEMBER, plainActor, VIEWER } from "../../access/actor.ts";
import { notFound } from "../../base/errors.ts";
import type { Surface } from "../../http/surface.ts";
import type { ActorCall, Backend } from "../../records/backend.ts";
import { FilterQuery } from "../../records/list-filter.ts";
import { requestFilter } from "../../records/list-responses.ts";
import { respondWithLongRead } from "../../records/long-read-responses.ts";
import { fixedMoment, notFoundAt, readingAt } from "../../records/read-instant.ts";
import { runWrite } from "../../records/write-responses.ts";
import { ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { ipRangeKind } from "../../resources/ip-ranges/ip-range.ts";
import {
  ALLOCATED_EXAMPLE,
  ALLOCATED_MAX,
  ALLOCATION_EXAMPLE,
  Allocated,
  Allocation,
  FREE_EXAMPLE,
  Free,
  FreeQuery,
} from "../../resources/subnets/allocation.ts";
import type { AllocationCommands, AllocationResult } from "../../resources/subnets/allocation-commands.ts";
import { SUBNET_EXAMPLE, type SubnetRecord, subnetKind } from "../../resources/subnets/subnet.ts";
import { jsonResponse, successBody } from "../../schemas/envelope.ts";
import { AtQuery, CidrText, IdParams, LIMIT_DEFAULT, PageQuery, Uuid } from "../../schemas/schemas.ts";
import { ROW_EACH_MAX } from "./address-layout.ts";
import { ADDRESSES_EXAMPLE, AddressRowBody } from "./address-row.ts";
import { type AddressesInput, subnetAddresses } from "./addresses.ts";
import { type FreeInput, freeSpace } from "./free.ts";
import type { SubnetInput } from "./subnet-at.ts";
import {
  BLOCKS_MAX,
  type BlocksInput,
  blockLength,
  partOf,
  SUBNET_BLOCKS_EXAMPLE,
  SubnetBlock,
  subnetBlocks,
} from "./subnet-blocks.ts";
import { SUBNET_TREE_EXAMPLE, type SubnetTreeInput, subnetTree, TreeSubnet } from "./subnet-tree.ts";

const group = "Subnets";
const parameters = { id: SUBNET_EXAMPLE.id };

const NEVER_ALLOCATED =
  "Never the network or broadcast address (in IPv6 never the Subnet-Router anycast address, the first one), an address of a host of the network, one that was seen in use and has not expired, or one in a range of any purpose or in a child subnet.";
const FREE = `The lowest free addresses of a subnet, now or at a timestamp. ${NEVER_ALLOCATED} With \`prefix_length\`, the lowest empty prefixes of that length: without a subnet, range, host address or address seen in use.`;
const ALLOCATE = `Allocates the lowest free addresses of a subnet: with \`host_id\` to that host, else as reservations, which are Reserved ranges of one address. With \`prefix_length\` it creates subnets from the lowest free prefixes instead. ${NEVER_ALLOCATED}

Search and write are one transaction, so concurrent requests never get the same addresses. Up to ${ALLOCATED_MAX} with \`count\`: all, or none with \`entity_in_use\` if fewer are free. A field that does not apply to the request is rejected.`;

const ADDRESSES = `A subnet from its first to its last address, now or at a timestamp. In subnets of up to ${ROW_EACH_MAX} addresses each has a row; in larger ones, consecutive addresses with the same state share one, and each address in use has its own; the same applies to the part given by \`within\`. A child subnet is one row: list that subnet for its addresses.`;

const BLOCKS =
  "A subnet, or a prefix within it, as blocks of equal size, in order, now or at a timestamp: the number of addresses in use, free, in ranges, or in child subnets for each block. For large subnets; `/subnets/{id}/addresses` lists every address, with `within` those of one block.";

const WithinQuery = {
  within: Type.Optional({
    ...CidrText,
    description: `Only this prefix within the subnet, such as 10.2.3.0/24. Rows are cut off at its ends.`,
  }),
};

/** /api/v1/subnets/tree, and /api/v1/subnets/{id}/addresses, /blocks, /free and /allocate. */
export function ipamRoutes(surface: Surface<Actor, Access>, backend: Backend<AllocationCommands>): void {
  surface
    .get(
      "/api/v1/subnets/tree",
      {
        operationId: "getSubnetTree",
        summary: "Get the subnet tree of a network",
        description:
          "All subnets of a network, now or at a timestamp, in address order, with each subnet directly before its children. The parent is the smallest enclosing subnet. `utilization` is that of the subnet itself, as in the list of subnets; `total` covers the subnet and all subnets within it, counting each address once.",
        group,
        access: VIEWER,
        query: Type.Object({
          network_id: { ...Uuid, description: "Empty if the caller cannot access it." },
          ...AtQuery,
        }),
        responseSchema: Type.Array(TreeSubnet),
        example: { parameters: { network_id: SUBNET_EXAMPLE.network_id }, data: SUBNET_TREE_EXAMPLE },
      },
      (call) =>
        readingAt(backend, call, (moment) => {
          const input: SubnetTreeInput = {
            actor: plainActor(call.actor),
            networkId: call.query.network_id,
            moment: fixedMoment(backend.reader, moment),
          };
          return respondWithLongRead(backend, call, subnetTree, input);
        }),
    )
    .get(
      "/api/v1/subnets/:id/addresses",
      {
        operationId: "listAddressesOfSubnet",
        summary: "List the addresses of a subnet, with their states",
        description: ADDRESSES,
        group,
        access: VIEWER,
        params: IdParams,
        query: Type.Object({ ...WithinQuery, ...FilterQuery, ...PageQuery }),
        responseSchema: Type.Array(AddressRowBody),
        isList: true,
        example: { parameters, data: ADDRESSES_EXAMPLE },
      },
      (call) =>
        withSubnet(backend, call, (subnetInput) => {
          const { limit = LIMIT_DEFAULT, offset = 0, within } = call.query;
          const part = partOf(subnetInput.subnet.cidr, within);
          const filter = requestFilter(call, backend.reader, subnetInput.moment);
          const input: AddressesInput = { ...subnetInput, part, filter, limit, offset };
          return respondWithLongRead(backend, call, subnetAddresses, input);
        }),
    )
    .get(
      "/api/v1/subnets/:id/blocks",
      {
        operationId: "listBlocksOfSubnet",
        summary: "List the blocks of a subnet, with their utilization",
        description: BLOCKS,
        group,
        access: VIEWER,
        params: IdParams,
        query: Type.Object({
          ...WithinQuery,
          prefix_length: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: 128,
              description: `Prefix length of the blocks, such as 24; at most ${BLOCKS_MAX} blocks. Default: 256 blocks, or as many as there are addresses.`,
            }),
          ),
          ...AtQuery,
        }),
        responseSchema: Type.Array(SubnetBlock),
        example: { parameters, data: SUBNET_BLOCKS_EXAMPLE },
      },
      (call) =>
        withSubnet(backend, call, (subnetInput) => {
          const part = partOf(subnetInput.subnet.cidr, call.query.within);
          const prefixLength = blockLength(part, call.query.prefix_length);
          const input: BlocksInput = { ...subnetInput, part, prefixLength };
          return respondWithLongRead(backend, call, subnetBlocks, input);
        }),
    )
    .get(
      "/api/v1/subnets/:id/free",
      {
        operationId: "getFreeSpace",
        summary: "Get the free addresses of a subnet",
        description: FREE,
        group,
        access: VIEWER,
        params: IdParams,
        query: Type.Object({ ...FreeQuery, ...AtQuery }),
        responseSchema: Free,
        example: { parameters, data: FREE_EXAMPLE },
      },
      (call) =>
        withSubnet(backend, call, (subnetInput) => {
          const { count = 1, prefix_length } = call.query;
          const input: FreeInput = { ...subnetInput, count, prefixLength: prefix_length ?? null };
          return respondWithLongRead(backend, call, freeSpace, input);
        }),
    )
    .post(
      "/api/v1/subnets/:id/allocate",
      {
        operationId: "allocateFromSubnet",
        summary: "Allocate addresses or prefixes of a subnet",
        description: ALLOCATE,
        group,
        access: MEMBER,
        params: IdParams,
        body: Allocation,
        responseSchema: Allocated,
        errors: ["entity_reference_invalid", "entity_in_use"],
        example: { parameters, body: ALLOCATION_EXAMPLE, data: ALLOCATED_EXAMPLE },
      },
      async (call) => {
        const input = { id: call.params.id, body: call.body };
        const { seenSequence, result } = await runWrite(backend, call, "subnet.allocate", input);
        return jsonResponse(call, allocationBody(backend, call, result, seenSequence));
      },
    );
}

const KINDS_ALLOCATED = { ip_address: ipAddressKind, ip_range: ipRangeKind, subnet: subnetKind } as const;

/** Records created by an allocation, as of its transaction, even for a retried request. */
function allocationBody(
  { reader }: Backend,
  { actor }: ActorCall,
  { kind, ids, allocated: allocatedTexts }: AllocationResult,
  seenSequence: number | null,
): string {
  const createdKind = KINDS_ALLOCATED[kind];
  const asOf = seenSequence === null ? null : { ...reader.atSequence(seenSequence), present: true };
  const records = reader.snapshot(() =>
    ids.map((id) => {
      const found = reader.find(createdKind, id, actor, asOf);
      if (found === null) throw notFound(createdKind, id);
      return found.text;
    }),
  );
  const lists = Object.values(KINDS_ALLOCATED).map(
    (each) => `"${each.plural}":[${each === createdKind ? records.join(",") : ""}]`,
  );
  return successBody(`{"allocated":${JSON.stringify(allocatedTexts)},${lists.join(",")}}`);
}

/** Resolves the subnet in the path as of `at` and runs the read. @throws DomainError entity_not_found */
function withSubnet(
  backend: Backend,
  call: ActorCall & { readonly params: { id: string }; readonly query: { readonly at?: string } },
  read: (subnetInput: SubnetInput) => Response | Promise<Response>,
): Response | Promise<Response> {
  const { reader } = backend;
  return readingAt(backend, call, (moment) => {
    const found = reader.find(subnetKind, call.params.id, call.actor, moment.asOf);
    if (found === null) throw notFoundAt(subnetKind, call.params.id, moment);
    const { id, network_id, cidr } = JSON.parse(found.text) as SubnetRecord;
    const subnet = { id, network_id, cidr };
    return read({ actor: plainActor(call.actor), subnet, moment: fixedMoment(reader, moment) });
  });
}
