// Port: a TCP or UDP port served by a host. Its type follows from number and protocol.

import { type Static, Type } from "@sinclair/typebox";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { type Kind, liveColumns } from "../../db/kind.ts";
import { Body, OBSERVED_READ_ONLY, OneOf, observedFields, recordFields, Uuid } from "../../schemas/schemas.ts";
import { DISCOVERABLE_READ_ONLY, discoverableFields } from "../discovered.ts";
import { hosts } from "../hosts/host.ts";
import { requiredReference } from "../live-columns.ts";
import { networks } from "../networks/network.ts";
import { RECORD_EXAMPLE, type RecordOf, type WriteSchemas } from "../record.ts";
import { namesIn } from "../searching.ts";
import { PORT_PROTOCOLS, PORT_TYPES } from "./port-type.ts";

export const PORT_NUMBER_MAX = 65_535;

export const ports = sqliteTable("ports", {
  ...liveColumns,
  network_n: requiredReference(() => networks.n),
  host_n: requiredReference(() => hosts.n),
  number: integer().notNull(),
  protocol: text().notNull(),
});

export const portKind: Kind<PortRecord> = {
  name: "port",
  plural: "ports",
  label: (port) => `${port.number}/${port.protocol}`,
  code: 11,
  table: ports,
  columns: (port) => ({
    number: port.number,
    protocol: port.protocol,
  }),
  scopes: { network: "network_id", host: "host_id" },
  countedWith: ["host_id"],
  references: [{ to: "host", field: "host_id" }],
  owners: (port) => [{ kind: "host", id: port.host_id, as: "ports" }],
  observed: ["last_discovery_id", "last_seen_at"],
  absent: "null",
  identity: (port) => `${port.host_id}/${port.number}/${port.protocol}`,
  indexedNames: namesIn<PortRecord>({ number: "Number", type: "Name" }),
  unique: { field: "number", value: (port) => port.number },
};

const identifying = { id: Type.Optional(Uuid), network_id: Type.Optional(Uuid) };
const writeFields = {
  number: Type.Integer({ minimum: 1, maximum: PORT_NUMBER_MAX }),
  protocol: OneOf(PORT_PROTOCOLS),
} satisfies WriteSchemas<PortRecord, "host_id" | "network_id" | "type">;
const READ_ONLY = [...OBSERVED_READ_ONLY, ...DISCOVERABLE_READ_ONLY, "type"];

/** Item in a host's list of ports. */
export const PortItem = Body({ ...identifying, host_id: Type.Optional(Uuid), ...writeFields }, { ignored: READ_ONLY });
export const PortCreate = Body(
  { ...identifying, organization_id: Type.Optional(Uuid), host_id: Uuid, ...writeFields },
  { ignored: READ_ONLY },
);
export const PortUpdate = Body(
  { ...identifying, organization_id: Type.Optional(Uuid), host_id: Type.Optional(Uuid), ...writeFields },
  { ignored: READ_ONLY },
);
export type PortItem = Static<typeof PortItem>;
export type PortCreate = Static<typeof PortCreate>;
export type PortUpdate = Static<typeof PortUpdate>;

export const Port = Type.Object(
  {
    id: Uuid,
    host_id: Uuid,
    network_id: Uuid,
    number: Type.Integer(),
    protocol: OneOf(PORT_PROTOCOLS),
    type: OneOf(PORT_TYPES, { description: "Derived from number and protocol." }),
    ...observedFields,
    ...discoverableFields,
    ...recordFields,
  },
  { $id: "Port" },
);
export interface PortRecord extends RecordOf<typeof Port> {}

export const PORT_EXAMPLE: Static<typeof Port> = {
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0013",
  host_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010",
  network_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002",
  number: 443,
  protocol: "Tcp",
  type: "Https",
  first_discovery_id: null,
  last_discovery_id: null,
  last_seen_at: "2026-11-21T09:15:00.123Z",
  ...RECORD_EXAMPLE,
};
