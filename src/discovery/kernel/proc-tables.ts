// Parser for the kernel's tables of routes, local addresses and neighbors in /proc/net (proc_pid_net(5)). Pure; opens
// no file.

import { type Cidr, cidrOf, type Ip, ipOfBytes, parseIp } from "../../base/ip.ts";
import { parseMac } from "../../base/mac.ts";
import type { KernelNeighbor } from "./neighbor-messages.ts";

export interface ProcRoute {
  readonly cidr: Cidr;
  readonly ifName: string;
  readonly hasGateway: boolean;
  /** True if packets are rejected (unreachable, prohibit) or dropped. */
  readonly isRefused: boolean;
  readonly metric: number;
}

/** /proc/net/route: routes of the main table that are up; empty for any other text. */
export function parseRouteTable(text: string): ProcRoute[] {
  return text.split("\n").flatMap((line) => {
    const [ifName = "", destination = "", , flags = "", , , metric = "", mask = ""] = line.trim().split(/\s+/);
    const network = ipOfWord(destination);
    const bits = ipOfWord(mask)?.bytes.toHex();
    const flag = Number.parseInt(flags, 16);
    if (network === null || bits === undefined || !(flag & RTF_UP)) return [];
    const prefixLength = Number.parseInt(bits, 16).toString(2).replaceAll("0", "").length;
    return [{ cidr: cidrOf(network, prefixLength), ifName, ...flagsOf(flag), metric: Number(metric) }];
  });
}

/** /proc/net/ipv6_route: routes of all tables that are up, with local routes separate and without multicast. */
export function parseIpv6RouteTable(text: string): { readonly routes: ProcRoute[]; readonly local: Cidr[] } {
  const routes: ProcRoute[] = [];
  const local: Cidr[] = [];
  for (const line of text.split("\n")) {
    const [destination = "", length = "", , , , metric = "", , , flags = "", ifName = ""] = line.trim().split(/\s+/);
    const network = /^[0-9a-f]{32}$/.test(destination) ? ipOfBytes(Uint8Array.fromHex(destination)) : null;
    const flag = Number.parseInt(flags, 16);
    if (network === null || !(flag & RTF_UP) || network.bytes[0] === 0xff) continue;
    const cidr = cidrOf(network, Number.parseInt(length, 16));
    if (flag & (RTF_LOCAL | RTF_ANYCAST)) local.push(cidr);
    else routes.push({ cidr, ifName, ...flagsOf(flag), metric: Number.parseInt(metric, 16) });
  }
  return { routes, local };
}

export interface FibTrie {
  /** Destinations delivered to this machine: 127.0.0.0/8, and each local address as a /32. */
  readonly local: Cidr[];
  readonly broadcast: ReadonlySet<string>;
  /** True if tables besides `main` and `local` exist, which only rules (ip-rule(8)) select. */
  readonly hasOtherTables: boolean;
}

/** /proc/net/fib_trie: IPv4 routes of all tables, without their interfaces. */
export function parseFibTrie(text: string): FibTrie {
  const local = new Map<string, Cidr>();
  const broadcast = new Set<string>();
  let leaf: Ip | null = null;
  for (const line of text.split("\n")) {
    const leafText = /^ +\|-- (\S+)$/.exec(line)?.[1];
    if (leafText !== undefined) leaf = parseIp(leafText);
    const [, length, type] = /^ +\/(\d+) \S+ ([A-Z]+)/.exec(line) ?? [];
    if (leaf === null || length === undefined) continue;
    const cidr = cidrOf(leaf, Number(length));
    if (type === "LOCAL") local.set(cidr.text, cidr);
    if (type === "BROADCAST") broadcast.add(leaf.text);
  }
  return { local: [...local.values()], broadcast, hasOtherTables: /^Id \d+:/m.test(text) };
}

interface ProcIpv6Address {
  readonly ip: Ip;
  readonly ifIndex: number;
  readonly prefixLength: number;
  /** IFA_F_* of linux/if_addr.h. */
  readonly flags: number;
}

/** /proc/net/if_inet6: every IPv6 address of every interface. */
export function parseIfInet6(text: string): ProcIpv6Address[] {
  return text.split("\n").flatMap((line) => {
    const [address = "", index = "", length = "", , flags = ""] = line.trim().split(/\s+/);
    const ip = /^[0-9a-f]{32}$/.test(address) ? ipOfBytes(Uint8Array.fromHex(address)) : null;
    if (ip === null) return [];
    return [
      {
        ip,
        ifIndex: Number.parseInt(index, 16),
        prefixLength: Number.parseInt(length, 16),
        flags: Number.parseInt(flags, 16),
      },
    ];
  });
}

/**
 * /proc/net/arp: IPv4 neighbors on Ethernet. The file does not show recent confirmation, so a present neighbor has the
 * state Unknown.
 * @param ifIndexOf index of an interface name; 0 if none
 */
export function parseArpTable(text: string, ifIndexOf: (ifName: string) => number): KernelNeighbor[] {
  return text.split("\n").flatMap((line) => {
    const [address = "", type = "", flags = "", mac = "", , device = ""] = line.trim().split(/\s+/);
    const ip = parseIp(address);
    if (ip === null || Number.parseInt(type, 16) !== ARPHRD_ETHER) return [];
    const flag = Number.parseInt(flags, 16);
    const isComplete = (flag & ATF_COM) !== 0;
    const state = (flag & ATF_PERM) !== 0 ? "Permanent" : isComplete ? "Unknown" : "Resolving";
    const known = isComplete && mac !== ZERO_MAC ? parseMac(mac) : null;
    return [{ ip_address: ip.text, mac_address: known, ifIndex: ifIndexOf(device), state, confirmedAgoMs: null }];
  });
}

const RTF_UP = 0x0001;
const RTF_GATEWAY = 0x0002;
const RTF_REJECT = 0x0200;
const RTF_ANYCAST = 0x0010_0000;
const RTF_LOCAL = 0x8000_0000;
const ARPHRD_ETHER = 1;
const ATF_COM = 0x02;
const ATF_PERM = 0x04;
const ZERO_MAC = "00:00:00:00:00:00";

function flagsOf(flag: number): Pick<ProcRoute, "hasGateway" | "isRefused"> {
  return { hasGateway: (flag & RTF_GATEWAY) !== 0, isRefused: (flag & RTF_REJECT) !== 0 };
}

/** Eight hex digits in host byte order: little-endian on all supported platforms (x64, arm64). */
function ipOfWord(word: string): Ip | null {
  return /^[0-9A-F]{8}$/.test(word) ? ipOfBytes(Uint8Array.fromHex(word).reverse()) : null;
}
