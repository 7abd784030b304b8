// Timestamps: parsing and formatting of RFC 3339.

import { describe, expect, test } from "bun:test";
import {
  EARLIEST_INSTANT,
  formatInstant,
  LATEST_INSTANT,
  parseInstant,
  parseInstantOrAge,
} from "../../src/base/instant.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

/** The timestamp in the format of this API. */
function normalized(text: string): string | null {
  const instant = parseInstant(text);
  return instant === null ? null : formatInstant(instant);
}

describe("formatInstant", () => {
  test("writes UTC with exactly three fraction digits", () => {
    expect(formatInstant(0)).toBe("1970-01-01T00:00:00.000Z");
    expect(formatInstant(1_795_252_500_123)).toBe("2026-11-21T09:15:00.123Z");
    expect(formatInstant(-1)).toBe("1969-12-31T23:59:59.999Z");
  });

  test("covers the years 0000 to 9999 and refuses others", () => {
    expect(formatInstant(EARLIEST_INSTANT)).toBe("0000-01-01T00:00:00.000Z");
    expect(formatInstant(LATEST_INSTANT)).toBe("9999-12-31T23:59:59.999Z");
    expect(() => formatInstant(EARLIEST_INSTANT - 1)).toThrow(RangeError);
    expect(() => formatInstant(LATEST_INSTANT + 1)).toThrow(RangeError);
    expect(() => formatInstant(Number.NaN)).toThrow(RangeError);
  });
});

