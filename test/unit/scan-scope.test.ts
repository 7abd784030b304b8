import { describe, expect, test } from "bun:test";
import { cidrContains, cidrOf, type Ip, parseCidr, parseIp } from "../../src/base/ip.ts";
import { type KnownSubnet, SCAN_ADDRESSES_MAX, Scope, targetProblems } from "../../src/discovery/scans/scope.ts";
import { SKIPPED_TYPES, type SubnetType } from "../../src/resources/subnets/subnet-type.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

const lan = (cidr: string, subnet_type: SubnetType = "Lan"): KnownSubnet => ({ cidr, subnet_type });
const problems = (targets: string[], allowLarge = false) =>
  targetProblems(targets, allowLarge).map(({ index, message }) => `${index} ${message}`);
const addressesOf = (scope: Scope) => [...scope.addresses()].join(" ");
const contained = (scope: Scope, addresses: string) =>
  addresses.split(" ").filter((address) => scope.contains(address));

describe("scan targets", () => {
  test("are accepted up to /16 and /112, including single addresses", () => {
    const targets = ["10.0.0.0/16", "10.1.2.3", "10.1.2.3/32", "2001:db8::/112", "2001:db8::1", "127.16.0.0/24"];
    expect(problems(targets)).toEqual([]);
  });

  test("are refused by position if larger; large IPv4 blocks can be permitted, IPv6 blocks cannot", () => {
    expect(problems(["10.0.0.1", "10.0.0.0/15", "2001:db8::/64"])).toEqual([
      "1 is larger than /16; name smaller blocks, or set allow_large",
      "2 is larger than /112, the limit for IPv6; name smaller blocks or single addresses",
    ]);
    const permitted = problems(["10.0.0.0/15", "2001:db8::/64"], true);
    expect(permitted).toEqual([expect.stringMatching(/^1 is larger than \/112/)]);
  });

  test("are refused if not host addresses", () => {
    const others = "224.0.0.1 239.0.0.0/24 255.255.255.255 0.0.0.0 0.1.2.3 ff02::1 fe80::1 :: ::ffff:10.0.0.1";
    expect(problems(others.split(" "))).toHaveLength(9);
    expect(problems(["fe80::1"])[0]).toContain("link-local, which needs a zone");
  });

  test("have a limited total of addresses, each counted once", () => {
    expect(problems(["10.0.0.0/12"], true)).toEqual([]);
    expect(problems(["10.0.0.0/12", "10.1.0.0/16", "10.1.2.3"], true)).toEqual([]);
    expect(problems(["10.0.0.0/12", "10.16.0.0/24"], true)[0]).toContain(`a scan takes at most ${SCAN_ADDRESSES_MAX}`);
  });
});

describe("the scope of targets", () => {
  test("has each address once, even for overlapping targets, without broadcast addresses", () => {
    const scope = Scope.ofTargets(["10.0.0.0/29", "10.0.0.0/30", "10.0.0.2", "10.0.0.6"]);
    expect(addressesOf(scope)).toBe("10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4 10.0.0.5 10.0.0.6");
    expect(scope.total).toBe(6);
  });

  test("has both addresses of a /31 and a /127, and the address of a /32", () => {
    const scope = Scope.ofTargets(["10.0.0.0/31", "10.0.0.8/32", "2001:db8::/127"]);
    expect(addressesOf(scope)).toBe("10.0.0.0 10.0.0.1 10.0.0.8 2001:db8:: 2001:db8::1");
  });

  test("excludes broadcast addresses of known subnets, unless a host has them", () => {
    const subnets = [lan("10.0.0.0/30"), lan("10.0.0.4/30")];
    expect(addressesOf(Scope.ofTargets(["10.0.0.0/29"], subnets))).toBe("10.0.0.1 10.0.0.2 10.0.0.5 10.0.0.6");
    expect([...Scope.ofTargets(["10.0.0.0/29"], subnets, new Set(["10.0.0.3"])).addresses()]).toContain("10.0.0.3");
    expect(Scope.ofTargets(["10.0.0.3"], subnets).contains("10.0.0.3")).toBe(false);
  });

  test("excludes non-host addresses of a larger block", () => {
    const scope = Scope.ofTargets(["2001:db8::/112"]);
    expect(scope.total).toBe(65_535);
    expect(scope.contains("2001:db8::")).toBe(false);
    expect(scope.contains("2001:db8::ffff")).toBe(true);
    expect(Scope.ofTargets(["::/112"]).contains("::1")).toBe(true);
  });

  test("remembers individually named addresses", () => {
    const scope = Scope.ofTargets(["10.0.0.0/30", "10.0.0.1", "10.9.9.9/32"]);
    expect(["10.0.0.1", "10.0.0.2", "10.9.9.9"].map((address) => scope.isTarget(address))).toEqual([true, false, true]);
    expect(scope.namedAddresses).toEqual(["10.0.0.1", "10.9.9.9"]);
  });
});

