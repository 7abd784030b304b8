// Subnet utilization in responses, on request: read for all subnets of a response at once, now or as of a timestamp.

import { type Static, Type } from "@sinclair/typebox";
import type { Actor } from "../../access/actor.ts";
import { addressNumber } from "../../base/address-block.ts";
import type { AsOf } from "../../db/reading/list-query.ts";
import type { Compose, Reader } from "../../db/reading/reader.ts";
import { OneOf } from "../../schemas/schemas.ts";
import { type ComposeFor, spliced, variesByCaller } from "../compose.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import { ipRangeKind } from "../ip-ranges/ip-range.ts";
import { CLAIMING_PURPOSES, type RangePurpose } from "../ip-ranges/range-purpose.ts";
import {
  AddressSpace,
  type ClaimedBlock,
  type Fullness,
  type PlacedSubnet,
  type WholeFullness,
} from "./address-space.ts";
import { hostAddresses } from "./host-addresses.ts";
import { Subnet, type SubnetRecord, subnetKind } from "./subnet.ts";

/** Query parameter of optional additions. */
export const IncludeQuery = {
  include: Type.Optional(
    OneOf(["utilization"], { description: "Show as well how full each subnet is, as `utilization`." }),
  ),
};

const Count = (description: string) =>
  Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: "^[0-9]+$" })], { description });

export const Utilization = Type.Object(
  {
    usable: Count("Its addresses, in IPv4 without the network's and the broadcast address (but for /31 and /32)."),
    used: Count("Different addresses of hosts in it."),
    dhcp: Count("Usable addresses in its ranges of purpose Dhcp."),
    reserved: Count("Usable addresses in its ranges of purpose Reserved."),
    in_subnets: Count("Usable addresses in subnets within it."),
    free: Count(
      "Usable addresses that are in no subnet within it, in no range of purpose Dhcp or Reserved of the network, and no host's.",
    ),
    percent: Type.Number({ minimum: 0, maximum: 100, description: "The part of `usable` that is not free." }),
  },
  { description: "Only with `include=utilization`. In IPv6 subnets counts are decimal strings." },
);

/** Utilization of a subnet including its nested ones. */
export const WholeUtilization = Type.Object(
  {
    usable: Count(
      "Addresses of its prefix that hosts can have: those that are usable in the smallest subnet they lie in.",
    ),
    used: Count("Different addresses of hosts that lie in it or in a subnet within it, each once."),
    free: Count("Those of `usable` that are free in the smallest subnet they lie in."),
    percent: Type.Number({ minimum: 0, maximum: 100, description: "The part of `usable` that is not free." }),
  },
  { description: "With all subnets within it. In IPv6 subnets counts are decimal strings." },
);

/** Response schema of a subnet with optional utilization. */
export const SubnetShown = Type.Object(
  { ...Subnet.properties, utilization: Type.Optional(Utilization) },
  { $id: "SubnetShown" },
);

/** Addresses are only counted, so a step can process very many. */
const STEP = { records: 500, parts: 25_000 };

/** Adds `utilization`, which changes without a version of the subnet. */
export const composeUtilization: ComposeFor = Object.assign(variesByCaller(composeFullness), {
  parts: { scope: "subnet" as const, kinds: [ipAddressKind], step: STEP },
});

function composeFullness(reader: Reader, actor: Actor): Compose {
  const networks = new Map<string, Network>();
  return (items, asOf) =>
    reader.snapshot(() => {
      const subnets = items.map(({ text }) => JSON.parse(text) as SubnetRecord);
      for (const networkId of new Set(subnets.map(({ network_id }) => network_id)))
        if (!networks.has(networkId)) networks.set(networkId, networkAt(reader, actor, asOf, networkId));
      addHosts(reader, asOf, networks, subnets);
      return items.map(({ text }, place) => {
        const { id, network_id, cidr } = subnets[place] as SubnetRecord;
        const fullness = networks.get(network_id)?.space.fullnessOf(id) ?? null;
        if (fullness === null) throw new Error(`utilization: the subnet ${id} is not among those of its network`);
        return spliced(text, `"utilization":${JSON.stringify(toldOf(fullness, cidr.includes(":")))}`);
      });
    });
}

