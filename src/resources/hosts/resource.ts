// Hosts as a resource.

import { MEMBER, VIEWER } from "../../access/actor.ts";
import type { Neighbor } from "../if-entries/more-neighbors.ts";
import type { Named, Resource } from "../resource.ts";
import { type HostRecord, hostKind } from "./host.ts";
import { Host, HostAlone, ListedHost } from "./host-body.ts";
import { HOST_EXAMPLE } from "./host-example.ts";
import { composeHosts, composeHostsAlone, HOST_ALONE_COLUMNS, HOST_COLUMNS, HOST_INCLUDES } from "./host-view.ts";

export const hostResource: Resource<HostRecord> & Named<HostRecord> = {
  kind: hostKind,
  path: "hosts",
  group: "Hosts",
  about: "Devices with their addresses, ports, services and interface entries.",
  responseSchema: Host,
  listSchema: ListedHost,
  compose: composeHosts,
  includes: HOST_INCLUDES,
  columns: HOST_COLUMNS,
  composeWithoutParts: composeHostsAlone,
  schemaWithoutParts: HostAlone,
  columnsWithoutParts: HOST_ALONE_COLUMNS,
  example: HOST_EXAMPLE,
  names: {
    columns: {
      host_id: "host_name",
      host_assignments: { name: "assigned_host_names", id: (assignment) => assignment.host_id },
      neighbor: { name: "neighbor_name", id: ({ type, id }: Neighbor) => (type === "Host" ? id : null) },
    },
    fields: ["name"],
    example: "web-1",
  },
  restores:
    "Includes its addresses, ports, services, bindings, interface entries and credential assignments; those added since are deleted, those moved to another host are moved back, and those moved from another host stay. Below the role Admin, credential assignments stay unchanged, and restored addresses wait for confirmation. A restore by an Admin also restores which addresses credentials are sent to.",
  read: VIEWER,
  write: MEMBER,
};
