// API keys: format, checksum, hash and mask.

import { describe, expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import {
  API_KEY_LENGTH,
  generateApiKey,
  hashApiKey,
  isWellFormedApiKey,
  maskApiKey,
} from "../../src/access/api-key.ts";
import { type Random, systemRandom } from "../../src/base/random.ts";

const constant = (byte: number): Random => ({ bytes: (count) => new Uint8Array(count).fill(byte) });

describe("a generated API key", () => {
  test("is nlk_ and 43 base62 characters", () => {
    const key = generateApiKey(systemRandom);
    expect(key).toMatch(/^nlk_[0-9A-Za-z]{43}$/);
    expect(key).toHaveLength(API_KEY_LENGTH);
  });

  test("carries 256 bits: 224 random bits, then their CRC-32", () => {
    const bytes = systemRandom.bytes(28);
    const key = generateApiKey({ bytes: () => bytes });
    const number = [...key.slice(4)].reduce((sum, digit) => sum * 62n + BigInt(digitValue(digit)), 0n);
    const hex = number.toString(16).padStart(64, "0");
    expect(hex.slice(0, 56)).toBe(bytes.toHex());
    expect(Number.parseInt(hex.slice(56), 16)).toBe(crc32(bytes));
  });

  test("requests 28 random bytes", () => {
    const requestedSizes: number[] = [];
    generateApiKey({
      bytes: (count) => {
        requestedSizes.push(count);
        return new Uint8Array(count);
      },
    });
    expect(requestedSizes).toEqual([28]);
  });

  test("has the same length for the smallest and the largest number", () => {
    expect(generateApiKey(constant(0))).toHaveLength(API_KEY_LENGTH);
    expect(generateApiKey(constant(255))).toHaveLength(API_KEY_LENGTH);
  });

  test("is well-formed, for many samples", () => {
    for (let round = 0; round < 1000; round += 1) expect(isWellFormedApiKey(generateApiKey(systemRandom))).toBe(true);
  });
});

describe("an invalid API key", () => {
  const key = generateApiKey(constant(0xa5));

  test("is a key with any one character changed", () => {
    for (let index = 0; index < key.length; index += 1) {
      const other = key[index] === "x" ? "y" : "x";
      expect(isWellFormedApiKey(key.slice(0, index) + other + key.slice(index + 1))).toBe(false);
    }
  });

  test("is a key with two adjacent characters swapped", () => {
    for (let index = 4; index < key.length - 1; index += 1) {
      const [a, b] = [key.charAt(index), key.charAt(index + 1)];
      if (a !== b) expect(isWellFormedApiKey(key.slice(0, index) + b + a + key.slice(index + 2))).toBe(false);
    }
  });

  test.each([
    "",
    "nlk_",
    `nlk_${"z".repeat(43)}`,
    key.slice(0, -1),
    `${key}0`,
    ` ${key}`,
    `${key}\n`,
    key.toUpperCase(),
    key.replace("nlk_", "NLK_"),
  ])("is %j", (text) => expect(isWellFormedApiKey(text)).toBe(false));
});

test("the hash of a key is its SHA-256", () => {
  const key = generateApiKey(constant(7));
  const expected = new Bun.CryptoHasher("sha256").update(key).digest("hex");
  expect(hashApiKey(key).toHex()).toBe(expected);
  expect(hashApiKey("abc").toHex()).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

describe("the mask of a key", () => {
  test("shows four random characters and nothing else", () => {
    const key = generateApiKey(systemRandom);
    expect(maskApiKey(key)).toBe(`${key.slice(0, 8)}…`);
  });

  test("is not itself a key", () => expect(isWellFormedApiKey(maskApiKey(generateApiKey(systemRandom)))).toBe(false));

  test("is refused for an invalid key, because it would disclose the key", () => {
    expect(() => maskApiKey("nlk_abc")).toThrow("well-formed");
  });
});

function digitValue(digit: string): number {
  return "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".indexOf(digit);
}
