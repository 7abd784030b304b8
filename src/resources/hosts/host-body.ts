// Request and response schemas of hosts, including the host with its children.

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import {
  Body,
  CHILDREN_MAX,
  MacText,
  Name,
  Nullable,
  OneOf,
  RECORD_READ_ONLY,
  recordFields,
  TagIds,
  Timestamp,
  Uuid,
} from "../../schemas/schemas.ts";
import { customFieldsOfBody, customFieldsOfResponse } from "../custom-fields/field-values.ts";
import { DISCOVERABLE_READ_ONLY, discoverableFields } from "../discovered.ts";
import { type IfEntry, IfEntryItem } from "../if-entries/if-entry.ts";
import {
  ADMIN_STATUSES,
  CDP_CAPABILITIES,
  CHASSIS_ID_SUBTYPES,
  LLDP_CAPABILITIES,
  OPER_STATUSES,
  PORT_ID_SUBTYPES,
} from "../if-entries/vocabulary.ts";
import { IpAddress, IpAddressItem } from "../ip-addresses/ip-address.ts";
import { LastSeen } from "../last-seen.ts";
import { Port, PortItem } from "../ports/port.ts";
import { Service, ServiceItem, syncedList } from "../services/service-body.ts";
import { HOST_READ_ONLY, hostFields, hostWriteFields } from "./host.ts";

/** A credential used to query this host. */
export const CredentialAssignment = Body(
  {
    credential_id: Uuid,
    ip_address_ids: Type.Optional(
      Nullable(
        Type.Array(Uuid, {
          minItems: 1,
          maxItems: CHILDREN_MAX,
          description:
            "Only these addresses; omitted: all current addresses of the host. An address added or changed later awaits confirmation (`confirmIpAddress`).",
        }),
      ),
    ),
  },
  { $id: "CredentialAssignment" },
);
export type CredentialAssignment = Static<typeof CredentialAssignment>;

const children = {
  credential_assignments: Type.Optional(
    Nullable(
      Type.Array(CredentialAssignment, {
        maxItems: CHILDREN_MAX,
        description: "Replaces all assignments; null or omitted: unchanged. Changes require the role Admin.",
      }),
    ),
  ),
  ip_addresses: syncedList(IpAddressItem, "the host's addresses"),
  ports: syncedList(PortItem, "the host's ports"),
  services: syncedList(ServiceItem, "the host's services"),
};
const ignored = [
  ...RECORD_READ_ONLY,
  ...DISCOVERABLE_READ_ONLY,
  ...HOST_READ_ONLY,
  "last_seen",
  "last_seen_at",
  "consolidated_into",
];

export const HostCreate = Body(
  {
    id: Type.Optional(Uuid),
    organization_id: Type.Optional(Uuid),
    network_id: Uuid,
    name: Name,
    hidden: Type.Optional(Type.Boolean()),
    tags: Type.Optional(TagIds),
    ...hostWriteFields,
    ...customFieldsOfBody,
    ...children,
    interfaces: Type.Optional(Nullable(Type.Array(IfEntryItem, { maxItems: CHILDREN_MAX }))),
  },
  { ignored },
);
export type HostCreate = Static<typeof HostCreate>;

export const HostUpdate = Body(
  {
    id: Uuid,
    organization_id: Type.Optional(Uuid),
    network_id: Type.Optional(Uuid),
    name: Name,
    hidden: Type.Boolean(),
    tags: TagIds,
    ...hostWriteFields,
    ...customFieldsOfBody,
    ...children,
    expected_updated_at: Type.Optional(
      Nullable(Timestamp, {
        description: "Optimistic locking: 409 unless this is the host's updated_at; null: no lock.",
      }),
    ),
  },
  // Interface entries are written through their own endpoint: sending back an outdated host must not delete entries
  // discovered since.
  { ignored: [...ignored, "interfaces"] },
);
export type HostUpdate = Static<typeof HostUpdate>;

const NullableText = Nullable(Type.String());

/** Fields in the list of interface entries that are omitted within a host. */
export const LIST_ONLY_FIELDS = {
  fdb_macs: undefined,
  native_vlan_id: undefined,
  vlan_ids: undefined,
  more_neighbors: undefined,
};

