// IP address of a host, in a subnet of the host's network.

import { type Static, Type } from "@sinclair/typebox";
import { sqliteTable, text } from "drizzle-orm/sqlite-core";
import { type Ip, ipSortKey, parseIp } from "../../base/ip.ts";
import { textSortKey } from "../../base/text.ts";
import { type Kind, liveColumns } from "../../db/kind.ts";
import {
  Body,
  INT32_MAX,
  IpAddressText,
  Line,
  MacText,
  Nullable,
  OBSERVED_READ_ONLY,
  observedFields,
  recordFields,
  Uuid,
} from "../../schemas/schemas.ts";
import { DISCOVERABLE_READ_ONLY, discoverableFields } from "../discovered.ts";
import { hosts } from "../hosts/host.ts";
import { requiredReference } from "../live-columns.ts";
import { networks } from "../networks/network.ts";
import { RECORD_EXAMPLE, type RecordOf, type WriteSchemas } from "../record.ts";
import { namesIn } from "../searching.ts";
import { subnets } from "../subnets/subnet.ts";

export const ipAddresses = sqliteTable("ip_addresses", {
  ...liveColumns,
  network_n: requiredReference(() => networks.n),
  host_n: requiredReference(() => hosts.n),
  subnet_n: requiredReference(() => subnets.n),
  ip_address: text().notNull(),
  mac_address: text(),
});

export const ipAddressKind: Kind<IpAddressRecord> = {
  name: "ip_address",
  plural: "ip_addresses",
  words: { one: "IP address", many: "IP addresses" },
  label: (address) => address.ip_address,
  code: 8,
  table: ipAddresses,
  columns: (address, n) => ({
    subnet_n: n(address.subnet_id),
    ip_address: address.ip_address,
    mac_address: address.mac_address,
  }),
  scopes: { network: "network_id", host: "host_id" },
  countedWith: ["host_id", "subnet_id"],
  references: [
    { to: "subnet", field: "subnet_id", refuses: true },
    { to: "host", field: "host_id" },
  ],
  groups: { names: ["subnet_id"] },
  owners: (address) => [{ kind: "host", id: address.host_id, as: "ip_addresses" }],
  observed: ["last_discovery_id", "last_seen_at"],
  absent: "null",
  identity: (address) => `${address.host_id}/${address.ip_address}`,
  indexedNames: namesIn<IpAddressRecord>({ ip_address: "Address", mac_address: "Mac", name: "Name" }),
  search: {
    texts: (address) => ({ values: [address.ip_address, address.mac_address], words: [address.name] }),
    finds: (address) => address.host_id,
    findsItself: true,
  },
  unique: { field: "ip_address", value: (address) => address.ip_address },
  orderKeys: { ip_address: (text) => ipSortKey(parseIp(text) as Ip), name: textSortKey },
};

const Position = (defaultNote: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: INT32_MAX, description: defaultNote }));
const writeFields = {
  subnet_id: Type.Optional(
    Nullable(Uuid, { description: "Default: the most specific subnet of the network that contains the address." }),
  ),
  ip_address: IpAddressText,
  mac_address: Type.Optional(Nullable(MacText)),
  name: Type.Optional(Nullable(Line, { description: 'Default: "". Null clears the name.' })),
} satisfies WriteSchemas<IpAddressRecord, "host_id" | "network_id" | "position">;
const identifying = { id: Type.Optional(Uuid), network_id: Type.Optional(Uuid) };

/** Item in a host's list of addresses. */
export const IpAddressItem = Body(
  {
    ...identifying,
    host_id: Type.Optional(Uuid),
    ...writeFields,
    position: Position("Default for a new item: its position in the list."),
  },
  { ignored: [...OBSERVED_READ_ONLY, ...DISCOVERABLE_READ_ONLY] },
);
const position = Position("Default on create: after the host's last address.");
export const IpAddressCreate = Body(
  { ...identifying, organization_id: Type.Optional(Uuid), host_id: Uuid, ...writeFields, position },
  { ignored: [...OBSERVED_READ_ONLY, ...DISCOVERABLE_READ_ONLY] },
);
export const IpAddressUpdate = Body(
  { ...identifying, organization_id: Type.Optional(Uuid), host_id: Type.Optional(Uuid), ...writeFields, position },
  { ignored: [...OBSERVED_READ_ONLY, ...DISCOVERABLE_READ_ONLY] },
);
export type IpAddressItem = Static<typeof IpAddressItem>;
export type IpAddressCreate = Static<typeof IpAddressCreate>;
export type IpAddressUpdate = Static<typeof IpAddressUpdate>;

export const IpAddress = Type.Object(
  {
    id: Uuid,
    host_id: Uuid,
    network_id: Uuid,
    subnet_id: Uuid,
    /** Canonical (RFC 5952). */
    ip_address: IpAddressText,
    mac_address: Nullable(MacText),
    name: Type.String(),
    position: Type.Integer(),
    ...observedFields,
    ...discoverableFields,
    ...recordFields,
  },
  { $id: "IpAddress" },
);
export interface IpAddressRecord extends RecordOf<typeof IpAddress> {}

/** Result of a confirmation. */
export interface ConfirmedAddress {
  readonly id: string;
  /** Credentials sent to the address through assignments to its host. */
  readonly credential_ids: readonly string[];
}

/** A confirmed address with the credentials sent to it. */
export const ConfirmedIpAddress = Type.Object(
  {
    ...IpAddress.properties,
    credential_ids: Type.Array(Uuid, {
      description:
        "The credentials sent to this address because they are assigned to its host; excludes those assigned to its network.",
    }),
  },
  { $id: "ConfirmedIpAddress" },
);

export const IP_ADDRESS_EXAMPLE: Static<typeof IpAddress> = {
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0012",
  host_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010",
  network_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002",
  subnet_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0004",
  ip_address: "10.2.3.4",
  mac_address: "00:1b:21:aa:bb:cc",
  name: "eth0",
  position: 0,
  first_discovery_id: null,
  last_discovery_id: null,
  last_seen_at: "2026-11-21T09:15:00.123Z",
  ...RECORD_EXAMPLE,
};
