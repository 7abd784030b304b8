// Sweep packets, byte by byte: ICMP echo, ARP, and the kernel's neighbors, routes and interfaces.

import { describe, expect, test } from "bun:test";
import { type Ip, parseIp } from "../../src/base/ip.ts";
import {
  type KernelNeighbor,
  neighborDumpRequest,
  parseNeighborDatagram,
} from "../../src/discovery/kernel/neighbor-messages.ts";
import { NeighborTable } from "../../src/discovery/kernel/neighbors.ts";
import {
  linkDumpRequest,
  parseLinkDatagram,
  parseRouteResponse,
  routeRequest,
} from "../../src/discovery/kernel/route-messages.ts";
import {
  ifIndexOfLinkAddress,
  ipOfSocketAddress,
  linkBroadcastAddress,
  socketAddress,
} from "../../src/discovery/kernel/socket-address.ts";
import { arpRequest, parseArpReply } from "../../src/discovery/sweep/arp-packet.ts";
import { echoRequest, parseEchoReply } from "../../src/discovery/sweep/echo-packet.ts";
import { errorKindOf } from "../../src/discovery/sweep/error-kinds.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { attribute, message, u16, u32 } from "../support/sweep/netlink.ts";

function ip(text: string): Ip {
  const parsed = parseIp(text);
  if (!parsed) throw new Error(`${text} is not an address`);
  return parsed;
}

const MAC = [0x02, 0xfc, 0, 0, 0, 5];

function neighbor(family: number, state: number, ...attributes: number[][]): number[] {
  return message(28, 2, [family, 0, 0, 0], u32(4), u16(state), [0, 1], ...attributes);
}

describe("an echo request", () => {
  const token = Uint8Array.from({ length: 16 }, (_, index) => index + 1);

  test("conforms to RFC 792, with a valid checksum", () => {
    const packet = echoRequest({ version: 4, identifier: 0x1234, sequence: 0xfffe, token });
    expect([...packet.subarray(0, 2)]).toEqual([8, 0]);
    expect([...packet.subarray(4, 8)]).toEqual([0x12, 0x34, 0xff, 0xfe]);
    expect([...packet.subarray(8, 24)]).toEqual([...token]);
    let sum = 0;
    for (let index = 0; index < packet.length; index += 2)
      sum += ((packet[index] ?? 0) << 8) | (packet[index + 1] ?? 0);
    while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
    expect(sum).toBe(0xffff);
    expect(echoRequest({ version: 6, identifier: 1, sequence: 2, token })[0]).toBe(128);
  });

  test("is matched by its reply, with and without an IP header", () => {
    for (const version of [4, 6] as const) {
      const reply = echoRequest({ version, identifier: 7, sequence: 9, token });
      reply[0] = version === 4 ? 0 : 129;
      expect(parseEchoReply(version, reply, false)).toEqual({ identifier: 7, sequence: 9, token });
      const header = Uint8Array.from({ length: 24 }, (_, index) => (index === 0 ? 0x46 : 0));
      const parsed = parseEchoReply(version, Buffer.concat([header, reply]), true);
      expect(parsed).toEqual({ identifier: 7, sequence: 9, token });
    }
  });

  test("is not matched by itself, a quoting router error, or a short packet", () => {
    const request = echoRequest({ version: 4, identifier: 7, sequence: 9, token });
    expect(parseEchoReply(4, request, false)).toBeNull();
    const quotedHeader = new Uint8Array(20).fill(0x45);
    const unreachable = Buffer.concat([Uint8Array.of(3, 1, 0, 0, 0, 0, 0, 0), quotedHeader, request]);
    expect(parseEchoReply(4, unreachable, false)).toBeNull();
    const reply = Uint8Array.from(request);
    reply[0] = 0;
    expect(parseEchoReply(4, reply.subarray(0, 23), false)).toBeNull();
    expect(parseEchoReply(6, reply, false)).toBeNull();
    expect(parseEchoReply(4, new Uint8Array(), true)).toBeNull();
  });
});

