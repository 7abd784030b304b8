// Writes of VLANs, one record at a time.

import type { RecordWrites } from "../record-writes.ts";
import { vlanCommands } from "./commands.ts";
import { vlanResource } from "./resource.ts";
import { VlanCreate, VlanUpdate } from "./vlan.ts";

export const vlanWrites: RecordWrites = {
  resource: vlanResource,
  Create: VlanCreate,
  create: vlanCommands["vlan.create"],
  Update: VlanUpdate,
  update: vlanCommands["vlan.update"],
  key: ["network_id", "number"],
};
