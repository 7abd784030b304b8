// Caller address of a request, from the socket and from proxy headers: headers written by the caller are not trusted.

import { describe, expect, test } from "bun:test";
import { type Cidr, parseCidr } from "../../src/base/ip.ts";
import { callerAddress, FORWARDED_ENTRIES_MAX } from "../../src/http/caller-address.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

const TRUSTED = ["10.0.0.1/32", "10.9.0.0/16", "2001:db8:9::/48", "fe80::1/128"].map((text) => parseCidr(text) as Cidr);

function callerOf(peer: string, forwardedFor: string | null, trusted = TRUSTED): string {
  return callerAddress(peer, forwardedFor, trusted);
}

describe("the caller of a request", () => {
  test.each([
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["2001:DB8::7", "2001:db8::7"],
    ["fe80::7%eth0", "fe80::7"],
    ["local", "local"],
  ])("is the peer %s without a trusted proxy, regardless of its headers", (peer, address) => {
    for (const header of [null, "", "203.0.113.5", "203.0.113.5, 10.0.0.1"])
      expect(callerOf(peer, header, [])).toBe(address);
  });

  test.each(["192.0.2.7", "::ffff:192.0.2.7", "10.0.0.2", "2001:db8:8::1", "local", ""])(
    "is the peer %p if it is not a trusted proxy",
    (peer) => expect(callerOf(peer, "203.0.113.5")).toBe(callerOf(peer, null)),
  );

  test.each(["10.0.0.1", "::ffff:10.0.0.1", "10.9.255.255", "2001:db8:9::ffff", "fe80::1%eth0"])(
    "is the address named by the trusted proxy %s",
    (peer) => {
      expect(callerOf(peer, "203.0.113.5")).toBe("203.0.113.5");
      expect(callerOf(peer, null)).toBe(callerOf(peer, null, []));
    },
  );

  test.each([
    ["203.0.113.5", "203.0.113.5"],
    [" 203.0.113.5\t", "203.0.113.5"],
    ["203.0.113.5:4711", "203.0.113.5"],
    ["::ffff:203.0.113.5", "203.0.113.5"],
    ["[::ffff:203.0.113.5]:80", "203.0.113.5"],
    ["2001:DB8::0005", "2001:db8::5"],
    ["[2001:db8::5]", "2001:db8::5"],
    ["[2001:db8::5]:4711", "2001:db8::5"],
    // Text after the last colon belongs to the address: there is no port without brackets.
    ["2001:db8::5:4711", "2001:db8::5:4711"],
    ["fe80::5%eth1", "fe80::5"],
    ["[fe80::5%25eth1]:80", "fe80::5"],
  ])("is read from the entry %p", (entry, address) => {
    expect(callerOf("10.0.0.1", entry)).toBe(address);
    expect(callerOf("10.0.0.1", `198.51.100.1,${entry},10.9.0.1`)).toBe(address);
  });

  test("is the last untrusted address: earlier entries may be forged", () => {
    expect(callerOf("10.0.0.1", "127.0.0.1, 203.0.113.5")).toBe("203.0.113.5");
    expect(callerOf("10.0.0.1", "10.0.0.1, 203.0.113.5, 10.9.0.1, [2001:db8:9::1]:99")).toBe("203.0.113.5");
    expect(callerOf("10.0.0.1", "unknown, <script>, 203.0.113.5")).toBe("203.0.113.5");
  });

  test("is unaffected by entries that a caller prepends", () => {
    const random = seededRandom(7);
    const pieces = [" ", ...'127.0.0.1 10.0.0.1 10.9.3.3 ::1 [ ] , ; % for= " x \u0000'.split(" ")];
    for (let i = 0; i < 2_000; i += 1) {
      const prefix = Array.from(random.bytes(random.bytes(1)[0] ?? 0), (byte) => pieces[byte % pieces.length]).join("");
      expect(callerOf("10.0.0.1", `${prefix},203.0.113.5`)).toBe("203.0.113.5");
      expect(callerOf("10.0.0.1", `${prefix}, 203.0.113.5 , 10.9.1.1,`)).toBe("203.0.113.5");
    }
  });

  const NOT_ADDRESSES =
    "unknown,_hidden,203.0.113.256,203.0.113,203.0.113.05,203.0.113.5:,203.0.113.5:123456,203.0.113.5:80:80," +
    "[203.0.113.5,2001:db8::5],[2001:db8::5]80,[2001:db8::5]:http,[[2001:db8::5]],203.0.113.5/32," +
    '203.0.113.5 203.0.113.6,for=203.0.113.5,"203.0.113.5",http://203.0.113.5,:,.,%';
  test.each(NOT_ADDRESSES.split(","))("is the peer if a proxy names %p, which is not an address", (entry) => {
    expect(callerOf("10.0.0.1", entry)).toBe("10.0.0.1");
    // The search ends there: no trusted proxy writes such an entry.
    expect(callerOf("10.0.0.1", `203.0.113.5, ${entry}, 10.9.0.1`)).toBe("10.0.0.1");
  });

  test.each(["", ",", " , ,", "10.9.0.1", "10.0.0.1, 10.9.0.1"])("is the peer if %p names no other", (header) => {
    expect(callerOf("10.0.0.1", header)).toBe("10.0.0.1");
  });

  test("is searched in a limited number of entries", () => {
    const chain = (length: number) => `203.0.113.5${", 10.9.0.1".repeat(length)}`;
    expect(callerOf("10.0.0.1", chain(FORWARDED_ENTRIES_MAX - 1))).toBe("203.0.113.5");
    expect(callerOf("10.0.0.1", chain(FORWARDED_ENTRIES_MAX))).toBe("10.0.0.1");
    expect(callerOf("10.0.0.1", `203.0.113.5${",".repeat(1_000_000)}`)).toBe("10.0.0.1");
    expect(callerOf("10.0.0.1", "9".repeat(1_000_000))).toBe("10.0.0.1");
  });
});
