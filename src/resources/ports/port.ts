// A TCP or UDP port that a host serves. Its type follows from number and protocol.

import { Type } from "@sinclair/typebox";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { liveColumns, type Kind, type RecordBase } from "../../db/kind.ts";
import { Body, OBSERVED_READ_ONLY, observedFields, OneOf, recordFields, Uuid } from "../../http/schemas.ts";
import { hosts } from "../hosts/host.ts";
import { networks } from "../networks/network.ts";
import { PORT_PROTOCOLS, PORT_TYPES, type PortProtocol, type PortType } from "./port-type.ts";

export const PORT_NUMBER_MAX = 65_535;

export interface PortRecord extends RecordBase {
  readonly host_id: string;
  readonly network_id: string;
  readonly number: number;
  readonly protocol: PortProtocol;
  readonly type: PortType;
  readonly first_discovery_id: string | null;
}

export const ports = sqliteTable("ports", {
  ...liveColumns,
  network_n: integer().notNull().references(() => networks.n),
  host_n: integer().notNull().references(() => hosts.n),
  number: integer().notNull(),
  protocol: text().notNull(),
});

export const portKind: Kind<PortRecord> = {
  name: "port",
  plural: "ports",
  code: 11,
  shape: 1,
  table: ports,
  columns: (port, n) => ({ network_n: n(port.network_id), host_n: n(port.host_id), number: port.number, protocol: port.protocol }),
  scopes: { network: "network_n", host: "host_n" },
  scopeIds: (port) => ({ network: port.network_id, host: port.host_id }),
  owners: (port) => [{ kind: "host", id: port.host_id, as: "ports" }],
  observed: ["last_discovery_id", "last_seen_at"],
  absent: "null",
  identity: (port) => `${port.host_id}/${port.number}/${port.protocol}`,
  unique: { field: "number", value: (port) => `${port.number}/${port.protocol}` },
};

/** An item of a host's list. */
export const PortItem = Body(
  {
    id: Type.Optional(Uuid),
    host_id: Type.Optional(Uuid),
    network_id: Type.Optional(Uuid),
    number: Type.Integer({ minimum: 1, maximum: PORT_NUMBER_MAX }),
    protocol: OneOf(PORT_PROTOCOLS),
  },
  { ignored: [...OBSERVED_READ_ONLY, "type"] },
);

export const Port = Type.Object(
  {
    id: Uuid,
    host_id: Uuid,
    network_id: Uuid,
    number: Type.Integer(),
    protocol: OneOf(PORT_PROTOCOLS),
    type: OneOf(PORT_TYPES, { description: "Derived from number and protocol." }),
    ...observedFields,
    ...recordFields,
  },
  { $id: "Port" },
);
