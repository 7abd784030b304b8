// Signs that identify two sightings as one host, and signs that do not.

import { describe, expect, test } from "bun:test";
import { isSingleDevice } from "../../src/base/mac.ts";
import {
  DOUBT_SCORE_MIN,
  identify,
  MATCH_SCORE_MIN,
  matchSigns,
  similarity,
} from "../../src/discovery/reconcile/identity.ts";
import { PRIOR_WEIGHTS, Weights } from "../../src/discovery/reconcile/sign-weights.ts";
import {
  isOwnAddress,
  nameSign,
  type Signs,
  serialSign,
  signsOfDevice,
  signsWith,
} from "../../src/discovery/reconcile/signs.ts";
import type { SignGroup } from "../../src/discovery/sightings.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { device, ethernet, mac } from "../support/reconcile/sightings.ts";

type Texts = Record<"chassisId" | "sysName", string>;
type Sample = Partial<Texts & Record<"serials" | "macs" | "addresses", string[]>>;
const signs = ({ serials = [], macs = [], addresses = [], ...texts }: Sample = {}): Signs =>
  signsWith({ ...texts, serialNumbers: new Set(serials), macs: new Set(macs), addresses: new Set(addresses) });
const names = { serials: ["foc1234"], chassisId: mac(0), sysName: "sw-1" };
const complete = { ...names, macs: [mac(1), mac(2)], addresses: ["10.0.0.1"] };

describe("two sightings", () => {
  test.each([
    ["by serial number, even if all else changed", { serials: ["foc1234"] }],
    ["by their MAC addresses", { macs: [mac(1), mac(2)] }],
    ["by half of the MAC addresses, after a line card was replaced", { macs: [mac(2), mac(3)], sysName: "sw-1" }],
    ["by name and address, without stronger identifiers", { sysName: "sw-1", addresses: ["10.0.0.1"] }],
    ["by chassis id and name", { chassisId: mac(0), sysName: "sw-1" }],
    ["after a rename, by address and interfaces", { macs: [mac(1), mac(2)], sysName: "sw-9", addresses: ["10.0.0.1"] }],
    [
      "after a rename and a move, by chassis id and interfaces",
      { macs: [mac(1), mac(2)], chassisId: mac(0), sysName: "sw-9", addresses: ["10.9.9.9"] },
    ],
  ])("match %s", (_, sighting) => expect(matchSigns(signs(sighting), signs(complete))).not.toBeNull());

  test.each([
    ["with only the name in common", { sysName: "sw-1" }],
    ["with only the chassis id in common", { chassisId: mac(0) }],
    ["with only the address in common, and contradicting identities", { addresses: ["10.0.0.1"], macs: [mac(9)] }],
    [
      "with the same name and address and another serial number: a replaced device",
      { ...complete, serials: ["foc9999"], macs: [mac(8)], chassisId: mac(8) },
    ],
    [
      "with the same name, address and chassis id but different serial numbers",
      { serials: ["foc9999"], sysName: "sw-1", addresses: ["10.0.0.1"], chassisId: mac(0) },
    ],
    ["with a cloned chassis id and name, and other interfaces", { chassisId: mac(0), sysName: "sw-1", macs: [mac(9)] }],
    [
      "with cloned MAC addresses, and another name and address",
      { macs: [mac(1), mac(2)], sysName: "clone", addresses: ["10.0.0.2"] },
    ],
    ["with nothing in common", { macs: [mac(9)], sysName: "other", addresses: ["10.0.0.9"] }],
    ["without any identifier", {}],
  ])("do not match %s", (_, sighting) => expect(matchSigns(signs(sighting), signs(complete))).toBeNull());

  test("are not matched by a sign that users assign, nor against all signs but one", () => {
    const weak = { chassisId: "cloned", sysName: "sw-1", addresses: ["10.0.0.1"] };
    for (const [name, value] of Object.entries(weak))
      expect(similarity(signs({ [name]: value }), signs(weak)).score).toBeLessThan(MATCH_SCORE_MIN);
    const all = { ...complete, chassisId: "local" };
    const other = { serials: ["x"], chassisId: "x", sysName: "x", macs: [mac(8)], addresses: ["10.0.0.8"] };
    for (const name of Object.keys(all) as Array<keyof typeof all>)
      expect(similarity(signs({ ...other, [name]: all[name] }), signs(all)).score).toBeLessThan(DOUBT_SCORE_MIN);
  });

  test("are undecided by equal cards under another name and address", () => {
    const { score } = similarity(
      signs({ macs: [mac(1), mac(2)], sysName: "clone", addresses: ["10.0.0.2"] }),
      signs(complete),
    );
    expect(score).toBeGreaterThanOrEqual(DOUBT_SCORE_MIN);
    expect(score).toBeLessThan(MATCH_SCORE_MIN);
  });

  test("count a card, its address and a chassis id equal to its MAC address once", () => {
    const known = { ...signs({ macs: [mac(1)], addresses: ["10.0.0.1"] }), cards: new Map([["10.0.0.1", mac(1)]]) };
    const alone = similarity(signs({ macs: [mac(1)] }), known);
    expect(similarity(known, known).score).toBe(alone.score);
    const withChassis = { ...known, chassisId: mac(1) };
    expect(similarity(withChassis, withChassis).score).toBe(alone.score);
  });

  test("do not differ in what one side did not read to the end", () => {
    const some = signs({ serials: ["a"], macs: [mac(1)], addresses: ["10.0.0.1"] });
    const other = signs({ serials: ["b"], macs: [mac(2)], addresses: ["10.0.0.2"] });
    expect(similarity(some, other).groups.map(({ group }) => group)).toEqual(["serial_numbers", "cards", "addresses"]);
    for (const group of ["serial_numbers", "cards", "addresses"] as const) {
      const unread = { ...other, unread: new Set<SignGroup>([group]) };
      for (const { groups } of [similarity(some, unread), similarity(unread, some)])
        expect(groups.map((each) => each.group)).not.toContain(group);
    }
  });

  test("have a symmetric similarity, for random data", () => {
    const random = seededRandom(7);
    const sample = () =>
      signs({
        ...random.pick([{}, { serials: ["a"] }, { serials: ["b"] }, { serials: ["a", "b"] }]),
        ...random.pick([{}, { chassisId: "c" }, { chassisId: "d" }]),
        macs: random.pick([[], [mac(1)], [mac(1), mac(2)], [mac(3)]]),
        ...random.pick([{}, { sysName: "x" }, { sysName: "y" }]),
        addresses: random.pick([[], ["10.0.0.1"], ["10.0.0.2"]]),
      });
    for (let round = 0; round < 2_000; round += 1) {
      const [a, b] = [sample(), sample()];
      expect(similarity(a, b).score).toBe(similarity(b, a).score);
      expect(matchSigns(a, b) === null).toBe(matchSigns(b, a) === null);
    }
  });
});

