// Networks as a resource.

import { ADMIN, VIEWER } from "../../access/actor.ts";
import type { Resource } from "../resource.ts";
import { NETWORK_EXAMPLE, Network, type NetworkRecord, networkKind } from "./network.ts";
import { composeNetworks } from "./network-view.ts";

export const networkResource: Resource<NetworkRecord> = {
  kind: networkKind,
  path: "networks",
  group: "Networks",
  about: "Networks contain hosts, subnets and VLANs; access is granted by network.",
  responseSchema: Network,
  compose: composeNetworks,
  example: NETWORK_EXAMPLE,
  names: {
    columns: {
      network_id: "network_name",
      network_ids: "network_names",
      assigned_network_ids: "assigned_network_names",
    },
    fields: ["name"],
    example: "Campus North",
  },
  restores: "Its former contents are not restored with it. Restoring a deleted network requires the role Owner.",
  read: VIEWER,
  write: ADMIN,
};
