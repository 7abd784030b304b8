// Writes of interface entries, one record at a time.

import type { RecordWrites } from "../record-writes.ts";
import { ifEntryCommands } from "./commands.ts";
import { IfEntryCreate, IfEntryUpdate } from "./if-entry.ts";
import { ifEntryResource } from "./resource.ts";

export const ifEntryWrites: RecordWrites = {
  resource: ifEntryResource,
  Create: IfEntryCreate,
  create: ifEntryCommands["if_entry.create"],
  Update: IfEntryUpdate,
  update: ifEntryCommands["if_entry.update"],
  parts: ["fdb_macs"],
  key: ["host_id", "if_index"],
};
