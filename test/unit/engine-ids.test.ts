// SNMP engine ids as signs: those that follow from another sign, or that many devices have, identify none.

import { describe, expect, test } from "bun:test";
import { engineSign, isOtherEngine } from "../../src/discovery/reconcile/engine-ids.ts";

const MAC = "00:1b:21:aa:bb:0c";
const text = (value: string) => Buffer.from(value).toString("hex");
const signOf = (engineId: string) => engineSign(engineId, [null, MAC], ["fw0001234", "edge-fw", null]);

describe("an engine id is no sign of its own", () => {
  test.each([
    ["if it is derived from a MAC address of the device", "800007db03001b21aabb0c"],
    ["if the MAC address follows a zero", "8000000903 00001b21aabb0c"],
    ["if it has the form from before RFC 3411, with a MAC address", "0000000b0000001b21aabb0c"],
    ["if the MAC address is anywhere", "f5717f001b21aabb0c00"],
    ["if the MAC address is written as text", `80000a3c04${text("00-1B-21-AA-BB-0C")}`],
    ["if it is derived from an IPv4 address", "80000a4c010a000005"],
    ["if it is derived from an IPv6 address", "8000028802fe800000000000000220850a46462046"],
    ["if it is an IP address as text", `80000a4c04${text("10.0.0.5")}`],
    ["if it is the serial number of the device", `8000304404${text("FW0001234")}`],
    ["if it is the name of the device", `8000000904${text("edge-fw")}`],
    ["if it is one octet over and over", "80001f8804000000000000"],
    ["if its octets count up", "800000000501020304"],
    ["if it is empty", "8000000903"],
  ])("%s", (_, engineId) => {
    expect(signOf(engineId.replaceAll(" ", ""))).toBeNull();
  });

  test("if there is none", () => {
    expect([null, undefined].map((none) => engineSign(none, [MAC], []))).toEqual([null, null]);
  });
});

test("an engine id of another card, a random one, and one that a user chose are signs", () => {
  for (const engineId of ["800007db03001b21aabb0d", "80001f8880e5a1b2c3d4e5f60718", `8000000904${text("roof-2")}`])
    expect(signOf(engineId)).toBe(engineId);
});

test("engine ids differ unless one is unknown or random", () => {
  const [some, other, random] = ["800007db03001b21aabb0c", "800007db03001b21aabb0d", "80001f8880e5a1b2c3d4e5f60718"];
  expect(isOtherEngine(some, other)).toBe(true);
  expect(isOtherEngine(some, some)).toBe(false);
  expect(isOtherEngine(some, null)).toBe(false);
  expect(isOtherEngine(some, random)).toBe(false);
  expect(isOtherEngine("80001f88805555555555555555", random)).toBe(false);
});
