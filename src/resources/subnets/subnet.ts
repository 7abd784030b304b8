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
import { customFieldsOfBody, customFieldsOfResponse, namesAndValuesIn } from "../custom-fields/field-values.ts";
import { requiredReference } from "../live-columns.ts";
import { networks } from "../networks/network.ts";
import { RECORD_EXAMPLE, type RecordOf, type WriteSchemas } from "../record.ts";
import { withoutListItem } from "../references.ts";
import { Source } from "../source.ts";
import { vlans } from "../vlans/vlan.ts";
import { SUBNET_TYPES } from "./subnet-type.ts";

export const subnets = sqliteTable("subnets", {
  ...liveColumns,
  network_n: requiredReference(() => networks.n),
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
    { to: "tag", field: "tags", without: withoutListItem("tags") },
  ],
  links: (subnet) => [{ relation: "tags", ids: subnet.tags }],
  observed: [],
  absent: "null",
  identity: subnetIdentity,
  unique: { field: "cidr", value: (subnet) => subnet.cidr },
  indexedNames: namesAndValuesIn<SubnetRecord>({ cidr: "Address", name: "Name", description: "Text" }),
  sortKeys: { name: textSortKey, cidr: cidrSortKey },
};

export function subnetIdentity({ network_id, cidr }: Pick<SubnetRecord, "network_id" | "cidr">): string {
  return `${network_id}/${cidr}`;
}

const ACCEPTS =
  "Whether discovery may send the network's credentials to addresses in it. One such subnet that contains the address is enough. In subnets of type Internet, Remote and Loopback, credentials are sent only to specified targets.";

const identifying = { id: Type.Optional(Uuid), organization_id: Type.Optional(Uuid) };
const writeFields = {
  cidr: CidrText,
  name: Type.Optional(Name),
  description: Type.Optional(Nullable(Description)),
  subnet_type: Type.Optional(OneOf(SUBNET_TYPES, { description: "Default on create: Unknown." })),
  vlan_id: Type.Optional(Nullable(Uuid, { description: "A VLAN of the same network." })),
  tags: Type.Optional(TagIds),
  accepts_credentials: Type.Optional(
    Type.Boolean({
      description: `${ACCEPTS} Only an Admin can change it. Default on create: true for an Admin, else false.`,
    }),
  ),
} satisfies WriteSchemas<SubnetRecord, "network_id" | "source" | "custom_fields">;
export const SUBNET_WRITE_FIELDS = namesOf(writeFields);
const READ_ONLY = [...RECORD_READ_ONLY, "source"];

export const SubnetCreate = Body(
  { network_id: Uuid, ...identifying, ...writeFields, ...customFieldsOfBody },
  { ignored: READ_ONLY },
);
export const SubnetUpdate = Body(
  { network_id: Type.Optional(Uuid), ...identifying, ...writeFields, ...customFieldsOfBody },
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
    ...customFieldsOfResponse,
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
  ...RECORD_EXAMPLE,
};
