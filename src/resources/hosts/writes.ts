// Writes of hosts, one record at a time.

import type { RecordWrites } from "../record-writes.ts";
import { hostCommands } from "./commands.ts";
import { HostCreate, HostUpdate } from "./host-body.ts";
import { hostResource } from "./resource.ts";

export const hostWrites: RecordWrites = {
  resource: hostResource,
  Create: HostCreate,
  create: hostCommands["host.create"],
  Update: HostUpdate,
  update: hostCommands["host.update"],
  parts: ["interfaces", "ip_addresses", "ports", "services", "credential_assignments"],
  key: ["network_id", "name"],
};
