// Where a service listens: on a port of its host, at one address or at all, or at an address as a whole.

import { Type, type Static } from "@sinclair/typebox";
import { integer, sqliteTable } from "drizzle-orm/sqlite-core";
import { liveColumns, type Kind, type RecordBase } from "../../db/kind.ts";
import { Body, Nullable, OBSERVED_READ_ONLY, observedFields, OneOf, recordFields, Uuid } from "../../http/schemas.ts";
import { hosts } from "../hosts/host.ts";
import { ipAddresses } from "../ip-addresses/ip-address.ts";
import { networks } from "../networks/network.ts";
import { ports } from "../ports/port.ts";
import { services } from "../services/service.ts";

export const BINDING_TYPES = ["Port", "IpAddress"] as const;
export type BindingType = (typeof BINDING_TYPES)[number];

export interface BindingRecord extends RecordBase {
  readonly service_id: string;
  readonly host_id: string;
  readonly network_id: string;
  readonly type: BindingType;
  /** Null for the type IpAddress. */
  readonly port_id: string | null;
  /** Null for the type Port: on all addresses. */
  readonly ip_address_id: string | null;
  readonly first_discovery_id: string | null;
}

export const bindings = sqliteTable("bindings", {
  ...liveColumns,
  network_n: integer().notNull().references(() => networks.n),
  host_n: integer().notNull().references(() => hosts.n),
  service_n: integer().notNull().references(() => services.n),
  port_n: integer().references(() => ports.n),
  ip_address_n: integer().references(() => ipAddresses.n),
});

export const bindingKind: Kind<BindingRecord> = {
  name: "binding",
  plural: "bindings",
  code: 13,
  shape: 1,
  table: bindings,
  columns: (binding, n) => ({
    network_n: n(binding.network_id),
    host_n: n(binding.host_id),
    service_n: n(binding.service_id),
    port_n: binding.port_id === null ? null : n(binding.port_id),
    ip_address_n: binding.ip_address_id === null ? null : n(binding.ip_address_id),
  }),
  scopes: { network: "network_n", host: "host_n", service: "service_n" },
  scopeIds: (binding) => ({ network: binding.network_id, host: binding.host_id, service: binding.service_id }),
  owners: (binding) => [{ kind: "service", id: binding.service_id, as: "bindings" }],
  observed: ["last_discovery_id", "last_seen_at"],
  absent: "null",
  identity: (binding) => `${binding.service_id}/${binding.type}/${binding.port_id ?? ""}/${binding.ip_address_id ?? ""}`,
  unique: { field: "port_id", value: (binding) => binding.port_id ?? binding.ip_address_id },
};

const identifying = { id: Type.Optional(Uuid), service_id: Type.Optional(Uuid), host_id: Type.Optional(Uuid), network_id: Type.Optional(Uuid) };
const READ_ONLY = OBSERVED_READ_ONLY;

/** An item of a service's list. */
export const BindingItem = Type.Union([
  Body({ ...identifying, type: Type.Literal("Port"), port_id: Uuid, ip_address_id: Type.Optional(Nullable(Uuid, { description: "Null or left out: on all addresses." })) }, { ignored: READ_ONLY }),
  Body({ ...identifying, type: Type.Literal("IpAddress"), ip_address_id: Uuid, port_id: Type.Optional(Type.Null()) }, { ignored: READ_ONLY }),
]);
export type BindingItem = Static<typeof BindingItem>;

export const Binding = Type.Object(
  {
    id: Uuid,
    service_id: Uuid,
    network_id: Uuid,
    type: OneOf(BINDING_TYPES),
    port_id: Nullable(Uuid),
    ip_address_id: Nullable(Uuid, { description: "Null: on all addresses of the host." }),
    ...observedFields,
    ...recordFields,
  },
  { $id: "Binding" },
);
