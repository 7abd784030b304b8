// Which way packets to an address go, however that was learned. Types only.

import type { Ip } from "../../base/ip.ts";

/**
 * Local: an address of this machine. Link: a station on a link of this machine, which has to be found there (ARP,
 * neighbor discovery) before anything reaches it. Routed: behind a router, or on a link that knows no neighbors. None:
 * nothing can be sent there.
 */
export type IpRoute = { readonly kind: "Local" | "Routed" | "None" } | LinkRoute;

export interface LinkRoute {
  readonly kind: "Link";
  readonly ifIndex: number;
  /** The own addresses on that link; null where it has none of that kind. */
  readonly source: Ip | null;
  readonly mac: string | null;
}

export interface RouteLookup {
  /** Takes some microseconds and never waits. */
  routeTo(ip: Ip): IpRoute;
  close(): void;
}
