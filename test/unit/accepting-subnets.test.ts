import { describe, expect, test } from "bun:test";
import { type Cidr, cidrContains, cidrOf, type Ip, parseCidr, parseIp } from "../../src/base/ip.ts";
import { AcceptingSubnets, type SubnetPolicy } from "../../src/resources/subnets/accepting.ts";
import { SKIPPED_TYPES, SUBNET_TYPES, type SubnetType } from "../../src/resources/subnets/subnet-type.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

const subnet = (cidr: string, accepts_credentials: boolean, subnet_type: SubnetType = "Lan"): SubnetPolicy => {
  return { id: cidr, cidr, subnet_type, accepts_credentials };
};

describe("a network's subnets", () => {
  test("accept credentials for an address if any subnet containing it does, not only the smallest", () => {
    const subnets = new AcceptingSubnets([
      subnet("10.0.0.0/8", false),
      subnet("10.1.0.0/16", true),
      subnet("10.1.2.0/24", false),
      subnet("fd00::/64", true),
    ]);
    const accepted = ["10.1.2.3", "10.1.3.3", "fd00::7"];
    const others = ["10.2.0.1", "192.0.2.1", "fd00:0:0:1::7", "::ffff:10.1.2.3", "no address"];
    expect([...accepted, ...others].filter((address) => subnets.accepts(address))).toEqual(accepted);
    const smallest = ["10.1.2.3", "10.1.3.3", "10.9.9.9", "192.0.2.1"].map((address) => subnets.smallestOf(address));
    expect(smallest.map((found) => found?.cidr)).toEqual(["10.1.2.0/24", "10.1.0.0/16", "10.0.0.0/8", undefined]);
  });

  test("accept credentials for an entire subnet if it or a larger one does, but not if only a part of it does", () => {
    const subnets = new AcceptingSubnets([
      subnet("10.0.0.0/8", false),
      subnet("10.1.0.0/16", true),
      subnet("10.1.2.0/24", false),
      subnet("10.9.0.0/16", true, "Internet"),
    ]);
    const cidrs = "10.0.0.0/8 10.1.0.0/16 10.1.2.0/24 10.2.0.0/24 10.9.1.0/24 fd00::/64".split(" ");
    expect([...cidrs, "no CIDR"].filter((cidr) => subnets.acceptsAllOf(cidr))).toEqual(["10.1.0.0/16", "10.1.2.0/24"]);
  });

  test.each(SUBNET_TYPES)("count for their addresses unless subnets of type %s are skipped", (type) => {
    const subnets = new AcceptingSubnets([subnet("10.0.0.0/8", true, type), subnet("10.1.0.0/24", false)]);
    expect(subnets.accepts("10.1.0.1")).toBe(!SKIPPED_TYPES.includes(type));
  });

  test("accept the same addresses as a check of each subnet, for random subnets", () => {
    const random = seededRandom(15);
    const ip = (): Ip => parseIp(`10.${random.integer(4)}.${random.integer(4)}.${random.integer(16)}`) as Ip;
    for (let round = 0; round < 200; round += 1) {
      const cidrs = new Set(Array.from({ length: random.integer(8) }, () => cidrOf(ip(), 8 + random.integer(25)).text));
      const entries = [...cidrs].map((text) => subnet(text, random.integer(2) === 0, random.pick(SUBNET_TYPES)));
      const subnets = new AcceptingSubnets(entries);
      for (let attempt = 0; attempt < 20; attempt += 1) {
        const address = ip();
        const containing = entries.filter(({ cidr }) => cidrContains(parseCidr(cidr) as Cidr, address));
        const counted = containing.filter(({ subnet_type }) => !SKIPPED_TYPES.includes(subnet_type));
        expect(subnets.accepts(address.text)).toBe(counted.some(({ accepts_credentials }) => accepts_credentials));
      }
    }
  });
});
