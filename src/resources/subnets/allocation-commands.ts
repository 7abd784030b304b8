// Writer command for allocations from a subnet: addresses for a host, reserved addresses, or child subnets. Free space
// is determined inside the transaction, so no two allocations overlap.

import type { CommandActor } from "../../access/actor.ts";
import { getReachable, getReferenced } from "../../access/reach.ts";
import { addressAt, prefixBlock } from "../../base/address-block.ts";
import { entityWords } from "../../base/entity-words.ts";
import { DomainError, invalid, referenceInvalid } from "../../base/errors.ts";
import { pickFields } from "../../base/fields.ts";
import { type Cidr, cidrOf, cidrSortKey, type Ip, ipOfBytes, parseCidr } from "../../base/ip.ts";
import { wordList } from "../../base/word-list.ts";
import type { CallsOf } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { CHILDREN_MAX, INT32_MAX } from "../../schemas/schemas.ts";
import { newValues } from "../custom-fields/write-values.ts";
import { type HostRecord, hostKind } from "../hosts/host.ts";
import { nextPosition, siblingsBelowLimit } from "../hosts/new-child.ts";
import { addIpAddress } from "../ip-addresses/apply.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import { addressKey, ipRangeKind } from "../ip-ranges/ip-range.ts";
import { addressesSeen } from "../sightings.ts";
import { existingTags } from "../tags/tag.ts";
import type { Allocation } from "./allocation.ts";
import { createSubnet } from "./commands.ts";
import { FreeSpace, type OccupiedSpace } from "./free-space.ts";
import { type SubnetRecord, subnetIdentity, subnetKind } from "./subnet.ts";

/** Created records of one kind, in address order. */
export interface AllocationResult {
  readonly kind: "ip_address" | "ip_range" | "subnet";
  readonly ids: readonly string[];
  /** Addresses or prefixes. */
  readonly allocated: readonly string[];
}

/** Fields that apply to each created kind; all accept `count`. */
const APPLICABLE_FIELDS = {
  ip_address: ["host_id", "name", "mac_address"],
  ip_range: ["description", "tags", "custom_fields"],
  subnet: wordList("prefix_length name description tags subnet_type vlan_id accepts_credentials custom_fields"),
} as const satisfies Record<AllocationResult["kind"], ReadonlyArray<keyof Allocation>>;

const RESULT_NOUNS = { ip_address: "an address of a host", ip_range: "a reservation", subnet: "a subnet" } as const;

/**
 * Atomically allocates the lowest free addresses or prefixes of a subnet.
 * @throws DomainError entity_not_found, entity_reference_invalid, validation_failed, auth_permission_denied;
 * entity_in_use if fewer are free
 */
function allocate(
  tx: WriteTransaction,
  { id, body }: { id: string; body: Allocation },
  actor: CommandActor,
): AllocationResult {
  const subnet = getReachable(tx, subnetKind, id, actor);
  const kind = body.prefix_length !== undefined ? "subnet" : body.host_id !== undefined ? "ip_address" : "ip_range";
  assertApplicable(body, kind);
  const space = new FreeSpace(subnet.cidr, occupiedSpaceOf(tx, subnet));
  const free = body.prefix_length === undefined ? space.addresses() : space.prefixes(body.prefix_length);
  const count = body.count ?? 1;
  const allocated = free.next(count);
  if (allocated.length < count) throw exhausted(subnet, body, free.available);
  return { kind, allocated, ids: ALLOCATE[kind](tx, { subnet, body, allocated }, actor) };
}

/** A determined allocation, ready to be written. */
interface ResolvedAllocation {
  readonly subnet: SubnetRecord;
  readonly body: Allocation;
  readonly allocated: readonly string[];
}

const ALLOCATE = { ip_address: assignToHost, ip_range: reserve, subnet: createSubnets } as const;

function assignToHost(
  tx: WriteTransaction,
  { subnet, body, allocated }: ResolvedAllocation,
  actor: CommandActor,
): string[] {
  const hostId = body.host_id as string;
  const host = getReferenced(tx, hostKind, [hostId], "host_id", actor)[0] as HostRecord;
  if (host.network_id !== subnet.network_id) throw referenceInvalid(hostKind, "host_id", [hostId]);
  const siblings = siblingsBelowLimit(tx, ipAddressKind, "host_n", hostId);
  if (siblings.length + allocated.length > CHILDREN_MAX)
    throw invalid({
      path: "/count",
      message: `is too many for the host, which has ${siblings.length} of at most ${CHILDREN_MAX} ${entityWords(ipAddressKind)}`,
      value: body.count,
    });
  const position = nextPosition(siblings);
  return allocated.map((ip_address, offset) => {
    const item = { ip_address, ...pickFields(body, ["name", "mac_address"]) };
    return addIpAddress(
      tx,
      host,
      item,
      { subnetId: subnet.id, position: Math.min(position + offset, INT32_MAX) },
      actor,
    ).id;
  });
}

