// The addresses of this machine from /proc/net, for processes that may not ask by netlink.
// Must not guess more than one thing: the prefix length of an IPv4 address that only a route tells.

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
  /** As node:os has them: exact, but of interfaces that run only, and refused where netlink is. */
  readonly running?: () => ReturnType<typeof networkInterfaces>;
}

/**
 * Every IPv6 address, and the IPv4 addresses of interfaces that are switched on. The prefix length of an IPv4 address
 * is that of its interface where that runs, else that of the narrowest route to a link that contains it, else 32.
 * Throws an Error where the tables are missing.
 */
export function readProcAddresses(options: ProcAddressesOptions = {}): KernelAddress[] {
  const { procRoot = "/proc", sysRoot = "/sys", running = networkInterfaces } = options;
  const text = (name: string) => readFileSync(join(procRoot, "net", name), "utf8");
  const exact = runningAddresses(running);
  const onLink = parseRouteTable(text("route"))
    .filter(({ hasGateway, isRefused }) => !hasGateway && !isRefused)
    .sort((a, b) => b.cidr.prefixLength - a.cidr.prefixLength || a.metric - b.metric);
  const own = parseFibTrie(text("fib_trie")).local.filter(({ prefixLength }) => prefixLength === 32);
  const four = own.flatMap(({ text: cidr }): KernelAddress[] => {
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
        // An alias of an IPv4 address (`eth0:1`) is no interface.
        const ifName = label.split(":")[0] ?? label;
        if (ip?.version === 4 && length >= 0) found.set(ip.text, { prefixLength: length, ifName });
      }
    }
  } catch {
    // getifaddrs(3) asks by netlink itself.
  }
  return found;
}

/** A kernel without IPv6 has no such table. */
function textOrNone(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
