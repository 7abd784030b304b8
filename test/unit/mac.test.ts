// Parsing and properties of MAC addresses.

import { describe, expect, test } from "bun:test";
import {
  isGroupAddress,
  isLocallyAdministered,
  macTypeOf,
  parseMac,
  parseMacPrefix,
  virtualRouterOf,
} from "../../src/base/mac.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

describe("parseMac", () => {
  const NOTATIONS =
    "00:1b:44:11:3a:b7 00:1B:44:11:3A:B7 00-1b-44-11-3a-b7 00-1B-44-11-3A-B7 00-1b-44-11-3A-B7 001b.4411.3ab7 " +
    "001B.4411.3AB7";
  test.each(NOTATIONS.split(" "))("parses %s into lower case with colons", (text) => {
    expect(parseMac(text)).toBe("00:1b:44:11:3a:b7");
  });

  test("accepts the all-zero and broadcast addresses", () => {
    expect(parseMac("00:00:00:00:00:00")).toBe("00:00:00:00:00:00");
    expect(parseMac("FFFF.FFFF.FFFF")).toBe("ff:ff:ff:ff:ff:ff");
  });

  const INVALID =
    "00:1b:44:11:3a,00:1b:44:11:3a:b7:,:00:1b:44:11:3a:b7,00:1b:44:11:3a:b7:00,00:1b:44:11:3a:b7:00:01," +
    "00:1b:44:11:3a-b7,00-1b:44-11:3a-b7,00:1b:44.11:3a:b7,001b.4411:3ab7,001b-4411-3ab7,001b:4411:3ab7," +
    "001b.4411.3ab,001b.4411.3ab7.0000,00.1b.44.11.3a.b7,001b44113ab7,0:1b:44:11:3a:b7,00:1b:44:11:3a:g7," +
    "00 1b 44 11 3a b7, 00:1b:44:11:3a:b7,00:1b:44:11:3a:b7\n,00::1b:44:11:3a:b7,００:1b:44:11:3a:b7,";
  test.each(INVALID.split(","))("refuses %j", (text) => expect(parseMac(text)).toBeNull());

  test("normalizes every notation, idempotently", () => {
    const random = seededRandom(1);
    for (let round = 0; round < 1_000; round += 1) {
      const digits = random.bytes(6).toHex();
      const pairs = digits.match(/../g) ?? [];
      const canonical = pairs.join(":");
      expect(parseMac(canonical)).toBe(canonical);
      expect(parseMac(pairs.join("-").toUpperCase())).toBe(canonical);
      expect(parseMac((digits.match(/.{4}/g) ?? []).join("."))).toBe(canonical);
    }
  });
});

describe("parseMacPrefix", () => {
  test.each([
    ["001b44", "00:1b:44"],
    ["00:1B:44", "00:1b:44"],
    ["00-1b-44-1", "00:1b:44:01"],
    ["001b441", "00:1b:44:1"],
    ["0:1b:44:1:3a:7", "00:1b:44:01:3a:07"],
    ["001b.44", "00:1b:44"],
    ["001B.4411.3AB7", "00:1b:44:11:3a:b7"],
    ["00 1b 44 11", "00:1b:44:11"],
    ["001b44113ab7", "00:1b:44:11:3a:b7"],
  ])("parses %j as %s", (text, prefix) => expect(parseMacPrefix(text)).toBe(prefix));

  const INVALID = ",001b4,0:1b,001b44113ab70,00:1b:44-11,001b44:11,00::1b:44,001g44,00:1b:44:, ";
  test.each(INVALID.split(","))("refuses %j", (text) => expect(parseMacPrefix(text)).toBeNull());
});

describe("properties of an address", () => {
  test.each([
    ["00:1b:21:aa:bb:cc", "Universal"],
    ["00:1b:21", "Universal"],
    ["da:a1:19:00:00:01", "LocallyAdministered"],
    ["00:00:5e:00:01:0a", "VirtualRouter"],
    ["00:00:0c:9f:f", "Universal"],
    ["01:00:5e:00:00:fb", "Multicast"],
    ["ff:ff:ff", "Multicast"],
    ["ff:ff:ff:ff:ff:ff", "Broadcast"],
    ["00:00:00:00:00:00", "Unspecified"],
  ] as const)("%s is %s", (mac, type) => expect(macTypeOf(mac)).toBe(type));

  test.each([
    ["00:1b:21:aa:bb:cc", false, false],
    ["01:00:5e:00:00:fb", true, false],
    ["ff:ff:ff:ff:ff:ff", true, true],
    ["02:42:ac:11:00:02", false, true],
    ["da:a1:19:00:00:01", false, true],
    ["52:54:00:12:34:56", false, true],
  ])("%s is a group address: %p, and locally administered: %p", (mac, isGroup, isLocal) => {
    expect([isGroupAddress(mac), isLocallyAdministered(mac)]).toEqual([isGroup, isLocal]);
  });

  test.each([
    ["00:00:5e:00:01:0a", { protocol: "VRRP" as const, group: 10 }],
    ["00:00:5e:00:02:ff", { protocol: "VRRP" as const, group: 255 }],
    ["00:00:0c:07:ac:01", { protocol: "HSRP" as const, group: 1 }],
    ["00:00:0c:9f:f1:2c", { protocol: "HSRP" as const, group: 300 }],
    ["00:05:73:a0:00:05", { protocol: "HSRP" as const, group: 5 }],
    ["00:00:5e:00:53:01", null],
    ["00:00:0c:9f:e1:2c", null],
    ["00:1b:21:00:01:0a", null],
  ])("%s belongs to the virtual router %p", (mac, router) => expect(virtualRouterOf(mac)).toEqual(router));
});
