// Timestamps in the console: time zones with clock changes, ages, durations.

import { describe, expect, test } from "bun:test";
import { timeText } from "../../src/console/text/time.ts";
import {
  formatAge,
  formatDuration,
  formatLocal,
  formatUtc,
  instantsOf,
  isAmbiguous,
  parseInstant,
  wallClockOf,
} from "../../src/console/time/instant.ts";

const BERLIN = "Europe/Berlin";

describe("a timestamp", () => {
  test.each([
    ["2026-03-01T02:12:00Z", "2026-03-01T02:12:00.000Z"],
    ["2026-03-01 02:12Z", "2026-03-01T02:12:00.000Z"],
    ["2026-03-01T03:12:00.5+01:00", "2026-03-01T02:12:00.500Z"],
  ])("is parsed from %s", (text, utc) => {
    expect(formatUtc(parseInstant(text) ?? 0)).toBe(utc);
  });

  test.each(["", "yesterday", "2026-03-01", "2026-03-01T02:12:00", "marker:a", "2026-13-01T00:00:00Z", "-24h"])(
    "is not parsed from %p, which is not an absolute timestamp",
    (text) => {
      expect(parseInstant(text)).toBeNull();
    },
  );

  test("is shown in local time, with the requested precision", () => {
    const instant = Date.parse("2026-07-01T22:05:09.123Z");
    expect(formatLocal(instant, BERLIN)).toBe("2026-07-02 00:05:09");
    expect(formatLocal(instant, BERLIN, "day")).toBe("2026-07-02");
    expect(formatLocal(instant, "Asia/Kathmandu", "minute")).toBe("2026-07-02 03:50");
    expect(formatLocal(instant, "UTC", "millisecond")).toBe("2026-07-01 22:05:09.123");
  });
});

describe("local time", () => {
  const wallClock = (hour: number, minute = 0) => ({ second: 0, minute, hour });

  test("is one timestamp on an ordinary day, two in the repeated hour in autumn, and none in the skipped hour in spring", () => {
    const times = (day: { year: number; month: number; day: number }, hour: number) =>
      instantsOf({ ...day, ...wallClock(hour, 30) }, BERLIN).map(formatUtc);
    expect(times({ year: 2026, month: 3, day: 1 }, 2)).toEqual(["2026-03-01T01:30:00.000Z"]);
    expect(times({ year: 2026, month: 10, day: 25 }, 2)).toEqual([
      "2026-10-25T00:30:00.000Z",
      "2026-10-25T01:30:00.000Z",
    ]);
    expect(times({ year: 2026, month: 3, day: 29 }, 2)).toEqual([]);
  });

  test("is distinguished from the same time an hour later only in the repeated hour", () => {
    const doubled = (utc: string) => isAmbiguous(Date.parse(utc), BERLIN);
    expect(["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"].map(doubled)).toEqual([true, true]);
    expect(["2026-10-24T23:59:59Z", "2026-10-25T02:00:00Z", "2026-03-29T01:00:00Z"].map(doubled)).toEqual([
      false,
      false,
      false,
    ]);
    expect([-5 * 3_600_000, 5.5 * 3_600_000, 0].map(timeText.utcOffset)).toEqual(["UTC−5", "UTC+5:30", "UTC+0"]);
  });

  test("converts back to its timestamp, for every hour of a year and various zones", () => {
    for (const zone of [BERLIN, "UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"])
      for (let instant = Date.UTC(2026, 0, 1); instant < Date.UTC(2027, 0, 1); instant += 3_600_000)
        if (!instantsOf(wallClockOf(instant, zone), zone).includes(instant))
          throw new Error(`${formatUtc(instant)} in ${zone}`);
  });
});

test("an age is in the largest unit that fits at least twice", () => {
  const now = Date.parse("2026-03-02T12:00:00Z");
  const age = (ms: number) => formatAge(now - ms, now);
  expect([age(400), age(-400), age(-2_000)]).toEqual(["now", "now", "in 2 seconds"]);
  expect(age(45_000)).toBe("45 seconds ago");
  expect(age(119 * 60_000)).toBe("119 minutes ago");
  expect(age(28 * 3_600_000)).toBe("28 hours ago");
  expect(age(3 * 86_400_000)).toBe("3 days ago");
  expect(age(-5 * 60_000)).toBe("in 5 minutes");
});

test("a duration is in its two largest units", () => {
  expect(formatDuration(0)).toBe("0 s");
  expect(formatDuration(45_000)).toBe("45 s");
  expect(formatDuration(12 * 60_000)).toBe("12 min");
  expect(formatDuration(76 * 3_600_000 + 59 * 60_000)).toBe("3 d 4 h");
  expect(formatDuration(3 * 86_400_000 + 20 * 60_000)).toBe("3 d");
});
