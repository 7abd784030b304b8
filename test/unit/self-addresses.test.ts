// Parsing of the kernel's address dump, and the addresses used for the inventory.

import { describe, expect, test } from "bun:test";
import { type Ip, parseIp } from "../../src/base/ip.ts";
import { inventoryAddresses, isLoopbackOnly } from "../../src/discovery/self/inventory-addresses.ts";
import { addressDumpRequest, type KernelAddress, parseAddressDatagram } from "../../src/discovery/self/rtnetlink.ts";
import { attribute, message, u32 } from "../support/sweep/netlink.ts";

const [IFA_ADDRESS, IFA_LOCAL, IFA_LABEL, IFA_FLAGS] = [1, 2, 3, 8];

function bytesOf(text: string): number[] {
  const ip = parseIp(text);
  if (!ip) throw new Error(`${text} is not an address`);
  return [...ip.bytes];
}

function newAddress(
  family: number,
  prefixLength: number,
  ifIndex: number,
  headerFlags: number,
  ...attributes: number[][]
): number[] {
  return message(20, 2, [family, prefixLength, headerFlags, 0, ...u32(ifIndex), ...attributes.flat()]);
}

const DONE = message(3, 2, u32(0));

function parse(...messages: number[][]) {
  return parseAddressDatagram(Uint8Array.from(messages.flat()));
}

describe("parseAddressDatagram", () => {
  test("parses IPv4 with an alias and IPv6 without a local attribute, up to the end of the dump", () => {
    const ends = [IFA_ADDRESS, IFA_LOCAL].map((type) => attribute(type, bytesOf("192.0.2.2")));
    const alias = attribute(IFA_LABEL, [...Buffer.from("eth0:vip\0")]);
    const ipv6 = newAddress(10, 64, 7, 0x80, attribute(IFA_ADDRESS, bytesOf("fd00::2")));
    const result = parse(newAddress(2, 24, 4, 0x80, ...ends, alias), ipv6, DONE);
    const plain = { peer: null, isTemporary: false, isDuplicate: false };
    expect(result).toEqual({
      addresses: [
        { ip: parseIp("192.0.2.2") as Ip, prefixLength: 24, ifIndex: 4, ...plain },
        { ip: parseIp("fd00::2") as Ip, prefixLength: 64, ifIndex: 7, ...plain },
      ],
      isLast: true,
      isInterrupted: false,
      refusedErrno: null,
    });
  });

  test("distinguishes the local end of a point-to-point link from the remote end", () => {
    const [remote, local] = [attribute(IFA_ADDRESS, bytesOf("10.0.0.2")), attribute(IFA_LOCAL, bytesOf("10.0.0.1"))];
    const { addresses } = parse(newAddress(2, 32, 3, 0, remote, local));
    expect([addresses[0]?.ip.text, addresses[0]?.peer?.text]).toEqual(["10.0.0.1", "10.0.0.2"]);
  });

  test("prefers the flags attribute, which has all bits, for IPv6 only", () => {
    const { addresses } = parse(
      newAddress(10, 64, 3, 0, attribute(IFA_ADDRESS, bytesOf("2001:db8::1")), attribute(IFA_FLAGS, u32(0x101))),
      newAddress(10, 64, 3, 0x01, attribute(IFA_ADDRESS, bytesOf("2001:db8::2")), attribute(IFA_FLAGS, u32(0x108))),
      newAddress(2, 24, 3, 0x01, attribute(IFA_ADDRESS, bytesOf("192.0.2.3")), attribute(IFA_FLAGS, u32(0x89))),
    );
    expect(addresses.map(({ isTemporary }) => isTemporary)).toEqual([true, false, false]);
    expect(addresses.map(({ isDuplicate }) => isDuplicate)).toEqual([false, true, false]);
  });

  test("skips other families and addresses of invalid length", () => {
    const mctp = newAddress(45, 0, 1, 0, attribute(IFA_ADDRESS, [8]));
    const tooShort = newAddress(2, 24, 1, 0, attribute(IFA_ADDRESS, [1, 2, 3]));
    expect(parse(mctp, tooShort, newAddress(2, 24, 1, 0)).addresses).toEqual([]);
  });

  test("reports an interrupted dump and a refusal", () => {
    expect(parse(message(3, 0x12, u32(0)))).toMatchObject({ isLast: true, isInterrupted: true });
    const refusal = message(2, 0, [...u32(-13 >>> 0), ...addressDumpRequest()]);
    expect(parse(refusal)).toMatchObject({ isLast: false, refusedErrno: 13 });
  });

  test("stops at any truncation without reading past it", () => {
    const complete = [...newAddress(2, 24, 4, 0, attribute(IFA_ADDRESS, bytesOf("192.0.2.2"))), ...DONE];
    for (let length = 0; length < complete.length; length += 1) {
      const result = parseAddressDatagram(Uint8Array.from(complete.slice(0, length)));
      expect([result.addresses.length, result.isLast]).toEqual([length < 32 ? 0 : 1, false]);
    }
  });

  test("does not loop on lengths that are too short or too long", () => {
    for (const length of [0, 1, 15, 21, 0xffffffff])
      expect(parse([...u32(length), ...DONE.slice(4)]).isLast).toBe(false);
    const malformed = newAddress(2, 24, 4, 0, [0, 0, 1, 0], attribute(IFA_ADDRESS, bytesOf("192.0.2.2")));
    expect(parse(malformed).addresses).toEqual([]);
  });
});

