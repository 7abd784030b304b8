// The IP address of a host, in a subnet of the host's network.

import { Type } from "@sinclair/typebox";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { liveColumns, type Kind, type RecordBase } from "../../db/kind.ts";
import { Body, INT32_MAX, IpAddressText, Line, MacText, Nullable, OBSERVED_READ_ONLY, observedFields, recordFields, Uuid } from "../../http/schemas.ts";
import { hosts } from "../hosts/host.ts";
import { networks } from "../networks/network.ts";
import { subnets } from "../subnets/subnet.ts";

export interface IpAddressRecord extends RecordBase {
  readonly host_id: string;
  readonly network_id: string;
  readonly subnet_id: string;
  /** Canonical (RFC 5952). */
  readonly ip_address: string;
  readonly mac_address: string | null;
  readonly name: string;
  readonly position: number;
  readonly first_discovery_id: string | null;
}

export const ipAddresses = sqliteTable("ip_addresses", {
  ...liveColumns,
  network_n: integer().notNull().references(() => networks.n),
  host_n: integer().notNull().references(() => hosts.n),
  subnet_n: integer().notNull().references(() => subnets.n),
  ip_address: text().notNull(),
  mac_address: text(),
});

export const ipAddressKind: Kind<IpAddressRecord> = {
  name: "ip_address",
  plural: "ip_addresses",
  code: 8,
  shape: 1,
  table: ipAddresses,
  columns: (address, n) => ({
    network_n: n(address.network_id),
    host_n: n(address.host_id),
    subnet_n: n(address.subnet_id),
    ip_address: address.ip_address,
    mac_address: address.mac_address,
  }),
  scopes: { network: "network_n", host: "host_n" },
  scopeIds: (address) => ({ network: address.network_id, host: address.host_id }),
  owners: (address) => [{ kind: "host", id: address.host_id, as: "ip_addresses" }],
  observed: ["last_discovery_id", "last_seen_at"],
  absent: "null",
  identity: (address) => `${address.host_id}/${address.ip_address}`,
  unique: { field: "ip_address", value: (address) => address.ip_address },
};

/** An item of a host's list. */
export const IpAddressItem = Body(
  {
    id: Type.Optional(Uuid),
    host_id: Type.Optional(Uuid),
    network_id: Type.Optional(Uuid),
    subnet_id: Type.Optional(Nullable(Uuid, { description: "Left out: the most specific subnet of the network that contains the address." })),
    ip_address: IpAddressText,
    mac_address: Type.Optional(Nullable(MacText)),
    name: Type.Optional(Nullable(Line)),
    position: Type.Optional(Type.Integer({ minimum: 0, maximum: INT32_MAX, description: "Left out of a new item: its place in the list." })),
  },
  { ignored: OBSERVED_READ_ONLY },
);

export const IpAddress = Type.Object(
  {
    id: Uuid,
    host_id: Uuid,
    network_id: Uuid,
    subnet_id: Uuid,
    ip_address: Type.String(),
    mac_address: Nullable(MacText),
    name: Type.String(),
    position: Type.Integer(),
    ...observedFields,
    ...recordFields,
  },
  { $id: "IpAddress" },
);
