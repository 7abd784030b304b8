import { describe, expect, test } from "bun:test";
import {
  identifierOf,
  integerOf,
  macOf,
  macOfBytesOrText,
  macOfOctets,
  singleSubIdOf,
  subIdsOf,
  TEXT_MAX_LENGTH,
  textOf,
  unicastOf,
  unicastOfOctets,
} from "../../src/discovery/mib/values.ts";
import { DEVICE_TEXT_MAX_LENGTH } from "../../src/resources/if-entries/if-entry.ts";
import { processorMs } from "../support/measure/processor-time.ts";
import { hex, utf8 } from "../support/reconcile/synthetic-reads.ts";

describe("a string value", () => {
  test.each([
    ["plain ASCII", utf8("Ethernet1"), "Ethernet1"],
    ["UTF-8", utf8("Gebäude 中文 🖧"), "Gebäude 中文 🖧"],
    ["ISO 8859-1 if not UTF-8", hex("d6d0cec4"), "ÖÐÎÄ"],
    ["padding", hex("206d676d74300000000000"), "mgmt0"],
    ["NUL in the middle", hex("610062"), "ab"],
    ["line breaks as one space", utf8("IOS Software \r\n  Version 12\n\n\tRelease"), "IOS Software Version 12 Release"],
    ["inner spaces unchanged", utf8("RMON Port  1"), "RMON Port  1"],
    ["ISO 8859-1 control characters removed", hex("80ff"), "ÿ"],
    ["nothing", utf8(""), ""],
    ["control characters only", hex("000d0a07"), ""],
  ])("is decoded: %s", (_name, bytes, text) => expect(textOf(bytes)).toBe(text));

  test("is null for a number or an OID", () => {
    expect(textOf(7)).toBeNull();
    expect(textOf("1.3.6")).toBeNull();
  });

  test("is truncated to the stored length, between characters", () => {
    expect(TEXT_MAX_LENGTH).toBe(DEVICE_TEXT_MAX_LENGTH);
    expect(textOf(utf8("x".repeat(5_000)))).toHaveLength(TEXT_MAX_LENGTH);
    expect(textOf(utf8(`x${"🖧".repeat(3_000)}`))).toBe(`x${"🖧".repeat((TEXT_MAX_LENGTH - 2) / 2)}`);
  });
});

describe("an identifier value", () => {
  test.each([
    ["text", utf8("Eth1/19"), "Eth1/19"],
    ["a string padded with NUL", hex("457468312f3231000000000000000000"), "Eth1/21"],
    ["a string with a trailing line break", utf8("Gi0/1\r\n"), "Gi0/1"],
    ["UTF-8", utf8("порт 1"), "порт 1"],
    ["bytes with control characters", hex("e839351aca99"), "e8:39:35:1a:ca:99"],
    ["bytes that are not UTF-8", hex("a8d0e5f5afc0"), "a8:d0:e5:f5:af:c0"],
    ["nothing", utf8(""), ""],
    ["padding only", hex("0000"), ""],
  ])("is decoded: %s", (_name, bytes, text) => expect(identifierOf(bytes)).toBe(text));
});

test("a MAC address is six bytes, not all zero", () => {
  expect(macOf(hex("001B21aabbcc"))).toBe("00:1b:21:aa:bb:cc");
  const otherBytes = ["000000000000", "001b21aabb", "001b21aabbccdd", ""].map(hex);
  for (const invalid of [...otherBytes, 5, "0.27.33.1.2.3", undefined]) expect(macOf(invalid)).toBeNull();
  expect(macOfOctets([1, 0, 27, 33, 1, 2, 3], 1, 7)).toBe("00:1b:21:01:02:03");
  expect(macOfOctets([0, 27, 33, 1, 2, 256], 0, 6)).toBeNull();
});

test("a MAC address may be a string", () => {
  expect(macOfBytesOrText(utf8("8c:60:4f:19:16:7c"))).toBe("8c:60:4f:19:16:7c");
  expect(macOfBytesOrText(utf8("8C-60-4F-19-16-7C\0"))).toBe("8c:60:4f:19:16:7c");
  expect(macOfBytesOrText(utf8("8c60.4f19.167c"))).toBe("8c:60:4f:19:16:7c");
  expect(macOfBytesOrText(utf8("Ethernet1/2/34"))).toBeNull();
});

test("a unicast address is canonical, others are null", () => {
  expect(unicastOf("10.0.0.1")).toBe("10.0.0.1");
  expect(unicastOf(hex("0a280113"))).toBe("10.40.1.19");
  expect(unicastOf(hex("20010db8000000000000000000000001"))).toBe("2001:db8::1");
  expect(unicastOfOctets([4, 127, 0, 0, 1], 1, 5)).toBe("127.0.0.1");
  const otherTexts = ["0.0.0.0", "255.255.255.255", "224.0.0.5", "::", "ff02::1", "1.2.3"];
  const otherBytes = ["0a2801", "", `ff02${"00".repeat(14)}`, "00".repeat(16)].map(hex);
  for (const invalid of [...otherTexts, ...otherBytes, 5, undefined]) expect(unicastOf(invalid)).toBeNull();
  expect(unicastOfOctets([10, 0, 0, 256], 0, 4)).toBeNull();
});

test("an index is dotted numbers", () => {
  expect(subIdsOf("0.47.2")).toEqual([0, 47, 2]);
  expect(subIdsOf("4294967295")).toEqual([4_294_967_295]);
  for (const invalid of ["", ".", "1.", ".1", "1..2", "a", "1.-2", "1.2 ", "12345678901"])
    expect(subIdsOf(invalid)).toEqual([]);
  expect(singleSubIdOf("47", 100)).toBe(47);
  expect(singleSubIdOf("101", 100)).toBeNull();
  expect(singleSubIdOf("4.7", 100)).toBeNull();
});

test("a number is an integer within its range", () => {
  expect(integerOf(4_094, 1, 4_094)).toBe(4_094);
  for (const invalid of [0, 4_095, -1, 1.5, NaN, Infinity, "5", utf8("5"), undefined])
    expect(integerOf(invalid, 1, 4_094)).toBeNull();
});

test("an identifier with sixty thousand inner spaces is decoded quickly", async () => {
  const elapsedMs = await processorMs(() => {
    for (const byte of [0, 0x20]) {
      const bytes = new Uint8Array([0xc3, 0xa9, ...new Uint8Array(60_000).fill(byte), 0x62]);
      // A NUL inside makes it binary.
      expect(identifierOf(bytes)).toHaveLength(byte === 0 ? TEXT_MAX_LENGTH : 1);
    }
  });
  // Restarting at each space would take seconds.
  expect(elapsedMs).toBeLessThan(500);
});
