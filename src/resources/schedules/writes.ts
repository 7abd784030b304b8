// Writes of schedules, one record at a time.

import type { RecordWrites } from "../record-writes.ts";
import { scheduleCommands } from "./commands.ts";
import { scheduleResource } from "./resource.ts";
import { ScheduleCreate, ScheduleUpdate } from "./schedule.ts";

export const scheduleWrites: RecordWrites = {
  resource: scheduleResource,
  Create: ScheduleCreate,
  create: scheduleCommands["schedule.create"],
  Update: ScheduleUpdate,
  update: scheduleCommands["schedule.update"],
  key: ["network_id", "name"],
  isTableOnly: true,
};
