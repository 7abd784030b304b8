// VLAN (IEEE 802.1Q): a number within a network.

import { type Static, Type } from "@sinclair/typebox";
import { integer, sqliteTable } from "drizzle-orm/sqlite-core";
import { namesOf } from "../../base/fields.ts";
import { textSortKey } from "../../base/text.ts";
import { type Kind, liveColumns } from "../../db/kind.ts";
import { Body, Description, Name, Nullable, RECORD_READ_ONLY, recordFields, Uuid } from "../../schemas/schemas.ts";
import { customFieldsOfBody, customFieldsOfResponse, namesAndValuesIn } from "../custom-fields/field-values.ts";
import { requiredReference } from "../live-columns.ts";
import { networks } from "../networks/network.ts";
import { RECORD_EXAMPLE, type RecordOf, type WriteSchemas } from "../record.ts";
import { Source } from "../source.ts";

/** IEEE 802.1Q-2022 table 9-2: 0 and 4095 are reserved. */
export const VLAN_NUMBER_MIN = 1;
export const VLAN_NUMBER_MAX = 4094;

export const vlans = sqliteTable("vlans", {
  ...liveColumns,
  network_n: requiredReference(() => networks.n),
  number: integer().notNull(),
});

export const vlanKind: Kind<VlanRecord> = {
  name: "vlan",
  plural: "vlans",
  words: { one: "VLAN", many: "VLANs" },
  label: (vlan) => `${vlan.number} ${vlan.name}`,
  code: 3,
  table: vlans,
  columns: (vlan) => ({ number: vlan.number }),
  scopes: { network: "network_id" },
  references: [{ to: "network", field: "network_id", refuses: true }],
  observed: [],
  absent: "null",
  identity: (vlan) => `${vlan.network_id}/${vlan.number}`,
  unique: { field: "number", value: (vlan) => vlan.number },
  indexedNames: namesAndValuesIn<VlanRecord>({ number: "Number", name: "Name", description: "Text" }),
  sortKeys: { name: textSortKey },
};

const VlanNumber = Type.Integer({ minimum: VLAN_NUMBER_MIN, maximum: VLAN_NUMBER_MAX });
const identifying = { id: Type.Optional(Uuid), organization_id: Type.Optional(Uuid) };
const READ_ONLY = [...RECORD_READ_ONLY, "source"];

const writeFields = {
  number: VlanNumber,
  name: Type.Optional(Name),
  description: Type.Optional(Nullable(Description)),
} satisfies WriteSchemas<VlanRecord, "network_id" | "source" | "custom_fields">;
export const VLAN_WRITE_FIELDS = namesOf(writeFields);

export const VlanCreate = Body(
  { ...identifying, network_id: Uuid, ...writeFields, ...customFieldsOfBody },
  { ignored: READ_ONLY },
);
export const VlanUpdate = Body(
  { ...identifying, network_id: Type.Optional(Uuid), ...writeFields, ...customFieldsOfBody },
  { ignored: READ_ONLY },
);
export type VlanCreate = Static<typeof VlanCreate>;
export type VlanUpdate = Static<typeof VlanUpdate>;

export const Vlan = Type.Object(
  {
    id: Uuid,
    network_id: Uuid,
    number: VlanNumber,
    name: Name,
    description: Nullable(Description),
    source: Source,
    ...customFieldsOfResponse,
    ...recordFields,
  },
  { $id: "Vlan" },
);
export interface VlanRecord extends RecordOf<typeof Vlan> {}

export const VLAN_EXAMPLE: Static<typeof Vlan> = {
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0003",
  network_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002",
  number: 120,
  name: "Voice",
  description: null,
  source: { type: "Manual" },
  ...RECORD_EXAMPLE,
};
