// Writes of services, one record at a time.

import type { RecordWrites } from "../record-writes.ts";
import { serviceCommands } from "./commands.ts";
import { serviceResource } from "./resource.ts";
import { ServiceCreate, ServiceUpdate } from "./service-body.ts";

export const serviceWrites: RecordWrites = {
  resource: serviceResource,
  Create: ServiceCreate,
  create: serviceCommands["service.create"],
  Update: ServiceUpdate,
  update: serviceCommands["service.update"],
  parts: ["bindings"],
  key: ["host_id", "service_definition", "name"],
};
