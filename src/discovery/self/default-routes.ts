// By which interfaces this machine reaches everything that is in none of its subnets, by the kernel's tables of routes.
// I/O only: proc-tables.ts knows the text.

import { join } from "node:path";
import { parseIpv6RouteTable, parseRouteTable } from "../kernel/proc-tables.ts";
import { readTable } from "./kernel-files.ts";

/** The names of the interfaces of default routes, each once, in order; of routes that refuse nothing. */
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
