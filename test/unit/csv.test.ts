import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cellText, csvHead, csvRows, fieldColumns, unguarded } from "../../src/schemas/csv.ts";
import { processorMs } from "../support/measure/processor-time.ts";

const cell = (value: unknown) => csvRows(fieldColumns(["a"]), [{ a: value }]);

describe("a table as CSV", () => {
  test("has a header row, rows ending with CRLF, and one cell per column", () => {
    const columns = fieldColumns(["id", "name"]);
    expect(csvHead(columns) + csvRows(columns, [{ id: 1, name: "a", other: true }, { name: "b" }])).toBe(
      "id,name\r\n1,a\r\n,b\r\n",
    );
  });

  test.each([
    ["a,b", '"a,b"'],
    ['say "x"', '"say ""x"""'],
    ["two\nlines", '"two\nlines"'],
    [" leading space", '" leading space"'],
    [null, ""],
    [undefined, ""],
    [true, "true"],
    [-5, "-5"],
    [["a", "b"], "a;b"],
    [[], ""],
    [{ type: "Manual" }, "Manual"],
    [{ type: "Kvm", details: {} }, '"{""type"":""Kvm"",""details"":{}}"'],
    ["ünï", "ünï"],
  ])("writes %p as %s", (value, text) => expect(cell(value)).toBe(`${text}\r\n`));

  test.each([["=1+1"], ["+1"], ["-1"], ["@SUM(A1)"], ["\t=1"], ["\r=1"], ["  =1"], ["＝1"], ["\u0000=1"]])(
    "escapes the formula %p",
    (value) => expect(cell(value).replace(/^"/, "").startsWith("'")).toBe(true),
  );

  test("escapes a formula at the start of a list, and after a semicolon", () => {
    expect(cell(["=1", "2"])).toBe("'=1;2\r\n");
    expect(cell(["1", "=2"])).toBe("1;'=2\r\n");
    expect(cell("x; =HYPERLINK(1)")).toBe("x; '=HYPERLINK(1)\r\n");
    expect(cell("x;\u200b=HYPERLINK(1)")).toBe("x;\u200b'=HYPERLINK(1)\r\n");
    expect(cell("\u200b=HYPERLINK(1)")).toBe("'\u200b=HYPERLINK(1)\r\n");
  });

  test("also escapes formulas inside an object", () => {
    expect(cell({ subtype: "MacAddress", value: 'a;=HYPERLINK("http://x.example")' })).toContain("a;'=HYPERLINK");
  });

  test("scans a long run of whitespace once", async () => {
    const elapsedMs = (length: number) => {
      const text = "\n".repeat(length);
      return processorMs(() => {
        for (let count = 0; count < 20; count += 1) cell(text);
      });
    };
    await elapsedMs(4_000);
    // Sixteen times the length takes about sixteen times as long; restarting the scan at each character would take
    // 256 times as long.
    expect((await elapsedMs(64_000)) / (await elapsedMs(4_000))).toBeLessThan(100);
  });

  test("escapes reversibly: every string is read back unchanged", () => {
    const alphabet = [..."'';;\t\r\n =+-@a\u200b＝,\""];
    const text = fc.array(fc.constantFrom(...alphabet), { maxLength: 12 }).map((chars) => chars.join(""));
    fc.assert(
      fc.property(text, (value) => unguarded(cellText(value)) === value),
      { numRuns: 20_000, seed: 4_711 },
    );
    for (const value of ["'=1", "''=1", "'\t=1", "a;'=1", "';=1", "'", "it's", "\t", "'\t"]) {
      expect([value, unguarded(cellText(value))]).toEqual([value, value]);
      expect(cellText(value)).not.toBe(cellText(`'${value}`));
    }
  });

  test.each([["a=b"], ["1-2"], ["it's"], ["'quoted'"], ["a;b"], ["00:1b:21:aa:bb:cc"], ["x@example.org"]])(
    "leaves %p unchanged",
    (value) => expect(cell(value)).toBe(`${value}\r\n`),
  );
});
