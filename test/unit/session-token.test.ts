// Session token format and hash.

import { describe, expect, test } from "bun:test";
import { generateSessionToken, hashSessionToken, isWellFormedSessionToken } from "../../src/access/session-token.ts";
import { systemRandom } from "../../src/base/random.ts";

describe("a session token", () => {
  test("is its 32 random bytes in base64url without padding", () => {
    const bytes = systemRandom.bytes(32);
    const token = generateSessionToken({
      bytes: (count) => {
        expect(count).toBe(32);
        return bytes;
      },
    });
    expect(token).toBe(Buffer.from(bytes).toString("base64url"));
    expect(token).toHaveLength(43);
  });

  test("uses the URL-safe alphabet, so that a cookie needs no quoting", () => {
    expect(generateSessionToken({ bytes: (count) => new Uint8Array(count).fill(0xff) })).toBe(`${"_".repeat(42)}8`);
  });

  test("is well-formed, for many samples", () => {
    for (let round = 0; round < 1000; round += 1)
      expect(isWellFormedSessionToken(generateSessionToken(systemRandom))).toBe(true);
  });

  test("is hashed with SHA-256", () => {
    expect(hashSessionToken("abc").toHex()).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });
});

const TOKEN = `${"a".repeat(42)}A`;

test.each([
  "",
  "abc",
  TOKEN.slice(1),
  `${TOKEN}A`,
  `${TOKEN}\n`,
  ` ${TOKEN}`,
  `${TOKEN}=`,
  `+${TOKEN.slice(1)}`,
  `${"a".repeat(42)}B`,
])("%j is not a session token", (text) => {
  expect(isWellFormedSessionToken(TOKEN)).toBe(true);
  expect(isWellFormedSessionToken(text)).toBe(false);
});