/** An interface entry within its host: every field present. */
export const HostIfEntry = Type.Object(
  {
    id: Uuid,
    host_id: Uuid,
    network_id: Uuid,
    if_index: Type.Integer(),
    if_descr: Type.String(),
    if_name: NullableText,
    if_alias: NullableText,
    if_type: Type.Integer(),
    speed_bps: Nullable(Type.Integer()),
    admin_status: OneOf(ADMIN_STATUSES),
    oper_status: OneOf(OPER_STATUSES),
    mac_address: Nullable(MacText),
    ip_address_id: Nullable(Uuid),
    lag_id: Nullable(Uuid),
    parent_id: Nullable(Uuid),
    lldp_chassis_id: Nullable(Type.Object({ subtype: OneOf(CHASSIS_ID_SUBTYPES), value: Type.String() })),
    lldp_port_id: Nullable(Type.Object({ subtype: OneOf(PORT_ID_SUBTYPES), value: Type.String() })),
    lldp_sys_name: NullableText,
    lldp_sys_desc: NullableText,
    lldp_port_desc: NullableText,
    lldp_mgmt_addr: NullableText,
    lldp_capabilities: Nullable(Type.Array(OneOf(LLDP_CAPABILITIES))),
    cdp_device_id: NullableText,
    cdp_port_id: NullableText,
    cdp_platform: NullableText,
    cdp_address: NullableText,
    cdp_capabilities: Nullable(Type.Array(OneOf(CDP_CAPABILITIES))),
    neighbor: Nullable(Type.Object({ type: OneOf(["IfEntry", "Host"] as const), id: Uuid })),
    first_discovery_id: Nullable(Uuid),
    last_discovery_id: Nullable(Uuid),
    last_seen_at: Timestamp,
    ...discoverableFields,
    ...customFieldsOfResponse,
    ...recordFields,
  } satisfies Record<Exclude<keyof Static<typeof IfEntry>, keyof typeof LIST_ONLY_FIELDS>, TSchema>,
  { $id: "HostInterface" },
);

export const Host = Type.Object(
  {
    ...hostFields,
    credential_assignments: Type.Array(CredentialAssignment),
    interfaces: Type.Array(HostIfEntry),
    ip_addresses: Type.Array(IpAddress),
    ports: Type.Array(Port),
    services: Type.Array(Service),
    consolidated_into: Nullable(Uuid, {
      description: "For the last version of a consolidated host: the host it was consolidated into. Otherwise null.",
    }),
    ...recordFields,
  },
  { $id: "Host" },
);

const {
  interfaces: _interfaces,
  ip_addresses: _addresses,
  ports: _ports,
  services: _services,
  ...ownFields
} = Host.properties;

/** A host without its children, as in change lists. */
export const HostAlone = Type.Object(ownFields, { $id: "HostAlone" });

const Count = Type.Integer({ minimum: 0 });

/** Number of children of a host. */
export const HostCounts = Type.Object(
  { interfaces: Count, ip_addresses: Count, ports: Count, services: Count, components: Count },
  { $id: "HostCounts", description: "With `include`: number of children, as of the timestamp." },
);
export type HostCounts = Static<typeof HostCounts>;

/** A host with optional children (`include_children=false`, `include`, `children=ip_addresses`). */
export const ListedHost = Type.Object(
  {
    ...Host.properties,
    interfaces: optionalChildren(HostIfEntry),
    ip_addresses: optionalChildren(IpAddress, "without `children=ip_addresses`"),
    ports: optionalChildren(Port),
    services: optionalChildren(Service),
    counts: Type.Optional(HostCounts),
  },
  { $id: "ListedHost" },
);

/** One host, with its last known location. */
export const HostShown = Type.Object(
  { ...ListedHost.properties, last_seen: Type.Optional(LastSeen) },
  { $id: "HostShown" },
);

function optionalChildren<T extends TSchema>(child: T, unless = "and with `children=ip_addresses`") {
  const description = `Absent with \`include_children=false\` and \`include=counts\`, ${unless}.`;
  return Type.Optional(Type.Array(child, { description }));
}
