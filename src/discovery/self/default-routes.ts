// Interfaces of this machine's default routes, from the kernel's routing tables. I/O only: proc-tables.ts parses the
// text.

import { join } from "node:path";
import { parseIpv6RouteTable, parseRouteTable } from "../kernel/proc-tables.ts";
import { readTable } from "./kernel-files.ts";

/** Interface names of default routes, sorted and without duplicates; skips routes that reject. */
export async function readDefaultInterfaces(procRoot: string): Promise<string[]> {
  const [four, six] = await Promise.all([
    readTable(join(procRoot, "net/route")),
    readTable(join(procRoot, "net/ipv6_route")),
  ]);
  const routes = [...parseRouteTable(four), ...parseIpv6RouteTable(six).routes];
  const names = routes
    .filter(({ cidr, isRefused }) => cidr.prefixLength === 0 && !isRefused)
    .map((each) => each.ifName);
  return [...new Set(names)].sort();
}
