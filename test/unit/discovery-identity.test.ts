// Signs that identify two sightings as one host, and signs that do not.

import { describe, expect, test } from "bun:test";
import { isOneDevices } from "../../src/base/mac.ts";
import { ENOUGH, identify, isSame, likeness, SIGN_WEIGHTS } from "../../src/discovery/reconcile/identity.ts";
import { isOwnAddress, nameSign, type Signs, serialSign, signsOfDevice } from "../../src/discovery/reconcile/signs.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { device, ethernet, mac } from "../support/reconcile/sightings.ts";

const signs = (
  some: Partial<{ serialNumber: string; chassisId: string; macs: string[]; sysName: string; addresses: string[] }> = {},
): Signs => ({
  serialNumber: some.serialNumber ?? null,
  chassisId: some.chassisId ?? null,
  macs: new Set(some.macs ?? []),
  sysName: some.sysName ?? null,
  addresses: new Set(some.addresses ?? []),
});
const whole = {
  serialNumber: "foc1234",
  chassisId: mac(0),
  macs: [mac(1), mac(2)],
  sysName: "sw-1",
  addresses: ["10.0.0.1"],
};

describe("two sightings", () => {
  test.each([
    ["by serial number, whatever else changed", { serialNumber: "foc1234" }],
    ["by their MAC addresses", { macs: [mac(1), mac(2)] }],
    ["by half of the MAC addresses, after a line card was replaced", { macs: [mac(2), mac(3)], sysName: "sw-1" }],
    ["by name and address, without stronger identifiers", { sysName: "sw-1", addresses: ["10.0.0.1"] }],
    ["by chassis id and name", { chassisId: mac(0), sysName: "sw-1" }],
    [
      "renamed at the same address with the same interfaces",
      { macs: [mac(1), mac(2)], sysName: "sw-9", addresses: ["10.0.0.1"] },
    ],
    [
      "renamed and moved, with chassis id and interfaces",
      { macs: [mac(1), mac(2)], chassisId: mac(0), sysName: "sw-9", addresses: ["10.9.9.9"] },
    ],
  ])("are one host %s", (_, seen) => expect(isSame(signs(seen), signs(whole))).not.toBeNull());

  test.each([
    ["with only the name in common", { sysName: "sw-1" }],
    ["with only the chassis id in common", { chassisId: mac(0) }],
    ["with only the address in common, and contradicting identities", { addresses: ["10.0.0.1"], macs: [mac(9)] }],
    [
      "with the same name and address and another serial number: a replaced device",
      { ...whole, serialNumber: "foc9999", macs: [mac(8)], chassisId: mac(8) },
    ],
    [
      "with the same name, address and chassis id but different serial numbers",
      { serialNumber: "foc9999", sysName: "sw-1", addresses: ["10.0.0.1"], chassisId: mac(0) },
    ],
    ["with a cloned chassis id and name, and other interfaces", { chassisId: mac(0), sysName: "sw-1", macs: [mac(9)] }],
    [
      "with cloned MAC addresses, and another name and address",
      { macs: [mac(1), mac(2)], sysName: "clone", addresses: ["10.0.0.2"] },
    ],
    ["with nothing in common", { macs: [mac(9)], sysName: "other", addresses: ["10.0.0.9"] }],
    ["without any identifier", {}],
  ])("are not one host %s", (_, seen) => expect(isSame(signs(seen), signs(whole))).toBeNull());

  test("no weak identifier suffices alone, nor do all others against a different serial number", () => {
    for (const weak of [
      SIGN_WEIGHTS.sysName.same,
      SIGN_WEIGHTS.chassisId.same,
      SIGN_WEIGHTS.address.same,
      SIGN_WEIGHTS.macs.few,
    ])
      expect(weak).toBeLessThan(ENOUGH);
    const all =
      SIGN_WEIGHTS.macs.same + SIGN_WEIGHTS.chassisId.same + SIGN_WEIGHTS.sysName.same + SIGN_WEIGHTS.address.same;
    expect(all + SIGN_WEIGHTS.serialNumber.other).toBeLessThan(ENOUGH);
  });

  test("have a symmetric similarity, for any data", () => {
    const random = seededRandom(7);
    const pick = <T>(values: readonly T[]): T => values[(random.bytes(1)[0] as number) % values.length] as T;
    const some = () =>
      signs({
        ...pick([{}, { serialNumber: "a" }, { serialNumber: "b" }]),
        ...pick([{}, { chassisId: "c" }, { chassisId: "d" }]),
        macs: pick([[], [mac(1)], [mac(1), mac(2)], [mac(3)]]),
        ...pick([{}, { sysName: "x" }, { sysName: "y" }]),
        addresses: pick([[], ["10.0.0.1"], ["10.0.0.2"]]),
      });
    for (let round = 0; round < 2_000; round += 1) {
      const [a, b] = [some(), some()];
      expect(likeness(a, b).score).toBe(likeness(b, a).score);
      expect(isSame(a, b) === null).toBe(isSame(b, a) === null);
    }
  });
});

