// Interface entry of a host: a row of its interface table with its link data (IF-MIB, LLDP, CDP).

import { type Static, Type } from "@sinclair/typebox";
import { type AnySQLiteColumn, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { namesOf } from "../../base/fields.ts";
import { textSortKey } from "../../base/text.ts";
import { type Kind, liveColumns } from "../../db/kind.ts";
import { membersSql, type Upcaster } from "../../db/shape.ts";
import {
  Body,
  INT32_MAX,
  MacText,
  Nullable,
  OBSERVED_READ_ONLY,
  OneOf,
  Timestamp,
  Uuid,
} from "../../schemas/schemas.ts";
import { customFieldsOfBody, customFieldsOfResponse, namesAndValuesIn } from "../custom-fields/field-values.ts";
import { DISCOVERABLE_READ_ONLY, discoverableFields } from "../discovered.ts";
import { hosts } from "../hosts/host.ts";
import { ipAddresses } from "../ip-addresses/ip-address.ts";
import { requiredReference } from "../live-columns.ts";
import { networks } from "../networks/network.ts";
import type { RecordOf, WriteSchemas } from "../record.ts";
import { vlans } from "../vlans/vlan.ts";
import { linkIndexEntries } from "./link-index-entries.ts";
import { MoreNeighborSchema, moreNeighborIds, withoutFarEnd } from "./more-neighbors.ts";
import {
  ADMIN_STATUSES,
  CDP_CAPABILITIES,
  CHASSIS_ID_SUBTYPES,
  LLDP_CAPABILITIES,
  OPER_STATUSES,
  PORT_ID_SUBTYPES,
} from "./vocabulary.ts";

/** Equals the limit per scanned device, so that any scan result of one interface can be sent back. */
export const FDB_MACS_MAX = 50_000;
/**
 * Limit of stored MAC addresses in addition to a manual list: they are rewritten with every change to the device's
 * table.
 */
export const FDB_MACS_DISCOVERED_MAX = 1_000;
export const VLAN_IDS_MAX = 4_094;
/** 2^53 − 1: larger integers lose precision in JSON. */
export const SPEED_BPS_MAX = Number.MAX_SAFE_INTEGER;
export const DEVICE_TEXT_MAX_LENGTH = 4_000;

export const ifEntries = sqliteTable("if_entries", {
  ...liveColumns,
  network_n: requiredReference(() => networks.n),
  host_n: requiredReference(() => hosts.n),
  if_index: integer().notNull(),
  ip_address_n: integer().references(() => ipAddresses.n),
  native_vlan_n: integer().references(() => vlans.n),
  mac_address: text(),
  lag_n: integer().references((): AnySQLiteColumn => ifEntries.n),
  parent_n: integer().references((): AnySQLiteColumn => ifEntries.n),
});

/** For composing entries in SQL: code of the forwarding-entry kind, whose definition references this module. */
const FDB_ENTRY_CODE = 10;
export const FDB_ENTRY_UPCASTERS: readonly Upcaster[] = [];

export const ifEntryKind: Kind<IfEntryRecord> = {
  name: "if_entry",
  plural: "if_entries",
  words: { one: "interface entry", many: "interface entries" },
  label: (entry) => entry.if_name || entry.if_descr,
  code: 9,
  table: ifEntries,
  columns: (entry, n) => ({
    if_index: entry.if_index,
    ip_address_n: entry.ip_address_id === undefined ? null : n(entry.ip_address_id),
    native_vlan_n: entry.native_vlan_id === undefined ? null : n(entry.native_vlan_id),
    mac_address: entry.mac_address ?? null,
    lag_n: entry.lag_id === undefined ? null : n(entry.lag_id),
    parent_n: entry.parent_id === undefined ? null : n(entry.parent_id),
  }),
  scopes: { network: "network_id", host: "host_id" },
  countedWith: ["host_id"],
  references: [
    { to: "vlan", field: "native_vlan_id", refuses: true, without: () => ({ native_vlan_id: undefined }) },
    { to: "vlan", field: "vlan_ids", refuses: true, without: withoutVlan },
    { to: "host", field: "host_id" },
    { to: "host", field: "neighbor", without: () => ({ neighbor: undefined }), matchesTarget: isNeighbor("Host") },
    { to: "host", field: "more_neighbor_hosts", without: withoutMoreNeighbor },
    { to: "if_entry", field: "more_neighbor_if_entries", without: withoutMoreNeighbor },
    {
      to: "if_entry",
      field: "neighbor",
      without: () => ({ neighbor: undefined }),
      matchesTarget: isNeighbor("IfEntry"),
    },
    { to: "ip_address", field: "ip_address_id", without: () => ({ ip_address_id: undefined }) },
    { to: "if_entry", field: "lag_id", without: () => ({ lag_id: undefined }) },
    { to: "if_entry", field: "parent_id", without: () => ({ parent_id: undefined }) },
  ],
  links: (entry) => [
    { relation: "vlan_ids", ids: entry.vlan_ids ?? [] },
    { relation: "neighbor", ids: entry.neighbor === undefined ? [] : [entry.neighbor.id] },
    { relation: "more_neighbor_hosts", ids: moreNeighborIds(entry.more_neighbors, "Host") },
    { relation: "more_neighbor_if_entries", ids: moreNeighborIds(entry.more_neighbors, "IfEntry") },
  ],
  owners: (entry) => [{ kind: "host", id: entry.host_id, as: "interfaces" }],
  changesIndex: { field: "oper_status", name: "history_versions_of_status" },
  groups: { values: { oper_status: OPER_STATUSES }, names: ["native_vlan_id", "vlan_ids"] },
  observed: ["last_discovery_id", "last_seen_at"],
  absent: "omitted",
  identity: (entry) => `${entry.host_id}/${entry.if_index}`,
  indexedNames: namesAndValuesIn<IfEntryRecord>({
    if_name: "Interface",
    if_descr: "Interface",
    if_alias: "Name",
    mac_address: "Mac",
  }),
  search: {
    texts: (entry) => ({ values: [entry.mac_address, ...linkIndexEntries(entry)] }),
    finds: (entry) => entry.host_id,
  },
  unique: { field: "if_index", value: (entry) => entry.if_index },
  orderKeys: { if_descr: textSortKey, if_name: textSortKey, if_alias: textSortKey },
  composedSql: {
    code: FDB_ENTRY_CODE,
    live: `(SELECT ',"fdb_macs":' || json_group_array(mac_address)
      FROM (SELECT DISTINCT f.mac_address FROM fdb_entries f WHERE f.if_entry_n = p.n ORDER BY f.mac_address))`,
    asOf: `(SELECT ',"fdb_macs":' || json_group_array(mac_address)
      FROM (SELECT DISTINCT (SELECT ('{' || ${membersSql({ upcasters: FDB_ENTRY_UPCASTERS }, "fv")} || '}') ->>
      '$.mac_address' FROM history_versions fv WHERE fv.key <= ((fs.n << 31) | ?1) ORDER BY fv.key DESC LIMIT 1) AS
      mac_address FROM history_spans fs WHERE fs.scope = p.n * 64 + ${FDB_ENTRY_CODE} AND fs.born <= ?1
      AND fs.died > ?1 ORDER BY mac_address))`,
  },
};

function withoutVlan({ vlan_ids = [] }: IfEntryRecord, id: string) {
  const remaining = vlan_ids.filter((each) => each !== id);
  return { vlan_ids: remaining.length === 0 ? undefined : remaining };
}

function withoutMoreNeighbor({ more_neighbors = [] }: IfEntryRecord, id: string) {
  return { more_neighbors: withoutFarEnd(more_neighbors, id) };
}

function isNeighbor(type: "Host" | "IfEntry") {
  return (entry: IfEntryRecord): boolean => entry.neighbor?.type === type;
}

const DeviceText = Type.String({ maxLength: DEVICE_TEXT_MAX_LENGTH });
const optionalText = Type.Optional(Nullable(DeviceText));

const ChassisId = Body(
  { subtype: OneOf(CHASSIS_ID_SUBTYPES), value: DeviceText },
  { description: "LLDP chassis id, IEEE 802.1AB." },
);
const PortId = Body(
  { subtype: OneOf(PORT_ID_SUBTYPES), value: DeviceText },
  { description: "LLDP port id, IEEE 802.1AB." },
);
const LldpCapabilities = Type.Array(OneOf(LLDP_CAPABILITIES), {
  uniqueItems: true,
  description: "Enabled system capabilities of the LLDP neighbor (IEEE 802.1AB §8.5.8); the supported ones if none is.",
});
const CdpCapabilities = Type.Array(OneOf(CDP_CAPABILITIES), {
  uniqueItems: true,
  description: "Capabilities of the CDP neighbor (CISCO-CDP-MIB).",
});
const Neighbor = Body(
  { type: OneOf(["IfEntry", "Host"] as const), id: Uuid },
  { description: "The far end of the link, if known." },
);
const Speed = Type.Integer({ minimum: 0, maximum: SPEED_BPS_MAX, description: "Bits per second." });
const IfIndex = Type.Integer({ minimum: 1, maximum: INT32_MAX, description: "ifIndex (IF-MIB, RFC 2863)." });
const IfType = Type.Integer({ minimum: 1, maximum: INT32_MAX, description: "ifType (IANAifType-MIB)." });

const LAG = "The link aggregate (IEEE 802.1AX) that the port is a member of: another interface entry of the same host.";
const PARENT =
  "The port or aggregate that the interface is a unit, subinterface or VLAN of: another interface entry of the same host.";

const FORWARDED = `MAC addresses that the device forwards to this interface. A list set by a user stays; the first ${FDB_MACS_DISCOVERED_MAX} found by a scan are then in \`discovered\`.`;

/** Fields of a write, except the identifying ones. */
const writeFields = {
  if_name: optionalText,
  if_alias: optionalText,
  if_type: Type.Optional(IfType),
  speed_bps: Type.Optional(Nullable(Speed)),
  admin_status: Type.Optional(OneOf(ADMIN_STATUSES)),
  oper_status: Type.Optional(OneOf(OPER_STATUSES)),
  mac_address: Type.Optional(Nullable(MacText)),
  ip_address_id: Type.Optional(Nullable(Uuid, { description: "An address of the same host." })),
  lag_id: Type.Optional(Nullable(Uuid, { description: LAG })),
  parent_id: Type.Optional(Nullable(Uuid, { description: PARENT })),
  native_vlan_id: Type.Optional(Nullable(Uuid)),
  vlan_ids: Type.Optional(Nullable(Type.Array(Uuid, { maxItems: VLAN_IDS_MAX }))),
  fdb_macs: Type.Optional(Nullable(Type.Array(MacText, { maxItems: FDB_MACS_MAX, description: FORWARDED }))),
  lldp_chassis_id: Type.Optional(Nullable(ChassisId)),
  lldp_port_id: Type.Optional(Nullable(PortId)),
  lldp_sys_name: optionalText,
  lldp_sys_desc: optionalText,
  lldp_port_desc: optionalText,
  lldp_mgmt_addr: optionalText,
  lldp_capabilities: Type.Optional(Nullable(LldpCapabilities)),
  cdp_device_id: optionalText,
  cdp_port_id: optionalText,
  cdp_platform: optionalText,
  cdp_address: optionalText,
  cdp_capabilities: Type.Optional(Nullable(CdpCapabilities)),
  neighbor: Type.Optional(Nullable(Neighbor)),
  ...customFieldsOfBody,
} satisfies WriteSchemas<
  IfEntryRecord,
  "host_id" | "network_id" | "if_index" | "if_descr" | "more_neighbors",
  "fdb_macs"
>;
const { fdb_macs: _forwarding, custom_fields: _values, ...storedFields } = writeFields;
export const IF_ENTRY_WRITE_FIELDS = namesOf(storedFields);
/** Defaults for omitted fields. */
export const IF_ENTRY_DEFAULTS = { if_type: 1, admin_status: "Up", oper_status: "Unknown" } as const;

const identifying = { id: Type.Optional(Uuid), organization_id: Type.Optional(Uuid), network_id: Type.Optional(Uuid) };

const READ_ONLY = [...OBSERVED_READ_ONLY, ...DISCOVERABLE_READ_ONLY, "more_neighbors"];

export const IfEntryCreate = Body(
  { ...identifying, host_id: Uuid, if_index: IfIndex, if_descr: DeviceText, ...writeFields },
  { ignored: READ_ONLY },
);
export const IfEntryUpdate = Body(
  { ...identifying, host_id: Type.Optional(Uuid), if_index: IfIndex, if_descr: DeviceText, ...writeFields },
  { ignored: READ_ONLY },
);
/** Item of `interfaces` when a host is created. */
export const IfEntryItem = IfEntryUpdate;
export type IfEntryCreate = Static<typeof IfEntryCreate>;
export type IfEntryUpdate = Static<typeof IfEntryUpdate>;
export type IfEntryItem = IfEntryUpdate;

/** A list item (handbook: api, "Values"): optional fields without a value are absent. */
export const IfEntry = Type.Object(
  {
    id: Uuid,
    host_id: Uuid,
    network_id: Uuid,
    if_index: Type.Integer(),
    if_descr: Type.String(),
    if_type: Type.Integer(),
    admin_status: OneOf(ADMIN_STATUSES),
    oper_status: OneOf(OPER_STATUSES),
    created_at: Timestamp,
    updated_at: Timestamp,
    if_name: Type.Optional(Type.String()),
    if_alias: Type.Optional(Type.String()),
    speed_bps: Type.Optional(Speed),
    mac_address: Type.Optional(MacText),
    ip_address_id: Type.Optional(Uuid),
    lag_id: Type.Optional({ ...Uuid, description: LAG }),
    parent_id: Type.Optional({ ...Uuid, description: PARENT }),
    native_vlan_id: Type.Optional(Uuid),
    vlan_ids: Type.Optional(Type.Array(Uuid)),
    fdb_macs: Type.Optional(Type.Array(MacText)),
    lldp_chassis_id: Type.Optional(ChassisId),
    lldp_port_id: Type.Optional(PortId),
    lldp_sys_name: Type.Optional(Type.String()),
    lldp_sys_desc: Type.Optional(Type.String()),
    lldp_port_desc: Type.Optional(Type.String()),
    lldp_mgmt_addr: Type.Optional(Type.String()),
    lldp_capabilities: Type.Optional(LldpCapabilities),
    cdp_device_id: Type.Optional(Type.String()),
    cdp_port_id: Type.Optional(Type.String()),
    cdp_platform: Type.Optional(Type.String()),
    cdp_address: Type.Optional(Type.String()),
    cdp_capabilities: Type.Optional(CdpCapabilities),
    neighbor: Type.Optional(Neighbor),
    more_neighbors: Type.Optional(
      Type.Array(MoreNeighborSchema, {
        description:
          "Present if a protocol announces several neighbors: all except the first, which is in the lldp_ and cdp_ fields.",
      }),
    ),
    first_discovery_id: Type.Optional(Uuid),
    last_discovery_id: Type.Optional(Uuid),
    last_seen_at: Type.Optional(Timestamp),
    ...discoverableFields,
    ...customFieldsOfResponse,
    lineage_id: Type.Optional(Uuid),
    valid_from: Type.Optional(Timestamp),
    valid_to: Type.Optional(Timestamp),
  },
  { $id: "IfEntry" },
);
export interface IfEntryRecord extends RecordOf<typeof IfEntry, "fdb_macs"> {}

export const IF_ENTRY_EXAMPLE: Static<typeof IfEntry> = {
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0011",
  host_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010",
  network_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002",
  if_index: 1,
  if_descr: "GigabitEthernet1/0/1",
  if_name: "Gi1/0/1",
  if_alias: "uplink to core",
  if_type: 6,
  speed_bps: 1_000_000_000,
  admin_status: "Up",
  oper_status: "Up",
  mac_address: "00:1b:21:aa:bb:cc",
  lldp_chassis_id: { subtype: "MacAddress", value: "00:1b:21:00:00:01" },
  lldp_port_id: { subtype: "InterfaceName", value: "Gi0/48" },
  lldp_sys_name: "core-1",
  fdb_macs: ["00:1b:21:00:00:01"],
  last_seen_at: "2026-11-21T09:15:00.123Z",
  created_at: "2026-11-21T09:15:00.123Z",
  updated_at: "2026-11-21T09:15:00.123Z",
  valid_from: "2026-11-21T09:15:00.123Z",
};
