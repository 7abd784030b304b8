// Due times of cron expressions, across the skipped and the repeated hours of daylight saving time.

import { describe, expect, test } from "bun:test";
import { nextDue, parseCron, parseTimezone } from "../../src/resources/schedules/cron.ts";

function due(cron: string, timezone: string, after: string, count: number): string[] {
  const dueTimes: string[] = [];
  let last = Date.parse(after);
  while (dueTimes.length < count) {
    const next = nextDue(cron, timezone, last);
    if (next === null) break;
    dueTimes.push(new Date(next).toISOString().replace(/:00\.000Z$/, "Z"));
    last = next;
  }
  return dueTimes;
}

/** In Europe the clocks went from 2:00 to 3:00 on 29 March 2026, and from 3:00 to 2:00 on 25 October 2026. */
const BERLIN = "Europe/Berlin";

describe("a schedule at a time of day", () => {
  test.each([
    [
      "right after the gap that contains its time",
      "30 2 * * *",
      BERLIN,
      "2026-03-28T00:00:00Z",
      ["2026-03-28T01:30Z", "2026-03-29T01:00Z", "2026-03-30T00:30Z"],
    ],
    [
      "right after the gap, even with several times",
      "30 2,14 * * *",
      BERLIN,
      "2026-03-28T12:00:00Z",
      ["2026-03-28T13:30Z", "2026-03-29T01:00Z", "2026-03-29T12:30Z", "2026-03-30T00:30Z"],
    ],
    [
      "once in a repeated hour, the first time",
      "30 2 * * *",
      BERLIN,
      "2026-10-24T00:00:00Z",
      ["2026-10-24T00:30Z", "2026-10-25T00:30Z", "2026-10-26T01:30Z"],
    ],
    [
      "once in a repeated hour, even with several times",
      "30 2,14 * * *",
      BERLIN,
      "2026-10-24T12:00:00Z",
      ["2026-10-24T12:30Z", "2026-10-25T00:30Z", "2026-10-25T13:30Z", "2026-10-26T01:30Z"],
    ],
    [
      "at the end of a gap that begins at midnight",
      "0 0 * * *",
      "America/Sao_Paulo",
      "2018-11-03T00:00:00Z",
      ["2018-11-03T03:00Z", "2018-11-04T03:00Z", "2018-11-05T02:00Z"],
    ],
    [
      "at its time when clocks move by half an hour",
      "0 3 * * *",
      "Australia/Lord_Howe",
      "2026-04-03T12:00:00Z",
      ["2026-04-03T16:00Z", "2026-04-04T16:30Z", "2026-04-05T16:30Z"],
    ],
    [
      "every day in UTC",
      "30 2 * * *",
      "UTC",
      "2026-03-28T00:00:00Z",
      ["2026-03-28T02:30Z", "2026-03-29T02:30Z", "2026-03-30T02:30Z"],
    ],
  ])("runs %s", (_case, cron, timezone, after, expected) => {
    expect(due(cron, timezone, after, expected.length)).toEqual(expected);
  });

  test("does not run again in the second of two equal hours", () => {
    for (const after of ["2026-10-25T00:30:00.000Z", "2026-10-25T01:00:00Z", "2026-10-25T01:29:59.999Z"])
      expect(due("30 2 * * *", BERLIN, after, 1)).toEqual(["2026-10-26T01:30Z"]);
  });
});

describe("a schedule at an interval", () => {
  test.each([
    [
      "has no runs in a gap",
      "*/15 * * * *",
      "2026-03-29T00:40:00Z",
      ["2026-03-29T00:45Z", "2026-03-29T01:00Z", "2026-03-29T01:15Z"],
    ],
    [
      "runs in both of two equal hours",
      "*/30 * * * *",
      "2026-10-24T23:40:00Z",
      ["2026-10-25T00:00Z", "2026-10-25T00:30Z", "2026-10-25T01:00Z", "2026-10-25T01:30Z", "2026-10-25T02:00Z"],
    ],
    [
      "runs every hour of a short day",
      "15 * * * *",
      "2026-03-29T00:00:00Z",
      ["2026-03-29T00:15Z", "2026-03-29T01:15Z", "2026-03-29T02:15Z"],
    ],
  ])("%s", (_case, cron, after, expected) => expect(due(cron, BERLIN, after, expected.length)).toEqual(expected));
});

test("the next time is after the given timestamp, even if only by a millisecond", () => {
  expect(due("0 0 * * *", "UTC", "2026-01-01T00:00:00.000Z", 1)).toEqual(["2026-01-02T00:00Z"]);
  expect(due("0 0 * * *", "UTC", "2025-12-31T23:59:59.999Z", 1)).toEqual(["2026-01-01T00:00Z"]);
  expect(due("* * * * *", "UTC", "2025-12-31T23:59:30.500Z", 1)).toEqual(["2026-01-01T00:00Z"]);
});

test("a date that occurs once in many years is found, and an impossible one is an invalid expression", () => {
  expect(due("0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", 1)).toEqual(["2028-02-29T00:00Z"]);
  expect(due("0 0 29 2 +MON", "UTC", "2026-01-01T00:00:00Z", 1)).toEqual(["2044-02-29T00:00Z"]);
  for (const impossible of ["0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 31 2 +MON"])
    expect([impossible, parseCron(impossible)]).toEqual([impossible, null]);
});

test("an expression has five fields or is a nickname, and anything else is invalid", () => {
  expect(["  5\t4 * * *\n", "@Weekly", "0 3 * * SUN"].map(parseCron)).toEqual(["5 4 * * *", "@weekly", "0 3 * * SUN"]);
  const invalid =
    "; ;* * * *;* * * * * *;* * * * * 2030;? * * * *;5/15 * * * *;0,,1 * * * *;0 24 * * *;0 0 0 * *;@reboot;@;" +
    "a b c d e;2026-01-01T00:00:00Z";
  for (const text of invalid.split(";")) expect([text, parseCron(text)]).toEqual([text, null]);
});

test("a time zone is a name, not an offset", () => {
  const names = ["utc", "EUROPE/berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+2"].map(parseTimezone);
  expect(names).toEqual(["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+2"]);
  for (const text of ["", "+02:00", "-0800", "UTC+1", "Europe/", "Mars/Phobos", "Europe/Berlin ", "x".repeat(200)])
    expect([text, parseTimezone(text)]).toEqual([text, null]);
});
