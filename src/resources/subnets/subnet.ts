// The subnet: an IP prefix in a network, where addresses find their place.

import { Type, type Static } from "@sinclair/typebox";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { cidrSortKey } from "../../base/ip.ts";
import { textSortKey } from "../../base/text.ts";
import { liveColumns, type Kind, type RecordBase } from "../../db/kind.ts";
import { addsField } from "../../db/shape.ts";
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
} from "../../http/schemas.ts";
import { networks } from "../networks/network.ts";
import { Source, type SourceRecord } from "../source.ts";
import { vlans } from "../vlans/vlan.ts";
import { SUBNET_TYPES, type SubnetType } from "./subnet-type.ts";

export interface SubnetRecord extends RecordBase {
  readonly network_id: string;
  /** Canonical, without host bits. */
  readonly cidr: string;
  readonly name: string;
  readonly description: string | null;
  readonly subnet_type: SubnetType;
  readonly vlan_id: string | null;
  readonly source: SourceRecord;
  readonly tags: readonly string[];
  /** Whether credentials may be sent to the addresses that lie in it. */
  readonly accepts_credentials: boolean;
}

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
  code: 4,
  // Whatever was there before the field was asked with every credential of its network.
  upcasters: [addsField(7, "accepts_credentials", true)],
  table: subnets,
  columns: (subnet, n) => ({
    network_n: n(subnet.network_id),
    vlan_n: subnet.vlan_id === null ? null : n(subnet.vlan_id),
    cidr: subnet.cidr,
    accepts_credentials: Number(subnet.accepts_credentials),
  }),
  scopes: { network: "network_n" },
  scopeIds: (subnet) => ({ network: subnet.network_id }),
  links: (subnet) => [{ relation: "tags", ids: subnet.tags }],
  observed: [],
  absent: "null",
  identity: (subnet) => `${subnet.network_id}/${subnet.cidr}`,
  unique: { field: "cidr", value: (subnet) => subnet.cidr },
  sortKeys: (subnet) => ({ name: textSortKey(subnet.name), cidr: cidrSortKey(subnet.cidr) }),
};

/** What lists of subnets are grouped and ordered by; addresses by their numbers, texts without regard to case. */
export const SUBNET_ORDER_FIELDS = [
  "created_at",
  "name",
  "cidr",
  "subnet_type",
  "network_id",
  "vlan_id",
  "updated_at",
] as const;
export const SUBNET_KEYED_FIELDS = ["name", "cidr"] as const;

const ACCEPTS =
  "Whether discovery may send the network's credentials to addresses in it. Any such subnet that contains an address suffices, but for those of the types Internet, Remote and Loopback, where credentials go to named targets alone.";

const optional = {
  id: Type.Optional(Uuid),
  organization_id: Type.Optional(Uuid),
  name: Type.Optional(Name),
  description: Type.Optional(Nullable(Description)),
  subnet_type: Type.Optional(OneOf(SUBNET_TYPES, { description: "Unknown when left out of a create." })),
  vlan_id: Type.Optional(Nullable(Uuid, { description: "A VLAN of the same network." })),
  tags: Type.Optional(TagIds),
  accepts_credentials: Type.Optional(
    Type.Boolean({
      description: `${ACCEPTS} Only an Admin changes it; left out of a create: true for an Admin's, else false.`,
    }),
  ),
};
const READ_ONLY = [...RECORD_READ_ONLY, "source"];

export const SubnetCreate = Body({ network_id: Uuid, cidr: CidrText, ...optional }, { ignored: READ_ONLY });
export const SubnetUpdate = Body(
  { network_id: Type.Optional(Uuid), cidr: CidrText, ...optional },
  { ignored: READ_ONLY },
);
export type SubnetCreate = Static<typeof SubnetCreate>;
export type SubnetUpdate = Static<typeof SubnetUpdate>;

export const Subnet = Type.Object(
  {
    id: Uuid,
    network_id: Uuid,
    cidr: CidrText,
    name: Name,
    description: Nullable(Description),
    subnet_type: OneOf(SUBNET_TYPES),
    vlan_id: Nullable(Uuid),
    source: Source,
    tags: TagIds,
    accepts_credentials: Type.Boolean({ description: ACCEPTS }),
    ...recordFields,
  },
  { $id: "Subnet" },
);

export const SUBNET_EXAMPLE = {
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