test("a host known by address only is whatever is found there", () => {
  expect(isSame(signs(whole), signs({ addresses: ["10.0.0.1"] }))?.reason).toBe("address only");
  expect(isSame(signs(whole), signs({ addresses: ["10.0.0.2"] }))).toBeNull();
});

test("among several candidates the most similar one is chosen, and the first of equal ones", () => {
  const candidates = [
    { id: "bare", signs: signs({ addresses: ["10.0.0.1"] }) },
    { id: "same", signs: signs(whole) },
    { id: "twin", signs: signs(whole) },
  ];
  expect(identify(signs(whole), candidates)).toMatchObject({
    id: "same",
    likeness: { reason: "serial number, 2 MAC addresses, chassis id, system name and address" },
  });
  expect(identify(signs({ macs: [mac(77)] }), candidates)).toBeNull();
});

test("among equal candidates the previous one is chosen, unless another is more similar", () => {
  const [first, there] = [signs(whole), { ...signs(whole), sysName: null }];
  const seen = { ...signs(whole), sysName: null };
  const idOf = (second: object) =>
    identify(seen, [{ id: "first", signs: first }, { id: "there", ...second } as never])?.id;
  expect([idOf({ signs: there }), idOf({ signs: there, reportedThere: true })]).toEqual(["first", "there"]);
  expect(idOf({ signs: { ...there, serialNumber: null }, reportedThere: true })).toBe("first");
});

test.each(["", "  ", "N/A", "none", "0000000000", "To be filled by O.E.M.", "0123456789", "abc", null, undefined])(
  "%p is not an identifying serial number",
  (text) => expect(serialSign(text)).toBeNull(),
);

test("factory default names identify nothing", () => {
  for (const name of ["localhost", "Switch", "router", "", null]) expect(nameSign(name)).toBeNull();
  expect(nameSign(" SW-1 ")).toBe("sw-1");
});

test("virtual router, group and common addresses identify nothing", () => {
  for (const each of [
    "00:00:5e:00:01:0a",
    "00:00:5e:00:02:0a",
    "00:00:0c:07:ac:01",
    "00:00:0c:9f:f0:01",
    "00:07:b4:00:01:01",
    "01:00:5e:00:00:01",
    "ff:ff:ff:ff:ff:ff",
    "00:00:00:00:00:00",
  ])
    expect(isOneDevices(each)).toBe(false);
  expect(isOneDevices("52:54:00:12:34:56")).toBe(true);
  for (const each of ["127.0.0.1", "::1", "fe80::1", "169.254.1.1", "0.0.0.0"]) expect(isOwnAddress(each)).toBe(false);
  const seen = signsOfDevice(
    device({
      sys_name: "R1",
      interfaces: [ethernet(1), ethernet(2, { mac_address: "00:00:5e:00:01:01" }), ethernet(3, { mac_address: null })],
      addresses: [{ ip_address: "127.0.0.1", prefix_length: 8, if_index: 9 }],
    }),
    "10.0.0.1",
    null,
  );
  expect(seen).toEqual(signs({ macs: [mac(1)], sysName: "r1", addresses: ["10.0.0.1"] }));
});
