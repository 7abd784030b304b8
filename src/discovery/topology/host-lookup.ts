// The hosts that a network's claims are matched against: by index, with their signs and interfaces.

import { claimsOf, type IdentityClaim } from "./claims.ts";
import type { TopologyHost, TopologyPort } from "./facts.ts";
import { ClaimedHosts, type HostSigns } from "./identify.ts";

export interface HostLookup {
  readonly signs: HostSigns;
  idAt(index: number): string;
  /** Only for an existing host. */
  indexOf(hostId: string): number;
  portsOf(index: number): readonly TopologyPort[];
}

/** The whole network, with all its claims. */
export class NetworkLookup implements HostLookup {
  readonly signs: HostSigns;
  readonly claims: readonly IdentityClaim[];
  private readonly hosts: readonly TopologyHost[];
  private readonly indexById = new Map<string, number>();
  private readonly portsAt = new Map<number, TopologyPort[]>();

  constructor(hosts: readonly TopologyHost[], ports: readonly TopologyPort[]) {
    this.hosts = hosts;
    for (const [index, { id }] of hosts.entries()) this.indexById.set(id, index);
    const claims: IdentityClaim[] = [];
    let [hostId, own]: [string, TopologyPort[]] = ["", []];
    for (const port of ports) {
      // Ports of one host are mostly consecutive.
      if (port.host_id !== hostId) {
        const index = this.indexById.get(port.host_id);
        if (index === undefined) continue;
        [hostId, own] = [port.host_id, this.portsAt.get(index) ?? []];
        this.portsAt.set(index, own);
      }
      own.push(port);
      if (port.announcements.length > 0) claims.push(...claimsOf(port));
    }
    this.claims = claims;
    this.signs = new ClaimedHosts(hosts, ports, this.indexById, claims);
  }

  idAt(index: number): string {
    return (this.hosts[index] as TopologyHost).id;
  }

  indexOf(hostId: string): number {
    return this.indexById.get(hostId) as number;
  }

  portsOf(index: number): readonly TopologyPort[] {
    return this.portsAt.get(index) ?? [];
  }
}
