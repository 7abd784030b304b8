import { describe, expect, test } from "bun:test";
import { exactTerm, SEARCH_MAX_LENGTH, searchTerms, searchText, searchWords } from "../../src/db/search-text.ts";

const words = (text: string) => searchText({ words: [text] }).split(" ");

describe("the index of free text", () => {
  test.each([
    ["core-sw-01", ["core-sw-01", "sw-01", "01"]],
    ["Web  Shop\t(old)", ["web", "shop", "(old)", "old)"]],
    ["edge/R7.example.net", ["edge/r7.example.net", "r7.example.net", "example.net", "net"]],
    ["ÄRGER Οδός", ["ärger", "οδόσ"]],
    ["日本 東京-1", ["日本", "東京-1", "1"]],
    ["a\u00a0b\u2028c\u0000d", ["a", "b", "c", "d"]],
    ["sw SW Sw", ["sw"]],
    ["--", ["--"]],
  ])("is matched for %p by prefixes of each of %p", (text, entries) => expect(words(text)).toEqual(entries));

  test("starts no word at an accent", () => {
    // Capital J with caron has no composed form.
    expect(words("x-J̌y")).toEqual(["x-ǰy", "ǰy"]);
  });

  test("has each entry once and in order, for few words and many", () => {
    for (const count of [3, 23, 24, 25, 200]) {
      const expectedWords = Array.from({ length: count }, (_, number) => `word${number}`);
      expect(words([...expectedWords, ...expectedWords, expectedWords[0]].join(" "))).toEqual(expectedWords);
    }
  });

  test("is empty for empty text", () => {
    expect(searchText({ words: [null, undefined, "", " \n"], values: [null, ""] })).toBe("");
  });

  test("is truncated to a length, between characters, so that stored and intended text agree", () => {
    const long = `${"a".repeat(254)}😀${"b".repeat(100)}`;
    const text = searchText({ words: [long], values: [long] });
    expect(text.isWellFormed()).toBe(true);
    expect(text.split(" ")).toEqual(["a".repeat(254)]);
    expect(searchText({ words: [`${"a".repeat(253)}😀b`] })).toBe(`${"a".repeat(253)}😀`);
  });

  test("contains only the first parts of a word with many", () => {
    expect(words(Array.from({ length: 100 }, (_, index) => index).join("-"))).toHaveLength(32);
  });

  test("replaces lone surrogates with the database's replacement character", () => {
    expect(words("x\ud800y")[0]).toBe("x\ufffdy");
  });
});

describe("the index of an address", () => {
  test("contains the complete address only", () => {
    expect(searchText({ values: ["10.2.3.4", "AA:BB:CC:00:00:01"] })).toBe("10.2.3.4 aa:bb:cc:00:00:01");
  });
});

describe("a search query", () => {
  test.each([
    ["core", ['"core"*']],
    ["  Core\tSW core ", ['"core"*', '"sw"*']],
    ["10.2.", ['"10.2."*']],
    ['say "x" OR* -a', ['"say"*', '"""x"""*', '"or*"*', '"-a"*']],
    ["", []],
    [" \n ", []],
  ])("becomes, for %p, %p", (search, terms) => expect(searchTerms(search)).toEqual(terms));

  test.each([
    ["AA-BB-CC-00-00-01", '"aa-bb-cc-00-00-01"* OR "aa:bb:cc:00:00:01"*'],
    ["aa-bb", '"aa-bb"* OR "aa:bb"*'],
    ["aa-bb-", '"aa-bb-"* OR "aa:bb:"*'],
    ["aa-b", '"aa-b"* OR "aa:b"*'],
    ["aabb.cc00.0001", '"aabb.cc00.0001"* OR "aa:bb:cc:00:00:01"*'],
    ["AABB.", '"aabb."* OR "aa:bb"*'],
    ["aabb.cc0", '"aabb.cc0"* OR "aa:bb:cc:0"*'],
    ["2001:DB8:0:0::1", '"2001:db8:0:0::1"* OR "2001:db8::1"*'],
  ])("includes the stored form of the address %s", (search, term) => expect(searchTerms(search)).toEqual([term]));

  test.each([
    ["aa:bb"],
    ["aa-bb-cc-00-00-01-02"],
    ["aa-bbc"],
    ["aabb.cc00.0001.02"],
    ["aab.cc"],
    ["gg-hh"],
    ["10.2.3.4"],
    ["2001:db8::1"],
    ["core-sw"],
    ["dead-beef"],
  ])("includes no other form of %s", (search) => expect(searchTerms(search)).toEqual([`"${search}"*`]));

  test("has each word once", () => {
    expect(searchWords("b a B  a")).toEqual(["b", "a"]);
    expect(searchWords("x ".repeat(SEARCH_MAX_LENGTH))).toEqual(["x"]);
  });

  test("does not match longer entries if it is for one complete entry", () =>
    expect(exactTerm("AA:BB")).toBe('"aa:bb"'));
});
