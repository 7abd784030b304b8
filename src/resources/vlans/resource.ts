// VLANs as a resource.

import { MEMBER, VIEWER } from "../../access/actor.ts";
import type { Resource } from "../resource.ts";
import { VLAN_EXAMPLE, Vlan, type VlanRecord, vlanKind } from "./vlan.ts";

export const vlanResource: Resource<VlanRecord> = {
  kind: vlanKind,
  path: "vlans",
  group: "VLANs",
  about: "The numbered broadcast domains of a network (IEEE 802.1Q).",
  responseSchema: Vlan,
  example: VLAN_EXAMPLE,
  names: {
    columns: { vlan_id: "vlan_number", native_vlan_id: "native_vlan_number", vlan_ids: "vlan_numbers" },
    fields: ["number"],
    name: (vlan) => vlan.number,
    example: 120,
  },
  read: VIEWER,
  write: MEMBER,
};
