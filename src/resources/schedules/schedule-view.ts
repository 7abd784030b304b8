// Schedule views with the next due time. It follows from the clock and is not versioned, so responses about the past
// omit it: it was not known then, and would change afterwards.

import { formatInstant } from "../../base/instant.ts";
import { appendMembers, type ComposeFor, variesByCaller } from "../compose.ts";
import { nextDue } from "./cron.ts";
import type { ScheduleRecord } from "./schedule.ts";

/** Adds `next_run_at` as of now. */
export const composeSchedules: ComposeFor = variesByCaller((reader) => {
  const now = reader.now();
  // Cached: many schedules have the same expression.
  const cache = new Map<string, string | null>();
  const nextRunAt = ({ cron, timezone }: ScheduleRecord) => {
    const key = `${timezone} ${cron}`;
    let next = cache.get(key);
    if (next === undefined) {
      const due = nextDue(cron, timezone, now);
      next = due === null ? null : formatInstant(due);
      cache.set(key, next);
    }
    return next;
  };
  return (items, asOf) => {
    const isNow = asOf === null || asOf.present;
    return items.map(({ text }) => {
      const schedule = JSON.parse(text) as ScheduleRecord;
      return appendMembers(
        text,
        `"next_run_at":${JSON.stringify(isNow && schedule.is_enabled ? nextRunAt(schedule) : null)}`,
      );
    });
  };
});
