// Writes of bindings, one record at a time.

import type { RecordWrites } from "../record-writes.ts";
import { BindingCreate, BindingUpdate, bindingRow } from "./binding.ts";
import { bindingCommands } from "./commands.ts";
import { bindingResource } from "./resource.ts";

export const bindingWrites: RecordWrites = {
  resource: bindingResource,
  Create: bindingRow.Create,
  create: bindingCommands["binding.create"],
  Update: bindingRow.Update,
  update: bindingCommands["binding.update"],
  key: ["service_id", "type", "port_id", "ip_address_id"],
  forms: { Create: BindingCreate, Update: BindingUpdate },
  isTableOnly: true,
};
