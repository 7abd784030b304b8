// Route lookup in the kernel, address by address. I/O only: route-messages.ts parses the bytes, proc-routing.ts the
// text.

import type { Ip } from "../../base/ip.ts";
import type { IpRoute, RouteLookup } from "./ip-route.ts";
import { KernelRefused } from "./libc.ts";
import { type NetlinkSocket, openNetlink } from "./netlink-socket.ts";
import { ProcRoutes } from "./proc-routing.ts";
import {
  type KernelLink,
  linkDumpRequest,
  parseLinkDatagram,
  parseRouteResponse,
  routeRequest,
} from "./route-messages.ts";

/** Opens the kernel's routes by netlink, or a snapshot of /proc if refused. Throws an Error if both fail. */
export function openRouteLookup(): RouteLookup {
  try {
    return new KernelRoutes();
  } catch (error) {
    if (!(error instanceof KernelRefused)) throw error;
    return new ProcRoutes();
  }
}

/** Interfaces are a snapshot from its opening. Throws KernelRefused if the kernel refuses a socket. */
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
    const response = this.socket.query(routeRequest(ip));
    const route = typeof response === "number" ? null : parseRouteResponse(response);
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
