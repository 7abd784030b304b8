// Subnets as a resource.

import { MEMBER, VIEWER } from "../../access/actor.ts";
import type { Resource } from "../resource.ts";
import { SUBNET_EXAMPLE, Subnet, type SubnetRecord, subnetKind } from "./subnet.ts";
import { composeUtilization } from "./utilization.ts";

export const subnetResource: Resource<SubnetRecord> = {
  kind: subnetKind,
  path: "subnets",
  group: "Subnets",
  about: "The IP prefixes of a network.",
  responseSchema: Subnet,
  example: SUBNET_EXAMPLE,
  names: { columns: { subnet_id: "subnet_cidr" }, fields: ["cidr"], example: "10.2.3.0/24" },
  includes: { utilization: composeUtilization },
  read: VIEWER,
  write: MEMBER,
};
