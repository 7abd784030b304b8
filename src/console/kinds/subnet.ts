// List columns, form fields and facts of subnets.

import type { components } from "#api";
import type { KindDetails } from "./details.ts";
import { wordList } from "./word-list.ts";

export const subnetDetails: KindDetails<keyof components["schemas"]["SubnetShown"]> = {
  columns: {
    cidr: [12, "page"],
    name: 14,
    subnet_type: 8,
    vlan_id: 10,
    utilization: [12, "fill"],
    description: 20,
    network_id: 9,
    tags: 12,
    created_at: 11,
    updated_at: 11,
  },
  shown: ["cidr", "name", "subnet_type", "vlan_id", "utilization", "network_id", "tags"],
  order: "cidr",
  example: 'subnet_type = Lan AND name : "floor 2"',
  views: [{ name: "New this week", filter: 'created_at > "-7d"', order: "-created_at" }],
  columnQueries: { utilization: { include: "utilization" } },
  form: ["cidr", "name", "description", "subnet_type", "vlan_id", "tags", "accepts_credentials"],
  isDiscovered: true,
  shownElsewhere: wordList(
    "cidr name description subnet_type vlan_id tags network_id utilization created_at updated_at",
  ),
};