describe("parseInstant", () => {
  test.each([
    ["1985-04-12T23:20:50.52Z", "1985-04-12T23:20:50.520Z"],
    ["1996-12-19T16:39:57-08:00", "1996-12-20T00:39:57.000Z"],
    ["1990-12-31T23:59:60Z", "1991-01-01T00:00:00.000Z"],
    ["1990-12-31T15:59:60-08:00", "1991-01-01T00:00:00.000Z"],
    ["1937-01-01T12:00:27.87+00:20", "1937-01-01T11:40:27.870Z"],
  ])("parses the RFC 3339 §5.8 example %s", (text, expected) => expect(normalized(text)).toBe(expected));

  test.each([
    ["2026-11-21T09:15:00Z", "2026-11-21T09:15:00.000Z"],
    ["2026-11-21t09:15:00z", "2026-11-21T09:15:00.000Z"],
    ["2026-11-21T09:15:00-00:00", "2026-11-21T09:15:00.000Z"],
    ["2026-11-21T09:15:00.1Z", "2026-11-21T09:15:00.100Z"],
    ["2026-11-21T09:15:00.0009Z", "2026-11-21T09:15:00.000Z"],
    ["2026-11-21T09:15:00.123999999999999999999Z", "2026-11-21T09:15:00.123Z"],
    ["1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z"],
    ["2026-11-21T00:30:00+01:00", "2026-11-20T23:30:00.000Z"],
    ["2026-01-01T05:29:59+05:30", "2025-12-31T23:59:59.000Z"],
    ["2026-12-31T20:00:00-04:00", "2027-01-01T00:00:00.000Z"],
    ["2024-03-01T00:00:00+00:01", "2024-02-29T23:59:00.000Z"],
    ["2026-11-21T09:15:00+23:59", "2026-11-20T09:16:00.000Z"],
    ["2026-11-21T09:15:00-23:59", "2026-11-22T09:14:00.000Z"],
    ["0099-06-15T00:00:00Z", "0099-06-15T00:00:00.000Z"],
    ["0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"],
    ["9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999Z"],
  ])("parses %s as %s", (text, expected) => expect(normalized(text)).toBe(expected));

  test.each(["2000-02-29T00:00:00Z", "2024-02-29T00:00:00Z", "2026-02-28T00:00:00Z", "0000-02-29T00:00:00Z"])(
    "accepts the day %s",
    (text) => expect(parseInstant(text)).not.toBeNull(),
  );

  const IMPOSSIBLE_DAYS =
    "2026-02-29 2026-02-30 1900-02-29 2100-02-29 2026-04-31 2026-06-31 2026-09-31 2026-11-31 2026-01-32 2026-00-10 " +
    "2026-13-01 2026-01-00";
  test.each(IMPOSSIBLE_DAYS.split(" "))("refuses the impossible day %s", (day) => {
    expect(parseInstant(`${day}T00:00:00Z`)).toBeNull();
  });

  const OTHER_FORMATS =
    "now,2026-11-21,2026-11-21T09:15Z,2026-11-21T09:15:00,2026-11-21 09:15:00Z,2026-11-21T09:15:00 01:00," +
    "2026-11-21T09:15:00.Z,2026-11-21T09:15:00+0100,2026-11-21T09:15:00+01,2026-11-21T09:15:00+24:00," +
    "2026-11-21T09:15:00+01:60,2026-11-21T24:00:00Z,2026-11-21T09:60:00Z,2026-11-21T09:15:61Z,2026-1-21T09:15:00Z," +
    "+002026-11-21T09:15:00Z,-000001-01-01T00:00:00Z,20261121T091500Z,2026-W47-6T09:15:00Z, 2026-11-21T09:15:00Z," +
    "2026-11-21T09:15:00Z\n,2026-11-21T09:15:00ZZ,२०२६-११-२१T09:15:00Z,1795252500123";
  test.each(["", "2026-11-21T09:15:00,5Z", ...OTHER_FORMATS.split(",")])("refuses %j", (text) => {
    expect(parseInstant(text)).toBeNull();
  });

  test("refuses a time outside the years 0000 to 9999 in UTC", () => {
    expect(parseInstant("0000-01-01T00:00:00+00:01")).toBeNull();
    expect(parseInstant("9999-12-31T23:59:59-00:01")).toBeNull();
    expect(parseInstant("9999-12-31T23:59:60Z")).toBeNull();
    expect(normalized("0000-01-01T00:00:00-00:01")).toBe("0000-01-01T00:01:00.000Z");
    expect(normalized("9999-12-31T23:59:59+00:01")).toBe("9999-12-31T23:58:59.000Z");
  });

  test("accepts second 60 only at a possible leap second", () => {
    expect(normalized("2015-06-30T23:59:60Z")).toBe("2015-07-01T00:00:00.000Z");
    expect(normalized("2015-07-01T01:59:60+02:00")).toBe("2015-07-01T00:00:00.000Z");
    expect(normalized("2016-12-31T23:59:60.25Z")).toBe("2017-01-01T00:00:00.250Z");
    const others =
      "2016-12-31T22:59:60Z 2016-12-31T23:58:60Z 2016-12-30T23:59:60Z 2017-01-01T00:05:60Z 2017-01-01T04:59:60Z " +
      "2016-03-31T23:59:60Z 2016-12-31T23:59:60+01:00";
    for (const text of others.split(" ")) expect([text, parseInstant(text)]).toEqual([text, null]);
  });

  test("round-trips every timestamp, and the strings sort chronologically", () => {
    const random = seededRandom(1);
    const span = LATEST_INSTANT - EARLIEST_INSTANT;
    const draw = () => EARLIEST_INSTANT + Math.floor((random.integer(2 ** 32) / 2 ** 32) * span) + random.integer(1000);
    for (let round = 0; round < 5_000; round += 1) {
      const [a, b] = [Math.min(draw(), LATEST_INSTANT), Math.min(draw(), LATEST_INSTANT)];
      expect(parseInstant(formatInstant(a))).toBe(a);
      expect(formatInstant(a) < formatInstant(b)).toBe(a < b);
    }
  });

  test("yields the same timestamp for any offset", () => {
    const random = seededRandom(2);
    const pad = (value: number) => String(value).padStart(2, "0");
    for (let round = 0; round < 2_000; round += 1) {
      const instant = random.integer(2 ** 32) * 900 + random.integer(1000);
      const offsetMinutes = random.integer(2 * 1440 - 1) - 1439;
      const size = Math.abs(offsetMinutes);
      const local = formatInstant(instant + offsetMinutes * 60_000).slice(0, -1);
      const text = `${local}${offsetMinutes < 0 ? "-" : "+"}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
      expect(parseInstant(text)).toBe(instant);
    }
  });
});

describe("parseInstantOrAge", () => {
  const now = Date.UTC(2026, 10, 21, 9, 15, 0, 123);

  test.each([
    ["now", "2026-11-21T09:15:00.123Z"],
    ["-0s", "2026-11-21T09:15:00.123Z"],
    ["-90s", "2026-11-21T09:13:30.123Z"],
    ["-15m", "2026-11-21T09:00:00.123Z"],
    ["-24h", "2026-11-20T09:15:00.123Z"],
    ["-7d", "2026-11-14T09:15:00.123Z"],
    ["-2w", "2026-11-07T09:15:00.123Z"],
    ["-365d", "2025-11-21T09:15:00.123Z"],
    ["2026-11-21T10:15:00.123+01:00", "2026-11-21T09:15:00.123Z"],
  ])("parses %s as %s", (text, expected) => {
    const instant = parseInstantOrAge(text, now);
    expect(instant === null ? null : formatInstant(instant)).toBe(expected);
  });

  const INVALID = "-,-5,5d,+5d,-5D,- 5d,-5 d,-1.5h,-5y,-5M,--5d,-5d ,NOW,yesterday,-1000000d,-999999999999999w";
  test.each(["", ...INVALID.split(","), "2026-11-21"])("refuses %p", (text) =>
    expect(parseInstantOrAge(text, now)).toBeNull(),
  );
});
