// Subnet utilization in responses, on request: read for all subnets of a response at once, now or as of a timestamp.

import { type Static, Type } from "@sinclair/typebox";
import type { Actor } from "../../access/actor.ts";
import { addressNumber } from "../../base/address-block.ts";
import type { AsOf } from "../../db/reading/list-query.ts";
import type { Compose, Reader } from "../../db/reading/reader.ts";
import { OneOf } from "../../schemas/schemas.ts";
import { appendMembers, type ComposeFor, variesByCaller } from "../compose.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import { ipRangeKind } from "../ip-ranges/ip-range.ts";
import { EXCLUSIVE_PURPOSES, type RangePurpose } from "../ip-ranges/range-purpose.ts";
import {
  AddressSpace,
  type ExclusiveBlock,
  type SubnetNode,
  type TotalCounts,
  type UtilizationCounts,
} from "./address-space.ts";
import { hostAddresses } from "./host-addresses.ts";
import { Subnet, type SubnetRecord, subnetKind } from "./subnet.ts";

/** Query parameter of optional additions. */
export const IncludeQuery = {
  include: Type.Optional(
    OneOf(["utilization"], { description: "Include the utilization of each subnet, as `utilization`." }),
  ),
};

const Count = (description: string) =>
  Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: "^[0-9]+$" })], { description });

export const Utilization = Type.Object(
  {
    usable: Count("Usable addresses: in IPv4 without the network and broadcast address (except for /31 and /32)."),
    used: Count("Distinct host addresses in it."),
    dhcp: Count("Usable addresses in its ranges of purpose Dhcp."),
    reserved: Count("Usable addresses in its ranges of purpose Reserved."),
    in_subnets: Count("Usable addresses in nested subnets."),
    free: Count("Usable addresses outside nested subnets and the network's Dhcp and Reserved ranges, and of no host."),
    percent: Type.Number({ minimum: 0, maximum: 100, description: "The part of `usable` that is not free." }),
  },
  { description: "Only with `include=utilization`. In IPv6 subnets counts are decimal strings." },
);

/** Utilization of a subnet including its nested ones. */
export const TotalUtilization = Type.Object(
  {
    usable: Count("Addresses of its prefix that are usable in the smallest subnet that contains them."),
    used: Count("Distinct host addresses in it or in a nested subnet."),
    free: Count("Those of `usable` that are free in the smallest subnet that contains them."),
    percent: Type.Number({ minimum: 0, maximum: 100, description: "The part of `usable` that is not free." }),
  },
  { description: "Includes all nested subnets. In IPv6 subnets counts are decimal strings." },
);

/** Response schema of a subnet with optional utilization. */
export const SubnetShown = Type.Object(
  { ...Subnet.properties, utilization: Type.Optional(Utilization) },
  { $id: "SubnetShown" },
);

/** Addresses are only counted, so a step can process many. */
const STEP = { records: 500, parts: 25_000 };

/** Adds `utilization`, which changes without a version of the subnet. */
export const composeUtilization: ComposeFor = Object.assign(variesByCaller(composeWithUtilization), {
  parts: { scope: "subnet" as const, kinds: [ipAddressKind], step: STEP },
});

function composeWithUtilization(reader: Reader, actor: Actor): Compose {
  const networks = new Map<string, Network>();
  return (items, asOf) =>
    reader.snapshot(() => {
      const subnets = items.map(({ text }) => JSON.parse(text) as SubnetRecord);
      for (const networkId of new Set(subnets.map(({ network_id }) => network_id)))
        if (!networks.has(networkId)) networks.set(networkId, networkAt(reader, actor, asOf, networkId));
      addHosts(reader, asOf, networks, subnets);
      return items.map(({ text }, index) => {
        const { id, network_id, cidr } = subnets[index] as SubnetRecord;
        const counts = networks.get(network_id)?.space.countsOf(id) ?? null;
        if (counts === null) throw new Error(`utilization: the subnet ${id} is not among those of its network`);
        return appendMembers(text, `"utilization":${JSON.stringify(utilizationJson(counts, cidr.includes(":")))}`);
      });
    });
}

export interface SubnetUtilization extends SubnetNode {
  readonly utilization: Static<typeof Utilization>;
  readonly total: Static<typeof TotalUtilization>;
}

