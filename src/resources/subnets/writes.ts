// Writes of subnets, one record at a time.

import type { RecordWrites } from "../record-writes.ts";
import { subnetCommands } from "./commands.ts";
import { subnetResource } from "./resource.ts";
import { SubnetCreate, SubnetUpdate } from "./subnet.ts";

export const subnetWrites: RecordWrites = {
  resource: subnetResource,
  Create: SubnetCreate,
  create: subnetCommands["subnet.create"],
  Update: SubnetUpdate,
  update: subnetCommands["subnet.update"],
  key: ["network_id", "cidr"],
};
