// Network: a separate addressing domain. Hosts, subnets and VLANs belong to exactly one; permissions are granted by
// network.

import { type Static, Type } from "@sinclair/typebox";
import { sqliteTable } from "drizzle-orm/sqlite-core";
import { namesOf } from "../../base/fields.ts";
import { textSortKey } from "../../base/text.ts";
import { type Kind, liveColumns } from "../../db/kind.ts";
import { addField } from "../../db/shape.ts";
import {
  Body,
  Description,
  Name,
  Nullable,
  RECORD_READ_ONLY,
  recordFields,
  TagIds,
  Uuid,
} from "../../schemas/schemas.ts";
import { requiredReference } from "../live-columns.ts";
import { organizations } from "../organizations/organization.ts";
import { RECORD_EXAMPLE, type RecordOf, type WriteSchemas } from "../record.ts";
import { withoutListItem } from "../references.ts";
import { namesIn } from "../searching.ts";

/** Maximum of all hours: ten years. */
export const EXPIRY_HOURS_MAX = 87_600;
/** Hours unseen after which records known only from neighbor tables and sweeps end. */
export const EXPIRY_DEFAULTS = {
  expire_addresses_after_hours: 720,
  expire_hosts_after_hours: 720,
  expire_random_macs_after_hours: 72,
} as const;

export const networks = sqliteTable("networks", {
  ...liveColumns,
  organization_n: requiredReference(() => organizations.n),
});

export const networkKind: Kind<NetworkRecord> = {
  name: "network",
  plural: "networks",
  code: 2,
  table: networks,
  upcasters: Object.entries(EXPIRY_DEFAULTS).map(([field, hours]) => addField(45, field, hours)),
  // A network is its own scope, so that lists of networks are filtered by reach like all others.
  scopes: { network: "id" },
  references: [{ to: "tag", field: "tags", without: withoutListItem("tags") }],
  links: (network) => [{ relation: "tags", ids: network.tags }],
  observed: [],
  absent: "null",
  identity: (network) => `${network.organization_id}/${network.name}`,
  unique: { field: "name", value: (network) => network.name, seenWithin: (network) => `${network.organization_id}/` },
  indexedNames: namesIn<NetworkRecord>({ name: "Name", description: "Text" }),
  search: { texts: (network) => ({ words: [network.name, network.description] }), finds: (network) => network.id },
  sortKeys: { name: textSortKey },
};

const hours = (description: string) =>
  Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: EXPIRY_HOURS_MAX, description })));
const writeFields = {
  name: Name,
  description: Type.Optional(Nullable(Description)),
  tags: Type.Optional(TagIds),
  stale_after_hours: hours("Hours unseen after which a record is stale; null: never."),
  expire_addresses_after_hours: hours(
    "Hours unseen after which an address ends that no device reports as its own, and is free again; null: never.",
  ),
  expire_hosts_after_hours: hours("Hours unseen after which a host ends that never responded to SNMP; null: never."),
  expire_random_macs_after_hours: hours(
    "The same for hosts with only locally administered MAC addresses, if shorter; null: as all others.",
  ),
} satisfies WriteSchemas<NetworkRecord, "organization_id">;
export const NETWORK_WRITE_FIELDS = namesOf(writeFields);

const READ_ONLY = [...RECORD_READ_ONLY, "credential_ids"];

export const NetworkCreate = Body(
  { id: Type.Optional(Uuid), organization_id: Type.Optional(Uuid), ...writeFields },
  { ignored: READ_ONLY },
);
export const NetworkUpdate = NetworkCreate;
export type NetworkCreate = Static<typeof NetworkCreate>;
export type NetworkUpdate = Static<typeof NetworkUpdate>;

export const Network = Type.Object(
  {
    id: Uuid,
    organization_id: Uuid,
    name: Name,
    description: Nullable(Description),
    tags: TagIds,
    credential_ids: Type.Array(Uuid, {
      description: "Credentials assigned to the whole network; written through the credential.",
    }),
    stale_after_hours: Nullable(Type.Integer()),
    expire_addresses_after_hours: Nullable(Type.Integer()),
    expire_hosts_after_hours: Nullable(Type.Integer()),
    expire_random_macs_after_hours: Nullable(Type.Integer()),
    ...recordFields,
  },
  { $id: "Network" },
);
export interface NetworkRecord extends RecordOf<typeof Network, "credential_ids"> {}

export const NETWORK_EXAMPLE: Static<typeof Network> = {
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0022",
  organization_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0001",
  name: "Campus South",
  description: null,
  tags: [],
  credential_ids: [],
  stale_after_hours: 168,
  ...EXPIRY_DEFAULTS,
  ...RECORD_EXAMPLE,
};
