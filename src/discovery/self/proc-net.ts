// Parser for the kernel's socket tables /proc/net/{tcp,tcp6,udp,udp6} (proc_pid_net(5)), yielding served ports. Pure;
// opens no file.

import { type Ip, ipOfBytes, ipSortKey, parseIp } from "../../base/ip.ts";
import type { PortProtocol } from "../../resources/ports/port-type.ts";
import type { MachinePort } from "./machine.ts";

/** Text of each table; empty if the kernel lacks it. */
interface SocketTables {
  tcp: string;
  tcp6: string;
  udp: string;
  udp6: string;
}

interface LocalEndpoint {
  /** An IPv4-mapped address is converted to IPv4. */
  ip: Ip;
  port: number;
}

/** Socket states of include/net/tcp_states.h, as printed in the tables. */
export const TCP_LISTEN = "0A";
/** A bound, unconnected UDP socket has the state of a closed TCP socket. */
const UDP_UNCONNECTED = "07";

/**
 * Listening TCP ports, and bound, unconnected UDP ports below `firstEphemeralPort`: above it, a UDP client awaiting a
 * response looks like a server, and two reads of an unchanged machine would differ. A socket on 0.0.0.0 or [::] counts
 * as all addresses; the tables do not show whether [::] also accepts IPv4 (IPV6_V6ONLY).
 */
export function servedPorts(tables: SocketTables, firstEphemeralPort: number): MachinePort[] {
  const tcp = [...localEndpoints(tables.tcp, TCP_LISTEN), ...localEndpoints(tables.tcp6, TCP_LISTEN)];
  const udp = [...localEndpoints(tables.udp, UDP_UNCONNECTED), ...localEndpoints(tables.udp6, UDP_UNCONNECTED)];
  const ports = [
    ...portsOf("Tcp", tcp),
    ...portsOf(
      "Udp",
      udp.filter((endpoint) => endpoint.port < firstEphemeralPort),
    ),
  ];
  return ports.sort((a, b) => a.number - b.number || (a.protocol < b.protocol ? -1 : 1));
}

/**
 * Local endpoints of the sockets in one state, with duplicates (SO_REUSEPORT). Skips other lines. One pass over the
 * text without copying lines: a busy proxy has 100,000, of which a few listen.
 */
export function localEndpoints(table: string, state: string): LocalEndpoint[] {
  const endpoints: LocalEndpoint[] = [];
  for (const [, address = "", port = "", lineState] of table.matchAll(SOCKET_LINE)) {
    if (lineState !== state) continue;
    const ip = kernelIp(address);
    if (ip) endpoints.push({ ip, port: Number.parseInt(port, 16) });
  }
  return endpoints;
}

/** Lower bound of /proc/sys/net/ipv4/ip_local_port_range; the kernel's default if missing or malformed. */
export function firstEphemeralPort(range: string | null): number {
  const first = Number(/^\s*(\d{1,5})\s+\d{1,5}\s*$/.exec(range ?? "")?.[1]);
  return first >= 1 && first <= 65_535 ? first : DEFAULT_FIRST_EPHEMERAL_PORT;
}

const DEFAULT_FIRST_EPHEMERAL_PORT = 32_768;

/** `sl: local:port remote:port st …`: captures local address, port and state. */
const SOCKET_LINE = /^ *\d+: ([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4}) [0-9A-F]+:[0-9A-F]{4} ([0-9A-F]{2}) /gm;

const MAPPED = "::ffff:";

/**
 * The tables print an address as 32-bit words in host byte order: little-endian on all supported platforms (x64,
 * arm64).
 */
function kernelIp(words: string): Ip | null {
  const bytes = Uint8Array.fromHex(words);
  for (let start = 0; start < bytes.length; start += 4) bytes.subarray(start, start + 4).reverse();
  const ip = ipOfBytes(bytes);
  return ip?.text.startsWith(MAPPED) && ip.text.includes(".") ? parseIp(ip.text.slice(MAPPED.length)) : ip;
}

function portsOf(protocol: PortProtocol, endpoints: LocalEndpoint[]): MachinePort[] {
  const ipsByPort = new Map<number, Map<string, Ip>>();
  for (const { ip, port } of endpoints) {
    if (port === 0) continue;
    const ips = ipsByPort.get(port) ?? new Map<string, Ip>();
    ipsByPort.set(port, ips.set(ipSortKey(ip), ip));
  }
  return Array.from(ipsByPort, ([number, ips]) => ({ number, protocol, bound: boundTo(ips) }));
}

/** Keyed by sort key, so that sorting the keys sorts the addresses. */
function boundTo(ips: Map<string, Ip>): string[] {
  if (ips.values().some((ip) => ip.bytes.every((byte) => byte === 0))) return [];
  return Array.from(ips)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, ip]) => ip.text);
}
