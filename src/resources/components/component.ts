// Component of a host: its chassis, or a member of a stack, by entPhysicalTable (ENTITY-MIB, RFC 6933). Written by scans
// only.

import { type Static, Type } from "@sinclair/typebox";
import { sqliteTable } from "drizzle-orm/sqlite-core";
import { textSortKey } from "../../base/text.ts";
import { type Kind, liveColumns } from "../../db/kind.ts";
import { Nullable, OneOf, observedFields, recordFields, Uuid } from "../../schemas/schemas.ts";
import { discoverableFields } from "../discovered.ts";
import { hosts } from "../hosts/host.ts";
import { requiredReference } from "../live-columns.ts";
import { networks } from "../networks/network.ts";
import { RECORD_EXAMPLE, type RecordOf } from "../record.ts";
import { namesIn } from "../searching.ts";
import { COMPONENT_CLASSES } from "./vocabulary.ts";

const components = sqliteTable("components", {
  ...liveColumns,
  network_n: requiredReference(() => networks.n),
  host_n: requiredReference(() => hosts.n),
});

export const componentKind: Kind<ComponentRecord> = {
  name: "component",
  plural: "components",
  label: (component) => component.serial_number ?? `${component.class} ${component.position}`,
  code: 24,
  table: components,
  scopes: { network: "network_id", host: "host_id" },
  countedWith: ["host_id"],
  references: [{ to: "host", field: "host_id" }],
  owners: (component) => [{ kind: "host", id: component.host_id, as: "components" }],
  observed: ["last_discovery_id", "last_seen_at"],
  absent: "null",
  // Serial numbers and positions are not unique: devices repeat serial numbers, and positions can be swapped.
  identity: ({ host_id, serial_number, class: kind, position }) =>
    `${host_id}/${serial_number === null ? `${kind}/${position}` : `serial/${serial_number}`}`,
  unique: null,
  indexedNames: namesIn<ComponentRecord>({ serial_number: "Name", model: "Name", manufacturer: "Name" }),
  sortKeys: { manufacturer: textSortKey, model: textSortKey, serial_number: textSortKey },
};

const NullableText = Nullable(Type.String());

export const Component = Type.Object(
  {
    id: Uuid,
    host_id: Uuid,
    network_id: Uuid,
    class: OneOf(COMPONENT_CLASSES, {
      description: "StackMember: one of several chassis of the device.",
    }),
    position: Type.Integer({
      description:
        "entPhysicalParentRelPos (RFC 6933); where the device has none, or the same twice, the rank by entPhysicalIndex.",
    }),
    manufacturer: NullableText,
    model: NullableText,
    serial_number: NullableText,
    ...observedFields,
    ...discoverableFields,
    ...recordFields,
  },
  { $id: "Component" },
);
export interface ComponentRecord extends RecordOf<typeof Component> {}

export const COMPONENT_EXAMPLE: Static<typeof Component> = {
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0091",
  host_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010",
  network_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002",
  class: "StackMember",
  position: 1,
  manufacturer: "Acme",
  model: "AX-48",
  serial_number: "AC1408Z61U",
  first_discovery_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0080",
  last_discovery_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0080",
  last_seen_at: "2026-11-21T09:15:00.123Z",
  ...RECORD_EXAMPLE,
};