function reserve(tx: WriteTransaction, { subnet, body, allocated }: ResolvedAllocation, actor: CommandActor): string[] {
  const tags = existingTags(tx, body.tags ?? [], actor);
  const { organizationId } = actor;
  const custom_fields = newValues(tx, { kind: ipRangeKind, organizationId, given: body.custom_fields });
  return allocated.map((address) => {
    const range = {
      network_id: subnet.network_id,
      subnet_id: subnet.id,
      first: address,
      last: address,
      purpose: "Reserved" as const,
      description: body.description ?? null,
      tags,
      custom_fields,
    };
    return tx.create(ipRangeKind, actor.organizationId, range).id;
  });
}

function createSubnets(
  tx: WriteTransaction,
  { subnet, body, allocated }: ResolvedAllocation,
  actor: CommandActor,
): string[] {
  const { prefix_length: _, count: __, host_id: ___, mac_address: ____, ...fields } = body;
  return allocated.map(
    (cidr) => createSubnet(tx, { body: { ...fields, network_id: subnet.network_id, cidr } }, actor).id,
  );
}

/** @throws DomainError validation_failed for a field without effect */
function assertApplicable(body: Allocation, kind: AllocationResult["kind"]): void {
  const applicable: readonly string[] = [...APPLICABLE_FIELDS[kind], "count"];
  const inapplicable = Object.entries(body).filter(
    ([field, value]) => value !== undefined && !applicable.includes(field),
  );
  if (inapplicable.length > 0)
    throw invalid(
      inapplicable.map(([field, value]) => ({
        path: `/${field}`,
        message: `cannot be combined with the other fields, which request ${RESULT_NOUNS[kind]}`,
        value,
      })),
    );
}

function exhausted({ id, cidr }: SubnetRecord, body: Allocation, available: bigint): DomainError {
  const unit = body.prefix_length === undefined ? "addresses" : `prefixes of length ${body.prefix_length}`;
  return new DomainError(
    "entity_in_use",
    `The subnet ${cidr} has ${available} free ${unit}; ${body.count ?? 1} requested. Free some, or use another subnet.`,
    { entity: subnetKind.name, id, available: String(available), count: body.count ?? 1 },
  );
}

/** Occupied space of a subnet before this transaction writes, from the live tables by their indexes. */
function occupiedSpaceOf(tx: WriteTransaction, { id, network_id, cidr }: SubnetRecord): OccupiedSpace {
  const networkN = tx.recordN(network_id) as number;
  const prefix = parseCidr(cidr) as Cidr;
  const { first, last } = prefixBlock(prefix);
  const [from, to] = [first, last].map((address) => addressKey(addressAt(address, prefix.version)));
  const rows = (sql: string, ...values: Array<string | number>) => tx.db.$client.query(sql).values(...values);
  const subnetNs = [id, ...enclosingIds(tx, network_id, prefix)].map((each) => tx.recordN(each));
  return {
    cidrs: (rows(SUBNETS_WITHIN, networkN, cidrSortKey(cidr), `${to}~`) as Array<[string]>).map(([each]) => each),
    ranges: (rows(RANGES_WITHIN, networkN, from as string, to as string) as Array<[string, string]>).map(
      ([start, end]) => ({ first: start, last: end }),
    ),
    addresses: [
      ...(rows(ADDRESSES_OF, JSON.stringify(subnetNs)) as Array<[string | null]>).flatMap(
        ([addresses]) => addresses?.split(",") ?? [],
      ),
      ...addressesSeen(tx.db.$client, networkN, cidr, null),
    ],
  };
}

/** Enclosing subnets, whose addresses may be within the subnet: one index seek for each shorter prefix. */
function enclosingIds(tx: WriteTransaction, networkId: string, prefix: Cidr): string[] {
  const ids: string[] = [];
  for (let length = prefix.prefixLength - 1; length >= 0; length -= 1) {
    const { text: cidr } = cidrOf(ipOfBytes(prefix.bytes) as Ip, length);
    const enclosing = tx.findByIdentity(subnetKind, subnetIdentity({ network_id: networkId, cidr }));
    if (enclosing !== null) ids.push(enclosing.id);
  }
  return ids;
}

/** Uses the sort keys: a prefix sorts before its nested ones. */
const SUBNETS_WITHIN = `SELECT cidr FROM subnets
  WHERE network_n = +?1 AND sort_keys ->> '$.cidr' > ?2 AND sort_keys ->> '$.cidr' < ?3`;

const RANGES_WITHIN = `SELECT ('{' || members || '}') ->> '$.first', ('{' || members || '}') ->> '$.last' FROM ip_ranges
  WHERE network_n = +?1 AND sort_keys ->> '$.first' <= ?3 AND sort_keys ->> '$.last' >= ?2`;

const ADDRESSES_OF = `SELECT (SELECT group_concat(ip_address) FROM ip_addresses WHERE subnet_n = j.value)
  FROM json_each(?1) j`;

export const allocationCommands = { "subnet.allocate": allocate };
export type AllocationCommands = CallsOf<typeof allocationCommands>;
