// Setup token as displayed and typed, and constant-time comparison of secrets.

import { describe, expect, test } from "bun:test";
import { systemRandom } from "../../src/base/random.ts";
import { generateSetupToken, sameSecret, setupTokenMatches } from "../../src/sessions/setup-token.ts";

describe("a setup token", () => {
  test("is seven groups of four unambiguous characters", () => {
    for (let round = 0; round < 200; round += 1)
      expect(generateSetupToken(systemRandom)).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){6}$/);
  });

  test("uses five bits of each of 28 random bytes, uniformly", () => {
    const counts = new Map<string, number>();
    for (let first = 0; first < 256; first += 1) {
      const token = generateSetupToken({
        bytes: (count) => {
          expect(count).toBe(28);
          return new Uint8Array(count).fill(first);
        },
      });
      counts.set(token, (counts.get(token) ?? 0) + 1);
    }
    expect(counts.size).toBe(32);
    expect(new Set(counts.values())).toEqual(new Set([8]));
  });

  test("matches itself, in lower case, without hyphens, with surrounding spaces", () => {
    const token = generateSetupToken(systemRandom);
    for (const input of [
      token,
      token.toLowerCase(),
      token.replaceAll("-", ""),
      token.replaceAll("-", " "),
      `  ${token}\n`,
    ])
      expect(setupTokenMatches(token, input)).toBe(true);
  });

  test("matches with 1 misread as I or l and 0 as O", () => {
    expect(setupTokenMatches("1010-ABCD", "Il0O-abcd".replace("Il0O", "IolO"))).toBe(true);
    expect(setupTokenMatches("1010-ABCD", "1O1O-ABCD")).toBe(true);
  });

  test("does not match any other string", () => {
    const token = generateSetupToken({ bytes: (count) => Uint8Array.from({ length: count }, (_, index) => index) });
    for (const input of [
      "",
      "-",
      token.slice(1),
      token.slice(0, -1),
      `${token}0`,
      token.replace("2", "3"),
      token.split("-").reverse().join("-"),
    ])
      expect(setupTokenMatches(token, input)).toBe(false);
  });
});

describe("comparing secrets", () => {
  test.each([
    ["", "", true],
    ["abc", "abc", true],
    ["abc", "abd", false],
    ["abc", "ABC", false],
    ["abc", "abcd", false],
    ["abc", "", false],
    ["\ud800", "\ufffd", false],
    ["schlüssel", "schlüssel", true],
  ])("%j and %j: %p", (a, b, same) => expect(sameSecret(a, b)).toBe(same));
});
