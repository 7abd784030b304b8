// Interface entries as a resource.

import { MEMBER, VIEWER } from "../../access/actor.ts";
import { hostResource } from "../hosts/resource.ts";
import type { Named, Resource } from "../resource.ts";
import { IF_ENTRY_EXAMPLE, IfEntry, type IfEntryRecord, ifEntryKind } from "./if-entry.ts";
import type { Neighbor } from "./more-neighbors.ts";

export const ifEntryResource: Resource<IfEntryRecord> & Named<IfEntryRecord> = {
  kind: ifEntryKind,
  path: "if-entries",
  group: "Interface entries",
  about: "The rows of hosts' interface tables, with their link data (IF-MIB, LLDP, CDP).",
  responseSchema: IfEntry,
  example: IF_ENTRY_EXAMPLE,
  names: {
    columns: {
      lag_id: "lag_name",
      parent_id: "parent_name",
      neighbor: { name: "neighbor_name", id: ({ type, id }: Neighbor) => (type === "Host" ? null : id) },
    },
    fields: ["if_name", "if_descr"],
    name: (entry) => entry.if_name ?? entry.if_descr,
    of: { part: hostResource, field: "host_id" },
    example: "core-1 Gi0/48",
  },
  restores: "Includes its forwarding entries (`fdb_macs`).",
  read: VIEWER,
  write: MEMBER,
};
