// Displayed names of records, and formatted counts.

import { describe, expect, test } from "bun:test";
import { interfaceName, shownName } from "../../src/console/names/shown-name.ts";
import { groupedDigits } from "../../src/console/text/digits.ts";

const ID = "0197c2a4-0000-7000-8000-00001e5f7a3c";

describe("a record's label", () => {
  test("is its first visible name", () => {
    expect(shownName(ID, null, undefined, "", "core-1", "10.0.0.1")).toBe("core-1");
    expect(shownName(ID, "\u200b\u2060", " ", "\u2800", "core-1")).toBe("core-1");
  });

  test("falls back to the end of its id", () => {
    expect(shownName(ID)).toBe("…1e5f7a3c");
    expect(shownName(ID, "\u202e\u00ad")).toBe("…1e5f7a3c");
  });
});

describe("an interface label", () => {
  test.each([
    [{ if_name: "Gi1/0/7", if_descr: "GigabitEthernet1/0/7", if_index: 10107 }, "Gi1/0/7"],
    [{ if_name: "\u200b", if_descr: "GigabitEthernet1/0/7", if_index: 10107 }, "GigabitEthernet1/0/7"],
    [{ if_name: null, if_descr: "\u00a0", if_index: 10107 }, "#10107"],
  ])("for %j: %s", (names, name) => {
    expect(interfaceName(names)).toBe(name);
  });
});

describe("a count", () => {
  test.each([0, 999, 1_000, 200_000, 1_234_567, -45_000, 2n ** 64n])("%p is grouped by English rules", (count) => {
    expect(groupedDigits(count)).toBe(new Intl.NumberFormat("en").format(count));
  });
});