describe("an ARP request", () => {
  test("conforms to RFC 826, with sender and target", () => {
    const request = arpRequest("02:fc:00:00:00:01", ip("192.0.2.2"), ip("192.0.2.9"));
    expect(Buffer.from(request).toString("hex")).toBe("000108000604000102fc00000001c0000202000000000000c0000209");
  });

  test("is matched only by replies from stations", () => {
    const reply = Buffer.from("000108000604000202fc00000005c000020902fc00000001c0000202", "hex");
    const parsed = parseArpReply(Buffer.concat([reply, new Uint8Array(18)]));
    expect(parsed).toEqual({ ip_address: "192.0.2.9", mac_address: "02:fc:00:00:00:05" });
    expect(parseArpReply(arpRequest("02:fc:00:00:00:01", ip("192.0.2.9"), ip("192.0.2.9")))).toBeNull();
    for (const sender of ["ffffffffffff", "000000000000", "01005e000001"])
      expect(parseArpReply(Buffer.from(`0001080006040002${sender}c000020902fc00000001c0000202`, "hex"))).toBeNull();
    expect(parseArpReply(reply.subarray(0, 27))).toBeNull();
  });
});

describe("the kernel's neighbor table", () => {
  test("is requested completely", () => {
    const expected = "1c0000001e00010301".padEnd(56, "0");
    expect(Buffer.from(neighborDumpRequest()).toString("hex")).toBe(expected);
  });

  test.each([
    [0x02, "Reachable", "02:fc:00:00:00:05"],
    [0x04, "Stale", "02:fc:00:00:00:05"],
    [0x08, "Delay", "02:fc:00:00:00:05"],
    [0x10, "Probe", "02:fc:00:00:00:05"],
    [0x80, "Permanent", "02:fc:00:00:00:05"],
    [0x01, "Resolving", null],
    [0x20, "Failed", null],
    [0x40, "NoArp", null],
    [0x00, "None", null],
  ] as const)("in state %p is %s with the MAC address %p", (number, state, mac_address) => {
    const times = attribute(3, [...u32(250), ...u32(1), ...u32(2), ...u32(3)]);
    const entry = neighbor(2, number, attribute(1, ip("192.0.2.9").bytes), attribute(2, MAC), times);
    const expected = { ip_address: "192.0.2.9", mac_address, ifIndex: 4, state, confirmedAgoMs: 2_500 };
    expect(parseNeighborDatagram(Uint8Array.from(entry))).toEqual([expected]);
  });

  test("includes IPv6, but no bridges, tunnels or malformed messages", () => {
    const datagram = [
      ...neighbor(10, 0x02, attribute(1, ip("fe80::5").bytes), attribute(2, MAC)),
      ...neighbor(7, 0x02, attribute(2, MAC)),
      ...neighbor(2, 0x02, attribute(2, MAC)),
      ...neighbor(2, 0x02, attribute(1, ip("192.0.2.7").bytes), attribute(2, [0, 0, 0, 0, 0, 0])),
      ...neighbor(2, 0x02, attribute(1, ip("192.0.2.8").bytes), attribute(2, [1, 2, 3, 4])),
    ];
    const expected = [
      { ip_address: "fe80::5", mac_address: "02:fc:00:00:00:05", ifIndex: 4, state: "Reachable", confirmedAgoMs: null },
      { ip_address: "192.0.2.7", mac_address: null, ifIndex: 4, state: "Reachable", confirmedAgoMs: null },
      { ip_address: "192.0.2.8", mac_address: null, ifIndex: 4, state: "Reachable", confirmedAgoMs: null },
    ] as const;
    expect(parseNeighborDatagram(Uint8Array.from(datagram))).toEqual([...expected]);
    const truncated = Uint8Array.from(datagram.slice(0, -3));
    expect(parseNeighborDatagram(truncated)).toEqual(expected.slice(0, 2));
  });

  test("is cached up to its maximum age", () => {
    let now = 0;
    let reads = 0;
    const fields = { ip_address: "192.0.2.9", mac_address: null, ifIndex: 3, confirmedAgoMs: 0 };
    const failed: KernelNeighbor = { ...fields, state: "Failed" };
    const reachable: KernelNeighbor = { ...failed, mac_address: "02:fc:00:00:00:05", ifIndex: 4, state: "Reachable" };
    const readTable = () => {
      reads += 1;
      return [failed, reachable, { ...failed, ifIndex: 5 }];
    };
    const table = new NeighborTable(() => now, readTable);
    expect(table.find("192.0.2.9", 100)).toEqual({ neighbor: reachable, readAtMs: 0 });
    now = 100;
    expect(table.find("192.0.2.8", 100)).toBeNull();
    expect(reads).toBe(1);
    now = 101;
    expect(table.find("192.0.2.9", 100)?.readAtMs).toBe(101);
    expect(reads).toBe(2);
  });
});

