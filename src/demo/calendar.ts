// Demo time: days count back from the day of the first start, in UTC, so that the stories never age.

import type { Instant } from "../base/instant.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Weekday of the first day of Unix time. */
const THURSDAY = 4;

/** Days before the day of the start, and the time of day: `-3d 03:12`. */
export type DayTime = `-${number}d ${number}:${number}`;

export interface StoryPeriod {
  readonly from?: DayTime;
  readonly until?: DayTime;
}

export class Calendar {
  /** Time of the first start. */
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

  /** Includes the beginning, excludes the end. */
  isWithin(instant: Instant, { from, until }: StoryPeriod): boolean {
    return (from === undefined || instant >= this.at(from)) && (until === undefined || instant < this.at(until));
  }

  /** Days relative to the day of the start. */
  dayOf(instant: Instant): number {
    return Math.floor((instant - this.midnight) / DAY_MS);
  }

  /** As in cron: 0 for Sunday. */
  weekdayOf(instant: Instant): number {
    return (Math.floor(instant / DAY_MS) + THURSDAY) % 7;
  }

  /** In UTC, with a fraction. */
  hourOf(instant: Instant): number {
    return ((((instant - this.midnight) % DAY_MS) + DAY_MS) % DAY_MS) / (60 * MINUTE_MS);
  }
}
