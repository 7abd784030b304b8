import { describe, expect, test } from "bun:test";
import { type Cidr, cidrContains, cidrOf, type Ip, parseCidr, parseIp } from "../../src/base/ip.ts";
import { AcceptingSubnets, type SubnetWord } from "../../src/resources/subnets/accepting.ts";
import { PASSED_OVER_TYPES, SUBNET_TYPES, type SubnetType } from "../../src/resources/subnets/subnet-type.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

const subnet = (cidr: string, accepts_credentials: boolean, subnet_type: SubnetType = "Lan"): SubnetWord => ({
  id: cidr,
  cidr,
  subnet_type,
  accepts_credentials,
});

describe("a network's subnets", () => {
  test("accept credentials for an address if any subnet containing it does, not only the smallest", () => {
    const subnets = new AcceptingSubnets([
      subnet("10.0.0.0/8", false),
      subnet("10.1.0.0/16", true),
      subnet("10.1.2.0/24", false),
      subnet("fd00::/64", true),
    ]);
    expect(["10.1.2.3", "10.1.3.3", "fd00::7"].map((address) => subnets.accepts(address))).toEqual([true, true, true]);
    expect(
      ["10.2.0.1", "192.0.2.1", "fd00:0:0:1::7", "::ffff:10.1.2.3", "no address"].map((address) =>
        subnets.accepts(address),
      ),
    ).toEqual([false, false, false, false, false]);
    expect(
      ["10.1.2.3", "10.1.3.3", "10.9.9.9", "192.0.2.1"].map((address) => subnets.smallestOf(address)?.cidr ?? null),
    ).toEqual(["10.1.2.0/24", "10.1.0.0/16", "10.0.0.0/8", null]);
  });

  test("accept credentials for a whole subnet if it or a larger one does, but not if only a part of it does", () => {
    const subnets = new AcceptingSubnets([
      subnet("10.0.0.0/8", false),
      subnet("10.1.0.0/16", true),
      subnet("10.1.2.0/24", false),
      subnet("10.9.0.0/16", true, "Internet"),
    ]);
    const whole = ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.2.0.0/24", "10.9.1.0/24", "fd00::/64", "no CIDR"];
    expect(whole.filter((cidr) => subnets.acceptsAllOf(cidr))).toEqual(["10.1.0.0/16", "10.1.2.0/24"]);
  });

  test.each(SUBNET_TYPES)("of the type %s count for their addresses unless that type is passed over", (type) => {
    expect(
      new AcceptingSubnets([subnet("10.0.0.0/8", true, type), subnet("10.1.0.0/24", false)]).accepts("10.1.0.1"),
    ).toBe(!PASSED_OVER_TYPES.includes(type));
  });

  test("accept the same addresses as a check of each subnet, for any set", () => {
    const random = seededRandom(15);
    const ip = (): Ip => parseIp(`10.${random.integer(4)}.${random.integer(4)}.${random.integer(16)}`) as Ip;
    for (let round = 0; round < 200; round += 1) {
      const cidrs = new Map(
        Array.from({ length: random.integer(8) }, () => cidrOf(ip(), 8 + random.integer(25))).map((cidr) => [
          cidr.text,
          cidr,
        ]),
      );
      const words = [...cidrs.keys()].map((text) => subnet(text, random.integer(2) === 0, random.pick(SUBNET_TYPES)));
      const subnets = new AcceptingSubnets(words);
      for (let asked = 0; asked < 20; asked += 1) {
        const address = ip();
        const containing = words.filter(({ cidr }) => cidrContains(parseCidr(cidr) as Cidr, address));
        expect(subnets.accepts(address.text)).toBe(
          containing.some((each) => each.accepts_credentials && !PASSED_OVER_TYPES.includes(each.subnet_type)),
        );
      }
    }
  });
});
