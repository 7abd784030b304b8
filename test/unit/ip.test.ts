// Parsing and formatting of IP addresses and CIDR blocks.

import { describe, expect, test } from "bun:test";
import {
  type Cidr,
  cidrContains,
  cidrOf,
  describeCidrProblem,
  type Ip,
  ipSortKey,
  parseCidr,
  parseIp,
} from "../../src/base/ip.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

function ip(text: string): Ip {
  const parsed = parseIp(text);
  if (!parsed) throw new Error(`${text} should be an address`);
  return parsed;
}

function cidr(text: string): Cidr {
  const parsed = parseCidr(text);
  if (!parsed) throw new Error(`${text} should be a block`);
  return parsed;
}

describe("parseIp", () => {
  test("parses IPv4", () => {
    expect(parseIp("192.0.2.1")).toEqual({ version: 4, text: "192.0.2.1", bytes: Uint8Array.of(192, 0, 2, 1) });
    expect(ip("0.0.0.0").text).toBe("0.0.0.0");
    expect(ip("255.255.255.255").text).toBe("255.255.255.255");
  });

  test("parses IPv6 into 16 bytes", () => {
    expect(parseIp("2001:db8::1")).toEqual({
      version: 6,
      text: "2001:db8::1",
      bytes: Uint8Array.of(0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
    });
  });

  test.each([
    ["4.1: no leading zeros", "2001:0db8::0001", "2001:db8::1"],
    ["4.1: a zero field is a single 0", "2001:db8:0000:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["4.2.1: shortened as much as possible", "2001:db8:0:0:0:0:2:1", "2001:db8::2:1"],
    ["4.2.1: shortened as much as possible", "2001:db8::0:1", "2001:db8::1"],
    ["4.2.2: a single zero field is not shortened", "2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["4.2.3: the longest run", "2001:0:0:1:0:0:0:1", "2001:0:0:1::1"],
    ["4.2.3: the first of equal runs", "2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["4.3: lower case", "2001:DB8::AAAA", "2001:db8::aaaa"],
    ["5: mixed notation for IPv4-mapped", "::ffff:c000:0201", "::ffff:192.0.2.1"],
  ])("follows RFC 5952 §%s: %s", (_rule, text, expected) => expect(ip(text).text).toBe(expected));

  test.each([
    ["0:0:0:0:0:0:0:0", "::"],
    ["::", "::"],
    ["0:0:0:0:0:0:0:1", "::1"],
    ["1:0:0:0:0:0:0:0", "1::"],
    ["1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"],
    ["::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"],
    ["0:0:1:0:0:1:0:0", "::1:0:0:1:0:0"],
    ["1:0:0:2:0:0:0:0", "1:0:0:2::"],
    ["::192.0.2.1", "::c000:201"],
    ["64:ff9b::192.0.2.33", "64:ff9b::c000:221"],
    ["1:2:3:4:5:6:192.0.2.1", "1:2:3:4:5:6:c000:201"],
    ["FFFF:FFFF:FFFF:FFFF:FFFF:FFFF:255.255.255.255", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
    ["0:0:0:0:0:FFFF:10.1.1.1", "::ffff:10.1.1.1"],
  ])("writes %s as %s", (text, expected) => expect(ip(text).text).toBe(expected));

  test("leaves an IPv4-mapped address IPv6", () => {
    const mapped = ip("::ffff:1.2.3.4");
    expect(mapped.version).toBe(6);
    expect(mapped.text).toBe("::ffff:1.2.3.4");
    expect(mapped.bytes).toEqual(Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 1, 2, 3, 4));
  });

  const NOT_IPV4 = `1 1.2.3 1.2.3.4.5 1.2.3. .1.2.3 1..2.3 1.2.3.256 1.2.3.999999999999 010.1.1.1 10.1.1.01 00.0.0.0
    0x0a.1.1.1 1.2.3.0x4 167837953 0x0a010101 -1.2.3.4 +1.2.3.4 1,2,3,4 1.2.3.4/24 1.2.3.4:80 ١.٢.٣.٤ 1。2。3。4
    localhost`;
  const NOT_IPV6 = `fe80::1%eth0 fe80::1%1 fe80::1% ::1%lo/128 1.2.3.4%eth0 ::ffff:1.2.3.4%eth0 [::1] : ::: 1::2::3
    1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 1:2:3:4::5:6:7:8 :1:2:3:4:5:6:7:8 1:2:3:4:5:6:7:8: 1:2:3:4:5:6:7: 00001:: 12345::
    g:: ::ffff:010.1.1.1 ::ffff:1.2.3 ::ffff:1.2.3.256 ::ffff:0x1.2.3.4 1:2:3:4:5:6:7:1.2.3.4 1.2.3.4:: ::1.2.3.4:5`;
  const WITH_WHITESPACE = [" 1.2.3.4", "1.2.3.4 ", "1.2.3.4\n", "::1 ", "::1\n"];
  test.each(["", ...NOT_IPV4.split(/\s+/), ...NOT_IPV6.split(/\s+/), ...WITH_WHITESPACE, `${"0".repeat(100)}::`])(
    "refuses %j",
    (text) => expect(parseIp(text)).toBeNull(),
  );

  test("round-trips every address from any spelling", () => {
    const random = seededRandom(1);
    for (let round = 0; round < 5_000; round += 1) {
      // Mostly zeros, for runs of every length and position.
      const groups = Array.from({ length: 8 }, () => (random.integer(3) > 0 ? 0 : random.integer(65536)));
      const full = groups.map((group) => group.toString(16).padStart(4, "0")).join(":");
      const parsed = ip(random.integer(2) ? full.toUpperCase() : full);
      expect(parsed.bytes.toHex()).toBe(full.replaceAll(":", ""));
      expect(parseIp(parsed.text)).toEqual(parsed);
      expect(parsed.text.length).toBeLessThanOrEqual(39);

      const quad = random.bytes(4);
      expect(ip(quad.join(".")).bytes).toEqual(quad);
    }
  });

  test("compresses exactly the first longest run of two or more zero groups", () => {
    for (let bits = 0; bits < 256; bits += 1) {
      const groups = Array.from({ length: 8 }, (_, index) => ((bits >> index) & 1 ? "1" : "0"));
      expect(ip(groups.join(":")).text).toBe(shortened(groups));
    }
  });
});

/** Reference implementation of RFC 5952 §4.2: tries every run. */
function shortened(groups: string[]): string {
  for (let length = 8; length >= 2; length -= 1)
    for (let start = 0; start + length <= 8; start += 1) {
      if (groups.slice(start, start + length).every((group) => group === "0"))
        return `${groups.slice(0, start).join(":")}::${groups.slice(start + length).join(":")}`;
    }
  return groups.join(":");
}

describe("parseCidr", () => {
  test.each([
    ["10.0.0.0/8", "10.0.0.0/8", 8],
    ["0.0.0.0/0", "0.0.0.0/0", 0],
    ["192.0.2.1/32", "192.0.2.1/32", 32],
    ["10.0.0.128/25", "10.0.0.128/25", 25],
    ["2001:DB8:0::/32", "2001:db8::/32", 32],
    ["::/0", "::/0", 0],
    ["::1/128", "::1/128", 128],
    ["fe80::/10", "fe80::/10", 10],
    ["::ffff:10.0.0.0/104", "::ffff:10.0.0.0/104", 104],
  ])("parses %s", (text, expected, prefixLength) => {
    expect(cidr(text).text).toBe(expected);
    expect(cidr(text).prefixLength).toBe(prefixLength);
    expect(describeCidrProblem(text)).toBe("");
  });

  test.each([
    ["10.0.0.5/24", "10.0.0.0/24"],
    ["10.0.0.129/25", "10.0.0.128/25"],
    ["255.0.0.0/0", "0.0.0.0/0"],
    ["2001:db8::1/64", "2001:db8::/64"],
    ["fec0::/9", "fe80::/9"],
  ])("refuses the host bits of %s and names the block %s", (text, block) => {
    expect(parseCidr(text)).toBeNull();
    expect(describeCidrProblem(text)).toContain(` ${block}.`);
  });

  test.each([
    ["10.0.0.0", "prefix length is missing"],
    ["", "prefix length is missing"],
    ["/24", "not an IP address"],
    ["010.0.0.0/8", "not an IP address"],
    ["fe80::%eth0/10", "not an IP address"],
    ["10.0.0/24", "not an IP address"],
    ["10.0.0.0/", "0 to 32"],
    ["10.0.0.0/33", "0 to 32"],
    ["10.0.0.0/08", "0 to 32"],
    ["10.0.0.0/+8", "0 to 32"],
    ["10.0.0.0/-1", "0 to 32"],
    ["10.0.0.0/8.0", "0 to 32"],
    ["10.0.0.0/ 8", "0 to 32"],
    ["10.0.0.0/8/8", "0 to 32"],
    ["10.0.0.0/255.0.0.0", "0 to 32"],
    ["::/129", "0 to 128"],
    ["::/1e1", "0 to 128"],
  ])("refuses %j: %s", (text, reason) => {
    expect(parseCidr(text)).toBeNull();
    expect(describeCidrProblem(text)).toContain(reason);
  });
});

describe("cidrContains", () => {
  test.each([
    ["10.0.0.0/8", "10.0.0.0", true],
    ["10.0.0.0/8", "10.255.255.255", true],
    ["10.0.0.0/8", "11.0.0.0", false],
    ["10.0.0.0/8", "9.255.255.255", false],
    ["10.0.0.128/25", "10.0.0.127", false],
    ["0.0.0.0/0", "255.255.255.255", true],
    ["192.0.2.1/32", "192.0.2.1", true],
    ["192.0.2.1/32", "192.0.2.2", false],
    ["fe80::/10", "febf::1", true],
    ["fe80::/10", "fec0::1", false],
    ["::/0", "ffff::", true],
    ["::/0", "10.0.0.1", false],
    ["0.0.0.0/0", "::1", false],
    ["10.0.0.0/8", "::ffff:10.0.0.1", false],
  ])("%s and %s: %p", (block, address, expected) => expect(cidrContains(cidr(block), ip(address))).toBe(expected));
});

describe("cidrOf", () => {
  test("masks an address to its block", () => {
    expect(cidrOf(ip("10.1.2.3"), 24)).toEqual(cidr("10.1.2.0/24"));
    expect(cidrOf(ip("10.1.2.3"), 31)).toEqual(cidr("10.1.2.2/31"));
    expect(cidrOf(ip("10.1.2.3"), 0)).toEqual(cidr("0.0.0.0/0"));
    expect(cidrOf(ip("2001:db8::ffff"), 127)).toEqual(cidr("2001:db8::fffe/127"));
  });

  test("does not modify the address", () => {
    const address = ip("10.1.2.3");
    cidrOf(address, 8);
    expect(address.bytes).toEqual(Uint8Array.of(10, 1, 2, 3));
  });

  test("throws for an invalid prefix length", () => {
    expect(() => cidrOf(ip("10.1.2.3"), 33)).toThrow(RangeError);
    expect(() => cidrOf(ip("10.1.2.3"), -1)).toThrow(RangeError);
    expect(() => cidrOf(ip("10.1.2.3"), 8.5)).toThrow(RangeError);
    expect(() => cidrOf(ip("::1"), 129)).toThrow(RangeError);
  });

  test("yields a block that contains the address and round-trips", () => {
    const random = seededRandom(2);
    for (let round = 0; round < 3_000; round += 1) {
      const isIpv4 = random.integer(2) === 0;
      const address = ip(
        isIpv4 ? random.bytes(4).join(".") : (random.bytes(16).toHex().match(/.{4}/g) ?? []).join(":"),
      );
      const prefixLength = random.integer(address.bytes.length * 8 + 1);
      const block = cidrOf(address, prefixLength);
      expect(cidrContains(block, address)).toBe(true);
      expect(parseCidr(block.text)).toEqual(block);

      if (prefixLength === 0) continue;
      const outside = address.bytes.slice();
      const lastBit = prefixLength - 1;
      outside[lastBit >> 3] = (outside[lastBit >> 3] ?? 0) ^ (0x80 >> (lastBit & 7));
      expect(cidrContains(block, { ...address, bytes: outside })).toBe(false);
    }
  });
});

describe("ipSortKey", () => {
  test("sorts numerically, all IPv4 first", () => {
    const ordered =
      "0.0.0.0 2.0.0.0 10.0.0.0 10.0.0.9 10.0.0.10 255.255.255.255 :: ::2 ::10 ::ffff:1.2.3.4 a:: 2001:db8:: ffff::";
    const keys = ordered.split(" ").map((text) => ipSortKey(ip(text)));
    expect(keys.toSorted()).toEqual(keys);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test("has the same width for both versions", () => {
    expect(ipSortKey(ip("0.0.0.1"))).toBe(`4${"1".padStart(32, "0")}`);
    expect(ipSortKey(ip("::1"))).toBe(`6${"1".padStart(32, "0")}`);
  });
});
