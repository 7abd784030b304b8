// Host: a device in a network. Owns its addresses, ports, services and interface entries.

import { type TObject, Type } from "@sinclair/typebox";
import { sqliteTable, text } from "drizzle-orm/sqlite-core";
import { namesOf } from "../../base/fields.ts";
import { textSortKey } from "../../base/text.ts";
import { type Kind, liveColumns, type OwnFields } from "../../db/kind.ts";
import { Description, Line, MacText, Name, Nullable, OneOf, TagIds, Timestamp, Uuid } from "../../schemas/schemas.ts";
import { customFieldsOfResponse, withValueNames, wordsOfValues } from "../custom-fields/field-values.ts";
import { discoverableFields } from "../discovered.ts";
import { requiredReference } from "../live-columns.ts";
import { networks } from "../networks/network.ts";
import type { RecordOf, WriteSchemas } from "../record.ts";
import { withoutListItem } from "../references.ts";
import { Source } from "../source.ts";
import { HostVirtualization, withoutService } from "../virtualization.ts";
import { DEVICE_TYPE_SOURCES, DEVICE_TYPES } from "./device-type.ts";

const NullableText = Nullable(Type.String());

/** Device-reported fields, set by scans. */
const deviceFields = {
  /** SNMPv2-MIB system group (RFC 3418). */
  sys_name: NullableText,
  sys_descr: NullableText,
  sys_object_id: NullableText,
  sys_location: NullableText,
  sys_contact: NullableText,
  /** LLDP chassis id (IEEE 802.1AB). */
  chassis_id: NullableText,
  manufacturer: NullableText,
  model: NullableText,
  serial_number: NullableText,
};
export type DeviceField = keyof typeof deviceFields;

/** Response fields of the host itself. */
export const hostFields = {
  id: Uuid,
  name: Name,
  hostname: Nullable(Line),
  description: Nullable(Description),
  hidden: Type.Boolean(),
  network_id: Uuid,
  tags: TagIds,
  source: Source,
  virtualization: Nullable(HostVirtualization),
  ...deviceFields,
  bridge_address: Type.Optional(
    Nullable(MacText, {
      description: "dot1dBaseBridgeAddress (RFC 4188), by which neighbors may know the device. Absent if unknown.",
    }),
  ),
  engine_id: Type.Optional(
    Nullable(Type.String(), {
      description: "snmpEngineID (RFC 3411) in hexadecimal, by which scans recognize the device. Absent if unknown.",
    }),
  ),
  device_type: Type.Optional(
    OneOf(DEVICE_TYPES, {
      description:
        "Derived by scans, unless a user set it. Absent, like Unknown, for a host that no scan has seen since the field exists.",
    }),
  ),
  device_type_source: Type.Optional(
    Nullable(OneOf(DEVICE_TYPE_SOURCES), {
      description:
        "What the type follows from: User, a user set it; Description, its model or description; ObjectId, its sysObjectID; Capabilities, those it announces itself; Services, its sysServices; Neighbors, what other devices hear of it; OpenPorts; Vendor, of a MAC address. Null for Unknown.",
    }),
  ),
  split_from: Type.Optional(
    Nullable(Uuid, { description: "The host from which scans split it, as two machines had answered as one." }),
  ),
  management_url: NullableText,
  asset_tag: Nullable(Name, {
    description: "The owner's inventory number. Set only by users, never by scans.",
  }),
  last_seen_at: Nullable(Timestamp, { description: "Time when discovery last saw it; null if never." }),
  ...discoverableFields,
  ...customFieldsOfResponse,
};
export interface HostRecord extends RecordOf<TObject<typeof hostFields>> {}

/** Fields ignored when a client sends them back. */
export const HOST_READ_ONLY = [
  "source",
  "chassis_id",
  "bridge_address",
  "engine_id",
  "device_type_source",
  "split_from",
] as const;
const DeviceLine = Type.Optional(Nullable(Type.String({ maxLength: 4_000 })));

