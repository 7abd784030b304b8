// Which way packets to an address go, asked of the kernel address by address.
// I/O only: route-messages.ts knows the bytes.

import type { Ip } from "../../base/ip.ts";
import { type NetlinkSocket, openNetlink } from "./netlink-socket.ts";
import { type KernelLink, linkDumpRequest, parseLinkDatagram, parseRouteAnswer, routeRequest } from "./route-messages.ts";

/**
 * Local: an address of this machine. Link: a station on a link of this machine, which has to be found there (ARP, neighbor discovery) before
 * anything reaches it. Routed: behind a router, or on a link that knows no neighbors. None: nothing can be sent there.
 */
export type Way = { readonly kind: "Local" | "Routed" | "None" } | LinkWay;

export interface LinkWay {
  readonly kind: "Link";
  readonly ifIndex: number;
  /** The own addresses on that link; null where it has none of that kind. */
  readonly source: Ip | null;
  readonly mac: string | null;
}

/** The kernel's routes. The interfaces are those of the moment at which it was opened. Throws an Error when the kernel gives no socket. */
export class KernelRoutes {
  readonly #socket: NetlinkSocket;
  readonly #links: ReadonlyMap<number, KernelLink>;

  constructor() {
    this.#socket = openNetlink("routes");
    const links: KernelLink[] = [];
    this.#socket.dump(linkDumpRequest(), (datagram) => links.push(...parseLinkDatagram(datagram)));
    this.#links = new Map(links.map((link) => [link.ifIndex, link]));
  }

  /** Takes some microseconds and never waits. */
  wayTo(ip: Ip): Way {
    const answer = this.#socket.ask(routeRequest(ip));
    const route = typeof answer === "number" ? null : parseRouteAnswer(answer);
    if (route?.type === "Local") return { kind: "Local" };
    if (route?.type !== "Unicast" || route.ifIndex === null) return { kind: "None" };
    const link = this.#links.get(route.ifIndex);
    if (route.hasGateway || link === undefined || !link.hasNeighbors) return { kind: "Routed" };
    return { kind: "Link", ifIndex: route.ifIndex, source: route.source, mac: link.mac };
  }

  close(): void {
    this.#socket.close();
  }
}
