// Writes of ports, one record at a time.

import type { RecordWrites } from "../record-writes.ts";
import { portCommands } from "./commands.ts";
import { PortCreate, PortUpdate } from "./port.ts";
import { portResource } from "./resource.ts";

export const portWrites: RecordWrites = {
  resource: portResource,
  Create: PortCreate,
  create: portCommands["port.create"],
  Update: PortUpdate,
  update: portCommands["port.update"],
  key: ["host_id", "number", "protocol"],
};