/** Optional fields of a write. */
export const hostWriteFields = {
  description: Type.Optional(hostFields.description),
  hostname: Type.Optional(hostFields.hostname),
  virtualization: Type.Optional(hostFields.virtualization),
  sys_name: DeviceLine,
  sys_descr: DeviceLine,
  sys_object_id: DeviceLine,
  sys_location: DeviceLine,
  sys_contact: DeviceLine,
  manufacturer: DeviceLine,
  model: DeviceLine,
  serial_number: DeviceLine,
  device_type: hostFields.device_type,
  management_url: DeviceLine,
  asset_tag: Type.Optional(hostFields.asset_tag),
} satisfies WriteSchemas<
  HostRecord,
  "network_id" | "name" | "hidden" | "tags" | "custom_fields" | (typeof HOST_READ_ONLY)[number]
>;
export const HOST_WRITE_FIELDS = namesOf(hostWriteFields);

/** Defaults for omitted fields. */
export const HOST_DEFAULTS = {
  hostname: null,
  description: null,
  hidden: false,
  tags: [],
  virtualization: null,
  sys_name: null,
  sys_descr: null,
  sys_object_id: null,
  sys_location: null,
  sys_contact: null,
  chassis_id: null,
  manufacturer: null,
  model: null,
  serial_number: null,
  device_type: "Unknown",
  device_type_source: null,
  management_url: null,
  asset_tag: null,
} satisfies Omit<OwnFields<HostRecord>, "network_id" | "name" | "source">;

export const hosts = sqliteTable("hosts", {
  ...liveColumns,
  network_n: requiredReference(() => networks.n),
  name: text().notNull(),
  hostname: text(),
});

export const hostKind: Kind<HostRecord> = {
  name: "host",
  plural: "hosts",
  code: 7,
  table: hosts,
  columns: (host) => ({ name: host.name, hostname: host.hostname }),
  scopes: { network: "network_id" },
  partFields: ["interfaces", "ip_addresses", "ports", "services", "components"],
  countedWith: ["id"],
  references: [
    { to: "network", field: "network_id", refuses: true },
    { to: "tag", field: "tags", without: withoutListItem("tags") },
    { to: "service", field: "virtualization", without: withoutService },
  ],
  links: (host) => [
    { relation: "tags", ids: host.tags },
    {
      relation: "virtualization",
      ids: host.virtualization?.details.service_id === undefined ? [] : [host.virtualization.details.service_id],
    },
  ],
  observed: ["last_seen_at"],
  absent: "null",
  // Names are not unique; a later incarnation is a host of the same name in the same network.
  identity: (host) => `${host.network_id}/${host.name}`,
  unique: null,
  indexedNames: (host) =>
    withValueNames(
      [
        ...HOST_NAMES.map((field) => ({ field, value: host[field], as: "Name" }) as const),
        ...HOST_TEXTS.map((field) => ({ field, value: host[field], as: "Text" }) as const),
        ...HOST_IDENTIFIERS.map((field) => ({ field, value: host[field], as: "Name", isGlobalOnly: true }) as const),
      ],
      host.custom_fields,
    ),
  search: {
    texts: (host) => ({ words: [...HOST_WORDS.map((field) => host[field]), ...wordsOfValues(host.custom_fields)] }),
    finds: (host) => host.id,
  },
  sortKeys: {
    name: textSortKey,
    hostname: textSortKey,
    manufacturer: textSortKey,
    model: textSortKey,
    sys_location: textSortKey,
  },
};

const HOST_NAMES = ["name", "hostname", "sys_name", "asset_tag"] as const;
const HOST_TEXTS = ["description", "sys_descr"] as const;
/** Additional identifying fields, used by the search over all kinds. */
const HOST_IDENTIFIERS = ["serial_number", "chassis_id", "model", "manufacturer", "sys_location"] as const;
/** Fields whose words are searched. The order is that of the stored strings. */
export const HOST_WORDS = ["name", "hostname", "sys_name", "description", "sys_descr", "asset_tag"] as const;
