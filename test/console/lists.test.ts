// What the console's lists are made of: windows of rows, filters that are put together, what can stand where one types.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { completed, completionsOf, type KnownFields } from "../../src/console/lists/completion.ts";
import { addressKey, rowOrder } from "../../src/console/lists/row-order.ts";
import { rowsToDraw, scrollTo, WINDOW_ROWS, windowsOf } from "../../src/console/lists/rows-window.ts";
import { csvOf, curlOf } from "../../src/console/parts/curl.ts";

describe("rows", () => {
  test("that are drawn are those that are seen, wherever one has scrolled to, and no more than a screen and a bit", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 100_000 }),
        fc.integer({ min: 0, max: 3_000_000 }),
        fc.integer({ min: 0, max: 2_000 }),
        (count, scrolled, height) => {
          const { first, end } = rowsToDraw(scrolled, height, 28, count);
          expect(end - first).toBeLessThanOrEqual(height / 28 + 26);
          expect(first).toBeGreaterThanOrEqual(0);
          expect(end).toBeLessThanOrEqual(count);
          for (const seen of [Math.floor(scrolled / 28), Math.ceil((scrolled + height) / 28) - 1])
            if (seen >= 0 && seen < count) expect(seen >= first && seen < end).toBe(true);
          const windows = windowsOf({ first, end });
          for (const row of [first, end - 1]) if (end > first) expect(windows).toContain(Math.floor(row / WINDOW_ROWS));
        },
      ),
    );
  });

  test("are scrolled to only as far as it takes to see them", () => {
    expect(scrollTo(3, 0, 280, 28)).toBeNull();
    expect(scrollTo(12, 0, 280, 28)).toBe(84);
    expect(scrollTo(1, 84, 280, 28)).toBe(28);
  });
});

describe("rows that were not read in order", () => {
  const ordered = (order_by: string, values: readonly unknown[], order_direction: "asc" | "desc" = "asc") => {
    const order = rowOrder({ order_by, order_direction });
    const rows = values.map((value) => ({ [order_by]: value }));
    return (order === null ? rows : rows.toSorted(order)).map((row) => row[order_by]);
  };

  test("stand as the API has them: texts without regard to case, addresses as addresses, what has none first", () => {
    expect(ordered("name", ["b", "A", "c", "", null])).toEqual([null, "", "A", "b", "c"]);
    expect(ordered("name", ["b", "A"], "desc")).toEqual(["b", "A"]);
    expect(ordered("number", [100, 20, 3])).toEqual([3, 20, 100]);
    const addresses = ["10.2.3.4", "10.2.3.10", "9.255.0.1", "2001:db8::1", "2001:db8::a:1", "::1", "fe80::1"];
    expect(ordered("ip_address", addresses.toReversed())).toEqual([
      "9.255.0.1",
      "10.2.3.4",
      "10.2.3.10",
      "::1",
      "2001:db8::1",
      "2001:db8::a:1",
      "fe80::1",
    ]);
  });

  test("stay where they are where only the API knows the order", () => {
    expect(ordered("host_id", ["b", "a"])).toEqual(["b", "a"]);
    expect(rowOrder({})).toBeNull();
  });

  test("take a MAC address, or a name of hexadecimal digits, for no address", () => {
    for (const text of ["00:1b:21:00:00:02", "cafe", "10.2.3", "host:1"]) expect(addressKey(text)).toBeNull();
  });
});

describe("what can stand in a filter", () => {
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
  const offered = (text: string) => completionsOf(text, text.length, known).map((each) => each.text.trim());

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
    expect(offered(text)).toEqual(expected);
  });

  test("is put in for what was begun, and what follows stays", () => {
    const text = 'oper AND if_name = "x"';
    const [first] = completionsOf(text, 4, known);
    expect(first === undefined ? null : completed(text, 4, first)).toEqual({
      text: 'oper_status AND if_name = "x"',
      caret: 12,
    });
  });
});

test("what a page shows can be asked for with curl: with a key's variable, and quoted for a shell", () => {
  expect(curlOf('/api/v1/hosts?filter=name%20%3D%20"it\'s"', "http://127.0.0.1:8080")).toBe(
    `curl -H "Authorization: Bearer $NETLEDGER_KEY" 'http://127.0.0.1:8080/api/v1/hosts?filter=name%20%3D%20"it%27s"'`,
  );
  expect(csvOf("/api/v1/hosts?filter=a&limit=0&at=2026-01-01T00%3A00%3A00Z")).toBe(
    "/api/v1/hosts/export/csv?filter=a&at=2026-01-01T00%3A00%3A00Z",
  );
});
