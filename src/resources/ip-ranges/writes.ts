// Writes of ranges, one record at a time.

import type { RecordWrites } from "../record-writes.ts";
import { ipRangeCommands } from "./commands.ts";
import { IpRangeCreate, IpRangeUpdate } from "./ip-range.ts";
import { ipRangeResource } from "./resource.ts";

export const ipRangeWrites: RecordWrites = {
  resource: ipRangeResource,
  Create: IpRangeCreate,
  create: ipRangeCommands["ip_range.create"],
  Update: IpRangeUpdate,
  update: ipRangeCommands["ip_range.update"],
  key: ["network_id", "first", "last"],
};
