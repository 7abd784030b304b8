// Contribution of one interface to the network map. Pure.

import type { Announcement } from "../../discovery/topology/announcements.ts";
import type { IdentityClaim } from "../../discovery/topology/claims.ts";
import type { ShownHost, ShownPort } from "../../discovery/topology/facts.ts";
import type { PortResolution, ResolvedClaim } from "../../discovery/topology/resolve.ts";
import type { Neighbor } from "../../resources/if-entries/more-neighbors.ts";
import type { Addition } from "./cables.ts";
import type { MapNode } from "./map.ts";
import { strangerNode } from "./nodes.ts";

export interface PortShare {
  readonly direct: readonly Addition[];
  /** Announcements from beyond its neighbor; used only for a device without any other link. */
  readonly beyond: readonly Addition[];
  /** Hosts with the address of theirs that is announced here as the management address. */
  readonly notes: ReadonlyArray<readonly [hostId: string, address: string]>;
}

/** The network around an interface. */
export interface Surroundings {
  readonly networkId: string;
  host(id: string): ShownHost | undefined;
  port(id: string): ShownPort | undefined;
}

/** @param resolution of the interface: a stored far end takes precedence, if it is in the network */
export function shareOf(port: ShownPort, resolution: PortResolution | undefined, around: Surroundings): PortShare {
  return new Reading(port, around).read(resolution);
}

type FarEnd = Pick<Addition, "farNode" | "far" | "stranger" | "certainty" | "isOpen">;

class Reading {
  private readonly port: ShownPort;
  private readonly around: Surroundings;
  private readonly notes: Array<readonly [string, string]> = [];

  constructor(port: ShownPort, around: Surroundings) {
    this.port = port;
    this.around = around;
  }

  read(resolution: PortResolution | undefined): PortShare {
    const { port } = this;
    const own = this.there(port.neighbor) ?? resolution?.neighbor ?? null;
    const claims = resolution?.claims ?? [];
    const near = claims.filter(({ standing }) => standing !== "Beyond");
    const direct: Addition[] = [];
    const beyond: Addition[] = [];
    const add = (end: FarEnd, claim: IdentityClaim | null, isShared: boolean) => {
      const to = end.certainty === "Beyond" ? beyond : direct;
      to.push(this.addition(end, claim, isShared));
    };
    let isOwnTaken = false;
    for (const resolved of claims) {
      const stored = this.storedOf(resolved.claim);
      const isFirst = !isOwnTaken && resolved === near[0];
      if (isFirst) isOwnTaken = true;
      const to = isFirst ? own : (stored ?? resolved.neighbor);
      this.noteAddress(to, resolved.claim);
      if (to === null && resolved.standing === "Beyond")
        add({ ...this.meant(resolved), far: null, certainty: "Beyond", isOpen: false }, resolved.claim, true);
      else add(this.farEnd(to, resolved), resolved.claim, near.length > 1);
    }
    if (!isOwnTaken && own !== null) add(this.farEnd(own, null), null, false);
    // Nothing is shown for a host that does not exist.
    const isShown = this.around.host(port.host_id) !== undefined;
    const shown = (additions: Addition[]) => additions.filter(({ farNode }) => isShown && farNode !== "");
    return { direct: shown(direct), beyond: shown(beyond), notes: this.notes };
  }

  private storedOf(claim: IdentityClaim): Neighbor | null {
    const { ownCount, moreNeighbors } = this.port;
    for (const place of claim.places) {
      const stored = place < ownCount ? null : this.there(moreNeighbors[place - ownCount] ?? null);
      if (stored !== null) return stored;
    }
    return null;
  }

  /** Null for a neighbor outside the network. */
  private there(neighbor: Neighbor | null): Neighbor | null {
    if (neighbor === null) return null;
    const { id, type } = neighbor;
    return (type === "Host" ? this.around.host(id) : this.around.port(id)) === undefined ? null : neighbor;
  }

  private farEnd(to: Neighbor | null, resolved: ResolvedClaim | null): FarEnd {
    const far = to?.type === "IfEntry" ? (this.around.port(to.id) ?? null) : null;
    if (far !== null && this.around.host(far.host_id) !== undefined)
      return { far, farNode: far.host_id, stranger: null, certainty: "Interfaces", isOpen: false };
    if (to?.type === "Host") {
      const isOpen = resolved?.standing !== "Contested";
      return { far: null, farNode: to.id, stranger: null, certainty: "Hosts", isOpen };
    }
    const meant = resolved === null ? { farNode: "", stranger: null } : this.meant(resolved);
    return { ...meant, far: null, certainty: "Announced", isOpen: false };
  }

  private meant({ claim, hostId, standing }: ResolvedClaim): { farNode: string; stranger: MapNode | null } {
    if (hostId !== null && standing !== "Unknown") return { farNode: hostId, stranger: null };
    const stranger = strangerNode(this.around.networkId, claim);
    return { farNode: stranger.id, stranger };
  }

  private addition(end: FarEnd, claim: IdentityClaim | null, isShared: boolean): Addition {
    const { port } = this;
    return {
      near: port,
      ...end,
      announcedPort: claim?.portIds[0]?.value ?? null,
      isShared,
      evidence: (claim?.places ?? []).map((place) => ({
        node_id: port.host_id,
        if_entry_id: port.id,
        ...(port.announcements[place] as Announcement),
      })),
    };
  }

  private noteAddress(to: Neighbor | null, claim: IdentityClaim): void {
    const hostId = to === null ? null : to.type === "Host" ? to.id : (this.around.port(to.id)?.host_id ?? null);
    const host = hostId === null ? undefined : this.around.host(hostId);
    if (host === undefined) return;
    const own = claim.addresses.find((address) => host.addresses.some(({ ip_address }) => ip_address === address));
    if (own !== undefined) this.notes.push([host.id, own]);
  }
}
