// Synchronous reader of single interfaces of this machine in /sys/class/net. Does not list interfaces; see
// self/read-interfaces.ts.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseMac } from "../../base/mac.ts";
import type { KernelLink } from "./route-messages.ts";

/** Returns the interface index; 0 if no interface has the name. */
export function linkIndexOf(sysRoot: string, ifName: string): number {
  return Number(attribute(sysRoot, ifName, "ifindex") ?? 0);
}

/** Returns null if no interface has the name. */
export function readLink(sysRoot: string, ifName: string): KernelLink | null {
  const ifIndex = linkIndexOf(sysRoot, ifName);
  if (ifIndex === 0) return null;
  const flags = Number(attribute(sysRoot, ifName, "flags") ?? 0);
  const mac = parseMac(attribute(sysRoot, ifName, "address") ?? "");
  const isEthernet = attribute(sysRoot, ifName, "type") === ARPHRD_ETHER;
  const hasNeighbors = isEthernet && (flags & (IFF_LOOPBACK | IFF_NOARP)) === 0;
  return { ifIndex, mac: mac === ZERO_MAC ? null : mac, hasNeighbors };
}

const ARPHRD_ETHER = "1";
const IFF_LOOPBACK = 0x08;
const IFF_NOARP = 0x80;
const ZERO_MAC = "00:00:00:00:00:00";

function attribute(sysRoot: string, ifName: string, name: string): string | null {
  // A name must be a single path component: the kernel allows neither slashes nor names of dots only.
  if (ifName === "" || ifName.includes("/") || ifName.startsWith("..")) return null;
  try {
    return readFileSync(join(sysRoot, "class/net", ifName, name), "utf8").trim();
  } catch {
    return null;
  }
}
