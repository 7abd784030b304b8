// A schedule as it is answered: with the instant at which it is due next. That follows from the clock and is in no
// version, so an answer about the past has none: it would say what nobody knew then, or change afterwards.

import { formatInstant } from "../../base/instant.ts";
import { type ComposeFor, spliced, variesByCaller } from "../compose.ts";
import { nextDue } from "./cron.ts";
import type { ScheduleRecord } from "./schedule.ts";

/** Adds `next_run_at`, seen from now. */
export const composeSchedules: ComposeFor = variesByCaller((reader) => {
  const now = reader.now();
  // Many schedules say the same.
  const known = new Map<string, string | null>();
  const nextRunAt = ({ cron, timezone }: ScheduleRecord) => {
    const key = `${timezone} ${cron}`;
    let next = known.get(key);
    if (next === undefined) {
      const due = nextDue(cron, timezone, now);
      next = due === null ? null : formatInstant(due);
      known.set(key, next);
    }
    return next;
  };
  return (items, asOf) => {
    const isNow = asOf === null || asOf.present;
    return items.map(({ text }) => {
      const schedule = JSON.parse(text) as ScheduleRecord;
      return spliced(
        text,
        `"next_run_at":${JSON.stringify(isNow && schedule.is_enabled ? nextRunAt(schedule) : null)}`,
      );
    });
  };
});
