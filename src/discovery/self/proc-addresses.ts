// This machine's addresses from /proc/net, for processes without netlink. Guesses only one thing: the prefix length of
// an IPv4 address that is known only from a route.

import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { cidrContains, type Ip, parseIp } from "../../base/ip.ts";
import { linkIndexOf } from "../kernel/proc-links.ts";
import { parseFibTrie, parseIfInet6, parseRouteTable } from "../kernel/proc-tables.ts";
import { IFA_F_DADFAILED, IFA_F_TEMPORARY, type KernelAddress } from "./rtnetlink.ts";

interface ProcAddressesOptions {
  readonly procRoot?: string;
  readonly sysRoot?: string;
  /** From node:os: exact, but only for interfaces that are running, and refused along with netlink. */
  readonly running?: () => ReturnType<typeof networkInterfaces>;
}

/**
 * Lists all IPv6 addresses, and the IPv4 addresses of interfaces that are up. An IPv4 prefix length comes from the
 * running interface, else from the most specific on-link route that contains the address, else 32. Throws an Error if
 * the tables are missing.
 */
export function readProcAddresses(options: ProcAddressesOptions = {}): KernelAddress[] {
  const { procRoot = "/proc", sysRoot = "/sys", running = networkInterfaces } = options;
  const text = (name: string) => readFileSync(join(procRoot, "net", name), "utf8");
  const exact = runningAddresses(running);
  const onLink = parseRouteTable(text("route"))
    .filter(({ hasGateway, isRefused }) => !hasGateway && !isRefused)
    .sort((a, b) => b.cidr.prefixLength - a.cidr.prefixLength || a.metric - b.metric);
  const localCidrs = parseFibTrie(text("fib_trie")).local.filter(({ prefixLength }) => prefixLength === 32);
  const four = localCidrs.flatMap(({ text: cidr }): KernelAddress[] => {
    const ip = parseIp(cidr.slice(0, cidr.indexOf("/")));
    if (ip === null) return [];
    const route = onLink.find((each) => cidrContains(each.cidr, ip));
    const { prefixLength, ifName } = exact.get(ip.text) ?? {
      prefixLength: route?.cidr.prefixLength ?? 32,
      ifName: route?.ifName ?? "",
    };
    return [{ ...PLAIN, ip, prefixLength, ifIndex: linkIndexOf(sysRoot, ifName) }];
  });
  const six = parseIfInet6(textOrNone(join(procRoot, "net/if_inet6"))).map(({ ip, ifIndex, prefixLength, flags }) => ({
    ip,
    prefixLength,
    ifIndex,
    peer: null,
    isTemporary: (flags & IFA_F_TEMPORARY) !== 0,
    isDuplicate: (flags & IFA_F_DADFAILED) !== 0,
  }));
  return [...four, ...six];
}

const PLAIN = { peer: null as Ip | null, isTemporary: false, isDuplicate: false };

function runningAddresses(
  running: NonNullable<ProcAddressesOptions["running"]>,
): Map<string, { prefixLength: number; ifName: string }> {
  const found = new Map<string, { prefixLength: number; ifName: string }>();
  try {
    for (const [label, addresses] of Object.entries(running())) {
      for (const { address, cidr } of addresses ?? []) {
        const ip = parseIp(address);
        const length = Number(cidr?.slice(cidr.indexOf("/") + 1));
        // An alias of an IPv4 address (`eth0:1`) is not an interface.
        const ifName = label.split(":")[0] ?? label;
        if (ip?.version === 4 && length >= 0) found.set(ip.text, { prefixLength: length, ifName });
      }
    }
  } catch {
    // getifaddrs(3) itself uses netlink.
  }
  return found;
}

/** A kernel without IPv6 lacks this table. */
function textOrNone(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
