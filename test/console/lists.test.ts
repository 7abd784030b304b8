// Building blocks of the console's lists: windows of rows, filter composition, completions.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { csvOf, curlOf } from "../../src/console/components/curl.ts";
import { applyCompletion, completionsOf, type KnownFields } from "../../src/console/lists/completion.ts";
import { addressKey, rowOrder } from "../../src/console/lists/row-order.ts";
import {
  CACHED_WINDOWS,
  nextPace,
  nextRun,
  type RowRange,
  rowsToRender,
  type ScrollPace,
  scrollTo,
  WINDOW_ROWS,
  windowsOf,
  windowsToDrop,
} from "../../src/console/lists/rows-window.ts";

describe("rows", () => {
  test("are rendered for the viewport and a small margin, at any scroll position", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 100_000 }),
        fc.integer({ min: 0, max: 3_000_000 }),
        fc.integer({ min: 0, max: 2_000 }),
        (count, scrolled, height) => {
          const { first, end } = rowsToRender(scrolled, height, 28, count);
          expect(end - first).toBeLessThanOrEqual(height / 28 + 26);
          expect(first).toBeGreaterThanOrEqual(0);
          expect(end).toBeLessThanOrEqual(count);
          for (const visible of [Math.floor(scrolled / 28), Math.ceil((scrolled + height) / 28) - 1])
            if (visible >= 0 && visible < count) expect(visible >= first && visible < end).toBe(true);
          const windows = windowsOf({ first, end });
          for (const row of [first, end - 1]) if (end > first) expect(windows).toContain(Math.floor(row / WINDOW_ROWS));
        },
      ),
    );
  });

  test("are scrolled only as far as necessary to be visible", () => {
    expect(scrollTo(3, 0, 280, 28)).toBeNull();
    expect(scrollTo(12, 0, 280, 28)).toBe(84);
    expect(scrollTo(1, 84, 280, 28)).toBe(28);
  });
});

describe("row requests", () => {
  const ROWS = 20_000;
  const rangeFrom = (first: number): RowRange => ({ first, end: first + 54 });
  /** All requests at one position, in sequence. */
  const requestedAt = (range: RowRange, speed: number, known: Set<number>, count = ROWS) => {
    const runs: Array<[first: number, windows: number]> = [];
    for (let run = nextRun(range, speed, count, has(known)); run !== null; ) {
      runs.push([run.first, run.windows]);
      for (let index = 0; index < run.windows; index += 1) known.add(run.first + index);
      run = nextRun(range, speed, count, has(known));
    }
    return runs;
  };
  const has = (known: ReadonlySet<number>) => (window: number) => known.has(window);

  test("cover only rendered rows at rest, and no loaded ones", () => {
    expect(requestedAt(rangeFrom(120), 0, new Set())).toEqual([[2, 2]]);
    expect(requestedAt(rangeFrom(120), 0, new Set([2]))).toEqual([[3, 1]]);
    expect(requestedAt(rangeFrom(120), 0, new Set([2, 3]))).toEqual([]);
  });

  test("prefetch in the scroll direction, several windows per request", () => {
    expect(requestedAt(rangeFrom(1_000), 500, new Set([20, 21]))).toEqual([[22, 3]]);
    expect(requestedAt(rangeFrom(1_000), -500, new Set([20, 21]))).toEqual([[17, 3]]);
    // Visible rows first, in scroll direction.
    expect(requestedAt(rangeFrom(1_000), 500, new Set())).toEqual([[20, 4]]);
    expect(requestedAt(rangeFrom(1_000), -500, new Set())).toEqual([[18, 4]]);
  });

  test("are not single-row when prefetching, except at the list's end", () => {
    expect(requestedAt(rangeFrom(1_000), 100, new Set([20, 21, 22]))).toEqual([]);
    expect(requestedAt(rangeFrom(19_880), 100, new Set([397, 398]))).toEqual([[399, 1]]);
    expect(requestedAt(rangeFrom(70), -100, new Set([1, 2]))).toEqual([[0, 1]]);
  });

  test("cover rows visible at the destination of a jump, not those skipped", () => {
    expect(requestedAt(rangeFrom(15_000), 90_000, new Set([0]))).toEqual([[300, 2]]);
  });

  test("cover every row passed slowly, once each, with fewer requests than windows", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 60, max: ROWS }), (step, count) => {
        const known = new Set([0]);
        const runs: Array<[number, number]> = [];
        for (let first = 0; first + 54 <= count; first += step) {
          const range = rangeFrom(first);
          runs.push(...requestedAt(range, step * 60, known, count));
          for (const window of windowsOf(range)) expect(known.has(window)).toBe(true);
        }
        const windows = runs.reduce((sum, [, count]) => sum + count, 1);
        expect(windows).toBe(known.size);
        expect(Math.max(...known)).toBeLessThan(Math.ceil(count / WINDOW_ROWS));
        expect(runs.length).toBeLessThanOrEqual(Math.ceil(windows / 2) + 1);
      }),
    );
  });

  test("prefetch at scroll speed: uneven steps are smoothed, a pause or reversal resets it", () => {
    const steps = (positions: ReadonlyArray<readonly [row: number, ms: number]>) =>
      positions.reduce<ScrollPace>((last, [row, ms]) => nextPace(last, row, ms), { row: 0, ms: 0, speed: 0 }).speed;
    expect(steps([[10, 5_000]])).toBe(100);
    const at20ms = (...rows: readonly number[]) => steps(rows.map((row, index) => [row, 5_000 + index * 20]));
    const even = at20ms(10, 20, 30, 40);
    expect(even).toBeGreaterThan(400);
    expect(even).toBeLessThanOrEqual(500);
    expect(at20ms(10, 20, 19)).toBe(-50);
  });

  test("evict the farthest rows when many are loaded", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 0, max: 2_000 }), { maxLength: 600 }),
        fc.integer({ min: 0, max: 99_000 }),
        (known, first) => {
          const range = rangeFrom(first);
          const evicted = new Set(windowsToDrop(known, range));
          expect(evicted.size).toBe(Math.max(0, known.length - CACHED_WINDOWS));
          for (const window of windowsOf(range)) expect(evicted.has(window)).toBe(false);
          const distance = (window: number) => Math.abs((window + 0.5) * WINDOW_ROWS - (range.first + range.end) / 2);
          const remaining = known.filter((window) => !evicted.has(window)).map(distance);
          for (const window of evicted) expect(distance(window)).toBeGreaterThanOrEqual(Math.max(...remaining));
        },
      ),
    );
  });
});

