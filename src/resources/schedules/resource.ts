// Schedules of scans as a resource.

import { ADMIN, VIEWER } from "../../access/actor.ts";
import type { Resource } from "../resource.ts";
import { SCHEDULE_EXAMPLE, Schedule, type ScheduleRecord, scheduleKind } from "./schedule.ts";
import { composeSchedules } from "./schedule-view.ts";

export const scheduleResource: Resource<ScheduleRecord> = {
  kind: scheduleKind,
  path: "discovery/schedules",
  group: "Discovery",
  responseSchema: Schedule,
  compose: composeSchedules,
  example: SCHEDULE_EXAMPLE,
  read: VIEWER,
  write: ADMIN,
};
