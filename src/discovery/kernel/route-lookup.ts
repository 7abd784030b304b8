// Which way packets to an address go, asked of the kernel address by address.
// I/O only: route-messages.ts knows the bytes, proc-routing.ts the text.

import type { Ip } from "../../base/ip.ts";
import type { IpRoute, RouteLookup } from "./ip-route.ts";
import { KernelRefused } from "./libc.ts";
import { type NetlinkSocket, openNetlink } from "./netlink-socket.ts";
import { ProcRoutes } from "./proc-routing.ts";
import {
  type KernelLink,
  linkDumpRequest,
  parseLinkDatagram,
  parseRouteAnswer,
  routeRequest,
} from "./route-messages.ts";

/**
 * The kernel's routes: asked for, or where that is refused, read from /proc as they are now. Throws an Error when the
 * kernel tells neither.
 */
export function openRouteLookup(): RouteLookup {
  try {
    return new KernelRoutes();
  } catch (error) {
    if (!(error instanceof KernelRefused)) throw error;
    return new ProcRoutes();
  }
}

/**
 * The interfaces are those of the moment at which it was opened. Throws KernelRefused when the kernel gives no socket.
 */
class KernelRoutes implements RouteLookup {
  private readonly socket: NetlinkSocket;
  private readonly links: ReadonlyMap<number, KernelLink>;

  constructor() {
    this.socket = openNetlink("routes");
    try {
      const links: KernelLink[] = [];
      this.socket.dump(linkDumpRequest(), (datagram) => links.push(...parseLinkDatagram(datagram)));
      this.links = new Map(links.map((link) => [link.ifIndex, link]));
    } catch (error) {
      this.socket.close();
      throw error;
    }
  }

  routeTo(ip: Ip): IpRoute {
    const answer = this.socket.ask(routeRequest(ip));
    const route = typeof answer === "number" ? null : parseRouteAnswer(answer);
    if (route?.type === "Local") return { kind: "Local" };
    if (route?.type !== "Unicast" || route.ifIndex === null) return { kind: "None" };
    const link = this.links.get(route.ifIndex);
    if (route.hasGateway || link === undefined || !link.hasNeighbors) return { kind: "Routed" };
    return { kind: "Link", ifIndex: route.ifIndex, source: route.source, mac: link.mac };
  }

  close(): void {
    this.socket.close();
  }
}
