// Route to an address, from any source. Types only.

import type { Ip } from "../../base/ip.ts";

/**
 * Local: an address of this machine. Link: a station on a link of this machine, to be resolved first (ARP, neighbor
 * discovery). Routed: behind a router, or on a link without neighbors. None: no route.
 */
export type IpRoute = { readonly kind: "Local" | "Routed" | "None" } | LinkRoute;

export interface LinkRoute {
  readonly kind: "Link";
  readonly ifIndex: number;
  /** This machine's addresses on the link; null if it has none of that kind. */
  readonly source: Ip | null;
  readonly mac: string | null;
}

export interface RouteLookup {
  /** Takes microseconds and never waits. */
  routeTo(ip: Ip): IpRoute;
  close(): void;
}
