// Writes of addresses, one record at a time.

import type { RecordWrites } from "../record-writes.ts";
import { ipAddressCommands } from "./commands.ts";
import { IpAddressCreate, IpAddressUpdate } from "./ip-address.ts";
import { ipAddressResource } from "./resource.ts";

export const ipAddressWrites: RecordWrites = {
  resource: ipAddressResource,
  Create: IpAddressCreate,
  create: ipAddressCommands["ip_address.create"],
  Update: IpAddressUpdate,
  update: ipAddressCommands["ip_address.update"],
  key: ["host_id", "ip_address"],
};
