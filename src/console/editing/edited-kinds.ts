// The kinds whose records are edited in the console: the operations that write them, and where the API has them. Small:
// pages know it before a form is loaded.

export type EditedKind =
  | "network"
  | "subnet"
  | "ip_range"
  | "vlan"
  | "host"
  | "ip_address"
  | "port"
  | "service"
  | "if_entry"
  | "schedule"
  | "tag"
  | "custom_field"
  | "marker";

interface Operations {
  /** Of their list, below the origin. */
  readonly path: `/api/v1/${string}`;
  readonly create: `create${string}`;
  readonly update: `update${string}`;
  readonly remove: `delete${string}`;
}

const OPERATIONS = {
  network: {
    path: "/api/v1/networks",
    create: "createNetwork",
    update: "updateNetwork",
    remove: "deleteNetwork",
  },
  subnet: {
    path: "/api/v1/subnets",
    create: "createSubnet",
    update: "updateSubnet",
    remove: "deleteSubnet",
  },
  ip_range: {
    path: "/api/v1/ip-ranges",
    create: "createIpRange",
    update: "updateIpRange",
    remove: "deleteIpRange",
  },
  vlan: {
    path: "/api/v1/vlans",
    create: "createVlan",
    update: "updateVlan",
    remove: "deleteVlan",
  },
  host: {
    path: "/api/v1/hosts",
    create: "createHost",
    update: "updateHost",
    remove: "deleteHost",
  },
  ip_address: {
    path: "/api/v1/ip-addresses",
    create: "createIpAddress",
    update: "updateIpAddress",
    remove: "deleteIpAddress",
  },
  port: {
    path: "/api/v1/ports",
    create: "createPort",
    update: "updatePort",
    remove: "deletePort",
  },
  service: {
    path: "/api/v1/services",
    create: "createService",
    update: "updateService",
    remove: "deleteService",
  },
  if_entry: {
    path: "/api/v1/if-entries",
    create: "createIfEntry",
    update: "updateIfEntry",
    remove: "deleteIfEntry",
  },
  schedule: {
    path: "/api/v1/discovery/schedules",
    create: "createSchedule",
    update: "updateSchedule",
    remove: "deleteSchedule",
  },
  tag: {
    path: "/api/v1/tags",
    create: "createTag",
    update: "updateTag",
    remove: "deleteTag",
  },
  custom_field: {
    path: "/api/v1/custom-fields",
    create: "createCustomField",
    update: "updateCustomField",
    remove: "deleteCustomField",
  },
  marker: {
    path: "/api/v1/markers",
    create: "createMarker",
    update: "updateMarker",
    remove: "deleteMarker",
  },
} as const satisfies Record<EditedKind, Operations>;

export type OperationsOf = (typeof OPERATIONS)[EditedKind];

export const EDITED_KINDS = Object.keys(OPERATIONS) as readonly EditedKind[];

export function operationsOf(kind: EditedKind): OperationsOf {
  return OPERATIONS[kind];
}

export function isEditedKind(kind: string | undefined): kind is EditedKind {
  return kind !== undefined && Object.hasOwn(OPERATIONS, kind);
}

/** Whether the network that is chosen narrows the list of a kind. These are of the organization as a whole. */
export function isOfNetworks(kind: string): boolean {
  return kind !== "network" && kind !== "tag" && kind !== "custom_field";
}
