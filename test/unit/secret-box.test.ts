// Sealed secrets: keys and contexts that open them, and those that do not.

import { describe, expect, test } from "bun:test";
import { createDecipheriv } from "node:crypto";
import { systemRandom } from "../../src/base/random.ts";
import { SecretBox } from "../../src/base/secret-box.ts";

const KEY = new Uint8Array(32).fill(7);
const CONTEXT = "credential:0190a8c0-0000-7000-8000-000000000001:community";
const newBox = (key: Uint8Array = KEY): SecretBox => new SecretBox(key, systemRandom);

describe("a sealed secret", () => {
  test.each(["public", "", "Grüße 🔑 \0 \n", "x".repeat(100_000)])("opens to the original", (plaintext) => {
    expect(newBox().open(newBox().seal(plaintext, CONTEXT), CONTEXT)).toBe(plaintext);
  });

  test("does not contain the secret", () => {
    expect(Buffer.from(newBox().seal("public", CONTEXT)).includes("public")).toBe(false);
  });

  test("is version, nonce, ciphertext and tag of AES-256-GCM", () => {
    const nonce = new Uint8Array(12).fill(3);
    const box = new SecretBox(KEY, { bytes: () => nonce }).seal("public", CONTEXT);
    expect(box).toHaveLength(1 + 12 + 6 + 16);
    expect(box[0]).toBe(1);
    expect(box.slice(1, 13)).toEqual(nonce);
    const decipher = createDecipheriv("aes-256-gcm", KEY, nonce);
    decipher.setAAD(Buffer.concat([Uint8Array.of(1), Buffer.from(CONTEXT)]));
    decipher.setAuthTag(box.slice(-16));
    expect(decipher.update(box.slice(13, -16), undefined, "utf8") + decipher.final("utf8")).toBe("public");
  });

  test("is different each time", () => {
    const box = newBox();
    expect(box.seal("public", CONTEXT)).not.toEqual(box.seal("public", CONTEXT));
  });

  test("owns its bytes, and does not modify the box it opens", () => {
    const sealed = newBox().seal("public", CONTEXT);
    expect(sealed.buffer.byteLength).toBe(sealed.length);
    const original = sealed.slice();
    newBox().open(sealed, CONTEXT);
    expect(sealed).toEqual(original);
  });

  test("cannot be created from invalid Unicode, because that would not round-trip", () => {
    expect(() => newBox().seal("a\ud800b", CONTEXT)).toThrow("lone surrogate");
  });

  test("still opens after the caller wipes the key bytes", () => {
    const key = KEY.slice();
    const box = newBox(key);
    const sealed = box.seal("public", CONTEXT);
    key.fill(0);
    expect(box.open(sealed, CONTEXT)).toBe("public");
  });
});

describe("a sealed secret that does not open", () => {
  const sealed = newBox().seal("public", CONTEXT);

  test("is for another record", () => {
    expect(() => newBox().open(sealed, `${CONTEXT}2`)).toThrow("belongs to another record");
  });

  test("is opened with another key", () => {
    expect(() => newBox(new Uint8Array(32)).open(sealed, CONTEXT)).toThrow("sealed with another key");
  });

  test("has any bit flipped", () => {
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const damaged = sealed.slice();
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => newBox().open(damaged, CONTEXT)).toThrow("cannot be opened");
    }
  });

  test("is truncated anywhere, or has trailing bytes", () => {
    for (let length = 0; length < sealed.length; length += 1)
      expect(() => newBox().open(sealed.slice(0, length), CONTEXT)).toThrow("cannot be opened");
    expect(() => newBox().open(Uint8Array.of(...sealed, 0), CONTEXT)).toThrow("cannot be opened");
  });

  test("was written by a newer version, and reports that", () => {
    expect(() => newBox().open(Uint8Array.of(2, ...sealed.slice(1)), CONTEXT)).toThrow(
      "this program does not support its version 2",
    );
  });
});

test.each([0, 16, 31, 33, 64])("a key of %d bytes is refused", (length) => {
  expect(() => newBox(new Uint8Array(length))).toThrow(`has 32 bytes, not ${length}`);
});
