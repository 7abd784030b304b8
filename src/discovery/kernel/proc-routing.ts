// Route lookup in a snapshot of the tables in /proc/net, for processes without netlink. Claims nothing about what those
// tables omit: policy routing rules and IPv6 neighbors.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Cidr, cidrContains, type Ip } from "../../base/ip.ts";
import type { IpRoute, RouteLookup } from "./ip-route.ts";
import { readLink } from "./proc-links.ts";
import { type FibTrie, type ProcRoute, parseFibTrie, parseIpv6RouteTable, parseRouteTable } from "./proc-tables.ts";
import type { KernelLink } from "./route-messages.ts";

/** Throws an Error if the machine has no /proc/net/route. */
export class ProcRoutes implements RouteLookup {
  private readonly fib: FibTrie;
  /** Both versions; the first match for an address wins. */
  private readonly routes: readonly ProcRoute[];
  private readonly local: readonly Cidr[];
  private readonly links = new Map<string, KernelLink | null>();
  private readonly sysRoot: string;

  constructor({
    procRoot = "/proc",
    sysRoot = "/sys",
  }: { readonly procRoot?: string; readonly sysRoot?: string } = {}) {
    this.sysRoot = sysRoot;
    const four = parseRouteTable(readFileSync(join(procRoot, "net/route"), "utf8"));
    const six = parseIpv6RouteTable(textOf(join(procRoot, "net/ipv6_route")));
    this.fib = parseFibTrie(textOf(join(procRoot, "net/fib_trie")));
    this.local = [...this.fib.local, ...six.local];
    const precision = (a: ProcRoute, b: ProcRoute) => b.cidr.prefixLength - a.cidr.prefixLength || a.metric - b.metric;
    this.routes = [...four, ...six.routes].sort(precision);
  }

  routeTo(ip: Ip): IpRoute {
    if (this.local.some((cidr) => cidrContains(cidr, ip))) return { kind: "Local" };
    if (isMulticastOrBroadcast(ip) || this.fib.broadcast.has(ip.text)) return { kind: "None" };
    const route = this.routes.find(({ cidr }) => cidrContains(cidr, ip));
    // A rule may select a table whose routes are not listed.
    if (route === undefined) return { kind: ip.version === 4 && this.fib.hasOtherTables ? "Routed" : "None" };
    if (route.isRefused) return { kind: "None" };
    const link = this.linkOf(route.ifName);
    // No table lists the IPv6 neighbors of a link: treat an address there as routed.
    if (route.hasGateway || link === null || !link.hasNeighbors || ip.version === 6) return { kind: "Routed" };
    const ownCidr = this.local.find((cidr) => cidr.prefixLength === 32 && cidrContains(route.cidr, addressOf(cidr)));
    return {
      kind: "Link",
      ifIndex: link.ifIndex,
      source: ownCidr === undefined ? null : addressOf(ownCidr),
      mac: link.mac,
    };
  }

  close(): void {}

  private linkOf(ifName: string): KernelLink | null {
    const known = this.links.get(ifName);
    if (known !== undefined) return known;
    const link = readLink(this.sysRoot, ifName);
    this.links.set(ifName, link);
    return link;
  }
}

function addressOf({ version, bytes, text }: Cidr): Ip {
  return { version, bytes, text: text.slice(0, text.indexOf("/")) };
}

/** Multicast, and the limited broadcast address. */
function isMulticastOrBroadcast(ip: Ip): boolean {
  const [first = 0] = ip.bytes;
  return ip.version === 6 ? first === 0xff : first >= 224 && (first < 240 || ip.text === "255.255.255.255");
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
