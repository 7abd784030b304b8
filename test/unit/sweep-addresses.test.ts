// Addresses of a sweep: selection, number and order.

import { describe, expect, test } from "bun:test";
import { type Cidr, type Ip, parseCidr, parseIp } from "../../src/base/ip.ts";
import { addressCount, eachAddress, isEnumerable } from "../../src/discovery/sweep/addresses.ts";
import { hostnameIn, reverseName } from "../../src/discovery/sweep/reverse-name.ts";
import { shuffledInBlocks } from "../../src/discovery/sweep/shuffle.ts";
import { DEFAULT_TCP_PORTS, portsForSilent } from "../../src/discovery/sweep/tcp-ports.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

function cidrs(...texts: string[]): Cidr[] {
  return texts.map((text) => {
    const cidr = parseCidr(text);
    if (!cidr) throw new Error(`${text} is no block`);
    return cidr;
  });
}

function all(...texts: string[]): string[] {
  return [...eachAddress(cidrs(...texts))];
}

describe("block addresses", () => {
  test.each([
    [["192.0.2.8/30"], ["192.0.2.9", "192.0.2.10"]],
    [["192.0.2.8/31"], ["192.0.2.8", "192.0.2.9"]],
    [["192.0.2.8/32"], ["192.0.2.8"]],
    [["255.255.255.254/31"], ["255.255.255.254", "255.255.255.255"]],
    [["fd00::fffe/127"], ["fd00::fffe", "fd00::ffff"]],
    [["fd00::/126"], ["fd00::", "fd00::1", "fd00::2", "fd00::3"]],
    [
      ["192.0.2.1/32", "fd00::1/128", "192.0.2.0/32"],
      ["192.0.2.1", "fd00::1", "192.0.2.0"],
    ],
    [[], []],
  ])("%p are %p", (blocks, expected) => {
    expect(all(...blocks)).toEqual(expected);
    expect(addressCount(cidrs(...blocks))).toBe(BigInt(expected.length));
  });

  test("have a matching count, without network and broadcast address", () => {
    expect(all("10.0.0.0/22")).toHaveLength(1_022);
    expect(addressCount(cidrs("10.0.0.0/22"))).toBe(1_022n);
    expect(all("fd00::/112")).toHaveLength(65_536);
    expect(addressCount(cidrs("0.0.0.0/0", "fd00::/112"))).toBe(2n ** 32n - 2n + 65_536n);
  });

  test("appear once, even for nested blocks", () => {
    expect(all("10.0.0.0/29", "10.0.0.0/30", "10.0.0.2/32", "10.0.0.0/29")).toEqual(
      "10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4 10.0.0.5 10.0.0.6".split(" "),
    );
    expect(all("10.0.0.2/32", "10.0.0.0/30")).toEqual(["10.0.0.1", "10.0.0.2"]);
    // The edges of the inner block are hosts of the outer one.
    expect(all("10.0.0.4/30", "10.0.0.0/29")).toHaveLength(6);
  });

  test("are generated lazily, so that the largest block costs nothing", () => {
    const first = [];
    for (const address of eachAddress(cidrs("0.0.0.0/0"))) {
      first.push(address);
      if (first.length === 3) break;
    }
    expect(first).toEqual(["0.0.0.1", "0.0.0.2", "0.0.0.3"]);
  });

  test("of an oversized IPv6 block are refused at once", () => {
    expect(cidrs("fd00::/112", "fd00::/111", "0.0.0.0/0").map(isEnumerable)).toEqual([true, false, true]);
    expect(() => eachAddress(cidrs("fd00::/64"))).toThrow("fd00::/64");
    expect(() => addressCount(cidrs("fd00::/111"))).toThrow(RangeError);
  });
});

describe("sweep order", () => {
  test("is shuffled block by block, and complete", () => {
    const order = [...shuffledInBlocks(eachAddress(cidrs("10.0.0.0/22")), 256, seededRandom(7))];
    expect(new Set(order).size).toBe(1_022);
    expect(order.slice(0, 256)).not.toEqual(all("10.0.0.0/22").slice(0, 256));
    expect([...order.slice(0, 256)].sort()).toEqual(all("10.0.0.0/22").slice(0, 256).sort());
  });

  test("looks ahead no further than one block", () => {
    let made = 0;
    const endless = (function* () {
      for (;;) yield made++;
    })();
    shuffledInBlocks(endless, 16, seededRandom(7)).next();
    expect(made).toBe(16);
  });

  test("puts every address at every position about equally often", () => {
    const random = seededRandom(11);
    const places = new Map<string, number>();
    for (let round = 0; round < 6_000; round += 1) {
      const order = [...shuffledInBlocks(["a", "b", "c"], 3, random)].join("");
      places.set(order, (places.get(order) ?? 0) + 1);
    }
    expect(places.size).toBe(6);
    for (const count of places.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });
});

describe("the TCP ports of a silent address", () => {
  test("are three that firewalls usually allow", () => {
    expect(portsForSilent(DEFAULT_TCP_PORTS)).toEqual([22, 443, 445]);
  });

  test("are always among the permitted ones", () => {
    expect(portsForSilent([8080, 80, 9000, 9001])).toEqual([80, 8080, 9000]);
    expect(portsForSilent([])).toEqual([]);
  });

  test("are chosen without duplicates", () => expect(new Set(DEFAULT_TCP_PORTS).size).toBe(DEFAULT_TCP_PORTS.length));
});

describe("reverse DNS", () => {
  test("queries the name of an address", () => {
    expect(reverseName(parseIp("192.0.2.1") as Ip)).toBe("1.2.0.192.in-addr.arpa");
    expect(reverseName(parseIp("2001:db8::567:89ab") as Ip)).toBe(
      "b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa",
    );
  });

  test.each([
    [["Host.Example.ORG."], "host.example.org"],
    [["b.example", "a.example", "c.example"], "a.example"],
    [["under_score.example"], "under_score.example"],
    [["printer"], "printer"],
    [
      ["evil\u0001.example", "bad name", "x".repeat(64), "<script>", "-a.example", "a..b", "*.example", "e\\001vil"],
      null,
    ],
    [[`${"a.".repeat(127)}b`, "192.0.2.1"], null],
    [[], null],
  ])("reads from %p the name %p", (answers, name) => expect(hostnameIn(answers)).toBe(name));
});
