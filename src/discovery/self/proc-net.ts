// Reads the kernel's socket tables /proc/net/{tcp,tcp6,udp,udp6} (proc_pid_net(5)) as text into the ports that are
// served. Pure: must not open a file.

import { type Ip, ipOfBytes, ipSortKey, parseIp } from "../../base/ip.ts";
import type { PortProtocol } from "../../resources/ports/port-type.ts";
import type { MachinePort } from "./machine.ts";

/** The texts of the four tables; empty for one that the kernel does not have. */
interface SocketTables {
  tcp: string;
  tcp6: string;
  udp: string;
  udp6: string;
}

interface LocalEndpoint {
  /** An IPv4-mapped address is given as the IPv4 address that it stands for. */
  ip: Ip;
  port: number;
}

/** Socket states of include/net/tcp_states.h as the tables print them. */
export const TCP_LISTEN = "0A";
/** A UDP socket that is bound and not connected to one peer has the state of a closed TCP socket. */
const UDP_UNCONNECTED = "07";

/**
 * The listening TCP ports, and the UDP ports below `firstEphemeralPort` that are bound and not connected: above it, a
 * UDP client that waits for its answer looks like a server, and two looks at an unchanged machine would differ. A
 * socket on 0.0.0.0 or [::] makes the port one on all addresses; whether [::] also takes IPv4 (IPV6_V6ONLY) is not in
 * the tables.
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
 * The local ends of the sockets in one state, as often as they occur (SO_REUSEPORT). Lines that are none of the table's
 * are skipped. One pass over the text without a copy of its lines: a busy proxy has 100,000 of them, of which a few
 * listen.
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

/**
 * The lower end of /proc/sys/net/ipv4/ip_local_port_range, or the kernel's default when the text is missing or none of
 * its kind.
 */
export function firstEphemeralPort(range: string | null): number {
  const first = Number(/^\s*(\d{1,5})\s+\d{1,5}\s*$/.exec(range ?? "")?.[1]);
  return first >= 1 && first <= 65_535 ? first : DEFAULT_FIRST_EPHEMERAL_PORT;
}

const DEFAULT_FIRST_EPHEMERAL_PORT = 32_768;

/** `sl: local:port remote:port st …`: the local address, its port, the state. */
const SOCKET_LINE = /^ *\d+: ([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4}) [0-9A-F]+:[0-9A-F]{4} ([0-9A-F]{2}) /gm;

const MAPPED = "::ffff:";

/**
 * The tables print an address as 32-bit words in the machine's byte order, which is little-endian on all that we build
 * for (x64, arm64).
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

/** By sort key, which makes the order of the addresses that of the keys. */
function boundTo(ips: Map<string, Ip>): string[] {
  if (ips.values().some((ip) => ip.bytes.every((byte) => byte === 0))) return [];
  return Array.from(ips)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, ip]) => ip.text);
}
