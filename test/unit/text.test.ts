// Case folding and order of strings, and formatted counts.

import { describe, expect, test } from "bun:test";
import { compareCodePoints, foldCase, groupedDigits, textSortKey } from "../../src/base/text.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

describe("foldCase", () => {
  test.each([
    ["Core Switch", "CORE SWITCH"],
    ["Zürich", "ZÜRICH"],
    ["Zu\u0308rich", "Z\u00dcRICH"],
    ["Ωμέγα", "ΩΜΈΓΑ"],
    ["οδος", "ΟΔΟΣ"],
    ["οδός", "ΟΔΌΣ"],
    ["Москва", "МОСКВА"],
    ["\u01f0", "J\u030c"],
    ["\u212b", "\u00e5"],
    ["\u{10428}", "\u{10400}"],
  ])("treats %j and %j as equal", (a, b) => expect(foldCase(a)).toBe(foldCase(b)));

  test.each([
    ["e", "é"],
    ["i", "ı"],
    ["a", "а"],
    ["a b", "a  b"],
    ["1", "１"],
  ])("distinguishes %j and %j", (a, b) => expect(foldCase(a)).not.toBe(foldCase(b)));

  test("folds a word's prefix like the word, so that searching finds it", () => {
    expect(foldCase("ΟΔΟΣΗΜΑ")).toStartWith(foldCase("ΟΔΟΣ"));
  });

  test("is idempotent, and independent of accent composition", () => {
    const wrong: string[] = [];
    for (let codePoint = 0; codePoint <= 0x1ffff; codePoint += 1) {
      const text = String.fromCodePoint(codePoint);
      const folded = foldCase(text);
      if (foldCase(folded) !== folded || foldCase(text.normalize("NFD")) !== folded)
        wrong.push(`U+${codePoint.toString(16)}`);
    }
    expect(wrong).toEqual([]);
  });
});

describe("compareCodePoints", () => {
  test("puts a string before its extensions, and equal strings are equal", () => {
    expect(compareCodePoints("", "")).toBe(0);
    expect(compareCodePoints("eth1", "eth1")).toBe(0);
    expect(compareCodePoints("", "\u0000")).toBeLessThan(0);
    expect(compareCodePoints("eth1", "eth10")).toBeLessThan(0);
    expect(compareCodePoints("eth10", "eth1")).toBeGreaterThan(0);
  });

  test("puts characters beyond U+FFFF last, unlike comparing UTF-16 units", () => {
    expect("\uffe5" < "\u{1f600}").toBe(false);
    expect(compareCodePoints("\uffe5", "\u{1f600}")).toBeLessThan(0);
    expect(compareCodePoints("a\u{1f600}", "a\uffe5")).toBeGreaterThan(0);
  });

  test("compares code points with equal high surrogates", () => {
    expect(compareCodePoints("\u{1f600}", "\u{1f601}")).toBeLessThan(0);
    expect(compareCodePoints("\u{1f600}a", "\u{1f600}b")).toBeLessThan(0);
  });

  test("treats a lone surrogate as its code point", () => {
    expect(compareCodePoints("\ud83d", "\ud83d\ude00")).toBeLessThan(0);
    expect(compareCodePoints("\ud83d\uffe5", "\ud83d\ude00")).toBeLessThan(0);
    expect(compareCodePoints("\ud83da", "\ud83db")).toBeLessThan(0);
    expect(compareCodePoints("\ud83d", "\ud83d")).toBe(0);
  });

  test("is code point order, for any strings", () => {
    const random = seededRandom(1);
    const units = [0x61, 0x62, 0xd83d, 0xd83e, 0xde00, 0xde01, 0xe000, 0xffe5];
    const randomText = () =>
      String.fromCharCode(...Array.from({ length: random.integer(5) }, () => random.pick(units)));
    for (let round = 0; round < 20_000; round += 1) {
      const [a, b] = [randomText(), randomText()];
      expect(Math.sign(compareCodePoints(a, b))).toBe(compareByListing(a, b));
    }
  });

  test("is the order of UTF-8 bytes, as in a database", () => {
    const random = seededRandom(2);
    const codePoints = [0x0, 0x41, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff];
    const randomText = () =>
      String.fromCodePoint(...Array.from({ length: random.integer(4) }, () => random.pick(codePoints)));
    for (let round = 0; round < 20_000; round += 1) {
      const [a, b] = [randomText(), randomText()];
      expect(Math.sign(compareCodePoints(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }
  });
});

describe("textSortKey", () => {
  test("orders ignoring case, then by code point, with prefixes first", () => {
    const random = seededRandom(3);
    const characters = "a,A,b,B,ä,Ä,ς,Σ, ,-,~,é,e\u0301,ß,ǰ,J̌,\ue000,😀".split(",");
    const randomText = () => Array.from({ length: random.integer(4) }, () => random.pick(characters)).join("");
    for (let round = 0; round < 20_000; round += 1) {
      const [a, b] = [randomText(), randomText()];
      const expected = compareCodePoints(foldCase(a), foldCase(b)) || compareCodePoints(a, b);
      expect([a, b, Math.sign(compareCodePoints(textSortKey(a), textSortKey(b)))]).toEqual([a, b, Math.sign(expected)]);
    }
  });
});

describe("groupedDigits", () => {
  test.each([0, 7, 999, 1_000, 21_000, 200_000, 1_234_567, Number.MAX_SAFE_INTEGER])(
    "formats %d as in English",
    (count) => expect(groupedDigits(count)).toBe(count.toLocaleString("en")),
  );
});

/** Reference implementation: compares lists of code points. */
function compareByListing(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (const [index, character] of left.entries()) {
    const otherCharacter = right[index];
    if (otherCharacter === undefined) return 1;
    if (character !== otherCharacter)
      return Math.sign((character.codePointAt(0) ?? 0) - (otherCharacter.codePointAt(0) ?? 0));
  }
  return Math.sign(left.length - right.length);
}