test("the request is for a dump of all families", () => {
  const header = [24, 0, 0, 0, 22, 0, 0x01, 0x03, 1];
  expect([...addressDumpRequest()]).toEqual([...header, ...Array(15).fill(0)]);
});

type Overrides = Partial<KernelAddress>;
function address(text: string, prefixLength: number, ifIndex = 2, overrides: Overrides = {}): KernelAddress {
  const ip = parseIp(text);
  if (!ip) throw new Error(`${text} is not an address`);
  return { ip, prefixLength, ifIndex, peer: null, isTemporary: false, isDuplicate: false, ...overrides };
}

describe("inventoryAddresses", () => {
  test("returns each address with its subnet, in numeric order with IPv4 before IPv6", () => {
    const [first, second] = [address("192.0.2.9", 25), address("192.0.2.10", 25)];
    const addresses = [address("fd00::2", 64, 3), second, first, address("2001:db8::1", 128)];
    expect(inventoryAddresses(addresses)).toEqual([
      { ip_address: "192.0.2.9", prefix_length: 25, if_index: 2, cidr: "192.0.2.0/25" },
      { ip_address: "192.0.2.10", prefix_length: 25, if_index: 2, cidr: "192.0.2.0/25" },
      { ip_address: "2001:db8::1", prefix_length: 128, if_index: 2, cidr: "2001:db8::1/128" },
      { ip_address: "fd00::2", prefix_length: 64, if_index: 3, cidr: "fd00::/64" },
    ]);
  });

  test("omits loopback, link-local, temporary and duplicate addresses, and keeps others of the loopback interface", () => {
    const result = inventoryAddresses([
      address("127.0.0.1", 8, 1),
      address("127.9.9.9", 8, 1),
      address("10.255.0.1", 32, 1),
      address("::1", 128, 1),
      address("169.254.10.1", 16),
      address("fe80::1", 64),
      address("febf::1", 64),
      address("fec0::1", 64),
      address("2001:db8::1", 64, 2, { isTemporary: true }),
      address("2001:db8::2", 64, 2, { isDuplicate: true }),
      address("2001:db8::3", 64),
    ]);
    expect(result.map((entry) => entry.ip_address)).toEqual(["10.255.0.1", "2001:db8::3", "fec0::1"]);
  });

  test("returns an address on several interfaces once: with the widest subnet, then the lowest index", () => {
    const unnumbered = [address("10.0.0.1", 32, 2), address("10.0.0.1", 24, 5), address("10.0.0.1", 24, 4)];
    expect(inventoryAddresses(unnumbered)).toEqual([
      { ip_address: "10.0.0.1", prefix_length: 24, if_index: 4, cidr: "10.0.0.0/24" },
    ]);
    expect(inventoryAddresses(unnumbered.reverse())).toEqual(inventoryAddresses(unnumbered));
  });

  test("uses the peer's block for a point-to-point address only if it contains it", () => {
    const peer = (text: string) => ({ peer: parseIp(text) });
    const cidrs = inventoryAddresses([
      address("10.0.0.1", 30, 2, peer("10.0.0.2")),
      address("10.1.0.1", 32, 2, peer("10.1.0.2")),
      address("10.2.0.1", 24, 2, peer("192.0.2.1")),
    ]);
    expect(cidrs.map((entry) => entry.cidr)).toEqual(["10.0.0.0/30", "10.1.0.1/32", "10.2.0.1/32"]);
  });
});

test("a port is local-only if all its bindings are loopback", () => {
  const port = (...bound: string[]) => ({ number: 5432, protocol: "Tcp" as const, bound });
  for (const bound of [["127.0.0.1"], ["127.0.0.53", "::1"]]) expect(isLoopbackOnly(port(...bound))).toBe(true);
  for (const bound of [[], ["127.0.0.1", "192.0.2.2"]]) expect(isLoopbackOnly(port(...bound))).toBe(false);
});
