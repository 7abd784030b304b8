// The hosts that a network's claims are matched against: by index, with their signs and interfaces.

import { claimsOf, type IdentityClaim } from "./claims.ts";
import type { TopologyHost, TopologyPort } from "./facts.ts";
import { ClaimedHosts, type HostSigns } from "./identify.ts";

export interface ClaimGround {
  readonly signs: HostSigns;
  idAt(place: number): string;
  /** Only for an existing host. */
  placeOf(hostId: string): number;
  portsOf(place: number): readonly TopologyPort[];
}

/** The whole network, with all its claims. */
export class WholeNetwork implements ClaimGround {
  readonly signs: HostSigns;
  readonly claims: readonly IdentityClaim[];
  private readonly hosts: readonly TopologyHost[];
  private readonly places = new Map<string, number>();
  private readonly portsAt = new Map<number, TopologyPort[]>();

  constructor(hosts: readonly TopologyHost[], ports: readonly TopologyPort[]) {
    this.hosts = hosts;
    for (const [place, { id }] of hosts.entries()) this.places.set(id, place);
    const claims: IdentityClaim[] = [];
    let [hostId, own]: [string, TopologyPort[]] = ["", []];
    for (const port of ports) {
      // Ports of one host are mostly consecutive.
      if (port.host_id !== hostId) {
        const place = this.places.get(port.host_id);
        if (place === undefined) continue;
        [hostId, own] = [port.host_id, this.portsAt.get(place) ?? []];
        this.portsAt.set(place, own);
      }
      own.push(port);
      if (port.announcements.length > 0) claims.push(...claimsOf(port));
    }
    this.claims = claims;
    this.signs = new ClaimedHosts(hosts, ports, this.places, claims);
  }

  idAt(place: number): string {
    return (this.hosts[place] as TopologyHost).id;
  }

  placeOf(hostId: string): number {
    return this.places.get(hostId) as number;
  }

  portsOf(place: number): readonly TopologyPort[] {
    return this.portsAt.get(place) ?? [];
  }
}