describe("rows sorted in the browser", () => {
  const ordered = (order_by: string, values: readonly unknown[], order_direction: "asc" | "desc" = "asc") => {
    const order = rowOrder({ order_by, order_direction });
    const rows = values.map((value) => ({ [order_by]: value }));
    return (order === null ? rows : rows.toSorted(order)).map((row) => row[order_by]);
  };

  test("match the API's order: text ignoring case, addresses by value, missing values first", () => {
    expect(ordered("name", ["b", "A", "c", "", null])).toEqual([null, "", "A", "b", "c"]);
    expect(ordered("name", ["b", "A"], "desc")).toEqual(["b", "A"]);
    expect(ordered("number", [100, 20, 3])).toEqual([3, 20, 100]);
    const addresses = ["10.2.3.4", "10.2.3.10", "9.255.0.1", "2001:db8::1", "2001:db8::a:1", "::1", "fe80::1"];
    expect(ordered("ip_address", addresses.toReversed()).join(" ")).toBe(
      "9.255.0.1 10.2.3.4 10.2.3.10 ::1 2001:db8::1 2001:db8::a:1 fe80::1",
    );
  });

  test("by a custom field are ordered by its values, with missing ones last in both directions", () => {
    const rows = [3, undefined, 20, 100].map((height) => ({ custom_fields: height === undefined ? {} : { height } }));
    const heights = (order_direction: "asc" | "desc") => {
      const order = rowOrder({ order_by: "custom_fields.height", order_direction });
      return order === null ? [] : rows.toSorted(order).map(({ custom_fields: { height } }) => height);
    };
    expect([heights("asc"), heights("desc")]).toEqual([
      [3, 20, 100, undefined],
      [100, 20, 3, undefined],
    ]);
  });

  test("stay in place if only the API knows the order", () => {
    expect(ordered("host_id", ["b", "a"])).toEqual(["b", "a"]);
    expect(rowOrder({})).toBeNull();
  });

  test("do not take a MAC address, or a hexadecimal name, for an IP address", () => {
    for (const text of ["00:1b:21:00:00:02", "cafe", "10.2.3", "host:1"]) expect(addressKey(text)).toBeNull();
  });
});

describe("filter completion", () => {
  const field = (name: string, type: string, values: string[] | null = null) => ({
    name,
    type,
    values,
    operators: type === "text" ? ["=", "!=", ":"] : ["=", "!=", "<", ">="],
    description: null,
  });
  const known: KnownFields = {
    fields: [field("oper_status", "enumeration", ["Up", "Down"]), field("if_name", "text"), field("host.name", "text")],
    functions: [{ name: "changes", usage: "changes(field, period) >= 3" }],
  };
  const completionTexts = (text: string) => completionsOf(text, text.length, known).map(({ text }) => text.trim());

  test.each([
    ["", ["oper_status", "if_name", "host.name", "changes(", "NOT"]],
    ["stat", ["oper_status"]],
    ["na", ["if_name", "host.name"]],
    ["oper_status ", ["=", "!=", "<", ">="]],
    ["oper_status = ", ['"Up"', '"Down"']],
    ['oper_status = "D', ['"Down"']],
    ["oper_status = d", ['"Down"']],
    ['oper_status = "Down" ', ["AND", "OR"]],
    ['oper_status = "Down" A', ["AND"]],
    ['oper_status = "Down" AND if', ["if_name"]],
    ["NOT (ch", ["changes("]],
    ['if_name = "a \\" b', []],
  ])("after %p is %p", (text, expected) => {
    expect(completionTexts(text)).toEqual(expected);
  });

  test("replaces the partial word, and keeps the rest", () => {
    const text = 'oper AND if_name = "x"';
    const [first] = completionsOf(text, 4, known);
    expect(first === undefined ? null : applyCompletion(text, 4, first)).toEqual({
      text: 'oper_status AND if_name = "x"',
      caret: 12,
    });
  });
});

test("a page's data can be fetched with curl: with a key's variable, and quoted for a shell", () => {
  expect(curlOf('/api/v1/hosts?filter=name%20%3D%20"it\'s"', "http://127.0.0.1:8080")).toBe(
    `curl -H "Authorization: Bearer $NETLEDGER_KEY" 'http://127.0.0.1:8080/api/v1/hosts?filter=name%20%3D%20"it%27s"'`,
  );
  expect(csvOf("/api/v1/hosts?filter=a&limit=0&at=2026-01-01T00%3A00%3A00Z")).toBe(
    "/api/v1/hosts/export/csv?filter=a&at=2026-01-01T00%3A00%3A00Z",
  );
});
