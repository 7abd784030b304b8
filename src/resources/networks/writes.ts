// Writes of networks, one record at a time.

import type { RecordWrites } from "../record-writes.ts";
import { networkCommands } from "./commands.ts";
import { NetworkCreate, NetworkUpdate } from "./network.ts";
import { networkResource } from "./resource.ts";

export const networkWrites: RecordWrites = {
  resource: networkResource,
  Create: NetworkCreate,
  create: networkCommands["network.create"],
  Update: NetworkUpdate,
  update: networkCommands["network.update"],
  key: ["name"],
};
