// The demo's time: days are counted back from the day of its first start, in UTC, so that its stories are always as
// old.

import type { Instant } from "../base/instant.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** The first day of Unix time. */
const THURSDAY = 4;

/** Days before the day of the start, and the time of that day: `-3d 03:12`. */
export type DayTime = `-${number}d ${number}:${number}`;

export interface StoryPeriod {
  readonly from?: DayTime;
  readonly until?: DayTime;
}

export class Calendar {
  /** Of the first start. */
  readonly start: Instant;
  private readonly midnight: Instant;

  constructor(start: Instant) {
    this.start = start;
    this.midnight = Math.floor(start / DAY_MS) * DAY_MS;
  }

  at(time: DayTime): Instant {
    const [, days = "", hours = "", minutes = ""] = /^-(\d+)d (\d+):(\d+)$/.exec(time) ?? [];
    return this.midnight - Number(days) * DAY_MS + (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  }

  /** From its beginning on, and not any more at its end. */
  isWithin(instant: Instant, { from, until }: StoryPeriod): boolean {
    return (from === undefined || instant >= this.at(from)) && (until === undefined || instant < this.at(until));
  }

  /** Since the first midnight that the demo knows of. */
  dayOf(instant: Instant): number {
    return Math.floor((instant - this.midnight) / DAY_MS);
  }

  /** As cron counts: 0 for Sunday. */
  weekdayOf(instant: Instant): number {
    return (Math.floor(instant / DAY_MS) + THURSDAY) % 7;
  }

  /** In UTC, with its fraction. */
  hourOf(instant: Instant): number {
    return ((((instant - this.midnight) % DAY_MS) + DAY_MS) % DAY_MS) / (60 * MINUTE_MS);
  }
}