describe("the kernel's routes", () => {
  const route = (type: number, ...attributes: number[][]): Uint8Array =>
    Uint8Array.from(message(24, 2, [2, 32, 0, 0, 254, 0, 0, type], u32(0), ...attributes));

  test("are requested by address", () => {
    const expected = "240000001a000100010000000000000002200000000000000000000008000100c0000209";
    expect(Buffer.from(routeRequest(ip("192.0.2.9"))).toString("hex")).toBe(expected);
    expect(routeRequest(ip("fd00::1"))).toHaveLength(16 + 12 + 20);
  });

  test("yield the link, the local address and the presence of a router", () => {
    const link = route(1, attribute(4, u32(4)), attribute(7, ip("192.0.2.2").bytes));
    const expected = { type: "Unicast", ifIndex: 4, hasGateway: false, source: ip("192.0.2.2") } as const;
    expect(parseRouteResponse(link)).toEqual(expected);
    for (const gateway of [attribute(5, ip("192.0.2.1").bytes), attribute(18, [10, 0, ...ip("fe80::1").bytes])])
      expect(parseRouteResponse(route(1, attribute(4, u32(4)), gateway))?.hasGateway).toBe(true);
    const types = [2, 3, 5, 6, 7, 8].map((type) => parseRouteResponse(route(type))?.type);
    expect(types).toEqual(["Local", "Broadcast", "Multicast", "Refused", "Refused", "Refused"]);
    expect(parseRouteResponse(new Uint8Array())).toBeNull();
  });

  test("use interfaces with or without ARP neighbors", () => {
    const link = (type: number, flags: number, mac: number[]): number[] =>
      message(16, 2, [0, 0], u16(type), u32(4), u32(flags), u32(0), attribute(1, mac));
    const datagram = Uint8Array.from([
      ...link(1, 0x1043, MAC),
      ...link(772, 0x49, [0, 0, 0, 0, 0, 0]),
      ...link(1, 0x80, MAC),
      ...link(65_534, 0x1091, []),
    ]);
    expect(parseLinkDatagram(datagram)).toEqual([
      { ifIndex: 4, mac: "02:fc:00:00:00:05", hasNeighbors: true },
      { ifIndex: 4, mac: null, hasNeighbors: false },
      { ifIndex: 4, mac: "02:fc:00:00:00:05", hasNeighbors: false },
      { ifIndex: 4, mac: null, hasNeighbors: false },
    ]);
    expect(linkDumpRequest()).toHaveLength(32);
  });

  test("accept garbage without an error, as do neighbor tables", () => {
    const random = seededRandom(4);
    for (let round = 0; round < 500; round += 1) {
      const bytes = random.bytes(random.integer(120));
      parseNeighborDatagram(bytes);
      parseLinkDatagram(bytes);
      parseRouteResponse(bytes);
      parseArpReply(bytes);
      parseEchoReply(4, bytes, round % 2 === 0);
    }
    expect(parseNeighborDatagram(new Uint8Array())).toEqual([]);
  });
});

describe("socket addresses", () => {
  test("round-trip", () => {
    for (const text of ["192.0.2.9", "fd00::1"])
      expect(ipOfSocketAddress(socketAddress(ip(text), 443))).toEqual({ ip: ip(text), port: 443 });
    expect(ifIndexOfLinkAddress(linkBroadcastAddress(7, 0x0806))).toBe(7);
    expect(ifIndexOfLinkAddress(socketAddress(ip("192.0.2.9"), 1))).toBeNull();
    expect(ipOfSocketAddress(linkBroadcastAddress(7, 0x0806))).toBeNull();
    expect(ipOfSocketAddress(new Uint8Array(8))).toBeNull();
  });
});

test("system errors are counted by name", () => {
  const expected = ["HostUnreachable", "NetworkUnreachable", "NotPermitted", "Exhausted", "Other"] as const;
  expect([113, 101, 13, 105, 4711].map(errorKindOf)).toEqual([...expected]);
});