describe("the weight of a sign", () => {
  const counted = (sharing: number, same = 0, other = 0) =>
    new Weights({ hosts: 1_000, reads: { system_name: { same, other } } }, () => sharing);

  test("falls with the number of hosts that have its value, to almost nothing if they cannot be counted", () => {
    const weights = [1, 2, 20, 300, Number.POSITIVE_INFINITY].map((count) => counted(count).ofSame("system_name", "x"));
    expect(weights.toSorted((a, b) => b - a)).toEqual(weights);
    expect(weights[0]).toBe(PRIOR_WEIGHTS.ofSame("system_name", "x"));
    expect(weights.at(-1)).toBeLessThan(1);
  });

  test("against a match falls with how often the sign changes, which few reads barely show", () => {
    const against = (same: number, other: number) => counted(1, same, other).ofOther("system_name");
    expect(against(0, 2)).toBeCloseTo(PRIOR_WEIGHTS.ofOther("system_name"), 0);
    expect(against(1_000, 1_000)).toBeGreaterThan(against(2_000, 0));
  });

  test("against a match is limited: after a quiet year, renamed or moved machines are still the same", () => {
    // 100 hosts, read every hour.
    const quiet = { same: 876_000, other: 60 };
    const reads = { serial_numbers: quiet, cards: quiet, system_name: quiet, addresses: quiet };
    const year = new Weights({ hosts: 100, reads }, () => 1);
    const server = { macs: [mac(1), mac(2)], sysName: "a", addresses: ["10.0.0.1"] };
    const changes: ReadonlyArray<readonly [Sample, Sample]> = [
      [server, { ...server, sysName: "b" }],
      [server, { ...server, addresses: ["10.0.0.2"] }],
      [
        { ...server, serials: ["x1"] },
        { ...server, serials: ["x1"], sysName: "b", addresses: ["10.0.0.2"] },
      ],
    ];
    for (const [known, seen] of changes) expect(matchSigns(signs(seen), signs(known), year)).not.toBeNull();
    // A single card with its address, and no other sign.
    const named = (sysName: string) => ({
      ...signs({ sysName, macs: [mac(1)], addresses: ["10.0.0.1"] }),
      cards: new Map([["10.0.0.1", mac(1)]]),
    });
    expect(matchSigns(named("b"), named("a"), year)).not.toBeNull();
  });
});

