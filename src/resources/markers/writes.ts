// Writes of markers, one record at a time.

import type { RecordWrites } from "../record-writes.ts";
import { markerCommands } from "./commands.ts";
import { MarkerCreate, MarkerUpdate } from "./marker.ts";
import { markerResource } from "./resource.ts";

export const markerWrites: RecordWrites = {
  resource: markerResource,
  Create: MarkerCreate,
  create: markerCommands["marker.create"],
  Update: MarkerUpdate,
  update: markerCommands["marker.update"],
  key: ["network_id", "name"],
  isTableOnly: true,
};
