// Listening ports from the kernel's socket tables.

import { describe, expect, test } from "bun:test";
import { firstEphemeralPort, localEndpoints, servedPorts, TCP_LISTEN } from "../../src/discovery/self/proc-net.ts";

const TCP_HEADER =
  "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode                                                     ";
const UDP_HEADER =
  "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops            ";
const NO_TABLES = { tcp: "", tcp6: "", udp: "", udp6: "" };

/** Each socket as `local remote state`; the rest of its line as the kernel prints it. */
function tcpTable(...sockets: string[]): string {
  const rest =
    "00000000:00000000 00:00000000 00000000     0        0 616 1 00000000ed173450 100 0 0 10 0                       ";
  const lines = sockets.map((socket, index) => `${String(index).padStart(4)}: ${socket} ${rest}`);
  return [TCP_HEADER, ...lines, ""].join("\n");
}

function udpTable(...sockets: string[]): string {
  const rest = "00000000:00000000 00:00000000 00000000   101        0 1713 2 0000000056be7b6b 0            ";
  const lines = sockets.map((socket, index) => `${String(index + 900).padStart(5)}: ${socket} ${rest}`);
  return [UDP_HEADER, ...lines, ""].join("\n");
}

const ANY = "00000000:0000";
const ANY_V6 = "00000000000000000000000000000000:0000";

describe("TCP", () => {
  test("returns listening sockets, without established and closing connections", () => {
    const tcp = tcpTable(
      `0100007F:1538 ${ANY} 0A`,
      "0100007F:1538 0100007F:C350 01",
      "020200C0:0050 010200C0:C351 06",
      "020200C0:9C40 010200C0:0050 08",
    );
    const served = servedPorts({ ...NO_TABLES, tcp }, 32_768);
    expect(served).toEqual([{ number: 5432, protocol: "Tcp", bound: ["127.0.0.1"] }]);
  });

  test("keeps listeners on ephemeral ports", () => {
    const served = servedPorts({ ...NO_TABLES, tcp: tcpTable(`0100007F:C350 ${ANY} 0A`) }, 32_768);
    expect(served.map((port) => port.number)).toEqual([50_000]);
  });

  test("treats a socket on 0.0.0.0, [::] or the mapped 0.0.0.0 as all addresses, despite other bindings", () => {
    const tcp = tcpTable(`00000000:0050 ${ANY} 0A`, `0100007F:0051 ${ANY} 0A`);
    const tcp6 = tcpTable(
      `00000000000000000000000000000000:0051 ${ANY_V6} 0A`,
      `00000000000000000000000000000000:0016 ${ANY_V6} 0A`,
      `0000000000000000FFFF000000000000:0017 ${ANY_V6} 0A`,
    );
    const expected = [22, 23, 80, 81].map((number) => ({ number, protocol: "Tcp" as const, bound: [] }));
    expect(servedPorts({ ...NO_TABLES, tcp, tcp6 }, 32_768)).toEqual(expected);
  });

  test("parses addresses from little-endian words, IPv4-mapped ones as IPv4, each once and in order", () => {
    const tcp6 = tcpTable(
      `000000FD000000000000000002000000:01BB ${ANY_V6} 0A`,
      `00000000000000000000000001000000:01BB ${ANY_V6} 0A`,
      `0000000000000000FFFF0000020200C0:01BB ${ANY_V6} 0A`,
      `B80D01200000000067452301EFCDAB89:01BB ${ANY_V6} 0A`,
    );
    const tcp = tcpTable(`020200C0:01BB ${ANY} 0A`, `0A0200C0:01BB ${ANY} 0A`, `020200C0:01BB ${ANY} 0A`);
    const bound = ["192.0.2.2", "192.0.2.10", "::1", "2001:db8::123:4567:89ab:cdef", "fd00::2"];
    expect(servedPorts({ ...NO_TABLES, tcp, tcp6 }, 32_768)).toEqual([{ number: 443, protocol: "Tcp", bound }]);
  });
});

describe("UDP", () => {
  test("returns unconnected sockets bound below the ephemeral range", () => {
    const udp = udpTable(
      `00000000:00A1 ${ANY} 07`,
      `020200C0:0035 ${ANY} 07`,
      "020200C0:007B 01010101:007B 01",
      `00000000:8000 ${ANY} 07`,
      `00000000:EE48 ${ANY} 07`,
    );
    const udp6 = udpTable(
      `00000000000000000000000000000000:7FFF ${ANY_V6} 07`,
      `000080FE00000000FF00FC02010000FE:0222 ${ANY_V6} 07`,
    );
    expect(servedPorts({ ...NO_TABLES, udp, udp6 }, 32_768)).toEqual([
      { number: 53, protocol: "Udp", bound: ["192.0.2.2"] },
      { number: 161, protocol: "Udp", bound: [] },
      { number: 546, protocol: "Udp", bound: ["fe80::2fc:ff:fe00:1"] },
      { number: 32_767, protocol: "Udp", bound: [] },
    ]);
  });

  test("lists UDP ports separately, after TCP", () => {
    const tables = { ...NO_TABLES, tcp: tcpTable(`00000000:0035 ${ANY} 0A`), udp: udpTable(`00000000:0035 ${ANY} 07`) };
    expect(servedPorts(tables, 32_768).map((port) => port.protocol)).toEqual(["Tcp", "Udp"]);
  });
});

test("the order of lines in the tables does not matter", () => {
  const lines = [`0100007F:0050 ${ANY} 0A`, `020200C0:0050 ${ANY} 0A`, `00000000:0016 ${ANY} 0A`];
  const portsOf = (sockets: string[]) => servedPorts({ ...NO_TABLES, tcp: tcpTable(...sockets) }, 32_768);
  expect(portsOf(lines)).toEqual(portsOf(lines.toReversed()));
});

test("empty, header-only and malformed tables have no ports", () => {
  expect(servedPorts(NO_TABLES, 32_768)).toEqual([]);
  const malformed = "something else\n 0: zz:0050 0A\n";
  const tables = { tcp: TCP_HEADER, tcp6: `${TCP_HEADER}\n`, udp: UDP_HEADER, udp6: malformed };
  expect(servedPorts(tables, 32_768)).toEqual([]);
});

test("sockets past the ten thousandth line are found", () => {
  const busy = Array.from({ length: 20_000 }, () => "0100007F:1538 0100007F:C350 01");
  const endpoints = localEndpoints(tcpTable(...busy, `00000000:0016 ${ANY} 0A`), TCP_LISTEN);
  expect(endpoints.map((endpoint) => endpoint.port)).toEqual([22]);
});

describe("the ephemeral range", () => {
  test("starts at the first of the kernel's two numbers", () => {
    expect(firstEphemeralPort("32768\t60999\n")).toBe(32_768);
    expect(firstEphemeralPort("1024\t65000")).toBe(1024);
  });

  test("defaults to the kernel's default if unavailable", () => {
    for (const text of [null, "", "none", "0 0", "70000 80000", "-1 5"]) expect(firstEphemeralPort(text)).toBe(32_768);
  });
});