test("a renamed machine is the same by its own card, although another machine has its other cards as well", () => {
  const weights = new Weights({ hosts: 100, reads: {} }, (_, value) => (value === mac(1) ? 1 : 2));
  const named = (sysName: string, own: string) => signs({ sysName, macs: [own, mac(2), mac(3)] });
  expect(matchSigns(named("b", mac(1)), named("a", mac(1)), weights)).not.toBeNull();
  expect(matchSigns(named("b", mac(4)), named("a", mac(1)), weights)).toBeNull();
});

test("a host known only by its address matches any device found there", () => {
  expect(matchSigns(signs(complete), signs({ addresses: ["10.0.0.1"] }))?.reason).toBe("address only");
  expect(matchSigns(signs(complete), signs({ addresses: ["10.0.0.2"] }))).toBeNull();
});

test("devices with only addresses do not match by one that neither answers at", () => {
  const at = (polled: string) => ({ ...signs({ addresses: [polled, "192.168.1.1"] }), managed: new Set([polled]) });
  expect(matchSigns(at("10.0.0.2"), at("10.0.0.3"))).toBeNull();
  expect(matchSigns(at("10.0.0.2"), at("192.168.1.1"))).not.toBeNull();
});

test("the cards of a chassis that left its stack count with its serial number", () => {
  const member = { serials: ["b"], macs: [mac(2)] };
  const stack = { serials: ["a", "b"], macs: [mac(1), mac(2)], sysName: "stack", addresses: ["10.0.0.1"] };
  const { score } = similarity(signs({ ...member, sysName: "spare", addresses: ["10.0.0.2"] }), signs(stack));
  expect(score).toBeLessThan(MATCH_SCORE_MIN);
  expect(matchSigns(signs({ ...member, sysName: "stack", addresses: ["10.0.0.2"] }), signs(stack))).not.toBeNull();
  expect(matchSigns(signs({ ...member, sysName: "spare", addresses: ["10.0.0.1"] }), signs(stack))).not.toBeNull();
});

test("among several candidates the most similar one is chosen, and the first of equal ones", () => {
  const candidates = [
    { id: "bare", signs: signs({ addresses: ["10.0.0.1"] }) },
    { id: "same", signs: signs(complete) },
    { id: "twin", signs: signs(complete) },
  ];
  const reason = "serial number, 2 MAC addresses, chassis id, system name and address";
  expect(identify(signs(complete), candidates)).toMatchObject({ id: "same", similarity: { reason } });
  expect(identify(signs({ macs: [mac(77)] }), candidates)).toBeNull();
});

test("among equal candidates the previous one is chosen, unless another is more similar", () => {
  const [first, previous] = [signs(complete), { ...signs(complete), sysName: null }];
  const sighting = { ...signs(complete), sysName: null };
  const idOf = (second: object) =>
    identify(sighting, [{ id: "first", signs: first }, { id: "there", ...second } as never])?.id;
  expect([idOf({ signs: previous }), idOf({ signs: previous, reportedThere: true })]).toEqual(["first", "there"]);
  expect(idOf({ signs: { ...previous, serialNumbers: new Set() }, reportedThere: true })).toBe("first");
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
  const sharedMacs =
    "00:00:5e:00:01:0a 00:00:5e:00:02:0a 00:00:0c:07:ac:01 00:00:0c:9f:f0:01 00:07:b4:00:01:01 01:00:5e:00:00:01 " +
    "ff:ff:ff:ff:ff:ff 00:00:00:00:00:00";
  for (const sharedMac of sharedMacs.split(" ")) expect(isSingleDevice(sharedMac)).toBe(false);
  expect(isSingleDevice("52:54:00:12:34:56")).toBe(true);
  for (const ip of ["127.0.0.1", "::1", "fe80::1", "169.254.1.1", "0.0.0.0"]) expect(isOwnAddress(ip)).toBe(false);
  const router = device({
    sys_name: "R1",
    interfaces: [ethernet(1), ethernet(2, { mac_address: "00:00:5e:00:01:01" }), ethernet(3, { mac_address: null })],
    addresses: [{ ip_address: "127.0.0.1", prefix_length: 8, if_index: 9 }],
  });
  const expected = {
    ...signs({ macs: [mac(1)], sysName: "r1", addresses: ["10.0.0.1"] }),
    managed: new Set(["10.0.0.1"]),
  };
  expect(signsOfDevice(router, "10.0.0.1", null)).toEqual(expected);
});