/** Utilization and position of each subnet of a network in address order, each before its nested ones. */
export function networkUtilization(reader: Reader, actor: Actor, asOf: AsOf, networkId: string): SubnetUtilization[] {
  const network = networkAt(reader, actor, asOf, networkId);
  const nodes = [...network.space.inOrder()];
  addHosts(
    reader,
    asOf,
    new Map([[networkId, network]]),
    nodes.map(({ id }) => ({ id, network_id: networkId })),
  );
  const { space } = network;
  const countsById = new Map(nodes.map(({ id }) => [id, space.countsOf(id) as UtilizationCounts]));
  const totals = space.totals(countsById);
  return nodes.map((each) => {
    const isIpv6 = space.isIpv6(each.id);
    return {
      ...each,
      utilization: utilizationJson(countsById.get(each.id) as UtilizationCounts, isIpv6),
      total: totalJson(totals.get(each.id) as TotalCounts, isIpv6),
    };
  });
}

interface Network {
  readonly space: AddressSpace;
  /** Subnets whose addresses are already loaded. */
  readonly loaded: Set<string>;
}

function utilizationJson(
  { usable, used, dhcp, reserved, inSubnets, free }: UtilizationCounts,
  isIpv6: boolean,
): Static<typeof Utilization> {
  const count = countFormat(isIpv6);
  return {
    usable: count(usable),
    used: count(used),
    dhcp: count(dhcp),
    reserved: count(reserved),
    in_subnets: count(inSubnets),
    free: count(free),
    percent: percentUsed(usable, free),
  };
}

function totalJson({ usable, used, free }: TotalCounts, isIpv6: boolean): Static<typeof TotalUtilization> {
  const count = countFormat(isIpv6);
  return { usable: count(usable), used: count(used), free: count(free), percent: percentUsed(usable, free) };
}

function countFormat(isIpv6: boolean): (value: bigint) => number | string {
  return (value) => (isIpv6 ? String(value) : Number(value));
}

/** Rounded to the nearest tenth. */
function percentUsed(usable: bigint, free: bigint): number {
  return Number(((usable - free) * 2_000n + usable) / (usable * 2n)) / 10;
}

function networkAt(reader: Reader, actor: Actor, asOf: AsOf | null, networkId: string): Network {
  const all = { reach: actor, asOf, within: { network: networkId }, limit: 0, offset: 0 };
  const subnets = reader
    .ownFields({ ...all, kind: subnetKind }, ["id", "cidr"])
    .map((row) => JSON.parse(row) as [string, string])
    .map(([id, cidr]) => ({ id, cidr }));
  const exclusive = reader
    .ownFields({ ...all, kind: ipRangeKind }, ["subnet_id", "first", "last", "purpose"])
    .map((row) => JSON.parse(row) as [string, string, string, RangePurpose])
    .filter(([, , , purpose]) => EXCLUSIVE_PURPOSES.includes(purpose))
    .map(
      ([subnetId, first, last, purpose]): ExclusiveBlock => ({
        version: first.includes(":") ? 6 : 4,
        subnetId,
        first: addressNumber(first),
        last: addressNumber(last),
        isDhcp: purpose === "Dhcp",
      }),
    );
  return { space: new AddressSpace(subnets, exclusive), loaded: new Set() };
}

/** Loads the addresses that may be within these subnets into their networks, unless already loaded. */
function addHosts(
  reader: Reader,
  asOf: AsOf | null,
  networks: ReadonlyMap<string, Network>,
  subnets: ReadonlyArray<Pick<SubnetRecord, "id" | "network_id">>,
): void {
  const pending = new Map<string, Network>();
  for (const { id, network_id } of subnets) {
    const network = networks.get(network_id) as Network;
    for (const each of network.space.withEnclosing([id])) {
      if (network.loaded.has(each)) continue;
      network.loaded.add(each);
      pending.set(each, network);
    }
  }
  const ids = [...pending.keys()];
  for (const [index, addresses] of hostAddresses(reader, asOf, ids)) {
    const id = ids[index] as string;
    if (addresses !== null) pending.get(id)?.space.add(id, addresses);
  }
}
