// Address order, TCP ports and host names of a sweep.

import { describe, expect, test } from "bun:test";
import { type Ip, parseIp } from "../../src/base/ip.ts";
import { hostnameIn, reverseName } from "../../src/discovery/sweep/reverse-name.ts";
import { shuffledInBlocks } from "../../src/discovery/sweep/shuffle.ts";
import { DEFAULT_TCP_PORTS, portsForSilent } from "../../src/discovery/sweep/tcp-ports.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

const ADDRESSES = Array.from({ length: 1_022 }, (_, index) => `address ${index}`);

describe("sweep order", () => {
  test("is shuffled block by block, and complete", () => {
    const order = [...shuffledInBlocks(ADDRESSES, 256, seededRandom(7))];
    expect(new Set(order).size).toBe(1_022);
    expect(order.slice(0, 256)).not.toEqual(ADDRESSES.slice(0, 256));
    expect([...order.slice(0, 256)].sort()).toEqual(ADDRESSES.slice(0, 256).sort());
  });

  test("looks ahead no further than one block", () => {
    let yieldedCount = 0;
    const endless = (function* () {
      for (;;) yield yieldedCount++;
    })();
    shuffledInBlocks(endless, 16, seededRandom(7)).next();
    expect(yieldedCount).toBe(16);
  });

  test("puts every address at every position about equally often", () => {
    const random = seededRandom(11);
    const orderCounts = new Map<string, number>();
    for (let round = 0; round < 6_000; round += 1) {
      const order = [...shuffledInBlocks(["a", "b", "c"], 3, random)].join("");
      orderCounts.set(order, (orderCounts.get(order) ?? 0) + 1);
    }
    expect(orderCounts.size).toBe(6);
    for (const count of orderCounts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150);
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
  ])("chooses from %p the name %p", (answers, name) => expect(hostnameIn(answers)).toBe(name));
});
