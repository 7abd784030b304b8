// Subnet: an IP prefix in a network, to which addresses are assigned.

import { type Static, Type } from "@sinclair/typebox";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { namesOf } from "../../base/fields.ts";
import { cidrSortKey } from "../../base/ip.ts";
import { textSortKey } from "../../base/text.ts";
import { type Kind, liveColumns } from "../../db/kind.ts";
import {
  Body,
  CidrText,
  Description,
  Name,
  Nullable,
  OneOf,
  RECORD_READ_ONLY,
  recordFields,
  TagIds,
  Uuid,
} from "../../schemas/schemas.ts";
import { customFieldsOfAnswer, customFieldsOfBody, withCalledValues } from "../custom-fields/field-values.ts";
import { networks } from "../networks/network.ts";
import type { RecordOf, Sayable } from "../record.ts";
import { offList } from "../references.ts";
import { Source } from "../source.ts";
import { vlans } from "../vlans/vlan.ts";
import { SUBNET_TYPES } from "./subnet-type.ts";

export const subnets = sqliteTable("subnets", {
  ...liveColumns,
  network_n: integer()
    .notNull()
    .references(() => networks.n),
  vlan_n: integer().references(() => vlans.n),
  cidr: text().notNull(),
  accepts_credentials: integer().notNull(),
});

export const subnetKind: Kind<SubnetRecord> = {
  name: "subnet",
  plural: "subnets",
  label: (subnet) => subnet.cidr,
  code: 4,
  table: subnets,
  columns: (subnet, n) => ({
    vlan_n: subnet.vlan_id === null ? null : n(subnet.vlan_id),
    cidr: subnet.cidr,
    accepts_credentials: Number(subnet.accepts_credentials),
  }),
  scopes: { network: "network_id" },
  countedWith: ["id"],
  references: [
    { to: "network", field: "network_id", refuses: true },
    { to: "vlan", field: "vlan_id", refuses: true, without: () => ({ vlan_id: null }) },
    { to: "tag", field: "tags", without: offList("tags") },
  ],
  links: (subnet) => [{ relation: "tags", ids: subnet.tags }],
  observed: [],
  absent: "null",
  identity: subnetIdentity,
  unique: { field: "cidr", value: (subnet) => subnet.cidr },
  called: ({ cidr, name, description, custom_fields }) =>
    withCalledValues(
      [
        { field: "cidr", value: cidr, as: "Address" },
        { field: "name", value: name, as: "Name" },
        { field: "description", value: description, as: "Text" },
      ],
      custom_fields,
    ),
  sortKeys: { name: textSortKey, cidr: cidrSortKey },
};

export function subnetIdentity({ network_id, cidr }: Pick<SubnetRecord, "network_id" | "cidr">): string {
  return `${network_id}/${cidr}`;
}

const ACCEPTS =
  "Whether discovery may send the network's credentials to addresses in it. One such subnet that contains the address is enough. In subnets of type Internet, Remote and Loopback, credentials go only to named targets.";

const identifying = { id: Type.Optional(Uuid), organization_id: Type.Optional(Uuid) };
const described = {
  cidr: CidrText,
  name: Type.Optional(Name),
  description: Type.Optional(Nullable(Description)),
  subnet_type: Type.Optional(OneOf(SUBNET_TYPES, { description: "Default in a create: Unknown." })),
  vlan_id: Type.Optional(Nullable(Uuid, { description: "A VLAN of the same network." })),
  tags: Type.Optional(TagIds),
  accepts_credentials: Type.Optional(
    Type.Boolean({
      description: `${ACCEPTS} Only an Admin can change it. Default in a create: true for an Admin, else false.`,
    }),
  ),
} satisfies Sayable<SubnetRecord, "network_id" | "source" | "custom_fields">;
export const SUBNET_DESCRIBED = namesOf(described);
const READ_ONLY = [...RECORD_READ_ONLY, "source"];

export const SubnetCreate = Body(
  { network_id: Uuid, ...identifying, ...described, ...customFieldsOfBody },
  { ignored: READ_ONLY },
);
export const SubnetUpdate = Body(
  { network_id: Type.Optional(Uuid), ...identifying, ...described, ...customFieldsOfBody },
  { ignored: READ_ONLY },
);
export type SubnetCreate = Static<typeof SubnetCreate>;
export type SubnetUpdate = Static<typeof SubnetUpdate>;

export const Subnet = Type.Object(
  {
    id: Uuid,
    network_id: Uuid,
    /** Canonical, without host bits. */
    cidr: CidrText,
    name: Name,
    description: Nullable(Description),
    subnet_type: OneOf(SUBNET_TYPES),
    vlan_id: Nullable(Uuid),
    source: Source,
    tags: TagIds,
    accepts_credentials: Type.Boolean({ description: ACCEPTS }),
    ...customFieldsOfAnswer,
    ...recordFields,
  },
  { $id: "Subnet" },
);
export interface SubnetRecord extends RecordOf<typeof Subnet> {}

export const SUBNET_EXAMPLE: Static<typeof Subnet> = {
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0004",
  network_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002",
  cidr: "10.2.3.0/24",
  name: "Server room",
  description: null,
  subnet_type: "Lan",
  vlan_id: null,
  source: { type: "Manual" },
  tags: [],
  accepts_credentials: true,
  created_at: "2026-11-21T09:15:00.123Z",
  updated_at: "2026-11-21T09:15:00.123Z",
  valid_from: "2026-11-21T09:15:00.123Z",
  valid_to: null,
  lineage_id: null,
};
