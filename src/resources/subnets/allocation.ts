// Wire format of subnet allocations: free space, requests and results.

import { type Static, Type } from "@sinclair/typebox";
import { Body, CidrText, Description, MacText, Name, Nullable, OneOf, TagIds, Uuid } from "../../schemas/schemas.ts";
import { customFieldsOfBody } from "../custom-fields/field-values.ts";
import { IP_ADDRESS_EXAMPLE, IpAddress } from "../ip-addresses/ip-address.ts";
import { IpRange } from "../ip-ranges/ip-range.ts";
import { SUBNET_EXAMPLE, Subnet } from "./subnet.ts";
import { SUBNET_TYPES } from "./subnet-type.ts";

/** Maximum number of free addresses or prefixes per response. */
export const FREE_RESULTS_MAX = 1_000;
/** Maximum number per allocation. */
export const ALLOCATED_MAX = 100;

const PrefixLength = (description: string) => Type.Integer({ minimum: 1, maximum: 128, description });

export const FreeQuery = {
  count: Type.Optional(
    Type.Integer({ minimum: 1, maximum: FREE_RESULTS_MAX, default: 1, description: "Maximum number to return." }),
  ),
  prefix_length: Type.Optional(
    PrefixLength("Prefixes of this length within the subnet instead of addresses, such as 26 for a /26."),
  ),
};

export const Free = Type.Object(
  {
    subnet_id: Uuid,
    cidr: CidrText,
    prefix_length: Nullable(Type.Integer(), { description: "The requested length; null for addresses." }),
    available: Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: "^[0-9]+$" })], {
      description: "The number available; for IPv6 a decimal string.",
    }),
    next: Type.Array(Type.String(), { description: "The lowest free addresses or prefixes." }),
  },
  { $id: "FreeSpace" },
);

export const FREE_EXAMPLE: Static<typeof Free> = {
  subnet_id: SUBNET_EXAMPLE.id,
  cidr: SUBNET_EXAMPLE.cidr,
  prefix_length: null,
  available: 252,
  next: ["10.2.3.1"],
};

export const Allocation = Body({
  host_id: Type.Optional(
    Type.String({ ...Uuid, description: "A host in the subnet's network that receives the addresses." }),
  ),
  prefix_length: Type.Optional(PrefixLength("Creates subnets of this prefix length instead of assigning addresses.")),
  count: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: ALLOCATED_MAX,
      default: 1,
      description: "The number to allocate, all or nothing.",
    }),
  ),
  name: Type.Optional(
    Type.String({ ...Name, description: "The name of the addresses or subnets. Reservations have no name." }),
  ),
  mac_address: Type.Optional(Type.String({ ...MacText, description: "Only with `host_id`." })),
  description: Type.Optional(Nullable(Description, { description: "The description of the reservations or subnets." })),
  tags: Type.Optional(TagIds),
  ...customFieldsOfBody,
  subnet_type: Type.Optional(OneOf(SUBNET_TYPES, { description: "Only with `prefix_length`." })),
  vlan_id: Type.Optional(Nullable(Uuid, { description: "Only with `prefix_length`: a VLAN of the same network." })),
  accepts_credentials: Type.Optional(
    Type.Boolean({ description: "Only with `prefix_length`: as when creating a subnet." }),
  ),
});
export type Allocation = Static<typeof Allocation>;

export const Allocated = Type.Object(
  {
    allocated: Type.Array(Type.String(), { description: "The addresses or prefixes, lowest first." }),
    ip_addresses: Type.Array(IpAddress, { description: "The addresses assigned to the host." }),
    ip_ranges: Type.Array(IpRange, { description: "Reservations: Reserved ranges of one address." }),
    subnets: Type.Array(Subnet),
  },
  { $id: "Allocated" },
);

export const ALLOCATION_EXAMPLE = { host_id: IP_ADDRESS_EXAMPLE.host_id, name: "eth1" } satisfies Allocation;
export const ALLOCATED_EXAMPLE: Static<typeof Allocated> = {
  allocated: ["10.2.3.1"],
  ip_addresses: [
    {
      ...IP_ADDRESS_EXAMPLE,
      id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0112",
      ip_address: "10.2.3.1",
      mac_address: null,
      name: "eth1",
      position: 1,
    },
  ],
  ip_ranges: [],
  subnets: [],
};