export interface PlacedUtilization extends PlacedSubnet {
  readonly utilization: Static<typeof Utilization>;
  readonly total: Static<typeof WholeUtilization>;
}

/** Utilization and position of each subnet of a network in address order, each before its nested ones. */
export function placedUtilizations(reader: Reader, actor: Actor, asOf: AsOf, networkId: string): PlacedUtilization[] {
  const network = networkAt(reader, actor, asOf, networkId);
  const placed = [...network.space.inOrder()];
  addHosts(
    reader,
    asOf,
    new Map([[networkId, network]]),
    placed.map(({ id }) => ({ id, network_id: networkId })),
  );
  const { space } = network;
  const fullnesses = new Map(placed.map(({ id }) => [id, space.fullnessOf(id) as Fullness]));
  const wholes = space.wholes(fullnesses);
  return placed.map((each) => {
    const isSix = space.isSix(each.id);
    return {
      ...each,
      utilization: toldOf(fullnesses.get(each.id) as Fullness, isSix),
      total: wholeTold(wholes.get(each.id) as WholeFullness, isSix),
    };
  });
}

interface Network {
  readonly space: AddressSpace;
  /** Subnets whose addresses are already loaded. */
  readonly known: Set<string>;
}

function toldOf(
  { usable, used, dhcp, reserved, inSubnets, free }: Fullness,
  isSix: boolean,
): Static<typeof Utilization> {
  const count = countAs(isSix);
  return {
    usable: count(usable),
    used: count(used),
    dhcp: count(dhcp),
    reserved: count(reserved),
    in_subnets: count(inSubnets),
    free: count(free),
    percent: percentTaken(usable, free),
  };
}

function wholeTold({ usable, used, free }: WholeFullness, isSix: boolean): Static<typeof WholeUtilization> {
  const count = countAs(isSix);
  return { usable: count(usable), used: count(used), free: count(free), percent: percentTaken(usable, free) };
}

function countAs(isSix: boolean): (value: bigint) => number | string {
  return (value) => (isSix ? String(value) : Number(value));
}

/** Rounded to the nearest tenth. */
function percentTaken(usable: bigint, free: bigint): number {
  return Number(((usable - free) * 2_000n + usable) / (usable * 2n)) / 10;
}

function networkAt(reader: Reader, actor: Actor, asOf: AsOf | null, networkId: string): Network {
  const all = { reach: actor, asOf, within: { network: networkId }, limit: 0, offset: 0 };
  const subnets = reader
    .ownFields({ ...all, kind: subnetKind }, ["id", "cidr"])
    .map((row) => JSON.parse(row) as [string, string])
    .map(([id, cidr]) => ({ id, cidr }));
  const claimed = reader
    .ownFields({ ...all, kind: ipRangeKind }, ["subnet_id", "first", "last", "purpose"])
    .map((row) => JSON.parse(row) as [string, string, string, RangePurpose])
    .filter(([, , , purpose]) => CLAIMING_PURPOSES.includes(purpose))
    .map(
      ([subnetId, first, last, purpose]): ClaimedBlock => ({
        version: first.includes(":") ? 6 : 4,
        subnetId,
        first: addressNumber(first),
        last: addressNumber(last),
        isDhcp: purpose === "Dhcp",
      }),
    );
  return { space: new AddressSpace(subnets, claimed), known: new Set() };
}

/** Loads the addresses that may be within these subnets into their networks, unless already loaded. */
function addHosts(
  reader: Reader,
  asOf: AsOf | null,
  networks: ReadonlyMap<string, Network>,
  subnets: ReadonlyArray<Pick<SubnetRecord, "id" | "network_id">>,
): void {
  const asked = new Map<string, Network>();
  for (const { id, network_id } of subnets) {
    const network = networks.get(network_id) as Network;
    for (const each of network.space.withThoseAround([id])) {
      if (network.known.has(each)) continue;
      network.known.add(each);
      asked.set(each, network);
    }
  }
  const ids = [...asked.keys()];
  for (const [place, addresses] of hostAddresses(reader, asOf, ids)) {
    const id = ids[place] as string;
    if (addresses !== null) asked.get(id)?.space.add(id, addresses);
  }
}
