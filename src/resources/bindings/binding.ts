// Service binding: a port of its host on one address or on all addresses, or an entire address.

import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { integer, sqliteTable } from "drizzle-orm/sqlite-core";
import { type Kind, liveColumns } from "../../db/kind.ts";
import {
  Body,
  Nullable,
  OBSERVED_READ_ONLY,
  OneOf,
  observedFields,
  recordFields,
  Uuid,
} from "../../schemas/schemas.ts";
import { hosts } from "../hosts/host.ts";
import { ipAddresses } from "../ip-addresses/ip-address.ts";
import { requiredReference } from "../live-columns.ts";
import { networks } from "../networks/network.ts";
import { ports } from "../ports/port.ts";
import { RECORD_EXAMPLE, type RecordOf } from "../record.ts";
import { services } from "../services/service.ts";

export const BINDING_TYPES = ["Port", "IpAddress"] as const;
export type BindingType = (typeof BINDING_TYPES)[number];

/** Target of a binding. */
export interface BindingTarget {
  readonly type: BindingType;
  /** Null for the type IpAddress. */
  readonly port_id: string | null;
  /** Null for the type Port: listens on all addresses. */
  readonly ip_address_id: string | null;
}

export const bindings = sqliteTable("bindings", {
  ...liveColumns,
  network_n: requiredReference(() => networks.n),
  host_n: requiredReference(() => hosts.n),
  service_n: requiredReference(() => services.n),
  port_n: integer().references(() => ports.n),
  ip_address_n: integer().references(() => ipAddresses.n),
});

export const bindingKind: Kind<BindingRecord> = {
  name: "binding",
  plural: "bindings",
  label: (binding) => binding.type,
  code: 13,
  table: bindings,
  columns: (binding, n) => ({
    port_n: binding.port_id === null ? null : n(binding.port_id),
    ip_address_n: binding.ip_address_id === null ? null : n(binding.ip_address_id),
  }),
  scopes: { network: "network_id", host: "host_id", service: "service_id" },
  countedWith: ["host_id"],
  references: [
    { to: "ip_address", field: "ip_address_id" },
    { to: "port", field: "port_id" },
    { to: "service", field: "service_id" },
  ],
  owners: (binding) => [{ kind: "service", id: binding.service_id, as: "bindings" }],
  observed: ["last_discovery_id", "last_seen_at"],
  absent: "null",
  identity: (binding) => bindingIdentity(binding.service_id, binding),
  unique: { field: "port_id", value: (binding) => binding.port_id ?? binding.ip_address_id },
};

/** Identity key; equal for duplicate bindings. */
export function bindingIdentity(serviceId: string, target: BindingTarget): string {
  return `${serviceId}/${target.type}/${target.port_id ?? ""}/${target.ip_address_id ?? ""}`;
}

const identifying = { id: Type.Optional(Uuid), host_id: Type.Optional(Uuid), network_id: Type.Optional(Uuid) };
const portAndAddress = {
  port_id: Uuid,
  ip_address_id: Type.Optional(Nullable(Uuid, { description: "Null, or omitted for a new binding: all addresses." })),
};
const addressOnly = { ip_address_id: Uuid, port_id: Type.Optional(Type.Null()) };

/** Both forms of a binding, each with the additional fields of its write. */
function bothForms<T extends TProperties>(extra: T) {
  return Type.Union([
    Body({ ...identifying, ...extra, type: Type.Literal("Port"), ...portAndAddress }, { ignored: OBSERVED_READ_ONLY }),
    Body(
      { ...identifying, ...extra, type: Type.Literal("IpAddress"), ...addressOnly },
      { ignored: OBSERVED_READ_ONLY },
    ),
  ]);
}

/** Item in a service's list of bindings. */
export const BindingItem = bothForms({ service_id: Type.Optional(Uuid) });
export const BindingCreate = bothForms({ organization_id: Type.Optional(Uuid), service_id: Uuid });
export const BindingUpdate = bothForms({ organization_id: Type.Optional(Uuid), service_id: Type.Optional(Uuid) });
export type BindingItem = Static<typeof BindingItem>;
export type BindingCreate = Static<typeof BindingCreate>;
export type BindingUpdate = Static<typeof BindingUpdate>;

const targetFields = { type: OneOf(BINDING_TYPES), port_id: Nullable(Uuid), ip_address_id: Nullable(Uuid) };
/** Fields of both forms as one table row; the forms validate the combination. */
export const bindingRow = {
  Create: Type.Object({
    ...identifying,
    service_id: Uuid,
    type: targetFields.type,
    port_id: Type.Optional(targetFields.port_id),
    ip_address_id: Type.Optional(targetFields.ip_address_id),
  }),
  Update: Type.Object({ ...identifying, service_id: Type.Optional(Uuid), ...targetFields }),
};

/** Responses omit the host: it is the service's. */
export const Binding = Type.Object(
  {
    id: Uuid,
    service_id: Uuid,
    network_id: Uuid,
    type: OneOf(BINDING_TYPES),
    port_id: Nullable(Uuid),
    ip_address_id: Nullable(Uuid, { description: "Null: all addresses of the host." }),
    ...observedFields,
    ...recordFields,
  },
  {
    $id: "Binding",
    // Lets clients narrow the fields by type.
    oneOf: [
      { properties: { type: { const: "Port" }, port_id: Uuid }, required: ["type", "port_id"] },
      { properties: { type: { const: "IpAddress" }, ip_address_id: Uuid }, required: ["type", "ip_address_id"] },
    ],
  },
);

export interface BindingRecord extends RecordOf<typeof Binding> {
  readonly host_id: string;
}

export const BINDING_EXAMPLE: Static<typeof Binding> = {
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0015",
  service_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0014",
  network_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002",
  type: "Port",
  port_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0013",
  ip_address_id: null,
  first_discovery_id: null,
  last_discovery_id: null,
  last_seen_at: "2026-11-21T09:15:00.123Z",
  ...RECORD_EXAMPLE,
};