describe("the scope of a network's subnets", () => {
  test("excludes public, remote and loopback ones, with a notice", () => {
    const skipped = SKIPPED_TYPES.map((type, index) => lan(`10.${index + 1}.0.0/30`, type));
    const scope = Scope.ofSubnets([lan("10.0.0.0/30"), ...skipped]);
    expect(addressesOf(scope)).toBe("10.0.0.1 10.0.0.2");
    // Omitting address blocks that exist on every machine is not reported.
    expect(scope.skipped.map(({ cidr }) => cidr)).toEqual(["10.1.0.0/30", "10.2.0.0/30"]);
    expect(Scope.ofSubnets([lan("fe80::/64")]).skipped).toEqual([]);
    expect(scope.contains("10.1.0.1")).toBe(false);
  });

  test("excludes ranges that only this machine reaches (loopback, cloud metadata), for any subnet type", () => {
    const cidrs = "127.0.0.0/30 ::1/128 169.254.169.254/32 fd00:ec2::/112 64.0.0.0/2 128.0.0.0/1 10.0.0.0/30";
    const scope = Scope.ofSubnets(cidrs.split(" ").map((cidr) => lan(cidr)));
    expect([...scope.addresses()].filter((address) => address.includes("."))).toEqual(["10.0.0.1", "10.0.0.2"]);
    expect(contained(scope, "127.0.0.1 ::1 127.200.0.1 169.254.169.254 169.254.1.1 fd00:ec2::254")).toEqual([]);
    expect(contained(scope, "64.0.0.9 169.253.0.1 fd00:ec2::253")).toHaveLength(3);
    const local = scope.skipped.filter(({ reason }) => reason.startsWith("a range that only this machine reaches"));
    expect(local.map(({ cidr }) => cidr)).toEqual(["127.0.0.0/30", "::1/128", "169.254.169.254/32"]);
    expect([...Scope.ofTargets(["127.0.0.1", "::1"]).addresses()]).toEqual(["127.0.0.1", "::1"]);
  });

  test("does not enumerate oversized subnets, whose known addresses are still probed", () => {
    const scope = Scope.ofSubnets([lan("10.0.0.0/8"), lan("2001:db8::/64"), lan("192.0.2.0/30")]);
    expect(addressesOf(scope)).toBe("192.0.2.1 192.0.2.2");
    expect(scope.skipped).toEqual([
      {
        cidr: "10.0.0.0/8",
        reason: "larger than /16: only its known addresses are scanned; name it as a target with allow_large",
      },
      { cidr: "2001:db8::/64", reason: "larger than /112: only its known addresses are scanned" },
    ]);
    expect(contained(scope, "10.1.2.3 2001:db8::1")).toHaveLength(2);
    for (const address of ["10.1.2.3", "2001:db8::1"]) expect(scope.enumerates(address)).toBe(false);
    expect(contained(scope, "11.0.0.1 2001:db9::1 10.0.0.0 10.255.255.255 ff02::1")).toEqual([]);
  });

  test("follows the most specific subnet", () => {
    const inner = [lan("10.0.0.4/30", "Remote"), lan("10.0.0.12/30"), lan("10.1.0.0/30")];
    const scope = Scope.ofSubnets([lan("10.0.0.0/28"), lan("10.1.0.0/24", "Internet"), ...inner]);
    expect(addressesOf(scope)).toBe(
      "10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.8 10.0.0.9 10.0.0.10 10.0.0.11 10.0.0.13 10.0.0.14 10.1.0.1 10.1.0.2",
    );
    expect(scope.total).toBe(11);
  });

  test("enumerates at most a scan's limit, and reports the end", () => {
    const scope = Scope.ofSubnets(Array.from({ length: 18 }, (_, index) => lan(`10.${index}.0.0/16`)));
    expect(scope.total).toBeLessThanOrEqual(SCAN_ADDRESSES_MAX);
    const reason = expect.stringContaining("more than 1048576 addresses");
    expect(scope.skipped).toEqual([{ cidr: "10.16.0.0/16", reason }]);
    expect(["10.15.0.1", "10.17.0.1"].map((address) => scope.enumerates(address))).toEqual([true, false]);
    expect(scope.contains("10.17.0.1")).toBe(true);
  });

  test("equals an enumeration by address, for randomly nested subnets", () => {
    const random = seededRandom(7);
    for (let round = 0; round < 200; round += 1) {
      const subnets = new Map<string, KnownSubnet>();
      for (let count = 0; count < 1 + random.integer(8); count += 1) {
        const ip = parseIp(`10.0.0.${random.integer(64)}`) as Ip;
        const { text } = cidrOf(ip, random.pick([26, 27, 28, 29, 30, 31, 32]));
        subnets.set(text, lan(text, random.pick(["Lan", "Remote", "WiFi"])));
      }
      const scope = Scope.ofSubnets([...subnets.values()]);
      const expected = Array.from({ length: 64 }, (_, index) => `10.0.0.${index}`).filter((address) =>
        isInScope(address, [...subnets.values()]),
      );
      expect([...scope.addresses()]).toEqual(expected);
      expect(scope.total).toBe(expected.length);
      for (let index = 0; index < 64; index += 1)
        expect(scope.contains(`10.0.0.${index}`)).toBe(expected.includes(`10.0.0.${index}`));
    }
  });
});

/** Reference implementation: the smallest subnet decides; first and last addresses of any subnet are excluded. */
function isInScope(address: string, subnets: readonly KnownSubnet[]): boolean {
  const ip = parseIp(address) as Ip;
  const containing = subnets
    .map((subnet) => ({ ...subnet, block: parseCidr(subnet.cidr) }))
    .filter(({ block }) => block !== null && cidrContains(block, ip));
  const smallest = containing.sort((a, b) => (b.block?.prefixLength ?? 0) - (a.block?.prefixLength ?? 0))[0];
  const isEdge = subnets.some(({ cidr }) => {
    const block = parseCidr(cidr);
    if (block === null || block.prefixLength > 30) return false;
    const first = block.bytes[3] ?? 0;
    return ip.bytes[3] === first || ip.bytes[3] === first + 2 ** (32 - block.prefixLength) - 1;
  });
  return smallest !== undefined && !SKIPPED_TYPES.includes(smallest.subnet_type) && !isEdge;
}
